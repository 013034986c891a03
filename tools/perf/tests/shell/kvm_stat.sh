#!/bin/sh
# perf kvm stat
# SPDX-License-Identifier: GPL-2.0
#
# Record a VM that leaves the guest a known number of times. It takes /dev/kvm, and
# arm64 or AMD's SVM.

# What lib/kvm_vm.sh has
# shellcheck disable=SC2154
# shellcheck source-path=SCRIPTDIR source=lib/kvm_vm.sh
. "$(dirname "$0")"/lib/kvm_vm.sh

# expect TEST SAMPLES OPTION...: the event $event has so many samples in the report.
expect()
{
	test=$1
	samples=$2
	shift 2
	perf kvm stat report -i "$data/perf.data" --stdio "$@" > "$data/report" 2>&1
	found=$(awk -v event="$event" '$1 == event { print $2 }' "$data/report")
	expect_number "$test" "$event" "${found:-0}" "$samples"
}

# The threads that ran each vCPU when the recording began, as KVM's debugfs has them
expect_records()
{
	perf report -D -i "$data/perf.data" > "$data/dump" 2>&1
	found=$(grep -c 'EVENT_TYPE VM [0-9]*-[0-9]*, VCPU [01]: thread [0-9]*$' "$data/dump")
	if [ "$found" = 2 ]; then
		echo "records of vCPUs [Success]"
	else
		echo "records of vCPUs: $found, not 2 [Failed]"
		err=1
	fi
}

record_vm delay=0

event=$hypercall
expect "exits of all vCPUs" 300
event=$access
expect "accesses to a device are exits" 7
event=$write
expect "writes to a device" 4 --event=mmio
event=$read
expect "reads from a device" 3 --event=mmio
if [ -e /sys/kernel/tracing/events/kvm/kvm_vcpu_load ]; then
	event=$emulated
	expect "exits of vCPU 0" 50 --vcpu 0
	expect "exits of vCPU 1" 100 --vcpu 1
	[ "$emulated" != SYS64 ] || expect "traps of vCPU 1" 100 --vcpu 1 --event=trap
fi
if cat /sys/kernel/debug/kvm/*/vcpu1/pid > /dev/null 2>&1; then
	expect_records
fi
if grep -qi unknown "$data/report"; then
	echo "a vCPU is unknown [Failed]"
	err=1
fi

exit $err
