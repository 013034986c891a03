#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A program of Debian 13's libtracefs reads the hypervisor's buffers by mapping
# them, and finds what the kernel shows.
. "$(dirname "$0")/tap.sh"

SELFTESTS=$ROOT/tools/testing/selftests/hyp-trace
OUT=$tmp/out

. "$TOOLS/t/libtracefs.sh"

build() {
	"$TOOLS/selftest" || return
	mkdir -p "$tmp/files"
	cp -R "$BUILD/selftest/." "$tmp/files"
	libtracefs_program mapped "$tmp/files"
}

sessions() {
	"$TOOLS/vm" SMP=2 SCRIPT="$TOOLS/clients/mapped-sessions" FILES="$tmp/files" OUT="$OUT" \
		TIMEOUT=120
}

# same A B: of each CPU.
same() {
	for cpu in 0 1; do
		[ -s "$OUT/$1.$cpu" ] && diff "$OUT/$1.$cpu" "$OUT/$2.$cpu" || return
	done
}

nothing() {
	cat "$OUT/again.0" "$OUT/again.1" >"$OUT/again" && ! grep . "$OUT/again"
}

# facts AWK NAME
facts() {
	awk -f "$SELFTESTS/stamp.awk" -f "$SELFTESTS/$1" "$OUT/$2"
}

# As they came: all numbers, EL2's entries and exits in turn, and the guest's.
live() {
	for cpu in 0 1; do
		grep selftest "$OUT/live.$cpu" >"$OUT/numbers"
		[ "$(facts numbers.awk numbers)" = "shown $cpu 3000" ] || return
		grep -E ': hyp_(enter|exit) ' "$OUT/live.$cpu" >"$OUT/stays"
		facts trace.awk stays >"$OUT/facts"
		! grep -v '^count' "$OUT/facts" || return
	done
	cat "$OUT/facts" "$OUT/guests"
	exits=$(sed -n 's/^vcpu=.* exits=\([0-9]*\).*/\1/p' "$OUT/guests")
	grep -x "count 1 hyp_enter guest $exits" "$OUT/facts"
}

# What the kernel shows, after how many were lost: a full page has no room for
# the number.
lost() {
	for cpu in 0 1; do
		head -n 1 "$OUT/left.$cpu" "$OUT/lost.$cpu"
		head -n 1 "$OUT/left.$cpu" | grep -q 'LOST [0-9]* EVENTS' &&
			head -n 1 "$OUT/lost.$cpu" | grep -q 'LOST .*EVENTS' || return
		sed -i 1d "$OUT/left.$cpu" "$OUT/lost.$cpu"
	done
	same lost left
}

ok "a program of libtracefs" build
ok "it maps buffers in a VM" sessions
ok "it finds what the kernel shows" same mapped shown
ok "it has taken it" nothing
ok "it finds what comes, all of it" live
ok "it finds what was not lost, and that events were" lost
plan
