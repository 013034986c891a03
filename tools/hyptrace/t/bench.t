#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What an event costs stays within tools/hyptrace/bench.bounds; and the programs that judge
# that, on figures made up here.
. "$(dirname "$0")/tap.sh"

dir=$TOOLS/bench.d

median() {
	printf 'a %s insns\n' "$@" | awk -f "$dir/median.awk"
}

medians() {
	[ "$(median 5 7 6)" = "a 6 insns +-16.7%" ] && [ "$(median 5 5)" = "a 5 insns" ] &&
		[ "$(median 105e-1)" = "a 10.5 insns" ] && ! echo "nothing here" |
		awk -f "$dir/median.awk"
}

# compared WAS IS: whether the later is marked as worse.
compared() {
	echo "a $1 insns" >"$tmp/was"
	echo "a $2 insns" >"$tmp/is"
	awk -f "$dir/compare.awk" "$tmp/was" "$tmp/is" >"$tmp/compared"
}

compares() {
	compared 100 103 && compared 100 90 && compared 2 2.9 && ! compared 100 104 &&
		grep -q WORSE "$tmp/compared"
}

# What follows from several: a ratio in percent, the longest, a third of the difference, and
# a difference.
derives() {
	[ "$(printf 'read_%s_insns_per_event.%s-cpus %s insns\n' text 1 100 text 8 110.5 trace 1 200 \
		trace 2 250 trace 8 220 | awk -f "$dir/derived.awk" | tail -n 2 | xargs)" = \
		"read_text_merge 10.5 percent read_trace_merge 10 percent" ] &&
		[ "$(printf '%s insns\n' 'el2_hcall_insns.a 7' 'el2_hcall_insns.b 9' 'el2_hcall_insns.c 8' \
		'hcall_insns.default 106' 'hcall_insns.without 100' \
		'psci_insns.default 140' 'psci_insns.without 100' |
		awk -f "$dir/derived.awk" | tail -n 3 | cut -d ' ' -f 2 | xargs)" = "9 2 40" ] &&
		[ "$(printf 'syscall_insns.%s insns\n' 'a.off.default 11' 'a.event.default 90' \
		'a.no_strings.default 40' 'a.off.plain 10' 'a.event.plain 30' |
		awk -f "$dir/derived.awk" | tail -n 3 | xargs)" = "syscall_more_insns.a.off 1 insns \
syscall_more_insns.a.event 60 insns syscall_more_insns.a.no_strings 10 insns" ] &&
		[ "$(printf 'syscall_insns.%s insns\n' 'a.excluded.default 15' \
		'a.excluded_no_strings.default 12' 'a.excluded.plain 10' |
		awk -f "$dir/derived.awk" | tail -n 3 | xargs)" = "syscall_more_insns.a.excluded 5 insns \
syscall_strings_insns.a.excluded 3 insns syscall_more_insns.a.excluded_no_strings 2 insns" ] &&
		[ "$(echo 'a 1 insns' | awk -f "$dir/derived.awk")" = "a 1 insns" ]
}

# bounded VALUE: whether that of a is within 10.
bounded() {
	printf '# a comment\na 10\n' >"$tmp/bounds"
	echo "$1 insns" >"$tmp/is"
	awk -f "$dir/bounds.awk" "$tmp/bounds" "$tmp/is"
}

bounds() {
	bounded "a 10" && ! bounded "a 10.5" && ! bounded "b 1"
}

# A kernel whose table of event sites is empty, and files without a figure or a bound
on_nothing() {
	{
		for name in start end; do
			echo ".globl __kvm_nvhe___hyp_event_sites_$name"
			echo "__kvm_nvhe___hyp_event_sites_$name:"
		done
	} | gcc -nostdlib -static -Wl,-e,0 -x assembler -o "$tmp/no-sites" - || return
	! python3 "$dir/sites.py" "$tmp/no-sites" 2>"$tmp/err" && grep -q "no event sites" "$tmp/err" ||
		return
	! awk -f "$dir/compare.awk" /dev/null /dev/null && ! awk -f "$dir/median.awk" /dev/null &&
		! awk -f "$dir/bounds.awk" /dev/null "$TOOLS/bench.bounds"
}

refuses() {
	! "$TOOLS/bench" RUNS=none 2>"$tmp/err" && grep -q "no number of runs" "$tmp/err" &&
		! "$TOOLS/bench" BASELINE=none 2>"$tmp/err" && grep -q "no results in none" "$tmp/err"
}

# Another kernel of this form may have left it without the tree's.
measured() {
	FULL='' "$TOOLS/bench" >"$tmp/table"
}

within() {
	awk -f "$dir/bounds.awk" "$TOOLS/bench.bounds" "$BUILD/bench/results"
}

ok "a figure is the median of its runs" medians
ok "what got worse by more than 3 % is reported" compares
ok "the longest hypercall and the costs of off, of merging and of system calls follow from others" derives
ok "what is over its bound, or was not measured, is reported" bounds
ok "no sites, no figures and no bounds are errors" on_nothing
ok "no number of runs, no baseline" refuses
need kernel
ok "the costs of events are measured" measured
ok "... and within tools/hyptrace/bench.bounds" within
sed 's/^/# /' "$tmp/table"
plan
