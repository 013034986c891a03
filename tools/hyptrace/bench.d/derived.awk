# SPDX-License-Identifier: GPL-2.0
# Lines of figures, and after them what follows from several: the longest hypercall; and what
# each of the three events costs that a hypercall passes, while they are off; and what tracing
# that was never used costs a PSCI call; and how much more an event of 8 CPUs costs in text
# than one of a single CPU.

{ print }

/^el2_hcall_insns[.]/ && $2 > longest { longest = $2 }

/^hcall_insns[.]/ { hcall[substr($1, 13)] = $2 }

/^psci_insns[.]/ { psci[substr($1, 12)] = $2 }

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
	if ("without" in psci)
		print "el2_psci_off_insns", psci["default"] - psci["without"], "insns"
}
