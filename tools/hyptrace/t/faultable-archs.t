#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Faultable tracepoints are generic code: what the topic adds or changes compiles for arm and
# riscv, with the tracepoints of system calls, perf and BPF, and without a warning by W=1.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"
# shellcheck source=tools/hyptrace/source.sh
. "$TOOLS/source.sh"

need kernel arm32 riscv
"$TOOLS/tree" >&2
OPTIONS="MMU SMP EXPERT MODULES PRINTK BUG NET FTRACE FTRACE_SYSCALLS HIST_TRIGGERS PERF_EVENTS
	UPROBE_EVENTS BPF_SYSCALL KUNIT TRACEPOINT_KUNIT_TEST"

options_of() {
	case $1 in
	arm) echo ARCH_MULTIPLATFORM ARCH_MULTI_V7 ARCH_VIRT ;;
	riscv) echo NONPORTABLE 64BIT ;;
	esac
}

# kbuild ARCH CROSS [VARIABLE=value]... TARGET...
kbuild() {
	arch=$1 cross=$2
	shift 2
	env -u CONFIG make -C "$BUILD/tree" "O=$out" ARCH="$arch" CROSS_COMPILE="$cross" \
		-j"$(nproc)" "$@" >"$out.log" 2>&1 || {
		grep -E -A 5 'error:|Error [0-9]' "$out.log" | head -n 30
		return 1
	}
}

configure() {
	rm -rf "$out"
	mkdir -p "$out"
	# shellcheck disable=SC2046,SC2086 # lists
	printf 'CONFIG_%s=y\n' $OPTIONS $(options_of "$1") >"$tmp/config"
	kbuild "$1" "$2" "KCONFIG_ALLCONFIG=$tmp/config" allnoconfig &&
		for option in FTRACE_SYSCALLS BPF_EVENTS TRACEPOINT_KUNIT_TEST; do
			grep -x "CONFIG_$option=y" "$out/.config" || return
		done
}

# The files of the topic, those with the call sites, and those that the headers matter to
builds() {
	kbuild "$1" "$2" W=1 kernel/tracepoint.o kernel/tracepoint_test.o kernel/trace/ \
		kernel/bpf/core.o kernel/bpf/syscall.o kernel/bpf/verifier.o net/bpf/test_run.o "$3"
}

silent() {
	! our_warnings "$out.log"
}

# Of the topic, what nothing was compiled of; riscv has no histograms.
all_compiled() {
	TOPIC=faultable-tracepoints
	not_compiled "$out" >"$tmp/left"
	[ "$1" != riscv ] || sed -i '/trace_events_hist.c/d' "$tmp/left"
	[ "$(c_files | wc -l)" -ge 8 ] || return
	TOPIC=
	cat "$tmp/left"
	[ ! -s "$tmp/left" ]
}

while read -r arch cross site; do
	out=$BUILD/kernel-$arch-faultable
	ok "$arch: a configuration" configure "$arch" "$cross"
	ok "$arch: it builds" builds "$arch" "$cross" "$site"
	ok "$arch: without a warning" silent
	ok "$arch: each file is compiled" all_compiled "$arch"
	rm -rf "$out"
done <<-END
	arm arm-linux-gnueabi- arch/arm/kernel/ptrace.o
	riscv riscv64-linux-gnu- kernel/entry/common.o
END
plan
