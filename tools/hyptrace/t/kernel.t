#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Build a kernel for the tests in the VM: CONFIG=default, debug, kcsan, 16k,
# 64k, preempt or rt; and the guest's user space.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"

: "${CONFIG:=default}"
case $CONFIG in
default | debug | kcsan | preempt | rt) TARGETS="Image modules" ;;
*) TARGETS=Image ;;
esac
export CONFIG TARGETS

# Progress is on the terminal while it lasts: a build is some minutes.
build() {
	"$TOOLS/kernel" 2>&1 | tee "$tmp/build" | sed 's/^/# /' >&2
	[ -e "$BUILD/kernel-$CONFIG/arch/arm64/boot/Image" ] &&
		says "build/kernel-$CONFIG/arch/arm64/boot/Image" "$tmp/build"
}

ok "the tree" "$TOOLS/tree"
ok "the $CONFIG kernel" build
ok "the guest's user space" "$TOOLS/rootfs"
plan
