#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each event agrees with what the host knows of it: guests with two vCPUs, a CPU that
# goes offline and comes back. There are as many events as KVM, the guest and PSCI say,
# memory is returned as it was given, and the tasks are right.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

EVENTS=$HYP/events/hypervisor
CPU=$((CPUS - 1))
ONLINE=/sys/devices/system/cpu/cpu$CPU/online

# all_of FILE COMMAND...: trace the command with all events.
all_of() {
	reset_to 4096
	echo 1 >"$HYP/events/enable"
	record "$@" || echo "it failed"
}

two_guests() {
	guest --vcpus 2 >guests
}

# number PATTERN: lines of the trace.
number() {
	grep -cE "$1" trace
}

# Guests' exits by class, and what each guest says of it.
classes() {
	for vcpu in 0 1; do
		for class in HVC64 WFx; do
			number "guest_exit vcpu=$vcpu exit_code=TRAP .* ec=$class "
		done
	done | xargs
}

guests_classes() {
	for vcpu in 0 1; do
		grep "^vcpu=$vcpu " guests | tr ' ' '\n' | sed -n 's/^hvc=//p'
		grep "^vcpu=$vcpu " guests | tr ' ' '\n' | sed -n 's/^wfi=//p'
	done | xargs
}

# exits_of VCPU
exits_of() {
	grep "^vcpu=$1 " guests | value exits
}

# pages OP: how many pages changed hands so, without an error.
pages() {
	sed -n "s/.* op=$1 pfn=0x[0-9a-f]* nr_pages=\([0-9]*\) ret=0\$/\1/p" trace |
		awk '{ n += $1 } END { print n + 0 }'
}

# pfns OP...: the pages, each as often as it was.
pfns() {
	for op; do
		sed -n "s/.* op=$op pfn=\(0x[0-9a-f]*\) .*/\1/p" trace
	done | sort | xargs
}

unnamed() {
	grep -q ' name=' trace || echo "no names"
	grep -E ' (name|ec|exit_code)=0x' trace
}

refused() {
	grep -q ' mem_transition op=' trace || [ "$(kvm_mode)" != protected ] ||
		echo "no page changed hands"
	grep ' mem_transition .* ret=-' trace
}

off_and_on() {
	echo 0 >"$ONLINE"
	echo 1 >"$ONLINE"
}

# The MPIDR of a CPU, as PSCI has it.
mpidr() {
	printf '0x%x\n' "0x$(od -An -v -tx1 "/sys/devices/system/cpu/cpu$1/of_node/reg" |
		tr -d ' \n')"
}

test_guest() {
	all_of trace two_guests
	none "each event is where it belongs" awk -f "$DIR/event_order.awk" trace
	is "no event was lost" "$(lost trace)" 0
	for vcpu in 0 1; do
		is "vCPU $vcpu: guest_enter for each exit" \
			"$(number "guest_enter vcpu=$vcpu ")" "$(exits_of $vcpu)"
		is "vCPU $vcpu: guest_exit for each exit" \
			"$(number "guest_exit vcpu=$vcpu ")" "$(exits_of $vcpu)"
	done
	is "guest_exit has hypercalls and waits" "$(classes)" "$(guests_classes)"
	holds "guest_exit has an address of the guest" "$(number 'elr=0x400000[0-9a-f]* ')" -gt 60
	holds "an interrupt has no syndrome" "$(number 'exit_code=IRQ esr=0x0 ')" -eq \
		"$(number 'exit_code=IRQ ')"
	holds "the host's hypercalls run them" \
		"$(number 'host_hcall .* name=__kvm_vcpu_run ')" -gt 60
	none "numbers have names" unnamed
	none "nothing was refused" refused
}

# Under pKVM memory is the hypervisor's for as long as the guest is there.
test_memory() {
	is "the guest's memory was returned" "$(pages hyp_donate)" "$(pages host_donate)"
	is "each page shared is unshared" "$(pfns host_unshare)" "$(pfns host_share)"
	if [ "$(kvm_mode)" = protected ]; then
		holds "pages were donated" "$(pages host_donate)" -gt 2
		holds "pages were shared" "$(pages host_share)" -gt 1
		holds "EL2 allocated pages" "$(number 'hyp_alloc pfn=0x[1-9a-f]')" -gt 0
		holds "EL2 freed pages" "$(number 'hyp_free pfn=0x[1-9a-f]')" -gt 0
		holds "the host touched unmapped pages" "$(number host_mem_abort)" -gt 0
	else
		is "no page is shared or donated" \
			"$(number '(mem_transition|hyp_alloc|hyp_free|host_mem_abort) ')" 0
		for name in 2 3 4 5; do
			ktap_test_skip "$name: plain nVHE has no stage 2 for the host"
		done
	fi
}

test_psci() {
	if [ ! -w "$ONLINE" ] || [ "$CPU" -eq 0 ]; then
		for name in 1 2 3 4; do
			ktap_test_skip "$name: no CPU can be taken offline"
		done
		return
	fi
	all_of trace off_and_on
	none "hotplug: each event is where it belongs" awk -f "$DIR/event_order.awk" trace
	[ "$(kvm_mode)" = protected ] && calls=1 || calls=0
	is "the CPU calls CPU_OFF" \
		"$(number "^\[00$CPU\] .*: psci_call .*_CPU_OFF arg0=")" "$calls"
	is "another CPU calls CPU_ON for it" \
		"$(number ": psci_call .*_CPU_ON arg0=$(mpidr "$CPU") ")" "$calls"
	is "CPU_ON is an SMC of the host" \
		"$(number ': host_smc id=0xc4000003 name=.*_CPU_ON forwarded=0$')" "$calls"
}

# The events of which a guest's run has some in each mode
ALWAYS="hyp_enter hyp_exit guest_enter guest_exit host_hcall"

# Each by itself: it, or nothing, and the host is none the worse.
not_alone() {
	for kind in $EVENT_LIST; do
		reset
		only "$kind"
		record trace two_guests || echo "$kind: no guest ran"
		awk '{ print $3 }' trace | grep -vx "$kind"
		case " $ALWAYS " in
		*" $kind "*) [ -s trace ] || echo "$kind: none" ;;
		esac
	done
}

# raw EVENT: the words of its records. Reading takes what there is.
raw() {
	for file in "$HYP"/per_cpu/cpu*/trace_pipe_raw; do
		fileop drain "$file"
	done | od -An -v -tu4 |
		awk -v page=$((PAGE_BYTES + 16)) -v id="$(cat "$EVENTS/$1/id")" \
			-f "$DIR/records.awk"
}

# recorded EVENT COMMAND...: trace the command, and keep the records of the event.
recorded() {
	kind=$1
	shift
	reset
	only "$kind"
	echo 1 >"$HYP/tracing_on"
	"$@"
	echo 0 >"$HYP/tracing_on"
	raw "$kind" >records
}

# tasks: the tasks of the events, by common_pid.
tasks() {
	awk '{ print $2 }' records | sort -u | xargs
}

tids() {
	tr ' ' '\n' <guests | sed -n 's/^tid=//p' | sort | xargs
}

write_some() {
	for id in 1 2 3; do
		echo $id >"$HYP/write_event"
	done
}

test_tasks() {
	recorded selftest write_some
	is "a hypercall has the pid of its task" "$(tasks)" "$$"
	recorded guest_exit two_guests
	is "a guest's exit has the pid of the vCPU's thread" "$(tasks)" "$(tids)"
	recorded guest_enter two_guests
	is "a guest's entry has the pid of the vCPU's thread" "$(tasks)" "$(tids)"
	recorded hyp_enter two_guests
	is "hyp_enter has the vCPU, or none" \
		"$(awk '{ print int($3 / 65536) }' records | sort -nu | xargs)" "0 1 65535"
	is "hyp_enter: as many for a vCPU as it exits" \
		"$(awk 'int($3 / 65536) == 1' records | wc -l)" "$(exits_of 1)"
}

plan $((12 + 7 + 4 + 1 + 5)) write_event
test_guest
test_memory
test_psci
none "each event can be enabled alone" not_alone
test_tasks
ktap_finished
