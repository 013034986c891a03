#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The text of hyp_trace_printk() has numbers as printf(3) has them, at the ends of their ranges, on
# all CPUs at once and with filters. Its record is that of the kernel's trace_printk(), and has
# no more room in the ring than its arguments take.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

EVENT=$HYP/events/hypervisor/hyp_printk
BPRINT=$(sed -n 's/^ID: //p' "$TRACEFS/events/ftrace/bprint/format")

# A number, and its text: 64 bits, 32 in hex, 32 with a sign, 8, 16 in octal, half of it with a
# sign.
TABLE='
0;0: 0x00000000 0   0 0 0
1;1: 0x00000001 1   1 1 0
25;25: 0x00000019 25  25 31 12
42;42: 0x0000002a 42  42 52 21
255;255: 0x000000ff 255 255 377 127
256;256: 0x00000100 256   0 400 128
2147483648;2147483648: 0x80000000 -2147483648   0 0 1073741824
4294967295;4294967295: 0xffffffff -1 255 177777 2147483647
4294967296;4294967296: 0x00000000 0   0 0 2147483648
9223372036854775807;9223372036854775807: 0xffffffff -1 255 177777 4611686018427387903
9223372036854775808;9223372036854775808: 0x00000000 0   0 0 -4611686018427387904
18446744073709551615;18446744073709551615: 0xffffffff -1 255 177777 -1
'

# write_all: the numbers of the table.
write_all() {
	while IFS=';' read -r id _; do
		echo "$id" >"$HYP/write_event"
	done <table
}

# texts: the printed texts, one a line.
texts() {
	sed -n 's/.*: hyp_printk write_event //p' trace
}

# differing_texts FILE: texts that differ from the table's.
differing_texts() {
	record trace write_all
	texts | diff "$1" -
}

# Each text is of the number before it on the CPU, and none is missing.
misplaced() {
	awk '
		$3 == "selftest" { split($4, word, "="); id[$1] = word[2]; numbers++ }
		$3 == "hyp_printk" && $5 != id[$1] ":" { print }
		$3 == "hyp_printk" { texts++ }
		END { if (texts != numbers || !texts) print texts + 0, "texts of", numbers + 0 }
	' trace
}

# records: the words of each record in the ring.
records() {
	for file in "$HYP"/per_cpu/cpu*/trace_pipe_raw; do
		fileop drain "$file"
	done | od -An -v -tu4 |
		awk -v page=$((PAGE_BYTES + 16)) -v id="$(cat "$EVENT/id")" \
			-f "$DIR/records.awk"
}

# What printk_formats has for the address that a record has, in two words
formats() {
	while read -r _ _ _ _ low high _; do
		address=$(printf '0x%x' $((high << 32 | low)))
		sed -n "s/^$address : //p" "$HYP/printk_formats"
	done | uniq -c
}

# misshapen FILE: records that do not have the arguments of the table's numbers, 8 bytes, four times
# 4, and 8; and no room beyond.
misshapen() {
	awk '
		NR == FNR { split($0, word, ";"); id[FNR] = word[1]; next }
		$7 + $8 * 4294967296 != id[FNR] + 0 || NF != 14 { print }
		$9 != $7 || $10 != $7 || $11 != $7 % 256 || $12 != $7 % 65536 { print }
		END { if (FNR != 12) print FNR " records" }' table "$1"
}

# fields FILE: of a format file, those behind the common ones
fields() {
	grep -v common_ "$1" | grep field:
}

echo "$TABLE" | grep . >table
cut -d ';' -f 2 table >expected

plan 15 write_event
only hyp_printk
none "the text of each number" differing_texts expected
only selftest
record trace write_all
is "no text with the event off" "$(awk '{ print $3 }' trace | sort | uniq -c | xargs)" \
	"$(wc -l <table) selftest"
only hyp_printk
echo 'common_pid != 1' >"$EVENT/filter"
none "all texts with a filter that matches all" differing_texts expected
echo 'common_pid == 1' >"$EVENT/filter"
none "no text with a filter that matches none" differing_texts /dev/null
is "a filter of the arguments is refused" "$(fileop write "$EVENT/filter" 'buf == 1')" EINVAL
echo 'fmt == 0' >"$EVENT/filter"
none "no text with a filter of another format" differing_texts /dev/null
echo 0 >"$EVENT/filter"
is "the fields are those of trace_printk()" "$(fields "$EVENT/format")" \
	"$(fields "$TRACEFS/events/ftrace/bprint/format")"
is "so is the id" "$(cat "$EVENT/id") $(sed -n 's/^ID: //p' "$EVENT/format")" "$BPRINT $BPRINT"
is "printk_formats is the kernel's" "$(cat "$HYP/printk_formats")" \
	"$(cat "$TRACEFS/printk_formats")"
is "the kernel reports no trace_printk()" "$(dmesg | grep -c 'trace_printk() being used')" 0

reset
only hyp_printk
echo 1 >"$HYP/tracing_on"
write_all
echo 0 >"$HYP/tracing_on"
records >words
none "in the ring: each argument, and no room beyond" misshapen words
is "the address of the format is in printk_formats" "$(formats <words)" \
	'     12 "write_event %llu: 0x%08x %d %3u %o %lld"'

reset_to 4096
only selftest hyp_printk
record trace emit_all 500
none "on all CPUs at once: each text has its number" misplaced
is "on all CPUs at once: no text is missing" "$(texts | wc -l)" $((500 * CPUS))
is "none was lost" "$(lost trace)" 0
ktap_finished
