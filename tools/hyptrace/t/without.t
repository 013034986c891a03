#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Where tracing can't be set up or started, it says so, and guests run.
. "$(dirname "$0")/script.sh"

# The host keeps time by what EL2 can't read.
other_clock() {
	runs CMDLINE=clocksource=jiffies <<-'END'
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
	runs CMDLINE=lockdown=confidentiality <<-'END'
		mount -t securityfs securityfs /sys/kernel/security
		grep -F '[confidentiality]' /sys/kernel/security/lockdown
		[ ! -e $HYP ]
		dmesg | grep 'no tracing of the hypervisor'
		guest
	END
}

# The files are there by then, and can't be opened, as the host's own of the same
# name; of those, what describes an event still can. What is open goes on.
locked_down_later() {
	runs <<-'END'
		cd /sys/kernel/tracing
		echo 1 >hypervisor/tracing_on
		echo 42 >hypervisor/write_event
		exec 3<hypervisor/trace_pipe
		mount -t securityfs securityfs /sys/kernel/security
		echo confidentiality >/sys/kernel/security/lockdown

		(cd hypervisor && find . -type f) >/tmp/files
		set +x
		while read -r file; do
			host=$(echo "$file" | sed 's,events/hypervisor/[^/]*/,events/kvm/kvm_exit/,
				s,events/hypervisor/,events/kvm/,; s,/write_event,/trace_marker,')
			for mode in r w wt rw; do
				echo "$(fileop open "hypervisor/$file" $mode)" \
					"$(fileop open "$host" $mode) $file $mode"
			done
		done </tmp/files >/tmp/outcomes
		set -x
		[ "$(grep -c . /tmp/outcomes)" -ge 100 ]
		[ -z "$(grep -v '^EPERM EPERM ' /tmp/outcomes | grep -v '^EPERM ok .*/\(format\|id\) ')" ]
		fileop drain - <&3 | grep 'selftest id=42'
		guest
	END
}

ok "another clock source" other_clock
ok "tracefs is locked down" locked_down
ok "tracefs is locked down later" locked_down_later
plan
