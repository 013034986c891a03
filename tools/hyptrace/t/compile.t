#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Compile each file of ours, and each that the patches change, apart from the kernel that is
# booted, without a warning.
#
# BY=sparse   gcc with W=1, and sparse: warnings in new files count. t/variants.t reuses the objects.
# BY=clang    clang with W=1. Debian 12's clang 14 is the oldest that this is run with.
# BY=oldest   gcc, on the oldest source that apt offers and the series supports
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"

: "${BY:=sparse}"
repo=$ROOT config=lint flags=W=1 whose=all_files
case $BY in
sparse) flags="W=1 C=1" whose=new_files ;;
clang) need clang && config=clang && export LLVM=1 ;;
oldest) repo=$tmp/repo flags= ;;
*) die "BY=$BY: sparse, clang or oldest" ;;
esac
out=$repo/build/kernel-$config

# The oldest source is laid out in a repository of its own, with the changes of this one.
copy_repository() {
	scratch_repo "$repo"
	{
		new_files
		(cd "$ROOT" && find patches -type f)
	} | tar -C "$ROOT" -c -T - | tar -C "$repo" -x
	git -C "$repo" init -q
}

lay() {
	source=$(debian_source "$1") && exits 0 "$repo/tools/hyptrace/tree" SOURCE="$source" &&
		says "build/tree: ${1%%-*}, $(series | wc -l) patches, $(new_files | wc -l) new files"
}

builds() {
	exits 0 "$repo/tools/hyptrace/kernel" CONFIG="$config" \
		TARGETS="$flags $(objects "$repo/build/tree" | tr '\n' ' ')"
}

all_compiled() {
	not_compiled "$out" >"$tmp/left"
	cat "$tmp/left"
	[ ! -s "$tmp/left" ] && [ -n "$(c_files)" ]
}

silent() {
	! our_warnings "$out.log" "$whose"
}

if [ "$BY" = oldest ]; then
	debian_source "" >&2
	version=$(oldest_version)
	copy_repository
	ok "make tree on $version" lay "$version"
else
	"$TOOLS/tree" >&2
	rm -rf "$out"
fi
ok "it builds" builds
ok "each file of ours and each that the patches change is compiled" all_compiled
ok "without a warning" silent
case $BY in
sparse) ok "sparse looked at the reader" grep -q "CHECK .*ring_buffer.c" "$out.log" ;;
clang)
	ok "by $(clang --version | head -n 1)" grep -x CONFIG_CC_IS_CLANG=y "$out/.config"
	rm -rf "$out"
	;;
esac
plan
