# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2154 # as in ktap.sh
# The kselftest on the module trace_remote_test; sourced after ktap.sh.

# remote_script BUILT MODULES: run what other machines than arm64 run of the kselftest that make
# built there, with the module of that directory in the machine.
remote_script() {
	vm_script <<-END
		export TRACE_REMOTE=trace_remote_test HYP_TRACE_MODULE=$2/trace_remote_test.ko
		insmod "\$HYP_TRACE_MODULE" || exit
		for test in $(make -s -C "$BUILD/tree/tools/testing/selftests/hyp-trace" ARCH=x86_64 \
			OUTPUT="$1" emit_tests | sed -n 's/^.*://p' | xargs); do
			run "hyp-trace/\$test"
		done
		rmmod trace_remote_test
	END
}
