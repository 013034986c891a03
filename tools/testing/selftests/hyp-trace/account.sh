# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What EL2 has counted, by its reason. Sourced after tracing.sh.

TOTAL=$HYP/accounting_total

# counted KEY FILE REASON: the sum of KEY=N in the lines of reasons that match
counted() {
	awk -v key="$1" -v reason="^($3)\$" '
		$1 !~ reason { next }
		{
			for (i = 2; i <= NF; i++)
				if (index($i, key "=") == 1)
					n += substr($i, length(key) + 2)
		}
		END { print n + 0 }' "$2"
}

# number FILE REASON: how many stays or gaps
number() {
	counted count "$@"
}

# counting FILE COMMAND...: count from 0 on while the command runs
counting() {
	account=$1
	shift
	echo 1 >"$HYP/accounting"
	echo 0 >"$TOTAL"
	"$@"
	accounted=$?
	echo 0 >"$HYP/accounting"
	cat "$TOTAL" >"$account"
	return "$accounted"
}
