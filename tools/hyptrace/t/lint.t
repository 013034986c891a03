#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel's own checkers over what is ours: checkpatch --strict on each mail
# of the series, sparse on each new source file.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"
# shellcheck source=tools/hyptrace/source.sh
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
