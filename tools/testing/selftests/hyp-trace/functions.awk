# SPDX-License-Identifier: GPL-2.0-only
# Reads available_filter_functions, then a trace in which all of these functions are traced, and
# prints each func_ret that does not name the function which was entered last on its CPU, and each
# func whose caller is not that function. Where the trace begins, functions have been entered
# already. handle_trap is entered when a stay at EL2 begins. If functions before it have not
# returned then, that is reported, unless `leaves` is set.

FNR == NR {
	known[$1]
	next
}

{
	cpu = substr($1, 2, 3)
	name = $4
}

$3 == "func" {
	caller = substr($5, 3)
	n = depth[cpu] + 0
	if (caller in known && n && open[cpu, n] != caller)
		print "in " open[cpu, n] ": " $0
	if (name == "handle_trap") {
		if (n && !leaves)
			print "has not returned from " open[cpu, n] ": " $0
		n = 0
	}
	depth[cpu] = ++n
	open[cpu, n] = name
}

$3 == "func_ret" {
	n = depth[cpu] + 0
	if (n && open[cpu, n] != name)
		print "in " open[cpu, n] ": " $0
	if (n)
		depth[cpu] = n - 1
}
