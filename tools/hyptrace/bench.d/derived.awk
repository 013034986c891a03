# SPDX-License-Identifier: GPL-2.0
# Lines of figures, and after them what follows from several: the longest hypercall; and what
# each of the three events costs that a hypercall passes, while they are off; and what tracing
# that was never used costs a PSCI call; and how much more an event of 8 CPUs costs in text
# than one of a single CPU; and what a system call costs more than without faultable tracepoints,
# and what strings cost one of a task that has no events.

{ print }

/^el2_hcall_insns[.]/ && $2 > longest { longest = $2 }

/^hcall_insns[.]/ { hcall[substr($1, 13)] = $2 }

/^psci_insns[.]/ { psci[substr($1, 12)] = $2 }

# syscall_insns.CALL.WHAT.KERNEL
/^syscall_insns[.]/ {
	split($1, part, ".")
	syscall[part[4], part[2] "." part[3]] = $2
	if (part[4] == "default")
		call[++calls] = part[2] "." part[3]
}

/^read_(text|trace)_insns_per_event[.][18]-cpus/ {
	split($1, part, /_|[.]/)
	text[part[2], part[6]] = $2
}

# more(FILE): in percent
function more(file) {
	if ((file, "8-cpus") in text && (file, "1-cpus") in text)
		print "read_" file "_merge", 100 * (text[file, "8-cpus"] / text[file, "1-cpus"] - 1),
			"percent"
}

END {
	more("text")
	more("trace")
	if (longest)
		print "el2_hcall_max_insns", longest, "insns"
	if ("without" in hcall)
		print "el2_event_off_insns.measured", (hcall["default"] - hcall["without"]) / 3, "insns"
	for (i = 1; i <= calls; i++) {
		was = call[i]
		# without strings, against the event that had none
		if (sub(/_no_strings$/, "", was))
			print "syscall_strings_insns." was, \
			      syscall["default", was] - syscall["default", call[i]], "insns"
		else
			sub(/no_strings$/, "event", was)
		if (("plain", was) in syscall)
			print "syscall_more_insns." call[i], \
			      syscall["default", call[i]] - syscall["plain", was], "insns"
	}
	if ("without" in psci)
		print "el2_psci_off_insns", psci["default"] - psci["without"], "insns"
}
