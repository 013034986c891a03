# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2154 # tmp is of tap.sh
# For tests that run each script in a VM of its own, with the kselftest of hyp-trace in /test
. "$(dirname "$0")/tap.sh"

"$TOOLS/selftest"

# Each script begins with this prelude. A test appends what its scripts share.
cat >"$tmp/prelude" <<'END'
#!/bin/sh
set -ex
export PATH="/test/hyp-trace:$PATH" DIR=/test/hyp-trace HYP=/sys/kernel/tracing/hypervisor
. "$DIR/until.sh"
END

# script NAME: write the prelude and standard input to $tmp/NAME.
script() {
	cat "$tmp/prelude" - >"$tmp/$1"
}

# runs [VARIABLE=value]...: run the script on standard input in a VM with these variables.
runs() {
	script script
	"$TOOLS/vm" SCRIPT="$tmp/script" FILES="$BUILD/selftest" TIMEOUT="${TIMEOUT:-120}" "$@"
}

# dies [VARIABLE=value]...: the VM must die before the script ends. The script's output is in
# $tmp/out, the console's in $tmp/console.
dies() {
	exits 125 runs CONSOLE="$tmp/console" "$@"
}

# reboots [VARIABLE=value]...: the script must print "it reboots", and then the kernel must reboot.
reboots() {
	dies "$@" && says "the guest ended without a status" && says "it reboots" "$tmp/out" &&
		says "reboot: Restarting system" "$tmp/console"
}
