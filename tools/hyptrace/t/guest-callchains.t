#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Call chains of guests: the kselftest in each mode of KVM, and perf kvm with its reports.
# CONFIG=pmu boots the kernel that has a PMU, whose interrupts are pseudo-NMIs, too; CONFIG=debug
# the one that looks for faults, CONFIG=kcsan the one that looks for data races, in one mode of
# KVM each; CONFIG=x86 one for x86-64, on QEMU's emulation of AMD's SVM.
#
# SAMPLES=n		of the test that counts what is lost
# FORMS="protected,max"	modes of KVM and CPUs
# SEED=n		of the hostile guests
# TESTS=".."		these of the tests alone
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"
# shellcheck source=tools/hyptrace/t/ktap.sh
. "$TOOLS/t/ktap.sh"

: "${CONFIG:=default}" "${SEED:=$$}" "${SAMPLES:=20000}" "${TESTS:=}"
assign "CONFIG FORMS SEED SAMPLES TESTS" "$@"
export CONFIG
SUITE=kvm-guest-callchains
event="cpu-clock"
tests_here="chains hostile hotplug losses bpf perf"
case $CONFIG in
pmu)
	# pKVM of 6.12 does not let the PMU count guests alone. Its cycles are no time.
	: "${FORMS:=nvhe,cortex-a72 vhe,max}"
	event=cycles
	tests_here="chains kinds hostile hotplug losses bpf perf"
	;;
debug)
	: "${FORMS:=protected,max}"
	tests_here="chains hostile hotplug losses bpf"
	;;
kcsan)
	: "${FORMS:=nvhe,cortex-a72}"
	tests_here="chains hostile hotplug losses bpf"
	;;
x86)
	: "${FORMS:=none,max,+svm,+npt}"
	tests_here=x86_chains
	;;
*) : "${FORMS:=protected,max protected,cortex-a72 nvhe,cortex-a72 vhe,max}" ;;
esac

: "${TESTS:=$tests_here}"

vm_script <<'END2'
echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
read -r event seed samples tests </test/arguments
for test in $tests; do
	case $test in
	hostile | hotplug) run "kvm-guest-callchains/$test" "$seed" 5 "$event" ;;
	losses) run "kvm-guest-callchains/$test" "$samples" "$event" ;;
	perf) run /test/perf.sh "$event" ;;
	*) run "kvm-guest-callchains/$test" "$event" ;;
	esac
done
END2

lay_out() {
	rm -rf "$tmp/files"
	cp -R "$selftests" "$tmp/files"
	cp "$BUILD/perf/perf" "$TOOLS/guest-callchains/perf.sh" "$tmp/files" || [ "$CONFIG" = x86 ]
}

# By instructions: how busy this machine is does not count.
COUNTED="-icount shift=3,sleep=off"

# run_in NAME TESTS [VARIABLE=value]...: those of the kselftest, in that VM
run_in() {
	name=$1
	echo "$event $SEED $SAMPLES $2" >"$tmp/files/arguments"
	shift 2
	vm "$name" "$@" TIMEOUT=$((900 + SAMPLES / 250))
}

selftests=$BUILD/selftest-$SUITE
[ "$CONFIG" != x86 ] || selftests=$BUILD/selftest-x86-$SUITE
ok "the kselftest is built" env SUITE=$SUITE "$TOOLS/selftest"
[ "$CONFIG" = x86 ] || ok "perf is built" "$TOOLS/perf"
lay_out
echo "# seed $SEED"
for form in $FORMS; do
	mode=${form%%,*} cpu=${form#*,}
	run_in "$mode $cpu" "$TESTS" MODE="$mode" CPU="$cpu" SMP=2
	[ "$CONFIG $TESTS" != "default $tests_here" ] || run_in "$mode $cpu, counted" kinds \
		MODE="$mode" CPU="$cpu" SMP=2 QEMU_ARGS="$COUNTED"
	[ "$CONFIG" != pmu ] || run_in "$mode $cpu, pseudo-NMI" "$TESTS" MODE="$mode" CPU="$cpu" \
		SMP=2 CMDLINE=irqchip.gicv3_pseudo_nmi=1
done
plan
