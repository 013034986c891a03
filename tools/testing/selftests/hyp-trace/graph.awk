# SPDX-License-Identifier: GPL-2.0-only
# Reads a trace of function_graph, in which all functions are traced, and prints each line that does
# not nest: a function that is not as deep as its caller says, or a return of another function than
# was entered last on its CPU. Where the trace begins, functions have been entered already. If
# functions have not returned when the next stay at EL2 begins, that is reported, unless `leaves` is
# set.

!/\|  / || /\|  *\/\*/ {
	next
}

{
	cpu = $1
	text = substr($0, index($0, "|  ") + 3)
	match(text, /^ */)
	deep = RLENGTH / 2
	text = substr(text, RLENGTH + 1)
	if (!(cpu in depth))
		depth[cpu] = deep + (text ~ /^}/)
	n = depth[cpu]
}

text ~ /^}/ {
	name = substr(text, 6)
	sub(/ .*/, "", name)
	if (deep != n - 1 || ((cpu, deep) in open && open[cpu, deep] != name))
		print n " deep in " open[cpu, n - 1] ": " $0
	depth[cpu] = deep
	next
}

{
	if (!deep && n && !leaves)
		print "has not returned from " open[cpu, n - 1] ": " $0
	if (deep && deep != n)
		print n " deep in " open[cpu, n - 1] ": " $0
	depth[cpu] = deep
}

text ~ /\{$/ {
	name = text
	sub(/\(.*/, "", name)
	open[cpu, deep] = name
	depth[cpu] = deep + 1
}
