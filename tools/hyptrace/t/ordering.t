#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The table of memory orderings at the head of kernel/trace/trace_ring.c names each place in
# the code that has a pair's letter, and no other; and each pair's litmus tests.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"

TABLE=$ROOT/kernel/trace/trace_ring.c
LITMUS=$ROOT/tools/testing/hyptrace/litmus

# A line of the table each: `pair LETTER TEST...`, `with LETTER`, `site LETTER FILE:FUNCTION`.
table() {
	awk '
		/^ \* Memory ordering$/ { in_table = 1 }
		/^ \*\/$/ { exit }
		!in_table { next }
		/^ \* \([A-Z]\) / {
			letter = substr($2, 2, 1)
			sub(/^[^:]*: */, "")
			gsub(/,/, "")
			print "pair", letter, $0
		}
		/^ \*   with$/ { print "with", letter }
		/^ \*\t[a-z_]+\.[ch]:[a-z_0-9]+$/ { print "site", letter, $2 }' "$TABLE"
}

sources() {
	new_files | grep -E '^(arch/arm64/kvm|include/linux|kernel/trace)/.*\.[ch]$' |
		grep -v '_test\|/tests/' | sed "s,^,$ROOT/,"
}

# The same `site' lines, of the code.
code() {
	sources | xargs awk -f "$TOOLS/t/ordering.awk" | sed 's/^/site /'
}

# Barriers, acquires and releases without a letter, on their line or the next one
unnamed() {
	sources | xargs awk -f "$TOOLS/t/unordered.awk"
}

all_named() {
	unnamed >"$tmp/unnamed"
	cat "$tmp/unnamed"
	[ ! -s "$tmp/unnamed" ]
}

same_places() {
	table | grep '^site ' | sort -u >"$tmp/table"
	code | sort -u >"$tmp/code"
	[ -s "$tmp/code" ] && diff "$tmp/table" "$tmp/code"
}

# On one side of a pair; both may be the same function.
no_place_twice() {
	table | awk '
		$1 == "with" { side[$2]++ }
		$1 == "pair" { print $1, $2 }
		$1 == "site" { print $0, side[$2] + 0 }' | sort | uniq -d >"$tmp/twice"
	cat "$tmp/twice"
	[ ! -s "$tmp/twice" ]
}

# Each pair has places before `with' and after it.
two_sides() {
	table | awk '
		$1 == "pair" { pairs++ }
		$1 == "with" { with[$2] = 1 }
		$1 == "site" { sites[$2, with[$2] + 0] = 1; letter[$2] = 1 }
		END {
			for (l in letter) {
				both += (l, 0) in sites && (l, 1) in sites
				if (!((l, 0) in sites && (l, 1) in sites))
					print "(" l ") has one side"
			}
			exit !pairs || both != pairs
		}'
}

# Tests that the table names, each with its twin, against those that there are.
same_tests() {
	table | awk '$1 == "pair" { for (i = 3; i <= NF; i++) {
		print $i ".litmus"; print $i "-broken.litmus" } }' | sort >"$tmp/named"
	(cd "$LITMUS" && ls -- *.litmus) | sort >"$tmp/there"
	[ -s "$tmp/named" ] && diff "$tmp/named" "$tmp/there"
}

# A test has the letter of its pair, and each pair has a test.
tests_of_their_pair() {
	table | awk '$1 == "pair" {
		if (NF < 3) print "(" $2 ") has no test"
		for (i = 3; i <= NF; i++) if ($i !~ "^" $2 "-") print "(" $2 "): " $i
	}' >"$tmp/odd"
	cat "$tmp/odd"
	[ ! -s "$tmp/odd" ]
}

ok "the table and the code name the same places" same_places
ok "each barrier, acquire and release in the code has a letter" all_named
ok "no pair and no place is there twice" no_place_twice
ok "each pair has two sides" two_sides
ok "each litmus test and its broken twin are of a pair, and are there" same_tests
ok "each pair has a litmus test" tests_of_their_pair
plan
