# SPDX-License-Identifier: GPL-2.0-only
# Reads a trace with all events, and prints each line that is not where it
# belongs. On a CPU, from where the host is left to where it goes on:
#   hyp_enter hvc     ... one host_hcall
#   hyp_enter smc     ... one host_smc
#   hyp_enter abort   ... one host_mem_abort
# and in a hypercall that runs a guest, as often as it is entered:
#   guest_enter, hyp_exit guest, hyp_enter guest, guest_exit

function report(what) {
	print what ": " $0
}

# The line before, on the CPU; nothing is known of what came before the first one.
function after(event) {
	return !(cpu in before) || before[cpu] == event
}

# To ask for before[cpu] would make it known.
function comes_after(event) {
	return cpu in before && before[cpu] == event
}

# The words that name a vCPU and its VM
function name(  i, words) {
	for (i = 4; i <= NF; i++)
		if ($i ~ /^(vcpu|vm_pid|vm_fd)=/)
			words = words $i " "
	return words
}

function same_vcpu() {
	return !(cpu in entered) || entered[cpu] == name()
}

# Nothing is known of the next one, either.
/^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$/ {
	cpu = sprintf("[%03d]", substr($1, 5))
	delete before[cpu]
	delete entered[cpu]
	delete way[cpu]
	next
}

!/^\[[0-9]+\] +[0-9.]+: [a-z_]+ / {
	report("malformed")
	next
}

{
	cpu = $1
	event = $3 == "hyp_enter" || $3 == "hyp_exit" ? $3 " " $4 : $3
}

comes_after("guest_enter") && event != "hyp_exit reason=guest" { report("after guest_enter") }
comes_after("hyp_enter reason=guest") && event != "guest_exit" { report("no guest_exit") }
event == "hyp_exit reason=guest" && !after("guest_enter") { report("no guest_enter") }
event == "guest_exit" && !after("hyp_enter reason=guest") { report("guest_exit") }
event == "guest_exit" && !same_vcpu() { report("another vCPU") }
event == "guest_enter" { entered[cpu] = name() }

# What brought the CPU here: an exit of a guest, or the firmware's end, did not.
event ~ /^hyp_enter reason=(hvc|smc|abort|psci)$/ {
	way[cpu] = substr(event, 18)
	done[cpu] = 0
}

event ~ /^host_(hcall|smc|mem_abort)$/ && cpu in way {
	expected = way[cpu] == "hvc" ? "host_hcall" : way[cpu] == "smc" ? "host_smc" : \
		   way[cpu] == "abort" ? "host_mem_abort" : "none"
	if (event != expected || done[cpu]++)
		report("in " way[cpu])
}

# (An SMC that turns the CPU off has no end.)
event == "hyp_exit reason=host" && way[cpu] ~ /^(hvc|smc|abort)$/ && !done[cpu] {
	report("nothing in " way[cpu])
}

event == "hyp_exit reason=host" { delete way[cpu] }

{ before[cpu] = event }

END {
	for (cpu in before)
		exit
	print "no events"
}
