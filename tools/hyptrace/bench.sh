#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # RUNS and KERNEL come before this
# In the VM: functions that print one measurement a line, `name value unit`, where the value may be
# a quotient; with -icount a ns of it is an instruction. What is measured several times, RUNS, has
# as many lines. bench.py says which of them run, behind this.

PATH=$PWD/hyp-trace:$PATH
modules=$PWD/hyp-trace/modules
tracing=/sys/kernel/tracing
hyp=$tracing/hypervisor
host=$tracing/instances/bench
cpu0=$hyp/per_cpu/cpu0
filter=$hyp/events/hypervisor/selftest/filter
debug=/sys/kernel/debug
N=4000		# events, a few pages
MANY=20000	# what a ring of 1 MB has room for; so that the timer's interrupts do not count

# runs COMMAND..: as often as asked for.
runs() { for _ in $(seq "$RUNS"); do "$@"; done; }

# of_stats KEY FILE...: the sum of a number in the stats of CPUs' rings
of_stats() {
	key=$1
	shift
	awk -F ': ' -v key="$key" '$1 == key { n += $2 } END { print n }' "$@"
}

# The ring whose events are written and read: the hypervisor's, or the host's
ring=$hyp written=$hyp/write_event

# How long it takes to write many events
many() { bench write "$written" "${1-$MANY}"; }

# Until stop, these events are on.
start() {
	echo "$1" >"$ring/set_event"
	echo 1 >"$ring/tracing_on"
	many 500 >/dev/null
}

stop() {
	echo 0 >"$ring/tracing_on"
	[ "$ring" = $hyp ] || echo >"$ring/set_event"
	echo >"$ring/trace"
}

# So that the ring has many events
fill() {
	start "$1"
	many >/dev/null
	echo 0 >"$ring/tracing_on"
}

begin() {
	echo 1024 >$hyp/buffer_size_kb
	echo >$hyp/set_event
	many $N >/dev/null
}

# traced EVENT COMMAND..: while they are on
traced() {
	start "$1"
	shift
	"$@"
	stop
}

# What it takes more to write an event than not to: event_cost NAME EVENT
event_cost() {
	off=$(many)
	start "$2"
	echo "$1 $((($(many) - off) / MANY)) insns"
	stop
}

event_bytes() {
	echo "ring_bytes_per_event.$1 $(of_stats bytes $cpu0/stats)/$(of_stats entries $cpu0/stats) bytes"
}

crossing_cost() {
	bench crossings $hyp/write_event $N | sed 's/.* /el2_page_cross_insns /; s/$/ insns/'
}

# The hypercalls of tracing, with their ids
hcall_names() {
	grep -o '{ [0-9]*, "__hyp_trace[a-z_]*" }' $hyp/events/hypervisor/host_hcall/format |
		sed 's/[{,"}]//g; s/__hyp_//'
}

# tell_hcalls PATTERN: the longest of each of these hypercalls of tracing, by its time at EL2
# in the trace, from hyp_enter to the hyp_exit that follows. With it goes what these two and
# host_hcall take: the first one's end, the second, the third one's begin.
tell_hcalls() {
	hcalls $cpu0/trace_pipe_raw >took
	echo 0 >$hyp/tracing_on
	hcall_names | awk -v pattern="^trace_($1)" '
		NR == FNR { name[$1] = $2; next }
		name[$1] !~ pattern { next }
		name[$1] == "trace_swap_reader" { print "el2_swap_insns", $2, "insns" }
		$2 > most[$1] { most[$1] = $2 }
		END { for (id in most) print "el2_hcall_insns." name[id], most[id], "insns" }' - took
}

hcall_costs() {
	for value in 1 2 3; do
		for event in hyp_alloc host_share guest_exit; do
			echo "$event" >>$hyp/set_event
			echo "!$event" >>$hyp/set_event
		done
		echo "id == $value || id == 2" >$filter
		echo 0 >$filter
		many 1500 >/dev/null
	done
	tell_hcalls 'swap|reset|enable|set|add_pred|write'
}

# A ring is loaded and unloaded by each step, as a module does it to a CPU that never was on.
loads() {
	# shellcheck source=tools/testing/selftests/hyp-trace/hyp_pfn.sh
	. ./hyp-trace/hyp_pfn.sh
	start 'hyp_enter hyp_exit host_hcall'
	insmod "$modules/hyp_hostile.ko" ring_cpu=1 calls=0 hyp_pfn="$(hyp_pfn)" || exit
	grep -q '^0$' /sys/module/hyp_hostile/parameters/wrong || exit
	rmmod hyp_hostile
	tell_hcalls ring
}

clock() { sed -n 's/^now at \([0-9]*\) nsecs/\1/p' /proc/timer_list; }

# What it takes in all to have a ring of so many more pages, on the host and at EL2
load_cost() {
	for kb in 64 8256; do
		small=${took-}
		echo $kb >$hyp/buffer_size_kb
		echo 0 >/proc/sys/vm/drop_caches 2>/dev/null || :
		begin=$(clock)
		echo 1 >$hyp/tracing_on
		took=$(($(clock) - begin))
		stop
	done
	echo "load_insns_per_page $(((took - small) / 2048)) insns"
	echo 1024 >$hyp/buffer_size_kb
}

# Changing which events are on, at both ends, with rings that are there: a reader keeps them.
# changes [SUFFIX]
changes() {
	echo 'hypervisor:*' >$hyp/set_event
	exec 3<$hyp/trace_pipe
	bench write $hyp/tracing_on 1 >/dev/null
	bench write $hyp/tracing_on 1 0 >/dev/null
	echo "tracing_on_insns${1-} $(bench write $hyp/tracing_on 1) insns"
	echo "set_event_insns.none${1-} $(bench write $hyp/set_event 1 '!hypervisor:*') insns"
	echo "set_event_insns.all${1-} $(bench write $hyp/set_event 1 'hypervisor:*') insns"
	echo "set_event_insns.one${1-} $(bench write $hyp/set_event 1 '!hyp_alloc') insns"
	echo "tracing_off_insns${1-} $(bench write $hyp/tracing_on 1 0) insns"
	exec 3<&-
	stop
	echo >$hyp/set_event
}

# read_cost NAME HOW FILE STATS...: the events of these CPUs are in the file.
read_cost() {
	name=$1 how=$2 file=$3
	shift 3
	n=$(of_stats entries "$@")
	echo "$name $(bench read "$how" "$file")/$n insns"
}

# file_for HOW DIR: what is read so, of the CPU of that directory.
file_for() { [ "$1" = text ] && echo "$2/trace_pipe" || echo "$2/trace_pipe_raw"; }

# reads PREFIX EVENT: each way to read a CPU's ring
reads() {
	for how in raw page splice mmap text; do
		fill "$2"
		read_cost "$1read_${how}_insns_per_event" $how "$(file_for $how "$ring/per_cpu/cpu0")" \
			"$ring/per_cpu/cpu0/stats"
		stop
	done
}

read_trace() {
	fill selftest
	read_cost read_trace_insns_per_event text $cpu0/trace $cpu0/stats
	stop
}

wakeup() {
	cat $cpu0/trace_pipe_raw >/dev/null 2>&1 &
	kill $! 2>/dev/null
	bench read raw $cpu0/trace_pipe_raw >/dev/null
	echo "wakeup_latency $(($(bench wakeup $cpu0/trace_pipe_raw $hyp/write_event 20) / 1000)) us"
}

# What the first event after a change takes more than the next one, each of a process of its
# own: a CPU then copies which events are on.
config_cost() {
	echo hyp_alloc >>$hyp/set_event
	echo '!hyp_alloc' >>$hyp/set_event
	first=$(many 1)
	echo $((first - $(many 1)))
}

# What may grow with the number of events in the list
event_list() {
	nr=$(find $hyp/events/hypervisor -name id | wc -l)
	event_cost "el2_event_insns.selftest.$nr-events" selftest
	start selftest
	config_cost >/dev/null
	echo "el2_config_insns.$nr-events $(config_cost) insns"
	stop
	fill selftest
	read_cost "read_text_insns_per_event.$nr-events" text $cpu0/trace_pipe $cpu0/stats
	stop
	changes ".$nr-events"
}

# While nothing is traced, with tracing built in or not. A hypercall that does not exist: past
# hyp_enter, host_hcall and hyp_exit. A PSCI call that returns, PSCI_VERSION: past these, host_smc
# and psci_call, and the CPU parks.
off() {
	echo "hcall_insns.$KERNEL $(bench write $debug/hyp_call $MANY 'hvc 0xc600ffff')/$MANY insns"
	echo "psci_insns.$KERNEL $(bench write $debug/hyp_call $MANY 'smc 0x84000000')/$MANY insns"
}

# An event in rings of other sizes
growth() {
	for pages in 4 64 1024 16384 65536; do
		echo $((pages * 4)) >$hyp/buffer_size_kb
		event_cost "el2_event_insns.selftest.$pages-pages" selftest
	done
	echo 1024 >$hyp/buffer_size_kb
}

# As many events of each CPU, one after the other, merged: how much more is an event then?
merge() {
	start selftest
	bench rotate $hyp/write_event $MANY
	echo 0 >$hyp/tracing_on
	read_cost "read_trace_insns_per_event.$(nproc)-cpus" text $hyp/trace $hyp/per_cpu/cpu*/stats
	read_cost "read_text_insns_per_event.$(nproc)-cpus" text $hyp/trace_pipe $hyp/per_cpu/cpu*/stats
	stop
}

# What may grow with the number of CPUs
cpus() {
	merge
	event_cost "el2_event_insns.selftest.$(nproc)-cpus" selftest
	changes ".$(nproc)-cpus"
}

# guest_time OPTION...: how long such a guest runs.
guest_time() { guest "$@" | awk -F ' (from|to|tid)=' 'NF > 3 { printf "%d\n", ($3 - $2) * 1e9 }'; }

# guest_event_cost EVENT: what an event of a guest costs at each of so many hypercalls, enough
# that interrupts of the host do not count.
guest_event_cost() {
	off=$(guest_time --hvc 50000 --mmio 0 --wfi 0)
	start "$1"
	guest --hvc 100 --mmio 0 --wfi 0 >/dev/null
	echo "el2_event_insns.$1 $((($(guest_time --hvc 50000 --mmio 0 --wfi 0) - off) / 50000)) insns"
	stop
}

# host_events VALUE EVENT...: turn these on or off
host_events() {
	value=$1
	shift
	for event; do echo "$value" >"$tracing/events/$event/enable"; done
}

# kvm_event_cost NAME OPTION EVENT...: what each of the tracepoints of the topic perf-kvm-stat
# costs at an exit, in a ring of the host's. kvm_vcpu_sched_in and _out write what kvm_vcpu_load
# does, by the same function.
kvm_event_cost() {
	name=$1 option=$2
	shift 2
	off=$(guest_time "$option" $N)
	host_events 1 "$@"
	on=$(guest_time "$option" $N)
	host_events 0 "$@"
	echo >$tracing/trace
	echo "kvm_event_insns.$name $(((on - off) / N / $#)) insns"
}

# Of a hundred thousand events, how many in a hundred are overwritten before this reader has
# them, in a ring of 64 KB?
loss() {
	echo 64 >$hyp/buffer_size_kb
	for how in raw page splice mmap text; do
		echo selftest >$hyp/set_event
		echo 1 >$hyp/tracing_on
		bench follow $how "$(file_for $how $cpu0)" $hyp/write_event 100000 >/dev/null
		lost=$(of_stats overrun $cpu0/stats)
		echo "loss_$how $((100 * lost))/$((lost + $(of_stats 'read events' $cpu0/stats))) percent"
		stop
	done
}

# syscall_costs NAME: of a system call without strings, and of one with one
syscall_costs() {
	faultable-tracepoints/cost | sed "s/\([a-z]*\) \(.*\)/syscall_insns.\1.$1.$KERNEL \2 insns/"
}

# syscalls_with NAME EVENT...: while these are on
syscalls_with() {
	name=$1
	shift
	host_events 1 "$@"
	runs syscall_costs "$name"
	echo 0 >$tracing/events/enable
	echo >$tracing/trace
}

# syscalls_traced NAME EXCLUDED: all tasks are, or one that set_event_pid excludes
syscalls_traced() {
	syscalls_with "$1" syscalls/sys_enter_getppid syscalls/sys_enter_openat
	echo 1 >$tracing/set_event_pid
	syscalls_with "$2" syscalls/sys_enter_getppid syscalls/sys_enter_openat
	# To open it is enough: a list that is written, even an empty one, would be looked at.
	: >$tracing/set_event_pid
}

syscalls() {
	echo 20000 >$tracing/buffer_size_kb
	runs syscall_costs off
	syscalls_with raw raw_syscalls/sys_enter
	syscalls_traced event excluded
	[ -e $tracing/syscall_user_buf_size ] || return 0
	echo 0 >$tracing/syscall_user_buf_size
	syscalls_traced no_strings excluded_no_strings
}

# What has a bound
events() {
	begin
	for event in hyp_enter hyp_exit selftest host_hcall hyp_printk; do
		runs event_cost "el2_event_insns.$event" "$event"
		traced "$event" event_bytes "$event"
	done
	runs guest_event_cost guest_enter
	runs guest_event_cost guest_exit
	echo 'id == 0' >$filter
	runs event_cost el2_event_insns.refused selftest
	echo 'id == 1' >$filter
	runs event_cost el2_event_insns.passed selftest
	echo 0 >$filter
	runs changes
	runs load_cost
	[ -d $tracing/events/kvm/kvm_trap_enter ] || return 0
	runs kvm_event_cost trap --hvc kvm/kvm_trap_enter kvm/kvm_trap_exit
	runs kvm_event_cost vcpu --mmio kvm/kvm_vcpu_load kvm/kvm_vcpu_put
}

# All else that is counted
more() {
	cp -r $hyp/events/hypervisor /out
	runs traced selftest crossing_cost
	runs traced 'hyp_enter hyp_exit host_hcall' hcall_costs
	runs reads "" selftest
	runs read_trace
	runs growth
	runs traced selftest wakeup
	insmod "$modules/host_event.ko" || exit
	mkdir $host
	ring=$host written=$debug/host_event
	runs event_cost host_event_insns host_event
	runs reads host_ host_event
}
