# SPDX-License-Identifier: GPL-2.0-only
# Reads a trace of numbered events, the text of trace or trace_pipe. On each CPU
# they count from `first`, or 1, and the CPU's number times 10^9 is added. Prints
# facts, one a line:
#   shown CPU NUMBER    so many events
#   lost CPU NUMBER     so many reported lost
#   malformed LINE      a line that is not as documented
#   backwards LINE      an event older than the one before it on its CPU
#   unmerged LINE       if not that, older than the one before it on any CPU
#   wrong LINE          not the event that comes next, by the number of lost events
#   uncounted LINE      events lost, and not how many

function report(what) {
	print what, NR ": " $0
}

# Begin with a CPU.
function meet(cpu) {
	if (!(cpu in coming))
		coming[cpu] = (first ? first : 1) + cpu * 1000000000
}

/^\[[0-9][0-9][0-9]+\] +[0-9]+\.[0-9][0-9][0-9][0-9][0-9][0-9]: selftest id=[0-9]+$/ {
	if (!($1 in cpus))
		meet(cpus[$1] = number(substr($1, 2)))
	cpu = cpus[$1]
	time = $2 + 0
	id = substr($4, 4) + 0

	if (time < newest_of_all)
		report(time < newest[cpu] ? "backwards" : "unmerged")
	newest[cpu] = newest_of_all = time

	if (id != coming[cpu] && !(cpu in unknown && id > coming[cpu]))
		report("wrong")
	if (cpu in unknown)
		delete unknown[cpu]
	coming[cpu] = id + 1
	shown[cpu]++
	next
}

/^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$/ {
	cpu = number(substr($1, 5))
	meet(cpu)
	coming[cpu] += $3
	lost[cpu] += $3
	next
}

/^CPU:[0-9]+ \[LOST EVENTS\]$/ {
	report("uncounted")
	unknown[number(substr($1, 5))]
	next
}

!/^#/ {
	report("malformed")
}

END {
	for (cpu in shown)
		print "shown", cpu, shown[cpu]
	for (cpu in lost)
		print "lost", cpu, lost[cpu]
}
