#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hyp_trace_printk() formats numbers as printf(3) does, at the ends of their ranges, on
# all CPUs at once and with filters. The text takes no more room in the ring than it
# has.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

EVENT=$HYP/events/hypervisor/hyp_printk

# A number, and its text: 64 bits, 32 in hex, 32 with a sign, 8, a letter,
# half of it with a sign.
TABLE='
0;0: 0x00000000 0 0   A +0
1;1: 0x00000001 1 1   B +0
25;25: 0x00000019 25 25  Z +12
42;42: 0x0000002a 42 42  Q +21
255;255: 0x000000ff 255 255 V +127
256;256: 0x00000100 256 0   W +128
2147483648;2147483648: 0x80000000 -2147483648 0   Y +1073741824
4294967295;4294967295: 0xffffffff -1 255 V +2147483647
4294967296;4294967296: 0x00000000 0 0   W +2147483648
9223372036854775807;9223372036854775807: 0xffffffff -1 255 H +4611686018427387903
9223372036854775808;9223372036854775808: 0x00000000 0 0   I -4611686018427387904
18446744073709551615;18446744073709551615: 0xffffffff -1 255 P -1
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

# The strings in the ring are where the record says, with their null, and no more.
misshapen() {
	for file in "$HYP"/per_cpu/cpu*/trace_pipe_raw; do
		fileop drain "$file"
	done | od -An -v -tu4 |
		awk -v page=$((PAGE_BYTES + 16)) -v id="$(cat "$EVENT/id")" \
			-f "$DIR/records.awk" |
		awk '
			{
				at = $3 % 65536
				len = int($3 / 65536)
				words = int((at + len + 3) / 4)
			}
			at != 12 || len < 30 || len > 128 || NF != words { print }
			END { if (NR != 12) print NR " records" }'
}

echo "$TABLE" | grep . >table
cut -d ';' -f 2 table >expected

plan 11 write_event
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
is "a filter of text is refused" "$(fileop write "$EVENT/filter" 'text == "x"')" EINVAL
echo 0 >"$EVENT/filter"
is "the field is a string" "$(grep -c 'field:__data_loc char\[\] text;' "$EVENT/format")" 1
is "the string is all that is printed" "$(grep '^print fmt' "$EVENT/format")" \
	'print fmt: "%s", __get_str(text)'

reset
only hyp_printk
echo 1 >"$HYP/tracing_on"
write_all
echo 0 >"$HYP/tracing_on"
none "in the ring: a null at its end, and no room beyond" misshapen

reset_to 4096
only selftest hyp_printk
record trace emit_all 500
none "on all CPUs at once: each text has its number" misplaced
is "on all CPUs at once: no text is missing" "$(texts | wc -l)" $((500 * CPUS))
is "none was lost" "$(lost trace)" 0
ktap_finished
