# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# A page of the hypervisor's, for whoever plays a hostile host.

# Its number, as pKVM told where its memory is; 0 without pKVM.
hyp_pfn() {
	reserved=$(dmesg | sed -n 's/.*kvm .*Reserved [0-9]* MiB at \(0x[0-9a-f]*\).*/\1/p')
	room=$(sed -n 's/.*char data;.*size:\([0-9]*\);.*/\1/p' \
		/sys/kernel/tracing/events/header_page)
	echo $((reserved / (room + 16)))
}
