#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace-cmd of each release of Debian that has one able to, in a VM: the results of
# clients/trace-cmd.sh as ours. If a release can't be had, it is skipped.
#
# FORM="trixie protected max"	that one alone
. "$(dirname "$0")/ktap.sh"

: "${FORM:=}"

# A form a line: the release, KVM's mode, the CPU.
forms() {
	echo bookworm protected max
	echo trixie protected max
	echo trixie nvhe cortex-a72
}

vm_script <<'END'
cp -R usr /
run hyp-trace/trace-cmd.sh
END

forms | if [ -n "$FORM" ]; then grep -wF "$FORM"; else cat; fi >"$tmp/forms" || {
	echo "Bail out! no such form: $FORM"
	exit 1
}
while read -r suite mode cpu; do
	rm -rf "$tmp/files"
	if "$TOOLS/clients/trace-cmd-files" "$suite" "$tmp/files" 2>"$tmp/err" </dev/null; then
		vm "$suite, $mode $cpu" MODE="$mode" CPU="$cpu" SMP=2 TIMEOUT=300
	else
		skip "trace-cmd of $suite" "$(grep -v '^hyptrace: ' "$tmp/err" | head -n 1)"
	fi
done <"$tmp/forms"
plan
