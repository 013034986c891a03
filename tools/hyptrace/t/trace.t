#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The programs that judge traces: trace.awk and clock.awk of the kselftest, and
# perfetto-judge.awk, find what is wrong with a trace, and nothing in one that is
# right.
. "$(dirname "$0")/tap.sh"

TESTS=$ROOT/tools/testing/selftests/hyp-trace

# The faults found in the trace on standard input: their kinds and lines.
faults() {
	awk -f "$TESTS/stamp.awk" -f "$TESTS/trace.awk" | grep -vE '^(count|lost) ' | cut -d : -f 1 | xargs
}

# finds FAULTS LINE...: in a trace of these lines.
finds() {
	want=$1
	shift
	got=$(printf '%s\n' "$@" | faults)
	equals "$got" "$want"
}

h0='[000]     1.000001: hyp_enter reason=hvc'
g0='[000]     1.000002: hyp_exit reason=guest'
i0='[000]     1.000003: hyp_enter reason=guest'
x0='[000]     1.000004: hyp_exit reason=host'
h1='[001]     1.000002: hyp_enter reason=smc'
f1='[001]     1.000003: hyp_exit reason=firmware'
r1='[001]     1.000004: hyp_enter reason=firmware'
p1='[001]     1.000004: hyp_enter reason=psci'

ok "a sound trace" finds "" "$h0" "$g0" "$i0" "$x0"
ok "CPUs do not meet" finds "" "$h0" "$h1" "$g0" "$f1" "$i0" "$r1" "$x0"
ok "it may begin at EL2" finds "" "$g0" "$i0" "$x0"
ok "it may begin at EL2 only once" finds "unpaired 2" "$g0" "$x0"
ok "hyp_enter twice" finds "unpaired 2" "$h0" "$h0"
ok "hyp_exit twice" finds "unpaired 3" "$h0" "$g0" "$x0"
ok "from the guest, but not by the guest" finds "misled 3" "$h0" "$g0" \
	'[000]     1.000003: hyp_enter reason=abort'
ok "from the host, but by the guest" finds "misled 3" "$h0" \
	'[000]     1.000002: hyp_exit reason=host' "$i0"
ok "the firmware returns by PSCI" finds "" "$h1" "$f1" "$p1"
ok "time goes backwards" finds "backwards 2 unmerged 2" "$g0" "$h0"
ok "time goes backwards between CPUs" finds "unmerged 3" "$h0" "$g0" \
	'[001]     1.000001: hyp_enter reason=smc'
ok "as many lost as keeps the turn" finds "" "$h0" 'CPU:0 [LOST 2 EVENTS]' "$x0"
ok "one lost too many" finds "unpaired 3" "$h0" 'CPU:0 [LOST 3 EVENTS]' "$x0"
ok "lost on another CPU" finds "unpaired 3" "$h0" 'CPU:1 [LOST 1 EVENTS]' "$h0"
for line in '[000] 1.000001: hyp_enter ' '[00] 1.000001: hyp_enter reason=hvc' \
	'[000] 1.00001: hyp_enter reason=hvc' '[000] 1.000001: hyp_enter reason=?' \
	'CPU:0 [LOST EVENTS]' '[000] 1.000001: hyp_enter reason=hvc vcpu=1'; do
	ok "not as documented: $line" finds "malformed 1" "$line"
done

counts() {
	printf '%s\n' "$h0" "$g0" "$h0" 'CPU:3 [LOST 7 EVENTS]' 'CPU:3 [LOST 1 EVENTS]' |
		awk -f "$TESTS/stamp.awk" -f "$TESTS/trace.awk" | grep -E '^(count|lost) ' | LC_ALL=C sort >"$tmp/got"
	printf '%s\n' 'count 0 hyp_enter hvc 2' 'count 0 hyp_exit guest 1' 'lost 3 8' |
		diff - "$tmp/got"
}
ok "events are counted" counts

# clock FAULTY FROM: with one time of the trace or of the host's changed.
clock() {
	cat >"$tmp/host" <<-END
		           guest-101     [001] d..1.     1.000000: kvm_entry: PC: 0x0000000040000000
		           guest-101     [001] ...1.     1.000010: kvm_exit: TRAP: HSR_EC: 0x0016 (HVC64), PC: 0x0000000040000008
		           guest-101     [001] d..1.     1.000020: kvm_entry: PC: 0x0000000040000000
		           guest-101     [001] ...1.     1.000030: kvm_exit: IRQ: HSR_EC: 0x0000 (UNKNOWN), PC: 0x0000000040000008
	END
	cat >"$tmp/trace" <<-END
		[001]     0.999990: hyp_exit reason=host
		[001]     1.000002: hyp_enter reason=hvc
		[000]     1.000003: hyp_exit reason=host
		[001]     1.000004: hyp_exit reason=guest
		[001]     1.000005: hyp_enter reason=guest
		[001]     1.000007: hyp_exit reason=host
		[001]     1.000013: hyp_enter reason=abort
		[001]     1.000014: hyp_exit reason=host
		[001]     1.000022: hyp_enter reason=hvc
		[001]     1.000023: hyp_exit reason=guest
		[001]     1.000024: hyp_enter reason=guest
		[001]     1.000025: hyp_exit reason=host
	END
	sed -i "$1" "$tmp/host" "$tmp/trace"
	awk -f "$TESTS/stamp.awk" -f "$TESTS/clock.awk" "$tmp/host" "$tmp/trace" >"$tmp/got" || return
	[ "$(wc -l <"$tmp/got")" = "$2" ] || cat "$tmp/got"
	[ "$(wc -l <"$tmp/got")" = "$2" ]
}
ok "the clocks agree" clock "" 0
ok "a microsecond is for the rounding" clock 's/1.000002: hyp/0.999999: hyp/; s/1.000025: hyp/1.000031: hyp/' 0
ok "EL2 is late" clock 's/1.000025: hyp/1.000032: hyp/' 1
ok "EL2 is early" clock 's/1.000002: hyp/0.999998: hyp/' 1
ok "EL2 is as early as the run before" clock 's/1.000022: hyp/1.000008: hyp/' 1
ok "EL2 is left before it was entered" clock 's/1.000007: hyp/1.000001: hyp/' 1
ok "a run that the trace has not" clock '/1.00002[2345]: hyp/d' 2
ok "no runs at all" clock 's/reason=guest/reason=host/; s/kvm_e/kvm_f/' 1

# recorded FAULTY LINE...: by Perfetto, as perfetto.awk prints it.
recorded() {
	want=$1
	shift
	got=$(printf '%s\n' "$@" | awk -f "$TOOLS/clients/perfetto-judge.awk" |
		sed -n 's/^wrong \([0-9]*\):.*/\1/p' | xargs)
	equals "$got" "$want"
}

e9='[000] 9.999999: hyp_enter'
x10='[000] 10.000001: hyp_exit'
e11='[000] 11.000001: hyp_enter'
x11='[000] 11.000001: hyp_exit'
ok "recorded: a sound trace, past ten seconds" recorded "" "$e9" "$x10" "$e11"
ok "recorded: time goes backwards" recorded 2 "$x10" "$e9"
ok "recorded: what comes again and again at the end" recorded "" "$e9" "$x10" "$x11" "$x11"
ok "recorded: what comes again, and the other then" recorded 3 "$e9" "$x10" "$x11" "$e11"
ok "recorded: after a loss anything may come" recorded "" "$e9" "$x10" \
	'CPU:0 [LOST EVENTS]' "$x11" '[000] 12.000001: hyp_enter'
ok "recorded: an error" recorded 1 '# error 7'

# reported LINE: of trace-cmd, is the event at 102 s.
reported() {
	got=$(echo "$1" | awk -f "$TOOLS/clients/trace-cmd.awk")
	[ "$got" = "[001] 102.060535: selftest id=1" ] || {
		echo "made '$got'"
		return 1
	}
}
ok "reported: by trace-cmd 3.3" reported '  cat-123   [001] ..... 102.060535: selftest:  id=1'
ok "reported: by trace-cmd 3.1, after 100 s" reported '  cat-123   [001]102060535440: selftest:  id=1'

# function FILE NAME: of a script of the kselftest's.
function_of() {
	sed -n "/^$2() {/,/^}/p" "$TESTS/$1"
}

# unsound_is WANT [LINE]...: whether a trace of these lines is.
unsound_is() {
	eval "$(function_of tracing.sh unsound)"
	want=$1
	shift
	[ $# = 0 ] || printf '%s\n' "$@" >"$tmp/trace"
	[ $# != 0 ] || : >"$tmp/trace"
	awk -f "$TESTS/stamp.awk" -f "$TESTS/trace.awk" "$tmp/trace" >"$tmp/trace.facts"
	got=$(unsound unpaired "$tmp/trace" | sed "s,$tmp/,,")
	[ "${got%%:*}" = "$want" ] || {
		echo "said '$got'"
		return 1
	}
}
ok "an empty trace is not sound" unsound_is "no event in trace"
ok "nor one of gaps alone" unsound_is "no event in trace" 'CPU:0 [LOST 2 EVENTS]'
ok "one with events is" unsound_is "" "$h0" "$g0" "$i0"
ok "if nothing is wrong with them" unsound_is "unpaired 2" "$h0" "$h0"
ok "an empty trace has no event in its place" \
	[ "$(awk -f "$TESTS/catalogue.awk" /dev/null)" = "no events" ]

# anything_after_loss EVENT
anything_after_loss() {
	printf '%s\n' 'CPU:0 [LOST 2 EVENTS]' "[000] 1.000001: $1" | awk -f "$TESTS/catalogue.awk"
}
for event in "guest_exit vcpu=0" "hyp_exit reason=guest" "host_hcall id=1"; do
	ok "any event is in its place after a loss: ${event%% *}" \
		[ -z "$(anything_after_loss "$event")" ]
done

# slope_is PAGES SAMPLE...: of the pages taken after each batch of loads.
slope_is() {
	eval "$(function_of soak.sh median_slope)"
	want=$1
	shift
	got=$(printf '%s\n' "$@" | median_slope)
	equals "$got" "$want"
}
ok "pages that others take and return are no slope" slope_is 0 10 12 -1 22 -16 12 33 22 10 10
ok "a page lost by each of 22 loads is" slope_is 22 10 34 43 88 72 122 165 176 186 208

plan
