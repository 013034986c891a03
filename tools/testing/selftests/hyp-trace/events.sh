#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Events are enabled one by one, at run time, and described to user space.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

EVENTS=$HYP/events/hypervisor

set_event() {
	echo "$2" >"$EVENTS/$1/enable"
}

run_guest() {
	guest --cpu 0 >guests
}

# seen_with ENTER EXIT: which of the events a trace has with these enabled.
seen_with() {
	reset
	set_event hyp_enter "$1"
	set_event hyp_exit "$2"
	record trace run_guest || echo "no guest ran"
	awk '{ print $3 }' trace | sort -u | tr -d '\n'
}

# What the files say after each event was given these values.
states_with() {
	set_event hyp_enter "$1"
	set_event hyp_exit "$2"
	cat "$HYP/events/enable" "$EVENTS/enable" "$EVENTS/hyp_enter/enable" \
		"$EVENTS/hyp_exit/enable" | tr '\n' ' '
}

# Both events for one guest, hyp_enter alone for a second, both for a third.
switch_events() {
	guest --cpu 0 >first
	set_event hyp_exit 0
	guest --cpu 0 >second
	set_event hyp_exit 1
	guest --cpu 0 >third
}

# What the two events' enable reads.
enabled() {
	cat "$EVENTS/hyp_enter/enable" "$EVENTS/hyp_exit/enable" | xargs
}

# The common fields are those of the host's events.
common_fields() {
	for event in hyp_enter hyp_exit; do
		is "$event has the common fields" "$(grep common_ "$EVENTS/$event/format")" \
			"$(grep common_ "$TRACEFS/events/sched/sched_switch/format")"
	done
}

# Fields that overlap each other or the eight bytes of the common ones.
overlaps() {
	sed -n 's/.*offset:\([0-9]*\);.*size:\([0-9]*\);.*/\1 \2/p' "$EVENTS/$1/format" |
		awk '$1 < end || $2 <= 0 || $1 % $2 { print "offset " $1 ", size " $2 }
		     { end = $1 + $2 }
		     END { if (NR < 5) print "no field of its own"; }'
}

# The words __print_symbolic has for the reason, in order; each of its values
# stands there once.
symbols() {
	grep '^print fmt: "reason=%s", __print_symbolic(REC->reason, ' "$EVENTS/$1/format" |
		grep -o '{ *[0-9x]*, *"[a-z]*" *}' | tr -d '{}" ' | sort -u -t , -k 1,1 |
		cut -d , -f 2 | sort | xargs
}

describe() {
	event=$1
	format=$EVENTS/$event/format
	is "$event: format has the name" "$(sed -n 's/^name: //p' "$format")" "$event"
	is "$event: format has the id" "$(sed -n 's/^ID: //p' "$format")" \
		"$(cat "$EVENTS/$event/id")"
	none "$event: offsets and sizes are sound" overlaps "$event"
	holds "$event: the reason is a field" -n "$(grep 'field:.* reason;' "$format")"
	is "$event: print fmt has each reason once" "$(symbols "$event")" "$2"
}

odd_ids() {
	cat "$EVENTS"/*/id | awk '$1 !~ /^[0-9]+$/ || $1 < 1 || $1 > 65535'
}

shared_ids() {
	cat "$EVENTS"/*/id "$TRACEFS"/events/*/*/id | sort -n | uniq -d
}

plan 27
is "no event" "$(seen_with 0 0)" ""
is "hyp_enter alone" "$(seen_with 1 0)" "hyp_enter:"
is "hyp_exit alone" "$(seen_with 0 1)" "hyp_exit:"
is "both" "$(seen_with 1 1)" "hyp_enter:hyp_exit:"

reset
record trace switch_events
exits=$(($(exits first) + $(exits third)))
is "disabled while tracing: hyp_exit" "$(count trace hyp_exit guest)" "$exits"
is "enabled all the while: hyp_enter" "$(count trace hyp_enter guest)" \
	$((exits + $(exits second)))

is "enable reads 0 when none is" "$(states_with 0 0)" "0 0 0 0 "
is "enable reads X when some are" "$(states_with 1 0)" "X X 1 0 "
is "enable reads 1 when all are" "$(states_with 1 1)" "1 1 1 1 "
for file in events/enable events/hypervisor/enable; do
	echo 0 >"$HYP/$file"
	is "$file disables all" "$(enabled)" "0 0"
	echo 1 >"$HYP/$file"
	is "$file enables all" "$(enabled)" "1 1"
done

describe hyp_enter "abort firmware guest hvc psci smc sysreg unknown"
describe hyp_exit "firmware guest host"
common_fields
none "ids are not 0 and fit 16 bits" odd_ids
none "no event has the id of another, or of one of the host's" shared_ids
ktap_finished
