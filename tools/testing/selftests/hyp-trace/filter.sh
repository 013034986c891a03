#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A filter lets those events pass that its expression wants, and no others take
# room; what is wrong with one is told as the host's filters tell it.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

EVENTS=$HYP/events/hypervisor
FILTER=$EVENTS/selftest/filter
HOST=$TRACEFS/instances/hyp-trace-filter

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
common_pid == 0;
common_type == 1;
common_pid != 0 && id < 2;0 1
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
	sed -n 's/.*: selftest: id=//p' trace | xargs
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
	is "what does not pass takes no room" \
		"$(cat "$HYP"/per_cpu/cpu*/stats | awk '
			/^entries:/ { n += $2 }
			/^bytes:/ { b += $2 }
			END { print n, b }')" "1 20"
	echo 0 >"$HYP/tracing_on"
}

# Ours and the host's, of an event that has a field of that name, too.
test_wrong() {
	mkdir "$HOST"
	echo "$WRONG" | grep . >table
	while read -r expression; do
		ours=$(echo "$expression" | sed 's/\<field\>/id/')
		found=$(fileop write "$FILTER" "$ours")
		host=$(fileop write "$HOST/events/raw_syscalls/sys_exit/filter" "$ours")
		is "$ours: refused" "$found" "${host#ok}"
		cat "$FILTER" >found
		cat "$HOST/events/raw_syscalls/sys_exit/filter" >host
		none "and shown as what it is" diff found host
	done <table
	rmdir "$HOST"

	reset
	only selftest
	echo "id == 1" >"$FILTER"
	fileop write "$FILTER" "id = 1" >outcome
	record trace write_ids
	is "after that nothing is filtered" "$(passed)" "$(echo "$IDS" | xargs)"
}

test_files() {
	echo 0 >"$FILTER"
	is "0: none" "$(cat "$FILTER")" none
	echo "id == 1" >"$FILTER"
	is "an expression is shown" "$(cat "$FILTER")" "id == 1"
	fileop write "$FILTER" "$(seq -s '||' 40 | sed 's/[0-9][0-9]*/id==&/g')" >outcome
	is "one that is too long is refused" "$(cat outcome)" E2BIG
	is "and changes nothing" "$(cat "$FILTER")" "id == 1"
	is "the task's name is the host's to know" \
		"$(fileop write "$FILTER" 'comm == "sh"')" EINVAL
	is "and no field of the record" "$(cat "$FILTER")" "id == 1"
	echo 0 >"$EVENTS/filter"
	is "0 for all" "$(cat "$EVENTS"/filter "$EVENTS"/*/filter | sort -u)" none

	echo "vcpu == 1" >"$EVENTS/filter"
	is "for all: those with the field" \
		"$(grep -l 'vcpu == 1' "$EVENTS"/*/filter | xargs -n 1 dirname | sed 's,.*/,,' |
			xargs)" \
		"guest_enter guest_exit hyp_enter hyp_exit"
	is "which is shown" "$(cat "$EVENTS/filter")" "vcpu == 1"
	is "a field that none has is refused" \
		"$(fileop write "$EVENTS/filter" "no_field == 1")" EINVAL
	is "and changes nothing" "$(cat "$EVENTS/filter" "$EVENTS/guest_exit/filter" | xargs)" \
		"vcpu == 1 vcpu == 1"
	echo 0 >"$EVENTS/filter"
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
	is "a name: shown as it was written" "$(cat "$EVENTS/hyp_enter/filter")" \
		'reason == "guest" && vcpu == 1'
	record trace two_guests
	is "a name, and a vCPU" "$(wc -l <trace)" "$(exits_of 1)"
	echo "reason != 'guest' && reason != 'hvc'" >"$EVENTS/hyp_enter/filter"
	record trace two_guests
	is "other names" "$(grep -cE 'reason=(guest|hvc)$' trace)" 0
	is "a name that there is not is refused" \
		"$(fileop write "$EVENTS/hyp_enter/filter" 'reason == "nowhere"')" EINVAL
	echo 0 >"$EVENTS/hyp_enter/filter"

	only host_hcall
	echo 'id == "__kvm_vcpu_run"' >"$EVENTS/host_hcall/filter"
	record trace two_guests
	none "a hypercall by name" grep -v ' name=__kvm_vcpu_run ' trace
	holds "which was made" "$(wc -l <trace)" -gt 60
	echo 0 >"$EVENTS/host_hcall/filter"

	only host_hcall
	echo 'ret < 0' >"$EVENTS/host_hcall/filter"
	record trace two_guests
	none "a signed field" grep -v ' ret=-' trace
	echo 'ret > -1' >"$EVENTS/host_hcall/filter"
	record trace two_guests
	holds "is compared as that" "$(grep -c ' ret=[0-9]' trace)" -gt 60
	echo 0 >"$EVENTS/host_hcall/filter"
}

# With events on their way all the while: those that always pass are all there.
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
	grep -c ": selftest: id=$1\$" trace
}

plan $(($(echo "$TABLE" | grep -c .) + 1 + 2 * $(echo "$WRONG" | grep -c .) + 1 + 11 + 8 + 1)) \
	write_event
test_expressions
test_no_room
test_wrong
test_files
test_names
test_changes
ktap_finished
