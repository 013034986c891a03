#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Link a kernel with each option of ours turned off: OFF="NAME...". t/variants.t compiles
# them alone. Made of the default kernel, and removed.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"

: "${OFF:?OFF=\"NAME...\"}"
out=$BUILD/kernel-lint

links() {
	rm -f "$out/vmlinux"
	# shellcheck disable=SC2086 # a list
	exits 0 "$TOOLS/kernel" CONFIG=lint OPTIONS="$(printf '%s=n ' $OFF)" TARGETS=vmlinux &&
		[ -e "$out/vmlinux" ] && ! grep 'warning:' "$out.log"
}

"$TOOLS/kernel" CONFIG=default >&2
rm -rf "$out"
cp -a "$BUILD/kernel-default" "$out"
ok "a kernel without $OFF" links
rm -rf "$out"
plan
