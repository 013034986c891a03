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


Event = namedtuple("Event", "cpu time name args line")     # the time is in microseconds
Lost = namedtuple("Lost", "cpu count line")                # without a count it is None
Other = namedtuple("Other", "line")


def parse(lines):
    """What each line is."""
    for line in lines:
        if found := EVENT.match(line):
            cpu, stamp, name, args = found.groups()
            yield Event(int(cpu or 0), round(float(stamp) * 1000000), name, args, line)
        elif found := LOST.match(line):
            yield Lost(int(found[1]), found[2] and int(found[2]), line)
        else:
            yield Other(line)


def read(path):
    """The lines of a file."""
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


def _timed(stays, span):
    """The table of the time at EL2: stays by CPU, of `span` microseconds."""
    yield (f"{'time at EL2':<12} {'stays':>12} {'total':>12} {'mean':>12} {'longest':>12} "
           f"{'of time':>10}")
    rows = {f"CPU {cpu}": each for cpu, each in sorted(stays.items())}
    for name, each in {**rows, "all": sum(rows.values(), [])}.items():
        total, time = sum(each), span * (len(rows) if name == "all" else 1)
        yield (f"  {name:<10} {len(each):>12,} {total:>9,} us {total / (len(each) or 1):>9.1f} us "
               f"{max(each, default=0):>9,} us {100 * total / (time or 1):>8.1f} %")


def summary(lines):
    """The sums of a trace, as text. A stay at EL2 is from a hyp_enter to the next hyp_exit of the
    CPU; one that was under way at the start or when events were lost does not count."""
    counts, stays, entered, times, lost = Counter(), {}, {}, [], 0
    for each in parse(lines):
        if isinstance(each, Lost):
            lost += each.count or 0
            entered.pop(each.cpu, None)
        elif isinstance(each, Event) and each.name in ("hyp_enter", "hyp_exit"):
            counts[f"{each.name} {each.args.split()[0]}"] += 1
            times.append(each.time)
            began = entered.pop(each.cpu, None)
            if each.name == "hyp_enter":
                entered[each.cpu] = each.time
            elif began is not None:
                stays.setdefault(each.cpu, []).append(each.time - began)
    return "\n".join([*(f"{number:>8,} {name}" for name, number in sorted(counts.items())), "",
                      *_timed(stays, max(times) - min(times)), "",
                      f"events lost: {lost:,}"])


def account(stats, lines, runs):
    """What does not add up in a trace that was read to its end: the events shown and lost with the
    counters, lines "CPU NAME: NUMBER"; the runs of a guest with KVM's, as the host's events have
    it."""
    shown, lost, ran = Counter(), Counter(), 0
    for each in parse(lines):
        if isinstance(each, Event):
            shown[each.cpu] += 1
            ran += each.name == "host_hcall" and "name=__kvm_vcpu_run" in each.args.split()
        elif isinstance(each, Lost) and each.count is not None:
            lost[each.cpu] += each.count
        else:
            yield f"malformed: {each.line}"
    counters = {(int(cpu), name): float(value)
                for cpu, name, value in re.findall(r"^(\d+) ([^:\n]*): *(\S+)$", stats, re.M)}
    for cpu in sorted({cpu for cpu, _ in counters}):
        expected = {"read events": shown[cpu], "overrun": lost[cpu], "entries": 0,
                    "dropped events": 0, "commit overrun": 0}
        for name, number in expected.items():
            if number != counters.get((cpu, name)):
                yield f"CPU {cpu}: {name}: {counters.get((cpu, name))}, not {number}"
    if not shown or not counters:
        yield "no events"
    if not ran <= runs <= ran + sum(lost.values()):
        yield f"{ran} runs of guests, {sum(lost.values())} events lost; KVM made {runs}"


def adds_up(base):
    """What is wrong with a trace of all events, and with what was counted meanwhile: files
    base.trace, .stats, .runs."""
    paths = [base.with_name(f"{base.name}.{part}") for part in ("trace", "stats", "runs")]
    if missing := [f"no {path.name}" for path in paths if not (path.exists() and read(path))]:
        return missing
    lines, stats, runs = map(read, paths)
    return [*account("\n".join(stats), lines, int(runs[0])), *facts("event_order", paths[0])]


def _reported_event(line, host):
    """TASK [CPU] FLAGS TIME: EVENT: FIELDS; an older trace-cmd has no flags, and from 100 s on no
    space after the CPU and nanoseconds. EL2's events have no flags: one with flags stays as is."""
    found = re.match(r"\s*(\S+).*?(\[\d+\]) *(?:(\S*[^:\s]) +)?([\d.]+): *(\S+): *(.*)", line)
    if not found:
        return line
    task, cpu, flags, time, name, fields = found.groups(default=".....")
    time = time if "." in time else f"{(int(time) + 500) // 1000 / 10**6:.6f}"
    if host:
        return f"{task} {cpu} {flags} {time}: {name}: {fields}"
    if re.search(r".-\d+$", task) and flags == ".....":
        return f"{cpu} {time}: {name} {fields}"
    return line


def reported(report, buffer="hypervisor", host=False):
    """What `trace-cmd report` prints of the buffer of that name, or of the one without a name: as
    lines of trace, or with `host` as the host's. Where events were lost a line says so; the event
    after it has no name of a buffer in front."""
    lossy = None
    for line in report:
        if re.match(r"cpus=\d+$", line):
            continue
        name, line = re.match(r"(?:([a-z]+): )?(.*)", line).groups(default="")
        name, lossy = name if lossy is None else lossy, None
        found = re.match(r"(CPU:\d+) \[(\d+ )?EVENTS DROPPED\]$", line)
        if found:
            lossy = name
        if name == buffer:
            yield f"{found[1]} [LOST {found[2] or ''}EVENTS]" if found else \
                _reported_event(line, host)
