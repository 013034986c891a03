# SPDX-License-Identifier: GPL-2.0
"""Linux 7.3's own tracing of remotes, with trace-remote-fixes: its kselftest, and trace-cmd."""

import re

import pytest

from hyptrace import clients, image, trace
from hyptrace.machine import BASE, MAIN, ROOT

pytestmark = [pytest.mark.variants,
              pytest.mark.skipif(BASE == MAIN, reason="6.12 has no remotes of its own")]
MODES = ("protected", "max"), ("nvhe", "cortex-a72")
TESTS = ROOT / "tools/testing/selftests/ftrace/test.d/remotes"
# The numbers are written on one CPU; what the recorder does, on all.
RECORD = """cp -R usr /
for number in $(seq 1 1000); do
	echo "echo $number >/sys/kernel/tracing/remotes/hypervisor/write_event"
done >numbers
trace-cmd record -B hypervisor -e hypervisor -b 512 -o /out/all.dat taskset 2 sh numbers &&
	trace-cmd report -i /out/all.dat >/out/all
trace-cmd record -B hypervisor -e hypervisor:selftest -b 512 -o /out/one.dat taskset 2 sh numbers &&
	trace-cmd report -i /out/one.dat >/out/one
cat /sys/kernel/tracing/instances/hypervisor/tracing_on
"""


@pytest.mark.seconds(120)
@pytest.mark.parametrize("mode, cpu", MODES)
def test_ftrace(vm, selftest, mode, cpu):
    """Each script that the series adds: of a remote in the kernel, and of the hypervisor."""
    names = sorted(str(path.relative_to(TESTS)) for path in TESTS.rglob("*.tc"))
    vm.tests(f"{mode} {cpu}", [f"./ftracetest -K test.d/remotes/{name}" for name in names],
             "cd ftrace; PATH=$PATH:$PWD", files=selftest("ftrace"), mode=mode, cpu=cpu,
             timeout=900)


def numbers(lines):
    return [int(found[1]) for found in map(re.compile(r": selftest: +id=(\d+)$").search, lines)
            if found]


def strange(lines):
    """Lines that are no event with its fields"""
    event = re.compile(r" +\S+-0 +\[\d+\].*\d+\.\d+: (selftest: +id=\d+|"
                       r"hyp_(enter|exit): +reason=(smc|hvc|sys|psci|host_abort|guest_exit|"
                       r"eret_host|eret_guest) vcpu=\d+)$")
    return [line for line in lines[1:] if not event.match(line) and not line.startswith("hypervi")]


@pytest.mark.seconds(60)
@pytest.mark.parametrize("mode, cpu", MODES)
def test_trace_cmd(vm, checks, tmp_path, mode, cpu):
    """Debian 13's trace-cmd, unmodified, records each number and shows each event by its name."""
    clients.install(tmp_path, image.suite("trixie", "trace-cmd", "trace-cmd"), "usr/bin/trace-cmd")
    out = vm.ok("the machine ends well", RECORD, files=tmp_path, mode=mode, cpu=cpu,
                timeout=300).out
    for name in "all", "one":
        lines = trace.read(out / name)
        checks.equals(f"{name}: each number, in order", numbers(lines), list(range(1, 1001)))
        checks.equals(f"{name}: each event has its fields", strange(lines)[:8], [])
    entered = sum(": hyp_enter: " in line for line in trace.read(out / "all"))
    checks("EL2 was entered for each number, and more often", entered > 1000, str(entered))
