#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each file can be opened by root and, by the mount options of tracefs, by an owner and
# a group, as the kernel's files. Others are refused.
# shellcheck disable=SC2046,SC2086 # lists
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/host_files.sh
. "$DIR/host_files.sh"

UID_OWNER=1234
GID_GROUP=5678
STRANGER="4321 8765"

# Two events stand for all: files.sh has the modes of each.
EVENT_LIST="$EVENT selftest"
MODES="r w wt rw"

directories() {
	for file in "$HYP" "$TRACEFS/per_cpu" "$TRACEFS/events/$HOST_GROUP"; do
		find "$file" -type d
	done
	echo "$TRACEFS" "$TRACEFS/events"
}

# outcomes USER GROUP: of opening each file of ours and the host's.
outcomes() {
	while read -r file host; do
		for mode in $MODES; do
			echo "$(fileop as "$1" "$2" open "$HYP/$file" "$mode")" \
				"$(fileop as "$1" "$2" open "$TRACEFS/$host" "$mode") $file $mode"
		done
	done <table >found
}

unlike_host() {
	awk '$1 != $2' found
}

# Which outcomes there are.
kinds() {
	cut -d ' ' -f 1 found | sort -u | xargs
}

# can FILE: in which modes it can be opened.
can() {
	awk -v file="$1" '$1 == "ok" && $3 == file { print $4 }' found | xargs
}

# What was there before, and must be afterwards.
contents() {
	grep selftest "$HYP/trace"
	cat "$HYP/tracing_on" "$EVENTS/$EVENT/enable" "$HYP/error_log"
}

test_stranger() {
	outcomes $STRANGER
	is "another user, by the directory's mode: each file" "$(kinds)" EACCES
	none "as the host's" unlike_host
	is "another user can't list the directory" \
		"$(fileop as $STRANGER open "$HYP" r)" EACCES

	chmod o+rx $(directories)
	outcomes $STRANGER
	is "another user, by each file's mode" "$(kinds)" EACCES
	none "by each file's mode, as the host's" unlike_host
	is "another user can list the directory then" \
		"$(fileop as $STRANGER open "$HYP" r)" ok
	chmod o-rx $(directories)
}

test_unharmed() {
	contents >after
	none "refused operations have changed nothing" diff before after
	holds "there was something to change" "$(grep -c selftest before)" -gt 0
}

# The mount's group may read what is 0640, and write what is 0220.
test_group() {
	mount -o "remount,gid=$GID_GROUP,mode=750" "$TRACEFS"
	outcomes 4321 $GID_GROUP
	none "the group: as the host's" unlike_host
	is "the group reads trace" "$(can trace)" r
	is "the group reads trace_pipe" "$(can trace_pipe)" r
	is "the group reads filters" "$(can "events/$REMOTE/$EVENT/filter")" r
	is "the group writes write_event" "$(can write_event)" "w wt"
	outcomes $STRANGER
	is "another user, with a group set" "$(kinds)" EACCES
	mount -o remount,gid=0,mode=700 "$TRACEFS"
}

test_owner() {
	mount -o "remount,uid=$UID_OWNER,mode=700" "$TRACEFS"
	outcomes $UID_OWNER 8765
	none "the owner: as the host's" unlike_host
	is "the owner reads and writes trace" "$(can trace)" "r w wt rw"
	is "the owner reads trace_pipe" "$(can trace_pipe)" r
	is "the owner writes tracing_on" \
		"$(fileop as $UID_OWNER 8765 write "$HYP/tracing_on" 1) $(cat "$HYP/tracing_on")" \
		"ok 1"
	echo 0 >"$HYP/tracing_on"
	outcomes $STRANGER
	is "another user, with an owner set" "$(kinds)" EACCES
	mount -o remount,uid=0,mode=700 "$TRACEFS"
}

plan 20 write_event
rows >table
echo 1 >"$HYP/tracing_on"
echo 42 >"$HYP/write_event"
echo 0 >"$HYP/tracing_on"
fileop write "$EVENTS/$EVENT/filter" "no_field == 1" >outcome
contents >before
test_stranger
test_unharmed
test_group
test_owner
outcomes $STRANGER
is "another user, as before" "$(kinds)" EACCES
ktap_finished
