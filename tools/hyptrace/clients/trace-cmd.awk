# SPDX-License-Identifier: GPL-2.0
# Reads what `trace-cmd report` prints and prints the events of one buffer as the
# text that trace has: of the one whose name is `buffer`, or of the one without a
# name. With `host` these are the host's events, else the hypervisor's, and one
# that has flags is printed as it is, which nobody takes for an event.
#
# Where events were lost a line of its own says so; the event after it has no name
# of a buffer in front.

function name_of(line) {
	return match(line, /^[a-z]+: /) ? substr(line, 1, RLENGTH - 2) : ""
}

# The nanoseconds that it prints for some clocks as the seconds it prints for others.
function seconds(time,  micros) {
	if (time ~ /\./)
		return time
	micros = int((time + 500) / 1000)
	return sprintf("%d.%06d", int(micros / 1000000), micros % 1000000)
}

# TASK [CPU] FLAGS TIME: EVENT: FIELDS; an older trace-cmd has no flags, and from 100 s on
# no space there.
function print_event(  word, flags, time, text) {
	if (match($0, /\[[0-9]+\][0-9]/))
		$0 = substr($0, 1, RSTART + RLENGTH - 2) " " substr($0, RSTART + RLENGTH - 1)
	split(substr($0, match($0, /\[[0-9]+\]/)), word, " +")
	flags = word[2] ~ /:$/ ? "....." : word[2]
	time = word[2] ~ /:$/ ? word[2] : word[3]
	text = substr($0, index($0, " " time) + length(time) + 1)
	sub(/: +/, host ? ": " : " ", text)
	sub(/:$/, "", time)

	if (host)
		print $1, word[1], flags, seconds(time) ":" text
	else if ($1 ~ /.-[0-9]+$/ && flags == ".....")
		print word[1], seconds(time) ":" text
	else
		print
}

NR == 1 && /^cpus=[0-9]+$/ { next }

{
	name = after_loss ? lossy : name_of($0)
	after_loss = 0
	sub(/^[a-z]+: /, "")
}

/^CPU:[0-9]+ \[([0-9]+ )?EVENTS DROPPED\]$/ {
	after_loss = 1
	lossy = name
	sub(/EVENTS DROPPED/, "EVENTS")
	sub(/\[/, "[LOST ")
	if (name == buffer)
		print
	next
}

name == buffer {
	print_event()
}
