# SPDX-License-Identifier: GPL-2.0-only
# Reads the 32-bit words of a ring's pages, `od -An -v -tu4`, of `page` bytes each,
# and prints the words of each record of the event `id`, without the ring's own.
# (Little-endian, as the machines are where this runs.)

function record(first, last,  i, line) {
	if (word[first] % 65536 != id)
		return
	for (i = first; i < last; i++)
		line = line word[i] " "
	print line
}

# A page: the time in two words, the commit word in two, and the events.
function read_page(  at, end, type) {
	end = 4 + int(word[2] % 134217728 / 4)
	for (at = 4; at < end;) {
		type = word[at] % 32
		if (type == 30) {
			at += 2
		} else if (type) {
			record(at + 1, at + 1 + type)
			at += 1 + type
		} else {
			record(at + 2, at + 1 + word[at + 1] / 4)
			at += 1 + word[at + 1] / 4
		}
	}
}

{
	for (i = 1; i <= NF; i++) {
		word[nr++] = $i
		if (nr == page / 4) {
			read_page()
			nr = 0
		}
	}
}
