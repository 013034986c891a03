#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each file refuses wrong numbers and words with the error that the kernel's own file
# gives, and changes nothing.
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
per_cpu/cpu0/buffer_size_kb	64			ok	per_cpu/cpu0/buffer_size_kb
tracing_on			x			EINVAL	tracing_on
tracing_on			-1			EINVAL	tracing_on
tracing_on			0x			EINVAL	tracing_on
tracing_on			99999999999999999999	ERANGE	tracing_on
tracing_on			2			ok	tracing_on
buffer_size_kb			128			EBUSY	-
per_cpu/cpu0/buffer_size_kb	128			EBUSY	-
tracing_on			0			ok	tracing_on
buffer_size_kb			18446744073709551615	EINVAL	-
buffer_size_kb			18014398509482048	EINVAL	-
per_cpu/cpu0/buffer_size_kb	0			EINVAL	per_cpu/cpu0/buffer_size_kb
per_cpu/cpu0/buffer_size_kb	x			EINVAL	per_cpu/cpu0/buffer_size_kb
per_cpu/cpu0/buffer_size_kb	-1			EINVAL	per_cpu/cpu0/buffer_size_kb
per_cpu/cpu0/buffer_size_kb	99999999999999999999	ERANGE	per_cpu/cpu0/buffer_size_kb
per_cpu/cpu0/buffer_size_kb	18014398509482048	EINVAL	-
buffer_total_size_kb		64			EINVAL	buffer_total_size_kb
buffer_subbuf_size_kb		0			EINVAL	buffer_subbuf_size_kb
buffer_subbuf_size_kb		x			EINVAL	buffer_subbuf_size_kb
buffer_subbuf_size_kb		-1			EINVAL	buffer_subbuf_size_kb
buffer_subbuf_size_kb		99999999999999999999	ERANGE	buffer_subbuf_size_kb
buffer_subbuf_size_kb		1024			EINVAL	-
buffer_subbuf_size_kb		1			ok	buffer_subbuf_size_kb
timestamp_mode			delta			EINVAL	timestamp_mode
available_tracers		nop			EINVAL	available_tracers
options/overwrite		2			EINVAL	options/overwrite
options/overwrite		x			EINVAL	options/overwrite
options/overwrite		-1			EINVAL	options/overwrite
options/overwrite		99999999999999999999	ERANGE	options/overwrite
options/overwrite		0			ok	options/overwrite
options/overwrite		1			ok	options/overwrite
trace_options			x			EINVAL	trace_options
trace_options			no			EINVAL	trace_options
trace_options			nooverwrite		ok	trace_options
trace_options			overwrite		ok	trace_options
snapshot			x			EINVAL	-
per_cpu/cpu0/snapshot		0			EINVAL	-
buffer_percent			101			EINVAL	buffer_percent
buffer_percent			x			EINVAL	buffer_percent
buffer_percent			-1			EINVAL	buffer_percent
buffer_percent			99999999999999999999	ERANGE	buffer_percent
buffer_percent			0			ok	buffer_percent
buffer_percent			100			ok	buffer_percent
current_tracer			x			EINVAL	current_tracer
current_tracer			wakeup			EINVAL	-
current_tracer			no			EINVAL	current_tracer
current_tracer			nopx			EINVAL	current_tracer
current_tracer			nop			ok	current_tracer
trace_clock			global			EINVAL	-
trace_clock			x			EINVAL	trace_clock
trace_clock			boo			EINVAL	trace_clock
trace_clock			boot			ok	trace_clock
trace				x			ok	trace
trace				0			ok	trace
per_cpu/cpu0/trace		x			ok	per_cpu/cpu0/trace
trace_pipe			x			EINVAL	trace_pipe
per_cpu/cpu0/trace_pipe		x			EINVAL	per_cpu/cpu0/trace_pipe
per_cpu/cpu0/trace_pipe_raw	x			EINVAL	per_cpu/cpu0/trace_pipe_raw
per_cpu/cpu0/stats		0			EINVAL	per_cpu/cpu0/stats
events/enable			2			EINVAL	events/enable
events/enable			x			EINVAL	events/enable
events/enable			1			ok	events/kvm/enable
events/hypervisor/enable	2			EINVAL	events/kvm/enable
events/hypervisor/enable	-1			EINVAL	events/kvm/enable
events/hypervisor/enable	0			ok	events/kvm/enable
events/hypervisor/filter	0			ok	events/kvm/filter
events/hypervisor/filter	x			EINVAL	-
EVENT/enable			2			EINVAL	events/kvm/kvm_exit/enable
EVENT/enable			x			EINVAL	events/kvm/kvm_exit/enable
EVENT/enable			-1			EINVAL	events/kvm/kvm_exit/enable
EVENT/enable			99999999999999999999	ERANGE	events/kvm/kvm_exit/enable
EVENT/enable			1			ok	events/kvm/kvm_exit/enable
EVENT/enable			0			ok	events/kvm/kvm_exit/enable
EVENT/filter			0			ok	events/kvm/kvm_exit/filter
EVENT/filter			1			EINVAL	events/kvm/kvm_exit/filter
EVENT/filter			x			EINVAL	events/kvm/kvm_exit/filter
EVENT/filter			no_field==1		EINVAL	events/kvm/kvm_exit/filter
EVENT/id			1			EINVAL	events/kvm/kvm_exit/id
EVENT/trigger			1			EINVAL	events/kvm/kvm_exit/trigger
EVENT/trigger			traceoff:x		EINVAL	events/kvm/kvm_exit/trigger
EVENT/trigger			!traceoff		ok	events/kvm/kvm_exit/trigger
EVENT/format			1			EINVAL	events/kvm/kvm_exit/format
set_event			no_event		EINVAL	set_event
'

# 18014398509482048 KiB are 64 more than an unsigned long has bytes.
rows() {
	echo "$TABLE" | with_ids | sed 's,EVENT,events/hypervisor/hyp_enter,' | awk -F '\t+' '
		NF { print $1, $2, $3; print $4 >"host_column" }' | remote_words >columns
	host_words <host_column | paste -d ' ' columns -
}

missing_formats() {
	for event in $EVENT_LIST; do
		grep -q "^name: $event\$" "$1/$event/format" || echo "$event"
	done
}

# The top level's events/, and each other instance's, describe the events and do nothing
# else: a program that expects a file of this instance gets an error.
test_other_directory() {
	for name in events instances/hyp-trace-refusals/events; do
		events=$TRACEFS/$name/$REMOTE
		set_event=${events%/events/*}/set_event
		is "$name: no filter for the group" \
			"$(fileop write "$events/filter" 'id == 1')" ENOENT
		is "$name: nor for an event" \
			"$(fileop write "$events/$EVENT/filter" 'id == 1')" ENOENT
		is "$name: the group can't be enabled" "$(fileop write "$events/enable" 1)" EINVAL
		is "$name: nor disabled" "$(fileop write "$events/enable" 0)" EINVAL
		is "$name: that file affects no event" "$(cat "$events/enable")" "?"
		is "$name: an event can't be enabled" \
			"$(fileop write "$events/$EVENT/enable" 1)" ENOENT
		is "$name: nor triggered" \
			"$(fileop write "$events/$EVENT/trigger" traceoff)" ENOENT
		is "$name: nor has it a histogram" \
			"$(fileop read "$events/$EVENT/hist")" ENOENT
		is "$name: not by set_event, one of them" \
			"$(fileop write "$set_event" "$REMOTE:$EVENT")" EINVAL
		is "$name: nor all" \
			"$(fileop write "$set_event" "$REMOTE:")" EINVAL
		is "$name: a format is there" "$(sed -n 's/^ID: //p' "$events/$EVENT/format")" \
			"$(sed -n 's/^ID: //p' "$EVENTS/$EVENT/format")"
		none "$name: each format" missing_formats "$events"
	done
}

plan $(($(rows | wc -l) + 24 + 6))
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
test_other_directory
rmdir "$HOST"

reset
fileop write "$HYP/tracing_on" 2 >/dev/null
is "tracing_on: 2 means 1" "$(cat "$HYP/tracing_on")" 1
fileop write "$HYP/tracing_on" x >/dev/null
is "tracing_on: nonsense changes nothing" "$(cat "$HYP/tracing_on")" 1
echo 0 >"$HYP/tracing_on"
echo >"$HYP/trace"
fileop write "$HYP/buffer_size_kb" x >/dev/null
is "buffer_size_kb: nonsense changes nothing" "$(cat "$HYP/buffer_size_kb")" "1024 (unloaded)"
fileop write "$HYP/buffer_percent" 101 >/dev/null
is "buffer_percent: nonsense changes nothing" "$(cat "$HYP/buffer_percent")" 50
fileop write "$HYP/current_tracer" x >/dev/null
is "current_tracer: nonsense changes nothing" "$(cat "$HYP/current_tracer")" nop
fileop write "$HYP/trace_clock" x >/dev/null
is "trace_clock: nonsense changes nothing" "$(cat "$HYP/trace_clock")" "[boot]"
ktap_finished
