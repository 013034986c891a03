#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Remote tracing without a remote, and without QEMU: the kernel's ring buffer and its files
# run under UML, natively. First the KUnit suites of kernel/trace/remote, then the kselftest on
# the module trace_remote_test. UML has one CPU. UML's own host must be an x86 machine.

case $(uname -m) in
x86_64) ;;
*)
	echo "1..0 # SKIP UML runs on x86-64, this is $(uname -m)"
	exit
	;;
esac

. "$(dirname "$0")/ktap.sh"
. "$TOOLS/t/remote.sh"

SELFTEST=$BUILD/tree/tools/testing/selftests

kunit() {
	begin=$(date +%s%N)
	"$TOOLS/uml" kunit >"$tmp/ktap" 2>"$tmp/kunit.err" || :
	echo "# KUnit took $((($(date +%s%N) - begin) / 1000000)) ms, with the boot"
	kunit_results "$tmp/ktap" "$ROOT"/kernel/trace/remote/tests/test*.c
}

# The kselftest for this machine: its own programs, and the shell's.
selftest() {
	files=$tmp/files
	mkdir -p "$files/kselftest" "$tmp/build"
	env -u CONFIG make -s -C "$SELFTEST/hyp-trace" ARCH=x86_64 OUTPUT="$tmp/build" \
		INSTALL_PATH="$files/hyp-trace" install &&
		cp "$SELFTEST/kselftest/ktap_helpers.sh" "$files/kselftest" &&
		cp "$BUILD/kernel-uml/kernel/trace/remote/tests/trace_remote_test.ko" "$files"
}

interface() {
	remote_script "$tmp/build" /mnt
	OUT="$tmp/files" "$TOOLS/uml" run "$tmp/script" >"$tmp/ktap" 2>"$tmp/err" && echo 0 >"$tmp/status" ||
		echo $? >"$tmp/status"
	report UML "$tmp"
}

"$TOOLS/tree" >&2
ok "the kernel" "$TOOLS/uml" kernel
[ "$failures" = 0 ] || { plan; exit; }
kunit
ok "the kselftest for UML" selftest
interface
plan
