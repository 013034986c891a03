#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The soak of the kselftest for some minutes, on the debug kernel and four CPUs:
# no splat, no leak, every event and every page accounted for.
#
# SOAK=seconds   how long (120)
# SEED=number    repeats a plan
# and what the runner takes: CONFIG MODE CPU SMP MEM
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"

: "${SOAK:=120}" "${SEED:=$(date +%s)}"
# Little memory, so that it does not take long to load all of it.
: "${CONFIG:=debug}" "${MODE:=protected}" "${CPU:=max}" "${SMP:=4}" "${MEM:=384M}"
assign "SOAK SEED CONFIG MODE CPU SMP MEM" "$@"
export CONFIG MODE CPU SMP MEM
tmp=$(mktemp -d "$BUILD/test-XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# A guest is there all the time: see t/forms.t.
boot() {
	cat >"$tmp/script" <<-END
		#!/bin/sh
		export HYP_TRACE_SOAK=$SOAK HYP_TRACE_SOAK_SEED=$SEED
		export HYP_TRACE_SOAK_KB=131072 HYP_TRACE_SOAK_LOADS=512
		export HYP_TRACE_SOAK_SWITCHED=/test/switched
		hyp-trace/guest --hold
		echo "# test soak.sh"
		hyp-trace/soak.sh </dev/null
		echo "# status \$?"
	END
	"$TOOLS/vm" SCRIPT="$tmp/script" FILES="$BUILD/selftest" TIMEOUT=$((SOAK + 300)) \
		>"$tmp/ktap" 2>"$tmp/err" && rc=0 || rc=$?
}

"$TOOLS/selftest"
boot
awk -v form="$MODE $CPU, $SMP CPUs, $CONFIG" -v first=1 -f "$TOOLS/t/ktap.awk" "$tmp/ktap" \
	>"$tmp/tap" && failed=0 || failed=1
cat "$tmp/tap"
count=$((1 + $(grep -cE '^(not )?ok ' "$tmp/tap")))
if [ "$rc" = 0 ]; then
	echo "ok $count - no splat, and no leak that kmemleak finds"
else
	echo "not ok $count - the VM ends with status $rc"
	failed=1
fi
sed 's/^/# /' "$tmp/err"
echo "1..$count"
exit "$failed"
