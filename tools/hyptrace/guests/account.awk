# SPDX-License-Identifier: GPL-2.0
# Reads the counters of each CPU, NAME.stats, when a trace has been read to its end, and
# then the trace, and prints what does not add up: the events shown and told lost to the
# counters, and the runs of a guest to the `runs` that KVM made, as the host's own events
# have it.

function compare(cpu, what, found, expected) {
	if (found + 0 != expected + 0)
		print "CPU " cpu ": " what " " found + 0 ", not " expected + 0
}

FILENAME ~ /\.stats$/ {
	cpus[cpu = $1]
	sub(/^[0-9]+ /, "")
	split($0, part, /: */)
	counter[cpu, part[1]] = part[2]
	next
}

/^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$/ {
	lost[substr($1, 5) + 0] += $3
	all_lost += $3
	next
}

/^\[[0-9]+\] / {
	shown[number(substr($1, 2))]++
	all++
	if ($3 == "host_hcall" && $5 == "name=__kvm_vcpu_run")
		ran++
	next
}

{ print "malformed: " $0 }

END {
	for (cpu in cpus) {
		compare(cpu, "shown", shown[cpu], counter[cpu, "read events"])
		compare(cpu, "told lost", lost[cpu], counter[cpu, "overrun"])
		compare(cpu, "left", counter[cpu, "entries"], 0)
		compare(cpu, "dropped", counter[cpu, "dropped events"], 0)
		compare(cpu, "commit overrun", counter[cpu, "commit overrun"], 0)
	}
	if (!all)
		print "no events"
	if (runs == "" || ran > runs || ran + all_lost < runs)
		print ran + 0 " runs of guests, and " all_lost + 0 " events lost; KVM made " runs
}
