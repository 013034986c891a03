#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the files refuse, and with which error: the one that the host's own file
# of that kind gives.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

HOST=$TRACEFS/instances/hyp-trace-refusals

# file, text, outcome, and the host's file of that kind (- when it knows more)
TABLE='
buffer_size_kb			0			EINVAL	buffer_size_kb
buffer_size_kb			x			EINVAL	buffer_size_kb
buffer_size_kb			-1			EINVAL	buffer_size_kb
buffer_size_kb			16k			EINVAL	buffer_size_kb
buffer_size_kb			99999999999999999999	ERANGE	buffer_size_kb
buffer_size_kb			64			ok	buffer_size_kb
tracing_on			x			EINVAL	tracing_on
tracing_on			-1			EINVAL	tracing_on
tracing_on			0x			EINVAL	tracing_on
tracing_on			99999999999999999999	ERANGE	tracing_on
tracing_on			2			ok	tracing_on
buffer_size_kb			128			EBUSY	-
tracing_on			0			ok	tracing_on
trace_clock			global			EINVAL	-
trace_clock			x			EINVAL	trace_clock
trace_clock			boo			EINVAL	trace_clock
trace_clock			boot			ok	trace_clock
events/enable			2			EINVAL	events/enable
events/enable			x			EINVAL	events/enable
events/enable			1			ok	events/kvm/enable
events/hypervisor/enable	2			EINVAL	events/kvm/enable
events/hypervisor/enable	-1			EINVAL	events/kvm/enable
events/hypervisor/enable	0			ok	events/kvm/enable
EVENT/enable			2			EINVAL	events/kvm/kvm_exit/enable
EVENT/enable			x			EINVAL	events/kvm/kvm_exit/enable
EVENT/enable			-1			EINVAL	events/kvm/kvm_exit/enable
EVENT/enable			99999999999999999999	ERANGE	events/kvm/kvm_exit/enable
EVENT/enable			1			ok	events/kvm/kvm_exit/enable
EVENT/enable			0			ok	events/kvm/kvm_exit/enable
'

rows() {
	echo "$TABLE" | sed 's,EVENT,events/hypervisor/hyp_enter,' | grep .
}

plan $(($(rows | wc -l) + 4))
mkdir "$HOST"

# The text ends in a newline, as echo has it.
newline='
'
rows >table
while read -r file text outcome host; do
	found=$(fileop write "$HYP/$file" "$text$newline")
	[ "$host" = - ] || outcome="$outcome, host $(fileop write "$HOST/$host" "$text$newline")"
	[ "$host" = - ] || found="$found, host ${outcome%%,*}"
	is "$file: $text" "$found" "$outcome"
done <table
rmdir "$HOST"

# More than an unsigned long has bytes.
case $(fileop write "$HYP/buffer_size_kb" 18446744073709551615) in
EINVAL | ERANGE | ENOMEM) ktap_test_pass "buffer_size_kb: an overflow in bytes" ;;
*) ktap_test_fail "buffer_size_kb: an overflow in bytes" ;;
esac

reset
fileop write "$HYP/tracing_on" 2 >/dev/null
is "tracing_on: 2 means 1" "$(cat "$HYP/tracing_on")" 1
fileop write "$HYP/tracing_on" x >/dev/null
is "tracing_on: nonsense changes nothing" "$(cat "$HYP/tracing_on")" 1
echo 0 >"$HYP/tracing_on"
fileop drain "$HYP/trace_pipe" >/dev/null
fileop write "$HYP/buffer_size_kb" x >/dev/null
is "buffer_size_kb: nonsense changes nothing" "$(cat "$HYP/buffer_size_kb")" "1024 (unloaded)"
ktap_finished
