# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The kernel source and our changes to it: what tree, series and check-apply
# share. Sourced after lib.sh.

PATCHES=$ROOT/patches
DL=$BUILD/dl

# The oldest kernel that the patches are for; t/compile.t builds them on it.
OLDEST=6.12.107

# The newest one that they were seen to apply to, and the tests to pass on.
KNOWN=6.12.118

# A topic is a series of its own: patches/TOPIC has its patches, `series', `files' and
# `cover-letter'. $TOPIC restricts all that follows to one topic.
: "${TOPIC=}"

# The lines of a file, without comments.
lines() {
	[ ! -e "$1" ] || sed 's/[ \t]*#.*//; /^$/d' "$1"
}

topics() {
	echo "${TOPIC:-$(lines "$PATCHES/topics")}"
}

# The patches in order, as TOPIC/PATCH.
series() {
	for topic in $(topics); do
		lines "$PATCHES/$topic/series" | sed "s,^,$topic/,"
	done
}

check_series() {
	for topic in $(topics); do
		[ -e "$PATCHES/$topic/series" ] || die "no topic $topic: there is no patches/$topic/series"
	done
	for patch in $(series); do
		[ -e "$PATCHES/$patch" ] ||
			die "patches/${patch%/*}/series names ${patch##*/}: no such file"
	done
}

# The in-tree files that the patches change.
touched() {
	for patch in $(series); do
		sed -n '/^+++ /{s/^+++ [^/]*\///; s/\t.*//; p}' "$PATCHES/$patch"
	done | LC_ALL=C sort -u
}

# All new files: git's, but not what it ignores; without git, all that are there.
all_new_files() (
	cd "$ROOT" || exit
	set -- arch include kernel tools virt Documentation
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -co --exclude-standard -- "$@"
	else
		find "$@" -type f 2>/dev/null
	fi | grep -v '^tools/hyptrace/' | LC_ALL=C sort -u | while read -r file; do
		[ ! -f "$file" ] || echo "$file"
	done
)

# The lines of patches/TOPIC/files: TOPIC/PATCH and a path; one that ends in / stands for
# all files below it.
claims() {
	for topic in $(topics); do
		lines "$PATCHES/$topic/files" | sed "s,^,$topic/,"
	done
}

# The new files with the patch that adds them, as TOPIC/PATCH FILE.
new_files_by_patch() {
	{
		claims
		all_new_files
	} | awk '
		NF == 2 { patch[++n] = $1; path[n] = $2; next }
		{ for (i = 1; i <= n; i++)
			if ($0 == path[i] || (path[i] ~ /\/$/ && index($0, path[i]) == 1))
				print patch[i], $0 }'
}

new_files() {
	if [ -n "$TOPIC" ]; then
		new_files_by_patch | sed 's/.* //' | LC_ALL=C sort -u
	else
		all_new_files
	fi
}

# The new files, and the kernel's own that the patches change
all_files() {
	new_files
	touched
}

# The options that our files and patches add.
our_options() {
	(cd "$ROOT" && all_new_files | grep '/Kconfig' |
		xargs sed -n 's/^+*config //p' patches/*/*.patch | xargs)
}

# The kernel's .c files that are ours or that the patches change, for arm64 or c_arch.
c_files() {
	all_files | awk -v arch="^arch/${c_arch:-arm64}/" '/\.c$/ && !/^tools\// && (!/^arch\// || $0 ~ arch)' |
		LC_ALL=C sort -u
}

# What kbuild makes of them, in a tree: objects TREE. A file that another one includes
# has no object of its own.
objects() {
	included=$(c_files | sed "s,^,$1/," | xargs sed -n 's,^#include "\(.*/\)\?\(.*\.c\)"$,\2,p')
	echo arch/arm64/kvm/
	for file in $(c_files); do
		case $file in
		arch/arm64/kvm/*) continue ;;
		esac
		base=${file##*/}
		! echo "$included" | grep -qxF "$base" ||
			grep -qsw "${base%.c}.o" "$1/${file%/*}/Makefile" || continue
		echo "${file%.c}.o"
	done
}

# The .c files of ours that no object in a build directory was made of.
not_compiled() {
	find "$1" -name '.*.cmd' -exec cat {} + >"$1/.all-cmds"
	c_files | while read -r file; do
		grep -qE "/$file( |\$|\))" "$1/.all-cmds" || echo "$file"
	done
}

# our_warnings LOG [all_files|new_files]: print the warnings of the compiler and of sparse that are
# in these files; fail if there are none. A warning in a macro counts for the file that uses the
# macro.
our_warnings() {
	"${2:-all_files}" | grep '\.[ch]$' | grep -v '^tools/' |
		sed 's/[.]/\\./g; s/$/:[0-9]+(:[0-9]+)?: (warning|error)/' >"$1.patterns"
	grep -E -f "$1.patterns" "$1"
}

repo=

# git in the directory $repo, without the configuration, hooks or keys of the user.
in_repo() {
	env -u GIT_DIR -u GIT_WORK_TREE GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
		git -C "$repo" -c user.name=hyptrace -c user.email=hyptrace@localhost "$@"
}

# Make $repo, which has the originals of the files that the patches change, a repository.
start_repo() {
	in_repo init -q -b hyptrace
	in_repo add -Af
	in_repo commit -q --allow-empty -m source
}

# Apply a patch in $repo, without fuzz, or name each hunk that does not apply. A patch
# without a diff adds new files only.
apply_patch() {
	in_repo am -q --empty=keep --committer-date-is-author-date "$PATCHES/$1" \
		>"$repo/.git/am.log" 2>&1 && return
	{
		in_repo apply --reject "$PATCHES/$1" 2>&1 | sed -n "s,^error: ,patches/$1: ,p" |
			grep . || cat "$repo/.git/am.log"
	} >&2
	die "patches/$1 does not apply"
}

apply_series() {
	for patch in $(series); do
		apply_patch "$patch"
	done
}

# The versions of linux-source-6.12 that apt offers: first the one that it would
# install, then from the newest on.
offered_versions() {
	{
		apt-cache policy linux-source-6.12 | sed -n 's/^  Candidate: \([^(]\)/\1/p'
		apt-cache madison linux-source-6.12 | awk '{ print $3 }' | sort -rV
	} | awk '!seen[$0]++'
}

supported() {
	dpkg --compare-versions "$1" ge "$OLDEST"
}

# The first of them that is supported; those before it are named.
choose_version() {
	for version in $(offered_versions); do
		! supported "$version" || { echo "$version" && return; }
		note "linux-source-6.12 $version is passed over: $OLDEST is the oldest supported"
	done
	return 1
}

# All that are supported.
supported_versions() {
	for version in $(offered_versions); do
		! supported "$version" || echo "$version"
	done | grep .
}

# The newest of them that is not newer than KNOWN.
known_version() {
	supported_versions | sort -rV | while read -r version; do
		! dpkg --compare-versions "${version%%-*}" le "$KNOWN" || echo "$version"
	done | head -n 1 | grep .
}

# The oldest of them that is supported.
oldest_version() {
	supported_versions | sort -V | head -n 1 | grep .
}

# The newest linux-source-6.12, or the given version of it: fetched once, and
# named on standard output. Lists that are missing or older than the mirror
# are fetched; when even that fails, what an earlier run fetched is good too.
debian_source() {
	[ -n "$1" ] || "$TOOLS/deps" refresh
	fetch_source "${1:-$(choose_version)}" && return
	"$TOOLS/deps" update && fetch_source "${1:-$(choose_version 2>/dev/null)}" && return
	[ -z "$1" ] && newest_fetched && return
	[ -n "$1" ] || [ -z "$(offered_versions)" ] || [ -n "$(supported_versions)" ] ||
		die "apt offers no linux-source-6.12 from $OLDEST on"
	die "can't fetch linux-source-6.12: $(apt_says "$BUILD/apt.log-update" "$BUILD/apt.log")"
}

newest_fetched() {
	find "$DL" -name 'linux-source-6.12_*.deb' 2>/dev/null | sort -rV | while read -r deb; do
		version=${deb##*/linux-source-6.12_}
		! supported "${version%_all.deb}" || echo "$deb"
	done | head -n 1 | grep .
}

fetch_source() {
	[ -n "$1" ] || return
	deb=$DL/linux-source-6.12_${1}_all.deb
	[ -e "$deb" ] || {
		note "fetching linux-source-6.12 $1 (150 MB)"
		mkdir -p "$DL/partial"
		with_progress "$BUILD/apt.log" "fetching, lines" download "linux-source-6.12=$1" || return
		mv "$DL/partial"/*_"$1"_all.deb "$deb" && rmdir "$DL/partial"
	}
	echo "$deb"
}

download() {
	cd "$DL/partial" && apt-get -q download "$1"
}

# The source as a tar on standard output: unpack_source FILE.
unpack_source() {
	case $1 in
	*.deb)
		dpkg-deb --fsys-tarfile "$1" |
			tar -xO --wildcards './usr/src/linux-source-*.tar.xz' | xz -dc
		;;
	*.tar.xz | *.txz) xz -dc "$1" ;;
	*.tar) cat "$1" ;;
	*) die "$1: neither .deb nor .tar.xz" ;;
	esac
}

# extract SOURCE DIR FILES: those files of the source, as far as it has them.
# A list that is empty would stand for all.
extract() {
	mkdir -p "$2"
	[ -s "$3" ] || return 0
	sed 's,^,*/,' "$3" >"$2/.wanted"
	unpack_source "$1" | tar -x -C "$2" --strip-components=1 --no-same-owner \
		--wildcards --no-wildcards-match-slash --anchored -T "$2/.wanted" 2>/dev/null || :
	rm "$2/.wanted"
}

# What tools/hyptrace/series has exported, in order.
mails() {
	for topic in $(topics); do
		find "$BUILD/series/$topic" -name '[0-9]*.patch' ! -name '0000-*' | LC_ALL=C sort
	done
}

# copy [OPTION] FROM TO: those of the files on standard input that FROM has. A file that is
# the same in TO is not written; one that differs is replaced.
copy() {
	rsync -cp --files-from=- --ignore-missing-args "$@"
}

# plain_tree DIR: the source of build/tree as it came, in links.
plain_tree() {
	cp -al "$BUILD/tree" "$1"
	(cd "$1" && new_files | xargs -d '\n' rm -f)
	touched | copy "$BUILD/pristine" "$1"
}
