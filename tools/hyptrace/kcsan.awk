# SPDX-License-Identifier: GPL-2.0
# The console, without the headlines of those reports of KCSAN's that have none of our
# functions in them: races of the kernel's own, with nobody of ours near. What an interrupt
# does is not done by the function that it interrupted.
#
#   awk -v ours="FUNCTION..." -f kcsan.awk

BEGIN {
	n = split(ours, names, /[ \n]+/)
	for (i = 1; i <= n; i++)
		is_ours[names[i]]
}

{
	text = $0
	sub(/^\[ *[0-9]+\.[0-9]+\] /, "", text)
}

function show_report() {
	if (mine)
		print headline
	headline = ""
}

# Lines of others may be between those of a report: all but the first are shown.
text ~ /^BUG: KCSAN: / {
	if (headline)
		show_report()
	headline = $0
	mine = interrupted = 0
	next
}

# The next access begins
headline && text ~ / by (task [0-9]+|interrupt) on cpu / {
	interrupted = 0
}

headline && text ~ /^ *[A-Za-z0-9_.]+\+0x[0-9a-f]+\/0x[0-9a-f]+/ {
	name = text
	gsub(/^ *|[+.].*/, "", name)
	if (!interrupted && (name in is_ours || name ~ /^hyp_(trace|event|filter|clock)/))
		mine = 1
	if (name ~ /^el[01][ht]_(64|32)_(irq|fiq)$/)
		interrupted = 1
}

headline && text ~ /^=====/ {
	show_report()
}

{ print }

END {
	if (headline)
		show_report()
}
