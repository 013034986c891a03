# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2154 # tmp is of tap.sh
# Tests by scripts that have a VM each, with the kselftest of hyp-trace in /test
. "$(dirname "$0")/tap.sh"

"$TOOLS/selftest"

# What each script begins with; a test appends what its own have in common.
cat >"$tmp/prelude" <<'END'
#!/bin/sh
set -ex
export PATH="/test/hyp-trace:$PATH" DIR=/test/hyp-trace HYP=/sys/kernel/tracing/hypervisor
. "$DIR/until.sh"
END

# script NAME: $tmp/NAME, of standard input
script() {
	cat "$tmp/prelude" - >"$tmp/$1"
}

# runs [VARIABLE=value]...: the script on standard input, in such a VM.
runs() {
	script script
	"$TOOLS/vm" SCRIPT="$tmp/script" FILES="$BUILD/selftest" TIMEOUT="${TIMEOUT:-120}" "$@"
}

# dies [VARIABLE=value]...: so does the VM, before the script's end. What was said is in $tmp/out,
# what is on the console in $tmp/console.
dies() {
	exits 125 runs CONSOLE="$tmp/console" "$@"
}

# reboots [VARIABLE=value]...: the script says so before, and the kernel does it.
reboots() {
	dies "$@" && says "the guest ended without a status" && says "it reboots" "$tmp/out" &&
		says "reboot: Restarting system" "$tmp/console"
}
