#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The memory orderings as litmus tests: by the kernel's memory model, herd7 of Debian finds
# that what must not happen never does, and that it sometimes does in a broken twin of each
# test, which lacks the ordering. t/ordering.t compares the tests with the code.
. "$(dirname "$0")/tap.sh"

LITMUS=$ROOT/tools/testing/hyptrace/litmus
MODEL=$BUILD/tree/tools/memory-model

if ! suite=$(ARCH=$(dpkg --print-architecture) "$TOOLS/suite" sid herdtools7 herdtools7 2>"$tmp/reason"); then
	echo "1..0 # SKIP $(grep -v '^hyptrace: ' "$tmp/reason" | head -n 1)"
	exit 0
fi
"$TOOLS/tree" >&2
loader=$(find "$suite/usr/lib" -name 'ld-linux-*.so.*' | head -n 1)

herd() {
	(cd "$MODEL" && "$loader" --library-path "${loader%/*}" "$suite/usr/bin/herd7" \
		-I "$suite/usr/share/herdtools7/herd" -conf linux-kernel.cfg "$1")
}

# observed FILE: as often as it says itself.
observed() {
	wanted=$(sed -n '/^(\*/{ n; s/^ \* //p; }' "$1")
	herd "$1" >"$tmp/herd" 2>&1
	cat "$tmp/herd"
	grep -q "^Observation $(basename "$1" .litmus) $wanted " "$tmp/herd"
}

for file in "$LITMUS"/*.litmus; do
	ok "$(basename "$file" .litmus)" observed "$file"
done
plan
