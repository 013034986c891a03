#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel's configuration: an option that can't be set is an error. ccache has the objects of an
# earlier build.
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

# A user's own tree may lack options: the driver says so, and builds it.
own_tree() {
	cp "$ROOT/Makefile" "$repo"
	exits 0 make -C "$repo" kernel TREE="$BUILD/tree" TARGETS=init/version-timestamp.o &&
		says "CONFIG_KVM_COMMON=n is asked for" &&
		[ -e "$repo/build/kernel-own/init/version-timestamp.o" ]
}

# Compile the object that has the time stamp twice.
from_ccache() {
	cp "$ROOT"/kernel/configs/*.config "$repo/kernel/configs"
	for time in first second; do
		rm -f "$repo/build/kernel-default/init/version-timestamp.o"
		exits 0 env CCACHE_STATSLOG="$tmp/$time" "$repo/tools/hyptrace/kernel" \
			TARGETS=init/version-timestamp.o || return
	done
	grep -A 1 'init/version-timestamp\.c$' "$tmp/second" | grep 'cache_hit$'
}

ok "the tree" "$TOOLS/tree"
ok "an option that is not there is named" option CONFIG_NO_SUCH=y \
	"CONFIG_NO_SUCH=y is asked for, .config has CONFIG_NO_SUCH=n"
ok "so is one that something else turns on" option "# CONFIG_KVM_COMMON is not set" \
	"CONFIG_KVM_COMMON=n is asked for, .config has CONFIG_KVM_COMMON=y"
ok "but a tree of one's own may lack it" own_tree
ok "ccache has what was compiled before" from_ccache
ok "an unknown configuration is refused" exits 1 "$TOOLS/kernel" CONFIG=none
plan
