# SPDX-License-Identifier: GPL-2.0
"""What `perf kvm stat report` says, and what KVM has counted of guests that are known."""

import re
from collections import namedtuple
from dataclasses import dataclass, field

ROW = re.compile(r" *(\S+) +(\d+) +[\d.]+% +[\d.]+% +([\d.]+)us +([\d.]+)us +([\d.]+)us"
                 r" \( \+- *[\d.]+% \)$")
# What perf calls the exits, where the guest's device is, and what perf can report
Names = namedtuple("Names", "hypercall sysreg idle access device events")
NAMES = {"arm64": Names("HVC64", "SYS64", "WFx", "DABT_LOW", "0x10000000:W 0x10000008:R",
                        "arm64 has vmexit trap mmio"),
         "x86_64": Names("hypercall", "cpuid", "hlt", "npf", "0xd0000:W 0xd0008:R",
                         "x86 has vmexit mmio ioport msr")}


@dataclass
class Event:
    """An exit, a trap or an access: how many have ended, and have not; in microseconds, how long
    those took that have."""
    ended: int = 0
    open: int = 0
    min: float = 0
    max: float = 0
    mean: float = 0

    @property
    def time(self):
        """What they took together."""
        return self.ended * self.mean


@dataclass
class Vcpu:
    """A table of a report: its events; how many have ended in all, what they took, and the time in
    the guest."""
    events: dict = field(default_factory=dict)
    ended: int = 0
    time: float = 0
    guest: float = 0


def good(text):
    """Whether the program succeeded that said this, and whose exit status is behind it."""
    return text.endswith("status 0\n")


def parse(text):
    """The tables of a report by "VM/VCPU". Without --per-vcpu it is "all/all". One that ends with
    the status of a failure has none."""
    tables, table = {}, None
    if re.search(r"^status [1-9]\d*\n\Z", text, re.M):
        return {}
    for line in text.splitlines():
        if found := re.match(r"VM (\S+), VCPU (\S+), thread \d+:$", line):
            table = tables.setdefault("/".join(found.groups()), Vcpu())
            continue
        table = table or tables.setdefault("all/all", Vcpu())
        if found := ROW.match(line):
            table.events[found[1]] = Event(int(found[2]), 0, *map(float, found.groups()[2:]))
        elif found := re.match(r"Total Samples:(\d+), .*:([\d.]+)us", line):
            table.ended, table.time = int(found[1]), float(found[2])
        elif found := re.match(r"Time in the guest:([\d.]+)us", line):
            table.guest = float(found[1])
        elif found := re.match(r"Not ended: (\S+) (\d+)", line):
            table.events.setdefault(found[1], Event()).open = int(found[2])
    return {name: table for name, table in tables.items() if table.ended or table.events}


def counts(tables, name, ended=False):
    """How many of an event each vCPU has, if any; of those that have ended or of all."""
    return {vcpu: table.events[name].ended + (0 if ended else table.events[name].open)
            for vcpu, table in tables.items() if name in table.events}


def hypercalls(text):
    """How many a report has, of all vCPUs together."""
    tables = parse(text)
    return sum(sum(counts(tables, names.hypercall).values()) for names in NAMES.values())


def every(tables, pattern, condition):
    """Whether a condition is true of each event that is called so, and there is one."""
    found = [event for table in tables.values() for name, event in table.events.items()
             if re.fullmatch(pattern, name)]
    return bool(found) and all(map(condition, found))


def last_round(text):
    """What a guest says of its last round: a dictionary for each vCPU."""
    lines = re.split(r"^round \d+$", text, flags=re.M)[-2:][0].splitlines()
    vcpus = [dict(word.split("=") for word in line.split()) for line in lines if line[:3] == "vm="]
    return {f"{vcpu.pop('vm')}/{vcpu['vcpu']}": {key: int(value) for key, value in vcpu.items()}
            for vcpu in vcpus}


def counted(vcpu, kind, names):
    """How many of each event a vCPU has by KVM's count, and how many of all. The kind is vmexit,
    trap or mmio."""
    if kind == "mmio":
        write, read = names.device.split()
        return {write: (vcpu["mmio"] + 1) // 2, read: vcpu["mmio"] // 2, "all": vcpu["mmio"]}
    events = dict(zip(names, (vcpu[key] for key in ("hvc", "sysreg", "wfi", "mmio"))))
    return {**events, "all": vcpu["exits"] if kind == "vmexit" else sum(events.values())}


def differences(tables, vcpus, kind="vmexit", arch="arm64", lossy=False):
    """Where a report is not what KVM has counted of these vCPUs. If events were lost no count may
    be larger, and vCPUs may be unknown; x86 has the vCPU in kvm_entry, but not which VM of the
    process it is of."""
    if not vcpus:
        yield "no guest has said anything"
    for name, table in tables.items():
        known = not name.endswith("/unknown") and (arch == "arm64" or "-" in name)
        if name not in vcpus and (known or not lossy):
            yield f"{name}: no vCPU of a guest, but {table}"
    for name, vcpu in vcpus.items():
        events = tables.get(name, Vcpu()).events
        found = {event: number.ended + number.open for event, number in events.items()}
        found["all"] = sum(found.values())
        for event, number in counted(vcpu, kind, NAMES[arch]).items():
            has = found.get(event, 0)
            if has > number or has < number and not lossy:
                yield f"{name} {event}: {has}, KVM has counted {number}"


def write_script(path, setup, rows):
    """A script for a VM that sources perf-kvm.sh, without arguments: it keeps what the command of
    each row says, which is (title, command, what is right)."""
    commands = "".join(f"said {n} {row[1]}\n" for n, row in enumerate(rows))
    path.write_text(f"#!/bin/sh\nset --\n. /test/perf-kvm.sh\n{setup}{commands}finished\n", "utf-8")


def judge(out, rows, checks, form=""):
    """Each command succeeds, and what it says is right."""
    for n, (title, _, is_right) in enumerate(rows):
        text = (out / str(n)).read_text("utf-8", "replace") if (out / str(n)).exists() else ""
        checks(f"{form}{title}", good(text) and is_right(text), text[-4000:])
