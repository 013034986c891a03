#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A write to trace, and O_TRUNC alone, clears the events of all CPUs or of one, also
# while all CPUs write and others read. Later events are kept, and no cleared event is
# seen again.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

TRACE=$HYP/trace
PIPE=$HYP/trace_pipe
LAST=$((CPUS - 1))

# clear_trace FILE OPERATION ARGUMENT
clear_trace() {
	fileop "$2" "$1" "$3" >/dev/null
}

# kept FROM COUNT OPERATION ARGUMENT: writes events up to FROM - 1, clears them that way and
# writes COUNT more: prints the errors of their trace.
kept() {
	emit_all $(($1 - 1))
	clear_trace "$TRACE" "$3" "$4"
	emit_all "$2" "$1"
	cat "$TRACE" >trace
	inexact trace "$2" "$1"
}

# shellcheck disable=SC2086 # a way is two words
test_ways() {
	for way in "write x" "write 0" "open wt" "open rwt"; do
		reset_numbers 8
		echo 1 >"$HYP/tracing_on"
		none "$way: few events are cleared, later ones kept" kept 11 30 $way
		reset_numbers 3
		echo 1 >"$HYP/tracing_on"
		none "$way: overwritten events are cleared" kept $((20 * PER_PAGE)) 30 $way
		is "$way: cleared events are not reported lost" "$(fact lost trace)" 0
		is "$way: tracing stays on" "$(cat "$HYP/tracing_on")" 1
		none "$way: later events can be overwritten" kept 1 $((20 * PER_PAGE)) $way
	done
}

test_not() {
	reset_numbers 8
	write_numbers 100
	for mode in r w rw wa; do
		fileop open "$TRACE" $mode
	done >outcome
	is "other modes of open()" "$(sort <outcome | uniq -c | xargs)" "4 ok"
	cat "$TRACE" >trace
	none "other modes of open() clear nothing" inexact trace 100
}

test_unloading() {
	reset_numbers 8
	write_numbers 100
	echo >"$TRACE"
	is "with tracing off, clearing unloads the buffer" "$(state)" "(unloaded)"
	is "no event is left after clearing" "$(fileop read "$PIPE")" EAGAIN
	is "a write succeeds when there is nothing" "$(fileop write "$TRACE" x)" ok
	is "O_TRUNC succeeds when there is nothing" "$(fileop open "$TRACE" wt)" ok
	is "clearing does not load the buffer" "$(state)" "(unloaded)"
	write_numbers 100
	exec 3<"$PIPE"
	echo >"$TRACE"
	is "a reader keeps the buffer loaded" "$(state)" "(loaded)"
	exec 3<&-
	is "the buffer is unloaded when the reader closes" "$(state)" "(unloaded)"
}

# clear_last OPERATION ARGUMENT: the last CPU's.
clear_last() {
	clear_trace "$HYP/per_cpu/cpu$LAST/trace" "$1" "$2"
	cat "$TRACE" >trace
	inexact trace 100 1 "$(echo "$ALL_CPUS" | sed "s/ *$LAST\$//")"
}

# shellcheck disable=SC2086 # a way is two words
test_cpu() {
	for way in "write x" "open wt"; do
		reset_numbers 8
		echo 1 >"$HYP/tracing_on"
		emit_all 100
		none "one CPU: $way: the others keep theirs" clear_last $way
		emit_on "$LAST" 50 101
		cat "$HYP/per_cpu/cpu$LAST/trace" >trace
		none "one CPU: $way: later events are kept" inexact trace 50 101 "$LAST"
		echo 0 >"$HYP/tracing_on"
		for cpu in $ALL_CPUS; do
			state
			clear_trace "$HYP/per_cpu/cpu$cpu/trace" $way
		done >states
		is "one CPU: $way: loaded while a CPU has events" "$(sort -u states)" \
			"(loaded)"
		is "one CPU: $way: unloaded when no CPU has events" "$(state)" "(unloaded)"
	done
}

# Prints what came of it.
clear_often() {
	for round in 1 2 3 4 5; do
		fileop write "$TRACE" x
		fileop open "$TRACE" wt
		fileop write "$HYP/per_cpu/cpu$((round % CPUS))/trace" x
	done
}

# Events that are not later than all before them on their CPU: shown twice, or
# again after they were cleared. What was read is counted in `seen`.
descending() {
	grep -c "selftest id=" "$1" >>seen
	awk '$3 == "selftest" {
		id = substr($4, 4) + 0
		if (id <= last[$1])
			print "after " last[$1] ": " $0
		last[$1] = id
		next
	}
	!/^(#|CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$)/' "$1"
}

# again COUNT: whether a round is needed: COUNT are, and more while no event was read.
again() {
	[ "$round" -le "$1" ] || ! grep -qv '^0$' seen
}

show_meanwhile() {
	for round in $(seq 30); do
		again 3 || break
		timeout "$(scaled 60)" cat "$TRACE" >trace &
		reader=$!
		clear_often
		wait $reader || echo "no end"
		descending trace >&2
	done
}

consume_meanwhile() {
	for round in $(seq 30); do
		again 1 || break
		dd if="$PIPE" bs=4096 count=400 of=pipe 2>&- &
		reader=$!
		clear_often
		kill $reader 2>&-
		wait $reader 2>&-
		# The last line may be cut short.
		sed '$d' pipe >trace
		descending trace >&2
	done
}

# meanwhile COMMAND NAME: that clears while all write.
meanwhile() {
	: >seen
	"$1" >outcome 2>wrong
	grep -qv '^0$' seen || echo "no event was read" >>wrong
	is "$2: clearing succeeds" "$(sort -u outcome)" ok
	none "$2: no cleared event is seen again" cat wrong
}

# How many events of each CPU are left, and which is the last one, by the trace and by the
# writers.
unlike_counts() {
	for cpu in $BUSY_CPUS; do
		cat "$HYP/per_cpu/cpu$cpu/trace" >trace
		last=$((cpu * 1000000000 + $(cat "written.$cpu")))
		{
			grep -c selftest trace
			sed -n '$s/.*id=//p' trace
		} | xargs echo "CPU $cpu:" >is
		echo "CPU $cpu: $(stat_of "$cpu" entries) $last" | diff is -
	done
}

test_writing() {
	for pages in 3 8; do
		reset_numbers $pages
		echo 1 >"$HYP/tracing_on"
		start_writers
		meanwhile show_meanwhile "$pages pages, while trace is read"
		meanwhile consume_meanwhile "$pages pages, while trace_pipe is read"
		stop_writers
		echo 0 >"$HYP/tracing_on"
		none "$pages pages: at the end, the last events are left" unlike_counts
	done
}

# A reader that was asleep is not disturbed, and reads on.
test_asleep() {
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	cat "$PIPE" >pipe &
	reader=$!
	emit_all 10
	until_true 10 has_lines pipe $((10 * CPUS))
	clear_trace "$TRACE" write x
	clear_trace "$TRACE" open wt
	emit_all 10 11
	until_true 10 has_lines pipe $((20 * CPUS))
	echo 0 >"$HYP/tracing_on"
	until_true 10 ended $reader
	is "a sleeping reader continues after a clear" $? 0
	kill $reader 2>&-
	wait $reader 2>&-
	none "a sleeping reader has each event once" inexact pipe 20
}

# Events that were not shown yet are cleared, and later ones are not part of this read.
test_half_shown() {
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	emit_all $((2 * PER_PAGE))
	exec 3<"$TRACE"
	dd bs=2000 count=1 <&3 >trace 2>&-
	echo >"$TRACE"
	emit_all $((20 * PER_PAGE)) $((2 * PER_PAGE + 1))
	cat <&3 >>trace
	exec 3<&-
	judge trace
	none "trace shown in part: no event from after the clear" \
		unsound '^(malformed|backwards|wrong|uncounted)' trace
	holds "trace shown in part: no more events than there were" \
		$(($(fact shown trace) + $(fact lost trace))) -le $((CPUS * 2 * PER_PAGE))
	cat "$TRACE" >trace
	none "trace shown in part: the next read has the later events" \
		inexact trace $((20 * PER_PAGE)) $((2 * PER_PAGE + 1))
}

# A clear includes events that trace_pipe has read in part.
test_half_read() {
	reset_numbers 8
	write_numbers $((2 * PER_PAGE))
	exec 3<"$PIPE"
	dd bs=65536 count=1 <&3 >pipe 2>&-
	echo 1 >"$HYP/tracing_on"
	clear_trace "$TRACE" open wt
	emit_all 10 $((2 * PER_PAGE + 1))
	fileop drain - <&3 >pipe
	exec 3<&-
	none "a page read in part is cleared" inexact pipe 10 $((2 * PER_PAGE + 1))
}

plan 53 write_event
test_ways
test_not
test_unloading
test_cpu
test_writing
test_asleep
test_half_shown
test_half_read
ktap_finished
