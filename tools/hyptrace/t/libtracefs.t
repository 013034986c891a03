#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A program of Debian 13's libtracefs, clients/libtracefs.c, uses the instance in a VM by each
# function that applies to it: its results as ours.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"
# shellcheck source=tools/hyptrace/t/ktap.sh
. "$TOOLS/t/ktap.sh"
# shellcheck source=tools/hyptrace/t/libtracefs.sh
. "$TOOLS/t/libtracefs.sh"

vm_script <<'END'
cp -R usr /
run ./libtracefs
END

ok "a program of libtracefs" libtracefs_program libtracefs "$tmp/files"
[ "$failures" = 0 ] || { plan; exit; }
vm "protected max" MODE=protected CPU=max SMP=2 TIMEOUT=120
vm "nvhe cortex-a72" MODE=nvhe CPU=cortex-a72 SMP=2 TIMEOUT=120
plan
