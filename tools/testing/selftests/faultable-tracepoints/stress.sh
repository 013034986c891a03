#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stress test: a module with a probe is loaded and unloaded, events are enabled and disabled,
# and filters, triggers, pid lists, instances and BPF links are added and removed, while other
# programs make probes sleep.
#
# STRESS_ROUNDS=number	rounds of each operation (20)
# shellcheck source=tools/testing/selftests/faultable-tracepoints/lib.sh
. "$(dirname "$0")/lib.sh"

ROUNDS=${STRESS_ROUNDS:-20}

# repeat COMMAND...: once a round
repeat() {
	for _ in $(seq "$ROUNDS"); do
		"$@" || return
	done
}

# Until all rounds are done
make_probes_sleep() {
	while [ ! -e over ]; do
		page missing 3 | grep -q openat=ENOENT || return
	done
}

load_and_unload() {
	load && echo 0 >"$PROBE/pid" && unload
}

# toggle FILE
toggle() {
	echo 1 >"$TRACEFS/events/$1/enable" && echo 0 >"$TRACEFS/events/$1/enable"
}

filter() {
	echo 'id != 0' >"$TRACEFS/events/raw_syscalls/sys_enter/filter" &&
		echo 0 >"$TRACEFS/events/raw_syscalls/sys_enter/filter"
}

# A trigger has a filter of its own.
trigger() {
	echo 'traceon if id != 0' >"$TRACEFS/events/raw_syscalls/sys_enter/trigger" &&
		echo '!traceon' >"$TRACEFS/events/raw_syscalls/sys_enter/trigger"
}

pids() {
	echo 1 >"$TRACEFS/set_event_pid" && echo 2 >>"$TRACEFS/set_event_pid" &&
		echo >"$TRACEFS/set_event_pid"
}

instance() {
	mkdir "$TRACEFS/instances/stress" &&
		echo 1 >"$TRACEFS/instances/stress/events/syscalls/enable" &&
		rmdir "$TRACEFS/instances/stress"
}

link() {
	bpf -c page missing 3 | grep -q 'result=0'
}

begin() {
	name=$1
	shift
	{ "$@" && echo 0 >"status.$name" || echo 1 >"status.$name"; } &
	eval "pid_$name=\$!"
}

# ended_well NAME
ended_well() {
	eval "wait \$pid_$1"
	[ "$(cat "status.$1")" = 0 ]
}

for n in 1 2 3; do
	begin sleeper$n make_probes_sleep
done
begin module repeat load_and_unload
begin raw repeat toggle raw_syscalls
begin syscalls repeat toggle syscalls
begin filter repeat filter
begin trigger repeat trigger
begin pids repeat pids
begin instance repeat instance
begin link repeat link
for name in module raw syscalls filter trigger pids instance link; do
	ok "$name" ended_well $name
done
touch over
for n in 1 2 3; do
	ok "the probes' task $n" ended_well sleeper$n
done
finish
