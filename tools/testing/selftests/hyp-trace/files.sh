#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hypervisor/ has the expected files and no others, with the mode and owner of the
# kernel's own files, also after uid= and gid= have changed. Its links name the same
# directory. 23 ways to create, remove and rename files there are refused while tracing
# goes on.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/host_files.sh
. "$DIR/host_files.sh"

INSTANCE=$TRACEFS/instances/$REMOTE
LINK=$TRACEFS/remotes/$REMOTE
OTHER=$TRACEFS/instances/hyp-trace-files

# Present and not in the table, or the other way round.
unexpected_files() {
	(cd "$HYP" && find . -type f | sed 's,^\./,,' | sort) >found
	cut -d ' ' -f 1 table | sort | diff - found
}

# Files whose mode or owner is not that of the host's.
unlike_host() {
	while read -r file host; do
		found=$(stat -c '%a %u:%g' "$HYP/$file")
		expected=$(stat -c '%a %u:%g' "$TRACEFS/$host")
		[ "$found" = "$expected" ] || echo "$file: $found, the host's $expected"
	done <table
	while read -r dir host; do
		found=$(stat -c '%a %u:%g' "$HYP/$dir")
		expected=$(stat -c '%a %u:%g' "$OTHER/$host")
		[ "$found" = "$expected" ] || echo "$dir: $found, the host's $expected"
	done <<-EOF
	. .
	per_cpu per_cpu
	per_cpu/cpu0 per_cpu/cpu0
	./events ./events
	events/$REMOTE events/$HOST_GROUP
	events/$REMOTE/$EVENT events/$HOST_GROUP/$HOST_OTHER
	EOF
}

remount() {
	mount -o "remount,$1" "$TRACEFS"
}

test_files() {
	rows >table
	mkdir "$OTHER"
	none "each file exists, and no other" unexpected_files
	none "mode and owner are as in the host's files" unlike_host
	remount uid=1234,gid=5678
	is "the owner follows the mount options" "$(stat -c %u:%g "$HYP/trace")" 1234:5678
	none "the owner of each file, as of the host's" unlike_host
	remount uid=0,gid=0
	none "the owner follows the mount options back" unlike_host
	rmdir "$OTHER"
}

# The number of the inode: a name of the same directory.
inode() {
	stat -L -c %i "$1"
}

test_names() {
	for name in "$INSTANCE" "$LINK"; do
		short=${name#"$TRACEFS/"}
		is "$short is a link" "$(readlink "$name")" "../$REMOTE"
		is "$short is the same directory" "$(inode "$name")" "$(inode "$HYP")"
		echo 1 >"$name/tracing_on"
		is "$short/tracing_on: a write through the link has effect" \
			"$(cat "$HYP/tracing_on")" 1
		echo 0 >"$HYP/tracing_on"
		echo >"$name/trace"
		is "$short: a read through the link has the last write" \
			"$(cat "$name/tracing_on")" 0
	done
	is "remotes/ has the remote and nothing else" "$(ls "$TRACEFS/remotes")" "$REMOTE"
}

# operation, arguments, outcome; but for the first ones as of the host's own.
refusals() {
	cat <<-END
		mkdir $INSTANCE EEXIST
		rmdir $INSTANCE ENOTDIR
		rmdir $LINK ENOTDIR
		unlink $INSTANCE EPERM
		unlink $LINK EPERM
		rename $INSTANCE $OTHER EPERM
		rename $LINK $TRACEFS/remotes/other EPERM
		mkdir $LINK EEXIST
		mkdir $TRACEFS/remotes/other EPERM
		rmdir $TRACEFS/remotes EPERM
		rename $TRACEFS/remotes $TRACEFS/others EPERM
		rmdir $HYP EPERM
		rename $HYP $TRACEFS/other EPERM
		mkdir $HYP/other EPERM
		rmdir $HYP/per_cpu EPERM
		rmdir $HYP/per_cpu/cpu0 EPERM
		rmdir $HYP/events EPERM
		mkdir $HYP/events/other EPERM
		rmdir $EVENTS/$EVENT EPERM
		unlink $HYP/trace EPERM
		unlink $EVENTS/$EVENT/format EPERM
		rename $HYP/trace $HYP/other EPERM
		rename $HYP/trace $HYP/tracing_on EPERM
	END
}

test_refusals() {
	refusals | sed 's/ [A-Z]*$//' >operations
	# With a reader and events on their way, as when the files are in use.
	echo 1 >"$HYP/tracing_on"
	exec 3<"$HYP/trace_pipe"
	while read -r operation; do
		# shellcheck disable=SC2086 # words
		fileop $operation
	done <operations >found
	exec 3<&-
	refusals | sed "s,$TRACEFS/,,g" | paste -d ' ' found - >refused
	while read -r outcome operation; do
		is "$operation" "$outcome" "${operation##* }"
	done <refused
}

# What was refused has done no harm.
test_unharmed() {
	if [ "$GUESTS" = 1 ]; then
		guest --cpu 0 >guests
		echo 0 >"$HYP/tracing_on"
		drain trace
		is "tracing goes on" "$(count trace hyp_enter guest)" "$(exits guests)"
	else
		echo 42 >"$HYP/write_event"
		echo 0 >"$HYP/tracing_on"
		is "tracing goes on" "$(fileop drain "$HYP/trace_pipe" | grep -c "id=42\$")" 1
	fi
	none "each file still exists" unexpected_files
	is "each link still exists" "$(inode "$INSTANCE") $(inode "$LINK")" \
		"$(inode "$HYP") $(inode "$HYP")"
	is "an instance of the host's can be made" "$(fileop mkdir "$OTHER")" ok
	is "the host's instance can be removed" "$(fileop rmdir "$OTHER")" ok
}

plan $((5 + 9 + $(refusals | wc -l) + 5))
test_files
test_names
test_refusals
test_unharmed
ktap_finished
