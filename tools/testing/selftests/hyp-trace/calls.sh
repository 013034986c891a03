#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Calls that no kernel makes: hypercalls that do not exist, or not any more, SMCs for
# EL2 and the firmware, and FF-A calls without a secure world. The trace has each of
# them.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

MODULE=$DIR/modules/hyp_call.ko
# Of FF-A: FFA_ERROR with INVALID_PARAMETERS; NOT_SUPPORTED in place of a version
INVALID="res=0x0,0xfffffffffffffffe,0x0,0x0 handled=1 err=-2 res_a0=0x84000060"
NO_VERSION="res=0x0,0x0,0x0,0x0 handled=1 err=0 res_a0=0xffffffffffffffff"
UNFIT="host_hcall id=4294967295 name=0xffffffff invalid=1 ret=-1"
CALL=/sys/kernel/debug/hyp_call

# traced CALL: what the trace has of it, without what tracing itself calls.
traced() {
	reset
	only host_hcall host_smc host_ffa_call
	record trace call "$1"
	sed -n 's/^[^:]*: //p' trace | grep -v ' name=__hyp_trace_'
}

call() {
	echo "$1" >"$CALL"
}

# returned CALL: what it returns: the four registers.
returned() {
	call "$1"
	cat "$CALL"
}

# smc NAME CALL EXPECTED: EL2 sees the host's SMCs under pKVM alone.
smc() {
	if [ "$(kvm_mode)" = protected ]; then
		is "$1" "$(traced "$2")" "$3"
	else
		is "$1: past EL2" "$(traced "$2")" ""
	fi
}

test_hypercalls() {
	is "a hypercall that does not exist" "$(traced "hvc 0xc600ffff 1 2")" \
		"host_hcall id=65535 name=0xffff invalid=1 ret=-1"
	is "a hypercall that does not exist: its result" \
		"$(returned "hvc 0xc600ffff 1 2" | cut -d ' ' -f 1)" \
		0xffffffffffffffff
	is "no hypercall at all" "$(traced "hvc 0x84000000")" \
		"$UNFIT"
	is "a number with a hypercall's in its lower half" "$(traced "hvc 0x1c600000c")" \
		"$UNFIT"
	if [ "$(kvm_mode)" = protected ]; then
		is "a hypercall that the host may no longer make" "$(traced "hvc 0xc6000001")" \
			"host_hcall id=1 name=__kvm_get_mdcr_el2 invalid=1 ret=-1"
	else
		ktap_test_skip "a hypercall that the host may no longer make: there is none"
	fi
}

test_smcs() {
	smc "an SMC that EL2 handles" "smc 0x84000000" \
		"host_smc id=0x84000000 name=PSCI_0_2_FN_PSCI_VERSION forwarded=0"
	smc "an SMC for the firmware" "smc 0x80000000" \
		"host_smc id=0x80000000 name=0x80000000 forwarded=1"
	smc "FF-A: before a version is negotiated" "smc 0x84000069" \
		"host_ffa_call func_id=0x84000069 name=FFA_ID_GET $INVALID
host_smc id=0x84000069 name=FFA_ID_GET forwarded=0"
	smc "FF-A: a version, where there is no secure world" "smc 0x84000063 0x10000" \
		"host_ffa_call func_id=0x84000063 name=FFA_VERSION $NO_VERSION
host_smc id=0x84000063 name=FFA_VERSION forwarded=0"
}

test_refused() {
	for text in "" "hvc" "xvc 1" "hvc x" "hvc 0 1 2 3 4 5 6 7 8"; do
		is "the module refuses '$text'" "$(fileop write "$CALL" "$text")" EINVAL
	done
}

plan 14
if ! insmod "$MODULE"; then
	ktap_print_msg "no $MODULE for this kernel"
	for name in $(seq 14); do
		ktap_test_skip "$name: no module"
	done
	ktap_finished
fi
test_hypercalls
test_smcs
test_refused
rmmod hyp_call
ktap_finished
