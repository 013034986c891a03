#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The events of system calls show the strings that arguments point to, in ftrace and in
# perf: wherever they are, printable, of limited length, and so that filters see them.
# shellcheck source=tools/testing/selftests/faultable-tracepoints/lib.sh
. "$(dirname "$0")/lib.sh"

EVENTS=$TRACEFS/events/syscalls
SIZE=$TRACEFS/syscall_user_buf_size
DEFAULT_SIZE=$(cat "$SIZE")

cleanup() {
	echo >&3
	echo 0 >"$EVENTS/enable"
	echo 0 >"$EVENTS/sys_enter_openat/filter"
	echo "$DEFAULT_SIZE" >"$SIZE"
	rmdir "$TRACEFS/instances/strings" 2>/dev/null
}

# traced EVENT COMMAND...: what the event shows of this command alone, in out
traced() {
	event=$1
	shift
	echo >"$TRACEFS/trace"
	echo 1 >"$EVENTS/$event/enable"
	# shellcheck disable=SC2016 # not this shell's
	sh -c 'echo $$ >"$0" && exec "$@"' "$TRACEFS/set_event_pid" "$@" >/dev/null 2>&1
	echo 0 >"$EVENTS/$event/enable"
	echo >"$TRACEFS/set_event_pid"
	grep -v '^#' "$TRACEFS/trace" >out
}

said() {
	grep -qF -- "$1" out || { sed 's/^/# /' out && return 1; }
}

# shows KIND TEXT: the file name of that kind of page
shows() {
	traced sys_enter_openat page "$1" "$DELAY_MS" && said " \"$2\", flags: "
}

perf_shows() {
	event syscalls/sys_enter_openat __filename_val page "$1" "$DELAY_MS" >out &&
		said "text=$2"
}

shows_name() {
	traced sys_enter_openat cat "$1" && said " \"$2\", flags: "
}

# name LENGTH: a file name of so many bytes
name() {
	head -c "$1" /dev/zero | tr '\0' n
}

# At a size of 64, 63 bytes fit, and of a longer string 60 and the dots.
truncates() {
	echo 64 >"$SIZE"
	shows_name "$(name 63)" "$(name 63)" && shows_name "$(name 64)" "$(name 60)..." &&
		shows_name "$(name 200)" "$(name 60)..."
}

# No part of an escaped byte is left: 15 of four bytes and the dots fit.
truncates_escaped() {
	echo 64 >"$SIZE"
	tabs=$(name 20 | tr n '\t')
	shows_name "$tabs" "$(name 15 | sed 's/n/\\011/g')..."
}

longest() {
	echo 256 >"$SIZE"
	shows_name "$(name 255)" "$(name 255)"
}

off() {
	echo 0 >"$SIZE"
	shows_name /none ""
}

refuses() {
	for size in 1 15 257 -1 x; do
		! echo $size 2>/dev/null >"$SIZE" || { echo "# takes $size" && return 1; }
	done
}

restore_size() {
	echo "$DEFAULT_SIZE" >"$SIZE"
}

executes() {
	traced sys_enter_execve sh -c 'exec /bin/echo a "b c" "d\\e" ""' &&
		said '"/bin/echo"' && said '"/bin/echo a b\040c d\134e ", envp: '
}

# The offsets of the fields that there were have not changed.
format() {
	sed -n 's/.*field:\(.*\);.offset:\([0-9]*\);.size:\([0-9]*\);.*/\1 \2 \3/p' \
		"$EVENTS/sys_enter_openat/format" >out
	said "int dfd 16 8" && said "const char * filename 24 8" && said "umode_t mode 40 8" &&
		said "__data_loc char[] __filename_val 48 4"
}

filters() {
	echo '__filename_val ~ "/etc/*"' >"$EVENTS/sys_enter_openat/filter"
	traced sys_enter_openat cat /none /etc/none /etc/nil /no/etc
	[ "$(grep -c sys_openat out)" = 2 ] && said '"/etc/none"' && said '"/etc/nil"'
}

unfilter() {
	echo 0 >"$EVENTS/sys_enter_openat/filter"
}

histogram() {
	echo 'hist:keys=__filename_val' >"$EVENTS/sys_enter_openat/trigger" &&
		cat /hist/one /hist/two /hist/one >/dev/null 2>&1
	tr -s ' ' <"$EVENTS/sys_enter_openat/hist" >out
	echo '!hist:keys=__filename_val' >"$EVENTS/sys_enter_openat/trigger" &&
		said "{ __filename_val: /hist/one } hitcount: 2" &&
		said "{ __filename_val: /hist/two } hitcount: 1"
}

two_strings() {
	call=sys_enter_symlinkat
	[ ! -d "$EVENTS/sys_enter_symlink" ] || call=sys_enter_symlink
	traced $call ln -s "to tab	here" /none/link
	said ' "to tab\011here", ' && said ' "/none/link")'
}

sizes_of_instances() {
	mkdir "$TRACEFS/instances/strings" &&
		echo 32 >"$TRACEFS/instances/strings/syscall_user_buf_size" &&
		[ "$(cat "$SIZE")" = "$DEFAULT_SIZE" ]
}

# Each event of a system call with a string, at the same time
all_events() {
	echo 1 >"$EVENTS/enable" && cat /proc/version >/dev/null
	page missing "$DELAY_MS" >out && echo 0 >"$EVENTS/enable" && said faults=1
}

swap_on
for kind in missing across swapped file; do
	ok "ftrace shows $kind" shows $kind /page/$kind
	ok "perf shows $kind" perf_shows $kind /page/$kind
done
ok "ftrace shows memory that was never touched" shows hole ""
ok "ftrace shows a fault" shows unmapped "(fault)"
ok "perf shows a fault" perf_shows unmapped "(fault)"
ok "bytes that can't be printed" shows_name "/a$(printf '\001\n\177\303\244')\\" \
	'/a\001\012\177\303\244\134'
ok "long names are truncated" truncates
ok "not within an escaped byte" truncates_escaped
ok "the longest size" longest
ok "no strings at size 0" off
ok "other sizes are refused" refuses
restore_size
ok "a program and its arguments" executes
ok "the format" format
ok "filters" filters
unfilter
ok "a histogram of strings" histogram
ok "two strings" two_strings
ok "instances have sizes of their own" sizes_of_instances
ok "all events of system calls" all_events
finish
