#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Signals, ptrace, seccomp, the exit of a process and another program in it, at a system call
# whose probe sleeps in a page fault. The probe sees the call as ptrace and seccomp have left
# it. seccomp and 32-bit programs are tested where the kernel supports them.
# shellcheck source=tools/testing/selftests/faultable-tracepoints/lib.sh
. "$(dirname "$0")/lib.sh"

EVENTS=$TRACEFS/events

cleanup() {
	echo >&3
	echo 0 >"$EVENTS/enable"
	unload
}

said() {
	grep -q "$1" out || { sed 's/^/# /' out && return 1; }
}

# watched_by HOW KIND: make that call under calls.
watched_by() {
	entered=$(parameter entered)
	calls "$1" sh -c "$WATCHED" "$PROBE/pid" page "$2" "$DELAY_MS" >out
}

# reads HOW TEXT
reads() {
	watched_by "$1" missing && said openat=ENOENT && said faults=1 && says text "$2"
}

# not_entered HOW RESULT: the call comes to nothing before the tracepoint.
not_entered() {
	watched_by "$1" missing && said "$2" && said faults=0 && says entered "$entered"
}

let_go() {
	echo >fifo
	until_true 10 gone "$sleeper" && said openat=ENOENT
}

# The handler runs when the system call is over.
signalled() {
	start_sleeper && kill -USR1 "$sleeper" && remains 1 sleeps && let_go && said signals=1 &&
		says text /page/missing
}

# does WHAT: another thread makes the process do that while the probe sleeps, which ends the sleep.
does() {
	start_sleeper && echo "$1" >fifo && until_true 10 gone "$sleeper" && until_true 10 awake &&
		! grep "openat=ENOENT.*faults=1" out
}

executes() {
	does exec && said openat=ENOENT && said faults=0
}

# The sys_exit of a new process comes before any sys_enter of it.
forks() {
	echo 1 >"$EVENTS/raw_syscalls/enable"
	echo 1 >"$EVENTS/syscalls/enable"
	(sh -c : && cat /proc/version) >/dev/null
	echo 0 >"$EVENTS/enable"
}

# The events of syscalls/ have no 32-bit calls on arm64 and x86, with or without strings.
compat_reads() {
	echo 1 >"$EVENTS/syscalls/sys_enter_openat/enable"
	watched "$DIR/compat"
	echo 0 >"$EVENTS/syscalls/sys_enter_openat/enable"
	says text /compat/name && says result 12 && ! grep -q /compat/name "$TRACEFS/trace"
}

# By its number: ftrace may not have kept the name of a process that has ended.
compat_raw_event() {
	echo "common_pid != 0 && id == $1" >"$EVENTS/raw_syscalls/sys_enter/filter"
	echo 1 >"$EVENTS/raw_syscalls/sys_enter/enable"
	"$DIR/compat" &
	pid=$!
	wait "$pid"
	echo 0 >"$EVENTS/raw_syscalls/sys_enter/enable"
	echo 0 >"$EVENTS/raw_syscalls/sys_enter/filter"
	grep -q -- "-$pid .* sys_enter: NR $1 " "$TRACEFS/trace"
}

load
ok "under ptrace" reads ptrace /page/missing
ok "a tracer changes the argument" reads argument /missing
ok "a tracer skips the system call" not_entered skip openat=
if grep -q ^Seccomp: /proc/self/status; then
	ok "seccomp allows the system call" reads allow /page/missing
	ok "seccomp refuses the system call" not_entered refuse openat=EACCES
	ok "seccomp has a tracer change the argument" reads trace /missing
fi
ok "a signal with a handler" signalled
ok "the process exits" does exit
ok "the process runs another program" executes
ok "new processes" forks
unload

if "$DIR/compat" 2>/dev/null; then
	case $(uname -m) in
	x86_64) NR_OPENAT=295 ;;
	*) NR_OPENAT=322 ;;
	esac
	load
	ok "the probe reads a 32-bit program's string" compat_reads
	ok "the raw event of a 32-bit program's call" compat_raw_event "$NR_OPENAT"
	unload
fi
finish
