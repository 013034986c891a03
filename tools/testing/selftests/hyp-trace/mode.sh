#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hypervisor/ exists if and only if KVM runs code of its own at EL2 beside the host. KVM
# runs a guest in each mode.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

ktap_print_header
ktap_set_plan 3
mode=$(kvm_mode)
ktap_print_msg "KVM's mode is $mode"

# A caller that asked for a mode may have got another.
is "KVM runs in the mode asked for" "$mode" "${KVM_MODE:-$mode}"

# By none of its names, when it ought not to be.
case $mode in
protected | nvhe) holds "hypervisor/ is there" -d "$HYP" ;;
*) none "no hypervisor/ in this mode" \
	find "$TRACEFS" -maxdepth 2 '(' -name 'hypervisor' -o -name remotes ')' ;;
esac

if [ "$mode" = none ]; then
	is "no KVM in this mode" "$(ls /dev/kvm 2>&-)" ""
else
	guest --vcpus "$CPUS" --cpu 0 >guests
	is "KVM runs a guest" $? 0
fi
ktap_finished
