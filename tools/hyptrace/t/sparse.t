#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Build what is ours with W=1 and sparse, apart from the kernel that is booted.
# No new file may cause a warning. t/variants.t goes on from what is built here.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"

"$TOOLS/tree" >&2
objects=$(objects "$BUILD/tree" | tr '\n' ' ')

quiet_build() {
	"$TOOLS/kernel" CONFIG=lint TARGETS="W=1 C=1 $objects" >"$tmp/build" 2>&1 || {
		tail -n 20 "$tmp/build" "$BUILD/kernel-lint.log"
		return 1
	}
}

all_compiled() {
	not_compiled "$BUILD/kernel-lint" >"$tmp/left"
	cat "$tmp/left"
	[ ! -s "$tmp/left" ] && [ -n "$(c_files)" ]
}

# Warnings in a file; one in a macro is put down to where that is used.
silent() {
	! grep -E "$1:[0-9]+(:[0-9]+)?: (warning|error)" "$BUILD/kernel-lint.log"
}

rm -rf "$BUILD/kernel-lint"
ok "make W=1 C=1 builds" quiet_build
ok "each file of ours and each that the patches change is compiled" all_compiled
new_files | grep '\.[ch]$' | grep -v '^tools/' >"$tmp/files"
while read -r file; do
	ok "W=1 C=1 $file" silent "$file"
done <"$tmp/files"
ok "sparse looked at the reader" grep -q "CHECK .*ring_buffer.c" "$BUILD/kernel-lint.log"
plan
