#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The trace of a guest's run has an event for each exit that KVM counted, in order.
# hyp_enter and hyp_exit alternate on each CPU, trace_pipe merges the CPUs by time, and
# per_cpu/cpuN/trace_pipe has the events of one CPU.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

# HVCs of each vCPU. Fewer for many: vCPUs of an emulator that has not so many
# CPUs itself wait for each other all the time.
HVC=500
[ "$CPUS" -le 4 ] || HVC=50

# Each vCPU has a CPU of its own, so the exits KVM counted for the vCPU are the
# events of the CPU: events of guests and of the hypercall that runs one.
compare_counts() {
	while read -r line; do
		cpu=$(echo "$line" | value cpu)
		exits=$(echo "$line" | value exits)
		for event in hyp_exit hyp_enter; do
			seen=$(count trace $event guest "$cpu")
			[ "$seen" -eq "$exits" ] ||
				echo "CPU $cpu: $seen $event for $exits exits of the guest"
		done
		[ "$(count trace hyp_enter hvc "$cpu")" -ge "$exits" ] ||
			echo "CPU $cpu: fewer hypercalls than runs of the guest"
	done <guests
}

# made: how many exits the payload made on purpose, by guest's lines.
made() {
	tr ' ' '\n' | awk -F = '/^(hvc|mmio|wfi)=/ { n += $2 } END { print n + 0 }'
}

# What the payload made on purpose, and nothing but interrupts and the faults of a
# guest's first accesses beside it; a vCPU may find all that others have touched.
compare_payload() {
	while read -r line; do
		[ "$(echo "$line" | value exits)" -ge "$(echo "$line" | made)" ] ||
			echo "fewer exits than it made: $line"
	done <guests
	[ "$(value exits <guests)" -gt "$(made <guests)" ] || echo "no fault"
	[ "$(value hvc <guests)" -eq $((CPUS * HVC)) ] || echo "not $((CPUS * HVC)) HVCs"
	[ "$(value wfi <guests)" -eq $((CPUS * 8)) ] || echo "not $((CPUS * 8)) WFIs"
	[ "$(value mmio <guests)" -ge $((CPUS * 100)) ] || echo "not $((CPUS * 100)) accesses"
}

run_guest() {
	guest --vcpus "$CPUS" --cpu 0 --hvc $HVC --mmio 100 --wfi 8 >guests
}

# What the pipes of the CPUs ought not to have.
strangers() {
	[ "$ran" = 0 ] || echo "no guest ran"
	for cpu in $(seq 0 $((CPUS - 1))); do
		fileop drain "$HYP/per_cpu/cpu$cpu/trace_pipe" >pipe
		grep -v "$(printf '^\[%03d\]' "$cpu")" pipe
		facts pipe
		exits=$(grep " cpu=$cpu " guests | value exits)
		[ "$(count pipe hyp_enter guest)" -eq "$exits" ] ||
			echo "CPU $cpu: not $exits exits of the guest"
	done
}

plan 12

record trace run_guest
is "the guest did what it was asked to" $? 0
none "the guest did as much as it was asked to" compare_payload
is "no event was lost" "$(lost trace)" 0
none "hyp_exit and hyp_enter for each exit of the guest" compare_counts
holds "there are host hypercalls" "$(count trace hyp_enter hvc)" -gt 0
holds "there are returns to the host" "$(count trace hyp_exit host)" -gt 0
none "each line is as documented" unsound malformed trace
none "hyp_enter and hyp_exit alternate on each CPU" unsound unpaired trace
none "EL2 is entered from where it was left to" unsound misled trace
none "times never go backwards on a CPU" unsound backwards trace
none "trace_pipe merges the CPUs by time" unsound unmerged trace

reset
echo 1 >"$HYP/tracing_on"
run_guest
ran=$?
echo 0 >"$HYP/tracing_on"
none "per_cpu/cpuN/trace_pipe has the events of CPU N alone" strangers
ktap_finished
