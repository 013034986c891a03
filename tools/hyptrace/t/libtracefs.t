#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A program of Debian 13's libtracefs, clients/libtracefs.c, uses the instance in a VM by each
# function that applies to it: its results as ours.
. "$(dirname "$0")/ktap.sh"
. "$TOOLS/t/libtracefs.sh"

vm_script <<'END'
cp -R usr /
run ./libtracefs
END

# Of the functions in the library's header
untried() {
	grep -oE '\<tracefs_[a-z_]+\(' "$suite/usr/include/tracefs/tracefs.h" | tr -d '(' | sort -u |
		while read -r name; do
			grep -qw "$name" "$TOOLS/clients/libtracefs.c" "$TOOLS/clients/mapped.c" ||
				echo "$name"
		done | not_allowed "$TOOLS/clients/libtracefs.absent"
}

all_are_tried() {
	[ "$(grep -c 'tracefs_instance_' "$suite/usr/include/tracefs/tracefs.h")" -gt 10 ] || return
	untried | tee "$tmp/untried"
	[ ! -s "$tmp/untried" ]
}

ok "each function of tracefs.h is tried, or does not apply" all_are_tried
ok "a program of libtracefs" libtracefs_program libtracefs "$tmp/files"
[ "$failures" = 0 ] || { plan; exit; }
vm "protected max" MODE=protected CPU=max SMP=2 TIMEOUT=120
vm "nvhe cortex-a72" MODE=nvhe CPU=cortex-a72 SMP=2 TIMEOUT=120
plan
