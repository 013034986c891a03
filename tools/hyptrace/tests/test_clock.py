# SPDX-License-Identifier: GPL-2.0
"""The hypervisor's clock where that takes a machine of its own."""

import pytest

from hyptrace import process
from hyptrace.machine import need
from hyptrace.vm import PRELUDE

pytestmark = [pytest.mark.modes, pytest.mark.seconds(15)]

# An instruction is a nanosecond, and when all CPUs wait it is at once the next timer's time.
TIMED = "-icount shift=0,sleep=off -rtc clock=vm"
# With WFI as the only idle state the timekeeper goes on. From another one a GICv2 alone wakes.
BOARD = "-machine gic-version=2"

SHELL = PRELUDE + r"""
set +x
. "$DIR/brackets.sh"
. "$DIR/account.sh"
cd /tmp
SOURCE=/sys/devices/system/clocksource/clocksource0/current_clocksource
# slew PPM [TICK]: the host's clock runs that much faster.
slew() { adjtimex -f "$(($1 * 65536))" -t "${2:-10000}" >/dev/null; }
idled() {
	cat /sys/devices/system/cpu/cpu*/cpuidle/state1/usage \
		/sys/devices/system/cpu/cpu*/cpuidle/state1/s2idle/usage | awk '{ n += $1 } END { print n }'
}
slept() { awk '{ n += $NF } END { print n }' /sys/kernel/debug/sleep_time; }
# nap SECONDS: suspend to idle, and the timekeeper. An alarm that is over on the way to sleep does
# not wake: the count is not what it was, the machine stays awake, and the next one has more time.
nap() {
	before=$(slept)
	for more in 0 2 4 8 16 32; do
		count=$(cat /sys/power/wakeup_count)
		echo 0 >/sys/class/rtc/rtc0/wakealarm
		echo "+$(($1 + more))" >/sys/class/rtc/rtc0/wakealarm
		! echo "$count" >/sys/power/wakeup_count || ! echo freeze >/sys/power/state || break
	done
	[ "$(slept)" -gt "$before" ]
}
use() { echo "$1" >"$SOURCE"; grep -x "$1" "$SOURCE"; }
# Tracing can't be turned on, and the kernel says why.
refused() {
	[ "$(fileop write "$HYP/tracing_on" 1)" = ENODEV ]
	grep -x 0 "$HYP/tracing_on"; grep '(unloaded)' "$HYP/buffer_size_kb"; dmesg | grep "$1"
}
judge() {
	brackets_judge -v margins=1; brackets_judge >faults; head -n 20 faults
	[ ! -s faults ]
}
# hours [COMMAND]: COUNT,PAUSE is how many events a CPU writes in a row, with how many microseconds
# in between: few; more than a record has room for, 2^27 ns; than a word, 2^32; hours.
hours() {
	echo 64 >"$HYP/buffer_size_kb"; echo hypervisor:selftest >"$HYP/set_event"
	echo 1 >"$HYP/tracing_on"
	from=0
	for part in 250,100 250,134218 250,4294968 100,100000000 7,3600000000 100,100; do
		writers=
		for cpu in $(seq 0 $(($(nproc) - 1))); do
			bracket "$HYP/write_event" "$cpu" "${part%,*}" "${part#*,}" "$from" >>"bracket.$cpu" &
			writers="$writers $!"
		done
		wait $writers
		from=$((from + ${part%,*}))
		eval "${1-}"
	done
	cat bracket.* >brackets
	[ "$(cut -d . -f 1 /proc/uptime)" -gt $((7 * 3600)) ]
	echo 0 >"$HYP/tracing_on"
}
"""

# Two minutes, with the clock as fast and as slow as it can be
MINUTES = """
brackets_start 1000000 200000
for rate in 500 -500 "0 11000" "0 9000" "500 11000" "-500 9000" 0; do
	slew $rate; brackets_go_on 85
done
brackets_stop; judge"""

# Three naps, each at another rate
SLEEPS = """
outer=$(idled); echo 1 >"$HYP/accounting"; inner=$(idled)
brackets_start 1000000 20000
for ppm in 0 500 -500; do
	slew "$ppm"; brackets_go_on 10; nap SECONDS; brackets_go_on 10
done
inner=$(($(idled) - inner)); echo 0 >"$HYP/accounting"; outer=$(($(idled) - outer))
brackets_stop; judge"""
# EL2 has counted the idle states that cpuidle has, but for a CPU that is idle where counting begins
# or ends: at least those from then on, and at most those from just before until just after it.
IDLED = """
calls=$(number "$TOTAL" psci:CPU_SUSPEND) returns=$(number "$TOTAL" in:idle)
echo "$inner to $outer idle states, $calls calls, $returns returns"
[ "$inner" -gt 6 ]; [ "$calls" -ge $((inner - $(nproc))) ]; [ "$calls" -le $((outer + $(nproc))) ]
[ "$returns" -ge $((calls - $(nproc))) ]; [ "$returns" -le $((calls + $(nproc))) ]
[ "$(counted total_ns "$TOTAL" in:idle)" -gt $((3 * SECONDS * 1000000000)) ]"""

# The host's clock source becomes one that EL2 can't read, and the counter again: times drift, but
# nothing hangs, is lost or goes backwards, and then they are right again. With the other one it
# can't be turned on.
CHANGES = r"""
has_drifted() { ! off_by_less 0.1; }
insmod /test/hyp-trace/modules/hyp_clocksource.ko ppm=PPM
counter=$(cat "$SOURCE")
brackets_start 1000000 20000; brackets_go_on 10
use hyp_clocksource; brackets_go_on 100
until_true 10 sh -c 'dmesg | grep "the clock source has changed, times will drift"'
use "$counter"; brackets_go_on 100; brackets_stop
brackets_judge >drifted; [ -s drifted ]; grep -v '^not between' drifted && exit 1
echo >"$HYP/trace"; brackets_start 1000000 20000; brackets_go_on 50; brackets_stop; judge
echo >"$HYP/trace"; use hyp_clocksource; refused 'no tracing without the architected counter'
use "$counter"; echo 1 >"$HYP/tracing_on"; off_by_less 0.02
use hyp_clocksource; until_true 60 has_drifted
use "$counter"; until_true 10 off_by_less 0.02
echo 0 >"$HYP/tracing_on"; guest"""

# A reader comes now and then.
FOLLOWED = """hours 'fileop drain "$HYP/trace_pipe" >>trace'; judge"""

# The ring has them for hours; then they are read in each way.
KEPT = r"""
hours; cat "$HYP/trace" >trace; judge
for cpu in $(seq 0 $(($(nproc) - 1))); do
	grep '^oldest event ts:  *[0-9]\.' "$HYP/per_cpu/cpu$cpu/stats"
	raw read "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" 65552
done | grep selftest >trace
judge"""

# The host reads such a counter with a workaround, which EL2 lacks.
UNSTABLE = """
dmesg | grep 'Enabling.*workaround for Freescale erratum a005858'
refused 'no tracing with an unstable counter'
guest"""

# What fdtput changes in QEMU's device tree: an idle state; an erratum, whose workaround takes a
# counter that is slow beside the CPU, as QEMU's newest one has not.
IDLE = [f"-p -t {edit}" for edit in (
    "s DTB /cpus/idle-states/standby compatible arm,idle-state",
    "s DTB /cpus/idle-states entry-method psci",
    *(f"i DTB /cpus/idle-states/standby {name} {value}" for name, value in {
        "arm,psci-suspend-param": 1, "entry-latency-us": 1, "exit-latency-us": 1,
        "min-residency-us": 1, "phandle": 4660}.items()),
    *(f"i DTB /cpus/cpu@{n} cpu-idle-states 4660" for n in (0, 1)))]
ERRATUM = ["-t s DTB /timer fsl,erratum-a008585"]

A72, A76, NVHE = {"cpu": "cortex-a72"}, {"cpu": "cortex-a76"}, {"mode": "nvhe"}
# The script, the machine's arguments, what else is not the default, and changes of the device tree
CASES = {
    "minutes, protected": (MINUTES, TIMED, {}, []),
    "minutes, nvhe": (MINUTES, TIMED, NVHE, []),
    "seven hours, followed, protected": (FOLLOWED, TIMED, {}, []),
    "seven hours, kept, nvhe": (KEPT, TIMED, NVHE, []),
    "a faster clock source, protected": (CHANGES.replace("PPM", "40000"), "", {}, []),
    "a slower clock source, protected": (CHANGES.replace("PPM", "-40000"), "", A72, []),
    "a faster clock source, nvhe": (CHANGES.replace("PPM", "40000"), "", A72 | NVHE, []),
    "suspended for a second, protected": (
        (SLEEPS + IDLED).replace("SECONDS", "1"), BOARD, {}, IDLE),
    "suspended for a second, nvhe": (SLEEPS.replace("SECONDS", "1"), BOARD, A72 | NVHE, IDLE),
    "suspended for a day, protected": (
        (SLEEPS + IDLED).replace("SECONDS", "86400"), f"{TIMED} {BOARD}", {}, IDLE),
    "an unstable counter is refused": (UNSTABLE, TIMED, A76, ERRATUM),
}


@pytest.mark.parametrize("name", CASES)
def test_clock(vm, selftest, tmp_path, name):
    """Each event's time is between two readings of the host's clock, or tracing is refused."""
    script, arguments, machine, edits = CASES[name]
    if edits:
        need("check")
        dtb = tmp_path / "dtb"
        vm("", qemu_args=f"{arguments} -machine dumpdtb={dtb}", **machine)
        for edit in edits:
            process.run(["fdtput", *edit.replace("DTB", str(dtb)).split()])
        arguments += f" -dtb {dtb}"
    vm.ok(name, SHELL + script, files=selftest(), timeout=300, qemu_args=arguments, **machine)
