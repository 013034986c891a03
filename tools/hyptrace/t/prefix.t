#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each prefix of the exported series builds, as far as what it touches goes.
#
# TOPIC=name   only those of this topic
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"
. "$TOOLS/kbuild.sh"

need kernel archs
only=$TOPIC
TOPIC=
"$TOOLS/series" >&2
# The same path each time: ccache compares the paths of the sources.
lock prefix
tree=$BUILD/prefix-tree
trap 'rm -rf "$tmp" "$tree"' EXIT
rm -rf "$tree"

apply() {
	patch -d "$tree" -p1 -s -F0 --no-backup-if-mismatch <"$1"
}

# A part of EL2 may be added before the patch that links it.
el2_objects() {
	new_files | sed -n 's,^\(arch/arm64/kvm/hyp/nvhe/.*\)\.c$,\1.nvhe.o,p'
}

# KVM, the directories of the other sources (of kernel/, which is large, the objects), and the
# parts of EL2 that this prefix has
targets() {
	echo arch/arm64/kvm/
	c_files | grep -v -e '^arch/arm64/kvm/' -e '^virt/' |
		sed -E '/^kernel\/[^/]*$/!s,[^/]*$,,' | LC_ALL=C sort -u | while read -r part; do
			case $part in
			*.c) [ ! -e "$tree/$part" ] || echo "${part%c}o" ;;
			*) [ ! -e "$tree/$part/Makefile" ] || echo "$part" ;;
			esac
		done
	el2_objects | while read -r object; do
		[ ! -e "$tree/${object%.nvhe.o}.c" ] || echo "$object"
	done
}

# What EL2's object takes from the host kernel, and what nothing defines
undefined() {
	nm -u "$BUILD/kernel-lint/arch/arm64/kvm/hyp/nvhe/kvm_nvhe.o" | awk '{ print $2 }' |
		LC_ALL=C sort
}

touches_kernel() {
	grep '^+++ b/' "$1" | grep -qv -e '^+++ b/tools/' -e '^+++ b/Documentation/' \
		-e '^+++ b/kernel/configs/' -e '^+++ b/MAINTAINERS$'
}

touches_perf() {
	grep '^+++ b/' "$1" | grep -q -e '^+++ b/tools/perf/' -e '^+++ b/tools/arch/'
}

# For arm64, and for this machine: each has its own part of perf.
perf_builds() {
	"$TOOLS/perf" TREE="$tree" && "$TOOLS/perf" TREE="$tree" FOR=host
}

touches_x86() {
	grep -q '^+++ b/arch/x86/' "$1"
}

kbuild_x86() {
	source_make x86_64 -C "$tree" "O=$BUILD/kernel-x86-prefix" -j"$(nproc)" "$@"
}

x86_builds() {
	kbuild_x86 KCONFIG_ALLCONFIG="$ROOT/kernel/configs/hyptrace-x86.config" allnoconfig &&
		kbuild_x86 arch/x86/kvm/ arch/x86/events/core.o kernel/events/
}

# A prefix does not have all options yet.
builds() {
	apply "$1" || return
	! touches_perf "$1" || perf_builds || return
	! touches_x86 "$1" || x86_builds || return
	touches_kernel "$1" || return 0
	"$TOOLS/kernel" CONFIG=lint TREE="$tree" UNKNOWN_OK="$(our_options)" \
		TARGETS="$(targets | tr '\n' ' ')" && undefined >"$tmp/undefined/${1##*/}"
}

# Nothing of EL2 is undefined in a prefix that is defined before its first patch, or after
# its last one. A topic that does not touch the kernel has no objects.
links() {
	set -- "$tmp"/undefined/*
	[ -e "$1" ] || return 0
	eval "cat \"\$1\" \"\${$#}\"" | LC_ALL=C sort -u >"$tmp/known"
	for prefix; do
		LC_ALL=C comm -13 "$tmp/known" "$prefix" | sed "s,^,${prefix##*/}: undefined: ,"
	done >"$tmp/lacking"
	cat "$tmp/lacking"
	[ ! -s "$tmp/lacking" ]
}

all_applied() {
	for mail in $(mails); do
		apply "$mail" || return
	done
	diff -r "$tree" "$BUILD/tree"
}

rm -rf "$BUILD/kernel-lint" "$BUILD/kernel-x86-prefix" "$BUILD"/perf*-own*
plain_tree "$tmp/plain"
cp -al "$tmp/plain" "$tree"
ok "all topics together are the tree" all_applied
for TOPIC in ${only:-$(topics)}; do
	rm -rf "$tree" "$tmp/undefined"
	cp -al "$tmp/plain" "$tree"
	mkdir "$tmp/undefined"
	for mail in $(mails); do
		ok "up to ${mail#"$BUILD/series/"}" builds "$mail"
	done
	ok "EL2 links in each prefix of $TOPIC" links
done
rm -rf "$BUILD/kernel-lint" "$BUILD/kernel-x86-prefix" "$BUILD"/perf*-own*
plan
