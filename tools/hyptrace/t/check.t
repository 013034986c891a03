#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What `make check` counts, and as what.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"

# counts STATUS "N passed, N failed" TEST...: each test a shell command.
counts() {
	status=$1 line=$2
	shift 2
	printf '%s\n' "$@" >"$tmp/tests"
	exits "$status" "$TOOLS/check" TESTS="$tmp/tests" TEST_TIMEOUT="${most:-2}" \
		TIME_LIMIT="${limit:-}" || return
	[ "$(tail -n 1 "$tmp/out")" = "$line" ] || {
		cat "$tmp/out"
		return 1
	}
}

# within LIMIT COMMAND...: with that time limit.
within() {
	limit=$1
	shift
	"$@"
	got=$?
	limit='' most=''
	return "$got"
}

# What is too late is named.
not_begun() {
	within 0 counts 1 "0 passed, 0 failed" "$1" &&
		says "# skipped: $1: not begun: the time limit is reached" "$tmp/out"
}

# What it printed before the limit counts, a failure too.
not_ended() {
	most=60
	within 3 counts "$@" && says "# skipped: $3: not ended: the time limit is reached" "$tmp/out"
}

after_another() {
	most=60
	slow="sleep 1; $good"
	within 4 counts 0 "3 passed, 0 failed" "$slow" "echo ok 1; exec sleep 60" "$good" &&
		says "# skipped: echo ok 1; exec sleep 60: not ended" "$tmp/out" &&
		says "# skipped: $good: not begun" "$tmp/out"
}

other_set() {
	scratch_repo "$tmp/repo"
	echo "$good" >"$tmp/repo/tools/hyptrace/tests.some"
	exits 0 "$tmp/repo/tools/hyptrace/check" SET=some && says "2 passed, 0 failed" "$tmp/out" &&
		exits 1 "$tmp/repo/tools/hyptrace/check" SET=none && says "tests.none"
}

# However long the tests take, .ci/run ends before its 90 minutes are over.
ci_limit() {
	seconds=$(sed -n 's/.*TIME_LIMIT=\([0-9]*\) .*/\1/p' "$ROOT/.ci/run")
	[ "$seconds" -gt 0 ] && [ "$seconds" -le $((87 * 60)) ]
}

# The last lines have a failed test's comments, before and after, and no other's.
shows_comments() {
	counts 1 "2 passed, 1 failed" \
		"echo '# of 1'; echo ok 1; echo '# why'; echo not ok 2; echo '# said'; echo ok 3; echo '# of 4'; echo 1..3" ||
		return
	sed -n '/^# failed:/p' "$tmp/out" | sed 's/.*  #/#/; s/.*: not/not/' | xargs >"$tmp/shown"
	[ "$(cat "$tmp/shown")" = "# why not ok 2 # said" ] || { cat "$tmp/shown"; return 1; }
}

# What a test of the kselftest says besides its results: ktap STATUS LINE
ktap() {
	printf '%s\n' "# test x.sh" "TAP version 13" 1..1 "$2" "ok 1 x" "# status 0" >"$tmp/ktap"
	exits "$1" awk -v form=f -v first=1 -f "$TOOLS/t/ktap.awk" "$tmp/ktap" &&
		[ "$(grep -c '^not ok' "$tmp/out")" = "$1" ] && says "x.sh: x" "$tmp/out"
}

good='echo ok 1; echo ok 2; echo 1..2'
ok "all pass" counts 0 "2 passed, 0 failed" "$good"
ok "programs add up" counts 0 "4 passed, 0 failed" "$good" "$good"
ok "a failure counts" counts 1 "3 passed, 1 failed" "$good" "echo 1..2; echo ok 1; echo not ok 2"
ok "an error after it counts once" counts 1 "0 passed, 1 failed" "echo 1..1; echo not ok 1; exit 1"
ok "a failure is shown with its comments" shows_comments
ok "a subtest does not count" counts 0 "2 passed, 0 failed" "echo '    not ok 1 - sub'; $good"
ok "a skip is no pass" counts 0 "2 passed, 0 failed" "$good" "echo 'ok 1 # SKIP no'; echo 1..1"
ok "nothing but skips fails" counts 1 "0 passed, 0 failed" "echo 'ok 1 # SKIP no'; echo 1..1"
ok "no tests fails" counts 1 "0 passed, 0 failed" ""
ok "no plan fails" counts 1 "1 passed, 1 failed" "echo ok 1"
ok "a short run fails" counts 1 "1 passed, 1 failed" "echo 1..2; echo ok 1"
ok "exit status without a failure fails" counts 1 "2 passed, 1 failed" "$good; exit 3"
ok "a program that is not there fails" counts 1 "2 passed, 1 failed" "$good" "./no-such-program"
ok "a hang fails" counts 1 "2 passed, 1 failed" "$good; sleep 60"
ok "a test that would begin too late is skipped" not_begun "$good"
ok "a test that the time limit ends is skipped" not_ended 0 "2 passed, 0 failed" \
	"$good; exec sleep 60"
ok "its failures count" not_ended 1 "0 passed, 1 failed" "echo not ok 1; exec sleep 60"
ok "a test gets the time that is left" after_another
ok "what ends in time is run" within 100 counts 0 "2 passed, 0 failed" "$good"
ok "a hang is a failure with time left" within 100 counts 1 "2 passed, 1 failed" "$good; sleep 60"
ok "another set" other_set
ok "CI's time limit is less than CI has" ci_limit
ok "a kselftest whose shell says something" ktap 0 "x.sh: line 1: a line: found"
ok "a kselftest whose shell lacks a command" ktap 1 "hyp-trace/x.sh: line 62: cksum: not found"
ok "Bail out fails" counts 1 "2 passed, 1 failed" "$good; echo 'Bail out! broken'"
plan
