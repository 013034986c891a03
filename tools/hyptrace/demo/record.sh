# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Shared by the demos; sourced after lib.sh.

# record SCRIPT OUT [VARIABLE=value]...: run the script in a VM, a pKVM host unless a variable says
# otherwise. Show its output, and keep it as OUT/session.txt.
record() {
	script=$1 to=$2
	shift 2
	"$TOOLS/vm" MODE=protected CPU=max SMP=2 TIMEOUT=120 SCRIPT="$script" OUT="$to" "$@" \
		>"$to/session.txt" && rc=0 || rc=$?
	cat "$to/session.txt"
	[ "$rc" = 0 ] || die "the demo failed in the VM, with status $rc"
}
