#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# ftrace's probe sleeps in a page fault that is not handled. Meanwhile other operations on
# tracing end within a second: events, instances, uprobes, events of perf, BPF programs. The data
# that the probe uses is kept until it continues.
# shellcheck source=tools/testing/selftests/faultable-tracepoints/lib.sh
. "$(dirname "$0")/lib.sh"

OWN=$TRACEFS/instances/own
OTHER=$TRACEFS/instances/other
mkfifo end
exec 4<>end

cleanup() {
	echo >&3
	echo >&4
	echo 0 >"$TRACEFS/events/enable"
	echo >"$TRACEFS/uprobe_events"
	rmdir "$OWN" "$OTHER" 2>/dev/null
}

# The event of the call comes first, so that a task which sleeps there has yet to come to the
# probes of the other event and of perf. These programs end while it sleeps.
enable_own() {
	mkdir "$OWN" && echo 1 >"$OWN/events/syscalls/sys_enter_openat/enable" &&
		echo 1 >"$OWN/events/raw_syscalls/sys_enter/enable"
}

start_perf() {
	for event in raw_syscalls/sys_enter syscalls/sys_enter_openat; do
		# shellcheck disable=SC2016 # not this shell's
		event $event - sh -c 'echo >"$0" && read -r _ <end' "ready.${event%%/*}" 3>&- 4>&- &
		eval "perf_${event%%/*}=\$!"
	done
	until_true 10 [ -e ready.raw_syscalls ] && until_true 10 [ -e ready.syscalls ]
}

end_perf() {
	echo >&4
	echo >&4
	# shellcheck disable=SC2154 # start_perf has set these
	until_true 1 gone "$perf_syscalls" && until_true 1 gone "$perf_raw_syscalls"
}

waits() {
	grep -q "the handler waits" out
}

# The system call does not read its string, only the probe does.
start_sleeper() {
	page -i missing hold <fifo >out 3>&- 4>&- &
	sleeper=$!
	until_true 10 waits
}

instance() {
	mkdir "$OTHER" && echo 1 >"$OTHER/events/syscalls/sys_enter_openat/enable" &&
		rmdir "$OTHER"
}

uprobe() {
	echo "p:waits/probe $DIR/calls:0x1000" >>"$TRACEFS/uprobe_events" &&
		echo 1 >"$TRACEFS/events/waits/probe/enable" &&
		echo 0 >"$TRACEFS/events/waits/probe/enable" &&
		echo "-:waits/probe" >>"$TRACEFS/uprobe_events"
}

perf_event() {
	event syscalls/sys_enter_openat - true
}

let_go() {
	echo >&3
	until_true 10 gone "$sleeper" && grep -q "openat=EINVAL.*faults=1" out
}

# Each operation runs twice: first without a sleeping probe, to check that it works.
others() {
	ok "$1: events are enabled and disabled" within 1 toggle_events
	ok "$1: an event of uprobes comes and goes" within 1 uprobe
	ok "$1: an instance is removed" within 1 instance
	ok "$1: an event of perf is closed" within 1 perf_event
	for event in uprobe sched/sched_process_exec syscalls/sys_enter_openat; do
		ok "$1: a BPF program is detached from $event" within 1 attach $event
	done
	[ ! -d /sys/bus/event_source/devices/kprobe ] ||
		ok "$1: a BPF program is detached from kprobe" within 1 attach kprobe
}

others "while no probe sleeps"
ok "an instance has events of system calls" enable_own
ok "perf has such events" start_perf
ok "a probe sleeps" start_sleeper
others "while a probe sleeps"
ok "perf's events are closed" end_perf
ok "the instance of the probe is removed" within 1 rmdir "$OWN"
ok "events are enabled and disabled then" within 1 toggle_events
ok "the probe sleeps all the time" alive "$sleeper"
ok "it goes on" let_go
ok "events are enabled and disabled after that" within 1 toggle_events
finish
