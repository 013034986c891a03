#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hypervisor/ is there when, and only when, KVM has a hypervisor at EL2 beside
# the host; and KVM runs a guest in any case.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

FILES="tracing_on buffer_size_kb trace_clock trace trace_pipe events/enable
events/hypervisor/enable"
for event in hyp_enter hyp_exit; do
	FILES="$FILES events/hypervisor/$event/enable events/hypervisor/$event/id
	events/hypervisor/$event/format"
done
for cpu in $(seq 0 $((CPUS - 1))); do
	FILES="$FILES per_cpu/cpu$cpu/trace_pipe"
done

absent_files() {
	for file in $FILES; do
		[ -e "$HYP/$file" ] || echo "$file"
	done
}

ktap_print_header
ktap_set_plan 3
mode=$(kvm_mode)
ktap_print_msg "KVM's mode is $mode"

# A caller that asked for a mode may have got another.
is "KVM runs in the mode asked for" "$mode" "${KVM_MODE:-$mode}"

case $mode in
protected | nvhe) none "hypervisor/ is there, with all its files" absent_files ;;
*) none "no hypervisor/ in this mode" find "$TRACEFS" -maxdepth 1 -name 'hyp*' ;;
esac

if [ "$mode" = none ]; then
	is "no KVM in this mode" "$(ls /dev/kvm 2>&-)" ""
else
	guest --vcpus "$CPUS" --cpu 0 >guests
	is "KVM runs a guest" $? 0
fi
ktap_finished
