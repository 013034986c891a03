# SPDX-License-Identifier: GPL-2.0
"""perf.data: recordings as the perf of another machine may have written them. See
include/uapi/linux/perf_event.h and tools/perf/util/header.h."""

import struct

# What the machines call themselves, and the tracepoints of their KVM with the fields of each
MACHINES = {
    "loongarch": ("loongarch64", {"kvm_enter": "vcpu_id:4 pc:8", "kvm_reenter": "vcpu_id:4 pc:8",
                                  "kvm_exit": "vcpu_id:4 pc:8 reason:4",
                                  "kvm_exit_gspr": "vcpu_id:4 inst_word:4"}),
    "riscv": ("riscv64", {"kvm_entry": "pc:8",
                          "kvm_exit": "sepc:8 scause:8 stval:8 htval:8 htinst:8"}),
}
COMMON = "common_type:2 common_flags:1 common_preempt_count:1 common_pid:4"
TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
FIRST_ID, THREAD = 100, 1000
TYPE_TRACEPOINT, RECORD_SAMPLE, MISC_KERNEL = 2, 9, 1
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10 | 1 << 16  # IP TID TIME CPU RAW ID
HEADER_SIZE, ATTR_SIZE = 104, 64
DATA, BITS = 40, 72     # where the header has the data's place and size, and its features
TRACING_DATA, ARCH, CPUID = 1, 6, 9
KNOWN = 32              # features that perf of 6.12 knows
HEADER_PAGE = "".join(
    f"\tfield: {name};\toffset:{offset};\tsize:{size};\tsigned:0;\n" for name, offset, size in
    [("u64 timestamp", 0, 8), ("local_t commit", 8, 8), ("int overwrite", 8, 1),
     ("char data", 16, 4080)]).encode()


def layout(fields):
    """Of each field the name, the offset and the size, as the compiler has them."""
    offset = 0
    for name, size in (each.split(":") for each in f"{COMMON} {fields}".split()):
        offset = (offset + int(size) - 1) & -int(size)
        yield name, offset, int(size)
        offset += int(size)


def event_format(name, number, fields):
    """The file `format' of a tracepoint."""
    lines = [f"\tfield:{TYPES[size]} {each};\toffset:{offset};\tsize:{size};\tsigned:0;\n"
             for each, offset, size in layout(fields)]
    lines.insert(len(COMMON.split()), "\n")
    return f'name: {name}\nID: {number}\nformat:\n{"".join(lines)}\nprint fmt: "none"\n'.encode()


def tracing_data(tracepoints):
    """What tools/perf/util/trace-event-read.c reads."""
    files = [event_format(name, number, fields)
             for number, (name, fields) in enumerate(tracepoints.items(), FIRST_ID)]
    page, *events = [struct.pack("<Q", len(file)) + file for file in [HEADER_PAGE, *files]]
    return b"".join([b"\x17\x08\x44tracing0.6\0", struct.pack("<BBI", 0, 8, 4096),
                     b"header_page\0", page, b"header_event\0", struct.pack("<QII", 0, 0, 1),
                     b"kvm\0", struct.pack("<I", len(events)), *events, bytes(16)])


def sample(line, tracepoints):
    """A line as a record."""
    time, name, *assigned = line.split()
    number = FIRST_ID + list(tracepoints).index(name)
    values = {key: int(value, 0) for key, value in (word.split("=") for word in assigned)}
    values.update(common_type=number, common_pid=THREAD)
    raw = b""
    for each, offset, size in layout(tracepoints[name]):
        raw = raw.ljust(offset, b"\0") + values.get(each, 0).to_bytes(size, "little")
    raw = raw.ljust(((len(raw) + 4 + 7) & -8) - 4, b"\0")
    body = struct.pack("<QQIIQIII", number, 0, THREAD, THREAD, int(time) * 1000, 0, 0, len(raw))
    return struct.pack("<IHH", RECORD_SAMPLE, MISC_KERNEL, 8 + len(body + raw)) + body + raw


def with_features(data, sections):
    """What ends with the recording's data, with these features: their bits, a table, and each."""
    bits = sum(1 << number for number in sections).to_bytes(32, "little")
    place, table, content = len(data) + 16 * len(sections), b"", b""
    for _, section in sorted(sections.items()):
        table += struct.pack("<QQ", place + len(content), len(section))
        content += section
    return data[:BITS] + bits + data[BITS + 32:] + table + content


def recording(arch, lines):
    """The recording of a host whose KVM traced what the lines have: the time in microseconds, the
    tracepoint and its fields, as "1100 kvm_exit scause=10". All is of one thread on one CPU."""
    machine, tracepoints = MACHINES[arch]
    data, ids, attrs = b"".join(sample(line, tracepoints) for line in lines), b"", b""
    for number in range(FIRST_ID, FIRST_ID + len(tracepoints)):
        attr = struct.pack("<IIQQQ", TYPE_TRACEPOINT, ATTR_SIZE, number, 1, SAMPLE_TYPE)
        attrs += attr.ljust(ATTR_SIZE, b"\0") + struct.pack("<QQ", HEADER_SIZE + len(ids), 8)
        ids += struct.pack("<Q", number)
    header = struct.pack("<8s6Q", b"PERFILE2", HEADER_SIZE, ATTR_SIZE + 16, HEADER_SIZE + len(ids),
                         len(attrs), HEADER_SIZE + len(ids + attrs), len(data))
    return with_features(header.ljust(HEADER_SIZE, b"\0") + ids + attrs + data, {
        TRACING_DATA: tracing_data(tracepoints), ARCH: struct.pack("<I64s", 64, machine.encode()),
        CPUID: struct.pack("<I64s", 64, b"none")})


def features(data):
    """The features by their numbers, and where their table begins."""
    end = sum(struct.unpack_from("<QQ", data, DATA))
    bits = int.from_bytes(data[BITS:BITS + 32], "little")
    numbers = [number for number in range(256) if bits >> number & 1]
    places = (struct.unpack_from("<QQ", data, end + 16 * n) for n in range(len(numbers)))
    return {number: data[at:at + size] for number, (at, size) in zip(numbers, places)}, end


def later(data):
    """The recording with feature 32, which is another one in later perfs."""
    sections, end = features(data)
    return with_features(data[:end], {**sections, KNOWN: struct.pack("<5I", 1, 77, 5, 0, 78)})


def wrapped(data):
    """Its first feature begins near the end of the 64 bits, and its size goes beyond."""
    end = features(data)[1]
    return data[:end] + struct.pack("<QQ", 2 ** 64 - 256, 512) + data[end + 16:]
