#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# While a probe sleeps in a page fault, its module is unloaded, other probes, filters and
# triggers are added and removed, and its task is killed.
# shellcheck source=tools/testing/selftests/faultable-tracepoints/lib.sh
. "$(dirname "$0")/lib.sh"

let_go() {
	echo >fifo
	until_true 10 gone "$sleeper" && grep -q openat=ENOENT out
}

start_unload() {
	rmmod faultable_probe 3>&- &
	rmmod=$!
	until_true 10 grep -q '^faultable_probe.*Unloading' /proc/modules
}

unloaded() {
	until_true 10 gone "$rmmod" && ! grep -q faultable_probe /proc/modules
}

# Filters, triggers and lists of pids are set and freed.
configure() {
	for event in sched/sched_switch raw_syscalls/sys_enter syscalls/sys_enter_openat; do
		for line in filter:'common_pid != 0' filter:'common_pid != 1' filter:0 \
			trigger:traceon trigger:'!traceon'; do
			echo "${line#*:}" >"$TRACEFS/events/$event/${line%%:*}" || return
		done
	done
	echo 1 >"$TRACEFS/set_event_pid" && echo 2 >>"$TRACEFS/set_event_pid" &&
		echo >"$TRACEFS/set_event_pid"
}

# An event of another tracepoint is opened and closed.
perf_event() {
	event sched/sched_process_exec filename true >other && grep -q text= other
}

load
ok "a probe sleeps" start_sleeper
ok "other events are enabled and disabled meanwhile" within 10 toggle_events
ok "filters and triggers are set and removed meanwhile" within 10 configure
ok "so is an event of perf" within 10 perf_event
ok "the module begins to unload" start_unload
ok "it waits for the probe" remains 2 alive "$rmmod"
ok "events are enabled and disabled meanwhile" within 10 toggle_events
ok "so are filters and triggers" within 10 configure
ok "the probe goes on" let_go
ok "the module is unloaded" unloaded

load
ok "a probe sleeps again" start_sleeper
kill -9 "$sleeper"
ok "its task can be killed" until_true 10 gone "$sleeper"
start_unload
ok "the module is unloaded after that" unloaded

load
ok "a probe sleeps while its task gets a signal" start_sleeper
kill -STOP "$sleeper"
kill -CONT "$sleeper"
ok "it goes on after the signal" let_go
ok "the probe has read the string" says text /page/missing
ok "the module unloads" unload
finish
