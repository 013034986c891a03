#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What orders what, as litmus tests: herd7 of Debian's tells by the kernel's own memory
# model that what must not happen never does, and that it would in a twin that lacks
# the ordering.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"

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

# Orderings that the sources name, a letter a line.
named() {
	grep -ohE '\(([A-Z])\)' "$ROOT"/arch/arm64/kvm/hyp/nvhe/*.c \
		"$ROOT"/arch/arm64/kvm/hyp/include/nvhe/trace*.h \
		"$ROOT"/include/linux/trace_ring.h "$ROOT"/kernel/trace/trace_ring.c \
		"$ROOT"/kernel/trace/ring_buffer_reader*.c | tr -d '()' | sort -u
}

# Those that have no test, or no twin.
untested() {
	named | while read -r pair; do
		for file in "$LITMUS/$pair"-*-broken.litmus; do
			[ -e "$file" ] && [ -e "${file%-broken.litmus}.litmus" ] || echo "($pair)"
		done
	done
}

# Tests of one that there is not.
nameless() {
	for file in "$LITMUS"/[A-Z]-*.litmus; do
		stem=$(basename "$file")
		named | grep -qx "${stem%%-*}" || echo "$stem"
	done
}

# none COMMAND: it prints nothing.
none() {
	"$1" >"$tmp/found"
	cat "$tmp/found"
	[ ! -s "$tmp/found" ]
}

ok "each ordering that the sources name has a test and a twin" none untested
ok "and each test is of one of them" none nameless
for file in "$LITMUS"/*.litmus; do
	ok "$(basename "$file" .litmus)" observed "$file"
done
plan
