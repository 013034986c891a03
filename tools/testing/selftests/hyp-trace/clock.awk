# SPDX-License-Identifier: GPL-2.0-only
# Reads a trace of the host's kvm_entry and kvm_exit by its boot clock, then
# the hypervisor's trace of the same time, and prints each run of a guest whose
# four events on a CPU are not in this order, a microsecond for the rounding:
#   host kvm_entry, EL2 hyp_enter (hypercall), EL2 hyp_exit to the host, host kvm_exit

function add(kind, cpu, stamp,  n) {
	cpus[cpu]
	n = ++runs[kind, cpu]
	time[kind, cpu, n] = micros(stamp)
}

function in_order(cpu, n) {
	return time["entry", cpu, n] <= time["in", cpu, n] + 1 &&
	       time["in", cpu, n] <= time["out", cpu, n] &&
	       time["out", cpu, n] <= time["exit", cpu, n] + 1 &&
	       (n == 1 || time["exit", cpu, n - 1] <= time["in", cpu, n] + 1)
}

function check(cpu,  n, all) {
	all = runs["entry", cpu]
	if (runs["in", cpu] != all || runs["out", cpu] != all || runs["exit", cpu] != all)
		printf "CPU %d: %d kvm_entry, %d hypercalls, %d ended, %d kvm_exit\n", cpu,
		       all, runs["in", cpu], runs["out", cpu], runs["exit", cpu]
	for (n = 1; n <= all; n++)
		if (!in_order(cpu, n))
			printf "CPU %d: kvm_entry %.6f, EL2 from %.6f to %.6f, kvm_exit %.6f\n",
			       cpu, time["entry", cpu, n] / 1e6, time["in", cpu, n] / 1e6,
			       time["out", cpu, n] / 1e6, time["exit", cpu, n] / 1e6
	total += all
}

# The host's lines: task, [CPU], flags, time, event.
FNR == NR {
	if (match($0, /\[[0-9]+\] .*: kvm_(entry|exit):/)) {
		split(substr($0, RSTART, RLENGTH), word, " ")
		sub(/:$/, "", word[3])
		add(word[4] == "kvm_entry:" ? "entry" : "exit", number(substr(word[1], 2)), word[3])
	}
	next
}

# The hypercall that ran the guest: in, and out again.
/hyp_enter reason=[^g]/ { since[$1] = $2 }
/hyp_exit reason=guest/ { ran[$1] }
/hyp_exit reason=host/ && $1 in ran {
	add("in", number(substr($1, 2)), since[$1])
	add("out", number(substr($1, 2)), $2)
	delete ran[$1]
}

END {
	for (cpu in cpus)
		check(cpu)
	if (!total)
		print "no runs of a guest"
}
