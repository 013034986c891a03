#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `make series`: on a small source, what it writes and refuses; of the real
# patches, that they apply to what Debian offers and that `git am` of the
# exported mails gives the same tree as `make tree`.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"
# shellcheck source=tools/hyptrace/source.sh
. "$TOOLS/source.sh"

repo=$tmp/repo
scratch_repo "$repo"
git -C "$repo" init -q
mini_source "$tmp"
mini_patch "$repo/patches/0001-a.patch" 10 ten
mini_patch "$repo/patches/0002-b.patch" 50 fifty
printf '%s\n' 0001-a.patch 0002-b.patch >"$repo/patches/series"
mkdir -p "$repo/include/dir"
echo one >"$repo/include/one.h"
echo two >"$repo/include/dir/two.h"
printf '#!/bin/sh\n' >"$repo/include/dir/run.sh"
chmod +x "$repo/include/dir/run.sh"
printf 'The subject\n\nThe text.\n' >"$repo/patches/cover-letter"
printf '%s\n' '0001-a.patch include/one.h' '0002-b.patch include/dir/' >"$repo/patches/files"

export_mails() {
	exits "$1" env SOURCE="$tmp/mini.tar.xz" OUT="$tmp/mails" "$repo/tools/hyptrace/series"
}

# git am MAILS onto SOURCE, a directory: with no one's configuration.
git_am() {
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	git -C "$2" init -q
	git -C "$2" add -Af
	git -C "$2" -c user.name=t -c user.email=t@localhost commit -q --allow-empty -m source
	find "$1" -name '[0-9]*.patch' ! -name '0000-*' | LC_ALL=C sort |
		xargs git -C "$2" -c user.name=t -c user.email=t@localhost am -q &&
		rm -rf "$2/.git"
}

numbered() {
	export_mails 0 && says 'Subject: [PATCH 0/2] The subject' "$tmp/mails/0000-cover-letter.patch" &&
		says 'The text.' "$tmp/mails/0000-cover-letter.patch" &&
		says 'numbers: line 50 is fifty' "$tmp/mails/0000-cover-letter.patch" &&
		says 'Subject: [PATCH 2/2] numbers: line 50' "$tmp"/mails/0002-* &&
		says 'include/dir/two.h' "$tmp"/mails/0002-*
}

same_tree() {
	git_am "$tmp/mails" "$tmp/linux-6.12.0" &&
		diff -r "$tmp/linux-6.12.0" "$repo/build/tree" &&
		[ -x "$tmp/linux-6.12.0/include/dir/run.sh" ]
}

refuses() {
	export_mails 1 && says "$1" && one_line
}

ok "mails are numbered and have a cover letter" numbered
ok "git am gives the same tree" same_tree
echo '0001-a.patch include/dir/two.h' >>"$repo/patches/files"
ok "a file of two patches is refused" refuses "gives include/dir/two.h to two patches"
echo '0001-a.patch include/one.h' >"$repo/patches/files"
ok "a file of no patch is refused" refuses "gives include/dir/run.sh to no patch"
printf '%s\n' '0001-a.patch include/' '0002-b.patch include/none.h' >"$repo/patches/files"
ok "a line for a file that is not there is refused" refuses "there is no include/none.h"
printf '%s\n' '0001-a.patch include/' '0003-c.patch include/' >"$repo/patches/files"
ok "a line for a patch that is not there is refused" refuses "0003-c.patch is not in the series"
rm "$repo/patches/cover-letter"
ok "a missing cover letter is refused" refuses "no patches/cover-letter"

# From here on the real ones.
applies() {
	deb=$(debian_source "$1") && exits 0 "$TOOLS/check-apply" "$deb"
}

# Not only one that was fetched before.
offered() {
	debian_source "" && choose_version
}

# Of the source only the files that patches change: all that git am looks at.
real_same_tree() {
	exits 0 env OUT="$tmp/real" "$TOOLS/series" || return
	touched >"$tmp/touched"
	extract "$(debian_source "")" "$tmp/source" "$tmp/touched"
	git_am "$tmp/real" "$tmp/source" || return
	(cd "$tmp/source" && find . -type f -printf '%P\n' | LC_ALL=C sort) |
		diff "$BUILD/.tree-laid" - || return
	while read -r file; do
		cmp "$tmp/source/$file" "$BUILD/tree/$file" || return
	done <"$BUILD/.tree-laid"
}

ok "apt offers a version that is supported" offered
for version in $({ choose_version; oldest_version; } | uniq); do
	ok "the patches apply to $version" applies "$version"
done
ok "git am of the series gives the tree" real_same_tree
plan
