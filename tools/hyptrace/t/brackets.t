#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# bracket.awk of the kselftest finds what is wrong with the times of events, and
# nothing where they are right.
. "$(dirname "$0")/tap.sh"

TESTS=$ROOT/tools/testing/selftests/hyp-trace

cat >"$tmp/brackets" <<'END'
id=0 cpu=0 from=1.000010000 to=1.000020000
id=1 cpu=0 from=1.000030900 to=1.000040100
id=1000000000 cpu=1 from=1.000015000 to=1.000017000
END
cat >"$tmp/trace" <<'END'
[000]     1.000015: selftest id=0
[001]     1.000016: selftest id=1000000000
[000]     1.000035: selftest id=1
END

# finds KINDS SED-SCRIPT: of these complaints, and no others, when the trace is
# edited so.
finds() {
	sed "$2" "$tmp/trace" >"$tmp/edited"
	got=$(awk -f "$TESTS/stamp.awk" -f "$TESTS/bracket.awk" "$tmp/brackets" "$tmp/edited" |
		sed 's/:.*//; s/between .*/between/; s/CPU .*/CPU/' | LC_ALL=C sort | xargs)
	equals "$got" "$1"
}

margins() {
	awk -v margins=1 -f "$TESTS/stamp.awk" -f "$TESTS/bracket.awk" "$tmp/brackets" "$tmp/trace" \
		>"$tmp/margins"
	says "3 events, at least 1.0 us after and 1.0 us before" "$tmp/margins"
}

ok "the clocks agree" finds "" ""
ok "a microsecond early, and the rounding" finds "" 's/1.000035/1.000030/'
ok "a microsecond late, and the rounding" finds "" 's/1.000035/1.000041/'
ok "early" finds "not between" 's/1.000035/1.000029/'
ok "late" finds "not between" 's/1.000035/1.000042/'
ok "early by seconds" finds "not between" 's/1.000016/0.000016/'
ok "an older event on the same CPU" finds "backwards not between" 's/1.000035/1.000014/'
ok "backwards, though it may be early" finds "backwards" '1i[001]     1.000017: hyp_exit reason=host'
ok "an event that is not there" finds "missing" '/id=1$/d'
ok "an event that is there twice" finds "twice" 3p
ok "an event nobody wrote" finds "never written" '3p; 3s/id=1/id=2/'
ok "an event of another CPU" finds "not on CPU" '3s/000/002/'
ok "events lost" finds "lost" '1iCPU:1 [LOST 1 EVENTS]'
ok "no event at all" finds "missing missing missing no events" d
ok "how near the events come to the times" margins
plan
