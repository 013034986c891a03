# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Shared by the tests of faultable tracepoints, which source this file

DIR=$(cd "$(dirname "$0")" && pwd)
PATH=$DIR:$PATH
# shellcheck disable=SC2034 # used by the tests
TRACEFS=/sys/kernel/tracing
PROBE=/sys/module/faultable_probe/parameters
# How long the handler of userfaultfd lets the page wait
# shellcheck disable=SC2034
DELAY_MS=100

case $(uname -m) in
x86_64) NR_OPENAT=257 ;;
*) NR_OPENAT=56 ;;
esac

# shellcheck source=/dev/null # of the kernel's tree
. "$DIR/../kselftest/ktap_helpers.sh"

TMP=$(mktemp -d) || exit 1
cd "$TMP" || exit 1
trap 'cleanup; rm -rf "$TMP"' EXIT
# page waits for a line in it, if it is to hold
mkfifo fifo
exec 3<>fifo

# Tests may have more to take back.
cleanup() {
	echo >&3
	unload
}

# until_true SECONDS COMMAND...: wait until the command succeeds.
until_true() {
	tries=$(($1 * 20))
	shift
	while ! "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# remains SECONDS COMMAND...: the command succeeds during all this time.
remains() {
	tries=$(($1 * 20))
	shift
	while "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 0
		sleep 0.05
	done
	return 1
}

# within SECONDS COMMAND...: it succeeds within this time. It inherits none of the fifos that
# block other programs.
within() {
	seconds=$1
	shift
	"$@" 3>&- 4>&- &
	other=$!
	until_true "$seconds" gone "$other" && wait "$other"
}

alive() {
	grep -s '^State:' "/proc/$1/status" | grep -qv Z
}

gone() {
	! alive "$1"
}

# The module, for the second argument of openat(). It probes process 1, which makes no system
# calls, until the test selects another one.
load() {
	insmod "$DIR/modules/faultable_probe.ko" nr="$NR_OPENAT" arg=1 pid=1
}

unload() {
	[ ! -d "$PROBE" ] || rmmod faultable_probe
}

# parameter NAME
parameter() {
	cat "$PROBE/$1"
}

# says NAME VALUE: what the probe has noted
says() {
	[ "$(parameter "$1")" = "$2" ] || { echo "# $1 is $(parameter "$1"), not $2" && return 1; }
}

# watched COMMAND...: the probe handles this program alone.
watched() {
	sh -c "$WATCHED" "$PROBE/pid" "$@"
}

# shellcheck disable=SC2016 # not this shell's
WATCHED='echo $$ >"$0" && exec "$@"'

# The probe sleeps in a page fault of the program that it handles.
sleeps() {
	[ "$(parameter entered)" != "$(parameter left)" ]
}

awake() {
	! sleeps
}

# Events of three tracepoints, two of them of system calls, are enabled and disabled.
toggle_events() {
	for event in sched/sched_switch raw_syscalls/sys_enter syscalls/sys_enter_openat; do
		for on in 1 0; do
			echo $on >"$TRACEFS/events/$event/enable" || return
		done
	done
}

# A program that makes the probe sleep until something is written to the fifo; its process id is
# in $sleeper
start_sleeper() {
	watched page missing hold <fifo >out 3>&- &
	# shellcheck disable=SC2034 # used by the tests
	until_true 10 sleeps && sleeper=$(parameter pid)
}

# ok TITLE COMMAND...: a test
ok() {
	title=$1
	shift
	if "$@"; then
		ktap_test_pass "$title"
	else
		ktap_test_fail "$title"
	fi
}

# Memory that pages can be swapped out to; /dev/ram1, for /dev/ram0 has the file.
swap_on() {
	grep -q /dev/ram1 /proc/swaps || { mkswap /dev/ram1 >/dev/null && swapon /dev/ram1; }
}

# A bad page, an oops, a warning or a soft lockup since the machine was booted
COMPLAINTS=0x42a0
no_complaint() {
	[ $(($(cat /proc/sys/kernel/tainted) & COMPLAINTS)) = 0 ]
}

# finish: the plan comes last, as the tests are counted.
finish() {
	ok "the kernel has nothing to complain about" no_complaint
	echo "1..$((KTAP_TESTNO - 1))"
	[ "$KTAP_CNT_FAIL" = 0 ]
}

ktap_print_header
