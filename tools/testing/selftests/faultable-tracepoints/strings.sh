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

# names CALL TEXT...: what the event of a call with such arguments shows
named() {
	call=$1
	event=sys_enter_${1%_nothing}
	shift
	traced "$event" names "$call"
	for text; do
		said "$text" || return
	done
}

# The options may have a password.
mounts() {
	named mount '"/names/device", dir_name: ' '"/names/place", type: ' \
		'"names-type", flags: 0, ' &&
		! grep password out
}

sets_names() {
	named sethostname '"name", len: 4)' && named setdomainname '"name", len: 4)'
}

null_pointers() {
	named utimensat 'filename: 0 "(null)", ' &&
		named mount_nothing 'dev_name: 0 "(null)", ' '"/names/place", type: 0 "(null)", ' &&
		named execve '"/names/none", argv: 0 "(null)", envp: 0)'
}

no_data() {
	named setsockopt 'optval: ' && ! grep names/option out
}

# Only x86-64 has these.
utimes() {
	named utimes '"/names/utimes", ' && named utime '"/names/utime", '
}

# asked TIMES [COMMAND]...: how often the handler of userfaultfd was asked for a string that the
# call itself does not read
asked() {
	times=$1
	shift
	"$@" page -i missing "$DELAY_MS" >asked || return
	grep -q "openat=EINVAL.*faults=$times" asked || { sed 's/^/# /' asked && return 1; }
}

enable_openat() {
	echo >"$TRACEFS/trace"
	echo "$1" >"$EVENTS/sys_enter_openat/enable"
}

recorded() {
	grep -q '"/page/missing"' "$TRACEFS/trace"
}

wanted() {
	enable_openat 1 && asked 1 && recorded
	ended=$?
	enable_openat 0
	return $ended
}

# unwanted FILE VALUE BACK: not while that is so
unwanted() {
	echo "$2" >"$TRACEFS/$1" && enable_openat 1 && asked 0 && ! recorded
	ended=$?
	enable_openat 0
	echo "$3" >"$TRACEFS/$1"
	return $ended
}

excluded() {
	# shellcheck disable=SC2016 # not this shell's
	enable_openat 1 && asked 0 sh -c 'echo $$ >"$0" && exec "$@"' \
		"$TRACEFS/set_event_notrace_pid" && ! recorded
	ended=$?
	enable_openat 0
	echo >"$TRACEFS/set_event_notrace_pid"
	return $ended
}

# Another event's trigger leaves it soft-disabled.
OTHER_TRIGGER=$TRACEFS/events/sched/sched_process_wait/trigger
OPENAT_TRIGGER=$EVENTS/sys_enter_openat/trigger

# soft_disabled TIMES [TRIGGER]: with that trigger of its own
soft_disabled() {
	echo 'enable_event:syscalls:sys_enter_openat if pid == -2' >"$OTHER_TRIGGER" &&
		{ [ -z "${2-}" ] || echo "$2" >"$OPENAT_TRIGGER"; } &&
		grep -q '^0\*' "$EVENTS/sys_enter_openat/enable" && asked "$1" && ! recorded
	ended=$?
	cat "$EVENTS/sys_enter_openat/hist" >hist 2>/dev/null
	[ -z "${2-}" ] || echo "!$2" >"$OPENAT_TRIGGER"
	echo '!enable_event:syscalls:sys_enter_openat' >"$OTHER_TRIGGER"
	return $ended
}

conditional_trigger() {
	soft_disabled 1 hist:keys=__filename_val && grep -q '__filename_val: /page/missing ' hist
}

# It turns tracing on, so the event itself is recorded.
turned_on() {
	echo traceon >"$OPENAT_TRIGGER" && echo 0 >"$TRACEFS/tracing_on" && enable_openat 1 &&
		page missing "$DELAY_MS" >/dev/null && recorded
	ended=$?
	enable_openat 0
	echo '!traceon' >"$OPENAT_TRIGGER"
	echo 1 >"$TRACEFS/tracing_on"
	return $ended
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
ok "three strings, that are not declared to be any" mounts
ok "umount()" named umount 'name: ' '"/names/place", flags: 0)'
ok "names that end where their length says" sets_names
ok "null pointers" null_pointers
ok "no data" no_data
[ ! -d "$EVENTS/sys_enter_utimes" ] || ok "utime() and utimes()" utimes
ok "a string is read for the event" wanted
ok "not for a task that set_event_pid excludes" unwanted set_event_pid 1 ""
ok "nor for one that set_event_notrace_pid excludes" excluded
ok "not while tracing is off" unwanted tracing_on 0 1
ok "not for a soft-disabled event" soft_disabled 0
ok "nor one with a trigger without a condition" soft_disabled 0 traceon
ok "but for its trigger with a condition" conditional_trigger
ok "for the event that turns tracing on" turned_on
ok "instances have sizes of their own" sizes_of_instances
ok "all events of system calls" all_events
finish
