#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Call chains of guests: the kselftest in each mode of KVM, and perf kvm with its reports.
# CONFIG=pmu boots the kernel that has a PMU, whose interrupts are pseudo-NMIs, too.
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
: "${FORMS:=protected,max protected,cortex-a72 nvhe,cortex-a72 vhe,max}"
event="cpu-clock"
# pKVM of 6.12 does not let the PMU count guests alone.
if [ "$CONFIG" = pmu ]; then
	FORMS="nvhe,cortex-a72 vhe,max"
	event=cycles
fi

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
read -r event seed </test/arguments
run "kvm-guest-callchains/chains" "$event"
run "kvm-guest-callchains/kinds" "$event"
run "kvm-guest-callchains/hostile" "$seed" 5 "$event"
[ ! -e perf ] || run /test/perf.sh "$event"
END2

lay_out() {
	rm -rf "$tmp/files"
	cp -R "$BUILD/selftest-$SUITE" "$tmp/files"
	cp "$BUILD/perf/perf" "$TOOLS/guest-callchains/perf.sh" "$tmp/files"
	echo "$event $SEED" >"$tmp/files/arguments"
}

# vm NAME [VARIABLE=value]...: what the tests print are results of this one.
vm() {
	form=$1
	shift
	"$TOOLS/vm" "$@" SCRIPT="$tmp/script" FILES="$tmp/files" TIMEOUT=600 \
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

ok "the kselftest is built" env SUITE=$SUITE "$TOOLS/selftest"
ok "perf is built" "$TOOLS/perf"
lay_out
echo "# seed $SEED"
for form in $FORMS; do
	mode=${form%%,*} cpu=${form#*,}
	vm "$mode $cpu" MODE="$mode" CPU="$cpu" SMP=2
done
if [ "$CONFIG" = pmu ]; then
	for form in $FORMS; do
		mode=${form%%,*} cpu=${form#*,}
		vm "$mode $cpu, pseudo-NMI" MODE="$mode" CPU="$cpu" SMP=2 \
			CMDLINE=irqchip.gicv3_pseudo_nmi=1
	done
fi
plan
