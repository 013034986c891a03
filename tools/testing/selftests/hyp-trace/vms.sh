#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Events of guests name the VM: two VMs of one process and one of another run at once, and
# each has as many events as KVM counted exits. The name is that of the VM's directory in
# debugfs, its pid the VMM's. A stage-2 fault has the guest's physical address, also that of a
# write to memory that can be read alone.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

DEBUG=/sys/kernel/debug/kvm

# Two VMs of one process and one of another, each with two vCPUs, at the same time
three_vms() {
	guest --vms 2 --vcpus 2 --hvc 400 >pair &
	pair=$!
	guest --vcpus 2 --hvc 400 >single
	wait "$pair"
	cat pair single >guests
}

# guests_counts: the vCPUs, with the exits that KVM counted.
guests_counts() {
	awk '{
		for (i = 1; i <= NF; i++) {
			split($i, word, "=")
			value[word[1]] = word[2]
		}
		print value["exits"], "vcpu=" value["vcpu"], "vm_pid=" value["vm_pid"],
			"vm_fd=" value["vm_fd"]
	}' guests | sort
}

# counts EVENT: the same of the trace.
counts() {
	sed -n "s/.* $1 \(vcpu=[0-9]*\) .*\(vm_pid=[0-9]* vm_fd=[0-9]*\).*/\1 \2/p" trace |
		sort | uniq -c | awk '{ $1 = $1; print }' | sort
}

test_names() {
	reset_to 4096
	only guest_enter guest_exit
	record trace three_vms
	is "no event was lost" "$(lost trace)" 0
	is "three VMs, with two vCPUs each" \
		"$(counts guest_exit | sed 's/.* vm_pid/vm_pid/' | sort -u | wc -l)" 3
	for event in guest_enter guest_exit; do
		guests_counts >expected
		counts "$event" >found
		none "$event: as many of each vCPU as it exits" diff expected found
	done
}

# Only the events of one VM of the two in a process
test_filter() {
	reset
	only guest_exit
	guest --vms 2 --wfi 100000 >running &
	pid=$!
	echo "vm_pid == $pid" >"$EVENTS/guest_exit/filter"
	echo 1 >"$HYP/tracing_on"
	until_true 2 two_names
	vm=$(found_names | head -n 1)
	fd=${vm#* vm_fd=}
	is "the pid is the VMM's" "$(found_names | sed 's/.*vm_pid=\([0-9]*\).*/\1/' | sort -u)" \
		"$pid"
	holds "the file descriptor is the VM's" \
		"$(readlink "/proc/$pid/fd/$fd")" = anon_inode:kvm-vm
	if [ -d "$DEBUG" ]; then
		holds "the VM's directory in debugfs has the name" -d "$DEBUG/$pid-$fd"
	else
		ktap_test_skip "the VM's directory in debugfs has the name: no debugfs"
	fi
	echo "vm_pid == $pid && vm_fd == $fd" >"$EVENTS/guest_exit/filter"
	echo >"$HYP/trace"
	until_true 2 some_names
	kill "$pid"
	wait "$pid" 2>/dev/null
	echo 0 >"$HYP/tracing_on"
	is "a filter selects one VM" "$(found_names)" "$vm"
	echo 0 >"$EVENTS/guest_exit/filter"
}

# The names in the trace so far, without the vCPUs
found_names() {
	sed -n 's/.* \(vm_pid=[0-9]* vm_fd=[0-9]*\).*/\1/p' "$HYP/trace" | sort -u
}

two_names() {
	[ "$(found_names | wc -l)" = 2 ]
}

some_names() {
	[ "$(found_names | wc -l)" -gt 0 ]
}

# aborts PATTERN: exits with such a syndrome and address.
aborts() {
	grep -cE "guest_exit .* $1" trace
}

# A write to the device, and to memory that can only be read
test_ipa() {
	reset
	only guest_exit
	record trace guest --mmio 20 >guests
	is "an access to a device has its address" "$(aborts 'ec=DABT_LOW .* ipa=0x10000000 ')" 20
	is "a read has its address, too" "$(aborts 'ec=DABT_LOW .* ipa=0x10000008 ')" \
		$(($(value mmio <guests) - 20 - 1))
	holds "the first instruction has its address" \
		"$(aborts 'ec=IABT_LOW .* ipa=0x40000000 ')" -gt 0
	none "no other exit has an address" \
		grep -vE ' ec=[DI]ABT_LOW .* ipa=0x[1-9a-f]| ec=[^DI].* ipa=0x0 ' trace
	none "no SError is pending" grep -v ' serror=0$' trace

	reset
	only guest_exit
	record trace guest --rom --wfi 0 --mmio 3 >guests
	is "a permission fault has its address" \
		"$(aborts 'esr=0x[0-9a-f]*4[c-f] ec=DABT_LOW .* ipa=0x10000010 ')" 1
}

plan $((4 + 4 + 6))
test_names
test_filter
test_ipa
ktap_finished
