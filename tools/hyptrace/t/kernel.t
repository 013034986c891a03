#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Build a kernel for the tests in the VM: CONFIG=default, debug, kcsan, 16k,
# 64k, preempt, rt or x86; and the guest's user space.
. "$(dirname "$0")/tap.sh"

: "${CONFIG:=default}"
export CONFIG
image=build/kernel-$CONFIG/$(image_of "$(arch_of "$CONFIG")")

# Progress is on the terminal while it lasts: a build is some minutes.
build() {
	"$TOOLS/kernel" 2>&1 | tee "$tmp/build" | sed 's/^/# /' >&2
	[ -e "$ROOT/$image" ] && says "$image" "$tmp/build"
}

ok "the tree" "$TOOLS/tree"
ok "the $CONFIG kernel" build
ok "the guest's user space" "$TOOLS/rootfs"
plan
