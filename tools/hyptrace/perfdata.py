# SPDX-License-Identifier: GPL-2.0
"""perf.data: recordings as the perf of another machine may have written them. See
include/uapi/linux/perf_event.h and tools/perf/util/header.h."""

import struct

from hyptrace.machine import BASE, MAIN

COMMON = "common_type common_flags common_preempt_count common_pid".split()
FIRST_ID, THREAD = 100, 1000
TYPE_TRACEPOINT, RECORD_SAMPLE, MISC_KERNEL = 2, 9, 1
LOST, SWITCH, MISC_OUT, MISC_PREEMPTED = 2, 14, 1 << 13, 1 << 14
ID_ALL, CONTEXT_SWITCH = 1 << 18, 1 << 26       # flags of an attribute
SWITCHES = {"switch-in": 0, "switch-out": MISC_OUT, "preempt": MISC_OUT | MISC_PREEMPTED}
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10 | 1 << 16  # IP TID TIME CPU RAW ID
HEADER_SIZE, ATTR_SIZE = 104, 64
DATA, BITS = 40, 72     # where the header has the data's place and size, and its features
TRACING_DATA, ARCH, NRCPUS, CPUID = 1, 6, 7, 9
KNOWN = 32 if BASE == MAIN else 35      # features that the base's perf knows


def event_format(name, number, fields):
    """The file `format' of a tracepoint, of which each field has 64 bits."""
    lines = [f"\tfield:u64 {each};\toffset:{8 * n};\tsize:8;\tsigned:0;\n"
             for n, each in enumerate(COMMON + fields)]
    lines.insert(len(COMMON), "\n")
    name = name.split(":")[1]
    return f'name: {name}\nID: {number}\nformat:\n{"".join(lines)}\nprint fmt: "none"\n'.encode()


def tracing_data(tracepoints):
    """What tools/perf/util/trace-event-read.c reads."""
    systems = {name.split(":")[0]: [] for name in tracepoints}
    for number, (name, fields) in enumerate(tracepoints.items(), FIRST_ID):
        file = event_format(name, number, fields)
        systems[name.split(":")[0]].append(struct.pack("<Q", len(file)) + file)
    return b"".join([b"\x17\x08\x44tracing0.6\0", struct.pack("<BBI", 0, 8, 4096),
                     b"header_page\0", struct.pack("<QB", 1, 0),
                     b"header_event\0", struct.pack("<QII", 0, 0, len(systems)),
                     *(system.encode() + b"\0" + struct.pack("<I", len(events)) + b"".join(events)
                       for system, events in systems.items()), bytes(16)])


def sample(time, name, values, tracepoints):
    """A record."""
    number = FIRST_ID + list(tracepoints).index(name)
    thread, cpu = values.get("tid", THREAD), values.get("cpu", 0)
    values = {"common_type": number, "common_pid": thread, **values}
    raw = b"".join(values.get(each, 0).to_bytes(8, "little")
                   for each in COMMON + tracepoints[name]) + bytes(4)
    body = struct.pack("<QQIIQIII", number, 0, thread, thread, round(time * 1000), cpu, 0,
                       len(raw))
    return struct.pack("<IHH", RECORD_SAMPLE, MISC_KERNEL, 8 + len(body + raw)) + body + raw


def other(time, name, values):
    """A record of a context switch, or that events were lost. It ends as samples begin."""
    thread, kind, body = values.get("tid", THREAD), SWITCH, b""
    if name == "lost":
        kind, body = LOST, struct.pack("<QQ", FIRST_ID, values["nr"])
    body += struct.pack("<IIQIIQ", thread, thread, round(time * 1000), values.get("cpu", 0), 0,
                        FIRST_ID)
    return struct.pack("<IHH", kind, SWITCHES.get(name, 0), 8 + len(body)) + body


def with_features(data, sections):
    """What ends with the recording's data, with these features: their bits, a table, and each."""
    bits = sum(1 << number for number in sections).to_bytes(32, "little")
    place, table, content = len(data) + 16 * len(sections), b"", b""
    for _, section in sorted(sections.items()):
        table += struct.pack("<QQ", place + len(content), len(section))
        content += section
    return data[:BITS] + bits + data[BITS + 32:] + table + content


def recording(machine, lines, cpuid="none"):
    """The recording of a host that traced what the lines have: the time in microseconds, the
    tracepoint (of KVM if it has no other system) and its fields, as "1100 kvm_exit scause=10", or
    switch-out, preempt, switch-in or "lost nr=5". All is of one thread on CPU 0, but what has
    "tid=" or "cpu="."""
    events = [(float(time), name if ":" in name or name in (*SWITCHES, "lost") else f"kvm:{name}",
               {key: int(value, 0) for key, value in (word.split("=") for word in words)})
              for time, name, *words in (line.split() for line in lines)]
    tracepoints = {name: ["pc", *(key for key in values if key not in ("tid", "cpu"))]
                   for _, name, values in events if ":" in name}
    data, ids, attrs = b"".join(sample(*event, tracepoints) if ":" in event[1] else other(*event)
                                for event in events), b"", b""
    flags = (ID_ALL | CONTEXT_SWITCH) * any(name in SWITCHES for _, name, _ in events)
    for number in range(FIRST_ID, FIRST_ID + len(tracepoints)):
        attr = struct.pack("<IIQQQQQ", TYPE_TRACEPOINT, ATTR_SIZE, number, 1, SAMPLE_TYPE, 0, flags)
        attrs += attr.ljust(ATTR_SIZE, b"\0") + struct.pack("<QQ", HEADER_SIZE + len(ids), 8)
        ids += struct.pack("<Q", number)
    header = struct.pack("<8s6Q", b"PERFILE2", HEADER_SIZE, ATTR_SIZE + 16, HEADER_SIZE + len(ids),
                         len(attrs), HEADER_SIZE + len(ids + attrs), len(data))
    return with_features(header.ljust(HEADER_SIZE, b"\0") + ids + attrs + data, {
        TRACING_DATA: tracing_data(tracepoints), ARCH: struct.pack("<I64s", 64, machine.encode()),
        NRCPUS: struct.pack("<II", 2, 2), CPUID: struct.pack("<I64s", 64, cpuid.encode())})


def features(data):
    """The features by their numbers, and where their table begins."""
    end = sum(struct.unpack_from("<QQ", data, DATA))
    bits = int.from_bytes(data[BITS:BITS + 32], "little")
    numbers = [number for number in range(256) if bits >> number & 1]
    places = (struct.unpack_from("<QQ", data, end + 16 * n) for n in range(len(numbers)))
    return {number: data[at:at + size] for number, (at, size) in zip(numbers, places)}, end


def later(data):
    """The recording with a feature that perf does not know, which is another one in later perfs."""
    sections, end = features(data)
    return with_features(data[:end], {**sections, KNOWN: struct.pack("<5I", 1, 77, 5, 0, 78)})


def wrapped(data):
    """Its first feature begins near the end of the 64 bits, and its size goes beyond."""
    end = features(data)[1]
    return data[:end] + struct.pack("<QQ", 2 ** 64 - 256, 512) + data[end + 16:]
