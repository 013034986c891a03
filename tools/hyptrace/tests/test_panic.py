# SPDX-License-Identifier: GPL-2.0
"""The last events on the console, when the kernel panics and when the hypervisor does."""

import re

import pytest

from hyptrace.vm import PRELUDE

pytestmark = [pytest.mark.fast, pytest.mark.seconds(3)]

HEAD = "Dumping ftrace instance hypervisor buffer:\n"
EMPTY = "   (ftrace buffer empty)"

SHELL = PRELUDE + r"""
set +x
cd "$HYP"
# Numbers, twelve times so many as are given, in turn on one CPU and on the other.
numbers() {
	for block in $(seq 0 11); do
		taskset $((1 + block % 2)) sh -c "seq $((block * $1 + 1)) $((block * $1 + $1)) |
			while read -r id; do echo \$id >write_event; done"
	done
}
only_numbers() { echo hypervisor:selftest >set_event; echo 1 >tracing_on; numbers 40; }
crash() { grep ': ' trace || :; taskset "$((1 << $1))" sh -c 'echo c >/proc/sysrq-trigger'; }
"""


@pytest.fixture(name="panics")
def panics_fixture(vm, selftest):
    """panics(script, ...): the VM dies; its output, its console without times, the first dump."""
    def panics(script, **machine):
        result = vm.dies(SHELL + script, files=selftest(), timeout=120, **machine)
        console = re.sub(r"(?m)^\[ *\d+\.\d+\] ", "", result.console)
        dump = re.search(f"{HEAD}-----.*\n((?:.*\n)*?)-----", console)
        return result.output, console, dump[1].splitlines() if dump else []
    return panics


def last_of_trace(output, cpu=""):
    """The last 128 events of each CPU, or of that one, that `trace` had."""
    events = [line for line in output.splitlines() if re.match(rf"\[00{cpu}.*: ", line)]
    return [line for n, line in enumerate(events)
            if sum(other[:5] == line[:5] for other in events[n:]) <= 128]


def test_kernel(panics):
    """Events of all CPUs, and once: asked for again, there is nothing new."""
    output, console, dump = panics("only_numbers; crash 0",
                                   cmdline="ftrace_dump_on_oops=0,hypervisor,hypervisor")
    assert dump == last_of_trace(output) and len(dump) == 256
    assert "selftest id=480" in dump[-1]
    assert console.count(HEAD) == 2 and EMPTY in console
    assert "sysrq triggered crash" in console and "Instance hypervisor not found" not in console


def test_one_cpu(panics):
    """Events of the CPU that panics, without those that were consumed before."""
    output, console, dump = panics("""only_numbers; echo 0 >tracing_on
        head -n 200 per_cpu/cpu1/trace_pipe >/tmp/some; crash 1""", mode="nvhe", cpu="cortex-a72",
                                   cmdline="ftrace_dump_on_oops=0,hypervisor=orig_cpu")
    assert dump and dump == last_of_trace(output, 1) and console.count(HEAD) == 1
    assert len(dump) == len(re.findall(r"(?m)^\[001\]", output))


def test_same_time(panics):
    """A tick of the counter is as long as many events take."""
    output, _, dump = panics("""echo 1 >events/enable; echo 1 >tracing_on; numbers 5
        echo 0 >tracing_on; crash 0""", mode="nvhe", cpu="cortex-a72,cntfrq=100000",
                             cmdline="ftrace_dump_on_oops=hypervisor")
    assert dump == last_of_trace(output) and len(dump) == 256
    times = [line.split()[:2] for line in dump]
    assert len({tuple(each) for each in times if times.count(each) > 1}) > 20


def test_no_events(panics):
    """There is nothing to dump."""
    _, console, _ = panics("crash 0", mode="nvhe", cmdline="ftrace_dump_on_oops=hypervisor")
    assert console.count(HEAD) == 1 and EMPTY in console


# The host reads memory that is not its own. EL2 still serves what the host touches until it ends.
STEALS = r"""
echo hypervisor:host_mem_abort >set_event; echo hypervisor:selftest >>set_event
echo 1 >tracing_on; numbers 5
addr=$(dmesg | sed -n 's/^.*kvm.*Reserved .* MiB at 0x\([0-9a-f]*\)$/\1/p')
echo "addr=0x$addr"
dd if=/dev/mem bs=4096 skip=$((0x$addr / 4096)) count=1 of=/tmp/stolen
echo "it has got $(wc -c </tmp/stolen) bytes"
"""


@pytest.mark.parametrize("machine", [
    {}, {"cpu": "cortex-a72", "cmdline": "ftrace_dump_on_oops=hypervisor"}],
    ids=["hVHE", "nVHE"])
def test_hypervisor(panics, machine):
    """The abort of the theft is after the numbers, and nothing but aborts after it; in order.
    Nobody has asked for the events; with the option they are printed once as well."""
    output, console, dump = panics(STEALS, **machine)
    addr = "addr=" + re.search(r"addr=(0x[0-9a-f]+)", output)[1]
    assert "it has got" not in output
    assert console.count(HEAD) == 1
    assert "Kernel panic - not syncing: HYP panic" in console.split(HEAD)[1]
    aborts = [" host_mem_abort " in line for line in dump]
    stolen = [at for at, line in enumerate(dump) if aborts[at] and line.split()[-1] == addr]
    numbers = [int(line.split("=")[-1]) for line in dump if " selftest id=" in line]
    last = max(at for at, line in enumerate(dump) if line.endswith(" selftest id=60"))
    assert stolen and stolen[0] > last and all(aborts[stolen[0]:]), "\n".join(dump)
    assert numbers == sorted(set(numbers))
    times = [float(line.split()[1].rstrip(":")) for line in dump]
    assert times == sorted(times)
