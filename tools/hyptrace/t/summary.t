#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# demo/summary.awk and demo/stretch.awk, on traces whose sums are known.
. "$(dirname "$0")/tap.sh"

STAMP=$ROOT/tools/testing/selftests/hyp-trace/stamp.awk

# summary_is: of the trace in $tmp/trace, what is in $tmp/want.
summary_is() {
	awk -f "$STAMP" -f "$TOOLS/demo/summary.awk" "$tmp/trace" >"$tmp/got" && diff "$tmp/want" "$tmp/got"
}

# Two CPUs in turn. CPU 0: 10 us for the hypercall, 20 for the guest's exit.
# CPU 1: an SMC, 30 us in EL2 around the firmware's 50; it begins at EL2.
cat >"$tmp/trace" <<'END'
[000]    10.000000: hyp_enter reason=hvc
[001]    10.000003: hyp_exit reason=host
[001]    10.000005: hyp_enter reason=smc
[000]    10.000010: hyp_exit reason=guest
[001]    10.000015: hyp_exit reason=firmware
[001]    10.000065: hyp_enter reason=firmware
[000]    10.000080: hyp_enter reason=guest
[001]    10.000085: hyp_exit reason=host
[000]    10.000100: hyp_exit reason=host
END
cat >"$tmp/want" <<'END'
events          hyp_enter     hyp_exit
  hvc                   1            -
  smc                   1            -
  guest                 1            1
  host                  -            3
  firmware              1            1
  all                   4            5

time at EL2         stays        total         mean      longest    of time
  CPU 0                 2        30 us      15.0 us        20 us     30.0 %
  CPU 1                 2        30 us      15.0 us        20 us     30.0 %
  all                   4        60 us      15.0 us        20 us     30.0 %

longest stay: 20 us
  [001]    10.000065: hyp_enter reason=firmware
  [001]    10.000085: hyp_exit reason=host

events lost: 0
END
ok "CPUs in turn, and a trace that begins at EL2" summary_is

# Events were lost on CPU 0 while it was at EL2: neither half is a stay. CPU 1
# is not concerned.
cat >"$tmp/trace" <<'END'
[001]     9.999900: hyp_enter reason=abort
[000]    10.000000: hyp_enter reason=hvc
CPU:0 [LOST 1234567 EVENTS]
[000]    10.500000: hyp_exit reason=host
[001]    10.999900: hyp_exit reason=host
END
cat >"$tmp/want" <<'END'
events          hyp_enter     hyp_exit
  hvc                   1            -
  abort                 1            -
  host                  -            2
  all                   2            2

time at EL2         stays        total         mean      longest    of time
  CPU 0                 0         0 us       0.0 us         0 us      0.0 %
  CPU 1                 1 1,000,000 us 1000000.0 us 1,000,000 us    100.0 %
  all                   1 1,000,000 us 1000000.0 us 1,000,000 us     50.0 %

longest stay: 1,000,000 us
  [001]     9.999900: hyp_enter reason=abort
  [001]    10.999900: hyp_exit reason=host

events lost: 1,234,567
hyp_enter or hyp_exit without the other: 2
END
ok "a stay that lost events is not counted" summary_is

# A hyp_exit is missing, then a hyp_enter; a line is none of ours.
cat >"$tmp/trace" <<'END'
[000]     1.000000: hyp_enter reason=hvc
[000]     1.000010: hyp_enter reason=sysreg
[000]     1.000015: hyp_exit reason=host
[000]     1.000020: hyp_exit reason=host
[000]     1.000025: unknown record of 12 bytes
END
cat >"$tmp/want" <<'END'
events          hyp_enter     hyp_exit
  hvc                   1            -
  sysreg                1            -
  host                  -            2
  all                   2            2

time at EL2         stays        total         mean      longest    of time
  CPU 0                 1         5 us       5.0 us         5 us     25.0 %
  all                   1         5 us       5.0 us         5 us     25.0 %

longest stay: 5 us
  [000]     1.000010: hyp_enter reason=sysreg
  [000]     1.000015: hyp_exit reason=host

events lost: 0
hyp_enter or hyp_exit without the other: 2
other lines: 1
END
ok "a hyp_enter or hyp_exit without the other" summary_is

: >"$tmp/trace"
ok "a trace without events is an error" exits 1 awk -f "$STAMP" -f "$TOOLS/demo/summary.awk" "$tmp/trace"

# Ten hypercalls, the guest on CPU 1 at the eleventh.
for n in 0 1 2 3 4 5 6 7 8 9; do
	echo "[000]     1.00000$n: hyp_exit reason=guest"
done >"$tmp/trace"
cat >>"$tmp/trace" <<'END'
[001]     1.000010: hyp_enter reason=hvc
[001]     1.000011: hyp_exit reason=guest
[001]     1.000012: hyp_enter reason=guest
[001]     1.000013: hyp_exit reason=host
[001]     1.000014: hyp_enter reason=hvc
[001]     1.000015: hyp_exit reason=guest
[001]     1.000016: hyp_enter reason=guest
[001]     1.000017: hyp_exit reason=host
[001]     1.000018: hyp_enter reason=hvc
END
stretch() {
	awk -v cpu=1 -v entry=2 -v lines=6 -f "$TOOLS/demo/stretch.awk" "$tmp/trace" >"$tmp/got"
	sed -n '13,18p' "$tmp/trace" | diff - "$tmp/got"
}
ok "the stretch is around an entry of the guest" stretch

plan
