# SPDX-License-Identifier: GPL-2.0
"""Recordings of Perfetto: a binary one as lines of trace, and what is wrong with it.

    decode(data)    lines of events, as far as Perfetto keeps them, and "CPU:N [LOST EVENTS]", CPU
                    by CPU; what else the recording says as comments
    judge(lines)    (facts, wrong): facts[NAME, CPU] is a list of numbers, `events`, `marks` of what
                    was lost, and what the kernel counted at the end; wrong is a list of lines
"""

import re
from collections import defaultdict

from hyptrace.trace import Event, Lost, parse

# What is read of a recording has numbers in its format. An event is a message within an event: the
# number of that field is its kind. Kinds that Perfetto does not know have numbers of 65536 and
# more, whose names a bundle of events has.
KINDS = {376: "kvm_entry", 377: "kvm_exit", 582: "host_hcall", 583: "host_smc", 584: "hyp_exit",
         585: "iommu_idmap", 586: "psci_mem_protect", 587: "host_mem_abort", 588: "hyp_enter",
         589: "iommu_idmap_complete"}
CPU_STATS = {2: "entries", 3: "overrun", 4: "commit_overrun", 8: "dropped_events",
             9: "read_events"}
FTRACE_STATS = {6: "unknown_event", 7: "failed_event", 9: "parse_error"}
BUFFER_STATS = {3: "chunks_overwritten", 6: "patches_failed", 9: "abi_violations",
                18: "chunks_discarded", 19: "writer_packet_loss"}


def _varint(data, pos):
    """A number of a variable size, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[pos] & 127) << shift
        pos, shift = pos + 1, shift + 7
        if data[pos - 1] < 128:
            return value, pos


def _message(data):
    """The fields of a message: lists of numbers and bytes by the fields' numbers."""
    fields, pos = defaultdict(list), 0
    while pos < len(data):
        key, pos = _varint(data, pos)
        if key & 7 == 0:
            value, pos = _varint(data, pos)
        else:
            size, pos = _varint(data, pos) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], pos)
            value, pos = data[pos:pos + size], pos + size
        fields[key >> 3].append(value)
    return fields


def _text(value):
    """A field's value as text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _named(message, names):
    """What a message has of these names, with the values."""
    return [(name, _text(value)) for number, name in names.items() for value in message[number]]


def _kinds(bundles):
    """Names of the kinds that bundles describe, and of their fields."""
    names, fields = dict(KINDS), {}
    for kind in (_message(data) for bundle in bundles for data in bundle[11]):
        described, number = _message(kind[2][0]), kind[1][0]
        group = "".join(_text(name) + "/" for name in kind[3] if name != b"hypervisor")
        names[number] = group + _text(described[1][0])
        for field in map(_message, described[2]):
            fields[number, field[3][0]] = _text(field[1][0])
    return names, fields


def _events(bundle, names, fields):
    """The lines of a bundle: events of a CPU."""
    cpu = bundle[1][0]
    if bundle[3] == [1]:
        yield f"CPU:{cpu} [LOST EVENTS]"
    for event in map(_message, bundle[2]):
        time, kind = event[1][0], next((number for number, values in event.items()
                                        if number > 2 and isinstance(values[0], bytes)), 0)
        args = [f" {fields[kind, number]}={_text(value)}"
                for number, values in (_message(event[kind][0]).items() if kind else ())
                for value in values if (kind, number) in fields]
        yield f"[{cpu:03}] {time // 10**9}.{time % 10**9 // 1000:06}: " \
              f"{names.get(kind, kind)}{''.join(args)}"
    yield from (f"# clock {clock}" for clock in bundle[5])
    yield from (f"# error {_message(error)[2][0]}" for error in bundle[8])


def _stats(packet):
    """The kernel's counters at the start or the end, what Perfetto could not do, and what became of
    the data after they were read."""
    for stats in map(_message, packet[34]):
        phase = "start" if stats[1] == [1] else "end"
        for counters in map(_message, stats[2]):
            for name, value in _named(counters, CPU_STATS):
                yield f"# {phase} {counters[1][0]} {name} {value}"
        yield from (f"# {name} {value}" for name, value in _named(stats, FTRACE_STATS))
    for buffer in (_message(data) for stats in packet[35] for data in _message(stats)[1]):
        yield from (f"# traced {name} {value}" for name, value in _named(buffer, BUFFER_STATS)
                    if value != "0")


def decode(data):
    """The lines of a recording."""
    packets = [_message(packet) for packet in _message(data)[1]]
    names, fields = _kinds(_message(each) for packet in packets for each in packet[1])
    lines = []
    for packet in packets:
        for bundle in map(_message, packet[1]):
            lines += _events(bundle, names, fields)
        lines += _stats(packet)
    return lines


class _Judge:
    """What is found as the lines come."""

    def __init__(self):
        self.facts, self.wrong = defaultdict(list), []
        self.last, self.alone, self.newest = {}, {}, {}

    def count(self, name, cpu):
        """One more of these."""
        self.facts[name, cpu] = [sum(self.facts[name, cpu]) + 1]

    def turn(self, event, line):
        """hyp_enter and hyp_exit take turns. At its end a session disables them one after the
        other: the one that is left may come again and again, but then not the other one."""
        if event.name == self.last.get(event.cpu):
            self.alone.setdefault(event.cpu, line)
        elif event.cpu in self.alone:
            self.wrong.append(self.alone.pop(event.cpu))
        self.last[event.cpu] = event.name

    def event(self, event, line):
        """An event; the host's, of KVM, with a group and unknown, are in a buffer of their own."""
        if event.name in ("hyp_enter", "hyp_exit"):
            self.turn(event, line)
        if re.fullmatch(r"kvm_[a-z_]*|.*/.*|\d+", event.name):
            return True
        newest, self.newest[event.cpu] = self.newest.get(event.cpu, 0), event.time
        self.count("events", event.cpu)
        return event.time >= newest

    def read(self, each, line):
        """Take a line; whether it is as it ought to be. In an instance without sched_switch
        Perfetto can't set up a way of its own to keep that, and says so."""
        if isinstance(each, Event):
            return self.event(each, line)
        if isinstance(each, Lost):
            self.last.pop(each.cpu, None)
            self.alone.pop(each.cpu, None)
            self.count("marks", each.cpu)
            return each.count is None
        if found := re.match(r"# end (\d+) (\w+) (\d+)$", each.line):
            self.facts[found[2], int(found[1])].append(int(found[3]))
        return re.match("# (start|end) |# failed_event perfetto/compact_sched$", each.line)


def judge(lines):
    """What is found in the lines of a recording, and what is wrong with them."""
    found = _Judge()
    for number, each in enumerate(parse(lines), 1):
        if not found.read(each, f"{number}: {each.line}"):
            found.wrong.append(f"{number}: {each.line}")
    return found.facts, found.wrong
