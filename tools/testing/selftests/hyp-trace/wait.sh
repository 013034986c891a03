#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Waiting with read(), poll(), select() and epoll, alone and with other readers: each
# event goes to one reader, buffer_percent is respected to a page, and the rings are
# polled only while tracing is on and a task waits.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

LAST=$((CPUS - 1))
PIPE=$HYP/trace_pipe
PIPE_LAST=$HYP/per_cpu/cpu$LAST/trace_pipe
HOST=$TRACEFS/instances/hyp-trace-wait

# How long what does not come is waited for, in ms.
SHORT=150

reset_on() {
	reset_numbers "$1"
	echo 1 >"$HYP/tracing_on"
}

# A process waits for the first event of a file, which comes once it does.
wait_in() {
	fileop "$1" "$2" 20000 >outcome &
	waiter=$!
	until_true 10 blocked $waiter
	emit_on "$LAST" 1
	wait $waiter
	cat outcome
}

test_way() {
	reset_numbers 8
	is "$1: waits with tracing off" "$(fileop "$1" "$PIPE" $SHORT)" timeout
	reset_on 8
	echo 0 >"$HYP/buffer_percent"
	is "$1: waits with tracing on" "$(fileop "$1" "$PIPE_LAST" $SHORT)" timeout
	for pipe in "$PIPE" "$PIPE_LAST"; do
		is "$1: until the first event, in ${pipe#"$HYP/"}" "$(wait_in "$1" "$pipe")" ok
		is "$1: not when it is there, in ${pipe#"$HYP/"}" "$(fileop "$1" "$pipe" 0)" ok
		fileop drain "$pipe" >/dev/null
	done
	is "$1: waits again when all is read" "$(fileop "$1" "$PIPE" $SHORT)" timeout
}

test_other_cpu() {
	if [ "$LAST" -eq 0 ]; then
		ktap_test_skip "another CPU's events are not waited for: there is one CPU"
		return
	fi
	reset_on 8
	echo 0 >"$HYP/buffer_percent"
	emit_on 0 10
	is "another CPU's events are not waited for" "$(fileop poll "$PIPE_LAST" $SHORT)" timeout
}

# With how many full pages of 16 a CPU's file can be read.
pages_until_ready() {
	reset_on 16
	echo "$1" >"$HYP/buffer_percent"
	emit_on "$LAST" 1
	pages=0
	while [ "$pages" -lt 20 ] && [ "$(fileop poll "$PIPE_LAST" $SHORT)" = timeout ]; do
		emit_on "$LAST" "$PER_PAGE"
		pages=$((pages + 1))
	done
	echo "$pages"
}

# As the host has it: so much of the ring, a page more or less. A reader of all
# CPUs, or blocks in read(), waits for any event.
test_percent() {
	reset
	is "buffer_percent is 50 at first" "$(cat "$HYP/buffer_percent")" 50
	is "buffer_percent 0: at the first event" "$(pages_until_ready 0)" 0
	for percent in 25 50 100; do
		pages=$(pages_until_ready $percent)
		ktap_print_msg "$percent percent: $pages pages of 16"
		holds "buffer_percent $percent: not much earlier" \
			"$pages" -ge $((percent * 16 / 100 - 1))
		holds "buffer_percent $percent: not much later" \
			"$pages" -le $((percent * 16 / 100 + 1))
	done
	reset_on 16
	echo 100 >"$HYP/buffer_percent"
	is "buffer_percent 100: not for all CPUs" "$(wait_in poll "$PIPE")" ok
	echo 0 >"$HYP/tracing_on"
	is "buffer_percent 100: not when no more comes" "$(fileop poll "$PIPE_LAST" 10000)" ok
	echo 1 >"$HYP/tracing_on"
	cat "$PIPE_LAST" >pipe &
	reader=$!
	until_true 10 has_lines pipe 1
	is "buffer_percent 100: not for a read" $? 0
	kill $reader
	wait $reader 2>&-
}

# A file that is not read is not waited for: asleep from one time that tracing is
# on to the next.
test_off_and_on() {
	reset_numbers 8
	cat "$PIPE" >pipe &
	reader=$!
	for _ in 1 2 3; do
		echo 1 >"$HYP/tracing_on"
		until_true 10 blocked $reader
		echo 0 >"$HYP/tracing_on"
	done
	echo 1 >"$HYP/tracing_on"
	emit_all 10
	until_true 10 has_lines pipe $((10 * CPUS))
	echo 0 >"$HYP/tracing_on"
	until_true 10 ended $reader
	is "tracing goes off and on while a reader sleeps" $? 0
	kill $reader 2>&-
	wait $reader 2>&-
	none "the reader has all events after that" inexact pipe 10
}

# Of several that sleep each ends when tracing does, if it has read something.
test_several_end() {
	reset_on 8
	cat "$PIPE" >pipe.1 &
	first=$!
	cat "$PIPE" >pipe.2 &
	second=$!
	cat "$PIPE_LAST" >pipe.3 &
	third=$!
	next=1
	until_true 20 each_has_read
	is "each of several readers gets events" $? 0
	kill -CONT $first $second $third
	until_true 10 blocked $first $second $third
	echo 0 >"$HYP/tracing_on"
	until_true 10 ended $first $second $third
	is "each of several that sleep ends when tracing does" $? 0
	kill $first $second $third 2>&-
	wait $first $second $third 2>&-
	cat pipe.? >pipe
	none "together they have each event once" not_once pipe $((next - 1))
}

# A reader that has some leaves the next ones to the others.
each_has_read() {
	[ ! -s pipe.1 ] || kill -STOP $first
	[ ! -s pipe.2 ] || kill -STOP $second
	[ ! -s pipe.3 ] || kill -STOP $third
	emit_all 10 "$next"
	next=$((next + 10))
	[ -s pipe.1 ] && [ -s pipe.2 ] && [ -s pipe.3 ]
}

# share THREADS DESCRIPTORS: they read while all CPUs write.
share() {
	reset_on 64
	readers "$PIPE" "$1" "$2" $((2000 * CPUS)) >pipe 2>shares &
	reader=$!
	until_true 10 blocked $reader
	emit_all 2000
	wait $reader
	echo 0 >"$HYP/tracing_on"
	ktap_print_msg "lines: $(cat shares)"
	none "$1 readers, $2 open files: each event once" not_once pipe 2000
}

# A reader of all CPUs, and a reader for each CPU.
share_kinds() {
	reset_on 64
	cat "$PIPE" >shared.all &
	sharers=$!
	for cpu in $ALL_CPUS; do
		cat "$HYP/per_cpu/cpu$cpu/trace_pipe" >"shared.$cpu" &
		sharers="$sharers $!"
	done
	emit_all 2000
	until_true 20 all_lines
	echo 0 >"$HYP/tracing_on"
	# shellcheck disable=SC2086 # a list
	kill $sharers 2>&-
	# shellcheck disable=SC2086
	wait $sharers 2>&-
	cat shared.* >pipe
	none "a reader of all CPUs and one of each: each event once" not_once pipe 2000
}

all_lines() {
	[ "$(cat shared.* | wc -l)" -ge $((2000 * CPUS)) ]
}

# The writer of CPU 0 has overwritten more than before.
goes_on() {
	[ "$(stat_of 0 overrun)" -gt "$overrun" ]
}

# A reader that takes what it gets while more is written than there is room for;
# from time to time it rests until that is so.
test_race() {
	reset_numbers 3
	echo 1 >"$HYP/tracing_on"
	exec 3<"$PIPE"
	start_writers
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		dd bs=65536 count=8 <&3 2>&-
		overrun=$(stat_of 0 overrun)
		until_true 10 goes_on
	done >pipe
	stop_writers
	echo 0 >"$HYP/tracing_on"
	fileop drain - <&3 >>pipe
	exec 3<&-
	none "a reader while CPUs write: each event shown or reported lost" \
		inexact pipe written 1 "$BUSY_CPUS"
	holds "a reader while CPUs write: events are lost" "$(fact lost pipe)" -gt 0
}

# polls COMMAND...: how often the rings are polled while it runs, as the host's workqueues
# have it.
polls() {
	mkdir "$HOST"
	echo 1 >"$HOST/events/workqueue/workqueue_execute_start/enable"
	"$@" >/dev/null
	grep -c remote_poll_work "$HOST/trace"
	rmdir "$HOST"
}

# nothing MS: this process waits so long, for what never comes.
nothing() {
	[ -e fifo ] || mkfifo fifo
	fileop poll - "$1" 0<>fifo
}

# Half a second is some 50 times, and fewer on a machine that others use. The work may have
# been queued once before.
test_polled() {
	reset_numbers 8
	cat "$PIPE" >/dev/null &
	reader=$!
	until_true 10 blocked $reader
	holds "tracing off, a read waits: not polled" "$(polls nothing 500)" -le 1
	for way in poll epoll; do
		holds "tracing off, $way waits: not polled" \
			"$(polls fileop $way "$PIPE_LAST" 500)" -le 1
	done
	echo 1 >"$HYP/tracing_on"
	holds "tracing on, a read waits: polled" "$(polls nothing 500)" -ge 3
	echo 0 >"$HYP/tracing_on"
	nothing 50 >/dev/null
	holds "tracing off again: not polled" "$(polls nothing 500)" -le 1
	kill $reader
	wait $reader 2>&-

	echo 1 >"$HYP/tracing_on"
	exec 3<"$PIPE"
	nothing 50 >/dev/null
	holds "tracing on, no waiter: not polled" "$(polls nothing 500)" -le 1
	for way in poll select epoll; do
		holds "tracing on, $way waits: polled" \
			"$(polls fileop $way "$PIPE_LAST" 500)" -ge 3
	done
	nothing 50 >/dev/null
	holds "no waiter any more: not polled" "$(polls nothing 500)" -le 1
	exec 3<&-
}

plan 54 write_event
for way in poll select epoll; do
	test_way $way
done
test_other_cpu
test_percent
test_off_and_on
test_several_end
share 4 1
share 4 4
share 6 2
share_kinds
test_race
test_polled
ktap_finished
