#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# trace_pipe blocks and ends as the kernel's file does: EAGAIN with tracing off, EINTR
# for a signal, a kill, and the end of tracing, after which the reader has all events.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

LAST=$((CPUS - 1))
PIPE=$HYP/trace_pipe
PIPE0=$HYP/per_cpu/cpu0/trace_pipe

run_guest() {
	guest --cpu "$LAST" >guests
}

test_empty() {
	reset
	is "EAGAIN with tracing off" "$(fileop read "$PIPE")" EAGAIN
	is "EAGAIN with tracing off, of a CPU" "$(fileop read "$PIPE0")" EAGAIN
	echo 0 >"$HYP/events/enable"
	echo 1 >"$HYP/tracing_on"
	is "EAGAIN with no event enabled" "$(fileop read "$PIPE")" EAGAIN
	is "EINTR for a signal" "$(fileop interrupt "$PIPE")" EINTR
	is "EINTR for a signal, of a CPU" "$(fileop interrupt "$PIPE0")" EINTR
}

test_second() {
	reset
	exec 3<"$PIPE"
	is "a second reader has no events" "$(fileop read "$PIPE")" EAGAIN
	is "a reader of a CPU beside one of all" "$(fileop read "$PIPE0")" EAGAIN
	exec 3<&-
	exec 3<"$PIPE0"
	is "a second reader of a CPU" "$(fileop read "$PIPE0")" EAGAIN
	is "a reader of all beside one of a CPU" "$(fileop read "$PIPE")" EAGAIN
	[ "$LAST" -eq 0 ] ||
		is "a reader for each CPU" \
			"$(fileop read "$HYP/per_cpu/cpu$LAST/trace_pipe")" EAGAIN
	exec 3<&-
	is "a reader after the others" "$(fileop read "$PIPE")" EAGAIN
}

# Killed while it blocks, a reader leaves nothing behind.
test_killed() {
	reset
	echo 0 >"$HYP/events/enable"
	echo 1 >"$HYP/tracing_on"
	cat "$PIPE" &
	reader=$!
	until_true 10 blocked $reader
	kill $reader
	wait $reader 2>&-
	is "a blocked reader can be killed" $? 143
	echo 0 >"$HYP/tracing_on"
	fileop drain "$PIPE" >/dev/null
	is "the buffer is unloaded after the kill" "$(cat "$HYP/buffer_size_kb")" "1024 (unloaded)"
}

# A reader that blocks gets events as they come, and the end of file when
# tracing is off and it has read all.
test_end() {
	reset
	cat "$PIPE" >trace &
	reader=$!
	echo 1 >"$HYP/tracing_on"
	run_guest
	until_true 20 has_lines trace 1
	is "events reach a blocked reader while tracing is on" $? 0
	echo 0 >"$HYP/tracing_on"
	until_true 20 ended $reader
	is "a reader ends when tracing does" $? 0
	kill $reader 2>&-
	wait $reader 2>&-
	facts trace
	is "the reader has read all events" "$(count trace hyp_enter guest)" "$(exits guests)"
	none "the events that it read are in order" \
		unsound 'malformed|backwards|unpaired|misled' trace
}

# With all events on, the hypercalls that turn tracing off make events themselves.
end_often() {
	for round in $(seq 40); do
		echo 1 >"$HYP/tracing_on"
		cat "$PIPE" >trace &
		reader=$!
		until_true 10 has_lines trace 1 || echo "round $round: no event"
		echo 0 >"$HYP/tracing_on"
		until_true 20 ended $reader || echo "round $round: the reader does not end"
		kill $reader 2>&-
		wait $reader 2>&-
		[ "$(state)" = "(unloaded)" ] || echo "round $round: events are left"
		echo >"$HYP/trace"
	done
}

test_end_often() {
	reset
	echo 1 >"$HYP/events/enable"
	none "no reader ends before all events are read" end_often
}

# How many guest exits the two readers below have read.
read_by_two() {
	cat one two >trace
	facts trace
	count trace hyp_enter guest
}

all_read_by_two() {
	[ "$(read_by_two)" -ge "$(exits guests)" ]
}

# Of two readers at once each has a part of the events.
test_two() {
	reset
	: >guests
	cat "$PIPE" >one &
	first=$!
	cat "$PIPE" >two &
	second=$!
	echo 1 >"$HYP/tracing_on"
	for _ in 1 2 3 4; do
		guest --cpu "$LAST" >>guests
	done
	echo 0 >"$HYP/tracing_on"
	until_true 20 all_read_by_two
	kill $first $second 2>&-
	wait $first $second 2>&-
	ktap_print_msg "$(wc -l <one) and $(wc -l <two) lines"
	is "two readers have each event once" "$(read_by_two)" "$(exits guests)"
}

# A page is not read but for its end, nor twice: small reads give what a large
# one gives.
test_small() {
	reset
	echo 1 >"$HYP/tracing_on"
	run_guest
	echo 0 >"$HYP/tracing_on"
	timeout "$(scaled 60)" dd if="$PIPE" bs=100 of=trace 2>&-
	facts trace
	is "reads smaller than the text" "$(count trace hyp_enter guest)" "$(exits guests)"
}

plan $((19 + (LAST > 0)))
test_empty
test_second
test_killed
test_end
test_end_often
test_two
test_small
ktap_finished
