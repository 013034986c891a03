#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# All CPUs write at full speed, into small rings and large ones, with readers of each
# kind, fast, slow and none. Each event written was read or reported lost, and no reader
# starves.
#
# HYP_TRACE_LOAD_SECONDS=n      how long, for each of these, large rings for all; else a
#                               tenth of one, and small rings for most
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

SECONDS_EACH=${HYP_TRACE_LOAD_SECONDS:-0}
if [ "$SECONDS_EACH" -gt 0 ]; then
	MS=$((SECONDS_EACH * 1000))
	HVC=$((SECONDS_EACH * 500))
	LARGE=512
	PLAN=32
else
	MS=100
	HVC=20
	LARGE=64
	PLAN=17
fi
# With more emulated CPUs than real ones, vCPUs wait for each other.
# shellcheck disable=SC2153 # tracing.sh's
VCPUS=$((CPUS < 4 ? CPUS : 2))
SMALL=4		# pages of a ring
SLOW=40		# ms that a slow reader rests after each read, on average

# loaded NAME PAGES KIND [OPTION]...
loaded() {
	name=$1
	kb=$(($2 * PAGE_BYTES / 1024))
	reset_numbers "$2"
	shift 2
	soak --kb "$kb" --ms "$MS" --load "$@" >said 2>&1
	status=$?
	sed 's/^#* */# /' said
	is "$name: read and lost events are those written, no reader starves" $status 0
}

test_readers() {
	loaded "no reader, small ring" $SMALL none
	loaded "no reader, large ring" $LARGE none
	for kind in trace pipe all read splice map; do
		loaded "$kind, small" $SMALL $kind
		loaded "$kind, slow, small" $SMALL $kind --pause $SLOW
		[ "$SECONDS_EACH" = 0 ] || loaded "$kind, large" $LARGE $kind
	done
}

# CPUs whose counters, after all is read, do not match the lines shown and reported lost; and
# CPUs without a writer's events.
unbalanced() {
	for cpu in $BUSY_CPUS; do
		[ "$(cat "written.$cpu")" -gt 0 ] || echo "CPU $cpu: nothing written"
	done
	grep -q "selftest id=" trace || echo "no writer's event is shown"
	for cpu in $ALL_CPUS; do
		shown=$(grep -c "^$(printf '\[%03d\]' "$cpu") " trace)
		reported=$(sed -n "s/^CPU:$cpu \[LOST \([0-9]*\) EVENTS\]\$/\1/p" trace |
			awk '{ n += $1 } END { print n + 0 }')
		found="$shown shown, $reported lost, 0 left, 0 dropped"
		counted="$(stat_of "$cpu" "read events") shown, $(stat_of "$cpu" overrun) lost, \
$(stat_of "$cpu" entries) left, $(stat_of "$cpu" "dropped events") dropped"
		[ "$found" = "$counted" ] || echo "CPU $cpu: $found; counted are $counted"
	done
	grep -vE -m 4 '^(\[[0-9]+\] |CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$)' trace
}

# Guests on all CPUs beside writers, with every event on: test_guests PAGES READER
test_guests() {
	name="guests beside writers, $1 pages, $2"
	reset_numbers "$1"
	echo 1 >"$HYP/events/enable"
	exec 3<"$HYP/trace_pipe"
	echo 1 >"$HYP/tracing_on"
	start_writers
	is "$name: the writers run" $? 0
	: >trace
	[ "$2" = none ] || cat "$HYP/trace_pipe" >trace &
	reading=$!
	guest --vcpus "$VCPUS" --cpu 0 --hvc "$HVC" --mmio 20 --wfi 2 >guests
	is "$name: the guests run" $? 0
	stop_writers
	echo 0 >"$HYP/tracing_on"
	wait $reading
	fileop drain - <&3 >>trace
	none "$name: each event is shown or reported lost" unbalanced
	exec 3<&-
}

plan "$PLAN" write_event
test_readers
test_guests "$SMALL" pipe
if [ "$SECONDS_EACH" -gt 0 ]; then
	test_guests "$SMALL" none
	test_guests "$LARGE" pipe
	test_guests "$LARGE" none
fi
ktap_finished
