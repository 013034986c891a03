#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm records a guest whose calls are known; its reports and scripts name each caller,
# and the host's samples are the host's. Runs in a VM.
#
# usage: perf.sh EVENT
# shellcheck disable=SC2016 # programs of awk
DIR=/test
PERF=$DIR/perf
event=$1
. "$DIR/in-vm.sh"
mkdir -p "/tmp/${0##*/}"
cd "/tmp/${0##*/}" || exit

# QEMU's PMU looks for an overflow when the exception level changes. Where that is seldom, its
# timer comes first, and most samples are of where the guest spins.
SPINS=2000000

start_guest() {
	mkfifo fifo
	"$DIR/kvm-guest-callchains/spin" kallsyms $SPINS <fifo >guest.out 2>&1 &
	guest=$!
	exec 3>fifo
	until_done grep -qs _etext kallsyms
}

end_guest() {
	exec 3>&-
	until_done gone "$guest"
}

kvm() {
	"$PERF" kvm --guestkallsyms=kallsyms "$@"
}

recorded() {
	kvm --guest record -e "$event" -c 500000 -g -p "$guest" -o data -- sleep 3 &&
		"$PERF" script -i data --guest-code -F ip,sym 2>err >by-file &&
		"$PERF" script -i data --guestkallsyms=kallsyms -F ip,sym 2>err >by-kallsyms &&
		[ -s by-kallsyms ]
}

# The chains of a script, each as a line of functions from the innermost on, counted. The
# guest of x86 has one of each name in code of 64 bits, and one of 32.
chains() {
	awk '
		NF { sub(/64_/, "_", $2); line = line (line ? " " : "") $2; next }
		line { n[line]++; line = "" }
		END { if (line) n[line]++; for (line in n) print n[line], line }' "$1" | sort -rn
}

# share FILE FIRST CHAIN: of the chains that begin with that function, 95 % are this.
share() {
	chains "$1" >"$1.chains"
	cat "$1.chains"
	awk -v first="$2" -v chain="$3" '
		$2 == first { all += $1; count = $1; $1 = ""; if ($0 == " " chain) good += count }
		END { print all + 0, good + 0; exit all < 20 || good < all * 0.95 }' "$1.chains"
}

kernel_chain() {
	share by-kallsyms k_leaf "k_leaf k_middle k_outer k_entry"
}

user_chain() {
	share by-file u_leaf "u_leaf u_deep u_deep u_outer u_start"
}

# The lines of the callers have no columns.
reported() {
	kvm --guest report -i data --stdio --no-children -G >reported 2>err
	cat reported
	for function in k_entry k_outer k_middle k_leaf; do
		grep -qE "^[ |0-9.%-]+$function( |$)" reported || return
	done
}

folded() {
	kvm --guest report -i data --stdio --no-children -g folded,0,caller >folded 2>err &&
		cat folded && grep -q 'k_entry;k_outer;k_middle;k_leaf' folded
}

# The guest's kallsyms below the number of its VMM, and another VMM's that is not there
mounted() {
	mkdir -p "mnt/$guest/proc" mnt/1/proc
	cp kallsyms "mnt/$guest/proc"
	: >"mnt/$guest/proc/modules"
	"$PERF" kvm --guest --guestmount=mnt record -e "$event" -c 500000 -g -p "$guest" -o mounted.data \
		-- sleep 1 &&
		"$PERF" script -i mounted.data --guestmount=mnt -F ip,sym 2>err >by-mount &&
		share by-mount k_leaf "k_leaf k_middle k_outer k_entry"
}

# By the guest's vmlinux alone, also when it is recorded
linked() {
	"$PERF" kvm --guest --guestvmlinux=$DIR/vmlinux record -e "$event" -c 500000 -g -p "$guest" \
		-o linked.data -- sleep 1 &&
		"$PERF" script -i linked.data --guestvmlinux=$DIR/vmlinux -F ip,sym 2>err >by-vmlinux &&
		share by-vmlinux k_leaf "k_leaf k_middle k_outer k_entry"
}

# Chains have their callers there.
json() {
	"$PERF" data convert -i data --to-json=data.json --force || return
	samples=$(grep -c '"timestamp"' data.json)
	addresses=$(grep -c '"ip"' data.json)
	echo "$samples samples, $addresses addresses"
	head -n 60 data.json
	[ "$samples" -gt 20 ] && [ "$addresses" -gt $((11 * samples / 10)) ]
}

# The chart is made of the host's switches, and passes over the guest's samples beside them.
timechart() {
	kvm --host --guest record -e sched:sched_switch -e sched:sched_wakeup -e "$event" -c 500000 \
		-g -p "$guest" -o chart.data -- sleep 1 &&
		"$PERF" script -i chart.data --guestkallsyms=kallsyms >chart.txt 2>&1
	head -n 20 chart.txt
	grep k_leaf chart.txt >chart.leaves && "$PERF" timechart -i chart.data -o chart.svg &&
		grep '<svg' chart.svg && ! grep k_leaf chart.svg
}

top_has_guest() {
	grep k_leaf top.out
}

# It ends when what it shows is there.
top_shows() {
	: >top.out
	{ until_done top_has_guest >found; echo q; } |
		kvm --guest top -e "$event" -c 500000 -p "$guest" --stdio -d 1 >top.out 2>err
	cat err
	top_has_guest
}

# perf_event_paranoid decides for guests as for the host's kernel.
host_only() {
	"$PERF" record -e "$event" -c 500000 -g -p "$guest" -o host.data -- sleep 1 &&
		"$PERF" script -i host.data -F ip,sym 2>err >host && cat host && ! grep -E '[ku]_leaf' host
}

ok "the guest starts" start_guest
ok "perf kvm records it" recorded
ok "the chain of EL1, by the guest's kallsyms" kernel_chain
ok "the chain of EL0, by the VMM's file" user_chain
ok "perf report" reported
ok "perf report, folded" folded
ok "--guestmount" mounted
ok "--guestvmlinux" linked
ok "perf data convert" json
ok "perf timechart" timechart
ok "perf top" top_shows
ok "perf record without --guest has no samples of it" host_only
ok "the guest ends" end_guest
plan
