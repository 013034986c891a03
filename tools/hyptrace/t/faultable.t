#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Faultable tracepoints: the kselftest and the KUnit suite in the VM, their results as ours.
# CONFIG=debug boots the debug kernel, CONFIG=kcsan the one that looks for data races,
# CONFIG=preempt and CONFIG=rt those that are preempted in other ways, CONFIG=x86 the one for
# x86-64, where the probes are called by static calls.
#
# TESTS=".."	those of the kselftest alone
# PREEMPT=".."	none, voluntary, full: how CONFIG=preempt is preempted (each of them)
. "$(dirname "$0")/ktap.sh"

: "${CONFIG:=default}" "${TESTS:=}"
[ "$CONFIG" != preempt ] || : "${PREEMPT:=none voluntary full}"
export CONFIG TIMEOUT="${TIMEOUT:-900}"
SUITE=faultable-tracepoints
selftest=$BUILD/selftest-$SUITE
[ "$CONFIG" != x86 ] || selftest=$BUILD/selftest-x86-$SUITE

vm_script <<'END'
kunit() {
	sed -n 's/^    //p' "/sys/kernel/debug/kunit/$1/results"
}
# The kernel that was asked for
model() {
	ok() {
		echo "ok 1 $1"
		echo 1..1
	}
	case $1 in
	rt) grep PREEMPT_RT /proc/version && ok "the kernel is PREEMPT_RT" ;;
	*) dmesg | grep "Dynamic Preempt: $1\$" && ok "the kernel is preempted so" ;;
	esac
}
[ -z "$(cat model)" ] || run model "$(cat model)"
run kunit tracepoint
run kunit tracepoint_syscalls
for test in $(cat tests); do
	run "faultable-tracepoints/$test"
done
END

# in_vm NAME [MODEL]: in that model of preemption
in_vm() {
	echo "${2-}" >"$tmp/files/model"
	vm "$1" MODE=none SMP=2 \
		CMDLINE="kunit.enable=1 kunit.filter_glob=tracepoint* $(echo "${2-}" | sed '/^rt$/d; s/..*/preempt=&/')"
	# The kernels for this are made with seccomp and 32-bit programs.
	[ -z "${2-}" ] || [ -n "$TESTS" ] || for what in seccomp 32-bit; do
		ok "$CONFIG: $what was tested" grep "^ok .*calls.sh.* $what" "$tmp/tap"
	done
}

# The call site says that a task may fault there, also without a probe: a kernel that checks
# that complains where a task may not.
is_reported() {
	printf '#!/bin/sh\ninsmod faultable-tracepoints/modules/faultable_atomic.ko\n' >"$tmp/script"
	exits 125 "$TOOLS/vm" MODE=none SMP=2 SCRIPT="$tmp/script" FILES="$tmp/files" CONSOLE="$tmp/console" &&
		grep "BUG: sleeping function called.*faultable_atomic" "$tmp/console"
}

SUITE=$SUITE "$TOOLS/selftest"
cp -R "$selftest" "$tmp/files"
# shellcheck disable=SC2086 # a list
[ -z "$TESTS" ] || printf '%s\n' $TESTS >"$tmp/files/tests"
case $CONFIG in
preempt)
	for model in $PREEMPT; do
		in_vm "$CONFIG $model" "$model"
	done
	;;
rt) in_vm rt rt ;;
x86)
	in_vm x86 full
	[ -n "$TESTS" ] || ok "x86: a kprobe was tested" grep "^ok .*waits.sh.* kprobe" "$tmp/tap"
	;;
*) in_vm "$CONFIG" ;;
esac
case $CONFIG in
debug | preempt | rt | x86) ok "$CONFIG: a call site in atomic context is reported" is_reported ;;
esac
plan
