#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A hostile host: a module makes the hypercalls of tracing in any order with any
# arguments, on all CPUs at once and in step, and writes any bytes into the shared
# pages, while EL2 writes and all kinds of readers read. EL2 refuses what is wrong, each
# reader ends, each page comes back, and tracing works afterwards.
#
#   HYP_TRACE_HOSTILE_CALLS	hypercalls to make (20000; on many CPUs, fewer)
#   HYP_TRACE_HOSTILE_SEED	chance's (a new one, which is printed)
#   HYP_TRACE_HOSTILE_SECONDS	for each reader of corrupted pages (1)
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/hyp_pfn.sh
. "$DIR/hyp_pfn.sh"

MODULES=$DIR/modules
CALL=/sys/kernel/debug/hyp_call
FOUND=/sys/module/hyp_hostile/parameters
# With more emulated CPUs than real ones, CPUs wait for each other all the time.
CALLS=$((CPUS > 4 ? 4000 : 20000))
CALLS=${HYP_TRACE_HOSTILE_CALLS:-$CALLS}
SEED=${HYP_TRACE_HOSTILE_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
SECONDS_EACH=${HYP_TRACE_HOSTILE_SECONDS:-1}
HYP_PFN=$(hyp_pfn)
MAX=0xffffffffffffffff

# A hypercall, what it is given, and the errno that it must return: of a ring that
# there is not, and of arguments that can't be.
UNLOADED="
ring_add_leaf 0 1;EBUSY
ring_add_pages 0 1 1;EBUSY
ring_end 0;EBUSY
ring_pop 0;0
ring_pop $CPUS;EINVAL
ring_pop $MAX;EINVAL
enable 0 0;0
enable $MAX 1;EINVAL
swap_reader 0;ENODEV
swap_reader $MAX;EINVAL
reset 0;ENODEV
reset $MAX;EINVAL
ring_begin $MAX 1 1 3;EINVAL
ring_begin 0 $MAX 1 3;EINVAL
ring_begin 0 1 1 3;EPERM
ring_begin 0 HYP 1 3;EPERM
ring_begin 0 0x10000000000 1 3;EINVAL
set_event 4096 1;EINVAL
set_event $MAX 1;EINVAL
set_event 0 65536;EINVAL
set_event 0 $MAX;EINVAL
set_filter $MAX 0;EINVAL
set_filter 0 1;EINVAL
set_filter 0 33;EINVAL
add_pred $MAX 0 0 0;EINVAL
add_pred 0 0 0 0;EINVAL
add_pred 0 0 $MAX 0;EINVAL
add_pred 0 1 0x101040008 0;EINVAL
add_pred 0 32 0x101040008 0;EINVAL
set_clock 0 1 0 0;EINVAL
set_clock 0x100000000 1 0 0;EINVAL
set_clock 1 64 0 0;EINVAL
set_clock 1 $MAX 0 0;EINVAL
"

# ... and of one that is loaded and written to.
LOADED="
ring_begin 0 1 1 3;EBUSY
ring_add_leaf 0 1;EBUSY
ring_add_pages 0 1 1;EBUSY
ring_end 0;EBUSY
ring_pop 0;EBUSY
"

# ... and of functions, without a ring.
FUNCTIONS="
set_functions 4096 0 0;EINVAL
set_functions $MAX 0 0;EINVAL
set_functions 0 65536 0;EINVAL
set_functions 0 $MAX 0;EINVAL
set_functions 0 0 0;0
set_functions 0 0 1;EINVAL
set_functions 0 1 3;EINVAL
set_functions 0 1 $MAX;EINVAL
set_graph 49 0;EINVAL
set_graph $MAX 0;EINVAL
set_graph 0 2;EINVAL
set_graph 0 $MAX;EINVAL
set_graph 0 0;0
"

# number NAME: of a hypercall of tracing, as the event's text knows it.
number() {
	grep -o "{ [0-9]*, \"__hyp_trace_$1\" }" "$HYP/events/hypervisor/host_hcall/format" |
		tr -dc 0-9
}

name_of() {
	case $1 in
	0x0) echo 0 ;;
	0xffffffff | 0xffffffffffffffff) echo EPERM ;;
	0xfffffff0 | 0xfffffffffffffff0) echo EBUSY ;;
	0xffffffed | 0xffffffffffffffed) echo ENODEV ;;
	0xffffffea | 0xffffffffffffffea) echo EINVAL ;;
	*) echo "$1" ;;
	esac
}

# hypercall NAME ARGUMENT...: what it returns.
hypercall() {
	id=$(number "$1")
	shift
	echo "hvc $((0xc6000000 + id)) $*" | sed "s/HYP/$HYP_PFN/" >"$CALL"
	name_of "$(cut -d ' ' -f 2 "$CALL")"
}

# otherwise: the lines that differ from a table.
otherwise() {
	while IFS=';' read -r call expected; do
		# shellcheck disable=SC2086 # words
		found=$(hypercall $call)
		[ "$found" = "$expected" ] || echo "$call: $found, not $expected"
	done <table
}

# Numbers on all CPUs, as if nothing had been.
inexact_numbers() {
	reset_numbers 64
	write_numbers 500
	cat "$HYP/trace" >trace
	inexact trace 500
	[ "$(fact shown trace)" = $((500 * CPUS)) ] || fact shown trace
}

run_guest() {
	guest >guests || echo "no guest ran"
}

# refused_unloaded NAME: all of that table.
refused_unloaded() {
	echo "$UNLOADED" | grep . >table
	none "$1" otherwise
}

test_refused() {
	reset
	insmod "$MODULES/hyp_call.ko"
	refused_unloaded "refused while there is no ring"
	refused_unloaded "and again"
	echo 1 >"$HYP/tracing_on"
	echo "$LOADED" | grep . >table
	none "refused while there is a ring" otherwise
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	refused_unloaded "and when there is none any more"
	if [ -e "$HYP/available_filter_functions" ]; then
		echo "$FUNCTIONS" | grep . >table
		none "refused: functions that there are not" otherwise
	else
		ktap_test_skip "refused: functions that there are not: the kernel traces none"
	fi
	rmmod hyp_call
	none "afterwards a guest runs" run_guest
	none "after refusals, tracing works" inexact_numbers
}

# pages_of OP: what the trace has of them that were not refused, a page each.
pages_of() {
	sed -n "s/.* op=$1 pfn=\(0x[0-9a-f]*\) .*ret=0$/\1/p" trace | sort -u | head -n 8
}

# Pages that are EL2's, or in its use, since a guest runs: what it says to them as rings'.
not_refused() {
	[ -n "$(pages_of host_donate)" ] || echo "no page was donated"
	[ -n "$(pages_of host_share)" ] || echo "no page was shared"
	for page in $(pages_of host_donate); do
		echo "ring_begin 0 $page 1 3;EPERM"
	done >table
	# Pinned, or since given back.
	for page in $(pages_of host_share); do
		found=$(hypercall ring_begin 0 "$page" 1 3)
		case $found in
		EBUSY) touch busy ;;
		EPERM) ;;
		*) echo "ring_begin with $page, shared: $found" ;;
		esac
	done
	[ -e busy ] || echo "no page of a vCPU's was met"
	otherwise
	ended "$runner" && echo "the guest had ended"
}

# A guest's pages, while it runs: EL2's pages for the guest, and the pages shared for it.
test_guest() {
	reset
	insmod "$MODULES/hyp_call.ko"
	only mem_transition
	echo 1 >"$HYP/tracing_on"
	guest --hvc 100000000 >guests &
	runner=$!
	until_true 10 guest_has_pages
	echo 0 >"$HYP/tracing_on"
	cat "$HYP/trace" >trace
	echo >"$HYP/trace"
	none "refused: pages of a guest that runs" not_refused
	kill "$runner"
	wait "$runner" 2>&-
	rmmod hyp_call
	none "another guest runs" run_guest
}

guest_has_pages() {
	grep -q op=host_donate "$HYP/trace"
}

# attack NAME CALLS PARAMETER...
attack() {
	reset
	attack=$1
	to_make=$2
	shift 2
	insmod "$MODULES/hyp_hostile.ko" "seed=$SEED" "calls=$to_make" \
		hyp_pfn="$HYP_PFN" "$@"
	ktap_print_msg "$(cat "$FOUND/made") made, $(cat "$FOUND/accepted") accepted," \
		"$(cat "$FOUND/loaded") rings complete, $(cat "$FOUND/swapped") pages exchanged," \
		"a CPU went $(cat "$FOUND/offline") times"
	is "$attack: each step has the expected result" "$(cat "$FOUND/wrong")" 0
	holds "$attack: hypercalls were made" "$(cat "$FOUND/made")" -ge $((to_make / CPUS * CPUS))
	holds "$attack: rings were complete in between" "$(cat "$FOUND/loaded")" -gt 0
	is "$attack: all pages were returned to the host" "$(cat "$FOUND/stolen")" 0
	rmmod hyp_hostile
	none "$attack: afterwards a guest runs" run_guest
	none "$attack: afterwards tracing works" inexact_numbers
}

# bounded SECONDS COMMAND...: it ends by itself, without an error, and has read something.
bounded() {
	limit=$(scaled "$1")
	shift
	timeout "$limit" "$@" >text 2>failed
	status=$?
	case $status in
	0) [ -s text ] || echo "$*: read nothing" ;;
	124) echo "$*: not at an end in $limit s" ;;
	*) echo "$*: ended with status $status: $(head -n 1 failed)" ;;
	esac
}

# has_read COMMAND...: it reads on and on, and can be killed. False if it read nothing; a
# program that says what is wrong with a page has read it.
has_read() {
	({
		timeout -k 10 "$SECONDS_EACH" "$@" 2>failed
		echo $? >status
	} | tail -c 1000 >text) 2>/dev/null
	[ "$(cat status)" != 137 ] || echo "$*: could not be killed but by SIGKILL"
	[ -s text ] || grep -q ' a page of ' failed
}

# killed COMMAND...: it is tried again while it reads nothing, since a page may have no event,
# and may look as if it were the last one.
killed() {
	for _ in $(seq 20); do
		! has_read "$@" || return
	done
	echo "$*: read nothing: $(head -n 1 failed)"
}

# All ways to read, with any bytes in the pages and meta pages.
read_corrupted() {
	raw=$HYP/per_cpu/cpu0/trace_pipe_raw
	killed cat "$HYP/trace_pipe"
	killed cat "$HYP/per_cpu/cpu0/trace_pipe"
	killed cat "$raw"
	killed mmap follow "$raw"
	for round in 1 2; do
		bounded 60 cat "$HYP/trace"
		bounded 60 cat "$HYP"/per_cpu/cpu*/trace
		bounded 60 cat "$HYP"/per_cpu/cpu*/stats
		bounded 60 fileop poll "$HYP/trace_pipe" 1000
		echo >"$HYP/trace" || echo "round $round: not cleared"
	done
}

test_corrupted() {
	reset_numbers 64
	insmod "$MODULES/hyp_corrupt.ko" "seed=$SEED"
	echo 1 >"$HYP/tracing_on"
	# shellcheck disable=SC2086 # a list
	start_emits 999999999 1 $BUSY_CPUS
	none "readers of corrupted pages: each ends" read_corrupted
	stop_writers
	holds "pages were corrupted" \
		"$(cat /sys/module/hyp_corrupt/parameters/corrupted)" -gt 1000
	rmmod hyp_corrupt
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	is "the buffer is unloaded" "$(state)" "(unloaded)"
	none "after corrupted pages, a guest runs" run_guest
	none "after corrupted pages, tracing works" inexact_numbers
}

plan 26 write_event
if [ "$(kvm_mode)" != protected ] || [ ! -e "$MODULES/hyp_hostile.ko" ]; then
	for name in $(seq 26); do
		ktap_test_skip "$name: without pKVM, or without modules for this kernel"
	done
	ktap_finished
fi
ktap_print_msg "seed $SEED, $CALLS hypercalls"
test_refused
test_guest
attack "attacks" "$CALLS"
attack "attacks in step" $((CALLS / 4)) same=1
test_corrupted
ktap_finished
