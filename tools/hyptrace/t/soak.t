#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The soak of the kselftest for some minutes, on the debug kernel and four CPUs:
# no splat, no leak, every event and every page accounted for.
#
# SOAK=seconds   how long (120)
# SEED=number    repeats a plan
# and what the runner takes: CONFIG MODE CPU SMP MEM
. "$(dirname "$0")/ktap.sh"

: "${SOAK:=120}" "${SEED:=$(date +%s)}"
# Little memory, so that it does not take long to load all of it.
: "${CONFIG:=debug}" "${MODE:=protected}" "${CPU:=max}" "${SMP:=4}" "${MEM:=384M}"
assign "SOAK SEED CONFIG MODE CPU SMP MEM" "$@"
export CONFIG MODE CPU SMP MEM

# A guest is there all the time: see t/forms.t.
vm_script <<END
export HYP_TRACE_SOAK=$SOAK HYP_TRACE_SOAK_SEED=$SEED
export HYP_TRACE_SOAK_KB=131072 HYP_TRACE_SOAK_LOADS=512
export HYP_TRACE_SOAK_SWITCHED=/test/switched
hyp-trace/guest --hold
run hyp-trace/soak.sh
END
"$TOOLS/selftest"
boot "$tmp/vm" FILES="$BUILD/selftest" TIMEOUT=$((SOAK + 300))
report "$MODE $CPU, $SMP CPUs, $CONFIG" "$tmp/vm"
plan
