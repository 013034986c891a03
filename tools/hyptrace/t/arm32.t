#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Compile for 32-bit Arm what the patches change outside arch/arm64, as that has it without
# remote tracing and, unless Kconfig says that it takes 64 bits, with the reader.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"
# shellcheck source=tools/hyptrace/source.sh
. "$TOOLS/source.sh"

need kernel arm32
"$TOOLS/tree" >&2
out=$BUILD/kernel-arm32
objects="fs/tracefs/ kernel/trace/"

# kbuild [VARIABLE=value]... TARGET...
kbuild() {
	env -u CONFIG make -C "$BUILD/tree" "O=$out" ARCH=arm CROSS_COMPILE=arm-linux-gnueabi- \
		-j"$(nproc)" "$@" >"$out.log" 2>&1 || {
		grep -E -A 5 'error:|Error [0-9]' "$out.log" | head -n 30
		return 1
	}
}

configure() {
	rm -rf "$out"
	mkdir -p "$out"
	printf 'CONFIG_%s=y\n' FTRACE FUNCTION_TRACER FTRACE_SYSCALLS PRINTK BUG MMU ARCH_MULTIPLATFORM \
		ARCH_MULTI_V7 ARCH_VIRT SMP >"$tmp/config"
	kbuild "KCONFIG_ALLCONFIG=$tmp/config" allnoconfig && grep -x CONFIG_EVENT_TRACING=y "$out/.config"
}

# A division that takes a function of libgcc's, which the kernel does not have
divisions() {
	find "$out/kernel/trace" -name '*.o' -exec arm-linux-gnueabi-nm -uA {} + |
		grep -E '__aeabi_u?ldivmod'
}

builds() {
	# shellcheck disable=SC2086 # a list
	kbuild W=1 "$@" $objects && ! our_warnings "$out.log" && ! divisions
}

needs_64bit() {
	sed -n '/^config RING_BUFFER_READER$/,/^config/p' "$BUILD/tree/kernel/trace/Kconfig" |
		grep -q 'depends on.*64BIT'
}

ok "a configuration with tracing" configure
ok "without the reader" builds
needs_64bit || ok "with the reader" builds "KCFLAGS=-DCONFIG_RING_BUFFER_READER=1"
rm -rf "$out"
plan
