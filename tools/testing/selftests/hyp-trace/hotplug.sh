#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A CPU goes offline and comes back between two runs of a guest, or leaves before the rings are
# loaded and comes back after that: no event is missing.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

CPU=$((CPUS - 1))
ONLINE=/sys/devices/system/cpu/cpu$CPU/online

run_guest() {
	guest --cpu "$CPU" >>guests
}

go_and_come() {
	run_guest
	echo 0 >"$ONLINE"
	echo 1 >"$ONLINE"
	run_guest
}

come() {
	echo 1 >"$ONLINE"
	run_guest
}

plan 10
if [ ! -w "$ONLINE" ] || [ "$CPU" -eq 0 ]; then
	for name in 1 2 3 4 5 6 7 8 9 10; do
		ktap_test_skip "$name: no CPU can be taken offline"
	done
	ktap_finished
fi
: >guests
record trace go_and_come
is "no event was lost" "$(lost trace)" 0
is "the guest ran before and after" "$(grep -c ^vcpu= guests)" 2
is "no event before or after is missing" "$(count trace hyp_enter guest "$CPU")" "$(exits guests)"
none "hyp_enter and hyp_exit alternate on each CPU" unsound 'malformed|unpaired|misled' trace
none "times never go backwards on a CPU" unsound backwards trace
# Under pKVM the CPU comes back through EL2's own PSCI entry; else the hypervisor
# is set up anew and sees no PSCI.
case $(kvm_mode) in
protected) is "the CPU comes back by PSCI" "$(count trace hyp_enter psci "$CPU")" 1 ;;
*) is "no PSCI call passes EL2" "$(count trace hyp_enter psci)" 0 ;;
esac

is "no ring is loaded" "$(state)" "(unloaded)"
echo 0 >"$ONLINE"
: >guests
record trace come
is "no event was lost after a load without the CPU" "$(lost trace)" 0
is "no event of a CPU that left before the load is missing" \
	"$(count trace hyp_enter guest "$CPU")" "$(exits guests)"
none "hyp_enter and hyp_exit alternate then, too" unsound 'malformed|unpaired|misled' trace
ktap_finished
