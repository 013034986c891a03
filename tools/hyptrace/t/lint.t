#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel's own checkers over what is ours: checkpatch --strict on each mail
# of the series, sparse on each new file of the kernel.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"
# shellcheck source=tools/hyptrace/source.sh
. "$TOOLS/source.sh"

checkpatch() {
	(cd "$BUILD/tree" && perl scripts/checkpatch.pl --strict --show-types --terse --showfile \
		--quiet --no-summary "$1") >"$tmp/checkpatch" 2>&1 || :
	nothing_left <"$tmp/checkpatch"
}

nothing_left() {
	not_allowed "$TOOLS/lint.allow" >"$tmp/left"
	cat "$tmp/left"
	[ ! -s "$tmp/left" ]
}

# What sparse says of a file of ours; headers count with who includes them.
sparse_run() {
	"$TOOLS/kernel" TARGETS="C=2 arch/arm64/kvm/ kernel/trace/ kernel/time/" >&2 || return
	grep -E '(warning|error): ' "$BUILD/kernel-default.log" >"$tmp/sparse" || :
	grep -q '^  CHECK ' "$BUILD/kernel-default.log"
}

sparse() {
	grep -q "  CHECK .*/$1$" "$BUILD/kernel-default.log" || {
		echo "sparse has not seen $1"
		return 1
	}
	grep -E "(^|/)$1:[0-9]" "$tmp/sparse" | nothing_left
}

ok "the series" "$TOOLS/series"
for mail in "$BUILD"/series/*.patch; do
	[ "${mail##*/}" = 0000-cover-letter.patch ] || ok "checkpatch ${mail##*/}" checkpatch "$mail"
done
ok "sparse runs" sparse_run
for file in $(new_files | grep -E '^(arch|kernel)/.*\.c$'); do
	ok "sparse $file" sparse "$file"
done
plan
