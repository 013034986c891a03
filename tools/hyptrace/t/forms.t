#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run the kselftest in one configuration of KVM and of the VM. The results of its tests become this
# test's, with the time that each took.
#
# FORM="protected max 2"	KVM's mode, the CPU, the number of CPUs
# CONFIG=default	or debug; 16k and 64k, with larger pages; kcsan, which looks for data races
# ALL=1			all of the kselftest, where this configuration or form has fewer
# KSELFTESTS=".."	these of its tests
. "$(dirname "$0")/ktap.sh"

: "${CONFIG:=default}" "${FORM:=protected max 2}" "${ALL:=}" "${KSELFTESTS:=}"
export CONFIG TIMEOUT="${TIMEOUT:-1380}"

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

# The soak in earnest is t/soak.t.
lay_out() {
	cp -R "$BUILD/selftest" "$tmp/files"
	echo "export KVM_MODE=$1 tests='${KSELFTESTS:-$(tests_for "$1" "$3")}' HYP_TRACE_SOAK=3" \
		"HYP_TRACE_SOAK_SWITCHED=/test/switched" >"$tmp/files/form"
}

# in_form MODE CPU SMP
in_form() {
	[ $# = 3 ] || die "FORM is a mode, a CPU and a number of CPUs, not: $FORM"
	lay_out "$@"
	vm "$1 $2, $3 CPU$([ "$3" = 1 ] || echo s)" "MODE=$1" "CPU=$2" "SMP=$3"
}

"$TOOLS/selftest"
# shellcheck disable=SC2086 # words
in_form $FORM
plan
