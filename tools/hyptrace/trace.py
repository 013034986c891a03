# SPDX-License-Identifier: GPL-2.0
"""Traces as text, and what is wrong with one.

    parse(lines)                an Event, Lost or Other for each line of trace or trace_pipe
    read(path)                  the lines of a file
    facts(program, *files)      what an awk program of the kselftest prints of them, as lines:
                                trace, numbers, clock, bracket, catalogue; lines=: instead of a file
    summary(lines)              a text: events by reason, time at EL2, the longest stay, events lost
    stretch(lines, cpu, entry, count)   the lines around an entry of a guest
    by_turns(lines)             what is wrong with hyp_enter and hyp_exit alone, of one CPU
    account(stats, lines, runs) what does not add up with the counters, and with KVM's runs
    adds_up(base)               the same of files base.trace, .stats, .runs; and of the catalogue
    guest_line(text, name)      the sum of name=NUMBER in what the program guest printed
    reported(report, buffer, host)      what `trace-cmd report` prints, as lines of trace

Beside: perfetto.py (its recordings), callchains.py (folded chains), documents.py (shell sessions).
"""

import re
from collections import Counter
from typing import NamedTuple, Optional

from hyptrace.machine import ROOT, Failure
from hyptrace.process import run

KSELFTEST = ROOT / "tools/testing/selftests/hyp-trace"

# Word for word from the tracer of Android's virtualization tests
EVENT = re.compile(r"^\[([0-9]*)\][ \t]*([0-9]*\.[0-9]*): (\S+)\s*(.*)")
LOST = re.compile(r"CPU:(\d+) \[LOST (?:(\d+) )?EVENTS\]$")
REASONS = "hvc smc psci abort sysreg guest host firmware".split()


class Event(NamedTuple):
    """A line of an event."""
    cpu: int
    time: int       # in microseconds
    name: str
    args: str
    line: str

    @property
    def fields(self):
        """Its fields by their names, as text."""
        return dict(re.findall(r"(\w+)=(\S+)", self.args))


class Lost(NamedTuple):
    """A line that says that events were lost; without a count it is None."""
    cpu: int
    count: Optional[int]
    line: str


class Other(NamedTuple):
    """Any other line."""
    line: str


def micros(stamp):
    """A time in seconds, as text, in microseconds."""
    whole, _, part = stamp.partition(".")
    return int(whole or 0) * 1000000 + int(part[:6].ljust(6, "0"))


def parse(lines):
    """What each line is."""
    for line in lines:
        if found := EVENT.match(line):
            cpu, stamp, name, args = found.groups()
            yield Event(int(cpu or 0), micros(stamp), name, args, line)
        elif found := LOST.match(line):
            yield Lost(int(found[1]), found[2] and int(found[2]), line)
        else:
            yield Other(line)


def read(path):
    """The lines of a file."""
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def facts(program, *files, lines=None, **variables):
    """What an awk program of the kselftest prints of files, or of lines."""
    command = ["awk"]
    for name, value in variables.items():
        command += ["-v", f"{name}={value}"]
    command += ["-f", KSELFTEST / "stamp.awk", "-f", KSELFTEST / f"{program}.awk", *files]
    text = None if lines is None else "".join(f"{line}\n" for line in lines)
    return run(command, input=text).stdout.splitlines()


def guest_line(text, name):
    """The sum of a number in the lines that guests printed."""
    if not re.search("^vcpu=", text, re.M):
        raise Failure("no guest ran")
    return sum(int(value) for value in re.findall(rf"^vcpu=.*\b{name}=(\d+)", text, re.M))


class _Sums:
    """The sums of a trace. A stay is from a hyp_enter to the next hyp_exit on the same CPU. One
    that lost events cut into is not known, and not counted; nor is one that was under way when
    the trace began."""

    def __init__(self, lines):
        self.counts, self.times, self.stays = Counter(), [], []
        self.entered, self.seen = {}, set()
        for each in parse(lines):
            if isinstance(each, Lost) and each.count is not None:
                self.counts["lost"] += each.count
                self.counts["cut"] += self.entered.pop(each.cpu, None) is not None
                self.seen.add(each.cpu)
            elif isinstance(each, Event) and each.name in ("hyp_enter", "hyp_exit"):
                self.add(each)
            else:
                self.counts["other"] += 1

    def add(self, event):
        """Add a hyp_enter or hyp_exit."""
        self.counts[event.name, event.fields.get("reason")] += 1
        self.counts[event.name, "all"] += 1
        self.times.append(event.time)
        entered = self.entered.pop(event.cpu, None)
        if event.name == "hyp_enter":
            self.counts["cut"] += entered is not None
            self.entered[event.cpu] = event
        elif entered:
            self.stays.append((event.time - entered.time, entered, event))
        else:
            self.counts["cut"] += event.cpu in self.seen
        self.seen.add(event.cpu)

    def of_events(self):
        """The table of events."""
        yield f"{'events':<12} {'hyp_enter':>12} {'hyp_exit':>12}"
        for reason in [*REASONS, "all"]:
            counts = [self.counts[name, reason] for name in ("hyp_enter", "hyp_exit")]
            if any(counts):
                yield f"  {reason:<10}" + "".join(
                    f" {f'{n:,}' if n or reason == 'all' else '-':>12}" for n in counts)

    def of_time(self):
        """The table of the time at EL2."""
        def row(name, stays, cpus):
            total, span = sum(stays), (self.times[-1] - self.times[0]) * cpus or 1
            return (f"  {name:<10} {len(stays):>12,} {total:>9,} us "
                    f"{total / (len(stays) or 1):>9.1f} us {max(stays, default=0):>9,} us "
                    f"{100 * total / span:>8.1f} %")

        yield "".join([f"{'time at EL2':<12}", *(f" {word:>12}" for word in (
            "stays", "total", "mean", "longest")), f" {'of time':>10}"])
        cpus = max(self.seen) + 1
        for cpu in range(cpus):
            yield row(f"CPU {cpu}", [n for n, begun, _ in self.stays if begun.cpu == cpu], 1)
        yield row("all", [n for n, _, _ in self.stays], cpus)

    def of_the_rest(self):
        """The longest stay, and what is missing."""
        if self.stays:
            longest, begun, ended = max(self.stays, key=lambda stay: stay[0])
            yield from ("", f"longest stay: {longest:,} us", f"  {begun.line}", f"  {ended.line}")
        yield from ("", f"events lost: {self.counts['lost']:,}")
        for what, name in (("hyp_enter or hyp_exit without the other", "cut"),
                           ("other lines", "other")):
            if self.counts[name]:
                yield f"{what}: {self.counts[name]:,}"


def summary(lines):
    """The sums of a trace, as text."""
    sums = _Sums(lines)
    if not sums.times:
        raise Failure("the trace has no events")
    return "\n".join([*sums.of_events(), "", *sums.of_time(), *sums.of_the_rest()])


def stretch(lines, cpu, entry, count):
    """`count` lines: three, and from there on where the CPU enters a guest the `entry`th time."""
    entries = [nr for nr, line in enumerate(lines)
               if re.match(rf"\[{cpu:03}\] .*hyp_exit reason=guest$", line)]
    if len(entries) < entry:
        return []
    begin = entries[entry - 1]
    return lines[max(begin - 3, 0):begin + count - 3]


def by_turns(lines):
    """What is wrong with a trace of one CPU that has hyp_enter and hyp_exit alone, none lost."""
    before = None
    for each in parse(lines):
        if not isinstance(each, Event) or each.name not in ("hyp_enter", "hyp_exit") or \
                not re.fullmatch(r"reason=[a-z]+", each.args):
            yield f"neither hyp_enter nor hyp_exit: {each.line}"
            continue
        if before and (each.time < before.time or each.name == before.name or
                       each.cpu != before.cpu):
            yield f"{each.line}: after {before.line}"
        before = each
    if not before:
        yield "no events"


def account(stats, lines, runs):
    """What does not add up in a trace that was read to its end: the events shown and lost with the
    counters, lines "CPU NAME: NUMBER"; the runs of a guest with KVM's, as the host's events have
    it."""
    shown, lost, ran = Counter(), Counter(), 0
    for each in parse(lines):
        if isinstance(each, Event):
            shown[each.cpu] += 1
            ran += each.name == "host_hcall" and each.fields.get("name") == "__kvm_vcpu_run"
        elif isinstance(each, Lost) and each.count is not None:
            lost[each.cpu] += each.count
        else:
            yield f"malformed: {each.line}"
    counters = {(int(cpu), name): float(value)
                for cpu, name, value in re.findall(r"^(\d+) ([^:\n]*): *(\S+)$", stats, re.M)}
    for cpu in sorted({cpu for cpu, _ in counters}):
        for what, found, name in (
                ("shown", shown[cpu], "read events"), ("reported lost", lost[cpu], "overrun"),
                ("left", 0, "entries"), ("dropped", 0, "dropped events"),
                ("commit overrun", 0, "commit overrun")):
            if found != counters.get((cpu, name)):
                yield f"CPU {cpu}: {what} {found}, counted {counters.get((cpu, name))} {name}"
    if not shown or not counters:
        yield "no events"
    if not ran <= runs <= ran + sum(lost.values()):
        yield f"{ran} runs of guests, {sum(lost.values())} events lost; KVM made {runs}"


def adds_up(base):
    """What is wrong with a trace of all events, and with what was counted meanwhile."""
    trace, stats, runs = (base.with_name(f"{base.name}.{part}")
                          for part in ("trace", "stats", "runs"))
    for path in trace, stats, runs:
        if not path.exists() or not path.stat().st_size:
            return [f"no {path.name}"]
    return [*account(stats.read_text(encoding="utf-8"), read(trace),
                     int(runs.read_text(encoding="utf-8"))), *facts("catalogue", trace)]


def _seconds(time):
    """The nanoseconds that trace-cmd prints for some clocks as the seconds of others."""
    if "." in time:
        return time
    rounded = (int(time) + 500) // 1000
    return f"{rounded // 1000000}.{rounded % 1000000:06}"


def _reported_event(line, host):
    """TASK [CPU] FLAGS TIME: EVENT: FIELDS; an older trace-cmd has no flags, and from 100 s on no
    space after the CPU. The hypervisor's events have no flags: one that does stays as it is."""
    found = re.match(r"\s*(\S+).*?(\[\d+\]) *(?:(\S*[^:\s]) +)?([\d.]+):(.*)", line)
    if not found:
        return line
    task, cpu, flags, time, text = found.groups()
    flags = flags or "....."
    text = re.sub(": +", ": " if host else " ", text, count=1)
    if host:
        return f"{task} {cpu} {flags} {_seconds(time)}:{text}"
    if re.search(r".-\d+$", task) and flags == ".....":
        return f"{cpu} {_seconds(time)}:{text}"
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
