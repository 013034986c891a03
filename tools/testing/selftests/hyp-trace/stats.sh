#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# per_cpu/cpuN/stats has the lines of the kernel's file. Its counters are exact: after
# events were written, read in part, overwritten and cleared, and while all CPUs write.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

HOST=$TRACEFS/instances/hyp-trace-stats

# The text of a file, each number as N.
form() {
	sed 's/ [ 0-9]*[0-9]$/ N/; s/ [ 0-9]*\.[0-9]\{6\}$/ N.N/' "$1"
}

# counts CPU: entries, overrun, commit overrun, dropped events, read events.
counts() {
	for name in entries overrun "commit overrun" "dropped events" "read events"; do
		stat_of "$1" "$name"
	done | xargs
}

not_zero() {
	for cpu in $ALL_CPUS; do
		echo "$(counts "$cpu") $(stat_of "$cpu" bytes) $(stat_of "$cpu" "oldest event ts")"
	done | grep -vx '0 0 0 0 0 0 0.000000'
}

# What is left of the counters after clearing; before, there was something.
not_cleared() {
	[ -n "$(not_zero)" ] || echo "they were 0 before"
	echo >"$HYP/trace"
	not_zero
}

# miscounted WRITTEN: CPUs whose counters do not come to 10 more for each next CPU.
# None can be dropped.
miscounted() {
	for cpu in $ALL_CPUS; do
		counts "$cpu" | awk -v written=$(($1 + 10 * cpu)) -v cpu="$cpu" '
			$1 + $2 + $5 != written || $3 || $4 {
				print "CPU " cpu ": " $0 ", written " written
			}'
	done
}

# write_different COUNT: the same difference.
write_different() {
	echo 1 >"$HYP/tracing_on"
	for cpu in $ALL_CPUS; do
		emit_on "$cpu" $(($1 + 10 * cpu))
	done
	echo 0 >"$HYP/tracing_on"
}

test_form() {
	mkdir "$HOST"
	form "$HOST/per_cpu/cpu0/stats" >expected
	rmdir "$HOST"
	form "$HYP/per_cpu/cpu0/stats" >found
	none "the file has the lines of the host's file" diff expected found
}

test_nothing() {
	reset
	none "all are 0 while the buffer is not loaded" not_zero
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	emit_all 5
	echo 0 >"$HYP/tracing_on"
	fileop drain "$HYP/trace_pipe" >pipe
	is "counters stay after the buffer is unloaded" "$(state) $(stat_of 0 "read events")" \
		"(unloaded) 5"
	none "a clear resets them" not_cleared
	echo 0 >"$HYP/events/enable"
	echo 1 >"$HYP/tracing_on"
	none "all are 0 while nothing is written" not_zero
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	emit_all $((20 * PER_PAGE))
	none "all are 0 after clearing" not_cleared
}

# The bytes of events, and eight more for each long time delta.
odd_bytes() {
	for cpu in $ALL_CPUS; do
		rest=$(($(stat_of "$cpu" bytes) - EVENT_BYTES * $(stat_of "$cpu" entries)))
		if [ "$rest" -lt 0 ] || [ $((rest % 8)) -ne 0 ] || [ "$rest" -gt 200 ]; then
			sed "s/^/CPU $cpu: /" "$HYP/per_cpu/cpu$cpu/stats"
		fi
	done
}

other_oldest() {
	for cpu in $ALL_CPUS; do
		first=$(sed -n 's/.*  *\([0-9.]*\): selftest .*/\1/p' \
			"$HYP/per_cpu/cpu$cpu/trace" | head -n 1)
		[ "$(stat_of "$cpu" "oldest event ts")" = "$first" ] ||
			echo "CPU $cpu: $first, not $(stat_of "$cpu" "oldest event ts")"
	done
}

test_written() {
	reset_numbers 8
	write_different 50
	none "entries are as many as were written" miscounted 50
	is "none of them was overwritten" "$(stat_of 0 overrun)" 0
	none "bytes are the sum over all events" odd_bytes
	none "the oldest event is the first" other_oldest

	reset_numbers 8
	write_different $((20 * PER_PAGE))
	none "entries and overrun are as many as were written" miscounted $((20 * PER_PAGE))
	holds "the oldest are overwritten" "$(stat_of 0 overrun)" -gt 0
	holds "the buffer is used" "$(stat_of 0 entries)" -ge $((7 * PER_PAGE))
	none "bytes are the sum over the events left" odd_bytes
	none "the oldest event is the first one left" other_oldest
}

# `now ts` is between two readings of the boot clock, in hundredths.
test_now() {
	reset
	for on in 0 1; do
		echo $on >"$HYP/tracing_on"
		before=$(cut -d ' ' -f 1 /proc/uptime)
		now=$(stat_of $((CPUS - 1)) "now ts")
		after=$(cut -d ' ' -f 1 /proc/uptime)
		ktap_print_msg "$before, $now, $after"
		echo "$before $now $after" |
			awk '$1 > $2 || $2 > $3 + 0.01 { print "wrong" }'
	done >wrong
	is "now ts is the boot clock, loaded or not" "$(grep -x wrong wrong)" ""
}

# take CPU: one reading's worth of its events go to `pipe`.
take() {
	dd if="$HYP/per_cpu/cpu$1/trace_pipe" bs=65536 count=1 of=pipe 2>&-
}

test_read() {
	reset_numbers 8
	write_different $((20 * PER_PAGE))
	for cpu in $ALL_CPUS; do
		take "$cpu"
		lines=$(grep -c selftest pipe)
		[ "$lines" -gt 0 ] && [ "$(stat_of "$cpu" "read events")" -eq "$lines" ] ||
			echo "CPU $cpu: $(stat_of "$cpu" "read events") of $lines"
	done >wrong
	is "read events are as many as the reader had" "$(cat wrong)" ""
	none "entries, overrun, read: as many as were written" miscounted $((20 * PER_PAGE))
	exec 3<"$HYP/trace_pipe"
	fileop drain - <&3 >pipe
	none "entries, overrun, all read: as many as were written" miscounted $((20 * PER_PAGE))
	for cpu in $ALL_CPUS; do
		echo "$(stat_of "$cpu" entries) $(stat_of "$cpu" bytes)"
	done >left
	is "no entries and no bytes are left after reading all" "$(sort -u left)" "0 0"
	exec 3<&-
}

# The counters of each CPU, and what was written there.
uneven() {
	for cpu in $BUSY_CPUS; do
		counts "$cpu" | awk -v written="$(cat "written.$cpu")" -v cpu="$cpu" '
			$1 + $2 + $5 != written { print "CPU " cpu ": " $0 ", written " written }
			END { if (!NR || !written) print "CPU " cpu ": nothing written" }'
	done
}

test_writing() {
	reset_numbers 3
	echo 1 >"$HYP/tracing_on"
	# Without events a reader would wait for ever.
	if start_writers; then
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			for cpu in $BUSY_CPUS; do
				take "$cpu"
			done
		done
	fi
	stop_writers
	echo 0 >"$HYP/tracing_on"
	none "read while CPUs write: as many as were written" uneven
}

plan 21 write_event
test_form
test_nothing
test_written
test_now
test_read
test_writing
ktap_finished
