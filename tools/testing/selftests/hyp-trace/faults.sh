#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each allocation of each operation on the files fails once. The operation reports
# ENOMEM, nothing has changed, nothing is leaked, and the next try succeeds.
#
# HYP_TRACE_FAULTS="operation..."	only these operations of `faults list`
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

INJECT=/sys/kernel/debug

# The knobs that say which allocations can fail, and what that says on the console.
KNOBS="failslab/ignore-gfp-wait failslab/verbose fail_page_alloc/ignore-gfp-wait
	fail_page_alloc/ignore-gfp-highmem fail_page_alloc/min-order fail_page_alloc/verbose"

# All of them, quietly.
allow() {
	for knob in $KNOBS; do
		echo "$knob $(cat "$INJECT/$knob")"
		case $knob in
		*ignore*) echo N >"$INJECT/$knob" ;;
		*) echo 0 >"$INJECT/$knob" ;;
		esac
	done >knobs
}

restore() {
	while read -r knob value; do
		echo "$value" >"$INJECT/$knob"
	done <knobs
}

wrong_with() {
	"$DIR/faults" "$1" 2>summary || echo "exit status $?"
}

test_operation() {
	reset_numbers 2
	none "$1" wrong_with "$1"
	ktap_print_msg "$1: $(cat summary)"
}

# What is wrong with a trace of numbers, and of a guest.
as_ever() {
	reset_numbers 8
	write_numbers 100
	cat "$HYP/trace" >trace
	inexact trace 100
	reset
	guest >guests || echo "no guest ran"
	record trace guest --cpu 0 >guests
	[ "$(count trace hyp_enter guest)" = "$(exits guests)" ] || echo "not all of its exits"
}

OPERATIONS=${HYP_TRACE_FAULTS:-$("$DIR/faults" list)}
# shellcheck disable=SC2086 # words
plan $(($(echo $OPERATIONS | wc -w) + 1)) write_event
if [ ! -e /proc/thread-self/fail-nth ] || [ ! -e "$INJECT/failslab" ] ||
	[ ! -e "$INJECT/fail_page_alloc" ]; then
	for name in $OPERATIONS "as ever"; do
		ktap_test_skip "$name: no CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC"
	done
	ktap_finished
fi
[ -e /proc/allocinfo ] || ktap_print_msg "memory is not counted: no CONFIG_MEM_ALLOC_PROFILING"
allow
for name in $OPERATIONS; do
	test_operation "$name"
done
restore
none "after all faults, tracing works and a guest runs" as_ever
ktap_finished
