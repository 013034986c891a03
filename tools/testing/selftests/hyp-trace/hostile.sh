#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A hostile host: whatever it asks of tracing at EL2 and writes into what is shared,
# EL2 refuses what is wrong, goes on, and gives back what it was given.
#
#   HYP_TRACE_HOSTILE_CALLS	hypercalls to make (20000)
#   HYP_TRACE_HOSTILE_SEED	1
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

MODULES=$DIR/modules
CALL=/sys/kernel/debug/hyp_call
FOUND=/sys/module/hyp_hostile/parameters
CALLS=${HYP_TRACE_HOSTILE_CALLS:-20000}
SEED=${HYP_TRACE_HOSTILE_SEED:-1}
RESERVED=$(dmesg | sed -n 's/.*kvm .*Reserved [0-9]* MiB at \(0x[0-9a-f]*\).*/\1/p')
PAGE=$((PAGE_BYTES + 16))
MAX=0xffffffffffffffff

# A hypercall, what it is given, and the errno that it must return: of a ring that
# there is not, and of arguments that can't be.
UNLOADED="
ring_add_leaf 0 1;EBUSY
ring_add_page 0 1;EBUSY
ring_end 0;EBUSY
ring_pop 0;0
ring_pop $CPUS;EINVAL
ring_pop $MAX;EINVAL
enable 0 0;0
enable $MAX 1;EINVAL
swap_reader 0;ENODEV
swap_reader $MAX;EINVAL
reset 0;ENODEV
reset $MAX;EINVAL
ring_begin $MAX 1 1 3;EINVAL
ring_begin 0 $MAX 1 3;EINVAL
ring_begin 0 1 1 3;EPERM
ring_begin 0 HYP 1 3;EPERM
ring_begin 0 0x10000000000 1 3;EINVAL
set_event 4096 1;EINVAL
set_event $MAX 1;EINVAL
set_event 0 65536;EINVAL
set_event 0 $MAX;EINVAL
set_filter $MAX 0;EINVAL
set_filter 0 1;EINVAL
set_filter 0 33;EINVAL
add_pred $MAX 0 0 0;EINVAL
add_pred 0 0 0 0;EINVAL
add_pred 0 0 $MAX 0;EINVAL
add_pred 0 1 0x101040008 0;EINVAL
add_pred 0 32 0x101040008 0;EINVAL
set_clock 0 1 0 0;EINVAL
set_clock 0x100000000 1 0 0;EINVAL
set_clock 1 64 0 0;EINVAL
set_clock 1 $MAX 0 0;EINVAL
"

# ... and of one that is loaded and written to.
LOADED="
ring_begin 0 1 1 3;EBUSY
ring_add_leaf 0 1;EBUSY
ring_add_page 0 1;EBUSY
ring_end 0;EBUSY
ring_pop 0;EBUSY
"

# number NAME: of a hypercall of tracing, as the event's text knows it.
number() {
	grep -o "{ [0-9]*, \"__hyp_trace_$1\" }" "$HYP/events/hypervisor/host_hcall/format" |
		tr -dc 0-9
}

name_of() {
	case $1 in
	0x0) echo 0 ;;
	0xffffffff | 0xffffffffffffffff) echo EPERM ;;
	0xfffffff0 | 0xfffffffffffffff0) echo EBUSY ;;
	0xffffffed | 0xffffffffffffffed) echo ENODEV ;;
	0xffffffea | 0xffffffffffffffea) echo EINVAL ;;
	*) echo "$1" ;;
	esac
}

# hypercall NAME ARGUMENT...: what it returns.
hypercall() {
	id=$(number "$1")
	shift
	echo "hvc $((0xc6000000 + id)) $*" | sed "s/HYP/$((RESERVED / PAGE))/" >"$CALL"
	name_of "$(cut -d ' ' -f 2 "$CALL")"
}

# otherwise: those that a table has otherwise.
otherwise() {
	while IFS=';' read -r call expected; do
		# shellcheck disable=SC2086 # words
		found=$(hypercall $call)
		[ "$found" = "$expected" ] || echo "$call: $found, not $expected"
	done <table
}

# Numbers on all CPUs, as if nothing had been.
inexact_numbers() {
	reset_numbers 64
	write_numbers 500
	cat "$HYP/trace" >trace
	inexact trace 500
	[ "$(fact shown trace)" = $((500 * CPUS)) ] || fact shown trace
}

run_guest() {
	guest >guests || echo "no guest ran"
}

test_refused() {
	reset
	insmod "$MODULES/hyp_call.ko"
	echo "$UNLOADED" | grep . >table
	none "refused while there is no ring" otherwise
	echo 1 >"$HYP/tracing_on"
	echo "$LOADED" | grep . >table
	none "refused while there is one" otherwise
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	rmmod hyp_call
	none "then a guest runs" run_guest
	none "and tracing works" inexact_numbers
}

test_attacks() {
	reset
	ktap_print_msg "seed $SEED, $CALLS hypercalls"
	insmod "$MODULES/hyp_hostile.ko" "seed=$SEED" "calls=$CALLS" hyp_pfn=$((RESERVED / PAGE))
	ktap_print_msg "$(cat "$FOUND/made") made, $(cat "$FOUND/accepted") accepted," \
		"$(cat "$FOUND/loaded") rings complete"
	holds "attacks: they were made" "$(cat "$FOUND/made")" -ge $((CALLS / CPUS * CPUS))
	holds "rings were complete meanwhile" "$(cat "$FOUND/loaded")" -gt 0
	is "all pages are the host's again" "$(cat "$FOUND/stolen")" 0
	rmmod hyp_hostile
	none "after them a guest runs" run_guest
	none "and tracing works as ever" inexact_numbers
}

plan 9 write_event
if [ "$(kvm_mode)" != protected ] || [ ! -e "$MODULES/hyp_hostile.ko" ]; then
	for name in $(seq 9); do
		ktap_test_skip "$name: without pKVM, or without modules for this kernel"
	done
	ktap_finished
fi
test_refused
test_attacks
ktap_finished
