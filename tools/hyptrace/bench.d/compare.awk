# SPDX-License-Identifier: GPL-2.0
# Two files of `name value unit`, the earlier first: each figure of the later with what it
# was, and a mark if it is worse, which is more, by more than 3 % and not by less than one.
# Fails if there is one, or no figure.

FNR == NR { was[$1] = $2; next }

{
	mark = ""
	if (!($1 in was))
		mark = "new"
	else if ($2 > was[$1] * 1.03 && $2 - was[$1] >= 1) {
		mark = "WORSE"
		worse++
	}
	figures++
	printf "%-44s %10s %-6s %10s %s\n", $1, $2, $3, ($1 in was) ? was[$1] : "-", mark
}

END { exit worse > 0 || !figures }
