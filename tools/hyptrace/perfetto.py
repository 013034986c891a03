# SPDX-License-Identifier: GPL-2.0
"""Recordings of Perfetto, read as lines of trace."""

import re
from collections import defaultdict

from google.protobuf.empty_pb2 import Empty   # pylint: disable=no-name-in-module

from hyptrace.trace import parse

# What is read of a recording has numbers in its format. An event is a message within an event: the
# number of that field is its kind. Kinds that Perfetto does not know have numbers of 65536 and
# more, whose names a bundle of events has.
KINDS = {376: "kvm_entry", 377: "kvm_exit", 437: "funcgraph_entry", 438: "funcgraph_exit",
         582: "host_hcall", 583: "host_smc", 584: "hyp_exit", 585: "iommu_idmap",
         586: "psci_mem_protect", 587: "host_mem_abort", 588: "hyp_enter",
         589: "iommu_idmap_complete"}
# Functions are numbers, whose names come beside the events.
FIELDS = {(437, 1): "depth", (437, 2): "func", (438, 2): "depth", (438, 3): "func"}
CPU_STATS = {2: "entries", 3: "overrun", 9: "read_events"}
FTRACE_STATS = {6: "unknown_event", 7: "failed_event", 9: "parse_error"}
BUFFER_STATS = {3: "chunks_overwritten", 6: "patches_failed", 9: "abi_violations",
                18: "chunks_discarded", 19: "writer_packet_loss"}
# In an instance without sched_switch Perfetto can't set up its compact way to keep that.
EXPECTED = "perfetto/compact_sched"


def _message(data):
    """The fields of a message: lists of numbers and bytes by the fields' numbers."""
    fields = defaultdict(list)
    for field in Empty.FromString(data).UnknownFields():
        fields[field.field_number].append(field.data)
    return fields


def _text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


class Recording:
    """Lines of events, CPU by CPU; the kernel's counts at the end; Perfetto's complaints."""

    def __init__(self, data):
        self.lines, self.stats, self.wrong = [], defaultdict(list), []
        self.names, self.fields = dict(KINDS), dict(FIELDS)
        self.symbols, self.tables = {}, defaultdict(dict)
        packets = [_message(packet) for packet in _message(data)[1]]
        bundles = [_message(bundle) for packet in packets for bundle in packet[1]]
        for kind in (_message(kind) for bundle in bundles for kind in bundle[11]):
            self._read_kind(kind)
        for packet in packets:
            self._read_symbols(packet)
            for bundle in map(_message, packet[1]):
                self.lines += self._events(bundle)
                self.wrong += [("clock or error", *each) for each in (bundle[5], bundle[8]) if each]
            self._read_stats(packet)

    def _read_kind(self, kind):
        """The name of a kind that a bundle describes, and of its fields."""
        described, number = _message(kind[2][0]), kind[1][0]
        group = "".join(_text(name) + "/" for name in kind[3] if name != b"hypervisor")
        self.names[number] = group + _text(described[1][0])
        for field in map(_message, described[2]):
            self.fields[number, field[3][0]] = _text(field[1][0])

    def _read_symbols(self, packet):
        """The names of functions, for a packet and those of its sequence behind it, until one says
        that numbers begin anew"""
        self.symbols = self.tables[tuple(packet[10])]
        if packet[13] and packet[13][0] & 1:
            self.symbols.clear()
        for symbol in (_message(symbol) for interned in packet[12]
                       for symbol in _message(interned)[26]):
            self.symbols[symbol[1][0]] = _text(symbol[2][0])

    def _value(self, kind, number, value):
        """A field's, as text"""
        is_function = FIELDS.get((kind, number)) == "func"
        return self.symbols.get(value, "?") if is_function else _text(value)

    def _events(self, bundle):
        """The lines of a bundle: events of a CPU."""
        cpu = bundle[1][0]
        if bundle[3] == [1]:
            yield f"CPU:{cpu} [LOST EVENTS]"
        for event in map(_message, bundle[2]):
            time, kind = event[1][0], next((number for number, values in event.items()
                                            if number > 2 and isinstance(values[0], bytes)), 0)
            args = [f" {self.fields[kind, number]}={self._value(kind, number, value)}"
                    for number, values in (_message(event[kind][0]).items() if kind else ())
                    for value in values if (kind, number) in self.fields]
            yield f"[{cpu:03}] {time // 10**9}.{time % 10**9 // 1000:06}: " \
                  f"{self.names.get(kind, kind)}{''.join(args)}"

    def _read_stats(self, packet):
        """The kernel's counts, a number for each of its buffers; Perfetto's own are to be zero."""
        found = [(_message(stats), FTRACE_STATS) for stats in packet[34]]
        for stats, _ in found:
            for counters in map(_message, stats[2] if stats[1] != [1] else ()):
                for number, name in CPU_STATS.items():
                    self.stats[name, counters[1][0]] += counters[number]
        found += [(_message(buffer), BUFFER_STATS) for buffers in packet[35]
                  for buffer in _message(buffers)[1]]
        self.wrong += [(name, value) for message, names in found for number, name in names.items()
                       for value in message[number]
                       if value and not _text(value).startswith(EXPECTED)]

    def ours(self):
        """All but the host's events: of KVM, with a group, or unknown."""
        return [each for each in parse(self.lines)
                if not re.fullmatch(r"kvm_\w*|.*/.*|\d+", each.name)]

    def disorder(self, cpu):
        """What is out of order on a CPU: time, and the turns of hyp_enter "(" and hyp_exit ")"."""
        # A session ends by disabling the one, and then the other, which may come again and again.
        mine = [each for each in self.ours() if each.cpu == cpu]
        times = [each.time for each in mine if each.name != "LOST"]
        if times != sorted(times):
            yield f"CPU {cpu}: time goes backwards"
        turns = {"hyp_enter": "(", "hyp_exit": ")", "LOST": " "}
        for part in "".join(turns.get(each.name, "") for each in mine).split():
            if not re.fullmatch(r"\)?(\(\))*(\(*|\)*)", part):
                yield f"CPU {cpu}: {part}"
