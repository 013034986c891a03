#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kselftest in each form that KVM takes, and on one, two, four and six CPUs: the
# results of its tests as ours, and how long each took. CONFIG=debug boots the debug
# kernel, in fewer of these; CONFIG=16k and 64k those with larger pages; CONFIG=kcsan one
# that looks for data races, with the tests that do several things at once.
#
# FORM="mode cpu smp"	that one alone
# ALL=1			all of the kselftest in each
# KSELFTESTS=".."	these of its tests
. "$(dirname "$0")/ktap.sh"

: "${CONFIG:=default}" "${FORM:=}" "${ALL:=}" "${KSELFTESTS:=}"
export CONFIG TIMEOUT="${TIMEOUT:-1380}"

# A form is KVM's mode, the CPU, the number of CPUs. Two on a line run at the same time:
# they have one CPU each, or little to do.
forms() {
	case $CONFIG in
	16k)
		# With LPA2, pKVM's tables begin at a level 0 that QEMU 7.2 does not take.
		echo protected max,lpa2=off 2
		echo nvhe max 1
		;;
	64k)
		echo protected max 2
		echo nvhe cortex-a72 2
		;;
	kcsan)
		echo protected max 2
		;;
	debug)
		echo protected max 2
		echo nvhe cortex-a72 2
		echo none max 1
		;;
	*)
		echo protected max 2
		echo nvhe cortex-a72 2
		echo protected max 6
		echo protected cortex-a72 1 nvhe max 1
		echo protected cortex-a72 4
		echo nvhe cortex-a72 4
		echo vhe max 1 none max 1
		echo vhe max 2 vhe max 6
		;;
	esac
}

# What runs in the VM: the tests that the form names, each with its status. A
# guest is there all the time, since QEMU may go on with code that was patched
# meanwhile on another CPU, and with the first and last guest the scheduler's is:
# seen without tracing too, as a vCPU that comes back without kvm_sched_in(), and
# a warning of mark_page_dirty_in_slot().
vm_script <<'END'
. ./form
[ ! -e /dev/kvm ] || hyp-trace/guest --hold
for test in $tests; do
	run "hyp-trace/$test"
done
END

# tests_for MODE SMP: without a hypervisor at EL2 beside the host there is one thing to
# test; and in forms that others have with other CPUs, what these make a difference for.
# The debug kernel, which is many times slower, looks at the host's code, the same in both.
tests_for() {
	case ${ALL:+all},$CONFIG,$1,$2 in
	*,vhe,* | *,none,*) echo mode.sh ;;
	all,*) xargs <"$BUILD/selftest/tests" ;;
	,kcsan,*) echo clear.sh stats.sh mmap.sh ;;
	,debug,protected,*)
		echo mode.sh guest.sh events.sh buffer.sh clear.sh stats.sh reader.sh calls.sh \
			hostile.sh faults.sh hotplug.sh
		;;
	,debug,nvhe,*)
		echo mode.sh files.sh clock.sh set_event.sh write_event.sh sizes.sh trace.sh \
			wait.sh raw.sh mmap.sh refusals.sh catalogue.sh filter.sh printk.sh storms.sh \
			load.sh
		;;
	,default,*,4)
		echo mode.sh guest.sh clock.sh events.sh buffer.sh clear.sh reader.sh raw.sh \
			hostile.sh hotplug.sh storms.sh soak.sh
		;;
	*) xargs <"$BUILD/selftest/tests" ;;
	esac
}

# boot_form MODE CPU SMP: what it leaves goes to a directory.
boot_form() {
	files=$tmp/$1-$2-$3.files
	cp -R "$BUILD/selftest" "$files"
	# The soak in earnest is t/soak.t.
	echo "export KVM_MODE=$1 tests='${KSELFTESTS:-$(tests_for "$1" "$3")}' HYP_TRACE_SOAK=3" \
		"HYP_TRACE_SOAK_SWITCHED=/test/switched" >"$files/form"
	boot "$tmp/$1-$2-$3" "MODE=$1" "CPU=$2" "SMP=$3" FILES="$files"
}

# report_form MODE CPU SMP
report_form() {
	report "$1 $2, $3 CPU$([ "$3" = 1 ] || echo s)" "$tmp/$1-$2-$3"
}

"$TOOLS/selftest"
forms | if [ -n "$FORM" ]; then grep -wF "$FORM"; else cat; fi >"$tmp/forms" || {
	echo "Bail out! no such form: $FORM"
	exit 1
}
while read -r mode cpu smp mode2 cpu2 smp2; do
	[ -z "$mode2" ] || boot_form "$mode2" "$cpu2" "$smp2" &
	boot_form "$mode" "$cpu" "$smp"
	wait
	report_form "$mode" "$cpu" "$smp"
	[ -z "$mode2" ] || report_form "$mode2" "$cpu2" "$smp2"
done <"$tmp/forms"
plan
