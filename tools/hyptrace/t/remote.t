#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kselftest on the module trace_remote_test, in a VM of two CPUs without KVM: no part of
# what it tests needs EL2. t/uml.t runs the same tests on one CPU.
. "$(dirname "$0")/ktap.sh"
. "$TOOLS/t/remote.sh"

"$TOOLS/selftest"
remote_script "$BUILD/selftest-build" /test/hyp-trace/modules
boot "$tmp/vm" MODE=none SMP=2 FILES="$BUILD/selftest" TIMEOUT=1200
report "2 CPUs" "$tmp/vm"
plan
