#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPUs go offline and come back without a rest, modules with events are loaded and
# removed, and the machine sleeps, while all CPUs write and a reader follows. Each event
# written was read or reported lost.
#
# HYP_TRACE_STORMS=number	rounds of each storm (8 by the number of CPUs; at least 1)
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

ROUNDS=${HYP_TRACE_STORMS:-$((CPUS < 8 ? 8 / CPUS : 1))}
LAST=$((CPUS - 1))
MODULES=$DIR/modules
ALARM=/sys/class/rtc/rtc0/wakealarm
SLEPT=/sys/power/suspend_stats/success
WAKEUPS=/sys/power/wakeup_count

# The reader's file stays within the memory that there is.
BURST=20

# Each CPU that can be is taken offline, then all come back.
plug() {
	for online in 0 1; do
		for cpu in $(seq "$LAST"); do
			echo $online >"/sys/devices/system/cpu/cpu$cpu/online" || return
		done
	done
}

# ... those for tests, one that finds nothing to do and does not stay, and one with
# events of the host's.
load_modules() {
	insmod "$MODULES/hyp_call.ko" || return
	insmod "$MODULES/trace-events-sample.ko" || return
	! insmod "$MODULES/hyp_hostile.ko" 2>/dev/null || return
	rmmod trace-events-sample && rmmod hyp_call
}

# To the second RTCs are exact; one that is over does not wake. If it is so on the way to
# sleep, the count is not what it was, and the machine stays awake: then with more time.
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

# repeat NUMBER COMMAND: says so if that fails.
repeat() {
	for round in $(seq "$1"); do
		"$2" || echo "$2 fails in round $round"
	done
}

# Until all is over. A reader is woken for the machine to sleep, as by a signal; a
# reader's end is that of tracing only if it has read something.
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

# The end: each event must be read or reported lost. Prints what is wrong.
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

# What the reader had, and what the counters say.
unaccounted() {
	unlike "events read, and reported lost" "$(awk '
		/^\[[0-9]/ { read++ }
		/\[LOST [0-9]+ EVENTS\]$/ { lost += $3 }
		END { print read + 0, lost + 0 }' pipe)" "$(sum "read events") $(sum overrun)"
	unlike "events left" "$(sum entries)" 0
	unlike "events dropped" "$(sum "dropped events")" 0
}

# ... and what the writers do: there are no other events.
unwritten() {
	unaccounted
	unlike "events written" "$(($(sum "read events") + $(sum overrun)))" \
		"$(cat written.* | awk '{ n += $1 } END { print n + 0 }')"
}

# storm NAME NUMBER COMMAND
storm() {
	reset_numbers 16
	begin
	none "$1: succeeds" repeat "$2" "$3"
	is "$1: tracing is still on" "$(cat "$HYP/tracing_on")" 1
	end >left
	none "$1: all events are read, the buffer is unloaded" cat left
	none "$1: each event written was read or reported lost" unwritten
	ktap_print_msg "$(sum "read events") events read, $(sum overrun) lost"
}

# How many events of all kinds were written is not known.
storm_of_all() {
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
	if [ ! -w "/sys/devices/system/cpu/cpu$LAST/online" ] || [ "$LAST" -eq 0 ]; then
		skip 7 "no CPU can be taken offline"
		return
	fi
	storm "CPUs go and come" "$ROUNDS" plug
	storm_of_all "CPUs go and come" "$ROUNDS" plug
}

test_modules() {
	if [ ! -e "$MODULES/hyp_call.ko" ] || [ ! -e "$MODULES/trace-events-sample.ko" ]; then
		skip 5 "no modules for this kernel"
		return
	fi
	cat "$HYP"/events/hypervisor/*/format >before
	storm "modules go and come" "$ROUNDS" load_modules
	cat "$HYP"/events/hypervisor/*/format >after
	none "modules go and come: events have kept their ids" diff before after
}

# outside FROM TO: events that are not from between these times, in hundredths.
outside() {
	awk -v from="$1" -v to="$2" '
		!/selftest / { next }
		{ n++ }
		$2 + 0 < from - 0.0000011 || $2 + 0 > to + 0.0100011
		END { if (!n) print "no events" }' trace
}

# Times are right afterwards, too.
test_sleeping() {
	if [ ! -w "$ALARM" ] || ! grep -qs freeze /sys/power/state; then
		skip 5 "no suspend-to-idle, or no clock to wake up by"
		return
	fi
	storm "the machine sleeps" 1 nap
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	nap
	from=$(cut -d ' ' -f 1 /proc/uptime)
	emit_all 50
	to=$(cut -d ' ' -f 1 /proc/uptime)
	cat "$HYP/trace" >trace
	none "the machine sleeps: times are those of the boot clock" outside "$from" "$to"
}

plan 17 write_event
test_plugging
test_modules
test_sleeping
ktap_finished
