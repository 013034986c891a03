#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# splice() and sendfile() of trace and trace_pipe give what read() gives: by 7 bytes to
# a million, into pipes with less and less room. They block, end and fail as on the
# kernel's files.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

LAST=$((CPUS - 1))
HOST=$TRACEFS/instances/hyp-trace-splice
PIPES="trace_pipe per_cpu/cpu0/trace_pipe"
TRACES="trace per_cpu/cpu0/trace"

# like_host NAME EXPECTED OPERATION FILE [ARG]...: of ours and of the host's.
like_host() {
	name=$1 expected=$2 operation=$3 file=$4
	shift 4
	is "$name, in $file" \
		"$(fileop "$operation" "$HYP/$file" "$@" 2>&1 >copy | sed 's/^fileop: //'
			cat copy), host $(fileop "$operation" "$HOST/$file" "$@" 2>&1 >copy |
			sed 's/^fileop: //'; cat copy)" \
		"$expected, host $expected"
}

test_empty() {
	reset_numbers 8
	for file in $PIPES; do
		like_host "splice: EAGAIN with tracing off" EAGAIN splice "$file"
		like_host "splice: EINTR for a signal" EINTR interrupt_splice "$file"
		like_host "sendfile: not a file that can seek" EINVAL sendfile "$file" 4096
	done
	for file in $TRACES; do
		like_host "splice: nothing but a header" ok splice "$file"
	done
}

# Events on CPU 0, of ours and of the host's.
test_some() {
	write_numbers 3
	echo text >"$HOST/trace_marker"
	for file in $TRACES; do
		like_host "splice: events" ok splice "$file"
	done
	like_host "splice: events" ok splice trace_pipe
	like_host "splice: none are left" EAGAIN splice trace_pipe
}

# shown FILE: what is there, by read() and without consuming it.
shown() {
	grep -v '^#' "$HYP/${1%_pipe}"
}

# unlike FILE NUMBER: what FILE does not have of the lines in `expected`, of which there are so
# many.
unlike() {
	[ "$(wc -l <expected)" = "$2" ] || echo "$(wc -l <expected) lines, not $2"
	cmp expected "$1" 2>&1
}

test_spliced() {
	for size in 7 100 4096 5000 65536 1048576; do
		for file in trace_pipe "per_cpu/cpu$LAST/trace_pipe"; do
			reset_numbers 64
			write_numbers 1000
			shown "$file" >expected
			fileop spliced "$HYP/$file" "$size" >lines
			none "$file, spliced by $size bytes: all lines" unlike lines \
				$(($(echo "$file" | grep -c per_cpu || :) ? 1000 : 1000 * CPUS))
		done
	done
}

# What one read() of a descriptor leaves of a line comes first.
test_mixed() {
	reset_numbers 64
	write_numbers 1000
	shown trace_pipe >expected
	exec 3<"$HYP/trace_pipe"
	{
		dd bs=10 count=1 <&3 2>&-
		fileop spliced - 100 <&3
	} >mixed
	exec 3<&-
	none "read() and then splice(): all lines" unlike mixed $((1000 * CPUS))
}

# A reader by splice() that blocks gets events as they come, and ends with tracing.
test_stream() {
	reset_numbers 64
	fileop stream "$HYP/trace_pipe" >lines &
	reader=$!
	until_true 10 blocked $reader
	echo 1 >"$HYP/tracing_on"
	emit_all 100
	until_true 20 has_lines lines $((100 * CPUS))
	is "events reach a blocked splice() while tracing is on" $? 0
	emit_all 100 101
	echo 0 >"$HYP/tracing_on"
	until_true 20 ended $reader
	is "a blocked splice() ends when tracing does" $? 0
	kill $reader 2>&-
	wait $reader 2>&-
	none "the splice() that ended has all events" inexact lines 200
}

test_killed() {
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	fileop stream "$HYP/trace_pipe" >lines &
	reader=$!
	until_true 10 blocked $reader
	kill $reader
	wait $reader 2>&-
	is "a blocked splice() can be killed" $? 143
	echo 0 >"$HYP/tracing_on"
	is "the buffer is unloaded after the kill" "$(state)" "(unloaded)"
}

# Each way to copy a file that shows and does not consume.
test_copies() {
	for file in trace "per_cpu/cpu$LAST/trace"; do
		reset_numbers 64
		write_numbers 1000
		cat "$HYP/$file" >expected
		holds "$file has the events" "$(grep -c selftest expected)" -ge 1000
		for size in 100 4096 1048576; do
			fileop sendfile "$HYP/$file" "$size" >copy
			none "$file by sendfile(), $size bytes" cmp copy expected
		done
		fileop spliced "$HYP/$file" 65536 >copy
		none "$file by splice()" cmp copy expected
		cp "$HYP/$file" copy
		none "$file by cp" cmp copy expected
		dd if="$HYP/$file" of=copy bs=333 2>&-
		none "$file by dd" cmp copy expected
	done
}

plan $((8 + 4 + 12 + 1 + 3 + 2 + 14)) write_event
mkdir "$HOST"
test_empty
test_some
rmdir "$HOST"
test_spliced
test_mixed
test_stream
test_killed
test_copies
ktap_finished
