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
	exits "$status" "$TOOLS/check" TESTS="$tmp/tests" TEST_TIMEOUT=2 \
		LAST_START="${LAST_START:-}" || return
	[ "$(tail -n 1 "$tmp/out")" = "$line" ] || {
		cat "$tmp/out"
		return 1
	}
}

# What is too late is named.
too_late() {
	LAST_START=0 counts 1 "0 passed, 0 failed" "$1" &&
		says "# skipped: $1: not begun: 0 minutes are over" "$tmp/out"
}

good='echo ok 1; echo ok 2; echo 1..2'
ok "all pass" counts 0 "2 passed, 0 failed" "$good"
ok "programs add up" counts 0 "4 passed, 0 failed" "$good" "$good"
ok "a failure counts" counts 1 "3 passed, 1 failed" "$good" "echo 1..2; echo ok 1; echo not ok 2"
ok "an error after it counts once" counts 1 "0 passed, 1 failed" "echo 1..1; echo not ok 1; exit 1"
ok "a subtest does not count" counts 0 "2 passed, 0 failed" "echo '    not ok 1 - sub'; $good"
ok "a skip is no pass" counts 0 "2 passed, 0 failed" "$good" "echo 'ok 1 # SKIP no'; echo 1..1"
ok "nothing but skips fails" counts 1 "0 passed, 0 failed" "echo 'ok 1 # SKIP no'; echo 1..1"
ok "no tests fails" counts 1 "0 passed, 0 failed" ""
ok "no plan fails" counts 1 "1 passed, 1 failed" "echo ok 1"
ok "a short run fails" counts 1 "1 passed, 1 failed" "echo 1..2; echo ok 1"
ok "exit status without a failure fails" counts 1 "2 passed, 1 failed" "$good; exit 3"
ok "a program that is not there fails" counts 1 "2 passed, 1 failed" "$good" "./no-such-program"
ok "a hang fails" counts 1 "2 passed, 1 failed" "$good; sleep 60"
ok "what is too late is skipped" too_late "$good"
LAST_START=1
ok "what is not is run" counts 0 "2 passed, 0 failed" "$good"
LAST_START=
ok "Bail out fails" counts 1 "2 passed, 1 failed" "$good; echo 'Bail out! broken'"
plan
