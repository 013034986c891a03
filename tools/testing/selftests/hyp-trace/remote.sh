#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The module trace_remote_test, which is a remote without a hypervisor. Its events have
# fields of each kind: their text, and filters of them. Its threads exist while the buffer
# is loaded. The module can be removed when none of its files is open, and nothing is left.
#
# HYP_TRACE_MODULE=file    the module, to be loaded again after it was removed
TRACE_REMOTE=trace_remote_test
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

MODULE=${HYP_TRACE_MODULE:-}

# texts: what the trace has of each event, without CPU and time.
texts() {
	sed -n 's/^\[[0-9]*\] *[0-9.]*: //p' "$HYP/trace"
}

# written NUMBER...: with all events enabled, the texts go to `found`.
written() {
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	echo 1 >"$HYP/events/enable"
	echo 1 >"$HYP/tracing_on"
	for number; do
		echo "$number" >"$HYP/write_event"
	done
	echo 0 >"$HYP/tracing_on"
	texts >found
}

test_texts() {
	reset
	written 5
	cat >expected <<-'END'
		selftest id=5
		numbers kind=one s8=-5 u16=5 s16=-5 u32=5 s32=-5 s64=-5
		array words={0x5,0x6,0x7,0x8}
		string text=number 5
		bitmask mask=ffffffff,fffffffa,00000000,00000005
	END
	none "fields of each kind" diff expected found
	written 18446744073709551615
	cat >expected <<-'END'
		selftest id=18446744073709551615
		numbers kind=0x3 s8=1 u16=65535 s16=1 u32=4294967295 s32=1 s64=1
		array words={0xffffffff,0x0,0x1,0x2}
		string text=number 18446744073709551615
		bitmask mask=00000000,00000000,ffffffff,ffffffff
	END
	none "fields of each kind, with the largest number" diff expected found
}

# passed EVENT FILTER: which of these numbers pass.
passed() {
	echo "$2" >"$EVENTS/$1/filter"
	written 0 1 2 3 4 127 128 255 256 65535 65536 4294967295
	echo 0 >"$EVENTS/$1/filter"
	sed -n "s/^$1 .* u32=\\([0-9]*\\) .*/\\1/p" found | xargs
}

test_filters() {
	reset
	is "a name" "$(passed numbers 'kind == "two"')" 2
	is "1 byte, signed" "$(passed numbers 's8 < -100')" "127 128"
	is "2 bytes" "$(passed numbers 'u16 == 65535')" "65535 4294967295"
	is "2 bytes, signed" "$(passed numbers 's16 >= 1')" "65535 4294967295"
	is "4 bytes" "$(passed numbers 'u32 & 0x80000000')" 4294967295
	is "4 bytes, signed" "$(passed numbers 's32 > 0')" 4294967295
	is "8 bytes, signed" "$(passed numbers 's64 <= -65536')" "65536 4294967295"
	for filter in "string text == 5" "bitmask mask == 5" "array words == 5"; do
		is "not a number: $filter" \
			"$(fileop write "$EVENTS/${filter%% *}/filter" "${filter#* }")" EINVAL
	done
}

threads() {
	cat /proc/[0-9]*/comm 2>&- | grep -c '^trace_remote/'
}

test_threads() {
	reset
	is "no thread while the buffer is not loaded" "$(threads)" 0
	echo 1 >"$HYP/tracing_on"
	is "a thread of each CPU while tracing is on" "$(threads)" "$CPUS"
	echo 0 >"$HYP/tracing_on"
	is "none after tracing" "$(threads)" 0
}

# Names of the remote that are left in tracefs
left() {
	find "$TRACEFS" -name "$REMOTE*"
	grep "^$REMOTE:" "$TRACEFS/available_events"
}

# Loaded and removed, with a buffer, filters, a histogram and an error in the log each time
load_often() {
	for round in $(seq 20); do
		insmod "$MODULE" || echo "round $round: it is not loaded"
		written "$round"
		grep -q "id=$round\$" found || echo "round $round: no event"
		echo "kind == 1" >"$EVENTS/filter"
		fileop write "$EVENTS/filter" "no_field == 1" >outcome
		[ ! -e "$EVENTS/selftest/hist" ] || echo hist:keys=id >"$EVENTS/selftest/trigger"
		: >"$EVENTS/selftest/trigger"
		rmmod "$REMOTE" || echo "round $round: it is not removed"
		left
	done
}

test_hist_stays() {
	if [ ! -e "$EVENTS/selftest/hist" ]; then
		ktap_test_skip "not removed while there is a histogram: CONFIG_HIST_TRIGGERS is off"
		return
	fi
	echo hist:keys=id >"$EVENTS/selftest/trigger"
	rmmod "$REMOTE" 2>said
	is "not removed while there is a histogram" "$(lsmod | grep -c "^$REMOTE ")" 1
	: >"$EVENTS/selftest/trigger"
}

test_module() {
	reset
	for file in tracing_on trace trace_pipe per_cpu/cpu0/trace_pipe_raw \
		"events/$REMOTE/selftest/format"; do
		exec 3<"$HYP/$file"
		rmmod "$REMOTE" 2>said
		is "not removed while $file is open" "$(lsmod | grep -c "^$REMOTE ")" 1
		exec 3<&-
	done
	test_hist_stays
	written 42
	rmmod "$REMOTE"
	is "removed with events in the buffer" "$(lsmod | grep -c "^$REMOTE ")" 0
	none "nothing is left in tracefs" left
	none "loaded and removed 20 times" load_often
	insmod "$MODULE"
	holds "loaded again" -d "$HYP"
	written 42
	is "it writes events" "$(grep -c 'id=42$' found)" 1
}

MODULE_TESTS=0
[ ! -e "$MODULE" ] || MODULE_TESTS=11
plan $((2 + 10 + 3 + MODULE_TESTS))
test_texts
test_filters
test_threads
[ "$MODULE_TESTS" = 0 ] || test_module
ktap_finished
