#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What `make check` counts, and as what.
# shellcheck disable=SC2016 # for the shells of the tests
. "$(dirname "$0")/tap.sh"

unset SCALE BEGUN
repo=$tmp/repo
scratch_repo "$repo"
for file in deps vm; do
	printf '#!/bin/sh\n' >"$repo/tools/hyptrace/$file"
done
list=$repo/tools/hyptrace/tests

# check STATUS [VARIABLE=value]...: with the list of tests that was written.
check() {
	status=$1
	shift
	exits "$status" "$repo/tools/hyptrace/check" TEST_TIMEOUT="${most:-3}" TIME_LIMIT="${limit:-}" "$@"
}

# ends_with LINE
ends_with() {
	[ "$(tail -n 1 "$tmp/out")" = "$1" ] || {
		cat "$tmp/out"
		return 1
	}
}

# counts STATUS "N passed, N failed" TEST...: each test a shell command, which is called test1,
# test2, ...
counts() {
	status=$1 line=$2 number=0
	shift 2
	: >"$list"
	rm -f "$repo/build/.check-times"
	for command; do
		number=$((number + 1))
		program "test$number" "$command"
		echo "fast ${seconds:-0} ${kind:-alone} ./test$number" >>"$list"
	done
	check "$status" && ends_with "$line"
}

# program NAME COMMAND
program() {
	printf '#!/bin/sh\n%s\n' "$2" >"$repo/$1"
	chmod +x "$repo/$1"
}

# within LIMIT COMMAND...: with that time limit.
within() {
	limit=$1
	shift
	"$@"
	got=$?
	limit='' most='' seconds=''
	return "$got"
}

# What is too late is named.
not_begun() {
	within 0 counts 1 "0 passed, 0 failed" "$1" &&
		says "# skipped: test1: not begun: it would take about" "$tmp/out"
}

# What was done before the tests counts too.
begun_before() {
	export BEGUN
	BEGUN=$(($(date +%s) - 50))
	within 60 counts 0 "2 passed, 0 failed" "$good" || return
	BEGUN=$(($(date +%s) - 70))
	within 60 counts 1 "0 passed, 0 failed" "$good" && says "not begun" "$tmp/out" || return
	BEGUN=soon
	check 1 && says "BEGUN is not a number: soon" && one_line || return
	unset BEGUN
}

# What it printed before the limit counts, a failure too.
not_ended() {
	most=60
	within 3 counts "$@" && says "# skipped: test1: not ended: the time limit is reached" "$tmp/out"
}

after_another() {
	most=60
	slow="sleep 1; $good"
	within 4 counts 0 "3 passed, 0 failed" "$slow" "echo ok 1; sleep 60" "$good" &&
		says "# skipped: test2: not ended" "$tmp/out" && says "# skipped: test3: not begun" "$tmp/out"
}

# One that takes longer than is left on a machine of that speed
too_long() {
	SCALE=$1 seconds=60
	export SCALE
	within 100 counts "$2" "$3" "$good" || return
	unset SCALE
}

too_long_when_slow() {
	too_long 200 1 "0 passed, 0 failed" &&
		says "about 120 s, and of the time limit 100 s are left" "$tmp/out"
}

as_long_as_last_time() {
	counts 0 "2 passed, 0 failed" "$good" || return
	echo "test1 500" >"$repo/build/.check-times"
	limit=100
	check 1 && limit='' && says "about 625 s" "$tmp/out" || return
	rm "$repo/build/.check-times"
}

limit_is_scaled() {
	counts 1 "0 passed, 1 failed" "sleep 5" || return
	SCALE=1000 counts 0 "2 passed, 0 failed" "sleep 5; $good"
}

# The machine that is played boots in no time, and not at all.
calibrates() {
	mkdir -p "$repo/build/kernel-default/arch/arm64/boot"
	: >"$repo/build/kernel-default/arch/arm64/boot/Image"
	: >"$repo/build/rootfs.cpio"
	kind=default
	counts 0 "1 passed, 0 failed" 'echo "ok 1 - $SCALE"; echo 1..1' && says "ok 1 - 100" "$tmp/out" &&
		says "time limits are multiplied by 1.00" "$tmp/out" || return
	printf '#!/bin/sh\nsleep 5.3\n' >"$repo/tools/hyptrace/vm"
	counts 0 "1 passed, 0 failed" 'echo "ok 1 - $SCALE"; echo 1..1' && grep -E '^ok 1 - (1[5-9]|[2-9].)[0-9]$' "$tmp/out" &&
		! grep "multiplied by 1.00" "$tmp/out" || return
	within 0 counts 1 "0 passed, 0 failed" "$good" && ! grep "a boot takes" "$tmp/out" || return
	printf '#!/bin/sh\n' >"$repo/tools/hyptrace/vm"
}

# A boot comes before all tests if there is a kernel, else after the test that builds it.
calibrates_first() {
	printf '#!/bin/sh\nsleep 5.3\n' >"$repo/tools/hyptrace/vm"
	image=$repo/build/kernel-default/arch/arm64/boot/Image
	program test1 'echo "ok 1 - $SCALE"; echo 1..1'
	program kernel.t "touch $image; echo ok 1; echo 1..1"
	printf '%s\n' "fast 0 beside ./test1" "fast 0 alone ./kernel.t" "fast 0 default ./test1" >"$list"
	check 0 && [ "$(grep -c 'a boot takes' "$tmp/out")" = 1 ] &&
		! grep -x 'ok 1 - 100' "$tmp/out" || return
	rm "$image"
	check 0 && [ "$(grep -c 'a boot takes' "$tmp/out")" = 1 ] &&
		[ "$(grep -cx 'ok 1 - 100' "$tmp/out")" = 1 ] || return
	printf '#!/bin/sh\n' >"$repo/tools/hyptrace/vm"
}

# What needs a kernel that is not there says that, and nothing else.
no_kernel() {
	mkdir -p "$repo/t"
	program t/kernel.t "echo 1..1; echo not ok 1"
	program vm.t "$good"
	printf '%s\n' "fast 0 alone ./t/kernel.t" "fast 0 default ./vm.t" >"$list"
	check 1 && ends_with "0 passed, 1 failed" &&
		says "# skipped: vm: not begun: it needs the default kernel, which could not be built" "$tmp/out"
}

# So does what needs one that there was no time to build.
no_time_for_kernel() {
	printf '%s\n' "fast 500 alone ./t/kernel.t" "fast 0 default ./vm.t" >"$list"
	limit=60
	check 1 && limit='' && ends_with "0 passed, 0 failed" && says "# skipped: kernel: not begun" "$tmp/out" &&
		says "# skipped: vm: not begun: it needs the default kernel, which was not built" "$tmp/out"
}

# write_sets: four tests in three sets, and two kernels
write_sets() {
	for file in one two three four t/kernel.t; do
		program "$file" "echo 1..1; echo ok 1 - \$A\$B"
	done
	cat <<-'END' >"$list"
		# A comment
		fast,some	3	beside	./one

		some		4	default	A=x B="y z" ./two
		some		5	alone	./three
		other		6	alone	./four
		some		7	alone	./t/kernel.t
	END
}

# ran NAME...: in this order
ran() {
	sed -n 's,^# .*\./\([a-z/]*\).*,\1,p' "$tmp/out" | xargs >"$tmp/ran"
	[ "$(cat "$tmp/ran")" = "$*" ] || { cat "$tmp/out"; return 1; }
}

sets() {
	write_sets
	check 0 && ran one && check 0 SET=some && ran one two three t/kernel &&
		check 0 SET="other,fast" && ran four one && check 0 SET=all && ran one four two three t/kernel &&
		check 1 SET=none && says "no set none: there are fast other some all"
}

by_name() {
	check 0 TESTS="thr* four" && ran three four && check 0 TESTS=two && ran two t/kernel &&
		check 0 TESTS="two.x*" && ran two t/kernel && says "ok 1 - xy z" "$tmp/out" &&
		check 1 TESTS=tw && says "no test tw"
}

rotates() {
	check 0 SET=some ROTATE=1 && ran t/kernel two three one && check 0 SET=fast,some ROTATE=5 &&
		ran one t/kernel three two
}

lists() {
	rm -f "$repo/build/.check-times"
	program one "sleep 2; echo 1..1; echo ok 1"
	most=60
	check 0 SET=some && most='' || return
	printf '#!/bin/sh\nexit 1\n' >"$repo/tools/hyptrace/deps"
	check 0 LIST=1 && printf '#!/bin/sh\n' >"$repo/tools/hyptrace/deps" && grep -qE '^ *([2-9]|1.) *3  fast,some *one$' "$tmp/out" &&
		[ "$(wc -l <"$tmp/out")" = 7 ]
}

# Of those that run at the same time, each output is in one piece.
at_once() {
	kind=beside
	talks='for i in 1 2 3; do echo "ok $i"; sleep 0.2; done; echo 1..3'
	counts 0 "6 passed, 0 failed" "$talks" "$talks" &&
		[ "$(sed -n 's/^ok //p' "$tmp/out" | xargs)" = "1 2 3 1 2 3" ]
}

files() {
	counts 1 "1 passed, 1 failed" "echo ok 1 - a '<b>'; echo '# why'; echo not ok 2 - c; echo ok 3 '# SKIP no'; echo 1..3" &&
		cmp "$repo/build/results/test1.tap" - <<-END || return
			ok 1 - a <b>
			# why
			not ok 2 - c
			ok 3 # SKIP no
			1..3
		END
	python3 - "$repo/build/results/junit.xml" <<-'END'
		import sys, xml.etree.ElementTree as xml
		suite, = xml.parse(sys.argv[1]).getroot()
		a, c, no = suite.findall("testcase")
		assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
		assert a.get("name") == "a <b>" and not len(a)
		assert c.find("failure").text == "# why" and no.find("skipped") is not None
	END
}

# A second run waits, since the results are in one place.
one_run() {
	counts 0 "2 passed, 0 failed" "$good" || return
	flock "$repo/build/.lock-check" sleep 2 &
	until ! flock -n "$repo/build/.lock-check" true; do :; done
	check 0 && says "waiting for another run that makes check"
}

# However slow the machine, .ci/run ends before its 90 minutes are over: after the limit there
# are at most the seconds that it takes to end one test.
ci_limit() {
	seconds=$(sed -n 's/.*TIME_LIMIT=\([0-9]*\) .*/\1/p' "$ROOT/.ci/run")
	[ "$seconds" -gt 0 ] && [ "$seconds" -le $((84 * 60 + 30)) ]
}

# One commit after another, each set has its turn.
ci_sets() {
	cp -R "$ROOT/.ci" "$repo"
	printf '#!/bin/sh\necho "SET=$SET ROTATE=$ROTATE"\n' >"$repo/tools/hyptrace/check"
	printf 'check:\n\t@tools/hyptrace/check\n' >"$repo/Makefile"
	git -C "$repo" init -q
	for _ in $(seq 20); do
		git -C "$repo" -c user.name=t -c user.email=t@localhost commit -q --allow-empty -m x
		"$repo/.ci/run"
	done >"$tmp/turns"
	for set in debug pages kcsan clients modes topics series variants x86 mutants; do
		[ "$(grep -c "^SET=fast,$set ROTATE=" "$tmp/turns")" = 2 ] || { cat "$tmp/turns"; return 1; }
	done
	says "this time the set" "$tmp/turns"
}

no_tests() {
	: >"$list"
	check 1 && says "no set fast"
}

# A test that ends leaves nothing that runs, in its session or not.
leaves() {
	counts 0 "2 passed, 0 failed" "setsid sleep 987654 & sleep 987654 & $good" &&
		! grep -lsxz 987654 /proc/[0-9]*/cmdline
}

# The last lines have a failed test's comments, before and after, and no other's.
shows_comments() {
	counts 1 "2 passed, 1 failed" \
		"echo '# of 1'; echo ok 1; echo '# why'; echo not ok 2; echo '# said'; echo ok 3; echo '# of 4'; echo 1..3" ||
		return
	sed -n '/^# failed:/p' "$tmp/out" | sed 's/.*  #/#/; s/.*: not/not/' | xargs >"$tmp/shown"
	[ "$(cat "$tmp/shown")" = "not ok 2 # why # said" ] || { cat "$tmp/shown"; return 1; }
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
ok "no tests fails" no_tests
ok "no plan fails" counts 1 "1 passed, 1 failed" "echo ok 1"
ok "a short run fails" counts 1 "1 passed, 1 failed" "echo 1..2; echo ok 1"
ok "exit status without a failure fails" counts 1 "2 passed, 1 failed" "$good; exit 3"
ok "a program that is not there fails" counts 1 "2 passed, 1 failed" "$good" "exec ./no-such-program"
ok "a hang fails" counts 1 "2 passed, 1 failed" "$good; sleep 60"
ok "what it leaves behind is ended" leaves
ok "a test that would begin too late is skipped" not_begun "$good"
ok "so is one behind what took the time before the tests" begun_before
ok "a test that the time limit ends is skipped" not_ended 0 "2 passed, 0 failed" \
	"$good; exec sleep 60"
ok "its failures count" not_ended 1 "0 passed, 1 failed" "echo not ok 1; exec sleep 60"
ok "a test gets the time that is left" after_another
ok "what ends in time is run" within 100 counts 0 "2 passed, 0 failed" "$good"
ok "a hang is a failure with time left" within 100 counts 1 "2 passed, 1 failed" "$good; sleep 60"
ok "a test that would not end before the limit is not begun" too_long_when_slow
ok "one that would is" too_long 100 0 "2 passed, 0 failed"
ok "a test takes as long as it did last time" as_long_as_last_time
ok "limits are multiplied by the machine's speed" limit_is_scaled
ok "which a boot measures" calibrates
ok "at the start, if it can" calibrates_first
kind=
ok "what needs a kernel that could not be built is skipped" no_kernel
ok "so is what needs one that there was no time for" no_time_for_kernel
ok "sets" sets
ok "tests by name, with the kernel that they boot" by_name
ok "a set begins elsewhere" rotates
ok "the list has how long each took" lists
ok "tests that run at the same time" at_once
kind=
ok "the results are kept as TAP and JUnit's XML" files
ok "one run at a time" one_run
ok "CI's time limit is less than CI has" ci_limit
ok "a kselftest whose shell says something" ktap 0 "x.sh: line 1: a line: found"
ok "a kselftest whose shell lacks a command" ktap 1 "hyp-trace/x.sh: line 62: cksum: not found"
ok "Bail out fails" counts 1 "2 passed, 1 failed" "$good; echo 'Bail out! broken'"
ok "CI runs each set in turn" ci_sets
plan
