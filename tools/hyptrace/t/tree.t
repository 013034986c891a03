#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `make tree`, on a source of four files: what is laid, what is left alone, and
# what an error leaves behind.
. "$(dirname "$0")/tap.sh"

need tree    # now: the apt of some tests is played
repo=$tmp/repo
scratch_repo "$repo"
git -C "$repo" init -q
mini_source "$tmp"
mini_topic "$repo" one 0001-a.patch
one=$repo/patches/one
mini_patch "$one/0001-a.patch" 10 ten
mini_patch "$one/0002-b.patch" 50 fifty
mkdir -p "$repo/include"
echo new >"$repo/include/new.h"

tree() {
	exits "$1" "$repo/tools/hyptrace/tree" SOURCE="$tmp/mini.tar.xz"
}

# What the tree holds, and when each file was written.
state() {
	(cd "$repo/build/tree" && find . -type f -printf '%p %T@\n' | sort)
}

has() {
	[ "$(sed -n "$1p" "$repo/build/tree/dir/numbers")" = "$2" ]
}

laid() {
	tree 0 && has 10 ten && cmp "$repo/include/new.h" "$repo/build/tree/include/new.h"
}

unchanged() {
	state >"$tmp/before"
	tree "$1" && state | diff "$tmp/before" -
}

one_changed() {
	state >"$tmp/before"
	tree 0 && state | diff "$tmp/before" - >"$tmp/diff"
	[ "$(grep -c '^>' "$tmp/diff")" = 1 ] && says "$1" "$tmp/diff"
}

new_file_changed() {
	echo newer >"$repo/include/new.h"
	one_changed include/new.h
}

patch_added() {
	echo 0002-b.patch >>"$one/series"
	one_changed dir/numbers && has 10 ten && has 50 fifty
}

patch_changed() {
	mini_patch "$one/0001-a.patch" 20 twenty
	one_changed dir/numbers && has 10 10 && has 20 twenty && has 50 fifty
}

patch_removed() {
	echo 0002-b.patch >"$one/series"
	one_changed dir/numbers && has 20 20 && has 50 fifty
}

# The second patch fails after the first has been applied.
bad_hunk() {
	sed -i 's/^ 19$/ nineteen/' "$one/0001-a.patch"
	printf '%s\n' 0002-b.patch 0001-a.patch >"$one/series"
	unchanged 1 && says "patches/one/0001-a.patch: patch failed: dir/numbers:17" &&
		says "patches/one/0001-a.patch does not apply"
}

fuzz_refused() {
	mini_patch "$one/0001-a.patch" 20 twenty
	sed -i 's/^ 23$/ fuzzy/' "$one/0001-a.patch"
	unchanged 1 && says "patch failed: dir/numbers:17"
}

no_such_file() {
	mini_patch "$one/0001-a.patch" 20 twenty
	sed -i 's,dir/numbers,dir/none,' "$one/0001-a.patch"
	unchanged 1 && says "patches/one/0001-a.patch: dir/none:"
}

# Of two hunks of which neither applies
both_hunks() {
	mini_patch "$one/0001-a.patch" 20 twenty
	mini_patch "$tmp/other" 60 sixty
	sed -n '/^@@/,/^ 63$/p' "$tmp/other" >"$tmp/hunk"
	sed -i -e "/^ 23\$/r $tmp/hunk" -e 's/^ 19$/ nineteen/' "$one/0001-a.patch"
	sed -i 's/^ 59$/ fifty-nine/' "$one/0001-a.patch"
	unchanged 1 && says "patch failed: dir/numbers:17" && says "patch failed: dir/numbers:57"
}

no_mail() {
	echo nothing >"$one/0001-a.patch"
	unchanged 1 && says "patches/one/0001-a.patch does not apply" && says "No valid patches"
}

no_such_patch() {
	echo 0003-c.patch >"$one/series"
	unchanged 1 && says "0003-c.patch: no such file" && one_line
}

# A second topic, which changes the same file in another place.
topic_added() {
	mini_patch "$one/0001-a.patch" 20 twenty
	echo 0001-a.patch >"$one/series"
	mini_topic "$repo" two x.patch
	mini_patch "$repo/patches/two/x.patch" 80 eighty
	echo "x.patch include/two.h" >"$repo/patches/two/files"
	echo "0001-a.patch include/new.h" >"$one/files"
	echo two >"$repo/include/two.h"
	tree 0 && has 20 twenty && has 80 eighty && has_new new.h two.h
}

has_new() {
	(cd "$repo/build/tree/include" && echo *) | grep -qxF "$*"
}

topic_alone() {
	exits 0 "$repo/tools/hyptrace/tree" SOURCE="$tmp/mini.tar.xz" TOPIC="$1" || return
	shift
	says "1 patches, 1 new files" && "$@"
}

two_alone() {
	topic_alone two has 20 20 && has 80 eighty && has_new two.h
}

one_alone() {
	topic_alone one has 20 twenty && has 80 80 && has_new new.h
}

no_such_topic() {
	exits 1 "$repo/tools/hyptrace/tree" SOURCE="$tmp/mini.tar.xz" TOPIC=three &&
		says "no topic three" && one_line
}

# Each topic applies alone, but not both: the one that comes later is at fault.
topics_conflict() {
	mini_patch "$repo/patches/two/x.patch" 22 twenty-two
	topic_alone two has 22 twenty-two && unchanged 1 &&
		says "patches/two/x.patch: patch failed: dir/numbers:19" &&
		says "patches/two/x.patch does not apply"
}

topic_removed() {
	mini_patch "$repo/patches/two/x.patch" 80 eighty
	echo one >"$repo/patches/topics"
	rm "$repo/include/two.h"
	tree 0 && has 20 twenty && has 80 80 && has_new new.h
}

in_the_source() {
	: >"$one/series"
	mkdir -p "$tmp/linux-6.12.0/include"
	echo theirs >"$tmp/linux-6.12.0/include/new.h"
	tar -C "$tmp" -cJf "$tmp/theirs.tar.xz" linux-6.12.0
	exits 1 "$repo/tools/hyptrace/tree" SOURCE="$tmp/theirs.tar.xz" &&
		says "include/new.h is in the kernel source" && one_line
}

all_taken_back() {
	: >"$one/series"
	rm "$repo/include/new.h"
	tree 0 && diff -r "$tmp/linux-6.12.0" "$repo/build/tree"
}

broken_source() {
	head -c 200 "$tmp/mini.tar.xz" >"$tmp/short.tar.xz"
	exits 1 "$repo/tools/hyptrace/tree" SOURCE="$tmp/short.tar.xz" &&
		says "can't unpack" && [ ! -e "$repo/build/tree" ]
}

# apt, played: apt_offers CANDIDATE VERSION... A download is noted, and fails.
apt_offers() {
	mkdir -p "$tmp/bin"
	cat <<-END >"$tmp/bin/apt-cache"
		#!/bin/sh
		[ "\$1" = madison ] || { echo "  Candidate: $1"; exit; }
		shift
		printf 'linux-source-6.12 | %s | mirror\n' $*
	END
	cat <<-END >"$tmp/bin/apt-get"
		#!/bin/sh
		echo "\$*" >>$tmp/asked
		echo "E: no network"
		exit 100
	END
	printf '#!/bin/sh\n' >"$tmp/bin/sudo"
	chmod +x "$tmp/bin"/*
	rm -f "$tmp/asked"
}

from_apt() {
	apt_offers "$@"
	PATH=$tmp/bin:$PATH exits 1 "$repo/tools/hyptrace/tree"
}

old_passed_over() {
	from_apt 6.12.95-1~bpo12+1 6.12.94-1 6.12.107-1 6.12.95-1~bpo12+1 &&
		says "linux-source-6.12 6.12.95-1~bpo12+1 is passed over: 6.12.107 is the oldest" &&
		says "download linux-source-6.12=6.12.107-1" "$tmp/asked" &&
		! grep -F =6.12.9 "$tmp/asked"
}

candidate_first() {
	from_apt 6.12.111-1 6.12.117-1 6.12.111-1 6.12.94-1 &&
		says "download linux-source-6.12=6.12.111-1" "$tmp/asked" &&
		! grep "passed over" "$tmp/err"
}

only_old() {
	from_apt 6.12.94-1 6.12.94-1 &&
		says "apt offers no linux-source-6.12 from 6.12.107 on" &&
		! grep download "$tmp/asked"
}

download_fails() {
	from_apt 6.12.117-1 6.12.117-1 && says "can't fetch linux-source-6.12: no network" &&
		! grep "apt offers no" "$tmp/err"
}

# Lists older than a day are renewed before a version is chosen.
lists_first() {
	apt_offers 6.12.117-1 6.12.117-1
	# shellcheck disable=SC2016 # for that shell
	printf '#!/bin/sh\n[ "$1" = -n ] || exec "$@"\n' >"$tmp/bin/sudo"
	printf '#!/bin/sh\necho "lists=%s/lists/"\n' "$tmp" >"$tmp/bin/apt-config"
	chmod +x "$tmp/bin/apt-config"
	mkdir -p "$tmp/lists/partial"
	touch -d "2 days ago" "$tmp/lists" "$tmp/lists/partial"
	rm -f "$repo/build/.apt-tried"
	PATH=$tmp/bin:$PATH exits 1 "$repo/tools/hyptrace/tree"
	rm "$tmp/bin/apt-config"
	cat "$tmp/asked"
	[ "$(head -n 1 "$tmp/asked")" = update ]
}

# What an earlier run fetched is used only if it is supported.
fetched_before() {
	mkdir -p "$repo/build/dl"
	: >"$repo/build/dl/linux-source-6.12_6.12.94-1_all.deb"
	from_apt 6.12.94-1 6.12.94-1 && says "from 6.12.107 on" || return
	: >"$repo/build/dl/linux-source-6.12_6.12.108-1_all.deb"
	from_apt 6.12.94-1 6.12.94-1 && says "unpacking linux-source-6.12_6.12.108-1_all.deb" || return
	rm -r "$repo/build/dl"
}

# A source package of a version, as if it had been fetched: mini_deb VERSION LINE. In it, line 50
# of the file that the patches change is another one.
mini_deb() {
	dir=$tmp/deb-$1
	mini_source "$dir/src" "${1%%-*}"
	sed -i "50s/.*/$2/" "$dir/src/linux-6.12.0/dir/numbers"
	mkdir -p "$dir/deb/usr/src" "$dir/deb/DEBIAN" "$repo/build/dl"
	tar -C "$dir/src" -cJf "$dir/deb/usr/src/linux-source-6.12.tar.xz" linux-6.12.0
	printf '%s\n' "Package: linux-source-6.12" "Version: $1" "Architecture: all" \
		"Maintainer: x <x@localhost>" "Description: x" >"$dir/deb/DEBIAN/control"
	dpkg-deb -b "$dir/deb" "$repo/build/dl/linux-source-6.12_${1}_all.deb"
}

no_longer_applies() {
	cp -R "$one" "$tmp/one"
	mini_patch "$one/0001-a.patch" 52 fifty-two
	echo 0001-a.patch >"$one/series"
	mini_deb 6.12.900-1 other
	mini_deb 6.12.110-1 50
	apt_offers 6.12.900-1 6.12.900-1 6.12.110-1
	PATH=$tmp/bin:$PATH exits 0 "$repo/tools/hyptrace/tree" &&
		says "patches/one/0001-a.patch: patch failed: dir/numbers:49" &&
		says "no longer applies to Linux 6.12.900; the newest version that is known to work is" &&
		says "using 6.12.110-1" && says "build/tree: 6.12.110, 1 patches"
}

# Not unpacked again, as long as the patches are the same
remembered() {
	PATH=$tmp/bin:$PATH exits 0 "$repo/tools/hyptrace/tree" && says "using 6.12.110-1" &&
		says "patch failed: dir/numbers:49" && says "no longer applies to Linux 6.12.900" &&
		! grep unpacking "$tmp/err" || return
	mini_patch "$one/0001-a.patch" 80 eighty
	PATH=$tmp/bin:$PATH exits 0 "$repo/tools/hyptrace/tree" && says "build/tree: 6.12.900, 1 patches"
}

none_known() {
	mini_patch "$one/0001-a.patch" 52 fifty-two
	apt_offers 6.12.900-1 6.12.900-1
	PATH=$tmp/bin:$PATH exits 1 "$repo/tools/hyptrace/tree" && says "dir/numbers:49" &&
		says "apt offers no such version: SOURCE=file"
}

# With SOURCE= there is no other version to use.
too_new_source() {
	exits 1 "$repo/tools/hyptrace/tree" SOURCE="$repo/build/dl/linux-source-6.12_6.12.900-1_all.deb" &&
		says "no longer applies to Linux 6.12.900; the newest version that is known to work is"
}

# An error of another kind, here a disk that is full, is not the version's.
passing_error() {
	rm -f "$repo/build/.refused"
	mini_patch "$one/0001-a.patch" 80 eighty
	printf '#!/bin/sh\necho "No space left on device" >&2\nexit 11\n' >"$tmp/bin/rsync"
	chmod +x "$tmp/bin/rsync"
	PATH=$tmp/bin:$PATH exits 1 "$repo/tools/hyptrace/tree" && says "No space left" &&
		! grep "no longer applies" "$tmp/err"
	got=$?
	rm "$tmp/bin/rsync"
	[ "$got" = 0 ] && PATH=$tmp/bin:$PATH exits 0 "$repo/tools/hyptrace/tree" &&
		says "build/tree: 6.12.900, 1 patches"
}

# A patch that does not apply to the known version either is a mistake.
mistake() {
	mini_patch "$one/0001-a.patch" 52 fifty-two
	sed -i 's/^ 51$/ x/' "$one/0001-a.patch"
	apt_offers 6.12.110-1 6.12.110-1
	PATH=$tmp/bin:$PATH exits 1 "$repo/tools/hyptrace/tree" && says "dir/numbers:49" &&
		! grep "known to work" "$tmp/err"
	got=$?
	rm -rf "$repo/build/dl" "$repo/build/tree" "$repo/build/pristine" "$one"
	mv "$tmp/one" "$one"
	return "$got"
}

old_source() {
	mini_source "$tmp/old" 6.12.106
	exits 1 "$repo/tools/hyptrace/tree" SOURCE="$tmp/old/mini.tar.xz" &&
		says "mini.tar.xz is Linux 6.12.106: 6.12.107 is the oldest supported" &&
		one_line && [ ! -e "$repo/build/tree" ]
}

ok "an older version than the oldest supported is passed over" old_passed_over
ok "lists older than a day are renewed first" lists_first
ok "the version that apt would install comes first" candidate_first
ok "with older ones alone, one line says so" only_old
ok "a source that can't be fetched: the reason is apt's" download_fails
ok "one that was fetched before must be supported too" fetched_before
ok "so must a source that is given" old_source
ok "where a patch does not apply to the newest, the known version is used" no_longer_applies
ok "which is remembered until the patches change" remembered
ok "with none known, one line says what to do" none_known
ok "so it does for a source that is given" too_new_source
ok "an error of another kind is not remembered" passing_error
ok "with the known version, a patch that fails is a mistake" mistake
ok "new files and patches are laid" laid
ok "a second run writes nothing" unchanged 0
ok "a new file that changed is written alone" new_file_changed
ok "a patch is added" patch_added
ok "a patch changes" patch_changed
ok "a patch is taken away" patch_removed
ok "a hunk that fails is named, the tree is as it was" bad_hunk
ok "each hunk that fails is named" both_hunks
ok "a patch that is no mail is an error" no_mail
ok "fuzz is refused" fuzz_refused
ok "a file that is not there is named" no_such_file
ok "a patch that is not there is named" no_such_patch
ok "two topics that change the same file are laid" topic_added
ok "the second topic is laid alone" two_alone
ok "so is the first" one_alone
ok "an unknown topic is refused" no_such_topic
ok "a conflict of two topics names the patch and the hunk" topics_conflict
ok "a topic is taken away" topic_removed
ok "with no patches and files, the tree is the source" all_taken_back
ok "a source that is cut short is an error, not half a tree" broken_source
echo new >"$repo/include/new.h"
ok "a new file that the source has too is refused" in_the_source
ok "so is an unknown variable" exits 1 "$repo/tools/hyptrace/tree" SORUCE=x
plan
