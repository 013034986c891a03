# SPDX-License-Identifier: GPL-2.0
# Lines `name value unit`, several of a name: one of each, with the median and, unless they
# are all the same, the spread, from the lowest to the highest in percent of the median.

NF == 3 && $2 ~ /^-?[0-9.]+(e-?[0-9]+)?$/ {
	if (!($1 in nr))
		order[++names] = $1
	unit[$1] = $3
	value[$1, ++nr[$1]] = $2 + 0
}

function sort(name,   i, j, v) {
	for (i = 2; i <= nr[name]; i++) {
		v = value[name, i]
		for (j = i - 1; j && value[name, j] > v; j--)
			value[name, j + 1] = value[name, j]
		value[name, j + 1] = v
	}
}

END {
	for (k = 1; k <= names; k++) {
		name = order[k]
		sort(name)
		median = value[name, int((nr[name] + 1) / 2)]
		spread = value[name, nr[name]] - value[name, 1]
		line = name " " median " " unit[name]
		if (spread && median)
			line = line sprintf(" +-%.1f%%", 50 * spread / (median < 0 ? -median : median))
		print line
	}
	exit !names
}
