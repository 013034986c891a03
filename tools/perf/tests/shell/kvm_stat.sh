#!/bin/sh
# perf kvm stat
# SPDX-License-Identifier: GPL-2.0
#
# Record a VM that leaves the guest a known number of times. It takes /dev/kvm, and
# arm64 or AMD's SVM.

data=$(mktemp -d /tmp/perf_kvm_stat.XXXXXX)
err=0

trap 'rm -rf "$data"' EXIT
trap 'exit 1' TERM INT

skip()
{
	echo "$1 [Skipped]"
	exit 2
}

# wait_for_round NUMBER: the VM has made it, within a minute.
wait_for_round()
{
	tries=0
	until grep -qx "round $1" "$data/out"; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		sleep 0.1
	done
}

start_vm()
{
	mkfifo "$data/in"
	perf test -w kvm_exits vcpus=2 hvc=100 sysreg=50 mmio=7 < "$data/in" > "$data/out" &
	exec 3> "$data/in"
	wait_for_round 0
}

# Only vCPU 0 returns to user space, 7 times; vCPU 1 does all else twice as often.
record()
{
	cat > "$data/round" <<-'SCRIPT'
		echo >&3
		until grep -qx "round 1" "$1"; do sleep 0.1; done
	SCRIPT
	perf kvm stat record -a -o "$data/perf.data" sh "$data/round" "$data/out" > "$data/log" 2>&1
}

# expect TEST SAMPLES OPTION...: the event $event has so many samples in the report.
expect()
{
	test=$1
	samples=$2
	shift 2
	perf kvm stat report -i "$data/perf.data" --stdio "$@" > "$data/report" 2>&1
	found=$(awk -v event="$event" '$1 == event { print $2 }' "$data/report")
	if [ "${found:-0}" = "$samples" ]; then
		echo "$test [Success]"
	else
		echo "$test: $event ${found:-0}, not $samples [Failed]"
		cat "$data/report"
		err=1
	fi
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

# What the exits of a hypercall, of an access and of the emulated instruction are called; the device
case $(uname -m) in
aarch64) hypercall=HVC64 access=DABT_LOW emulated=SYS64 write=0x10000000:W read=0x10000008:R ;;
x86_64)
	grep -qw svm /proc/cpuinfo || skip "perf kvm stat: the guest is for AMD's SVM"
	hypercall=hypercall access=npf emulated=cpuid write=0xd0000:W read=0xd0008:R
	;;
*) skip "perf kvm stat: no guest for this architecture" ;;
esac
[ -w /dev/kvm ] || skip "perf kvm stat: no /dev/kvm"
start_vm || skip "perf kvm stat: no VM"
record || skip "perf kvm stat: not allowed to record"

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
