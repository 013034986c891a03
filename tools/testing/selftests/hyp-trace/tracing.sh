# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the tests of a remote's files share; sourced by each of them. The remote is
# $TRACE_REMOTE: hypervisor, or trace_remote_test, whose writer is the kernel itself. If
# $HYP_TRACE_FUNCTIONS is set, functions of EL2 that match it are traced beside a test's events.

DIR=$(cd "$(dirname "$0")" && pwd)
PATH=$DIR:$PATH
TRACEFS=/sys/kernel/tracing
if [ -z "${TRACE_REMOTE:-}" ]; then
	case $(uname -m) in
	aarch64) TRACE_REMOTE=hypervisor ;;
	*) TRACE_REMOTE=trace_remote_test ;;
	esac
fi
# The name of its directory, and of the group of its events
REMOTE=$TRACE_REMOTE
HYP=$TRACEFS/$REMOTE
EVENTS=$HYP/events/$REMOTE
# shellcheck disable=SC2034 # used by the tests
CPUS=$(nproc)
# What a page of a ring has room for, as a page of the host's.
# shellcheck disable=SC2034
PAGE_BYTES=$(sed -n 's/.*char data;.*size:\([0-9]*\);.*/\1/p' \
	"$TRACEFS/events/header_page" 2>/dev/null)
# shellcheck disable=SC2034
PAGE_KB=$((PAGE_BYTES / 1024 + 1))
DEFAULT_SIZE=$(cut -d ' ' -f 1 "$HYP/buffer_size_kb" 2>/dev/null)

# Each event; and two that come with whatever is done, which most tests count. The kernel has
# a group of events to compare with, two events of it, and an event with a number called id.
# Guests are for the hypervisor: tests leave out what only these cause.
# shellcheck disable=SC2034
EVENT_LIST="guest_enter guest_exit host_ffa_call host_hcall host_mem_abort host_smc hyp_alloc
	hyp_enter hyp_exit hyp_free hyp_printk mem_transition psci_call vcpu_illegal_trap"
EVENT=hyp_enter
OTHER_EVENT=hyp_exit
HOST_GROUP=kvm
HOST_EVENT=kvm_entry
HOST_OTHER=kvm_exit
HOST_ID=raw_syscalls/sys_exit
# shellcheck disable=SC2034
GUESTS=1
# shellcheck disable=SC2034
if [ "$REMOTE" = trace_remote_test ]; then
	EVENT_LIST="array bitmask numbers string"
	EVENT=numbers
	OTHER_EVENT=array
	HOST_GROUP=sched
	HOST_EVENT=sched_switch
	HOST_OTHER=sched_waking
	GUESTS=0
fi
# with_ids: the lines of a table, without those of files that the kernel may lack: id, which come
# with perf, and hist.
with_ids() {
	lacks='^$'
	for file in id hist; do
		[ -e "$TRACEFS/events/$HOST_GROUP/$HOST_OTHER/$file" ] || lacks="$lacks\\|/$file"
	done
	grep -v "$lacks"
}

# Not each architecture has events of system calls.
[ -d "$TRACEFS/events/$HOST_ID" ] || HOST_ID=synthetic/remote_test_id
[ ! -e "$HYP/available_filter_functions" ] || EVENT_LIST="$EVENT_LIST func func_ret"
BASIC="$EVENT $OTHER_EVENT"
if [ -e "$HYP/write_event" ]; then
	EVENT_LIST="$EVENT_LIST selftest"
	BASIC="$BASIC selftest"
fi

# shellcheck source=/dev/null # of the kernel's tree
. "$DIR/../kselftest/ktap_helpers.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/until.sh
. "$DIR/until.sh"

TMP=$(mktemp -d) || exit 1
trap 'reset_to "$DEFAULT_SIZE"; rm -rf "$TMP"' EXIT
cd "$TMP" || exit 1

# memory: KiB of a page; KiB free, with what the CPUs keep of it for themselves,
# which MemFree has not.
memory() {
	awk '
		$1 == "MemTotal:" { total = $2 }
		$1 == "managed" { pages += $2 }
		$1 == "nr_free_pages" || $1 == "count:" { free += $2 }
		END { print int(total / pages), int(free * total / pages) }' \
		/proc/meminfo /proc/zoneinfo
}

free_kb() {
	memory | cut -d ' ' -f 2
}

# The mode KVM says it runs in: protected, nvhe, vhe, or none.
kvm_mode() {
	case $(dmesg | grep -o '[a-zA-Z]* *[hn]*VHE mode initialized') in
	*Protected*) echo protected ;;
	*Hyp*) echo nvhe ;;
	*VHE*) echo vhe ;;
	*) echo none ;;
	esac
}

skip_all() {
	ktap_skip_all "$1"
	exit "$KSFT_SKIP"
}

# remote_words: what standard input says of hypervisor/, hyp_enter and hyp_exit, for this remote.
remote_words() {
	sed "s,\<hypervisor\>,$REMOTE,g; s,hyp_enter,$EVENT,g; s,hyp_exit,$OTHER_EVENT,g"
}

# host_words: what it says of them or of kvm, for the group and the events of the kernel's.
host_words() {
	sed "s,\<hypervisor\>\|\<kvm\>,$HOST_GROUP,g
		s,hyp_enter\|kvm_entry,$HOST_EVENT,g; s,hyp_exit\|kvm_exit,$HOST_OTHER,g"
}

# make_host_id: create $HOST_ID, unless the kernel has it.
make_host_id() {
	[ -d "$TRACEFS/events/$HOST_ID" ] ||
		echo "${HOST_ID#*/} u64 id" >"$TRACEFS/synthetic_events"
}

# plan NUMBER [write_event]: how many tests come; none when the kernel has no
# hypervisor/, or not the file that they need. Whether it ought to have it is what
# mode.sh tests.
plan() {
	ktap_print_header
	[ -d "$HYP" ] || skip_all "no $HYP: the mode is $(kvm_mode)"
	[ -e "$HYP/${2:-.}" ] || skip_all "no $2: the kernel has no option for it"
	ktap_set_plan "$1"
	reset
	[ -z "${HYP_TRACE_FUNCTIONS:-}" ] || choose_functions
}

# choose_functions: those of $HYP_TRACE_FUNCTIONS are traced from now on, or the test ends.
choose_functions() {
	echo "$HYP_TRACE_FUNCTIONS" >"$HYP/set_ftrace_filter"
	echo 1 >"$HYP/tracing_on"
	echo 0 >"$HYP/tracing_on"
	if ! grep -q ' func_ret ' "$HYP/trace"; then
		ktap_print_msg "no function is traced"
		exit "$KSFT_FAIL"
	fi
	reset
}

# only EVENT...: these are enabled, and no others but those of chosen functions.
only() {
	echo 0 >"$HYP/events/enable"
	for event in "$@" ${HYP_TRACE_FUNCTIONS:+func func_ret}; do
		echo 1 >"$HYP/events/$REMOTE/$event/enable"
	done
}

# reset_to SIZE: tracing off, the basic events enabled without filters, the buffer empty and of
# that size, in KiB.
reset_to() {
	[ -d "$HYP" ] || return
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	echo "$1" >"$HYP/buffer_size_kb"
	echo 50 >"$HYP/buffer_percent"
	echo 1 >"$HYP/options/overwrite"
	echo 0 >"$EVENTS/filter"
	# shellcheck disable=SC2086 # words
	only $BASIC
}

# What most tests begin with. Functions take more room.
reset() {
	reset_to "$([ -n "${HYP_TRACE_FUNCTIONS:-}" ] && echo 16384 || echo 1024)"
}

# is NAME FOUND EXPECTED
is() {
	if [ "$2" = "$3" ]; then
		ktap_test_pass "$1"
	else
		ktap_print_msg "found '$2', expected '$3'"
		ktap_test_fail "$1"
	fi
}

# none NAME COMMAND...: pass if the command prints nothing, else show it. (Not
# with a pipe: that would count in a subshell.)
none() {
	name=$1
	shift
	"$@" >complaints 2>&1
	if [ -s complaints ]; then
		head -n 8 complaints | sed 's/^/# /'
		ktap_test_fail "$name"
	else
		ktap_test_pass "$name"
	fi
}

# holds NAME TEST...: pass if test(1) agrees.
holds() {
	name=$1
	shift
	if test "$@"; then
		ktap_test_pass "$name"
	else
		ktap_print_msg "not so: $*"
		ktap_test_fail "$name"
	fi
}

# as_the_kernels TRIED FILE HOST: for each line of standard input, what TRIED prints is the same
# with the remote's file and with the kernel's.
as_the_kernels() {
	while IFS= read -r text; do
		is "as the kernel's: '$text'" "$("$1" "$2" "$text")" "$("$1" "$3" "$text")"
	done
}

# blocked PID...: they sleep, as the kernel sees it.
blocked() {
	for pid; do
		grep -q '^State:.*S' "/proc/$pid/status" || return
	done
}

# ended PID...
ended() {
	for pid; do
		! kill -0 "$pid" 2>&- || return
	done
}

# has_lines FILE NUMBER
has_lines() {
	[ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

# loaded or unloaded, in parentheses.
state() {
	sed 's/.* //' "$HYP/buffer_size_kb"
}

# facts FILE: what can be said of the trace in FILE goes to FILE.facts.
facts() {
	awk -v functions="${HYP_TRACE_FUNCTIONS:+1}" -f "$DIR/stamp.awk" -f "$DIR/trace.awk" \
		"$1" >"$1.facts"
}

# unsound PATTERN FILE: what FILE.facts has of that. Of a trace without events nothing
# can be said.
unsound() {
	grep -q '^\[' "$2" || echo "no event in $2"
	grep -E "$1" "$2.facts"
}

# drain FILE: what there is to read goes to FILE, what can be said of it to
# FILE.facts.
drain() {
	fileop drain "$HYP/trace_pipe" >"$1"
	facts "$1"
}

# Whether a CPU can go offline
can_go() {
	[ "$1" -gt 0 ] && [ -w "/sys/devices/system/cpu/cpu$1/online" ]
}

# It goes offline and comes back.
go_and_come() {
	echo 0 >"/sys/devices/system/cpu/cpu$1/online" &&
		echo 1 >"/sys/devices/system/cpu/cpu$1/online"
}

# guests_while COMMAND: run_vcpu of the test three times, while the command is repeated.
guests_while() {
	while [ ! -e stop ]; do
		"$1"
	done &
	repeating=$!
	run_vcpu && run_vcpu && run_vcpu
	ran=$?
	: >stop
	wait "$repeating"
	rm stop
	return "$ran"
}

go_and_run() {
	go_and_come "$1" && run_vcpu
}

# nests_on_hotplug CPU TRACED: two results. The CPU goes and comes, and run_vcpu of the test uses
# it, while the command TRACED traces functions; misnested of the test finds nothing.
nests_on_hotplug() {
	if ! can_go "$1"; then
		ktap_test_skip "a CPU comes and goes: none can"
		ktap_test_skip "functions nest on it: it can't go"
		return
	fi
	"$2" go_and_run "$1"
	is "a CPU comes and goes while all are traced" $? 0
	none "functions nest on it, but for those that left" misnested -v leaves=1
}

# record FILE COMMAND...: trace the command, drain into FILE.
record() {
	trace=$1
	shift
	echo 1 >"$HYP/tracing_on"
	"$@"
	recorded=$?
	echo 0 >"$HYP/tracing_on"
	drain "$trace"
	return "$recorded"
}

# count FILE EVENT REASON [CPU]: how many of them the trace has.
count() {
	awk -v event="$2" -v reason="$3" -v cpu="${4:-any}" '
		$1 != "count" || $3 != event || $4 != reason { next }
		cpu == "any" || $2 == cpu { n += $5 }
		END { print n + 0 }' "$1.facts"
}

# total FILE EVENT: how many of them, whatever the reason and the CPU.
total() {
	awk -v event="$2" '$1 == "count" && $3 == event { n += $5 } END { print n + 0 }' "$1.facts"
}

# lost FILE: how many events were lost.
lost() {
	awk '$1 == "lost" { n += $3 } END { print n + 0 }' "$1.facts"
}

# exits FILE: how many exits KVM counted for the guests whose lines are there.
exits() {
	grep -q "^vcpu=" "$1" || echo "no guest ran, but for"
	value exits <"$1"
}

# value NAME: the sum of NAME=... in what guest printed, on standard input.
value() {
	tr ' ' '\n' | awk -F = -v name="$1" '$1 == name { n += $2 } END { print n + 0 }'
}
