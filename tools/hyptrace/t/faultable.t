#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Faultable tracepoints: the kselftest and the KUnit suite in the VM, their results as ours.
# CONFIG=debug boots the debug kernel, CONFIG=kcsan the one that looks for data races,
# CONFIG=preempt and CONFIG=rt those that are preempted in other ways, CONFIG=x86 the one for
# x86-64, where the probes are called by static calls.
#
# TESTS=".."	those of the kselftest alone
# PREEMPT=".."	none, voluntary, full: how CONFIG=preempt is preempted (each of them)
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"

: "${CONFIG:=default}" "${TESTS:=}"
[ "$CONFIG" != preempt ] || : "${PREEMPT:=none voluntary full}"
export CONFIG TIMEOUT="${TIMEOUT:-900}"
tmp=$(mktemp -d "$BUILD/test-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
SUITE=faultable-tracepoints
selftest=$BUILD/selftest-$SUITE
[ "$CONFIG" != x86 ] || selftest=$BUILD/selftest-x86-$SUITE
count=0 failed=0

cat >"$tmp/script" <<'END'
#!/bin/sh
uptime() {
	cut -d . -f 1 /proc/uptime
}
run() {
	echo "# test $1"
	begin=$(uptime)
	"$@" </dev/null
	status=$?
	echo "# $1 took $(($(uptime) - begin)) s"
	echo "# status $status"
}
kunit() {
	sed -n 's/^    //p' /sys/kernel/debug/kunit/tracepoint/results
}
# The kernel that was asked for
model() {
	ok() {
		echo "ok 1 $1"
		echo 1..1
	}
	case $1 in
	rt) [ "$(cat /sys/kernel/realtime)" = 1 ] && ok "the kernel is PREEMPT_RT" ;;
	*) dmesg | grep "Dynamic Preempt: $1\$" && ok "the kernel is preempted so" ;;
	esac
}
[ -z "$(cat model)" ] || run model "$(cat model)"
run kunit
for test in $(cat tests); do
	run "faultable-tracepoints/$test"
done
END

# result VERDICT NAME
result() {
	count=$((count + 1))
	echo "$1 $count - $CONFIG: $2"
	[ "$1" = ok ] || failed=1
}

# boot NAME [MODEL]: in that model of preemption
boot() {
	status=0
	echo "${2-}" >"$tmp/files/model"
	"$TOOLS/vm" MODE=none SMP=2 SCRIPT="$tmp/script" FILES="$tmp/files" \
		CMDLINE="kunit.enable=1 kunit.filter_glob=tracepoint $(echo "${2-}" | sed '/^rt$/d; s/..*/preempt=&/')" \
		>"$tmp/ktap" 2>"$tmp/err" </dev/null || status=$?
	sed 's/^/# /' "$tmp/err"
	awk -v form="$1" -v first="$((count + 1))" -f "$TOOLS/t/ktap.awk" "$tmp/ktap" \
		>"$tmp/tap" || failed=1
	cat "$tmp/tap"
	count=$((count + $(grep -cE '^(not )?ok ' "$tmp/tap")))
	if [ "$status" = 0 ]; then
		result ok "the VM ends well"
	else
		result "not ok" "the VM ends with status $status"
	fi
	[ -z "${2-}" ] || has_calls
}

# The kernels for this are made with seccomp and 32-bit programs.
has_calls() {
	[ -z "$TESTS" ] || return 0
	for what in seccomp 32-bit; do
		if grep -q "^ok .*calls.sh.* $what" "$tmp/tap"; then
			result ok "$what was tested"
		else
			result "not ok" "$what was tested"
		fi
	done
}

# The call site says that a task may fault there, also without a probe: a kernel that checks
# that complains where a task may not.
boot_atomic() {
	printf '#!/bin/sh\ninsmod faultable-tracepoints/modules/faultable_atomic.ko\n' >"$tmp/script"
	status=0
	"$TOOLS/vm" MODE=none SMP=2 SCRIPT="$tmp/script" FILES="$tmp/files" CONSOLE="$tmp/console" \
		>"$tmp/said" 2>&1 </dev/null || status=$?
	title="a call site in atomic context is reported"
	if [ "$status" = 125 ] && grep -q "BUG: sleeping function called.*faultable_atomic" "$tmp/console"; then
		result ok "$title"
	else
		sed 's/^/# /' "$tmp/said"
		result "not ok" "$title"
	fi
}

SUITE=$SUITE "$TOOLS/selftest"
cp -R "$selftest" "$tmp/files"
# shellcheck disable=SC2086 # a list
[ -z "$TESTS" ] || printf '%s\n' $TESTS >"$tmp/files/tests"
case $CONFIG in
preempt)
	for model in $PREEMPT; do
		boot "$CONFIG $model" "$model"
	done
	;;
rt) boot rt rt ;;
x86) boot x86 full ;;
*) boot "$CONFIG" ;;
esac
case $CONFIG in
debug | preempt | rt | x86) boot_atomic ;;
esac
echo "1..$count"
exit "$failed"
