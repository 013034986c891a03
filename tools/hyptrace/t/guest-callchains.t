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
. "$(dirname "$0")/ktap.sh"

: "${CONFIG:=default}" "${SEED:=$$}" "${SAMPLES:=20000}" "${TESTS:=}"
assign "CONFIG FORMS SEED SAMPLES TESTS" "$@"
export CONFIG
SUITE=kvm-guest-callchains
event="cpu-clock"
arch=arm64 for=arm64 to=perf payload=payload.S start=0xffff000000000000
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
	tests_here="x86_chains perf"
	arch=x86_64 for=host to=perf-host payload=x86_payload.S start=0xffff800000000000
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

# The guest's kernel as a vmlinux, linked to the address at which spin has it, and without the
# labels in its functions
vmlinux() {
	cross=$(cross_for $arch)
	"${cross}gcc" -nostdlib -static -no-pie -o "$1" -Wl,--section-start=.guest=$start \
		-Wl,--defsym=_text=guest_begin,--defsym=_etext=guest_end,--defsym=_edata=guest_end \
		-Wl,--entry=guest_begin "$BUILD/tree/tools/testing/selftests/$SUITE/$payload" &&
		"${cross}objcopy" --rename-section .guest=.text --wildcard --strip-symbol='*_spin*' \
			--strip-symbol='*_ret' "$1"
}

lay_out() {
	rm -rf "$tmp/files"
	cp -R "$selftests" "$tmp/files"
	[ ! -e "$BUILD/$to/perf" ] ||
		cp "$BUILD/$to/perf" "$TOOLS/guest-callchains/perf.sh" "$TOOLS/t/in-vm.sh" "$tmp/files"
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
if [ "$CONFIG,$(uname -m)" = x86,aarch64 ]; then
	skip "perf on x86-64" "it is built there, and this is arm64"
	TESTS=$(echo "$TESTS" | sed 's/perf//')
else
	ok "perf is built" "$TOOLS/perf" FOR=$for
fi
lay_out
ok "the guest's vmlinux" vmlinux "$tmp/files/vmlinux"
echo "# seed $SEED"
for form in $FORMS; do
	mode=${form%%,*} cpu=${form#*,}
	run_in "$mode $cpu" "$TESTS" MODE="$mode" CPU="$cpu" SMP=2
	[ "$CONFIG $TESTS" != "default $tests_here" ] || run_in "$mode $cpu, counted" kinds \
		MODE="$mode" CPU="$cpu" SMP=2 QEMU_ARGS="$COUNTED"
	[ "$CONFIG" != pmu ] || run_in "$mode $cpu, pseudo-NMI" "$TESTS" MODE="$mode" CPU="$cpu" \
		SMP=2 CMDLINE=irqchip.gicv3_pseudo_nmi=1
done
# What `make run TOOL=guest-callchains` shows
[ "$TESTS" != "$tests_here" ] || case $CONFIG in
default | x86) ok "the boot of a Linux guest" "$TOOLS/clients/guest-callchains-demo" "$tmp/linux" ;;
esac
plan
