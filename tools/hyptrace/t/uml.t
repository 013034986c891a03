#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Remote tracing without a remote, and without QEMU: the kernel's ring buffer and its files
# run under UML, natively. First the KUnit suites of kernel/trace/remote, then the kselftest on
# the module trace_remote_test. UML has one CPU. UML's own host must be an x86 machine.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"

case $(uname -m) in
x86_64) ;;
*)
	echo "1..0 # SKIP UML runs on x86-64, this is $(uname -m)"
	exit
	;;
esac

# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"

TESTS=$ROOT/kernel/trace/remote/tests
SELFTEST=$BUILD/tree/tools/testing/selftests
failed=0

kunit() {
	begin=$(date +%s%N)
	"$TOOLS/uml" kunit >"$tmp/ktap" 2>"$tmp/kunit.err" || :
	echo "# KUnit took $((($(date +%s%N) - begin) / 1000000)) ms, with the boot"
	awk -f "$TOOLS/t/kunit.awk" "$tmp/ktap" >"$tmp/cases"
	while read -r verdict name; do
		ok "KUnit: $name" said_ok "$verdict" "$name"
	done <"$tmp/cases"
	ok "KUnit: all cases ran" [ "$(wc -l <"$tmp/cases")" = "$(all_cases)" ]
}

all_cases() {
	cat "$TESTS"/test*.c | grep -c 'KUNIT_CASE'
}

# The verdict; if it is not ok, what was said before it.
said_ok() {
	[ "$1" = ok ] || {
		grep -B 20 "not ok [0-9]* $2" "$tmp/ktap"
		return 1
	}
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

programs() {
	make -s -C "$SELFTEST/hyp-trace" ARCH=x86_64 OUTPUT="$tmp/build" emit_tests |
		sed -n 's/^.*://p'
}

# What runs in UML
script() {
	cat <<-END
		export HYP_TRACE_MODULE=/mnt/trace_remote_test.ko
		insmod "\$HYP_TRACE_MODULE" || exit
		for test in $(programs | xargs); do
			echo "# test \$test"
			begin=\$(cut -d . -f 1 /proc/uptime)
			hyp-trace/\$test </dev/null
			status=\$?
			echo "# \$test took \$((\$(cut -d . -f 1 /proc/uptime) - begin)) s"
			echo "# status \$status"
		done
		rmmod trace_remote_test
	END
}

interface() {
	script >"$tmp/script"
	status=0
	OUT="$tmp/files" "$TOOLS/uml" run "$tmp/script" >"$tmp/tests" 2>"$tmp/err" || status=$?
	awk -v form=UML -v first="$((tests + 1))" -f "$TOOLS/t/ktap.awk" "$tmp/tests" \
		>"$tmp/tap" || failed=1
	cat "$tmp/tap"
	tests=$((tests + $(grep -cE '^(not )?ok ' "$tmp/tap")))
	ok "UML: it ends well" ended_well
}

ended_well() {
	cat "$tmp/err"
	[ "$status" = 0 ]
}

"$TOOLS/tree" >&2
ok "the kernel" "$TOOLS/uml" kernel
kunit
ok "the kselftest for UML" selftest
interface
plan && [ "$failed" = 0 ]
