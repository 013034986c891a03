#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Events are enabled one by one, also while tracing, and described to user space: ids
# are unique among the kernel's events, fields have the size of their types and the
# bytes in the ring, formats also appear in the kernel's own events/.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

EVENTS=$HYP/events/hypervisor
HOST=$TRACEFS/events/hypervisor

NAMES=$(echo "$EVENT_LIST" | xargs -n 1 | sort | xargs)

run_guest() {
	guest --cpu 0 >guests
	[ ! -e "$HYP/write_event" ] || echo 42 >"$HYP/write_event"
}

# seen_with EVENT...: which events a trace has with these enabled.
seen_with() {
	reset
	only "$@"
	record trace run_guest || echo "no guest ran"
	awk '{ print $3 }' trace | tr -d : | sort -u | xargs
}

# What the files say after these events were enabled: for all, the group, each.
states_with() {
	only "$@"
	cat "$HYP/events/enable" "$EVENTS/enable"
	for event in $BASIC; do
		cat "$EVENTS/$event/enable"
	done
}

# All events for one guest, all but hyp_exit for a second, all for a third.
switch_events() {
	guest --cpu 0 >first
	echo 0 >"$EVENTS/hyp_exit/enable"
	guest --cpu 0 >second
	echo 1 >"$EVENTS/hyp_exit/enable"
	guest --cpu 0 >third
}

# What the events' enable reads.
enabled() {
	cat "$EVENTS"/*/enable | sort -u | xargs
}

# fields EVENT: offset, size and type of each.
fields() {
	sed -n -e 's/\tsigned:[01];$//' -e 's/;\t[a-z]*:/;/g' \
		-e 's/^\tfield:\(.*\) [a-z_]*;\([0-9]*\);\([0-9]*\);$/\2 \3 \1/p' \
		"$EVENTS/$1/format"
}

# Fields that overlap or are not aligned to their size, or whose size is not that
# of their type.
misplaced() {
	for event in $NAMES; do
		fields "$event" | awk -v event="$event" '
			BEGIN { split("u8 1 u16 2 u32 4 u64 8 s32 4 int 4", word, " ")
				for (i = 1; i in word; i += 2) bytes[word[i]] = word[i + 1] }
			$1 < end || $2 <= 0 || $1 % $2 || $3 in bytes && bytes[$3] != $2 {
				print event ": " $0
			}
			{ end = $1 + $2 }
			END { if (NR < 5) print event ": no field of its own" }'
	done
}

uncommon() {
	for event in $NAMES; do
		grep common_ "$EVENTS/$event/format" |
			diff "$TRACEFS/events/kvm/kvm_exit/format" - | grep '^>'
		[ "$(grep -c common_ "$EVENTS/$event/format")" = 4 ] || echo "$event: not four"
	done
}

# What print fmt calls, beside what parsers in user space know.
unknown_calls() {
	for event in $NAMES; do
		grep '^print fmt: ' "$EVENTS/$event/format" |
			grep -o '[A-Za-z0-9_][A-Za-z0-9_]* *(' |
			grep -vE '^(__print_symbolic|__print_flags|__print_hex|__get_str)\($'
	done
}

# The words __print_symbolic has for the reason, in order; each of its values
# stands there once.
symbols() {
	grep '^print fmt: "reason=%s vcpu=%hd", __print_symbolic(REC->reason' "$EVENTS/$1/format" |
		grep -o '{ *[0-9x]*, *"[a-z]*" *}' | tr -d '{}" ' | sort -u -t , -k 1,1 |
		cut -d , -f 2 | sort | xargs
}

# Events whose format does not begin with the name and the id.
misnamed() {
	for event in $NAMES; do
		printf 'name: %s\nID: %s\nformat:\n' "$event" "$(cat "$EVENTS/$event/id")" >expected
		head -n 3 "$EVENTS/$event/format" | diff expected -
	done
}

# record_size EVENT: by its format, in the ring: with a header of four bytes, and
# rounded up to four.
record_size() {
	fields "$1" | awk '$1 + $2 > end { end = $1 + $2 }
		END { print 4 + end + (4 - end % 4) % 4 }'
}

# bytes_each EVENT: what each takes in CPU 0's ring, in the mean; now and then an
# event is late and takes eight more.
bytes_each() {
	reset
	only "$1"
	echo 1 >"$HYP/tracing_on"
	guest --cpu 0 >guests
	[ "$1" != selftest ] || emit "$HYP/write_event" 0 1 200 >/dev/null
	echo 0 >"$HYP/tracing_on"
	awk '/^entries:/ { entries = $2 } /^bytes:/ { bytes = $2 }
		END { print entries ? int(bytes / entries) : "no events" }' \
		"$HYP/per_cpu/cpu0/stats"
}

odd_ids() {
	cat "$EVENTS"/*/id | awk '$1 !~ /^[0-9]+$/ || $1 < 1 || $1 > 65535'
}

shared_ids() {
	cat "$EVENTS"/*/id "$TRACEFS"/events/*/*/id | sort -n | uniq -d
}

# Formats of the host's own events/ that are not there, or not ours. The records of hyp_printk have
# the number of the kernel's bprint.
unlike_formats() {
	find "$HOST" -mindepth 1 -type d | sed 's,.*/,,' | sort | xargs >listed
	echo "$NAMES" | diff - listed
	for event in $NAMES; do
		sed '/^name: hyp_printk$/,/^ID:/d' "$HOST/$event/format" >theirs
		sed '/^name: hyp_printk$/,/^ID:/d' "$EVENTS/$event/format" | cmp theirs -
	done
}

# What could enable them there, but for what is refused: their group.
enablers() {
	ls "$HOST"/*/enable "$HOST"/*/trigger 2>/dev/null
	grep '^hypervisor:' "$TRACEFS/available_events"
}

# What they read, each and the group's.
filters() {
	cat "$EVENTS"/filter "$EVENTS"/*/filter | sort -u | xargs
}

plan $((17 + 2 + $(echo "$BASIC" | wc -w) + 12))
is "no event" "$(seen_with)" ""
is "hyp_enter alone" "$(seen_with hyp_enter)" "hyp_enter"
is "hyp_exit alone" "$(seen_with hyp_exit)" "hyp_exit"
# shellcheck disable=SC2086 # words
is "both, and selftest" "$(seen_with $BASIC)" "$BASIC"

reset
record trace switch_events
exits=$(($(exits first) + $(exits third)))
is "disabled while tracing: hyp_exit" "$(count trace hyp_exit guest)" "$exits"
is "enabled all the while: hyp_enter" "$(count trace hyp_enter guest)" \
	$((exits + $(exits second)))

is "enable reads 0 when none is" "$(states_with | sort -u | xargs)" 0
is "enable reads X when some are" "$(states_with hyp_enter | head -n 4 | xargs)" "X X 1 0"
# shellcheck disable=SC2086 # words
is "enable reads 1 when all are" "$(states_with $NAMES | sort -u | xargs)" 1
for file in events/enable events/hypervisor/enable; do
	echo 0 >"$HYP/$file"
	is "$file disables all" "$(enabled)" 0
	echo 1 >"$HYP/$file"
	is "$file enables all" "$(enabled)" 1
done

is "filters are none" "$(filters)" none
is "a filter of 0 is none" "$(fileop write "$EVENTS/hyp_enter/filter" "0") $(filters)" "ok none"
is "the group's filter is none" "$(fileop write "$EVENTS/filter" "0") $(filters)" "ok none"
is "each event has a directory" \
	"$(find "$EVENTS" -mindepth 1 -type d | sed 's,.*/,,' | sort | xargs)" "$NAMES"

is "hyp_enter: print fmt has each reason once" "$(symbols hyp_enter)" \
	"abort firmware guest hvc psci smc unknown"
is "hyp_exit: print fmt has each reason once" "$(symbols hyp_exit)" "firmware guest host"
for event in $BASIC; do
	is "$event: bytes in the ring are as in its format" "$(bytes_each "$event")" \
		"$(record_size "$event")"
done
none "formats have the name and the id" misnamed
none "fields are aligned, and as large as their types" misplaced
none "the common fields are as in the host's events" uncommon
none "print fmt can be parsed in user space" unknown_calls
none "ids are not 0 and fit 16 bits" odd_ids
none "no event has the id of another, or of one of the host's" shared_ids
none "each format is in the host's events/ too" unlike_formats
none "no format in the host's events/ has an enable" enablers
is "the host's events/ can't enable all of them" "$(fileop write "$HOST/enable" 1)" EINVAL
is "the host's set_event can't enable one by name" \
	"$(fileop write "$TRACEFS/set_event" hypervisor:hyp_enter)" EINVAL
none "header_page is the host's" cmp "$HYP/events/header_page" "$TRACEFS/events/header_page"
none "header_event is the host's" cmp "$HYP/events/header_event" "$TRACEFS/events/header_event"
ktap_finished
