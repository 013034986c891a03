#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# While a probe sleeps in a page fault, its module is unloaded, other probes come and go,
# and its task is killed.
# shellcheck source=tools/testing/selftests/faultable-tracepoints/lib.sh
. "$(dirname "$0")/lib.sh"

# A program that makes the probe sleep until something is written to the fifo
start_sleeper() {
	watched page missing hold <fifo >out 3>&- &
	until_true 10 sleeps && sleeper=$(parameter pid)
}

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

# Each enables and disables events, at this tracepoint and at another one.
other_events() {
	for event in sched/sched_switch raw_syscalls/sys_enter syscalls/sys_enter_openat; do
		for on in 1 0; do
			echo $on >"$TRACEFS/events/$event/enable" || return
		done
	done
}

start_other_events() {
	other_events &
	until_true 10 gone "$!"
}

load
ok "a probe sleeps" start_sleeper
ok "other events are enabled and disabled meanwhile" start_other_events
ok "the module begins to unload" start_unload
ok "it waits for the probe" remains 2 alive "$rmmod"
ok "events are enabled and disabled meanwhile" start_other_events
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
