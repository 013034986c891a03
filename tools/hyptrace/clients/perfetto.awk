# SPDX-License-Identifier: GPL-2.0
# Reads a Perfetto recording, as text that protoc made of it by perfetto.proto,
# twice: given the file's name two times. Prints its events as trace_pipe would,
# CPU by CPU as far as they were recorded so, without what Perfetto does not keep;
# and what else is told, as comments.

# Times are in ns, more than some awks' numbers can hold.
function seconds(ns) {
	while (length(ns) < 10)
		ns = "0" ns
	return substr(ns, 1, length(ns) - 9) "." substr(ns, length(ns) - 8, 6)
}

function print_event() {
	if (kind in name_of)
		kind = name_of[kind]
	printf "[%03d] %s: %s%s\n", cpu, time, kind, fields
}

FNR == 1 {
	pass++
	bundle = depth = 0
}

{
	sub(/:$/, "", $1)
	gsub(/"/, "", $2)
}

$2 == "{" {
	path[++depth] = $1
	within = path[2]
	if (depth == 2)
		bundle++
	if (depth == 3 && $1 == "event")
		fields = kind = ""
	if (depth == 4 && path[3] == "event")
		kind = $1
	next
}

# What the first pass finds: the kinds' names, each once more in other bundles, and
# where events were lost.
pass == 1 {
	if ($1 == "id" && path[3] == "kind")
		id = $2
	else if ($1 == "name" && depth == 4)
		name_of[id] = $2
	else if ($1 == "group" && $2 != "hypervisor")
		name_of[id] = $2 "/" name_of[id]
	else if ($1 == "name" && depth == 5)
		field = $2
	else if ($1 == "number")
		field_of[id, $2] = field
	else if ($1 == "lost_events" && $2 == "true")
		lost[bundle]
	if ($1 == "}")
		depth--
	next
}

$1 == "}" {
	if (depth == 3 && path[3] == "event")
		print_event()
	depth--
	next
}

within == "ftrace_events" && depth == 2 && $1 == "cpu" {
	cpu = $2
	if (bundle in lost)
		print "CPU:" cpu " [LOST EVENTS]"
}

within == "ftrace_events" && depth == 2 && $1 == "ftrace_clock" {
	print "# clock " $2
}

depth == 3 && path[3] == "event" && $1 == "timestamp" {
	time = seconds($2)
}

depth == 4 && path[3] == "event" && ((kind, $1) in field_of) {
	fields = fields " " field_of[kind, $1] "=" $2
}

path[3] == "error" && $1 == "status" {
	print "# error " $2
}

within == "ftrace_stats" {
	if ($1 == "phase")
		phase = $2 == 1 ? "start" : "end"
	else if (depth == 2 && $1 !~ /^[0-9]/)
		print "# " $1 " " $2
	else if ($1 == "cpu")
		stats_cpu = $2
	else if (depth == 3 && $1 !~ /^[0-9]/)
		print "# " phase " " stats_cpu " " $1 " " $2
}

within == "trace_stats" && $1 !~ /^[0-9]/ && $2 != 0 {
	print "# traced " $1 " " $2
}
