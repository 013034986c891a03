# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A program of Debian's for a VM that has no libraries; sourced.

# program ROOT PATH DIRECTORY: that program there, and the libraries that it needs in lib/.
program() {
	mkdir -p "$3/lib"
	cp "$1/$2" "$3"
	todo=$3/${2##*/}
	while [ -n "$todo" ]; do
		# shellcheck disable=SC2086 # a list
		names=$(readelf -d $todo | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u)
		todo=
		for name in $names; do
			[ ! -e "$3/lib/$name" ] || continue
			library=$(find "$1/usr/lib" -name "$name" | head -n 1)
			cp -L "$library" "$3/lib/$name" || return
			todo="$todo $3/lib/$name"
		done
	done
}
