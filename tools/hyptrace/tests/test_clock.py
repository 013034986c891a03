# SPDX-License-Identifier: GPL-2.0
"""The hypervisor's clock where that takes a machine of its own: over minutes and hours, in suspend
to idle, when the host's clock source changes, and with a counter that can't be read as it is."""

import pytest

from hyptrace import process
from hyptrace.machine import need
from hyptrace.vm import PRELUDE

pytestmark = [pytest.mark.modes, pytest.mark.seconds(15)]

# The guest's instructions are the time, a nanosecond each, and at once the next timer's when all
# CPUs wait: minutes are over in seconds, and what lies between two readings of the clock does not
# depend on this machine.
TIMED = "-icount shift=0,sleep=off -rtc clock=vm"
COUNTED = {"qemu_args": TIMED}
# QEMU's CPUs have no idle state but WFI, and with that alone the timekeeper goes on. Its firmware
# has one; a CPU wakes from it by a GICv2 only.
BOARD = "-machine gic-version=2"
GIC2 = {"qemu_args": BOARD}

SHELL = PRELUDE + r"""
set +x
. "$DIR/brackets.sh"
cd /tmp
# slew PPM [TICK]: the host's clock runs that much faster; a tick is of 10000 us.
slew() { adjtimex -f "$(($1 * 65536))" -t "${2:-10000}" >/dev/null; }
slept() { awk '{ n += $NF } END { print n }' /sys/kernel/debug/sleep_time; }
# Suspend to idle for so many seconds. The kernel counts the time as slept: the timekeeper was
# suspended, too. An alarm that is over on the way to sleep does not wake: then the
# count is not what it was, the machine stays awake, and the next alarm has more time.
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
# Tracing can't be turned on, and the kernel says why.
refused() {
	[ "$(fileop write "$HYP/tracing_on" 1)" = ENODEV ]
	grep -x 0 "$HYP/tracing_on"; grep '(unloaded)' "$HYP/buffer_size_kb"; dmesg | grep "$1"
}
# Nothing is wrong with the events' times.
judge() {
	brackets_judge -v margins=1; brackets_judge >faults; head -n 20 faults
	[ ! -s faults ]
}
"""

# Two minutes, with the clock slewed as fast and as slow as it can be.
MINUTES = """
brackets_start 1000000 200000
for rate in 500 -500 "0 11000" "0 9000" "500 11000" "-500 9000" 0; do
	slew $rate; brackets_go_on 85
done
brackets_stop; judge"""

# Three times so long, each at another rate.
SLEEPS = """
brackets_start 1000000 20000
for ppm in 0 500 -500; do
	slew "$ppm"; brackets_go_on 10; nap SECONDS; brackets_go_on 10
done
brackets_stop; judge"""

# The host's clock source becomes one that EL2 can't read and that is so much faster, and the
# counter again. Meanwhile times drift, but nothing hangs, no event is lost and no time goes
# backwards; from a second after the change back times are right. With the other one tracing can't
# be turned on.
CHANGES = r"""
SOURCE=/sys/devices/system/clocksource/clocksource0/current_clocksource
use() { echo "$1" >"$SOURCE"; grep -x "$1" "$SOURCE"; }
has_drifted() { ! off_by_less 0.1; }
insmod /test/hyp-trace/modules/hyp_clocksource.ko ppm=PPM
counter=$(cat "$SOURCE")
brackets_start 1000000 20000; brackets_go_on 10
use hyp_clocksource; brackets_go_on 100
until_true 10 sh -c 'dmesg | grep "the clock source has changed, times will drift"'
use "$counter"; brackets_go_on 100; brackets_stop
# Times have drifted, or else this is no test
brackets_judge >drifted; [ -s drifted ]
# Each event came, and in order
for file in bracket.*; do
	cpu=$(printf %03d "${file#bracket.}")
	[ "$(grep -c "^\[$cpu\].*selftest" trace)" -ge "$(wc -l <"$file")" ]
done
[ "$(grep -c LOST trace)" = 0 ]
awk '/selftest/ { if ($2 + 0 < last[$1]) exit 1; last[$1] = $2 + 0 }' trace
# From now on all is right
echo >"$HYP/trace"; brackets_start 1000000 20000; brackets_go_on 50; brackets_stop; judge
echo >"$HYP/trace"; use hyp_clocksource; refused 'no tracing without the architected counter'
use "$counter"; echo 1 >"$HYP/tracing_on"; off_by_less 0.02
use hyp_clocksource; until_true 60 has_drifted
use "$counter"; until_true 10 off_by_less 0.02
echo 0 >"$HYP/tracing_on"; guest"""

# Hours of a trace: each event has its time to the microsecond, whatever time lies between it and
# the one before. The schedule is how many events a CPU writes in a row, with how many microseconds
# in between: hardly any; with more than a record has room for, 2^27 ns; than a word, 2^32; hours.
# By then seven are over.
HOURS = r"""
SCHEDULE="250,100 250,134218 250,4294968 100,100000000 7,3600000000 100,100"
echo 64 >"$HYP/buffer_size_kb"; echo 0 >"$HYP/events/enable"
echo 1 >"$HYP/events/hypervisor/selftest/enable"; echo 1 >"$HYP/tracing_on"
# On each CPU, and after each part of the schedule: write_all [COMMAND]
write_all() {
	from=0
	for part in $SCHEDULE; do
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

# A reader comes now and then: as long as there is one the kernel looks for events, many times a
# second.
FOLLOWED = HOURS + """
write_all 'fileop drain "$HYP/trace_pipe" >>trace'
judge"""

# The ring has them for hours; then they are read in each way.
KEPT = HOURS + r"""
write_all; cat "$HYP/trace" >trace; judge
for cpu in $(seq 0 $(($(nproc) - 1))); do
	grep '^oldest event ts:  *[0-9]\.' "$HYP/per_cpu/cpu$cpu/stats"
	raw read "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" 65552
done | grep selftest >trace
judge"""

# A counter that is known to be read wrong now and then, and the clock is read with a workaround for
# that: EL2 has none.
UNSTABLE = """
dmesg | grep 'Enabling.*workaround for Freescale erratum a005858'
refused 'no tracing with an unstable counter'
guest"""

STANDBY = "/cpus/idle-states/standby"
IDLE_STATE = [
    ("-p -t s", STANDBY, "compatible", "arm,idle-state"),
    ("-t s", "/cpus/idle-states", "entry-method", "psci"),
    *[("-p -t i", STANDBY, *edit) for edit in (
        ("arm,psci-suspend-param", 1), ("entry-latency-us", 1), ("exit-latency-us", 1),
        ("min-residency-us", 1), ("phandle", 4660))],
    *[("-t i", f"/cpus/cpu@{n}", "cpu-idle-states", 4660) for n in (0, 1)],
]
# The workaround looks for two equal readings in a row: a counter that is slow beside the CPU, as
# QEMU's newest one has not.
ERRATUM = [("-t s", "/timer", "fsl,erratum-a008585", "")]

A72, A76, NVHE = {"cpu": "cortex-a72"}, {"cpu": "cortex-a76"}, {"mode": "nvhe"}
# The script, the machine, and what is changed in QEMU's device tree by fdtput
CASES = {
    "minutes, protected": (MINUTES, COUNTED, []),
    "minutes, nvhe": (MINUTES, COUNTED | NVHE, []),
    "seven hours, followed, protected": (FOLLOWED, COUNTED, []),
    "seven hours, kept, nvhe": (KEPT, COUNTED | NVHE, []),
    "a faster clock source, protected": (CHANGES.replace("PPM", "40000"), {}, []),
    "a slower clock source, protected": (CHANGES.replace("PPM", "-40000"), A72, []),
    "a faster clock source, nvhe": (CHANGES.replace("PPM", "40000"), A72 | NVHE, []),
    "suspended for a second, protected": (SLEEPS.replace("SECONDS", "1"), GIC2, IDLE_STATE),
    "suspended for a second, nvhe":
        (SLEEPS.replace("SECONDS", "1"), GIC2 | A72 | NVHE, IDLE_STATE),
    "suspended for a day, protected": (
        SLEEPS.replace("SECONDS", "86400"), {"qemu_args": f"{TIMED} {BOARD}"}, IDLE_STATE),
    "an unstable counter is refused": (UNSTABLE, COUNTED | A76, ERRATUM),
}


@pytest.mark.parametrize("name", CASES)
def test_clock(vm, selftest, tmp_path, name):
    """Each event's time is between two readings of the host's clock, or tracing is refused."""
    script, machine, edits = CASES[name]
    machine = {"qemu_args": "", **machine}
    if edits:
        need("check")
        dtb = tmp_path / "dtb"
        vm("", **machine | {"qemu_args": f"{machine['qemu_args']} -machine dumpdtb={dtb}"})
        for flags, *edit in edits:
            process.run(["fdtput", *flags.split(), dtb, *edit])
        machine["qemu_args"] += f" -dtb {dtb}"
    vm.ok(name, SHELL + script, files=selftest(), timeout=300, **machine)
