#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The buffer's memory is allocated when it is needed and freed afterwards, ten times
# without a leak. A buffer as large as the memory is refused. With a small buffer, lost
# events are counted exactly.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

# For the tests that measure memory: 32 MiB for all CPUs. Differences of less than a quarter
# are due to other users of memory, or to KASAN's quarantine.
SIZE=$((32768 / CPUS))
NOISE=8192

# Room for all that a run of the guest below makes.
ROOM=$((64 * PAGE_KB))
[ "$ROOM" -ge 1024 ] || ROOM=1024

size() {
	cat "$HYP/buffer_size_kb"
}

# More events than are in eight pages.
run_guest() {
	guest --cpu 0 --hvc $((PAGE_BYTES / 2)) --mmio 0 --wfi 0 >>guests
}

load() {
	echo 1 >"$HYP/tracing_on"
}

unload() {
	echo 0 >"$HYP/tracing_on"
	fileop drain "$HYP/trace_pipe" >/dev/null
}

# How many times in a row the buffer was loaded, of ten.
load_often() {
	times=0
	while [ "$times" -lt 10 ] && load && case $(size) in *\(loaded\)) ;; *) false ;; esac; do
		unload
		times=$((times + 1))
	done
	echo "$times"
}

test_states() {
	reset
	is "unloaded at first" "$(size)" "1024 (unloaded)"
	load
	is "loaded when tracing starts" "$(size)" "1024 (loaded)"
	run_guest
	echo 0 >"$HYP/tracing_on"
	is "loaded while there are events to read" "$(size)" "1024 (loaded)"
	exec 3<"$HYP/trace_pipe"
	fileop drain - <&3 >/dev/null
	is "loaded while there is a reader" "$(size)" "1024 (loaded)"
	exec 3<&-
	is "unloaded when all is read" "$(size)" "1024 (unloaded)"
}

# A write to trace, and O_TRUNC alone, clear all events.
test_cleared() {
	reset_to "$ROOM"
	load
	run_guest
	: >guests
	: >"$HYP/trace"
	run_guest
	echo 0 >"$HYP/tracing_on"
	is "loaded after clearing while tracing is on" "$(size)" "$ROOM (loaded)"
	drain trace
	is "only events since then are left" "$(count trace hyp_enter guest)" "$(exits guests)"
	load
	run_guest
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	is "unloaded after clearing with tracing off" "$(size)" "$ROOM (unloaded)"
	is "no event is left after clearing" "$(fileop read "$HYP/trace_pipe")" EAGAIN
}

test_memory() {
	reset_to "$SIZE"
	is "the size is kept" "$(size)" "$SIZE (unloaded)"
	before=$(free_kb)
	load
	loaded=$(free_kb)
	unload
	after=$(free_kb)
	ktap_print_msg "free: $before kB, loaded $loaded kB, unloaded $after kB"
	holds "loading allocates the memory" $((before - loaded)) -ge $((CPUS * SIZE * 9 / 10))
	holds "unloading frees the memory" $((before - after)) -lt "$NOISE"
	is "loading ten times" "$(load_often)" 10
	after=$(free_kb)
	ktap_print_msg "free: after ten times $after kB"
	holds "loading leaks no memory" $((before - after)) -lt "$NOISE"
}

# For all CPUs as much as there is: refused at once, or when tracing is to start.
test_too_large() {
	reset
	before=$(free_kb)
	size=$(awk -v cpus="$CPUS" '$1 == "MemTotal:" { print int($2 / cpus) }' /proc/meminfo)
	outcome=$(fileop write "$HYP/buffer_size_kb" "$size")
	expected=EINVAL
	if [ "$outcome" = ok ]; then
		outcome=$(fileop write "$HYP/tracing_on" 1)
		expected=ENOMEM
	fi
	is "a buffer as large as the memory is refused" "$outcome" "$expected"
	is "tracing is off then" "$(cat "$HYP/tracing_on")" 0
	holds "the refused buffer leaks no memory" $((before - $(free_kb))) -lt "$NOISE"
	echo "$ROOM" >"$HYP/buffer_size_kb"
	: >guests
	record trace run_guest
	is "tracing works afterwards" "$(count trace hyp_enter guest)" "$(exits guests)"
}

# Events from before the guest's run, of the CPU it ran on.
older_than_guest() {
	awk -v from="$(sed 's/.*from=\([^ ]*\).*/\1/' guests)" '
		/^\[000\]/ && $2 + 0 < from { print "from " from ": " $0 }' trace
}

# How many events a guest's run makes beside four for each of its exits (the
# hypercall, into the guest, out of it, back to the host) is seen with a buffer
# that holds them all; with one that does not it is about the same.
test_overflow() {
	reset_to "$ROOM"
	: >guests
	record trace run_guest
	others=$(($(total trace hyp_enter) + $(total trace hyp_exit) - 4 * $(exits guests)))
	ktap_print_msg "$(exits guests) exits, $others other events"
	is "nothing is lost in a large buffer" "$(lost trace)" 0

	reset_to $((2 * PAGE_KB))
	: >guests
	record trace run_guest
	rest=$(($(total trace hyp_enter) + $(total trace hyp_exit)))
	written=$((rest + $(lost trace)))
	ktap_print_msg "$(exits guests) exits, $rest events read, $(lost trace) lost"
	holds "events are lost in a small one" "$(lost trace)" -gt 0
	holds "the small buffer was full" "$rest" -ge $((PAGE_BYTES / 20))
	holds "read and lost are as many as were written" "$written" -ge $((4 * $(exits guests)))
	holds "read and lost are no more than were written" \
		"$written" -le $((4 * $(exits guests) + 2 * others + 1000))
	none "the lost events are the oldest" older_than_guest
	none "the remaining events are in order" unsound 'malformed|backwards|misled' trace
}

# judge NAME: checks a trace of CPU 0 with gaps. With the number of events lost in each gap,
# hyp_enter and hyp_exit must still alternate.
judge() {
	facts trace
	made=$(exits guests)
	written=$(($(total trace hyp_enter) + $(total trace hyp_exit) + $(lost trace)))
	gaps="$(grep -c LOST trace) gaps"
	ktap_print_msg "$gaps, $(lost trace) events lost of $written, $made exits"
	holds "$1: read and lost are as many as were written" "$written" -ge $((4 * made))
	none "$1: events lost are counted exactly" unsound unpaired trace
	none "$1: the remaining events are in order" unsound 'malformed|backwards|misled' trace
}

# Between one run of the guest and the next, the events of one page and a half
# are read, whose text takes less than three times the room: a page more than the
# reader had, and less than is there. Each run makes more than there is room for.
test_gaps() {
	reset_to $((2 * PAGE_KB))
	: >guests
	exec 3<"$HYP/per_cpu/cpu0/trace_pipe"
	load
	for _ in 1 2 3 4; do
		run_guest
		dd bs=4000 count=$((2 * PAGE_BYTES / 1000)) <&3 2>&-
	done >trace
	echo 0 >"$HYP/tracing_on"
	fileop drain - <&3 >>trace
	exec 3<&-
	holds "each read reports a gap" "$(grep -c LOST trace)" -ge 4
	judge "gaps"
}

# The same with a reader that takes what it gets while the guest runs.
test_race() {
	reset_to $((2 * PAGE_KB))
	load
	guest --cpu 0 --hvc 5000 --mmio 0 --wfi 0 >guests &
	while kill -0 $! 2>&-; do
		fileop drain "$HYP/per_cpu/cpu0/trace_pipe"
	done >trace
	echo 0 >"$HYP/tracing_on"
	fileop drain "$HYP/per_cpu/cpu0/trace_pipe" >>trace
	judge "a reader beside the writer"
}

plan 32
test_states
test_cleared
test_memory
test_too_large
test_overflow
test_gaps
test_race
ktap_finished
