# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The kernel source and our changes to it: what tree, series and check-apply
# share. Sourced after lib.sh.

PATCHES=$ROOT/patches
DL=$BUILD/dl

# The oldest kernel that the patches are for; t/compile.t builds them on it.
OLDEST=6.12.107

# The names of the patches, in order.
series() {
	[ ! -e "$PATCHES/series" ] || sed 's/[ \t]*#.*//; /^$/d' "$PATCHES/series"
}

check_series() {
	for patch in $(series); do
		[ -e "$PATCHES/$patch" ] || die "patches/series names $patch: no such file"
	done
}

# The in-tree files that the patches change.
touched() {
	for patch in $(series); do
		sed -n '/^+++ /{s/^+++ [^/]*\///; s/\t.*//; p}' "$PATCHES/$patch"
	done | LC_ALL=C sort -u
}

# The files of ours that stand in the kernel tree: git's, but not what it
# ignores; all that are there without git.
new_files() (
	cd "$ROOT" || exit
	set -- arch include kernel tools/testing Documentation
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -co --exclude-standard -- "$@"
	else
		find "$@" -type f 2>/dev/null
	fi | LC_ALL=C sort -u | while read -r file; do
		[ ! -f "$file" ] || echo "$file"
	done
)

# The kernel's .c files that are ours or that the patches change.
c_files() {
	{
		new_files
		touched
	} | grep '\.c$' | grep -v '^tools/' | LC_ALL=C sort -u
}

# What kbuild makes of them, in a tree: objects TREE. A file that another one includes
# has no object of its own.
objects() {
	included=$(c_files | sed "s,^,$1/," | xargs sed -n 's,^#include "\(.*/\)\?\(.*\.c\)"$,\2,p')
	echo arch/arm64/kvm/hyp/nvhe/
	for file in $(c_files); do
		case $file in
		arch/arm64/kvm/hyp/nvhe/*) continue ;;
		esac
		echo "$included" | grep -qxF "${file##*/}" || echo "${file%.c}.o"
	done
}

# The .c files of ours that no object in a build directory was made of.
not_compiled() {
	find "$1" -name '.*.cmd' -exec cat {} + >"$1/.all-cmds"
	c_files | while read -r file; do
		grep -qE "/$file( |\$|\))" "$1/.all-cmds" || echo "$file"
	done
}

# Warnings of the compiler and of sparse in a log that are in files of ours, or in the
# files that the patches change; fails without any. One in a macro is put down to
# where that is used.
our_warnings() {
	{
		new_files | grep '\.[ch]$' | grep -v '^tools/'
		touched | grep '\.[ch]$'
	} | sed 's/[.]/\\./g; s/$/:[0-9]+(:[0-9]+)?: (warning|error)/' >"$1.patterns"
	! grep -E -f "$1.patterns" "$1" || return 0
	return 1
}

# apply_patch PATCH DIR: with zero fuzz. The hunks that fail are named. A patch
# may be but a message, for new files alone.
apply_patch() {
	grep -q '^+++ ' "$PATCHES/$1" || return 0
	if ! rejects=$(patch -d "$2" -p1 -F0 -f -r - --no-backup-if-mismatch <"$PATCHES/$1"); then
		echo "$rejects" | awk -v patch="patches/$1" '
			/^patching file / { file = $3 }
			/^\|(\+\+\+|---) [^\/]*\// { file = $2; sub(/^[^\/]*\//, "", file) }
			/^Hunk .* (FAILED|ignored)|hunks? ignored/ {
				sub(/\.$/, ""); print patch ": " file ": " $0 }' >&2
		die "patches/$1 does not apply"
	fi
}

apply_series() {
	for patch in $(series); do
		apply_patch "$patch" "$1"
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

# The oldest of them that is supported.
oldest_version() {
	for version in $(offered_versions); do
		! supported "$version" || echo "$version"
	done | sort -V | head -n 1 | grep .
}

# The newest linux-source-6.12, or the given version of it: fetched once, and
# named on standard output. Lists that are missing or older than the mirror
# are fetched; when even that fails, what an earlier run fetched is good too.
debian_source() {
	[ -n "$1" ] || "$TOOLS/deps" refresh
	fetch_source "${1:-$(choose_version)}" && return
	"$TOOLS/deps" update && fetch_source "${1:-$(choose_version 2>/dev/null)}" && return
	[ -z "$1" ] && newest_fetched && return
	[ -n "$1" ] || [ -z "$(offered_versions)" ] ||
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

# plain_tree DIR: the source of build/tree as it came, in links. Its files are replaced,
# never written to.
plain_tree() {
	cp -al "$BUILD/tree" "$1"
	(cd "$1" && new_files | xargs -d '\n' rm -f)
	touched | while read -r file; do
		cp --remove-destination "$BUILD/pristine/$file" "$1/$file"
	done
}
