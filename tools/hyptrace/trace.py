# SPDX-License-Identifier: GPL-2.0
"""Traces as text, and what is wrong with one. (perfetto.py decodes Perfetto's recordings.)"""

import re
from collections import Counter, namedtuple

from hyptrace.machine import ROOT, Failure
from hyptrace.process import run

KSELFTEST = ROOT / "tools/testing/selftests/hyp-trace"

# Word for word from the tracer of Android's virtualization tests
EVENT = re.compile(r"^\[([0-9]*)\][ \t]*([0-9]*\.[0-9]*): (\S+)\s*(.*)")
LOST = re.compile(r"CPU:(\d+) \[LOST (?:(\d+) )?EVENTS\]$")
# TASK [CPU] FLAGS TIME: EVENT: FIELDS. An older trace-cmd has no flags. From 100 s on, no space is
# before nanoseconds.
REPORTED = re.compile(r"\s*(\S+).*?(\[\d+\]) *(?:([^\s\d]\S{4}) *)?([\d.]+): *(\S+): *(.*)")

Event = namedtuple("Event", "cpu time name args line")    # the time is in microseconds


def parse(lines):
    """The events of a trace. One of the name LOST stands for lost events, how many in its args."""
    for line in lines:
        if found := EVENT.match(line):
            cpu, stamp, name, args = found.groups()
            yield Event(int(cpu or 0), round(float(stamp) * 1000000), name, args, line)
        elif found := LOST.match(line):
            yield Event(int(found[1]), None, "LOST", found[2] or "0", line)


def read(path):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def facts(program, *files, lines=None, **variables):
    """What an awk program of the kselftest prints of files, or of lines (file -), as lines."""
    command = ["awk", *(f"-v{name}={value}" for name, value in variables.items()),
               "-f", KSELFTEST / "stamp.awk", "-f", KSELFTEST / f"{program}.awk", *files]
    text = None if lines is None else "".join(f"{line}\n" for line in lines)
    return run(command, input=text).stdout.splitlines()


def guest_line(text, name):
    """The sum of name=NUMBER in the lines that guests printed."""
    if not re.search("^vcpu=", text, re.M):
        raise Failure("no guest ran")
    return sum(int(value) for value in re.findall(rf"^vcpu=.*\b{name}=(\d+)", text, re.M))


def adds_up(base):
    """Whether base.trace, read to its end, base.stats, and KVM's count, base.runs, agree."""
    path, stats, runs = (base.with_name(f"{base.name}.{end}") for end in ("trace", "stats", "runs"))
    shown, lost, ran = Counter(), Counter(), 0
    for each in parse(read(path)):
        if each.name == "LOST":
            lost[each.cpu] += int(each.args)
        else:
            shown[each.cpu] += 1
            ran += each.name == "host_hcall" and "name=__kvm_vcpu_run" in each.args.split()
    counters = dict(re.findall(r"^(\d+ [^:\n]*): *(\S+)$", stats.read_text(encoding="utf-8"), re.M))
    expected = {}
    for cpu in {*shown, *(int(name.split()[0]) for name in counters)}:
        expected |= {f"{cpu} read events": shown[cpu], f"{cpu} overrun": lost[cpu]}
        expected |= {f"{cpu} {name}": 0 for name in ("entries", "dropped events", "commit overrun")}
    wrong = [f"CPU {name}: {counters.get(name)}, not {number}"
             for name, number in expected.items() if counters.get(name) != str(number)]
    if not ran <= int(read(runs)[0]) <= ran + sum(lost.values()):
        wrong += [f"{ran} runs of guests, {sum(lost.values())} events lost; KVM made {read(runs)}"]
    return wrong + facts("event_order", path)


def _reported_event(line, host):
    """EL2's events have no flags: one with flags stays as is."""
    if not (found := REPORTED.match(line)):
        return line
    task, cpu, flags, time, name, fields = found.groups(default=".....")
    time = time if "." in time else f"{(int(time) + 500) // 1000 / 10**6:.6f}"
    if host:
        return f"{task} {cpu} {flags} {time}: {name}: {fields}"
    if re.search(r".-\d+$", task) and flags == ".....":
        return f"{cpu} {time}: {name} {fields}"
    return line


def reported(report, buffer="hypervisor", host=False):
    """The lines of a buffer in what `trace-cmd report` prints, as in trace, or as the host's."""
    lossy = None    # the event after lost ones has no name of a buffer in front
    for line in report:
        name, line = re.match(r"(?:([a-z]+): )?(.*)", line).groups(default="")
        name, lossy = name if lossy is None else lossy, None
        if found := re.match(r"(CPU:\d+) \[(\d+ )?EVENTS DROPPED\]$", line):
            lossy = name
            line = f"{found[1]} [LOST {found[2] or ''}EVENTS]"
        elif name == buffer:
            line = _reported_event(line, host)
        if name == buffer and not line.startswith("cpus="):
            yield line
