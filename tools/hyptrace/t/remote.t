#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kselftest on the module trace_remote_test, in a VM of two CPUs without KVM: no part of
# what it tests needs EL2. t/uml.t runs the same tests on one CPU.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"

failed=0

# Those that other machines than arm64 run
programs() {
	make -s -C "$BUILD/tree/tools/testing/selftests/hyp-trace" ARCH=x86_64 \
		OUTPUT="$BUILD/selftest-build" emit_tests | sed -n 's/^.*://p'
}

script() {
	cat <<-END
		#!/bin/sh
		export TRACE_REMOTE=trace_remote_test
		export HYP_TRACE_MODULE=/test/hyp-trace/modules/trace_remote_test.ko
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

ends_well() {
	cat "$tmp/err"
	[ "$status" = 0 ]
}

"$TOOLS/selftest"
script >"$tmp/script"
status=0
"$TOOLS/vm" MODE=none SMP=2 SCRIPT="$tmp/script" FILES="$BUILD/selftest" TIMEOUT=1200 \
	>"$tmp/tests" 2>"$tmp/err" </dev/null || status=$?
awk -v form="2 CPUs" -v first=1 -f "$TOOLS/t/ktap.awk" "$tmp/tests" >"$tmp/tap" || failed=1
cat "$tmp/tap"
tests=$(grep -cE '^(not )?ok ' "$tmp/tap") || :
ok "the VM ends well" ends_well
plan && [ "$failed" = 0 ]
