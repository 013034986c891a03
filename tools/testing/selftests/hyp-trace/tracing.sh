# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the tests of hypervisor/ share; sourced by each of them.

DIR=$(cd "$(dirname "$0")" && pwd)
PATH=$DIR:$PATH
TRACEFS=/sys/kernel/tracing
HYP=$TRACEFS/hypervisor
# shellcheck disable=SC2034 # used by the tests
CPUS=$(nproc)
DEFAULT_SIZE=$(cut -d ' ' -f 1 "$HYP/buffer_size_kb" 2>/dev/null)

# shellcheck source=/dev/null # of the kernel's tree
. "$DIR/../kselftest/ktap_helpers.sh"

TMP=$(mktemp -d) || exit 1
trap 'reset_to "$DEFAULT_SIZE"; rm -rf "$TMP"' EXIT
cd "$TMP" || exit 1

# The mode KVM says it runs in: protected, nvhe, vhe, or none.
kvm_mode() {
	case $(dmesg | grep -o '[a-zA-Z]* *[hn]*VHE mode initialized') in
	*Protected*) echo protected ;;
	*Hyp*) echo nvhe ;;
	*VHE*) echo vhe ;;
	*) echo none ;;
	esac
}

# plan NUMBER: how many tests come; none when the kernel has no hypervisor/.
# Whether it ought to is what mode.sh tests.
plan() {
	ktap_print_header
	if [ ! -d "$HYP" ]; then
		ktap_skip_all "no $HYP: the mode is $(kvm_mode)"
		exit "$KSFT_SKIP"
	fi
	ktap_set_plan "$1"
	reset
}

# reset_to SIZE: tracing off, all events enabled, the buffer empty and of that
# size, in KiB.
reset_to() {
	[ -d "$HYP" ] || return
	echo 0 >"$HYP/tracing_on"
	fileop drain "$HYP/trace_pipe" >/dev/null
	echo "$1" >"$HYP/buffer_size_kb"
	echo 1 >"$HYP/events/enable"
}

# What most tests begin with.
reset() {
	reset_to 1024
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

# until_true SECONDS COMMAND...: wait for it to be so.
until_true() {
	tries=$(($1 * 20))
	shift
	while ! "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# facts FILE: what can be said of the trace in FILE goes to FILE.facts.
facts() {
	awk -f "$DIR/stamp.awk" -f "$DIR/trace.awk" "$1" >"$1.facts"
}

# drain FILE: what there is to read goes to FILE, what can be said of it to
# FILE.facts.
drain() {
	fileop drain "$HYP/trace_pipe" >"$1"
	facts "$1"
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
