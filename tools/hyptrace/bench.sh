#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # RUNS and KERNEL come before this
# In the VM: functions that print one measurement a line, `name value unit`, where the value may be
# a quotient; with -icount a ns is an instruction. bench.py says, behind this, which of them run.

PATH=$PWD/hyp-trace:$PATH
modules=$PWD/hyp-trace/modules
tracing=/sys/kernel/tracing
hyp=$tracing/hypervisor
cpu0=$hyp/per_cpu/cpu0
filter=$hyp/events/hypervisor/selftest/filter
trigger=$hyp/events/hypervisor/selftest/trigger
debug=/sys/kernel/debug
N=4000		# events, a few pages
MANY=20000	# what a ring of 1 MB has room for; so that the timer's interrupts do not count
# The ring whose events are written and read: the hypervisor's, or the host's
ring=$hyp written=$hyp/write_event
# Each way to read a CPU's ring: HOW:FILE
WAYS="raw:trace_pipe_raw page:trace_pipe_raw splice:trace_pipe_raw mmap:trace_pipe_raw
	text:trace_pipe"

# runs COMMAND..: as often as asked for
runs() { for _ in $(seq "$RUNS"); do "$@"; done; }

# of_stats KEY DIRECTORY: the sum of a number in the stats of a CPU's ring, or of all
of_stats() {
	cat "$2/stats" "$2"/per_cpu/cpu*/stats 2>/dev/null |
		awk -F ': ' -v key="$1" '$1 == key { n += $2 } END { print n }'
}

# How long it takes to write many events
many() { bench write "$written" "${1-$MANY}"; }

begin() {
	echo 1024 >$hyp/buffer_size_kb
	echo >$hyp/set_event
	many $N >/dev/null
}

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

# traced EVENTS COMMAND..: while they are on
traced() {
	start "$1"
	shift
	"$@"
	stop
}

# cost NAME COUNT EVENTS COMMAND..: the command prints a time; while the events are on, what is
# it more, for each of so many?
cost() {
	name=$1 count=$2 events=$3
	shift 3
	off=$("$@")
	echo "$name $((($(traced "$events" "$@") - off) / count)) insns"
}

# event_cost NAME EVENT
event_cost() { cost "$1" $MANY "$2" many; }

# tell_hcalls PATTERN: the longest of each of these hypercalls of tracing, from hyp_enter to hyp_exit
# in the trace, and so with the end of the one, the begin of the other and host_hcall between them
tell_hcalls() {
	hcalls $cpu0/trace_pipe_raw >took
	echo 0 >$hyp/tracing_on
	grep -o '{ [0-9]*, "__hyp_trace[a-z_]*" }' $hyp/events/hypervisor/host_hcall/format |
		sed 's/[{,"}]//g; s/__hyp_//' | awk -v pattern="^trace_($1)" '
		NR == FNR { name[$1] = $2; next }
		name[$1] !~ pattern { next }
		name[$1] == "trace_swap_reader" { print "el2_swap_insns", $2, "insns" }
		$2 > most[$1] { most[$1] = $2 }
		END { for (id in most) print "el2_hcall_insns." name[id], most[id], "insns" }' - took
}

hcall_costs() {
	for value in 1 2 3; do
		for event in hyp_alloc mem_transition guest_exit; do
			echo "$event" >>$hyp/set_event
			echo "!$event" >>$hyp/set_event
		done
		echo "id == $value || id == 2" >$filter
		echo 0 >$filter
		many 1500 >/dev/null
	done
	tell_hcalls 'swap|reset|enable|set|add_pred|write'
}

# A module loads and unloads the ring of a CPU that never was on, by each step.
loads() {
	# shellcheck source=tools/testing/selftests/hyp-trace/hyp_pfn.sh
	. ./hyp-trace/hyp_pfn.sh
	start 'hyp_enter hyp_exit host_hcall'
	insmod "$modules/hyp_hostile.ko" ring_cpu=1 calls=0 hyp_pfn="$(hyp_pfn)" || exit
	grep -q '^0$' /sys/module/hyp_hostile/parameters/wrong || exit
	rmmod hyp_hostile
	tell_hcalls ring
}

# What it takes in all to have a ring of so many more pages, on the host and at EL2
load_cost() {
	for kb in 64 8256; do
		small=${took-}
		echo $kb >$hyp/buffer_size_kb
		echo 0 >/proc/sys/vm/drop_caches 2>/dev/null || :
		took=$(bench write $hyp/tracing_on 1)
		stop
	done
	echo "load_insns_per_page $(((took - small) / 2048)) insns"
	echo 1024 >$hyp/buffer_size_kb
}

# changes [SUFFIX]: which events are on, at both ends, with rings that a reader keeps
changes() {
	change() { echo "$1 $(bench write "$hyp/$2" 1 "$3") insns"; }
	echo 'hypervisor:*' >$hyp/set_event
	exec 3<$hyp/trace_pipe
	bench write $hyp/tracing_on 1 >/dev/null
	bench write $hyp/tracing_on 1 0 >/dev/null
	change "tracing_on_insns${1-}" tracing_on 1
	change "set_event_insns.none${1-}" set_event '!hypervisor:*'
	change "set_event_insns.all${1-}" set_event 'hypervisor:*'
	change "set_event_insns.one${1-}" set_event '!hyp_alloc'
	change "tracing_off_insns${1-}" tracing_on 0
	exec 3<&-
	stop
	echo >$hyp/set_event
}

# read_cost NAME HOW FILE EVENT [COMMAND..]: to read one of the events that a command writes
read_cost() {
	name=$1 how=$2 file=$3
	start "$4"
	shift 4
	"${@:-many}" >/dev/null
	echo 0 >"$ring/tracing_on"
	n=$(of_stats entries "${file%/*}")
	echo "$name $(bench read "$how" "$file")/$n insns"
	stop
}

# reads PREFIX EVENT
reads() {
	for way in $WAYS; do
		read_cost "$1read_${way%:*}_insns_per_event" "${way%:*}" \
			"$ring/per_cpu/cpu0/${way#*:}" "$2"
	done
}

# What may grow with the number of events in the list; the first one after a change, when a CPU
# copies which are on
event_list() {
	nr=$(find $hyp/events/hypervisor -name id | wc -l)
	event_cost "el2_event_insns.selftest.$nr-events" selftest
	start selftest
	for _ in 1 2; do
		echo hyp_alloc >>$hyp/set_event
		echo '!hyp_alloc' >>$hyp/set_event
		first=$(many 1)
		next=$(many 1)
	done
	echo "el2_config_insns.$nr-events $((first - next)) insns"
	stop
	read_cost "read_text_insns_per_event.$nr-events" text $cpu0/trace_pipe selftest
	changes ".$nr-events"
}

# counted COMMAND..: while accounting is on
counted() {
	echo 1 >$hyp/accounting
	"$@"
	echo 0 >$hyp/accounting
}

# stay_cost NAME COUNT COMMAND..: what accounting costs for each of so many stays, and what it costs
# more than the events do, or they more than it
stay_cost() {
	name=$1 count=$2
	shift 2
	off=$("$@") on=$(counted "$@") traced=$(traced 'hyp_enter hyp_exit' "$@")
	both=$(counted traced 'hyp_enter hyp_exit' "$@")
	[ "$on" -gt "$traced" ] && traced=$on
	echo "stay_insns.$name $((on - off))/$count insns"
	echo "stay_both_insns.$name $((both - traced))/$count insns"
}

# A hypercall is a stay; a guest's exit ends one and begins another.
stays() {
	[ -e $debug/hyp_call ] || insmod "$modules/hyp_call.ko" || exit
	runs stay_cost host 100000 bench write $debug/hyp_call 100000 'hvc 0xc600ffff'
	runs stay_cost guest 100000 guest_time --hvc 50000 --mmio 0 --wfi 0
}

refused_hcalls() { bench write $debug/hyp_call $MANY 'hvc 0xc600ffff'; }

# function_cost NAME TRACER EVENTS: what it costs to trace one call of a function and its return; a
# hypercall that does not exist has one. Functions cost time while they are selected.
function_cost() {
	off=$(refused_hcalls)
	echo handle_trap >$hyp/set_ftrace_filter
	echo "$2" >$hyp/current_tracer
	echo "function_insns.$1 $((($(traced "$3" refused_hcalls) - off) / MANY)) insns"
	echo nop >$hyp/current_tracer
	echo >$hyp/set_ftrace_filter
}

functions() {
	begin
	[ -e $debug/hyp_call ] || insmod "$modules/hyp_call.ko" || exit
	runs function_cost events nop 'func func_ret'
	runs function_cost func nop func
	runs function_cost function function ''
	runs function_cost graph function_graph ''
}

# While nothing is traced, with tracing built in or not: a hypercall that does not exist passes
# hyp_enter, host_hcall and hyp_exit; PSCI_VERSION these, host_smc, psci_call, and the CPU parks.
off() {
	[ -e $debug/hyp_call ] || insmod "$modules/hyp_call.ko" || exit
	for call in 'hcall hvc 0xc600ffff' 'psci smc 0x84000000'; do
		took=$(bench write $debug/hyp_call $MANY "${call#* }")
		echo "${call%% *}_insns.$KERNEL $took/$MANY insns"
	done
}

# As many events of each CPU, one after the other, merged
merge() {
	for file in trace:trace text:trace_pipe; do
		read_cost "read_${file%:*}_insns_per_event.$(nproc)-cpus" text "$hyp/${file#*:}" \
			selftest bench rotate $hyp/write_event $MANY
	done
}

# What may grow with the number of CPUs
cpus() {
	merge
	event_cost "el2_event_insns.selftest.$(nproc)-cpus" selftest
	changes ".$(nproc)-cpus"
}

# guest_time OPTION...: how long such a guest runs
guest_time() { guest "$@" | awk -F ' (from|to|tid)=' 'NF > 3 { printf "%d\n", ($3 - $2) * 1e9 }'; }

# How many events in a hundred are overwritten before this reader has them, in a ring of 64 KB
loss() {
	echo 64 >$hyp/buffer_size_kb
	for way in $WAYS; do
		echo selftest >$hyp/set_event
		echo 1 >$hyp/tracing_on
		bench follow "${way%:*}" "$cpu0/${way#*:}" $hyp/write_event 100000 >/dev/null
		lost=$(of_stats overrun $cpu0)
		echo "loss_${way%:*} $((100 * lost))/$((lost + $(of_stats 'read events' $cpu0))) percent"
		stop
	done
}

# syscalls_with NAME EVENT..: system calls without and with a string, while these are on
syscalls_with() {
	name=$1
	shift
	for event; do echo "$event" >>$tracing/set_event; done
	runs faultable-tracepoints/cost |
		sed "s/\([a-z]*\) \(.*\)/syscall_insns.\1.$name.$KERNEL \2 insns/"
	echo >$tracing/set_event
	echo >$tracing/trace
}

# With all tasks traced, and with one that set_event_pid excludes
syscalls() {
	set -- syscalls:sys_enter_getppid syscalls:sys_enter_openat
	echo 20000 >$tracing/buffer_size_kb
	syscalls_with off
	syscalls_with raw raw_syscalls:sys_enter
	syscalls_with event "$@"
	echo 1 >$tracing/set_event_pid
	syscalls_with excluded "$@"
	[ -e $tracing/syscall_user_buf_size ] || return 0
	echo 0 >$tracing/syscall_user_buf_size
	syscalls_with excluded_no_strings "$@"
	# To open it is enough: a list that is written, even an empty one, would be looked at.
	: >$tracing/set_event_pid
	syscalls_with no_strings "$@"
}

# What has a bound. Of a guest's events there are enough that interrupts of the host do not count.
# Of KVM's, kvm_vcpu_sched_in and _out write what kvm_vcpu_load does, by the same function.
events() {
	begin
	for event in hyp_enter hyp_exit selftest host_hcall hyp_printk; do
		runs event_cost "el2_event_insns.$event" "$event"
		start "$event"
		echo "ring_bytes_per_event.$event $(of_stats bytes $cpu0)/$(of_stats entries $cpu0) bytes"
		stop
	done
	for event in guest_enter guest_exit; do
		runs cost el2_event_insns.$event 50000 $event guest_time --hvc 50000 --mmio 0 --wfi 0
	done
	for value in refused:0 passed:1; do
		echo "id == ${value#*:}" >$filter
		runs event_cost "el2_event_insns.${value%:*}" selftest
	done
	echo 0 >$filter
	echo "traceoff if id == 0" >$trigger
	runs event_cost el2_event_insns.trigger selftest
	echo '!traceoff' >$trigger
	stays
	runs changes
	runs load_cost
	ring=$tracing
	runs cost kvm_event_insns.trap $((2 * N)) 'kvm:kvm_trap_enter kvm:kvm_trap_exit' \
		guest_time --hvc $N
	runs cost kvm_event_insns.vcpu $((2 * N)) 'kvm:kvm_vcpu_load kvm:kvm_vcpu_put' \
		guest_time --mmio $N
	ring=$hyp
}

# All else that is counted: also events in rings of other sizes, and the host's
more() {
	# Not by cp -r: all files of eventfs have one inode number, as if they were one.
	for path in "$hyp"/events/hypervisor/*/format; do
		event=${path%/format}
		mkdir -p "/out/hypervisor/${event##*/}"
		cat "$path" >"/out/hypervisor/${event##*/}/format"
	done
	runs traced selftest bench crossings $hyp/write_event $N |
		sed 's/.* \(.*\)/el2_page_cross_insns \1 insns/'
	runs traced 'hyp_enter hyp_exit host_hcall' hcall_costs
	runs reads "" selftest
	runs read_cost read_trace_insns_per_event text $cpu0/trace selftest
	for pages in 4 64 1024 16384 65536; do
		echo $((pages * 4)) >$hyp/buffer_size_kb
		runs event_cost "el2_event_insns.selftest.$pages-pages" selftest
	done
	echo 1024 >$hyp/buffer_size_kb
	start selftest
	for _ in $(seq "$RUNS"); do
		bench read raw $cpu0/trace_pipe_raw >/dev/null
		took=$(bench wakeup $cpu0/trace_pipe_raw $hyp/write_event 20)
		echo "wakeup_latency $((took / 1000)) us"
	done
	stop
	insmod "$modules/host_event.ko" || exit
	ring=$tracing/instances/bench written=$debug/host_event
	mkdir "$ring"
	runs event_cost host_event_insns host_event
	runs reads host_ host_event
}
