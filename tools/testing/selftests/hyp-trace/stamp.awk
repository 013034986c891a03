# SPDX-License-Identifier: GPL-2.0-only
# The numbers and times of a trace's lines, for the programs that read them:
# given to awk before each.

# Without the zeros in front: to some awks they mean octal.
function number(digits) {
	sub(/^0+/, "", digits)
	return digits + 0
}

function micros(stamp,  part) {
	split(stamp, part, ".")
	return part[1] * 1000000 + number(part[2])
}
