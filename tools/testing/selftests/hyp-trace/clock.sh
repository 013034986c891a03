#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The time of an event is CLOCK_BOOTTIME. Each event is between two readings of that
# clock, and between the kernel's own kvm_entry and kvm_exit, within 1 us; also while
# the clock is slewed by 500 ppm and set.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/brackets.sh
. "$DIR/brackets.sh"

HOST=$TRACEFS/instances/hyp-trace-clock
PPM=65536	# as adjtimex has it

# With more emulated CPUs than real ones, vCPUs wait for each other.
VCPUS=$((CPUS < 4 ? CPUS : 2))

# An instance of the host's own, with its boot clock: what happens around EL2.
host_setup() {
	mkdir "$HOST"
	echo boot >"$HOST/trace_clock"
	echo 4096 >"$HOST/buffer_size_kb"
	echo 1 >"$HOST/events/kvm/kvm_entry/enable"
	echo 1 >"$HOST/events/kvm/kvm_exit/enable"
}

# run_guest [OPTION]...
run_guest() {
	echo before >"$HOST/trace_marker"
	guest --vcpus "$VCPUS" --cpu 0 --hvc 300 --mmio 50 --wfi 4 "$@" >guests
	ran=$?
	echo after >"$HOST/trace_marker"
	return "$ran"
}

marker() {
	sed -n "s/.* \([0-9]*\.[0-9]*\): tracing_mark_write: $1\$/\1/p" host
}

# outside FROM TO CPU: the guest's events on that CPU, or any CPU, that are not between
# these times, with a tolerance of a microsecond for rounding.
outside() {
	awk -v from="$1" -v to="$2" -v only="${3:-any}" '
		/reason=guest / {
			if (only != "any" && $1 != sprintf("[%03d]", only))
				next
			n++
			if ($2 + 0 < from - 0.0000011 || $2 + 0 > to + 0.0000011)
				print "not from " from " to " to ": " $0
		}
		END { if (!n) print "no events of a guest" }' trace
}

# Each vCPU thread read the clock just before its run and just after it.
outside_runs() {
	[ -s guests ] || echo "no guest ran"
	while read -r line; do
		from=$(echo "$line" | sed 's/.*from=\([^ ]*\).*/\1/')
		to=$(echo "$line" | sed 's/.*to=\([^ ]*\).*/\1/')
		outside "$from" "$to" "$(echo "$line" | value cpu)"
	done <guests
}

# test_guest NAME [OPTION]...
test_guest() {
	what=$1
	shift
	reset
	host_setup
	record trace run_guest "$@"
	is "$what: the guest ran" $? 0
	is "$what: no event was lost" "$(lost trace)" 0
	echo 0 >"$HOST/tracing_on"
	fileop drain "$HOST/trace_pipe" >host
	rmdir "$HOST"

	none "$what: events are between the host's trace markers" \
		outside "$(marker before)" "$(marker after)"
	none "$what: events are between the vCPU threads' readings of the clock" outside_runs
	none "$what: each run of the guest is between the host's kvm_entry and kvm_exit" \
		awk -f "$DIR/stamp.awk" -f "$DIR/clock.awk" host trace
	none "$what: times never go backwards on a CPU" unsound backwards trace
}

judge_brackets() {
	ktap_print_msg "$1: $(brackets_judge -v margins=1)"
	none "$1: events are between the host's readings of the clock" brackets_judge
}

test_seconds() {
	reset
	brackets_start 250 10000
	brackets_end
	judge_brackets "for seconds"
}

# The host's clock is made faster and slower, by as much as that goes, while
# there are events; then it is set, which the boot clock does not heed. (It can't
# be set back to before the boot, and date takes whole seconds.)
slew() (
	freq=$(adjtimex | sed -n 's/.*freq.*: *\(-*[0-9][0-9]*\).*/\1/p' | head -n 1)
	trap 'adjtimex -f "$freq" >/dev/null' EXIT
	for ppm in 500 0 -500 0; do
		adjtimex -f "$((ppm * PPM))" >/dev/null
		brackets_go_on 20
	done
	for seconds in 100 -90; do
		date -s "@$(($(date +%s) + seconds))" >/dev/null
		brackets_go_on 20
	done
)

test_slewed() {
	reset
	brackets_start 100000 10000
	slew
	brackets_stop
	judge_brackets "while it is slewed and set"
}

plan 15
is "trace_clock is the boot clock" "$(cat "$HYP/trace_clock")" "[boot]"
test_guest "guest"
test_guest "guest with a counter of its own" --counter 1152921504606846976
if [ ! -e "$HYP/write_event" ]; then
	ktap_test_skip "no write_event: CONFIG_KVM_HYP_TRACING_SELFTEST is off"
	ktap_test_skip "no write_event: slewing"
	ktap_finished
fi
test_seconds
if command -v adjtimex >/dev/null; then
	test_slewed
else
	ktap_test_skip "no adjtimex"
fi
ktap_finished
