#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Where tracing can't be set up or started, it says so, and guests run.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"

"$TOOLS/selftest"
# runs CMDLINE: the script on standard input, in a VM with that command line.
runs() {
	cat >"$tmp/script"
	"$TOOLS/vm" CMDLINE="$1" SCRIPT="$tmp/script" FILES="$BUILD/selftest" TIMEOUT=120
}

# The host keeps time by what EL2 can't read.
other_clock() {
	runs clocksource=jiffies <<-'END'
		set -ex
		export PATH="/test/hyp-trace:$PATH" HYP=/sys/kernel/tracing/hypervisor
		grep -x jiffies /sys/devices/system/clocksource/clocksource0/current_clocksource
		[ "$(fileop write $HYP/tracing_on 1)" = ENODEV ]
		grep -x 0 $HYP/tracing_on
		grep '(unloaded)' $HYP/buffer_size_kb
		dmesg | grep 'no tracing without the architected counter'
		guest
	END
}

# Nobody may see what the kernel's memory holds: tracefs makes no file.
locked_down() {
	runs lockdown=confidentiality <<-'END'
		set -ex
		export PATH="/test/hyp-trace:$PATH" HYP=/sys/kernel/tracing/hypervisor
		mount -t securityfs securityfs /sys/kernel/security
		grep -F '[confidentiality]' /sys/kernel/security/lockdown
		[ ! -e $HYP ]
		dmesg | grep 'no tracing of the hypervisor'
		guest
	END
}

ok "another clock source" other_clock
ok "tracefs is locked down" locked_down
plan
