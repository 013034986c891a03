#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stress tests: CPUs go offline and online all the time, modules with events are loaded and
# removed, and the machine is suspended, while all CPUs write and a reader reads. Each
# event written was read or reported lost.
#
# HYP_TRACE_STRESS_ROUNDS=number	rounds of each test (8 by the number of CPUs; at least 1)
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

ROUNDS=${HYP_TRACE_STRESS_ROUNDS:-$((CPUS < 8 ? 8 / CPUS : 1))}
LAST=$((CPUS - 1))
MODULES=$DIR/modules
ALARM=/sys/class/rtc/rtc0/wakealarm
SLEPT=/sys/power/suspend_stats/success
WAKEUPS=/sys/power/wakeup_count

# Writers rest after so many events, so that the reader's file fits into memory.
BURST=20

# Each CPU but the first goes offline, then all go online.
plug() {
	for online in 0 1; do
		for cpu in $(seq "$LAST"); do
			echo $online >"/sys/devices/system/cpu/cpu$cpu/online" || return
		done
	done
}

# A module for tests, one whose load fails, and one with events of the host.
load_modules() {
	insmod "$MODULES/hyp_call.ko" || return
	insmod "$MODULES/trace-events-sample.ko" || return
	! insmod "$MODULES/hyp_hostile.ko" 2>/dev/null || return
	rmmod trace-events-sample && rmmod hyp_call
}

# An RTC alarm has a resolution of a second, and wakes nothing if it expires before the
# machine sleeps. Then the count of wake-ups changes, and the machine does not suspend: try
# again with a later alarm.
nap() {
	before=$(cat "$SLEPT")
	for seconds in 2 4 8 16 32; do
		count=$(cat "$WAKEUPS")
		echo 0 >"$ALARM"
		echo "+$seconds" >"$ALARM"
		if echo "$count" >"$WAKEUPS" && echo freeze >/sys/power/state; then
			break
		fi 2>/dev/null
	done
	[ "$(cat "$SLEPT")" -gt "$before" ]
}

# repeat NUMBER COMMAND: prints each failure.
repeat() {
	for round in $(seq "$1"); do
		"$2" || echo "$2 fails in round $round"
	done
}

# Read until the test ends. A suspend interrupts a reader as a signal does, and a reader
# that has read nothing sees no end of file.
follow() {
	until [ -e over ]; do
		cat "$HYP/trace_pipe" 2>/dev/null
	done
}

begin() {
	rm -f over
	echo 1 >"$HYP/tracing_on"
	# shellcheck disable=SC2086 # a list
	start_emits 999999999 1 $ALL_CPUS
	follow >pipe &
	follower=$!
	until_true 10 writing
}

# more_than BYTES: of text was read.
more_than() {
	[ "$(stat -c %s pipe)" -gt "$1" ]
}

# Stop writers and reader. Prints errors.
end() {
	until_true 60 more_than "$(stat -c %s pipe)" || echo "nothing is read any more"
	: >over
	stop_writers
	echo 0 >"$HYP/tracing_on"
	if until_true 60 ended $follower; then
		wait $follower
	else
		echo "the reader does not end"
	fi
	[ "$(state)" = "(unloaded)" ] || echo "there is something left"
}

# sum NAME: of all CPUs' stats.
sum() {
	for counted in $ALL_CPUS; do
		stat_of "$counted" "$1"
	done | awk '{ n += $1 } END { print n + 0 }'
}

# unlike WHAT FOUND EXPECTED
unlike() {
	[ "$2" = "$3" ] || echo "$1: $2, not $3"
}

# Compares the events that the reader read with the counters.
unaccounted() {
	unlike "events read, and reported lost" "$(awk '
		/^\[[0-9]/ { read++ }
		/\[LOST [0-9]+ EVENTS\]$/ { lost += $3 }
		END { print read + 0, lost + 0 }' pipe)" "$(sum "read events") $(sum overrun)"
	unlike "events left" "$(sum entries)" 0
	unlike "events dropped" "$(sum "dropped events")" 0
}

# Also compares them with the events that the writers wrote: there are no others.
unwritten() {
	unaccounted
	unlike "events written" "$(($(sum "read events") + $(sum overrun)))" \
		"$(cat written.* | awk '{ n += $1 } END { print n + 0 }')"
}

# stress NAME NUMBER COMMAND
stress() {
	reset_numbers 16
	begin
	none "$1: succeeds" repeat "$2" "$3"
	is "$1: tracing is still on" "$(cat "$HYP/tracing_on")" 1
	end >left
	none "$1: all events are read, the buffer is unloaded" cat left
	none "$1: each event written was read or reported lost" unwritten
	ktap_print_msg "$(sum "read events") events read, $(sum overrun) lost"
}

# With all events enabled, the number of events written is not known.
stress_all_events() {
	reset_to 1024
	echo 1 >"$HYP/events/enable"
	begin
	none "$1, with all events: succeeds" repeat "$2" "$3"
	end >left
	none "$1, with all events: all events are read" cat left
	none "$1, with all events: each was read or reported lost" unaccounted
}

skip() {
	for name in $(seq "$1"); do
		ktap_test_skip "$name: $2"
	done
}

test_plugging() {
	if ! can_go "$LAST"; then
		skip 7 "no CPU can be taken offline"
		return
	fi
	stress "CPU hotplug" "$ROUNDS" plug
	stress_all_events "CPU hotplug" "$ROUNDS" plug
}

test_modules() {
	if [ ! -e "$MODULES/hyp_call.ko" ] || [ ! -e "$MODULES/trace-events-sample.ko" ]; then
		skip 5 "no modules for this kernel"
		return
	fi
	cat "$HYP"/events/hypervisor/*/format >before
	stress "modules" "$ROUNDS" load_modules
	cat "$HYP"/events/hypervisor/*/format >after
	none "modules: events have kept their ids" diff before after
}

# outside FROM TO: events outside these times, which are in hundredths of seconds.
outside() {
	awk -v from="$1" -v to="$2" '
		!/selftest / { next }
		{ n++ }
		$2 + 0 < from - 0.0000011 || $2 + 0 > to + 0.0100011
		END { if (!n) print "no events" }' trace
}

# After a suspend, times of events are in the boot clock.
test_sleeping() {
	if [ ! -w "$ALARM" ] || ! grep -qs freeze /sys/power/state; then
		skip 5 "no suspend-to-idle, or no clock to wake up by"
		return
	fi
	stress "suspend" 1 nap
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	nap
	from=$(cut -d ' ' -f 1 /proc/uptime)
	emit_all 50
	to=$(cut -d ' ' -f 1 /proc/uptime)
	cat "$HYP/trace" >trace
	none "suspend: times of events are in the boot clock" outside "$from" "$to"
}

plan 17 write_event
test_plugging
test_modules
test_sleeping
ktap_finished
