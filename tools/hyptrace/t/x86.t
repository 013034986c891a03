#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Compile for x86-64 all that needs no arm64: the ring, its reader, remotes, the test remote,
# their KUnit tests, and what the patches change outside arch/arm64; no warning by W=1.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"
# shellcheck source=tools/hyptrace/source.sh
. "$TOOLS/source.sh"

case $(uname -m) in
x86_64) cross= ;;
*) cross=x86_64-linux-gnu- ;;
esac
need x86
"$TOOLS/tree" >&2
out=$BUILD/kernel-x86

# kbuild [VARIABLE=value]... TARGET...
kbuild() {
	env -u CONFIG make -C "$BUILD/tree" "O=$out" ARCH=x86_64 CROSS_COMPILE="$cross" \
		-j"$(nproc)" "$@" >"$out.log" 2>&1 || {
		grep -E -A 5 'error:|Error [0-9]' "$out.log" | head -n 30
		return 1
	}
}

# The test remote as a module, and nothing else that wants a ring; or all built in
configure() {
	kunit=y
	[ "$1" = y ] || kunit=n
	rm -rf "$out"
	mkdir -p "$out"
	printf 'CONFIG_%s\n' 64BIT=y SMP=y MODULES=y FTRACE=y FUNCTION_TRACER=y PRINTK=y BUG=y \
		PERF_EVENTS=y KPROBES=y KPROBE_EVENTS=y FTRACE_SYSCALLS=y BPF_SYSCALL=y HIST_TRIGGERS=y \
		KUNIT=y "TRACE_REMOTE_KUNIT_TEST=$kunit" "TRACE_REMOTE_TEST=$1" >"$tmp/config"
	kbuild "KCONFIG_ALLCONFIG=$tmp/config" allnoconfig &&
		grep -x "CONFIG_TRACE_REMOTE_TEST=$1" "$out/.config" &&
		{ [ "$1" = m ] || grep -x CONFIG_TRACE_REMOTE_KUNIT_TEST=y "$out/.config"; }
}

builds() {
	kbuild W=1 fs/tracefs/ kernel/trace/
}

silent() {
	! our_warnings "$out.log"
}

# Where there is none, modpost stops.
licensed() {
	find "$out/kernel/trace" -name '*.mod' | sed 's/mod$/o/' >"$tmp/modules"
	xargs grep -L license= <"$tmp/modules" >"$tmp/unlicensed" || :
	cat "$tmp/unlicensed"
	says remote/tests/trace_remote_test.o "$tmp/modules" && [ ! -s "$tmp/unlicensed" ]
}

# Of kernel/trace and fs/tracefs, what nothing was compiled of
all_compiled() {
	not_compiled "$out" | grep -E '^(kernel/trace|fs/tracefs)/' |
		grep -v '/trace_dumper\.c$\|/remote/dump\.c$' >"$tmp/left" || :
	cat "$tmp/left"
	[ ! -s "$tmp/left" ] && c_files | grep -q '^kernel/trace/remote/'
}

for kind in m y; do
	ok "a configuration with TRACE_REMOTE_TEST=$kind" configure "$kind"
	ok "TRACE_REMOTE_TEST=$kind builds" builds
	ok "TRACE_REMOTE_TEST=$kind: no warning" silent
	[ "$kind" = y ] || ok "TRACE_REMOTE_TEST=$kind: each module has a license" licensed
done
ok "each file in kernel/trace and fs/tracefs is compiled" all_compiled
rm -rf "$out"
plan
