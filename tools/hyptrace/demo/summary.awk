# SPDX-License-Identifier: GPL-2.0
# Sums up the text of hypervisor/trace_pipe: events by kind and reason, the
# time spent at EL2, the longest stay, the events lost.
#
# A stay is from a hyp_enter to the next hyp_exit on the same CPU. One that lost
# events cut into is not known, and not counted; nor is one that was under way
# when the trace began.

# 1234567 -> 1,234,567
function grouped(n,  text) {
	n = sprintf("%d", n)
	while (length(n) > 3) {
		text = "," substr(n, length(n) - 2) text
		n = substr(n, 1, length(n) - 3)
	}
	return n text
}

function enter(cpu) {
	since[cpu] = time
	entered[cpu] = $0
}

function leave(cpu,  stay) {
	if (!(cpu in since)) {
		cut += cpu in seen
		return
	}
	stay = time - since[cpu]
	stays[cpu]++
	spent[cpu] += stay
	if (stay > longest[cpu])
		longest[cpu] = stay
	if (!all_stays++ || stay > longest_of_all) {
		longest_of_all = stay
		longest_lines = "  " entered[cpu] "\n  " $0
	}
	all_spent += stay
	delete since[cpu]
}

/^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$/ {
	cpu = number(substr($1, 5))
	lost += $3
	if (cpu in since)
		cut++
	delete since[cpu]
	seen[cpu]
	next
}

/^\[[0-9]+\] +[0-9]+\.[0-9]+: hyp_(enter|exit) reason=/ {
	cpu = number(substr($1, 2))
	if (cpu > last_cpu)
		last_cpu = cpu
	time = micros($2)
	if (!events++)
		first = time
	newest = time
	kind = $3 == "hyp_enter" ? "enter" : "exit"
	reason = substr($4, 8)
	count[kind, reason]++
	count[kind]++
	if (kind == "enter") {
		if (cpu in since)
			cut++
		enter(cpu)
	} else {
		leave(cpu)
	}
	seen[cpu]
	next
}

{
	other++
}

function count_of(kind, reason) {
	return (kind, reason) in count ? grouped(count[kind, reason]) : "-"
}

function print_events(  words, n, i) {
	printf "%-12s %12s %12s\n", "events", "hyp_enter", "hyp_exit"
	n = split("hvc smc psci abort sysreg guest host firmware", words, " ")
	for (i = 1; i <= n; i++)
		if (("enter", words[i]) in count || ("exit", words[i]) in count)
			printf "  %-10s %12s %12s\n", words[i],
			       count_of("enter", words[i]), count_of("exit", words[i])
	printf "  %-10s %12s %12s\n", "all", grouped(count["enter"]), grouped(count["exit"])
}

# Of so much time, in microseconds, on one CPU or on all.
function share(sum, span) {
	return span > 0 ? 100 * sum / span : 0
}

function print_time(name, n, sum, max, span) {
	printf "  %-10s %12s %9s us %9.1f us %9s us %8.1f %%\n", name, grouped(n), grouped(sum),
	       n ? sum / n : 0, grouped(max), share(sum, span)
}

function print_times(  cpu) {
	printf "%-12s %12s %12s %12s %12s %10s\n", "time at EL2", "stays", "total", "mean",
	       "longest", "of time"
	for (cpu = 0; cpu <= last_cpu; cpu++)
		print_time("CPU " cpu, stays[cpu], spent[cpu], longest[cpu], newest - first)
	print_time("all", all_stays, all_spent, longest_of_all, (newest - first) * (last_cpu + 1))
}

END {
	if (!events) {
		print "no events"
		exit 1
	}
	print_events()
	print ""
	print_times()
	if (all_stays)
		printf "\nlongest stay: %s us\n%s\n", grouped(longest_of_all), longest_lines
	printf "\nevents lost: %s\n", grouped(lost)
	if (cut)
		printf "hyp_enter or hyp_exit without the other: %s\n", grouped(cut)
	if (other)
		printf "other lines: %s\n", grouped(other)
}
