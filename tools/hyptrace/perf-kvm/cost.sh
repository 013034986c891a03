#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the new tracepoints cost while they are on, on a machine where an instruction takes a
# nanosecond: counted over the exits of a guest. Runs in a VM.
# shellcheck source=tools/hyptrace/perf-kvm/lib.sh
. "${0%/*}/lib.sh"
cd /tmp || exit
MOST=2000	# instructions that an event may take, in the kernel's own ring buffer

now() {
	sed -n 's/^now at \([0-9]*\) nsecs/\1/p' /proc/timer_list
}

# timed NAME: how long a round takes, the smallest of three
timed() {
	least=
	for _ in 1 2 3; do
		number=$((number + 1))
		begin=$(now)
		eval "echo >&\$fd_$1"
		until has_made "$1" "$number"; do usleep 1000; done
		time=$(($(now) - begin))
		[ -n "$least" ] && [ "$time" -gt "$least" ] || least=$time
	done
	echo "$least" >least
}

# cost NAME EXITS EVENT...: of all these events together, a time that they occur
cost() {
	name=$1 exits=$2 number=0
	shift 2
	timed "$name"
	off=$(cat least)
	for event; do
		echo 1 >"/sys/kernel/tracing/events/kvm/$event/enable"
	done
	timed "$name"
	for event; do
		echo 0 >"/sys/kernel/tracing/events/kvm/$event/enable"
	done
	each=$((($(cat least) - off) / exits / $#))
	echo "# $*: $each instructions each"
	[ "$each" -gt 0 ] && [ "$each" -lt "$MOST" ]
}

# ok keeps what is said; the figures are for all to see.
shown() {
	"$@" >figure
	status=$?
	cat figure
	return $status
}

guest calls 3 vcpus=1 hvc=20000 sysreg=0
shown cost calls 20000 kvm_trap_enter kvm_trap_exit
trap_status=$?
end_guest calls 3
guest accesses 3 vcpus=1 hvc=0 sysreg=0 mmio=5000
shown cost accesses 5000 kvm_vcpu_load kvm_vcpu_put
load_status=$?
end_guest accesses 3
ok "kvm_trap_enter and kvm_trap_exit" test "$trap_status" = 0
ok "kvm_vcpu_load and kvm_vcpu_put" test "$load_status" = 0
plan
