#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# set_event and available_events name the events as the kernel's files do: the same
# texts have the same effect and the same errors. 200 changes of all events while
# tracing stop no CPU.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

SET=$HYP/set_event
HOST=$TRACEFS/instances/hyp-trace-set-event

# What is enabled before (- for nothing), what is written, the outcome, and which
# of hyp_enter and hyp_exit are enabled then. For the host the group is kvm and
# they are kvm_entry and kvm_exit.
TABLE='
-,hypervisor:hyp_enter,ok,hyp_enter
-,hyp_enter,ok,hyp_enter
-,:hyp_enter,ok,hyp_enter
-,  hyp_exit ,ok,hyp_exit
-,hypervisor:*,ok,hyp_enter hyp_exit
-,hypervisor:,ok,hyp_enter hyp_exit
-,hypervisor,ok,hyp_enter hyp_exit
-,*:*,ok,hyp_enter hyp_exit
-,*:hyp_exit,ok,hyp_exit
-,hyp_enter hyp_exit,ok,hyp_enter hyp_exit
-,hyp_enter	hyp_exit,ok,hyp_enter hyp_exit
-,no_event,EINVAL,
-,hypervisor:no_event,EINVAL,
-,no_group:hyp_enter,EINVAL,
-,no_group:*,EINVAL,
-,hyp_,EINVAL,
-,hyp_enterx,EINVAL,
-,!no_event,EINVAL,
-,hyp_enter no_event,EINVAL,hyp_enter
hyp_enter,hyp_exit,ok,hyp_enter hyp_exit
hyp_enter,hyp_enter,ok,hyp_enter
hyp_enter,no_event,EINVAL,hyp_enter
hyp_enter hyp_exit,!hyp_enter,ok,hyp_exit
hyp_enter hyp_exit,!hypervisor:hyp_exit,ok,hyp_enter
hyp_enter hyp_exit,!hypervisor:*,ok,
hyp_enter hyp_exit,!hypervisor,ok,
hyp_enter hyp_exit,!*:*,ok,
hyp_enter hyp_exit,!hyp_enter !hyp_exit,ok,
hyp_enter,!hyp_exit,ok,hyp_enter
hyp_enter,!hyp_enter hyp_exit,ok,hyp_exit
'

# enabled FILE ENTER EXIT: which of these two it lists, in our words.
enabled() {
	sed -n "s/^.*:$2\$/hyp_enter/p; s/^.*:$3\$/hyp_exit/p" "$1" | sort | xargs
}

# written FILE BEFORE TEXT: the outcome. The write does not truncate.
written() {
	: >"$1"
	[ "$2" = - ] || echo "$2" >"$1"
	fileop write "$1" "$3"
}

test_rows() {
	mkdir "$HOST"
	echo "$TABLE" | grep . >table
	while IFS=, read -r before text outcome after; do
		found="$(written "$SET" "$(echo "$before" | remote_words)" \
			"$(echo "$text" | remote_words)")"
		found="$found, $(enabled "$SET" "$EVENT" "$OTHER_EVENT")"
		host="$(written "$HOST/set_event" "$(echo "$before" | host_words)" \
			"$(echo "$text" | host_words)")"
		host="$host, $(enabled "$HOST/set_event" "$HOST_EVENT" "$HOST_OTHER")"
		is "$before, then '$text'" "$found; host $host" \
			"$outcome, $after; host $outcome, $after"
	done <table
	rmdir "$HOST"
}

# The events by their directories, in no order of their own.
groups_events() {
	for dir in "$EVENTS"/*/; do
		echo "$REMOTE:$(basename "$dir")"
	done | sort
}

test_lists() {
	reset
	echo 1 >"$HYP/events/enable"
	is "available_events lists all" "$(sort "$HYP/available_events")" "$(groups_events)"
	is "set_event lists all when all are enabled" "$(sort "$SET")" "$(groups_events)"
	: >"$SET"
	is "O_TRUNC disables all" "$(cat "$SET" "$HYP/events/enable")" 0
	echo "*:*" >>"$SET"
	is "*:* enables all" "$(sort "$SET" | xargs) $(cat "$HYP/events/enable")" \
		"$(groups_events | xargs) 1"
	echo 0 >"$EVENTS/$EVENT/enable"
	is "set_event lists what enable enables" "$(sort "$SET")" \
		"$(groups_events | grep -v ":$EVENT\$")"
	echo "$OTHER_EVENT" >"$SET"
	is "with > only what is written" "$(cat "$SET")" "$REMOTE:$OTHER_EVENT"
	is "enable has what set_event enables" "$(cat "$EVENTS/$OTHER_EVENT/enable")" 1
	is "enable does not have what set_event does not enable" \
		"$(cat "$EVENTS/$EVENT/enable")" 0
}

run_guest() {
	guest --cpu 0 >guests
}

# While tracing is on, too.
switch_events() {
	echo hyp_enter >"$SET"
	guest --cpu 0 >guests
	echo hyp_exit >"$SET"
	guest --cpu 0 >>guests
	: >"$SET"
	guest --cpu 0 >last
}

test_effect() {
	reset
	record trace switch_events
	is "hyp_enter for the first guest, hyp_exit for the second" \
		"$(count trace hyp_enter guest) $(count trace hyp_exit guest)" \
		"$(sed -n 1p guests | value exits) $(sed -n 2p guests | value exits)"
}

# stops: how often the threads ran that stop a CPU for stop_machine().
stops() {
	for comm in /proc/[0-9]*/comm; do
		! grep -qs '^migration/' "$comm" || cat "${comm%comm}status"
	done | awk '/_ctxt_switches:/ { n += $2 } END { print n + 0 }'
}

# With tracing on, so that EL2 changes what its events test each time.
change_events() {
	for _ in $(seq 50); do
		echo 0 >"$HYP/events/enable"
		echo "$REMOTE:*" >>"$SET"
		echo 0 >"$HYP/tracing_on"
		echo 1 >"$HYP/tracing_on"
	done
}

# The scheduler uses these threads, too, now and then.
test_stops() {
	reset
	echo 1 >"$HYP/tracing_on"
	before=$(stops)
	change_events
	after=$(stops)
	echo 0 >"$HYP/tracing_on"
	holds "200 changes stop no CPU" $((after - before)) -lt 50
}

plan $(($(echo "$TABLE" | grep -c .) + 9 + GUESTS))
test_rows
test_lists
[ "$GUESTS" = 0 ] || test_effect
test_stops
ktap_finished
