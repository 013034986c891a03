#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each prefix of the exported series builds, as far as what it touches goes.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"
# shellcheck source=tools/hyptrace/source.sh
. "$TOOLS/source.sh"

"$TOOLS/series" >&2
tree=$tmp/tree
# What the first of them do not know yet
ours=$(sed -n 's/^config //p' "$ROOT/arch/arm64/kvm/Kconfig.hyp_trace" | tr '\n' ' ')

builds() {
	patch -d "$tree" -p1 -s -F0 --no-backup-if-mismatch <"$1" &&
		"$TOOLS/kernel" CONFIG=lint TREE="$tree" \
			UNKNOWN_OK="$ours" \
			TARGETS="arch/arm64/kvm/ kernel/trace/ring_buffer.o kernel/trace/trace.o kernel/trace/trace_events.o kernel/trace/trace_events_filter.o fs/tracefs/inode.o"
}

rm -rf "$BUILD/kernel-lint"
plain_tree "$tree"
for mail in "$BUILD"/series/*.patch; do
	[ "${mail##*/}" = 0000-cover-letter.patch ] || ok "up to ${mail##*/}" builds "$mail"
done
ok "the last one is the tree" diff -r "$tree" "$BUILD/tree"
rm -rf "$BUILD/kernel-lint"
plan
