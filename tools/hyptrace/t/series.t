#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `make series`: on a small source, what it writes and refuses; of the real
# patches, that they apply to what Debian offers and that `git am` of the
# exported mails gives the same tree as `make tree`.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"

repo=$tmp/repo
scratch_repo "$repo"
git -C "$repo" init -q
mini_source "$tmp"
mini_topic "$repo" one 0001-a.patch 0002-b.patch
mini_topic "$repo" two x.patch
one=$repo/patches/one
two=$repo/patches/two
mini_patch "$one/0001-a.patch" 10 ten
mini_patch "$one/0002-b.patch" 50 fifty
mini_patch "$two/x.patch" 80 eighty
mkdir -p "$repo/include/dir"
echo one >"$repo/include/one.h"
echo two >"$repo/include/dir/two.h"
echo x >"$repo/include/x.h"
printf '#!/bin/sh\n' >"$repo/include/dir/run.sh"
chmod +x "$repo/include/dir/run.sh"
printf '%s\n' '0001-a.patch include/one.h' '0002-b.patch include/dir/' >"$one/files"
echo 'x.patch include/x.h' >"$two/files"

export_mails() {
	exits "$1" env SOURCE="$tmp/mini.tar.xz" OUT="$tmp/mails" TOPIC="${2:-}" \
		"$repo/tools/hyptrace/series"
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
	export_mails 0 && cover=$tmp/mails/one/0000-cover-letter.patch &&
		says 'Subject: [PATCH 0/2] The subject of one' "$cover" &&
		says 'The text.' "$cover" && says 'numbers: line 50 is fifty' "$cover" &&
		says 'Subject: [PATCH 2/2] numbers: line 50' "$tmp"/mails/one/0002-* &&
		says 'include/dir/two.h' "$tmp"/mails/one/0002-* &&
		says '[PATCH 0/1] The subject of two' "$tmp/mails/two/0000-cover-letter.patch" &&
		says 'include/x.h' "$tmp"/mails/two/0001-*
}

# Nothing of the topic that stands before it
one_topic() {
	rm -r "$tmp/mails"
	export_mails 0 two && [ "$(ls "$tmp/mails")" = two ] &&
		! grep -r include/one.h "$tmp/mails" &&
		diff -r -I '^Date: ' "$tmp/mails/two" "$tmp/two"
}

# source_of DIR: the source, in a directory that git_am may change
source_of() {
	rm -rf "$tmp/source"
	cp -R "$tmp/linux-6.12.0" "$tmp/source"
}

# tree_of TOPIC: the mails of each topic, applied to the source alone, give its tree.
tree_of() {
	source_of && git_am "$tmp/all/$1" "$tmp/source" &&
		exits 0 "$repo/tools/hyptrace/tree" SOURCE="$tmp/mini.tar.xz" TOPIC="$1" &&
		diff -r "$tmp/source" "$repo/build/tree"
}

same_tree() {
	source_of && git_am "$tmp/all/one" "$tmp/source" && git_am "$tmp/all/two" "$tmp/source" &&
		exits 0 "$repo/tools/hyptrace/tree" SOURCE="$tmp/mini.tar.xz" &&
		diff -r "$tmp/source" "$repo/build/tree" &&
		[ -x "$tmp/source/include/dir/run.sh" ]
}

check_apply() {
	exits "$1" "$repo/tools/hyptrace/check-apply" "$tmp/mini.tar.xz"
}

apply_all() {
	check_apply 0 && says "one: 2 patches apply to mini.tar.xz" &&
		says "two: 1 patches apply to mini.tar.xz" &&
		says "all topics: 3 patches apply to mini.tar.xz"
}

# The second topic builds upon the first.
not_alone() {
	mini_patch "$two/x.patch" 50 eighty
	sed -i 's/^-50$/-fifty/' "$two/x.patch"
	exits 0 "$repo/tools/hyptrace/tree" SOURCE="$tmp/mini.tar.xz" && check_apply 1 &&
		says "patches/two/x.patch: patch failed: dir/numbers:47" && ! grep "two: " "$tmp/err"
}

conflict() {
	mini_patch "$two/x.patch" 52 fifty-two
	check_apply 1 && says "two: 1 patches apply" &&
		says "patches/two/x.patch: patch failed: dir/numbers:49"
}

refuses() {
	export_mails 1 && says "$1" && one_line
}

ok "mails are numbered and each topic has a cover letter" numbered
cp -R "$tmp/mails" "$tmp/all"
cp -R "$tmp/mails/two" "$tmp/two"
ok "one topic is exported alone" one_topic
ok "git am of all topics gives the same tree" same_tree
ok "git am of the first topic gives its tree" tree_of one
ok "git am of the second topic gives its tree" tree_of two
ok "each topic applies alone, and all together" apply_all
ok "a topic that needs another one is refused" not_alone
ok "a conflict of two topics names the patch and the hunk" conflict
mini_patch "$two/x.patch" 80 eighty
echo '0001-a.patch include/dir/two.h' >>"$one/files"
ok "a file of two patches is refused" refuses "assign include/dir/two.h to two patches"
echo '0001-a.patch include/one.h' >"$one/files"
ok "a file of no patch is refused" refuses "assign include/dir/run.sh to no patch"
printf '%s\n' '0001-a.patch include/one.h' '0002-b.patch include/dir/' >"$one/files"
echo 'x.patch include/one.h' >>"$two/files"
ok "a file of two topics is refused" refuses "assign include/one.h to two patches"
printf '%s\n' '0001-a.patch include/' '0002-b.patch include/none.h' >"$one/files"
: >"$two/files"
ok "a line for a file that is not there is refused" refuses "one/files: there is no include/none.h"
printf '%s\n' '0001-a.patch include/' '0003-c.patch include/' >"$one/files"
ok "a line for a patch that is not there is refused" refuses "0003-c.patch is not in the series"
printf '%s\n' '0001-a.patch include/' >"$one/files"
rm "$two/cover-letter"
ok "a missing cover letter is refused" refuses "no patches/two/cover-letter"
: >"$one/series"
: >"$one/files"
rm -r "$repo/include"
ok "an empty series is refused" refuses "patches/one/series is empty"

# From here on the real ones.
applies() {
	deb=$(debian_source "$1") && exits 0 "$TOOLS/check-apply" "$deb"
}

# Not only one that was fetched before.
offered() {
	debian_source "" && choose_version
}

# Of the source only the files that patches change: all that git am needs.
real_same_tree() {
	exits 0 "$TOOLS/series" || return
	touched >"$tmp/touched"
	extract "$(debian_source "")" "$tmp/real-source" "$tmp/touched"
	for topic in $(topics); do
		git_am "$BUILD/series/$topic" "$tmp/real-source" || return
	done
	(cd "$tmp/real-source" && find . -type f -printf '%P\n' | LC_ALL=C sort) |
		diff "$BUILD/.tree-laid" - || return
	while read -r file; do
		cmp "$tmp/real-source/$file" "$BUILD/tree/$file" || return
	done <"$BUILD/.tree-laid"
}

# The patches that add more than 800 lines, with their new files
large() {
	mails >"$tmp/mail-list"
	series | paste -d ' ' - "$tmp/mail-list" | while read -r patch mail; do
		awk -v patch="$patch" '
			/^\+/ && !/^\+\+\+ (b\/|\/dev\/null)/ { lines++ }
			END { if (lines > 800) print patch " adds " lines " lines" }' "$mail"
	done >"$tmp/large"
}

none_large() {
	large
	cat "$tmp/large"
	[ ! -s "$tmp/large" ]
}

ok "apt offers a version that is supported" offered
version=$(choose_version)
ok "each topic, and all together, apply to $version" applies "$version"
ok "git am of all topics gives the tree" real_same_tree
ok "no patch adds more than 800 lines" none_large
plan
