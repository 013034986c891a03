#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# numbers.awk, by which the kselftest judges traces of numbered events, finds what
# is wrong with one, and nothing in one that is right; and so does inexact().
. "$(dirname "$0")/tap.sh"

DIR=$ROOT/tools/testing/selftests/hyp-trace
CPUS=2 PAGE_BYTES=4080
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

# finds FAULTS LINE...: their kinds and lines, in a trace of these.
finds() {
	want=$1
	shift
	printf '%s\n' "$@" >"$tmp/trace"
	judge "$tmp/trace" "${first:-1}"
	got=$(grep -vE '^(shown|lost) ' "$tmp/trace.facts" | cut -d : -f 1 | xargs)
	equals "$got" "$want"
}

# complains TEXT COUNT [FIRST [CPUS]]: inexact() of the trace that finds() had.
complains() {
	want=$1
	shift
	got=$(inexact "$tmp/trace" "$@" | xargs)
	equals "$got" "$want"
}

# event CPU TIME NUMBER
event() {
	printf '[%03d]     1.%06d: selftest id=%d' "$1" "$2" $(($1 * 1000000000 + $3))
}

lost0='CPU:0 [LOST 2 EVENTS]'

ok "numbers in order" finds "" "$(event 0 1 1)" "$(event 0 1 2)" "$(event 1 2 1)"
ok "as many as there ought to be, of both" complains "CPU 1: 1 events, not 2" 2
ok "of one" complains "CPU 0: 2 events, not 0" 1 1 1
ok "too few" complains "CPU 0: 2 events, not 3 CPU 1: 1 events, not 3" 3
ok "one twice" finds "wrong 2" "$(event 0 1 1)" "$(event 0 1 1)"
ok "one missing" finds "wrong 2" "$(event 0 1 1)" "$(event 0 1 3)"
ok "the first missing" finds "wrong 1" "$(event 0 1 2)"
ok "in the wrong order" finds "wrong 1 wrong 2" "$(event 0 1 2)" "$(event 0 1 1)"
ok "on the wrong CPU" finds "wrong 1" "[001]     1.000001: selftest id=1"
first=5
ok "from another on" finds "" "$(event 0 1 5)" "$(event 0 1 6)"
ok "from another on: the one before" finds "wrong 1" "$(event 0 1 4)"
first=1
ok "lost at first" finds "" "$lost0" "$(event 0 1 3)"
ok "lost and shown" complains "" 3 1 0
ok "lost in between" finds "" "$(event 0 1 1)" "$lost0" "$(event 0 1 4)"
ok "lost in the end" finds "" "$(event 0 1 1)" "$lost0"
ok "shown and lost" complains "" 3 1 0
ok "one more lost than told" finds "wrong 3" "$(event 0 1 1)" "$lost0" "$(event 0 1 5)"
ok "one less lost than told" finds "wrong 3" "$(event 0 1 1)" "$lost0" "$(event 0 1 3)"
ok "lost elsewhere" finds "wrong 3" "$(event 0 1 1)" "CPU:1 [LOST 2 EVENTS]" "$(event 0 1 4)"
ok "lost, and not how many" finds "uncounted 2" "$(event 0 1 1)" "CPU:0 [LOST EVENTS]" \
	"$(event 0 1 9)" "$(event 0 1 10)"
ok "but not what was there" finds "uncounted 2 wrong 3" "$(event 0 1 1)" "CPU:0 [LOST EVENTS]" \
	"$(event 0 1 1)"
ok "time goes backwards" finds "backwards 2" "$(event 0 2 1)" "$(event 0 1 2)"
ok "time goes backwards between CPUs" finds "unmerged 2" "$(event 0 2 1)" "$(event 1 1 1)"
ok "a header" finds "" "# tracer: nop" "#" "$(event 0 1 1)"
for line in "[000]     1.000001: selftest id=" "[000]     1.000001: selftest id=1 " \
	"[0] 1.000001: selftest id=1" "[000] 1.0001: selftest id=1" "$(event 0 1 1)$(event 0 1 2)" \
	"[000]     1.000001: hyp_enter reason=hvc" "CPU:0 [LOST EVENTS" "[LINE TOO BIG]" ""; do
	ok "not as documented: $line" finds "malformed 1" "$line"
done
plan
