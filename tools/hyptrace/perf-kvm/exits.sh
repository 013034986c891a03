#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat records two VMs, whose vCPUs have run before and, but for one, never return to
# user space: it counts the exits, traps and accesses of each vCPU as KVM does. Runs in a VM.
# shellcheck disable=SC2016 # programs of awk
. "${0%/*}/lib.sh"
mkdir -p "/tmp/${0##*/}"
cd "/tmp/${0##*/}" || exit

# The vCPUs have different numbers of everything: the n-th has n times as many.
guest four 3 vcpus=4 hvc=100 sysreg=50 mmio=7
guest two 4 vcpus=2 hvc=1000 sysreg=500
number=0

# both [OPTION]...: record a round of both, of all CPUs unless an option says of what.
both() {
	number=$((number + 1))
	cat >go <<-'END2'
		. /test/perf-kvm/lib.sh
		fd_four=3 fd_two=4
		rounds "$@"
	END2
	rm -f data
	record data "${@:--a}" sh ./go "$number" four two >recorded 2>&1 || { cat recorded; return 1; }
	last_round four two >expected
}

counts() {
	both && report data --per-vcpu && same vmexit
}

none_unknown() {
	! grep -i unknown report && ! grep -i lost report
}

# The recording has the vCPUs that there were when it began, before all samples.
records() {
	"$PERF" report -D -i data 2>&1 | sed '/PERF_RECORD_SAMPLE/q' >dump
	sed -n 's/.*EVENT_TYPE VM \([^,]*\), VCPU \([0-9]*\): thread \([0-9]*\)$/\1 \2 \3/p' dump | sort >found
	sed 's/^vm=\([^ ]*\) vcpu=\([0-9]*\) tid=\([0-9]*\) .*/\1 \2 \3/' expected | sort | diff - found
}

# Where there is no terminal, no option is needed for the text.
no_terminal() {
	report data --per-vcpu && cp report with && "$PERF" kvm stat report -i data --per-vcpu >without 2>&1 &&
		diff with without && report data && cp report with &&
		"$PERF" kvm stat report -i data >without 2>&1 </dev/null && diff with without &&
		grep "$HYPERCALL" without
}

traps() {
	report data --per-vcpu --event=trap && same trap
}

accesses() {
	report data --per-vcpu --event=mmio && same mmio
}

# The sum is that of the vCPUs.
sums() {
	report data --per-vcpu && awk '$2 == "=" { n += $3; t += $4 } END { printf "%d %.3f\n", n, t }' facts >sum &&
		report data && read -r n t <sum && holds '$2 == "="' "\$3 == $n && \$4 - $t < 1 && $t - \$4 < 1"
}

one_vcpu() {
	vm=$(sed -n 's/^vm=\([^ ]*\) .*/\1/p' two.out | head -n 1)
	report data --vcpu 1 && holds "\$2 == \"$HYPERCALL\"" '$3 + $4 == 2200' &&
		holds "\$2 == \"$ACCESS\"" 0 | grep -q "there is none" &&
		report data --vcpu 1 --vm "$vm" && holds "\$2 == \"$HYPERCALL\"" '$3 + $4 == 2000' &&
		report data --vm "${vm%-*}" && holds "\$2 == \"$HYPERCALL\"" '$3 + $4 == 3000' &&
		report data -p "$(cat four.pid)" && holds "\$2 == \"$HYPERCALL\"" '$3 + $4 == 1000'
}

# Smaller numbers come later.
sorted() {
	for key in sample time max_t min_t mean_t; do
		report data -k "$key" || return
		awk -v key="$key" '
			BEGIN { field["sample"] = 2; field["max_t"] = 6; field["min_t"] = 5
				field["mean_t"] = 7 }
			/us \( \+-/ {
				number = key == "time" ? $4 : $field[key]
				if (rows++ && number + 0 > last + 0) { print key ": " $0; bad = 1 }
				last = number
			}
			END { exit bad || rows < 3 }' report || return
	done
	report data -k nothing && return 1
	grep 'Unsupported sort key: nothing' report
}

# The same without what tells which vCPU a thread runs, or with one half of it
without_debugfs() {
	umount /sys/kernel/debug && both
	status=$?
	mount -t debugfs debugfs /sys/kernel/debug
	[ $status = 0 ] && report data --per-vcpu && same vmexit && none_unknown
}

hide() {
	for tracepoint in load put sched_in sched_out; do
		mount -t tmpfs tmpfs "/sys/kernel/tracing/events/kvm/kvm_vcpu_$tracepoint" || return
	done
}

show() {
	for tracepoint in load put sched_in sched_out; do
		umount "/sys/kernel/tracing/events/kvm/kvm_vcpu_$tracepoint" || return
	done
}

without_tracepoints() {
	hide && both
	status=$?
	show
	[ $status = 0 ] && report data --per-vcpu && same vmexit && none_unknown
}

both_without_both() {
	umount /sys/kernel/debug
	hide && both
	status=$?
	show
	mount -t debugfs debugfs /sys/kernel/debug
	cat recorded
	return $status
}

# x86 has the vCPU in kvm_entry: all that is not known is which VM of its process it is of.
without_both_x86() {
	both_without_both && sed -i 's/^vm=\([0-9]*\)-[0-9]*/vm=\1/' expected &&
		report data --per-vcpu && same vmexit && none_unknown
}

# All are labelled so, and none is taken for vCPU 0.
without_both() {
	both_without_both && grep "Can't read kvm/ in debugfs" recorded && report data --per-vcpu &&
		holds '$2 == "="' '$1 ~ /\/unknown$/' &&
		grep 'samples are of threads whose VCPU is not known' report &&
		grep 'The kernel has no kvm:kvm_vcpu_load' report &&
		report data --vcpu 0 && ! grep "$HYPERCALL" report &&
		grep 'VCPU is not known: they are left out' report &&
		report data && holds "\$2 == \"$HYPERCALL\"" '$3 + $4 == 4000'
}

# The events that are lost are reported; no vCPU has any of another.
losses() {
	both -a -m 1
	report data --per-vcpu && grep 'Lost events: [1-9]' report && same vmexit atmost=1
}

# Of one process perf has the switches of its threads, but no kvm_vcpu_sched_out.
one_process() {
	both -p "$(cat four.pid)" && last_round four >expected && report data --per-vcpu && same vmexit &&
		none_unknown && report data --per-vcpu --event=mmio && same mmio
}

# Not even what debugfs has
one_process_alone() {
	umount /sys/kernel/debug && both -p "$(cat two.pid)"
	status=$?
	mount -t debugfs debugfs /sys/kernel/debug
	last_round two >expected
	[ $status = 0 ] && report data --per-vcpu && same vmexit && none_unknown
}

# live "GUEST..." OPTION...: all displays together have what these guests did, and nothing else
# once two more displays have been shown.
live() {
	number=$((number + 1))
	shown=$1
	shift
	rm -f keys
	mkfifo keys
	# shellcheck disable=SC2094 # two files
	"$PERF" kvm stat live "$@" -d 1 --per-vcpu <keys >displays 2>&1 &
	live=$!
	exec 5>keys
	until_done displayed 1
	rounds "$number" four two
	# shellcheck disable=SC2086 # a list
	last_round $shown |
		sed -n 's/^vm=\([^ ]*\) vcpu=\([0-9]*\) .* hvc=\([0-9]*\) .*/\1\/\2 \3/p' | sort >expected
	until_done all_shown && until_done displayed $(($(displays) + 2))
	kill -TERM "$live"
	wait "$live"
	live_hypercalls | diff expected -
}

displays() {
	grep -cs 'Analyze events' displays
}

displayed() {
	[ "$(displays)" -ge "$1" ]
}

# Of each vCPU, in all displays so far
live_hypercalls() {
	awk -f "$DIR/perf-kvm/facts.awk" displays |
		awk -v event="$HYPERCALL" '$2 == event { n[$1] += $3 } END { for (vcpu in n) print vcpu, n[vcpu] }' |
		sort
}

all_shown() {
	live_hypercalls | cmp -s expected -
}

bad_options() {
	report data --event=nothing && return 1
	grep "Unknown event nothing: $EVENTS" report || return
	report data --vcpu=-2 && return 1
	grep 'Invalid vcpu:-2' report || return
	report missing && return 1
	grep 'No such file' report
}

ok "exits of each vCPU" counts
ok "no vCPU is unknown, nothing is lost" none_unknown
cp data /out/data.arm64 2>/dev/null
"$PERF" kvm stat report -i data --stdio --per-vcpu >/out/report.arm64 2>&1
ok "the recording has the vCPUs" records
ok "a report without a terminal" no_terminal
[ "$(uname -m)" = x86_64 ] || ok "traps of each vCPU" traps
ok "accesses of each vCPU to its device" accesses
ok "the table of all vCPUs is the sum" sums
ok "--vcpu, --vm and -p" one_vcpu
ok "each sort key" sorted
ok "bad options" bad_options
# Live mode takes timerfd_create(), which the kernel for x86-64 lacks.
if [ "$(uname -m)" != x86_64 ]; then
	ok "live" live "four two" -a
	ok "live, of one process" live two -p "$(cat two.pid)"
fi
ok "a recording of one process" one_process
ok "a recording of one process, without debugfs" one_process_alone
ok "without debugfs" without_debugfs
ok "without the tracepoints of vCPUs" without_tracepoints
if [ "$(uname -m)" = x86_64 ]; then
	ok "without both, VMs are processes" without_both_x86
else
	ok "without both, vCPUs are unknown" without_both
fi
ok "lost events" losses
end_guest four 3
end_guest two 4
plan
