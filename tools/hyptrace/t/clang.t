#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Compile what is ours, and what the patches change, with clang: no warning. Debian 12's
# clang 14 is the oldest.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"

need clang
"$TOOLS/tree" >&2
out=$BUILD/kernel-clang

builds() {
	exits 0 env LLVM=1 "$TOOLS/kernel" CONFIG=clang \
		TARGETS="W=1 $(objects "$BUILD/tree" | tr '\n' ' ')" || return
	grep -x CONFIG_CC_IS_CLANG=y "$out/.config" && not_compiled "$out" >"$tmp/left"
	cat "$tmp/left"
	[ ! -s "$tmp/left" ]
}

silent() {
	! our_warnings "$out.log"
}

rm -rf "$out"
ok "each file compiles with $(clang --version | head -n 1)" builds
ok "without a warning" silent
rm -rf "$out"
plan
