# SPDX-License-Identifier: GPL-2.0
# Reads what perfetto.awk made of a recording, and prints facts, one a line:
#   events CPU NUMBER       so many of the hypervisor
#   marks CPU NUMBER        so often were events told lost before
#   NAME CPU NUMBER         what the kernel counted at the end
#   wrong LINE              what there ought not to be
# In an instance without sched_switch Perfetto can't set up a way of its own to
# keep that, and says so.

function tell() {
	print "wrong", NR ": " $0
}

/^CPU:[0-9]+ \[LOST EVENTS\]$/ {
	cpu = substr($1, 5) + 0
	marks[cpu]++
	delete last[cpu]
	delete alone[cpu]
	next
}

$1 == "#" {
	if ($2 == "end")
		print $4, $3, $5
	else if ($2 != "start" && $0 != "# failed_event perfetto/compact_sched")
		tell()
	next
}

{
	split($1, part, /[][]/)
	cpu = part[2]
	sub(/^0+/, "", cpu)
	cpu += 0
}

# They take turns. At its end a session disables them one after the other: the one that
# is left may come again and again, but then not the other one.
$3 ~ /^hyp_(enter|exit)$/ {
	if ($3 == last[cpu]) {
		if (!(cpu in alone))
			alone[cpu] = NR ": " $0
	} else if (cpu in alone) {
		print "wrong", alone[cpu]
		delete alone[cpu]
	}
	last[cpu] = $3
}

# The host's are in a buffer of their own: those of KVM, with a group, and unknown.
$3 !~ /^(kvm_[a-z_]*|.*\/.*|[0-9]+)$/ {
	time = $2 + 0
	if (time < newest[cpu])
		tell()
	newest[cpu] = time
	events[cpu]++
}

END {
	for (cpu in events)
		print "events", cpu, events[cpu]
	for (cpu in marks)
		print "marks", cpu, marks[cpu]
}
