# SPDX-License-Identifier: GPL-2.0
# A file of `name bound`, and one of `name value unit`: what is over its bound, or missing.

FNR == NR { if (!/^#/ && NF) bound[$1] = $2; next }

{ seen[$1] = 1 }

$1 in bound && $2 + 0 > bound[$1] + 0 {
	print $1 ": " $2 " " $3 ", the bound is " bound[$1]
	over++
}

END {
	for (name in bound) {
		bounds++
		if (!(name in seen)) {
			print name ": not measured"
			over++
		}
	}
	if (!bounds)
		print "no bounds"
	exit over > 0 || !bounds
}
