#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Compile each file of ours, and each that the patches change, on the oldest kernel source
# that apt offers and the series supports. t/sparse.t does so on the newest.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"

# A repository of its own, for another tree: the changes are this one's.
repo=$tmp/repo
out=$repo/build/kernel-lint
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

compiles() {
	exits 0 "$repo/tools/hyptrace/kernel" CONFIG=lint \
		TARGETS="$(objects "$repo/build/tree" | tr '\n' ' ')" || return
	not_compiled "$out" >"$tmp/left"
	cat "$tmp/left"
	[ ! -s "$tmp/left" ]
}

silent() {
	! our_warnings "$out.log"
}

debian_source "" >&2
version=$(oldest_version)
copy_repository
ok "make tree on $version" lay "$version"
ok "each file compiles on $version" compiles
ok "without a warning" silent
plan
