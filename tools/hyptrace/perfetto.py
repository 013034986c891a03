# SPDX-License-Identifier: GPL-2.0
"""Recordings of Perfetto, read as lines of trace."""

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
# In an instance without sched_switch Perfetto can't set up its compact way to keep that.
EXPECTED = "failed_event perfetto/compact_sched"


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


class Recording:
    """A recording: lines of events, as far as Perfetto keeps them, and "CPU:N [LOST EVENTS]", CPU
    by CPU; stats[NAME, CPU] are the kernel's counts at the end, a number for each of its buffers;
    wrong is what Perfetto complains about."""

    def __init__(self, data):
        packets = [_message(packet) for packet in _message(data)[1]]
        self.lines, self.stats, self.wrong = [], defaultdict(list), []
        self.names, self.fields = dict(KINDS), {}
        bundles = [_message(bundle) for packet in packets for bundle in packet[1]]
        for bundle in bundles:
            self._read_kinds(bundle)
        for bundle in bundles:
            self.lines += self._events(bundle)
            self.wrong += [f"clock {clock}" for clock in bundle[5]]
            self.wrong += [f"error {_message(error)[2][0]}" for error in bundle[8]]
        for packet in packets:
            self._read_stats(packet)

    def _read_kinds(self, bundle):
        """Names of the kinds that a bundle describes, and of their fields."""
        for kind in map(_message, bundle[11]):
            described, number = _message(kind[2][0]), kind[1][0]
            group = "".join(_text(name) + "/" for name in kind[3] if name != b"hypervisor")
            self.names[number] = group + _text(described[1][0])
            for field in map(_message, described[2]):
                self.fields[number, field[3][0]] = _text(field[1][0])

    def _events(self, bundle):
        """The lines of a bundle: events of a CPU."""
        cpu = bundle[1][0]
        if bundle[3] == [1]:
            yield f"CPU:{cpu} [LOST EVENTS]"
        for event in map(_message, bundle[2]):
            time, kind = event[1][0], next((number for number, values in event.items()
                                            if number > 2 and isinstance(values[0], bytes)), 0)
            args = [f" {self.fields[kind, number]}={_text(value)}"
                    for number, values in (_message(event[kind][0]).items() if kind else ())
                    for value in values if (kind, number) in self.fields]
            yield f"[{cpu:03}] {time // 10**9}.{time % 10**9 // 1000:06}: " \
                  f"{self.names.get(kind, kind)}{''.join(args)}"

    def _read_stats(self, packet):
        """The kernel's counts at the end, what Perfetto could not do, and what became of the data
        after they were read."""
        for stats in map(_message, packet[34]):
            for counters in map(_message, stats[2] if stats[1] != [1] else ()):
                for number, name in CPU_STATS.items():
                    self.stats[name, counters[1][0]] += counters[number]
            self._complain(stats, FTRACE_STATS)
        for buffers in map(_message, packet[35]):
            for buffer in map(_message, buffers[1]):
                self._complain(buffer, BUFFER_STATS)

    def _complain(self, message, names):
        """What a message has of these names, unless it is zero, is wrong."""
        found = [f"{name} {_text(value)}" for number, name in names.items()
                 for value in message[number] if value != 0]
        self.wrong += [line for line in found if not line.startswith(EXPECTED)]

    def ours(self):
        """EL2's events, and where some were lost. (The host's, of KVM, with a group or unknown,
        are in another buffer.)"""
        return [each for each in parse(self.lines) if isinstance(each, Lost) or
                isinstance(each, Event) and not re.fullmatch(r"kvm_\w*|.*/.*|\d+", each.name)]

    def disorder(self):
        """Events that are older than the one before on their CPU, or out of turn: hyp_enter and
        hyp_exit take turns. At its end a session disables them one after the other: the one that
        is left may come again and again, but then not the other one."""
        newest, last, alone = {}, {}, {}
        for each in self.ours():
            if isinstance(each, Lost):
                last.pop(each.cpu, None)
                alone.pop(each.cpu, None)
                continue
            if each.time < newest.get(each.cpu, 0):
                yield each.line
            newest[each.cpu] = each.time
            if each.name in ("hyp_enter", "hyp_exit"):
                if each.name == last.get(each.cpu):
                    alone.setdefault(each.cpu, each.line)
                elif each.cpu in alone:
                    yield alone.pop(each.cpu)
                last[each.cpu] = each.name
