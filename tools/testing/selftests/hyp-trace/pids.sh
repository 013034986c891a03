#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# set_event_pid and set_event_notrace_pid choose the tasks whose events are written, with their
# children by event-fork, also while tracing. They, trace_options and options/ take and show what
# the host's do. With record-cmd, a line begins with the task, in the host's columns.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

HOST=$TRACEFS/instances/hyp-trace-pids

# What is written to a list, one write a line; > empties the list.
WRITES='
1 2 3
4
0x10 5
x
6 x
-1
1073741824
99999999999999999999
2147483647
>
7
>
'

# writes_to FILE: the outcome of each write, and what the file shows then.
writes_to() {
	echo "$WRITES" | while read -r words; do
		case $words in
		"") continue ;;
		">") : >"$1" ;;
		*) fileop write "$1" "$words" ;;
		esac
		cat "$1"
	done
}

test_lists() {
	mkdir "$HOST"
	for file in set_event_pid set_event_notrace_pid; do
		writes_to "$HOST/$file" >expected
		writes_to "$HYP/$file" >found
		none "$file takes and shows pids as the host's" diff expected found
		seq 1 3000 >"$HOST/$file"
		seq 1 3000 >"$HYP/$file"
		none "$file: of any length" cmp "$HOST/$file" "$HYP/$file"
		: >"$HYP/$file"
	done
	for file in options/event-fork trace_options; do
		for word in 2 x -1 99999999999999999999 "" event event-forkx nono; do
			is "$file refuses '$word' as the host's" \
				"$(fileop write "$HYP/$file" "$word")" \
				"$(fileop write "$HOST/$file" "$word")"
		done
	done
	rmdir "$HOST"
}

options() {
	grep -v overwrite "$HYP/trace_options" | xargs
}

test_options() {
	is "all options are off at first" "$(options)" "noevent-fork norecord-cmd"
	echo event-fork >"$HYP/trace_options"
	echo 1 >"$HYP/options/record-cmd"
	is "options are turned on by either file" "$(options)" "event-fork record-cmd"
	is "the option's own file shows it" "$(cat "$HYP/options/event-fork")" 1
	echo " noevent-fork " >"$HYP/trace_options"
	echo norecord-cmd >"$HYP/trace_options"
	is "and off" "$(options)" "noevent-fork norecord-cmd"
}

# The task that writes an event of write_here
writer() {
	if [ "$REMOTE" = trace_remote_test ]; then
		grep -lx trace_remote/0 /proc/[0-9]*/comm | cut -d / -f 3
	else
		echo $$
	fi
}

# write_here NUMBER: by that task
write_here() {
	if [ "$REMOTE" = trace_remote_test ]; then
		emit_on 0 1 "$1"
	else
		echo "$1" >"$HYP/write_event"
	fi
}

ids() {
	sed -n 's/.*selftest id=//p' "$HYP/trace" | xargs
}

clear_lists() {
	: >"$HYP/set_event_pid"
	: >"$HYP/set_event_notrace_pid"
	echo >"$HYP/trace"
}

# The lists change while tracing is on.
test_tasks() {
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	pid=$(writer)
	echo "$pid" >"$HYP/set_event_pid"
	write_here 1
	echo 1 >>"$HYP/set_event_pid"
	write_here 2
	echo "$pid" >"$HYP/set_event_notrace_pid"
	write_here 3
	: >"$HYP/set_event_pid"
	write_here 4
	: >"$HYP/set_event_notrace_pid"
	write_here 5
	echo 1 >"$HYP/set_event_pid"
	write_here 6
	: >"$HYP/set_event_pid"
	write_here 7
	is "events of the tasks that were chosen then" "$(ids)" "1 2 5 7"
	is "ignored events are not lost" "$(stat_of 0 "dropped events") $(stat_of 0 overrun)" "0 0"
	echo "common_pid == $pid" >"$EVENTS/selftest/filter"
	echo >"$HYP/trace"
	write_here 8
	echo "common_pid != $pid" >"$EVENTS/selftest/filter"
	write_here 9
	is "common_pid is the task's" "$(ids)" 8
	echo 0 >"$EVENTS/selftest/filter"
	echo 0 >"$HYP/tracing_on"
	clear_lists
}

# The lists are set before tracing is on, and stay from one time to the next.
test_before() {
	reset_numbers 8
	echo 1 >"$HYP/set_event_pid"
	echo 1 >"$HYP/tracing_on"
	write_here 1
	echo 0 >"$HYP/tracing_on"
	: >"$HYP/set_event_pid"
	echo 1 >"$HYP/tracing_on"
	write_here 2
	echo 0 >"$HYP/tracing_on"
	is "a list that was set before tracing" "$(ids)" 2
}

# A child of this task, which writes
child() {
	sh -c "echo $1 >\"$HYP/write_event\""
}

test_fork() {
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	echo $$ >"$HYP/set_event_pid"
	write_here 1
	child 2
	echo 1 >"$HYP/options/event-fork"
	child 3
	is "children follow with event-fork" "$(ids)" "1 3"
	sleep 60 &
	pid=$!
	is "a child is in the list" "$(grep -cx $pid "$HYP/set_event_pid")" 1
	kill $pid
	wait $pid 2>/dev/null
	holds "one that has ended leaves it" \
		"$(until_true 10 gone $pid && echo yes)" = yes
	echo 0 >"$HYP/options/event-fork"
	child 4
	is "children do not follow without it" "$(ids)" "1 3"
	: >"$HYP/set_event_pid"
	echo >"$HYP/trace"
	echo $$ >"$HYP/set_event_notrace_pid"
	write_here 5
	child 6
	echo 1 >"$HYP/options/event-fork"
	child 7
	is "set_event_notrace_pid: also with children" "$(ids)" 6
	echo 0 >"$HYP/options/event-fork"
	echo 0 >"$HYP/tracing_on"
	clear_lists
}

gone() {
	! grep -qx "$1" "$HYP/set_event_pid"
}

# The vCPUs of one guest of two, which run at once
test_guests() {
	reset_to 4096
	only hyp_enter hyp_exit
	echo 1 >"$HYP/options/event-fork"
	guest --vcpus 2 --hvc 400 >other &
	sh -c "echo \$\$ >\"$HYP/set_event_pid\"
		echo 1 >\"$HYP/tracing_on\"
		exec \"$DIR/guest\" --vcpus 2 --hvc 400" >guests
	echo 0 >"$HYP/tracing_on"
	wait
	drain trace
	is "no event of a guest was lost" "$(lost trace)" 0
	is "each exit of the guest that was chosen, and no other's" \
		"$(count trace hyp_enter guest)" "$(exits guests)"
	none "hyp_enter and hyp_exit alternate on each CPU" \
		unsound 'malformed|unpaired|misled' trace
	echo 0 >"$HYP/options/event-fork"
	clear_lists
}

# Tasks as a line begins with them: "%16s-%-7d "
tasks() {
	sed -n 's/^\(.\{24,32\}\)\[[0-9]*\] .* selftest id=.*/\1|/p' "$HYP/trace"
}

test_names() {
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	echo 1 >"$HYP/options/record-cmd"
	write_here 1
	pid=$(writer)
	name=$(cat "/proc/$pid/comm")
	echo 0 >"$HYP/tracing_on"
	is "a line begins with the task" "$(tasks)" "$(printf '%16s-%-7d |' "$name" "$pid")"
	is "the header names the column" "$(sed -n '5s/^# *//p' "$HYP/trace" | xargs)" \
		"TASK-PID CPU# TIMESTAMP EVENT"
	tasks >expected
	fileop drain "$HYP/trace_pipe" | sed 's/\[.*/|/' >found
	none "a line of trace_pipe, too" diff expected found
	echo 0 >"$HYP/options/record-cmd"
	echo 1 >"$HYP/tracing_on"
	write_here 2
	echo 0 >"$HYP/tracing_on"
	is "a line begins with the CPU without record-cmd" \
		"$(grep -c '^\[0[0-9]*\] .* selftest id=2$' "$HYP/trace")" 1
}

# A task that has ended has a name if it ran while tracing.
test_ended() {
	reset_numbers 8
	echo 1 >"$HYP/options/record-cmd"
	echo 1 >"$HYP/tracing_on"
	emit_on 0 1
	echo 0 >"$HYP/tracing_on"
	is "a task that has ended has its name" \
		"$(grep -c '^ *emit-[0-9]* .*selftest' "$HYP/trace")" 1
	echo 0 >"$HYP/options/record-cmd"
}

# What only a remote has whose writer is the task itself
ITSELF=0
[ "$REMOTE" = trace_remote_test ] || ITSELF=9
plan $((4 + 16 + 4 + 3 + 1 + 4 + ITSELF)) write_event
test_lists
test_options
test_tasks
test_before
test_names
if [ "$ITSELF" != 0 ]; then
	test_fork
	test_guests
	test_ended
fi
ktap_finished
