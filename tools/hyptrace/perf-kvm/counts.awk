# SPDX-License-Identifier: GPL-2.0
# Compare the events of each vCPU with what KVM has counted. First file: what the guests
# said; second: the facts of a report. What differs is printed; so is a vCPU that the
# guests do not have.
#
# -v arch=x86_64             what the guest is of, if not of arm64
# -v kind=vmexit|trap|mmio   what the report is of
# -v atmost=1                events were lost: no count may be larger, vCPUs may be unknown

# What perf calls the exits, and where the guest's device is
BEGIN {
	hypercall = "HVC64"
	sysreg = "SYS64"
	idle = "WFx"
	access = "DABT_LOW"
	device = "0x10000000"
	device_read = "0x10000008"
	if (arch == "x86_64") {
		hypercall = "hypercall"
		sysreg = "cpuid"
		idle = "hlt"
		access = "npf"
		device = "0xd0000"
		device_read = "0xd0008"
	}
}

function field(name, i) {
	for (i = 1; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
}

function want(event, number) {
	wanted[vcpu, event] = number
	if (number > 0)
		events[vcpu, event] = vcpu " " event
}

function compare(what, found, expected) {
	if (found + 0 == expected + 0 || (atmost && found + 0 < expected + 0))
		return
	print what ": " found + 0 ", KVM has counted " expected + 0
}

NR == FNR && /^vm=/ {
	vcpu = field("vm") "/" field("vcpu")
	vcpus[vcpu] = 1
	if (kind == "mmio") {
		want(device ":W", int((field("mmio") + 1) / 2))
		want(device_read ":R", int(field("mmio") / 2))
		exits[vcpu] = field("mmio")
		next
	}
	want(hypercall, field("hvc"))
	want(sysreg, field("sysreg"))
	want(idle, field("wfi"))
	want(access, field("mmio"))
	exits[vcpu] = field("exits")
	if (kind == "trap")
		exits[vcpu] = field("hvc") + field("sysreg") + field("wfi") + field("mmio")
	next
}

NR == FNR { next }

$2 == "=" { next }

{
	# x86 has the vCPU in kvm_entry, but not which VM of the process it is of.
	if (atmost && ($1 ~ /\/unknown$/ || arch == "x86_64" && $1 !~ /-/))
		next
	if (!($1 in vcpus) && ($3 + $4)) {
		print $1 ": no vCPU of a guest, but " $3 " " $2
		next
	}
	found[$1, $2] = $3 + $4
	all[$1] += $3 + $4
	if (($1, $2) in wanted && !($1 SUBSEP $2 in events))
		events[$1, $2] = $1 " " $2
}

END {
	for (event in events)
		compare(events[event], found[event], wanted[event])
	for (vcpu in vcpus) {
		number++
		compare(vcpu " exits", all[vcpu], exits[vcpu])
	}
	if (!number)
		print "no guest has said anything"
}
