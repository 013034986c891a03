#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `make torture` itself, with parts and a VM that take no time: what a round is follows from
# the seed, it ends when it ought to, and what has failed can be replayed.
. "$(dirname "$0")/tap.sh"

# program FILE: standard input is a program.
program() {
	{ echo '#!/bin/sh'; cat; } >"$1"
	chmod 755 "$1"
}

# A repository with all that the driver needs; nothing is made.
repo=$tmp/repo
scratch_repo "$repo"
echo : | program "$repo/tools/hyptrace/selftest"
echo : | program "$repo/tools/hyptrace/deps"
for config in default debug; do
	mkdir -p "$repo/build/kernel-$config/arch/arm64/boot"
	: >"$repo/build/kernel-$config/arch/arm64/boot/Image"
done
kselftest=$repo/build/selftest/hyp-trace
mkdir -p "$kselftest" "$repo/parts"
echo : | program "$kselftest/guest"

# A VM that is none: it writes down what it was to be, and runs the script.
program "$tmp/vm" <<END
for arg; do
	case \$arg in
	SCRIPT=*) script=\${arg#*=} ;;
	FILES=*) cd "\${arg#*=}" || exit ;;
	MODE=* | CPU=* | SMP=* | CONFIG=*) echo "\$arg" >>$tmp/forms ;;
	esac
done
. "\$script"
END

# Parts that write down what they were given.
program "$kselftest/one.sh" <<END
echo "one \$SEED \$SECS" >>$tmp/ran
echo 1..1
echo ok 1 it does
END
program "$kselftest/two.sh" <<END
echo "two \$SEED \$WITH" >>$tmp/ran
echo 1..1
echo ok 1 this too
END
program "$repo/parts/beside" <<END
echo "beside \$SEED" >>$tmp/ran
echo 1..1
echo ok 1 - beside
END
# It fails the third time.
program "$kselftest/third.sh" <<END
echo >>$tmp/times
echo 1..1
[ "\$(wc -l <$tmp/times)" -ge 3 ] || { echo ok 1; exit; }
echo "# for this reason"
echo not ok 1 as it should be
exit 1
END

cat >"$tmp/list" <<'END'
# NAME WHERE COMMAND
one	vm	hyp-trace/one.sh
two	vm	WITH=$((SECS * 2)) hyp-trace/two.sh	# and a comment
missing	vm	hyp-trace/missing.sh
beside	host	X=1 parts/beside
gone	host	parts/gone
END

# torture STATUS LAST-LINE [VARIABLE=value]...
torture() {
	status=$1 line=$2
	shift 2
	rm -f "$tmp/forms" "$tmp/ran" "$tmp/times"
	exits "$status" "$repo/tools/hyptrace/torture" VM="$tmp/vm" LIST="$tmp/list" "$@" || return
	[ "$(tail -n 1 "$tmp/out")" = "$line" ] || { cat "$tmp/out" "$tmp/err"; return 1; }
}

# What is said of rounds, without the times.
rounds() {
	sed -n 's/^\(round .*\), [0-9]* s ([0-9:]*)$/\1/p' "$tmp/out"
}

round_line() {
	torture 0 "1 passed, 0 failed" SEED=7 ROUND=3 SECS=5 || return
	rounds | grep -E "^round 3: seed [0-9]+, (protected|nvhe) [a-z0-9-]+, SMP=[124], \
(default|debug): (one two|two one) beside: passed$" || { cat "$tmp/out"; return 1; }
	seed=$(rounds | sed 's/.*seed \([0-9]*\),.*/\1/')
	printf '%s\n' "beside $seed" "one $seed 5" "two $seed 10" >"$tmp/expected"
	sort "$tmp/ran" | diff "$tmp/expected" -
}

# The same seed, and the round alone or after others.
replayed() {
	torture 0 "1 passed, 0 failed" SEED=7 ROUND=3 && rounds >"$tmp/first" &&
		cp "$tmp/forms" "$tmp/forms.first" && cp "$tmp/ran" "$tmp/ran.first" &&
		torture 0 "1 passed, 0 failed" SEED=7 ROUND=3 && rounds | diff "$tmp/first" - &&
		diff "$tmp/forms.first" "$tmp/forms" && diff "$tmp/ran.first" "$tmp/ran"
}

# Of some rounds each form, number of CPUs and kernel is there.
all_forms() {
	for n in $(seq 24); do
		torture 0 "1 passed, 0 failed" SEED=1 ROUND="$n" || return
		cat "$tmp/forms"
	done | sort -u >"$tmp/drawn"
	printf '%s\n' CONFIG=debug CONFIG=default CPU=cortex-a72 CPU=max MODE=nvhe MODE=protected \
		SMP=1 SMP=2 SMP=4 | diff - "$tmp/drawn"
}

fails_once() {
	echo "third vm hyp-trace/third.sh" >"$tmp/list"
	torture 1 "2 passed, 1 failed" SEED=11 SECS=9 &&
		[ "$(rounds | sed 's/:.*: /: /')" = "$(printf 'round %d: %s\n' \
			1 passed 2 passed 3 failed)" ] &&
		says "not ok 1 - " "$tmp/out" && says "as it should be" "$tmp/out" &&
		says "for this reason" "$tmp/out" &&
		says 'make torture SEED=11 ROUND=3 SECS=9 KERNELS="default debug"' "$tmp/out"
}

# fails LIST-LINE [VARIABLE=value]...
fails() {
	echo "$1" >"$tmp/list"
	shift
	torture 1 "0 passed, 1 failed" ROUND=3 "$@"
}

cat >"$tmp/dead" <<'END'
#!/bin/sh
exit 125
END
chmod 755 "$tmp/dead"
dead_vm() {
	fails "one vm hyp-trace/one.sh" VM="$tmp/dead" && says "the VM ends with status 125" "$tmp/out"
}

fails_beside() {
	echo 'echo 1..1; echo not ok 1 - beside; exit 1' | program "$repo/parts/broken"
	printf 'one vm hyp-trace/one.sh\nbroken host parts/broken\n' >"$tmp/list"
	torture 1 "0 passed, 1 failed" ROUND=3 && says "broken ends with status 1" "$tmp/out"
}

refuses() {
	exits 1 "$repo/tools/hyptrace/torture" VM="$tmp/vm" LIST="$tmp/list" "$1" && one_line &&
		says "$2"
}

ok "a round's line, and what its parts are given" round_line
ok "the same round again" replayed
ok "each form has its turn" all_forms
ok "no time, no round, no pass" torture 1 "0 passed, 0 failed" MINUTES=0
ok "the first failure ends it, and says how to replay it" fails_once
ok "a VM that dies fails" dead_vm
ok "a failure beside the VM" fails_beside
ok "a part that says nothing fails" fails "silent vm hyp-trace/guest"
: >"$tmp/nothing"
ok "a list of nothing is refused" refuses LIST="$tmp/nothing" "no part for the VM"
ok "what is no number is refused" refuses MINUTES=an-hour "not a number: an-hour"
plan
