#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# error_log has the last eight refused filters as the kernel's file has them, and
# O_TRUNC clears it. The top level's error_log has none of them.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

LOG=$HYP/error_log
HOST=$TRACEFS/instances/hyp-trace-errors
FILTER=$EVENTS/selftest/filter
HOST_FILTER=$HOST/events/$HOST_ID/filter

# wrong NUMBER: a filter that is refused by both.
wrong() {
	fileop write "$FILTER" "id == $1 && no_field == 1" >outcome
	fileop write "$HOST_FILTER" "id == $1 && no_field == 1" >outcome
}

# entries FILE: its lines without the times.
entries() {
	sed 's/^\[ *[0-9]*\.[0-9]\{6\}\] /[TIME] /' "$1"
}

numbers() {
	sed -n 's/^  Command: id == \([0-9]*\) .*/\1/p' "$LOG" | xargs
}

unlike_host() {
	entries "$HOST/error_log" >host
	entries "$LOG" | diff - host
}

test_entries() {
	is "empty at first" "$(wc -c <"$LOG")" 0
	wrong 1
	is "an error is logged" "$(numbers)" 1
	none "an error, as in the host's" unlike_host
	is "the first line of an error" "$(entries "$LOG" | head -n 1)" \
		"[TIME] event filter parse error: error: Field not found"
	wrong 20
	wrong 300
	is "the oldest comes first" "$(numbers)" "1 20 300"
	none "several, as in the host's" unlike_host
	for number in 4 5 6 7 8 9 10; do
		wrong $number
	done
	is "eight are kept" "$(numbers)" "300 4 5 6 7 8 9 10"
	none "eight, as in the host's" unlike_host
	is "reading does not clear it" "$(numbers)" "300 4 5 6 7 8 9 10"
	fileop write "$FILTER" "id == 11" >outcome
	is "a filter that is accepted is not logged" "$(numbers)" "300 4 5 6 7 8 9 10"
	none "times do not go backwards" \
		sh -c "sed -n 's/^\[ *\([0-9.]*\)\].*/\1/p' $LOG | sort -n -c"
}

test_clear() {
	is "write: ok" "$(fileop write "$LOG" text)" ok
	is "a write alone does not clear it" "$(numbers)" "300 4 5 6 7 8 9 10"
	echo text >>"$LOG"
	is "a write with O_APPEND does not clear it" "$(numbers)" "300 4 5 6 7 8 9 10"
	is "O_TRUNC: ok" "$(fileop open "$LOG" wt)" ok
	is "O_TRUNC clears it" "$(wc -c <"$LOG")" 0
	holds "the host's is not cleared with it" "$(wc -l <"$HOST/error_log")" -eq 24
	wrong 1
	: >"$HOST/error_log"
	is "clearing the host's does not clear it" "$(numbers)" 1
	wrong 2
	is "O_TRUNC for reading and writing: ok" "$(fileop open "$LOG" rwt)" ok
	is "O_TRUNC for reading and writing clears it" "$(wc -c <"$LOG")" 0
	wrong 3
	is "later errors are logged" "$(numbers)" 3
	echo >"$LOG"
	is "a shell's echo clears it" "$(wc -c <"$LOG")" 0
}

# No entry of this instance's is in the top level's.
test_top_level() {
	cat "$TRACEFS/error_log" >before
	wrong 1
	fileop write "$EVENTS/filter" "no_field == 1" >outcome
	none "the top level's has none of these errors" diff before "$TRACEFS/error_log"
	is "this instance has both errors" "$(grep -c Command "$LOG")" 2
}

plan 24 write_event
make_host_id
mkdir "$HOST"
echo >"$LOG"
test_entries
test_clear
test_top_level
rmdir "$HOST"
ktap_finished
