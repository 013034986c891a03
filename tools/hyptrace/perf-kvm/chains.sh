#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm records a guest whose calls are known: /test/kvm-guest-callchains/spin. Runs in a VM.
#
# usage: chains.sh EVENT
. "${0%/*}/lib.sh"
event=$1

# QEMU's PMU looks for an overflow when the exception level changes. Where that is seldom, its
# timer comes first, and most samples are of where the guest spins.
spins=2000000
mkfifo fifo
/test/kvm-guest-callchains/spin kallsyms $spins <>fifo >guest.out 2>&1 &
guest=$!
until_done grep -qs _etext kallsyms

# record RECORDING SECONDS ARGUMENT...
record() {
	recording=$1 seconds=$2
	shift 2
	said "$recording.recorded" perf "$@" -e "$event" -c 500000 -g -p "$guest" -o "$recording" \
		-- sleep "$seconds"
}

record data 3 kvm --guestkallsyms=kallsyms --guest record
said by-file perf script -i data --guest-code -F ip,sym
said by-kallsyms perf script -i data --guestkallsyms=kallsyms -F ip,sym
said report perf kvm --guestkallsyms=kallsyms --guest report -i data --stdio --no-children -G
said folded perf kvm --guestkallsyms=kallsyms --guest report -i data --stdio --no-children \
	-g folded,0,caller

# The guest's kallsyms below the number of its VMM, and another VMM's that is not there
mkdir -p "mnt/$guest/proc" mnt/1/proc
cp kallsyms "mnt/$guest/proc"
: >"mnt/$guest/proc/modules"
record mounted 1 kvm --guest --guestmount=mnt record
said by-mount perf script -i mounted --guestmount=mnt -F ip,sym

# By the guest's vmlinux alone, also when it is recorded
record linked 1 kvm --guest --guestvmlinux=/test/vmlinux record
said by-vmlinux perf script -i linked --guestvmlinux=/test/vmlinux -F ip,sym

said converted perf data convert -i data --to-json="$out/data.json" --force

# The chart is made of the host's switches, and passes over the guest's samples beside them.
record switches 1 kvm --guestkallsyms=kallsyms --host --guest record -e sched:sched_switch \
	-e sched:sched_wakeup
said chart perf script -i switches --guestkallsyms=kallsyms
said timechart perf timechart -i switches -o chart.svg
said chart.svg cat chart.svg

# It ends when what it shows is there.
: >"$out/top"
{
	until_done grep -qs k_leaf "$out/top" || :
	echo q
} | said top perf kvm --guestkallsyms=kallsyms --guest top -e "$event" -c 500000 -p "$guest" \
	--stdio -d 1

# perf_event_paranoid decides for guests as for the host's kernel.
record host.data 1 record
said host perf script -i host.data -F ip,sym
kill "$guest"
finished
