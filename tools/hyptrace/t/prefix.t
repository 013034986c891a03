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

apply() {
	patch -d "$tree" -p1 -s -F0 --no-backup-if-mismatch <"$1"
}

# All of KVM, and of the rest the objects whose source this prefix has
targets() {
	echo arch/arm64/kvm/
	objects "$BUILD/tree" | grep -v -e '^arch/arm64/kvm/' -e '^virt/' | while read -r object; do
		[ ! -e "$tree/${object%.o}.c" ] || echo "$object"
	done
}

# A prefix does not have all options yet.
builds() {
	apply "$1" && "$TOOLS/kernel" CONFIG=lint TREE="$tree" UNKNOWN_OK="$(our_options)" \
		TARGETS="$(targets | tr '\n' ' ')"
}

all_applied() {
	for mail in $(mails); do
		apply "$mail" || return
	done
	diff -r "$tree" "$BUILD/tree"
}

rm -rf "$BUILD/kernel-lint"
plain_tree "$tmp/plain"
cp -al "$tmp/plain" "$tree"
ok "all topics together are the tree" all_applied
for TOPIC in $(topics); do
	rm -rf "$tree"
	cp -al "$tmp/plain" "$tree"
	for mail in $(mails); do
		ok "up to ${mail#"$BUILD/series/"}" builds "$mail"
	done
done
rm -rf "$BUILD/kernel-lint"
plan
