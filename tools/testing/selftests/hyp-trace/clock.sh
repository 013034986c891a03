#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The time of an event is the host's boot clock.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

HOST=$TRACEFS/instances/hyp-trace-clock

# An instance of the host's own, with its boot clock: what happens around EL2.
host_setup() {
	mkdir "$HOST"
	echo boot >"$HOST/trace_clock"
	echo 4096 >"$HOST/buffer_size_kb"
	echo 1 >"$HOST/events/kvm/kvm_entry/enable"
	echo 1 >"$HOST/events/kvm/kvm_exit/enable"
}

run_guest() {
	echo before >"$HOST/trace_marker"
	guest --vcpus "$CPUS" --cpu 0 --hvc 300 --mmio 50 --wfi 4 >guests
	echo after >"$HOST/trace_marker"
}

marker() {
	sed -n "s/.* \([0-9]*\.[0-9]*\): tracing_mark_write: $1\$/\1/p" host
}

# outside FROM TO CPU: the guest's events on that CPU, or any CPU, that are not
# between those times, given a microsecond for the rounding.
outside() {
	awk -v from="$1" -v to="$2" -v only="${3:-any}" '
		/reason=guest$/ {
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
	while read -r line; do
		from=$(echo "$line" | sed 's/.*from=\([^ ]*\).*/\1/')
		to=$(echo "$line" | sed 's/.*to=\([^ ]*\).*/\1/')
		outside "$from" "$to" "$(echo "$line" | value cpu)"
	done <guests
}

plan 5
is "trace_clock is the boot clock" "$(cat "$HYP/trace_clock")" "[boot]"
host_setup
record trace run_guest
is "no event was lost" "$(lost trace)" 0
echo 0 >"$HOST/tracing_on"
fileop drain "$HOST/trace_pipe" >host
rmdir "$HOST"

none "events are between the host's trace markers" \
	outside "$(marker before)" "$(marker after)"
none "events are between the vCPU threads' readings of the clock" outside_runs
none "each run of the guest is between the host's kvm_entry and kvm_exit" \
	awk -f "$DIR/stamp.awk" -f "$DIR/clock.awk" host trace
ktap_finished
