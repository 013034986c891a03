#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel's configuration: an option that can't be had is an error.
. "$(dirname "$0")/tap.sh"

# The driver in a scratch repository, with this one's tree and options of the
# test's: up to the error it only configures.
repo=$tmp/repo
scratch_repo "$repo"
mkdir -p "$repo/kernel/configs"

option() {
	cp "$ROOT"/kernel/configs/*.config "$repo/kernel/configs"
	echo "$1" >>"$repo/kernel/configs/hyptrace.config"
	ln -sfn "$BUILD/tree" "$repo/build/tree"
	exits 1 "$repo/tools/hyptrace/kernel" && says "$2"
}

ok "the tree" "$TOOLS/tree"
ok "an option that is not there is named" option CONFIG_NO_SUCH=y \
	"CONFIG_NO_SUCH=y is asked for, .config has CONFIG_NO_SUCH=n"
ok "so is one that something else turns on" option "# CONFIG_KVM_COMMON is not set" \
	"CONFIG_KVM_COMMON=n is asked for, .config has CONFIG_KVM_COMMON=y"
ok "an unknown configuration is refused" exits 1 "$TOOLS/kernel" CONFIG=none
plan
