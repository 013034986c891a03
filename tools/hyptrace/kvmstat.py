# SPDX-License-Identifier: GPL-2.0
"""What `perf kvm stat report` says, what is right of that, and what KVM has counted of guests that
are known."""

import re
from collections import Counter, namedtuple
from typing import NamedTuple

ROW = re.compile(r"^ *(\S+) +(\d+) +[\d.]+% +[\d.]+% +([\d.]+)us +([\d.]+)us +([\d.]+)us"
                 r" \( \+- *[\d.]+% \)((?: +[\d.]+us){4})?((?: +[\d.]+us){2})?$", re.M)
TOTALS = r"Total Samples:(\d+)", r"events handled time:([\d.]+)us", r"in the guest:([\d.]+)us"
# What perf calls the exits, where the guest's device is, and what perf can report
Names = namedtuple("Names", "hypercall sysreg idle access device events")
NAMES = {"arm64": Names("HVC64", "SYS64", "WFx", "DABT_LOW", "0x10000000:W 0x10000008:R",
                        "arm64 has vmexit trap mmio"),
         "x86_64": Names("hypercall", "cpuid", "hlt", "npf", "0xd0000:W 0xd0008:R",
                         "x86 has vmexit mmio ioport msr")}


class Event(NamedTuple):
    """How many exits, traps or accesses have ended and not; of those that have, microseconds."""
    ended: int = 0
    open: int = 0
    min: float = 0
    max: float = 0
    mean: float = 0
    percentiles: tuple = ()     # p50, p90, p99 and p99.9, if they are asked for
    off: tuple = ()             # mean: preempted and slept, if the recording has that

    @property
    def time(self):
        return self.ended * self.mean

    @property
    def p99(self):
        return self.percentiles[2]


# A table of a report, of which how many have ended, what they took, and the guest's time
Vcpu = namedtuple("Vcpu", "events ended time guest", defaults=[{}, 0, 0, 0])


def good(text):
    """Whether the program succeeded that said this, and whose exit status is behind it."""
    return text.endswith("status 0\n")


def _table(text):
    """What one table of a report says."""
    events = {name: Event(int(ended), 0, *map(float, times), *(
        tuple(float(each) for each in re.findall(r"[\d.]+", part)) for part in (more, off)))
              for name, ended, *times, more, off in ROW.findall(text)}
    for name, number in re.findall(r"^Not ended: (\S+) (\d+)", text, re.M):
        events[name] = events.get(name, Event())._replace(open=int(number))
    found = (re.search(each, text) for each in TOTALS)
    return Vcpu(events, *(float(each[1]) if each else 0 for each in found))


def parse(text):
    """The tables of a report by "VM/VCPU", or "all/all". A failure has none."""
    if re.search(r"^status [1-9]\d*\n\Z", text, re.M):
        return {}
    first, *others = re.split(r"^VM (\S+), VCPU (\S+), thread \d+:$", text, flags=re.M)
    tables = {"all/all": _table(first)}
    for vm, vcpu, body in zip(*[iter(others)] * 3):
        tables[f"{vm}/{vcpu}"] = _table(body)
    return {name: table for name, table in tables.items() if table.ended or table.events}


def counts(text, name, ended=False):
    """How many of an event each vCPU has, if any; of those that have ended or of all."""
    return {vcpu: event.ended + event.open * (not ended) for vcpu, table in parse(text).items()
            for event in [table.events.get(name)] if event}


# What is right: each of these makes a function of a text

def says(*patterns):
    return lambda text: good(text) and all(re.search(each, text, re.I) for each in patterns)


def fails(pattern):
    return lambda text: not good(text) and re.search(pattern, text, re.I)


def has(number):
    """A report has so many hypercalls, of all vCPUs together."""
    return lambda text: good(text) and number == sum(
        sum(counts(text, names.hypercall).values()) for names in NAMES.values())


def each(pattern, condition):
    """A condition is true of each event of a report that is called so, and there is one."""
    def is_right(text):
        found = [event for table in parse(text).values() for name, event in table.events.items()
                 if re.fullmatch(pattern, name)]
        return found and all(map(condition, found))
    return is_right


def falls(name, more_than=2):
    """The events of a report are sorted by this, the largest first."""
    def is_right(text):
        found = [getattr(event, name) for table in parse(text).values()
                 for event in table.events.values()]
        return len(found) > more_than and found == sorted(found, reverse=True)
    return is_right


def last_round(text):
    """What a guest says of its last round: a dictionary for each vCPU."""
    lines = re.split(r"^round \d+$", text, flags=re.M)[-2:][0].splitlines()
    vcpus = [dict(word.split("=") for word in line.split()) for line in lines if line[:3] == "vm="]
    return {f"{vcpu.pop('vm')}/{vcpu['vcpu']}": {key: int(value) for key, value in vcpu.items()}
            for vcpu in vcpus}


def counted(vcpu, kind, names):
    """How many of each event a vCPU has by KVM's count, and of all: of vmexit, trap or mmio."""
    if kind == "mmio":
        write, read = names.device.split()
        return Counter({write: (vcpu["mmio"] + 1) // 2, read: vcpu["mmio"] // 2,
                        "all": vcpu["mmio"]})
    events = Counter(dict(zip(names, (vcpu[key] for key in ("hvc", "sysreg", "wfi", "mmio")))))
    return events + Counter(all=vcpu["exits"] if kind == "vmexit" else events.total())


def reported(table, names):
    """The same by a table of a report."""
    events = Counter({name: each.ended + each.open for name, each in table.events.items()})
    known = Counter({name: events[name] for name in [*names[:4], *names.device.split()]})
    return known + Counter(all=events.total())


def is_counted(text, vcpus, kind="vmexit", arch="arm64", lossy=False):
    """A report has what KVM has counted of these vCPUs. If events were lost no count may be larger,
    and vCPUs may be unknown; x86 has the vCPU in kvm_entry, but not which VM of the process it is
    of."""
    found = {name: reported(table, NAMES[arch]) for name, table in parse(text).items()}
    expected = {name: counted(vcpu, kind, NAMES[arch]) for name, vcpu in vcpus.items()}
    if not lossy:
        return bool(vcpus) and all(found.get(name, Counter()) == expected.get(name, Counter())
                                   for name in found.keys() | expected.keys())
    return bool(vcpus) and all(
        number <= expected[name] if name in expected else
        name.endswith("/unknown") or arch != "arm64" and "-" not in name
        for name, number in found.items())


def write_script(path, setup, rows):
    """A script for a VM that sources perf-kvm.sh, without arguments: it keeps what the command of
    each row says, which is (title, command, what is right)."""
    commands = "".join(f"said {n} {row[1]}\n" for n, row in enumerate(rows))
    path.write_text(f"#!/bin/sh\nset --\n. /test/perf-kvm.sh\n{setup}{commands}finished\n", "utf-8")
    path.chmod(0o755)


def judge(out, rows, checks, prefix=""):
    """Each command succeeds, and what it says is right."""
    for n, (title, _, is_right) in enumerate(rows):
        text = (out / str(n)).read_text("utf-8", "replace") if (out / str(n)).exists() else ""
        checks(f"{prefix}{title}", good(text) and is_right(text), text[-4000:])
