#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# checkpatch --strict on each mail of the series. t/compile.t runs sparse.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"

checkpatch() {
	(cd "$BUILD/tree" && perl scripts/checkpatch.pl --strict --show-types --terse --showfile \
		--quiet --no-summary "$1") >"$tmp/checkpatch" 2>&1 || :
	not_allowed "$TOOLS/lint.allow" <"$tmp/checkpatch" >"$tmp/left"
	cat "$tmp/left"
	[ ! -s "$tmp/left" ]
}

ok "the series" "$TOOLS/series"
for mail in $(mails); do
	ok "checkpatch ${mail#"$BUILD/series/"}" checkpatch "$mail"
done
plan
