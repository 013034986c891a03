#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each topic, and all of them, apply to each version of the source that apt offers, without fuzz.
# t/series.t tries the newest, t/compile.t compiles on the oldest.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"

applies() {
	deb=$(debian_source "$1") && exits 0 "$TOOLS/check-apply" "$deb" || return
	# One that was not here before does not stay.
	[ "$1" = "$newest" ] || [ -n "$2" ] || rm -f "$deb"
}

# Whether it was fetched before
fetched() {
	[ ! -e "$DL/linux-source-6.12_${1}_all.deb" ] || echo yes
}

debian_source "" >&2
newest=$(choose_version)
for version in $(supported_versions); do
	ok "each topic, and all together, apply to $version" applies "$version" "$(fetched "$version")"
done
plan
