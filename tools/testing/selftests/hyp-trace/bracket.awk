# SPDX-License-Identifier: GPL-2.0-only
# Reads the lines of bracket(s), then the hypervisor's trace of the same time,
# and prints each event `selftest` that is not there, is there twice or on another
# CPU, or whose time is not between the host's before and after it, and each event
# that is older than the one before it on its CPU. The clocks may differ by a
# microsecond; the trace rounds to another half.
# With `margins` set it prints instead how far, in microseconds, the events were
# from being too early and from being too late, at the least; and how many
# they were.

BEGIN {
	allowed = 1.5
	early = late = 1e9
}

function nanos(time,  part) {
	split(time, part, ".")
	return part[1] * 1000000 + number(part[2]) / 1000
}

function report(what) {
	if (!margins)
		print what
}

function min(a, b) {
	return a < b ? a : b
}

# The lines of bracket: id=, cpu=, from=, to=
FNR == NR {
	gsub(/[a-z]+=/, "")
	cpu[$1] = $2
	from[$1] = nanos($3)
	to[$1] = nanos($4)
	missing[$1]
	next
}

/: selftest id=/ {
	id = substr($4, 4)
	time = micros($2)
	if (!(id in missing)) {
		report((id in cpu ? "twice: " : "never written: ") $0)
		next
	}
	delete missing[id]
	events++

	if (number(substr($1, 2)) != cpu[id])
		report("not on CPU " cpu[id] ": " $0)
	if (time < from[id] - allowed || time > to[id] + allowed)
		report(sprintf("not between %.9f and %.9f: %s", from[id] / 1e6, to[id] / 1e6, $0))
	early = min(early, time - from[id])
	late = min(late, to[id] - time)
}

/^\[/ {
	time = micros($2)
	if (time < newest[$1])
		report("backwards: " $0)
	newest[$1] = time
}

/LOST/ { report("lost: " $0) }

END {
	for (id in missing)
		report("missing: " id)
	if (!events)
		report("no events")
	if (margins)
		printf "%d events, at least %.1f us after and %.1f us before the host's time\n",
		       events, early, late
}
