#!/bin/sh
# perf kvm stat: counted by BPF
# SPDX-License-Identifier: GPL-2.0
#
# BPF programs count the exits of a VM, and how long they take.

# What lib/kvm_vm.sh has
# shellcheck disable=SC2154
# shellcheck source-path=SCRIPTDIR source=lib/kvm_vm.sh
. "$(dirname "$0")"/lib/kvm_vm.sh

# displayed NUMBER: live mode has shown so many displays.
# shellcheck disable=SC2317 # within_a_minute runs it
displayed()
{
	[ "$(grep -c "Analyze events" "$data/report")" -ge "$1" ]
}

# live OPTION...: the displays of a round of the VM, until two are behind it
live()
{
	mkfifo "$data/keys"
	perf kvm stat live -a --use-bpf -d 1 "$@" <> "$data/keys" > "$data/report" 2>&1 &
	perf=$!
	if within_a_minute displayed 1; then
		echo >&3
		if wait_for_round 1; then
			shown=$(grep -c "Analyze events" "$data/report")
			within_a_minute displayed $((shown + 2))
		fi
	fi
	kill -TERM $perf 2> /dev/null
	wait $perf
}

# expect TEST EVENT SAMPLES: in all displays together
expect()
{
	found=$(awk -v event="$2" '$1 == event { n += $2 } END { print n + 0 }' "$data/report")
	expect_number "$1" "$2" "$found" "$3"
}

# User space takes 20 ms for each access to the device: from 2^24 ns on
accesses_take_long()
{
	awk -F '|' -v title="$access:" '
		/:$/ { mine = $0 == title }
		mine && NF == 4 && !/COUNT/ { n[$1 + 0 >= 16777] += $2 }
		END { exit n[0] || n[1] != 7 }' "$data/report"
}

# BPF programs find processes by their numbers in the first namespace.
perf_in_a_namespace()
{
	unshare --pid --fork timeout 60 perf kvm stat live --use-bpf -p 1 \
		> "$data/report" 2>&1
}

perf version --build-options 2>&1 | grep -q 'bpf_skeletons: \[ on ' ||
	skip "perf kvm stat: built without BPF skeletons"
[ -w /dev/kvm ] || skip "perf kvm stat: no /dev/kvm"
[ "$(id -u)" = 0 ] || skip "perf kvm stat: not allowed to load BPF programs"
start_vm delay=20000 || skip "perf kvm stat: no VM"

live --histogram
expect "hypercalls" "$hypercall" 300
expect "instructions that KVM emulates" "$emulated" 150
expect "accesses to a device" "$access" 7
accesses_take_long
judge "times"
! grep -qi "lost" "$data/report"
judge "no event is lost"

if unshare --pid --fork true 2> /dev/null; then
	! perf_in_a_namespace && grep -q "first PID namespace" "$data/report"
	judge "processes of another PID namespace are refused"
else
	echo "processes of another PID namespace: skipped, there are none"
fi

exit $err
