# SPDX-License-Identifier: GPL-2.0
# Prints `lines` lines of a trace around the time when a guest is entered on
# the CPU `cpu` for the `entry`th time: three before it, the others from it on.

{
	line[NR % lines] = $0
}

/hyp_exit reason=guest$/ && $1 == sprintf("[%03d]", cpu) && ++entries == entry {
	begun = NR
	for (n = NR - 3; n < NR; n++)
		if (n > 0)
			print line[n % lines]
}

begun && NR < begun + lines - 3 {
	print
}
