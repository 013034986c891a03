#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Plain nVHE with kvm.enable_virt_at_load=0: EL2 is the hyp stub while there is no VM.
# Tracing keeps KVM's virtualization enabled for as long as the buffer is loaded.
#
# IMAGE=file	boots another kernel
. "$(dirname "$0")/script.sh"

STUB="kvm.enable_virt_at_load=0"
export MODE=nvhe CMDLINE="$STUB"

cat >>"$tmp/prelude" <<'END'
cd "$HYP"

# KVM has a callback for CPUs that come and go while its virtualization is enabled.
enabled() {
	grep -q 'kvm/cpu:online' /sys/devices/system/cpu/hotplug/states
}

disabled() {
	! enabled
}

loaded() {
	grep -q '(loaded)' buffer_size_kb
}

# An event comes from EL2.
writes() {
	echo "$1" >write_event
	grep -q "selftest id=$1\$" trace
}

# Tracing ends, and the buffer is given back.
unload() {
	echo 0 >tracing_on
	echo >trace
	! loaded
}

# A VM that stays: its process is the last one.
hold() {
	guest --hold
	until_true 10 enabled
	holder=$(pidof guest)
}

drop() {
	kill "$holder"
	until_true 10 gone "$holder"
}

gone() {
	[ ! -e "/proc/$1" ]
}

# CPUs go and come, where there are others.
hotplug() {
	[ ! -e /sys/devices/system/cpu/cpu1/online ] || {
		echo 0 >/sys/devices/system/cpu/cpu1/online
		echo 1 >/sys/devices/system/cpu/cpu1/online
	}
}
END

# Without a VM: before the first one, between two, and after the last one.
no_vm() {
	runs "$@" <<-'END'
		disabled
		hotplug
		for id in 1 2 3; do
			echo 1 >tracing_on
			enabled
			writes $id
			hotplug
			writes 1$id
			unload
			disabled
			# Without the buffer each of these enables it for itself
			echo 5 >write_event
			echo 'id == 7' >events/hypervisor/selftest/filter
			grep -x 'id == 7' events/hypervisor/selftest/filter
			echo 0 >events/hypervisor/selftest/filter
			disabled
			hotplug
			guest
			until_true 10 disabled
		done
	END
}

# A filter that was set before EL2 was there is used.
filtered() {
	runs "$@" <<-'END'
		echo 'id == 7' >events/hypervisor/selftest/filter
		disabled
		echo 1 >tracing_on
		writes 7
		if writes 8; then exit 1; fi
		unload
	END
}

# Tracing goes on when the first VM comes and when the last one goes, and goes off while
# there is one.
around_vm() {
	runs "$@" <<-'END'
		echo 1 >tracing_on
		hold
		writes 1
		guest
		grep -q 'hyp_exit reason=guest' trace
		drop
		enabled
		writes 2
		hotplug
		writes 3
		unload
		until_true 10 disabled

		hold
		echo 1 >tracing_on
		writes 4
		unload
		enabled
		guest
		echo 1 >tracing_on
		drop
		writes 5
		unload
		until_true 10 disabled
	END
}

# A file that uses the buffer keeps it.
reader() {
	runs "$@" <<-'END'
		exec 3<trace_pipe
		loaded
		enabled
		echo 1 >tracing_on
		echo 9 >write_event
		echo 0 >tracing_on
		fileop drain - <&3 >/tmp/pipe
		grep -q 'selftest id=9$' /tmp/pipe
		enabled
		exec 3<&-
		until_true 10 disabled
		! loaded
	END
}

from_boot() {
	runs CMDLINE="$STUB hyp_trace_event=selftest,hyp_exit" "$@" <<-'END'
		enabled
		loaded
		grep -x 1 tracing_on
		writes 1
		guest
		grep -q 'hyp_exit reason=guest' trace
		writes 2
		unload
		until_true 10 disabled
	END
}

# The machine sleeps, and is rebooted while everything is traced.
sleeps_and_reboots() {
	reboots SMP=2 <<-'END'
		echo 1 >tracing_on
		writes 1
		echo +1 >/sys/class/rtc/rtc0/wakealarm
		echo freeze >/sys/power/state
		writes 2
		echo "it reboots"
		reboot -f
	END
}

# Under pKVM the parameter makes no difference to EL2.
protected() {
	runs MODE=protected <<-'END'
		echo 1 >tracing_on
		disabled
		writes 1
		guest
		writes 2
		unload
	END
}

for cpu in cortex-a72 max; do
	for smp in 1 2; do
		with="CPU=$cpu SMP=$smp"
		# shellcheck disable=SC2086 # words
		ok "no VM, $cpu, $smp" no_vm $with
	done
	ok "around a VM, $cpu" around_vm "CPU=$cpu"
	ok "from boot, $cpu" from_boot "CPU=$cpu"
done
ok "around a VM, one CPU" around_vm SMP=1
ok "filters" filtered
ok "a reader" reader
ok "suspended and rebooted" sleeps_and_reboots
ok "protected" protected
plan
