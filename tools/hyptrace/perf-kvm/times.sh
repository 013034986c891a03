#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat's times, on a machine where an instruction takes a nanosecond: user space takes
# 5 ms for each access to a device. Runs in a VM.
# shellcheck disable=SC2016 # programs of awk
. "${0%/*}/lib.sh"
mkdir -p "/tmp/${0##*/}"
cd "/tmp/${0##*/}" || exit

# recorded NAME OPTION...: a guest that makes each access once before, unless it is late
recorded() {
	guest "$1" 3 vcpus=1 hvc=100 sysreg=50 mmio=100 delay=5000 "$2" || return
	cat >go <<-END2
		. /test/perf-kvm/lib.sh
		fd_$1=3
		rounds 1 $1
	END2
	record data -a sh ./go && last_round "$1" >expected && cat expected && end_guest "$1" 3
}

# 5 ms, and what the timer, the switches of tasks and KVM take. The only CPU may be another
# task's until the next tick, 4 ms later.
exit_times() {
	report data --per-vcpu && holds '$2 == "DABT_LOW" && $3 == 100' \
		'$5 >= 5000 && $6 < 9500 && $7 >= 5000 && $7 < 5400'
}

access_times() {
	report data --per-vcpu --event=mmio && holds '$2 ~ /^0x/' \
		'$3 == 50 && $5 >= 5000 && $6 < 9500 && $7 >= 5000 && $7 < 5400'
}

# The kernel's part of it is short.
trap_times() {
	report data --per-vcpu --event=trap && holds '$2 == "DABT_LOW"' '$6 < 1000'
}

# From before the first KVM_RUN to after the last access, which goes on for as long as the
# others take until the guest waits.
running_time() {
	report data --per-vcpu &&
		ns=$(sed -n 's/.* ns=\([0-9]*\)$/\1/p' expected) &&
		holds '$2 == "="' "(\$4 + \$5) * 1000 > $ns * 0.99 && (\$4 + \$5) * 1000 < $ns * 1.01"
}

ok "recorded" recorded slow late=0
ok "exits take the time of user space" exit_times
ok "so do accesses" access_times
ok "traps do not" trap_times
ok "recorded, from its beginning on" recorded late late=1
ok "exits and guest are the running time, within 1 %" running_time
plan
