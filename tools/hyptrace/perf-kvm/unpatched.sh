#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat on a kernel without the new tracepoints and files: it says what it can't know.
# Runs in a VM.
# shellcheck disable=SC2016 # programs of awk
. "${0%/*}/lib.sh"
mkdir -p "/tmp/${0##*/}"
cd "/tmp/${0##*/}" || exit

recorded() {
	guest some 3 vcpus=2 hvc=100 sysreg=50 mmio=20 delay=5000 || return
	cat >go <<-'END2'
		. /test/perf-kvm/lib.sh
		fd_some=3
		rounds 1 some
	END2
	record data -a sh ./go && end_guest some 3
}

exits() {
	report data && holds '$2 == "HVC64"' '$3 + $4 == 300' &&
		holds '$2 == "DABT_LOW"' '$3 == 20 && $5 >= 5000' &&
		report data --event=mmio && holds '$2 ~ /^0x/' '$3 == 10'
}

vcpus() {
	report data --per-vcpu && holds '$2 == "="' '$1 ~ /\/unknown$/' &&
		grep 'VCPU is not known' report &&
		grep 'The kernel has no kvm:kvm_vcpu_load' report
}

traps() {
	report data --event=trap && return 1
	grep 'The recording has no kvm:kvm_trap_enter, which trap needs' report
}

ok "perf records" recorded
ok "exits and accesses are right" exits
ok "vCPUs are unknown" vcpus
ok "there are no traps" traps
plan
