#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The event that t/added.t has put into the catalogue, as a user sees it. Runs in a
# VM, beside the kselftest's programs.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

EVENT=$HYP/events/hypervisor/added
CUT=$(printf '0123456789%.0s' $(seq 12))0123456

cat >expected.format <<'END'
	field:s32 sign;	offset:8;	size:4;	signed:1;
	field:u16 values[3];	offset:12;	size:6;	signed:0;
	field:__data_loc char[] text;	offset:20;	size:4;	signed:0;
	field:__data_loc unsigned long[] bits;	offset:24;	size:4;	signed:0;
	field:__data_loc char[] again;	offset:28;	size:4;	signed:0;
END
cat >expected <<END
sign=-1 values={0x1,0x2,0xffff} text=odd bits=00000000,00000001,10000000,00000005 again=odd
sign=1 values={0x2,0x3,0xffff} text=$CUT bits=00000000,00000002,20000000,00000005 again=$CUT
sign=-1 values={0x3,0x4,0xffff} text= bits=00000000,00000003,30000000,00000005 again=
sign=1 values={0x3e,0x3f,0xffff} text=$CUT bits=00000000,0000003e,e0000000,00000005 again=$CUT
END

write_some() {
	for id in 1 2 3 62; do
		echo $id >"$HYP/write_event"
	done
}

# texts FILE [COLON]: of the event. trace-cmd has a colon behind the name.
texts() {
	sed -n "s/.*: added${2-} \{1,\}//p" "$1"
}

fields() {
	grep field: "$EVENT/format" | grep -v common_
}

# traced: what the trace has, unlike what is expected.
traced() {
	record trace write_some
	texts trace
}

fields_of_host() {
	diff "$EVENT/format" "$TRACEFS/events/hypervisor/added/format"
}

reported() {
	trace-cmd record -B hypervisor -C boot -e hypervisor:added "$TMP/write_some" >said 2>&1 || cat said
	# shellcheck disable=SC2094 # "report" is a word to trace-cmd
	trace-cmd report >reported 2>errors || cat errors
	grep -v "^cpus=" errors | head -n 3
	texts reported : | sed 's/ *$//' | diff expected.report -
}

plan 12 write_event
is "it is available" "$(grep -cx hypervisor:added "$HYP/available_events")" 1
is "its fields" "$(fields)" "$(cat expected.format)"
none "the host's events/ has it, too" fields_of_host
is "off at first, after reset" "$(cat "$EVENT/enable")" 0
is "while it is off there is none" "$(traced)" ""
echo hypervisor:added >"$HYP/set_event"
is "its text" "$(traced)" "$(cat expected)"
echo 'sign < 0' >"$EVENT/filter"
is "filtered" "$(traced)" "$(grep sign=-1 expected)"
for field in values text bits; do
	is "no filter of $field" "$(fileop write "$EVENT/filter" "$field == 1")" EINVAL
done
echo 0 >"$EVENT/filter"
is "its text, once more" "$(traced)" "$(cat expected)"

if command -v trace-cmd >/dev/null; then
	{ echo '#!/bin/sh'; echo "HYP=$HYP"; sed -n '/^write_some()/,/^}/p' "$DIR/added.sh"; echo write_some
	} >write_some
	chmod +x write_some
	# An array is printed there in a way of its own.
	sed -e 's/ *$//' -e 's/{0x1,0x2,0xffff}/1 2 65535/' -e 's/{0x2,0x3,0xffff}/2 3 65535/' \
		-e 's/{0x3,0x4,0xffff}/3 4 65535/' -e 's/{0x3e,0x3f,0xffff}/62 63 65535/' \
		expected >expected.report
	none "its text in trace-cmd's report" reported
else
	ktap_test_skip "its text in trace-cmd's report: there is no trace-cmd"
fi
ktap_finished
