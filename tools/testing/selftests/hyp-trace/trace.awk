# SPDX-License-Identifier: GPL-2.0-only
# Reads the text of hypervisor/trace_pipe and prints facts, one a line:
#   count CPU EVENT REASON NUMBER
#   lost CPU NUMBER
#   malformed LINE      a line that is not as documented
#   backwards LINE      an event older than the one before it on its CPU
#   unmerged LINE       an event older than the one before it on any CPU
#   unpaired LINE       hyp_enter and hyp_exit do not take turns on this CPU
#   misled LINE         EL2 was left one way and entered another
# Whether the EL2 was entered before the first hyp_enter of a CPU can't be
# known. After lost events, whether it is the turn of hyp_enter or of hyp_exit
# follows from their number. Functions of EL2 are among the events if `functions` is set.

function report(what) {
	print what, NR ": " $0
}

# How EL2 may be entered after it was left, by the two reasons. Firmware that
# switches a CPU off returns by PSCI, on another day.
function follows(left, entered) {
	if (left == "guest")
		return entered == "guest"
	if (left == "firmware")
		return entered == "firmware" || entered == "psci"
	return entered != "guest" && entered != "firmware"
}

function turn(event, reason) {
	if (!(cpu in last)) {
		if (event == "hyp_exit" && first[cpu]++)
			report("unpaired")
		if (event == "hyp_exit")
			return
	} else {
		if ((event == last[cpu]) != gap[cpu] % 2)
			report("unpaired")
		if (event == "hyp_enter" && !gap[cpu] && !follows(why[cpu], reason))
			report("misled")
	}
	last[cpu] = event
	why[cpu] = reason
	gap[cpu] = 0
}

/^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$/ {
	cpu = number(substr($1, 5))
	lost[cpu] += $3
	gap[cpu] += $3
	next
}

functions && /^\[[0-9]+\] +[0-9]+\.[0-9]+: (func [a-z0-9_.]+ <-[a-z0-9_.]+|func_ret [a-z0-9_.]+)$/ {
	next
}

!/^\[[0-9][0-9][0-9]+\] +[0-9]+\.[0-9][0-9][0-9][0-9][0-9][0-9]: hyp_(enter|exit) reason=[a-z]+ vcpu=(-1|[0-9]+)$/ ||
($4 == "reason=guest") == ($5 == "vcpu=-1") {
	report("malformed")
	next
}

{
	cpu = number(substr($1, 2))
	time = $2 + 0
	event = $3
	reason = substr($4, 8)

	if (time < newest[cpu])
		report("backwards")
	if (time < newest_of_all)
		report("unmerged")
	newest[cpu] = newest_of_all = time

	turn(event, reason)
	count[cpu " " event " " reason]++
}

END {
	for (key in count)
		print "count", key, count[key]
	for (cpu in lost)
		print "lost", cpu, lost[cpu]
}
