#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# trace shows what is in the rings and does not consume it. A second read, small reads,
# a read from the start again and pread() give the same text, and trace_pipe the same
# lines. With up to 40 times more events than fit, shown and lost events are those
# written; also when all is overwritten during the read, and while all CPUs write.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

HOST=$TRACEFS/instances/hyp-trace-trace
TRACE0=$HYP/per_cpu/cpu0/trace
PIPE0=$HYP/per_cpu/cpu0/trace_pipe

show() {
	cat "$HYP/trace" >"$1"
}

body() {
	grep -v '^#' "$1"
}

# The first lines, without the numbers.
header() {
	head -n 4 "$1" | sed 's/[0-9][0-9]*/N/g'
}

entries() {
	sed -n 's/^# entries-in-buffer\/entries-written: *\([0-9/]*\) .*/\1/p' "$1"
}

test_unloaded() {
	reset
	show trace
	is "unloaded: no events" "$(body trace)" ""
	is "unloaded: none is counted" "$(entries trace)" "0/0"
	is "unloaded: reading does not load" "$(state)" "(unloaded)"
	exec 3<"$HYP/trace" 4<"$TRACE0"
	is "unloaded: opening does not load" "$(state)" "(unloaded)"
	exec 3<&- 4<&-
}

test_header() {
	mkdir "$HOST"
	is "the header begins as the host's" "$(header "$HYP/trace")" "$(header "$HOST/trace")"
	rmdir "$HOST"
	is "the header names the columns" \
		"$(sed -n '5s/^# *//p' "$HYP/trace" | xargs)" "CPU# TIMESTAMP EVENT"
	reset_numbers 3
	write_numbers $((20 * PER_PAGE))
	show trace
	judge trace
	is "the header counts the entries" "$(entries trace)" \
		"$(fact shown trace)/$((CPUS * 20 * PER_PAGE))"
	cat "$TRACE0" >trace0
	is "the header counts the entries of one CPU" "$(entries trace0)" \
		"$(fact shown trace 0)/$((20 * PER_PAGE))"
	is "the header counts the CPUs" "$(sed -n 's/.*#P:\([0-9]*\)$/\1/p' trace)" "$CPUS"
}

# fills PAGES COUNT: so many events a CPU in a buffer of so many pages.
fills() {
	reset_numbers "$1"
	write_numbers "$2"
	show trace
	none "$2 events in $1 pages: exact" inexact trace "$2"
	none "$2 events in $1 pages: merged by time" unsound unmerged trace
}

# Wherever the ring's end is.
test_filled() {
	for count in 1 $((PER_PAGE - 1)) $PER_PAGE $((PER_PAGE + 1)) $((10 * PER_PAGE)); do
		fills 16 "$count"
		is "$count events in 16 pages: none is lost" "$(fact lost trace)" 0
	done
	for count in $((4 * PER_PAGE)) $((5 * PER_PAGE + 1)) $((40 * PER_PAGE + 17)); do
		fills 3 "$count"
		holds "$count events in 3 pages: two pages are left" \
			"$(fact shown trace)" -ge $((CPUS * (2 * PER_PAGE)))
	done
}

# Lines of a CPU in a trace of all.
of_cpu() {
	grep -E "^(\[$(printf %03d "$1")\] |CPU:$1 )" trace
}

unlike_all() {
	for cpu in $ALL_CPUS; do
		of_cpu "$cpu" >expected
		body "$HYP/per_cpu/cpu$cpu/trace" | diff expected -
	done
}

# agree NAME: the ways to read what is there; trace_pipe, that takes it away, last.
agree() {
	show trace
	holds "$1: there are lines" "$(body trace | wc -l)" -gt 0
	show second
	none "$1: a second read gives the same" diff trace second
	none "$1: per_cpu/cpuN/trace has the lines of CPU N" unlike_all
	dd if="$HYP/trace" bs=100 of=small 2>&-
	none "$1: small reads give the same" diff trace small
	fileop again "$HYP/trace" >third
	none "$1: from the start again, the same" diff trace third
	tail -c +501 trace | head -c 700 >expected
	fileop pread "$HYP/trace" 500 700 >part
	none "$1: pread gives a part of it" cmp expected part
	fileop drain "$HYP/trace_pipe" >pipe
	body trace >lines
	none "$1: trace_pipe has the same lines" diff lines pipe
	show trace
	is "$1: trace is empty after trace_pipe" "$(body trace)" ""
}

test_guest() {
	reset
	echo 1 >"$HYP/tracing_on"
	guest --vcpus "$CPUS" --cpu 0 --hvc 8 --mmio 8 --wfi 0 >guests
	echo 0 >"$HYP/tracing_on"
	show trace
	facts trace
	is "a guest's run is in it" "$(count trace hyp_enter guest)" "$(exits guests)"
	agree "a guest's run"
}

test_all_events() {
	reset
	echo 1 >"$HYP/events/enable"
	echo 1 >"$HYP/tracing_on"
	emit_all 100
	echo 0 >"$HYP/tracing_on"
	show trace
	is "an event of each kind for each number" "$(body trace | wc -l)" \
		$((CPUS * 100 * $(echo "$EVENT_LIST" | wc -w)))
	agree "all events"
}

test_agree() {
	if [ "$GUESTS" = 1 ]; then
		test_guest
	else
		test_all_events
	fi
	reset_numbers 3
	write_numbers $((20 * PER_PAGE))
	agree "events lost"
}

# A part of CPU 0's events is consumed by a reader that stays open; `pipe` has
# what it read, $taken is how many events that is.
consume_some() {
	exec 3<"$PIPE0"
	dd bs=2000 count=1 <&3 >pipe 2>&-
	taken=$(stat_of 0 "read events")
}

# The page that a reader is on is not overwritten, the pages after it are.
test_partly_read() {
	reset_numbers 3
	echo 1 >"$HYP/tracing_on"
	emit_on 0 $((2 * PER_PAGE))
	consume_some
	cat "$TRACE0" >trace
	none "consumed in part: the rest is shown" \
		inexact trace $((2 * PER_PAGE - taken)) $((taken + 1)) 0
	emit_on 0 $((40 * PER_PAGE)) $((2 * PER_PAGE + 1))
	echo 0 >"$HYP/tracing_on"
	cat "$TRACE0" >trace
	none "consumed in part, then overwritten: exact" \
		inexact trace $((42 * PER_PAGE - taken)) $((taken + 1)) 0
	is "consumed in part, then overwritten: the loss is reported where it is" \
		"$(body trace | sed -n "$((PER_PAGE - taken + 1))s/\[.*//p")" "CPU:0 "
	fileop drain - <&3 >>pipe
	exec 3<&-
	none "consumed in part, then overwritten: the reader has all events" \
		inexact pipe $((42 * PER_PAGE)) 1 0
}

# overtaken FILE CPUS: the reading has begun, then all it has not seen yet is
# overwritten.
overtaken() {
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	emit_all $((8 * PER_PAGE))
	exec 3<"$1"
	dd bs=2000 count=1 <&3 >trace 2>&-
	emit_all $((40 * PER_PAGE)) $((8 * PER_PAGE + 1))
	echo 0 >"$HYP/tracing_on"
	cat <&3 >>trace
	exec 3<&-
	none "a reader overtaken: exact, $2" inexact trace $((8 * PER_PAGE)) 1 "$2"
	holds "a reader overtaken: events are lost, $2" "$(fact lost trace)" -gt 0
}

test_overtaken() {
	overtaken "$TRACE0" 0
	overtaken "$HYP/trace" "$ALL_CPUS"
}

# What a consuming reader took meanwhile was not lost. There is room for a page more: on a slow
# machine some events have their time by eight bytes more.
test_taken() {
	reset_numbers 8
	write_numbers $((7 * PER_PAGE))
	exec 3<"$TRACE0"
	dd bs=2000 count=1 <&3 >trace 2>&-
	fileop drain "$PIPE0" >pipe
	cat <&3 >>trace
	exec 3<&-
	none "a reader whose events are consumed: exact for the consumer" \
		inexact pipe $((7 * PER_PAGE)) 1 0
	is "a reader whose events are consumed: none is reported lost" "$(grep LOST trace)" ""
	body trace | grep -vxFf pipe >wrong
	none "a reader whose events are consumed: shows no other" cat wrong
}

# Each reading ends though the writing does not, is exact, and goes further than
# the one before.
read_often() {
	before=0
	for _ in 1 2 3 4 5; do
		timeout "$(scaled 60)" cat "$HYP/trace" >trace || echo "no end"
		judge trace
		faults trace
		grep '^unmerged' trace.facts
		after=$(($(fact shown trace) + $(fact lost trace)))
		[ "$after" -gt "$before" ] || echo "$after events, after $before"
		before=$after
	done
}

test_writing() {
	for pages in 3 8; do
		reset_numbers $pages
		echo 1 >"$HYP/tracing_on"
		start_writers
		none "$pages pages, while CPUs write: each reading is exact" read_often
		stop_writers
		echo 0 >"$HYP/tracing_on"
		show trace
		none "$pages pages: at the end, all events written are shown or reported lost" \
			inexact trace written 1 "$BUSY_CPUS"
	done
}

# A reader keeps the buffer, from when it begins.
test_kept() {
	reset_numbers 8
	write_numbers 100
	exec 3<"$HYP/trace"
	fileop drain "$HYP/trace_pipe" >/dev/null
	is "a reader that has not begun does not keep the buffer" "$(state)" "(unloaded)"
	exec 3<&-
	write_numbers 100
	exec 3<"$HYP/trace"
	dd bs=100 count=1 <&3 >trace 2>&-
	fileop drain "$HYP/trace_pipe" >/dev/null
	is "a reader that has begun keeps the buffer" "$(state)" "(loaded)"
	cat <&3 >>trace
	judge trace
	is "the events that it reads are in order" "$(faults trace)" ""
	exec 3<&-
	is "the buffer is unloaded when the reader closes" "$(state)" "(unloaded)"
}

plan 69 write_event
test_unloaded
test_header
test_filled
test_agree
test_partly_read
test_overtaken
test_taken
test_writing
test_kept
ktap_finished
