#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Call chains of guests: the kselftest in each mode of KVM, and perf kvm with its reports.
# CONFIG=pmu boots the kernel that has a PMU, whose interrupts are pseudo-NMIs, too; CONFIG=debug
# the one that looks for faults; CONFIG=x86 one for x86-64, on QEMU's emulation of AMD's SVM.
#
# FORMS="protected,max"	modes of KVM and CPUs
# SEED=n		of the hostile guests
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"

: "${CONFIG:=default}" "${SEED:=$$}"
assign "CONFIG FORMS SEED" "$@"
export CONFIG
SUITE=kvm-guest-callchains
event="cpu-clock"
tests_here="chains hostile bpf perf"
case $CONFIG in
pmu)
	# pKVM of 6.12 does not let the PMU count guests alone. Its cycles are no time.
	: "${FORMS:=nvhe,cortex-a72 vhe,max}"
	event=cycles
	tests_here="chains kinds hostile bpf perf"
	;;
debug)
	: "${FORMS:=protected,max nvhe,cortex-a72}"
	tests_here="chains hostile bpf"
	;;
x86)
	: "${FORMS:=none,max,+svm,+npt}"
	tests_here=x86_chains
	;;
*) : "${FORMS:=protected,max protected,cortex-a72 nvhe,cortex-a72 vhe,max}" ;;
esac

# What runs in the VM
cat >"$tmp/script" <<'END2'
#!/bin/sh
run() {
	echo "# test $1"
	"$@" </dev/null
	echo "# status $?"
}
echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
read -r event seed tests </test/arguments
for test in $tests; do
	case $test in
	hostile) run "kvm-guest-callchains/hostile" "$seed" 5 "$event" ;;
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

# vm NAME TESTS [VARIABLE=value]...: what the tests print are results of this one.
vm() {
	form=$1
	echo "$event $SEED $2" >"$tmp/files/arguments"
	shift 2
	"$TOOLS/vm" "$@" SCRIPT="$tmp/script" FILES="$tmp/files" TIMEOUT=900 \
		>"$tmp/ktap" 2>"$tmp/vm.err" && rc=0 || rc=$?
	grep -E '^# ([0-9]+ (samples|VMs)|the guest.s share)' "$tmp/ktap" || :
	awk -v form="$form" -v first="$((tests + 1))" -f "$TOOLS/t/ktap.awk" "$tmp/ktap" >"$tmp/tap" ||
		failures=1
	cat "$tmp/tap"
	tests=$((tests + $(grep -cE '^(not )?ok ' "$tmp/tap")))
	ok "$form: the VM ends well" ended
}

ended() {
	cat "$tmp/vm.err"
	[ "$rc" = 0 ]
}

selftests=$BUILD/selftest-$SUITE
[ "$CONFIG" != x86 ] || selftests=$BUILD/selftest-x86-$SUITE
ok "the kselftest is built" env SUITE=$SUITE "$TOOLS/selftest"
[ "$CONFIG" = x86 ] || ok "perf is built" "$TOOLS/perf"
lay_out
echo "# seed $SEED"
for form in $FORMS; do
	mode=${form%%,*} cpu=${form#*,}
	vm "$mode $cpu" "$tests_here" MODE="$mode" CPU="$cpu" SMP=2
	[ "$CONFIG" != default ] || vm "$mode $cpu, counted" kinds MODE="$mode" CPU="$cpu" SMP=2 \
		QEMU_ARGS="$COUNTED"
	[ "$CONFIG" != pmu ] || vm "$mode $cpu, pseudo-NMI" "$tests_here" MODE="$mode" CPU="$cpu" \
		SMP=2 CMDLINE=irqchip.gicv3_pseudo_nmi=1
done
plan
