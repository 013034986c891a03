#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# options/overwrite and its word in trace_options: with 0 a full ring keeps its oldest events and
# counts those that it drops. What was written is read, in the ring, or counted as dropped, also
# while all CPUs write and are read, and after the option was changed at any time.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

OPTION=$HYP/options/overwrite

# option: as both files show it.
option() {
	echo "$(cat "$OPTION") $(grep overwrite "$HYP/trace_options")"
}

# A value or a word, the file, and the outcome
REFUSALS='
2	options/overwrite	EINVAL
-1	options/overwrite	EINVAL
x	options/overwrite	EINVAL
over	trace_options		EINVAL
noover	trace_options		EINVAL
no	trace_options		EINVAL
stacktrace	trace_options	EINVAL
'

# What was not refused as the kernel's own instance does
accepted() {
	echo "$REFUSALS" | while read -r word file outcome; do
		[ -n "$word" ] || continue
		found=$(fileop write "$HYP/$file" "$word")
		[ "$found" = "$outcome" ] || echo "$word to $file: $found, not $outcome"
	done
	[ "$(option)" = "1 overwrite" ] || option
}

test_files() {
	reset
	is "events are overwritten at first" "$(option)" "1 overwrite"
	none "other values and words are refused" accepted
	echo 0 >"$OPTION"
	is "0" "$(option)" "0 nooverwrite"
	echo 1 >"$OPTION"
	is "1" "$(option)" "1 overwrite"
	echo nooverwrite >"$HYP/trace_options"
	is "nooverwrite" "$(option)" "0 nooverwrite"
	echo overwrite >"$HYP/trace_options"
	is "overwrite" "$(option)" "1 overwrite"
}

# counts CPU: what is in the ring, overwritten, read; and dropped.
counts() {
	for name in entries overrun "read events" "dropped events"; do
		stat_of "$1" "$name"
	done | xargs
}

# miscounted WRITTEN [CPU...]: CPUs whose counters do not come to that, or to what written.CPU has;
# and those that overwrote events.
miscounted() {
	written=$1
	shift
	for cpu; do
		counts "$cpu" | awk -v written="${written:-$(cat "written.$cpu")}" -v cpu="$cpu" '
			$1 + $2 + $3 + $4 != written || $2 {
				print "CPU " cpu ": " $0 ", written " written
			}'
	done
}

# numbers CPU: those that the trace of a CPU has.
numbers() {
	sed -n 's/.*selftest id=//p' "$HYP/per_cpu/cpu$1/trace"
}

# not_first CPU...: CPUs of which the trace has other numbers than the first ones.
not_first() {
	for cpu; do
		numbers "$cpu" | awk -v from=$((cpu * 1000000000)) -v cpu="$cpu" '
			$1 != from + NR { print "CPU " cpu ": " $1 " is number " NR; exit }
			END { if (!NR) print "CPU " cpu ": no events" }'
		grep LOST "$HYP/per_cpu/cpu$cpu/trace"
	done
}

# shellcheck disable=SC2086 # lists
test_kept() {
	reset_numbers 8
	echo 0 >"$OPTION"
	write_numbers $((20 * PER_PAGE))
	none "the oldest events are kept" not_first $ALL_CPUS
	none "the others are counted as dropped" miscounted $((20 * PER_PAGE)) $ALL_CPUS
	kept=$(stat_of 0 entries)
	holds "the whole ring is used" "$kept" -ge $((8 * PER_PAGE))
	holds "no more than the ring and the reader's page" "$kept" -le $((11 * PER_PAGE))

	write_numbers 10 $((20 * PER_PAGE + 1))
	is "a full ring takes no event" "$(stat_of 0 entries)" "$kept"
	fileop drain "$HYP/trace_pipe" >pipe
	is "all of them are read" "$(grep -c '^\[000\]' pipe)" "$kept"
	is "none is reported lost" "$(grep -c LOST pipe)" 0
}

# Two pages are read: as many events are written as these had.
test_freed() {
	reset_numbers 8
	echo 0 >"$OPTION"
	exec 3<"$HYP/per_cpu/cpu0/trace_pipe_raw"
	echo 1 >"$HYP/tracing_on"
	emit_on 0 $((20 * PER_PAGE))
	kept=$(stat_of 0 entries)
	dd bs=$((PAGE_BYTES + 16)) count=2 of=pages <&3 2>&-
	read=$(stat_of 0 "read events")
	emit_on 0 $((20 * PER_PAGE)) 1000000
	echo 0 >"$HYP/tracing_on"
	holds "pages were read" "$read" -ge "$PER_PAGE"
	is "there is room for what was read" "$(($(stat_of 0 entries) / PER_PAGE))" \
		"$((kept / PER_PAGE))"
	none "all is counted" miscounted $((40 * PER_PAGE)) 0
	exec 3<&-
	echo >"$HYP/trace"
	is "a clear sets the counters to 0" "$(counts 0)" "0 0 0 0"
	write_numbers 10
	is "a clear makes room" "$(counts 0)" "10 0 0 0"
}

# The option changes while the ring is loaded and written.
test_changed() {
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	echo 0 >"$OPTION"
	emit_on 0 $((20 * PER_PAGE))
	none "kept, after a change while tracing is on" not_first 0
	echo 1 >"$OPTION"
	emit_on 0 $((20 * PER_PAGE)) 1000000
	echo 0 >"$HYP/tracing_on"
	holds "overwritten, after another one" "$(stat_of 0 overrun)" -gt 0
	is "the last event is there" "$(numbers 0 | tail -n 1)" $((1000000 + 20 * PER_PAGE - 1))
	echo 0 >"$OPTION"
	echo >"$HYP/trace"
	is "the buffer is unloaded" "$(state)" "(unloaded)"
	write_numbers $((20 * PER_PAGE))
	none "kept in a buffer that is loaded later" not_first 0
}

# Ten times from each CPU, and more often if pages are larger: a read has as much text
read_some() {
	for _ in $(seq $((10 * PAGE_KB / 4))); do
		for cpu in $BUSY_CPUS; do
			dd if="$HYP/per_cpu/cpu$cpu/trace_pipe" bs=65536 count=1 2>&-
		done
	done
}

dropped() { [ "$(stat_of 0 "dropped events")" -gt 0 ]; }

# shellcheck disable=SC2086 # lists
test_race() {
	reset_numbers 3
	echo 0 >"$OPTION"
	echo 1 >"$HYP/tracing_on"
	if start_writers; then
		read_some >pipe
		until_true 10 dropped
	fi
	stop_writers
	echo 0 >"$HYP/tracing_on"
	none "read while CPUs write: all is counted" miscounted "" $BUSY_CPUS
	holds "events were read" "$(stat_of 0 "read events")" -gt $((4 * PER_PAGE))
	holds "events were dropped" "$(stat_of 0 "dropped events")" -gt 0
	is "none is reported lost" "$(grep -c LOST pipe)" 0
}

plan 27 write_event
test_files
test_kept
test_freed
test_changed
test_race
ktap_finished
