#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# snapshot is a copy of what trace shows. It stays while tracing goes on, and after the buffer is
# cleared and unloaded. 0 frees it, 1 takes it, any other number clears it, of one CPU and of all;
# with the outcomes and the texts of the kernel's own file. A copy that is taken while all CPUs
# write has no gap, and consumes nothing.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

SNAPSHOT=$HYP/snapshot
HOST=$TRACEFS/instances/hyp-trace-snapshot

body() {
	grep -v '^#' "$1"
}

# unlike_trace: what differs between the snapshot, or that of a CPU, and the trace of then.
unlike_trace() {
	diff trace "$SNAPSHOT"
	for cpu in $ALL_CPUS; do
		diff "trace.$cpu" "$HYP/per_cpu/cpu$cpu/snapshot"
	done
}

keep_trace() {
	cat "$HYP/trace" >trace
	for cpu in $ALL_CPUS; do
		cat "$HYP/per_cpu/cpu$cpu/trace" >"trace.$cpu"
	done
}

# outcomes DIRECTORY: of these writes, one after the other, and what the file says then.
outcomes() {
	for write in "snapshot x" "snapshot -1" "snapshot 99999999999999999999" "snapshot 2" \
		"per_cpu/cpu0/snapshot 0" "per_cpu/cpu0/snapshot 2" "snapshot 0" "snapshot 1" \
		"per_cpu/cpu0/snapshot 0" "per_cpu/cpu0/snapshot 2" "snapshot 7" "snapshot 0"; do
		echo "$write: $(fileop write "$1/${write% *}" "${write#* }")"
		grep '^# \*' "$1/snapshot"
	done
}

# of_one_cpu DIRECTORY: the kernel can have snapshots without those of one CPU.
of_one_cpu() {
	echo "$(fileop write "$1/snapshot" 1) $(fileop write "$1/per_cpu/cpu0/snapshot" 1)"
	grep '^#' "$1/per_cpu/cpu0/snapshot"
	echo 0 >"$1/snapshot"
	grep '^#' "$1/per_cpu/cpu0/snapshot"
}

test_one_as_host() {
	if grep -q "Takes a snapshot" "$HOST/per_cpu/cpu0/snapshot" 2>&-; then
		of_one_cpu "$HOST" >expected
		of_one_cpu "$HYP" >found
		none "that of one CPU is like the host's" diff expected found
	else
		ktap_test_skip "that of one CPU is like the host's: it has none"
	fi
}

test_as_host() {
	reset
	mkdir "$HOST"
	if [ -e "$HOST/snapshot" ]; then
		outcomes "$HOST" >expected
		outcomes "$HYP" >found
		none "outcomes are the host's" diff expected found
		none "the text of an empty one is the host's" diff "$HOST/snapshot" "$SNAPSHOT"
	else
		ktap_test_skip "outcomes are the host's: it has no snapshot"
		ktap_test_skip "the text of an empty one is the host's: it has none"
	fi
	test_one_as_host
	rmdir "$HOST"
}

test_taken() {
	reset_numbers 8
	is "freed at first" "$(grep '^# \*' "$SNAPSHOT")" "# * Snapshot is freed *"
	write_numbers $((20 * PER_PAGE))
	keep_trace
	echo 1 >"$SNAPSHOT"
	none "it shows what trace shows" unlike_trace
	keep_trace
	none "trace shows the same as before" unlike_trace
	write_numbers 50 $((20 * PER_PAGE + 1))
	none "it stays while events are written" unlike_trace
	fileop drain "$HYP/trace_pipe" >pipe
	none "it stays when all events are read" unlike_trace
	is "the buffer is unloaded" "$(state)" "(unloaded)"
	: >"$SNAPSHOT"
	none "O_TRUNC leaves it" unlike_trace
	echo 1 >"$SNAPSHOT"
	is "a snapshot of nothing is empty" "$(body "$SNAPSHOT")" ""
	is "and allocated" "$(grep '^# \*' "$SNAPSHOT")" "# * Snapshot is allocated *"
	echo 0 >"$SNAPSHOT"
}

# Part of the events is read, so that lost events were reported once.
test_partly_read() {
	reset_numbers 8
	exec 3<"$HYP/per_cpu/cpu0/trace_pipe"
	write_numbers $((20 * PER_PAGE))
	dd bs=500 count=3 <&3 >pipe 2>&-
	keep_trace
	echo 1 >"$SNAPSHOT"
	none "it begins where a reader is" unlike_trace
	exec 3<&-
}

other_cpus() {
	for cpu in $ALL_CPUS; do
		[ "$cpu" = 0 ] || diff "trace.$cpu" "$HYP/per_cpu/cpu$cpu/snapshot"
	done
}

test_one_cpu() {
	reset_numbers 8
	write_numbers 50
	keep_trace
	echo 1 >"$SNAPSHOT"
	write_numbers 50 51
	echo 1 >"$HYP/per_cpu/cpu0/snapshot"
	is "of one CPU: a new copy" "$(grep -c selftest "$HYP/per_cpu/cpu0/snapshot")" 100
	none "of one CPU: the others stay" other_cpus
	echo 2 >"$HYP/per_cpu/cpu0/snapshot"
	is "of one CPU: cleared" "$(grep -c selftest "$HYP/per_cpu/cpu0/snapshot")" 0
	none "of one CPU: the others stay after it is cleared" other_cpus
	is "of one CPU: not to be freed" "$(fileop write "$HYP/per_cpu/cpu0/snapshot" 0)" EINVAL
	none "of one CPU: the others stay after that, too" other_cpus
	echo 2 >"$SNAPSHOT"
	is "all are cleared" "$(body "$SNAPSHOT")" ""
	is "and allocated" "$(grep '^# \*' "$SNAPSHOT")" "# * Snapshot is allocated *"
}

test_sizes() {
	reset_numbers 8
	write_numbers $((20 * PER_PAGE))
	echo 1 >"$SNAPSHOT"
	for pages in 32 3; do
		reset_numbers "$pages"
		write_numbers $((40 * PER_PAGE))
		keep_trace
		echo 1 >"$SNAPSHOT"
		none "after the buffer's size has changed to $pages pages" unlike_trace
	done
	exec 3<"$SNAPSHOT"
	head -n 20 <&3 >part
	echo 0 >"$SNAPSHOT"
	is "freed while it is read" "$(grep '^# \*' "$SNAPSHOT")" "# * Snapshot is freed *"
	cat <&3 >>part
	holds "a reader keeps it" "$(grep -c selftest part)" -ge $((2 * PER_PAGE))
	exec 3<&-
}

# Each loads, takes a snapshot and frees all: no memory is lost.
test_memory() {
	reset_to 4096
	echo 1 >"$HYP/tracing_on"
	before=$(free_kb)
	echo 1 >"$SNAPSHOT"
	taken=$(free_kb)
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		echo 0 >"$SNAPSHOT"
		echo 1 >"$SNAPSHOT"
	done
	echo 0 >"$SNAPSHOT"
	after=$(free_kb)
	ktap_print_msg "free: $before kB, taken $taken kB, freed $after kB"
	holds "a snapshot takes memory" $((before - taken)) -ge $((CPUS * 4096 * 8 / 10))
	holds "freeing it leaks none" $((before - after)) -lt 2048
	echo 0 >"$HYP/tracing_on"
}

# What is wrong with the snapshots that were taken: a CPU's numbers have a gap.
gaps() {
	for file in taken.*; do
		judge "$file"
		faults "$file"
		awk '/^\[/ { cpu = substr($1, 2, 3); sub(".*id=", "")
			if (cpu in last && $0 != last[cpu] + 1)
				print FILENAME ": " last[cpu] " then " $0
			last[cpu] = $0 }' "$file"
		grep -q selftest "$file" || echo "$file: no events"
	done
}

uneven() {
	for cpu in $BUSY_CPUS; do
		n=$(($(stat_of "$cpu" entries) + $(stat_of "$cpu" overrun)))
		[ "$n" -eq "$(cat "written.$cpu")" ] || echo "CPU $cpu: $n of $(cat "written.$cpu")"
		[ "$(stat_of "$cpu" "read events")" = 0 ] || echo "CPU $cpu: events were read"
	done
}

test_writing() {
	reset_numbers 64
	echo 1 >"$HYP/tracing_on"
	if start_writers; then
		for i in 1 2 3 4 5 6 7 8 9 10; do
			echo 1 >"$SNAPSHOT"
			cat "$SNAPSHOT" >"taken.$i"
		done
	fi
	stop_writers
	echo 0 >"$HYP/tracing_on"
	none "taken while CPUs write: no gap" gaps
	none "taken while CPUs write: nothing is consumed" uneven
	echo 0 >"$SNAPSHOT"
}

plan 29 write_event
test_as_host
test_taken
test_partly_read
test_one_cpu
test_sizes
test_memory
test_writing
ktap_finished
