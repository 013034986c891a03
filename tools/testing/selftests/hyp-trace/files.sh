#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hypervisor/ has the files it ought to have, owned and protected as the host's;
# under all its names; and nobody can take them away.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

INSTANCE=$TRACEFS/instances/hypervisor
REMOTE=$TRACEFS/remotes/hypervisor
OTHER=$TRACEFS/instances/hyp-trace-files

# Each file, and the host's own of that kind.
ALL_FILES='
available_events
buffer_percent
buffer_size_kb
buffer_total_size_kb
current_tracer
error_log
events/enable
events/header_event
events/header_page
events/hypervisor/enable		events/kvm/enable
events/hypervisor/filter		events/kvm/filter
events/hypervisor/EVENT/enable		events/kvm/kvm_exit/enable
events/hypervisor/EVENT/filter		events/kvm/kvm_exit/filter
events/hypervisor/EVENT/format		events/kvm/kvm_exit/format
events/hypervisor/EVENT/id		events/kvm/kvm_exit/id
per_cpu/CPU/buffer_size_kb		per_cpu/cpu0/buffer_size_kb
per_cpu/CPU/stats			per_cpu/cpu0/stats
per_cpu/CPU/trace			per_cpu/cpu0/trace
per_cpu/CPU/trace_pipe			per_cpu/cpu0/trace_pipe
per_cpu/CPU/trace_pipe_raw		per_cpu/cpu0/trace_pipe_raw
set_event
trace
trace_clock
trace_pipe
tracing_on
write_event				trace_marker
'

rows() {
	cpus=$(find "$HYP/per_cpu" -name 'cpu*' | wc -l)
	echo "$ALL_FILES" | awk -v events="$(echo "$CATALOGUE" | xargs)" -v cpus="$cpus" '
		function each(word, name) { file = $1; sub(word, name, file); row(file) }
		function row(file) { print file, $2 ? $2 : file }
		BEGIN { nr = split(events, event, " ") }
		!NF || $1 == "write_event" && event[nr] != "selftest" { next }
		{ file = $1 }
		/EVENT/ { for (i = 1; i <= nr; i++) each("EVENT", event[i]); next }
		/CPU/ { for (i = 0; i < cpus; i++) each("CPU", "cpu" i); next }
		{ row(file) }'
}

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
	for dir in . per_cpu per_cpu/cpu0; do
		found=$(stat -c '%a %u:%g' "$HYP/$dir")
		expected=$(stat -c '%a %u:%g' "$OTHER/$dir")
		[ "$found" = "$expected" ] || echo "$dir: $found, the host's $expected"
	done
}

remount() {
	mount -o "remount,$1" "$TRACEFS"
}

test_files() {
	rows >table
	mkdir "$OTHER"
	none "each file is there, and no other" unexpected_files
	none "mode and owner are those of the host's files" unlike_host
	remount uid=1234,gid=5678
	is "the owner follows the mount options" "$(stat -c %u:%g "$HYP/trace")" 1234:5678
	none "of each file, as of the host's" unlike_host
	remount uid=0,gid=0
	none "and back" unlike_host
	rmdir "$OTHER"
}

# The number of the inode: a name of the same directory.
inode() {
	stat -L -c %i "$1"
}

test_names() {
	for name in "$INSTANCE" "$REMOTE"; do
		short=${name#"$TRACEFS/"}
		is "$short is a link" "$(readlink "$name")" ../hypervisor
		is "$short is the same directory" "$(inode "$name")" "$(inode "$HYP")"
		echo 1 >"$name/tracing_on"
		is "$short/tracing_on: what is written there holds" "$(cat "$HYP/tracing_on")" 1
		echo 0 >"$HYP/tracing_on"
		echo >"$name/trace"
		is "$short: what is written elsewhere is read there" "$(cat "$name/tracing_on")" 0
	done
	is "remotes/ has hypervisor and nothing else" "$(ls "$TRACEFS/remotes")" hypervisor
}

# operation, arguments, outcome; but for the first ones as of the host's own.
refusals() {
	cat <<-END
		mkdir $INSTANCE EEXIST
		rmdir $INSTANCE ENOTDIR
		rmdir $REMOTE ENOTDIR
		unlink $INSTANCE EPERM
		unlink $REMOTE EPERM
		rename $INSTANCE $OTHER EPERM
		rename $REMOTE $TRACEFS/remotes/other EPERM
		mkdir $REMOTE EEXIST
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
		rmdir $HYP/events/hypervisor/hyp_enter EPERM
		unlink $HYP/trace EPERM
		unlink $HYP/events/hypervisor/hyp_enter/id EPERM
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
	guest --cpu 0 >guests
	echo 0 >"$HYP/tracing_on"
	drain trace
	is "tracing goes on" "$(count trace hyp_enter guest)" "$(exits guests)"
	none "each file is still there" unexpected_files
	is "and each name" "$(inode "$INSTANCE") $(inode "$REMOTE")" \
		"$(inode "$HYP") $(inode "$HYP")"
	is "an instance of the host's can be made" "$(fileop mkdir "$OTHER")" ok
	is "and removed" "$(fileop rmdir "$OTHER")" ok
}

plan $((5 + 9 + $(refusals | wc -l) + 5))
test_files
test_names
test_refusals
test_unharmed
ktap_finished
