#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Events that match a filter's expression are written; others take no room. A wrong
# expression is refused with EINVAL, leaves no filter, and the file shows the reason as
# the kernel's does. Filters change while events come.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

FILTER=$EVENTS/selftest/filter
HOST=$TRACEFS/instances/hyp-trace-filter
MODULE=$DIR/modules/hyp_call.ko
CALL=/sys/kernel/debug/hyp_call

# A number, and the events that have it; a number whose values have names, and a name
FIELD=vcpu
WITH_FIELD="guest_enter guest_exit hyp_enter hyp_exit vcpu_illegal_trap"
NAMED=reason
NAME=guest
if [ "$REMOTE" = trace_remote_test ]; then
	FIELD=kind
	WITH_FIELD=numbers
	NAMED=kind
	NAME=one
fi

IDS='0 1 2 3 4 5 7 8 15 16 255 256 4294967295 4294967296
	9223372036854775807 9223372036854775808 18446744073709551615'

# An expression, and which of IDS pass it.
TABLE='
id == 3;3
id != 3 && id < 256;0 1 2 4 5 7 8 15 16 255
id < 3;0 1 2
id <= 3;0 1 2 3
id > 4294967296;9223372036854775807 9223372036854775808 18446744073709551615
id >= 9223372036854775807;9223372036854775807 9223372036854775808 18446744073709551615
id == 0x10;16
id == 0xffffffff;4294967295
id == 18446744073709551615;18446744073709551615
id & 1 && id < 16;1 3 5 7 15
!(id & 1) && id < 16;0 2 4 8
id == 1 || id == 2 || id == 255;1 2 255
id > 2 && id < 5 || id == 16;3 4 16
(id == 1 || id == 2) && !(id == 2);1
!(id < 4 || id > 8);4 5 7 8
id > 1 && (id < 4 || id == 7 && id != 8) && id != 3;2 7
common_pid == 1;
common_type == 1;
common_pid != 1 && id < 2;0 1
'

# What is refused, `field` being one of numbers.
WRONG='
no_field == 1
field
field ==
field == x
field == "x"
field ~ "x"
field = 1
field == 1 &&
field == 1 field == 2
(field == 1
field == 1)
== 1
&&
field == 99999999999999999999
comm
'

write_ids() {
	for id in $IDS; do
		echo "$id" >"$HYP/write_event"
	done
}

# passed: the ids that the trace has.
passed() {
	sed -n 's/.*: selftest id=//p' trace | xargs
}

test_expressions() {
	echo "$TABLE" | grep . >table
	while IFS=';' read -r expression wanted; do
		reset
		only selftest
		echo "$expression" >"$FILTER"
		record trace write_ids
		is "$expression" "$(passed)" "$wanted"
	done <table
}

test_no_room() {
	reset
	only selftest
	echo "id == 5" >"$FILTER"
	echo 1 >"$HYP/tracing_on"
	write_ids
	is "events that do not match take no room" \
		"$(cat "$HYP"/per_cpu/cpu*/stats | awk '
			/^entries:/ { n += $2 }
			/^bytes:/ { b += $2 }
			END { print n, b }')" "1 20"
	echo 0 >"$HYP/tracing_on"
}

# The host has no text for some errors, and no mark.
host_text() {
	sed 's/^Error: (0)$/^\nparse_error: Meaningless filter expression/'
}

# Ours and the host's, of an event that has a field of that name, too. The host's error
# varies, as the parser's codes do.
test_wrong() {
	make_host_id
	mkdir "$HOST"
	echo "$WRONG" | grep . >table
	while read -r expression; do
		ours=$(echo "$expression" | sed 's/\<field\>/id/')
		is "$ours: refused" "$(fileop write "$FILTER" "$ours")" EINVAL
		fileop write "$HOST/events/$HOST_ID/filter" "$ours" >outcome
		cat "$FILTER" >found
		host_text <"$HOST/events/$HOST_ID/filter" >host
		none "a refused filter is shown as in the host's file" diff found host
	done <table
	rmdir "$HOST"
}

ONLY_HOST="Only the kernel can evaluate this field"
TOO_MANY=$(seq -s '||' 40 | sed 's/[0-9][0-9]*/id==&/g')
# On pages of any size
TOO_LONG="id == 1$(printf '%70000s' ' ') && id == 2"

# refused NAME FILE EXPRESSION WHY COLUMN: by one rule, whatever is wrong and whichever file
# it is. There was a filter before.
refused() {
	reset
	only selftest
	echo "id == 1" >"$FILTER"
	echo >"$HYP/error_log"
	is "$1: EINVAL" "$(fileop write "$2" "$3")" EINVAL
	printf '%s\n%*s\nparse_error: %s\n\n' "$3" "$(($5 + ($5 > 0)))" "^" "$4" >expected
	none "$1: the file shows why" diff expected "$2"
	printf '  Command: %s\n%*s\n' "$3" $((12 + $5)) "^" >expected
	sed "1s/^\[ *[0-9]*\.[0-9]*\] event filter parse error: error: $4\$/OK/" \
		"$HYP/error_log" >found
	is "$1: error_log shows why" "$(head -n 1 found)" OK
	sed 1d found >log
	none "$1: error_log has the expression" diff expected log
	record trace write_ids
	is "$1: nothing is filtered" "$(passed)" "$(echo "$IDS" | xargs)"
}

test_refused() {
	for kind in "an event's" "the group's"; do
		file=$FILTER
		[ "$kind" = "an event's" ] || file=$EVENTS/filter
		refused "$kind, no expression" "$file" "id = 1" "Invalid operator" 4
		refused "$kind, the task's name" "$file" 'comm == "sh"' "$ONLY_HOST" 4
		refused "$kind, too many terms" "$file" "$TOO_MANY" \
			"Too many terms in predicate expression" ${#TOO_MANY}
		refused "$kind, no such field" "$file" "no_field == 1" "Field not found" 9
	done
	refused "an operand of the first event that has none" "$EVENTS/filter" "$FIELD == x" \
		"Invalid value (did you forget quotes)?" $((${#FIELD} + 5))
}

# What fills a page can't be shown whole.
test_page() {
	for file in "$FILTER" "$EVENTS/filter"; do
		reset
		only selftest
		echo "id == 1" >"$FILTER"
		is "a page or more, in ${file#"$EVENTS/"}: EINVAL" \
			"$(fileop write "$file" "$TOO_LONG")" EINVAL
		is "a page or more, in ${file#"$EVENTS/"}: the file shows why" \
			"$(sed -n 's/^parse_error: //p' "$file")" "Filter is too long"
		record trace write_ids
		is "a page or more, in ${file#"$EVENTS/"}: nothing is filtered" \
			"$(passed)" "$(echo "$IDS" | xargs)"
	done
}

# The mark is where the user wrote it, not where it is with numbers for names.
test_mark() {
	named=$(printf '%s == "%s"' "$NAMED" "$NAME")
	fileop write "$EVENTS/$EVENT/filter" "$named && no_field == 1" >outcome
	is "the mark counts names as they were written" "$(sed -n 2p "$EVENTS/$EVENT/filter")" \
		"$(printf '%*s' $((${#named} + 14)) "^")"
	is "the file shows names as they were written" "$(head -n 1 "$EVENTS/$EVENT/filter")" \
		"$named && no_field == 1"
	echo 0 >"$EVENTS/$EVENT/filter"
}

test_files() {
	echo 0 >"$FILTER"
	is "0: none" "$(cat "$FILTER")" none
	echo "id == 1" >"$FILTER"
	is "an expression is shown" "$(cat "$FILTER")" "id == 1"
	echo 0 >"$EVENTS/filter"
	is "0 for all" "$(cat "$EVENTS"/filter "$EVENTS"/*/filter | sort -u)" none

	echo "id == 1" >"$FILTER"
	echo "$FIELD == 1" >"$EVENTS/filter"
	is "the group's filter: events with the field have it" \
		"$(grep -l "$FIELD == 1" "$EVENTS"/*/filter | xargs -n 1 dirname | sed 's,.*/,,' |
			xargs)" \
		"$WITH_FIELD"
	is "the group's filter is shown" "$(cat "$EVENTS/filter")" "$FIELD == 1"
	is "the group's filter: other events keep theirs" "$(cat "$FILTER")" "id == 1"
	is "a field that none has is refused" \
		"$(fileop write "$EVENTS/filter" "no_field == 1")" EINVAL
	is "after a refusal, no event has a filter" "$(cat "$EVENTS"/*/filter | sort -u)" none
	echo 0 >"$EVENTS/filter"
	is "0 clears the reason" "$(cat "$EVENTS/filter")" none
}

two_guests() {
	guest --vcpus 2 >guests
}

exits_of() {
	grep "^vcpu=$1 " guests | value exits
}

change_filters() {
	for i in $(seq 200); do
		echo "id == $i || id == 1" >"$FILTER"
		[ $((i % 10)) -ne 0 ] || echo 0 >"$FILTER"
	done
	echo "id == 1" >"$FILTER"
}

test_names() {
	reset
	only hyp_enter
	echo 'reason == "guest" && vcpu == 1' >"$EVENTS/hyp_enter/filter"
	is "a name is shown as it was written" "$(cat "$EVENTS/hyp_enter/filter")" \
		'reason == "guest" && vcpu == 1'
	record trace two_guests
	is "a name, and a vCPU" "$(wc -l <trace)" "$(exits_of 1)"
	echo "reason != 'guest' && reason != 'psci'" >"$EVENTS/hyp_enter/filter"
	record trace two_guests
	is "other names" "$(grep -cE 'reason=(guest|psci) ' trace)" 0
	holds "other names: a third one passes" "$(grep -c 'reason=hvc ' trace)" -gt 60
	is "an unknown name is refused" \
		"$(fileop write "$EVENTS/hyp_enter/filter" 'reason == "nowhere"')" EINVAL
	echo 0 >"$EVENTS/hyp_enter/filter"

	only host_hcall
	echo 'id == "__kvm_vcpu_run"' >"$EVENTS/host_hcall/filter"
	record trace two_guests
	none "a hypercall by name" grep -v ' name=__kvm_vcpu_run ' trace
	holds "the hypercall was made" "$(wc -l <trace)" -gt 60
	echo 0 >"$EVENTS/host_hcall/filter"
}

# Guests, and three hypercalls that EL2 refuses. No kernel makes such a call.
call_wrong() {
	two_guests
	for _ in 1 2 3; do
		echo "hvc 0xc600ffff" >"$CALL"
	done
}

test_signed() {
	if ! insmod "$MODULE"; then
		ktap_print_msg "no $MODULE for this kernel"
		for name in $(seq 4); do
			ktap_test_skip "$name: no module"
		done
		return
	fi
	reset
	only host_hcall
	echo 'ret < 0' >"$EVENTS/host_hcall/filter"
	record trace call_wrong
	is "ret < 0: negative numbers pass" "$(grep -c ' invalid=1 ret=-1$' trace)" 3
	none "ret < 0: no other number passes" grep -v ' ret=-' trace
	echo 'ret > -1' >"$EVENTS/host_hcall/filter"
	record trace call_wrong
	holds "ret > -1: other numbers pass" "$(grep -c ' ret=[0-9]' trace)" -gt 60
	none "ret > -1: no negative number passes" grep ' ret=-' trace
	echo 0 >"$EVENTS/host_hcall/filter"
	rmmod hyp_call
}

# While events are written: events that always pass are all in the trace.
test_changes() {
	reset
	only selftest
	echo "id == 1" >"$FILTER"
	echo 1 >"$HYP/tracing_on"
	change_filters &
	for i in $(seq 2000); do
		echo 1 >"$HYP/write_event"
	done
	wait
	echo 0 >"$HYP/tracing_on"
	drain trace
	is "filters change while events come" "$(number_of 1)" 2000
	echo 0 >"$FILTER"
}

number_of() {
	grep -c ": selftest id=$1\$" trace
}

plan $(($(echo "$TABLE" | grep -c .) + 1 + 2 * $(echo "$WRONG" | grep -c .) + 9 * 5 + 6 + 2 +
	9 + GUESTS * (7 + 4) + 1)) write_event
test_expressions
test_no_room
test_wrong
test_refused
test_page
test_mark
test_files
if [ "$GUESTS" = 1 ]; then
	test_names
	test_signed
fi
test_changes
ktap_finished
