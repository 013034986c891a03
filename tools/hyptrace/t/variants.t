#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Compile what is ours, and what the patches change, with options of ours turned off, and with
# those that distributions turn on: no warning, and nothing is left undefined at EL2 that is not
# so with all of ours alone.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"

"$TOOLS/tree" >&2
out=$BUILD/kernel-lint
targets="arch/arm64/kvm/ fs/tracefs/ kernel/trace/ring_buffer.o kernel/trace/trace.o
	kernel/trace/trace_events.o kernel/trace/trace_events_filter.o"

# EL2's object, linked but for what it takes from the host kernel
undefined() {
	nm -u "$out/arch/arm64/kvm/hyp/nvhe/kvm_nvhe.o" | awk '{ print $2 }' | LC_ALL=C sort
}

builds() {
	rm -f "$out/arch/arm64/kvm/hyp/nvhe/kvm_nvhe.o"
	exits 0 "$TOOLS/kernel" CONFIG=lint OPTIONS="$1" TARGETS="W=1 $targets" || return
	! our_warnings "$out.log" || return
	undefined >"$tmp/undefined"
	[ -s "$tmp/undefined" ]
}

all_on() {
	builds "" && mv "$tmp/undefined" "$tmp/all-undefined"
}

with() {
	builds "$1" && LC_ALL=C comm -13 "$tmp/all-undefined" "$tmp/undefined" >"$tmp/more" &&
		cat "$tmp/more" && [ ! -s "$tmp/more" ]
}

ok "all options on" all_on
for option in KVM_HYP_TRACING_DUMP KVM_HYP_TRACING_SELFTEST; do
	off="$option=n"
	[ "$option" != KVM_HYP_TRACING_SELFTEST ] || off="$off KVM_HYP_TRACING_KUNIT_TEST=n"
	ok "$option=n" with "$off"
done
ok "PID_IN_CONTEXTIDR=y" with PID_IN_CONTEXTIDR=y
ok "FORTIFY_SOURCE=y" with "FORTIFY_SOURCE=y INIT_STACK_ALL_ZERO=y UBSAN=y LIST_HARDENED=y"
ok "KVM_HYP_TRACING=n" with "KVM_HYP_TRACING=n KVM_HYP_TRACING_DUMP=n
	KVM_HYP_TRACING_SELFTEST=n KVM_HYP_TRACING_KUNIT_TEST=n"
plan
