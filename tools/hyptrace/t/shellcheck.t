#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run shellcheck over each shell script of the repository.
. "$(dirname "$0")/tap.sh"

cd "$ROOT"
git ls-files -co --exclude-standard | while read -r file; do
	[ ! -f "$file" ] || [ -L "$file" ] || ! head -n 2 "$file" |
		grep -qaE '^#!.*[/ ](ba|da)?sh$|^# shellcheck shell=' || echo "$file"
done >"$tmp/scripts"
ok "there are scripts" [ -s "$tmp/scripts" ]
while read -r script; do
	ok "shellcheck $script" shellcheck -x "$script"
done <"$tmp/scripts"
plan
