# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# A page of the hypervisor, for tests that play a hostile host.

# Print its number, from pKVM's log line about its memory; 0 without pKVM.
hyp_pfn() {
	reserved=$(dmesg | sed -n 's/.*kvm .*Reserved [0-9]* MiB at \(0x[0-9a-f]*\).*/\1/p')
	room=$(sed -n 's/.*char data;.*size:\([0-9]*\);.*/\1/p' \
		/sys/kernel/tracing/events/header_page)
	echo $((reserved / (room + 16)))
}
