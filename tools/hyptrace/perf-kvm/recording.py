#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# recording.py ARCH FILE - write the perf.data of a host of another architecture, whose KVM traced
# what standard input has, a line each: the time in microseconds, the tracepoint and its fields.
# All is of one thread on one CPU.
#
#   1000 kvm_entry
#   1100 kvm_exit scause=10
import struct
import sys

# What the machines call themselves, and the tracepoints of their KVM with the fields of each
MACHINES = {
    "loongarch": ("loongarch64", {
        "kvm_enter": ("vcpu_id:4", "pc:8"),
        "kvm_reenter": ("vcpu_id:4", "pc:8"),
        "kvm_exit": ("vcpu_id:4", "pc:8", "reason:4"),
        "kvm_exit_gspr": ("vcpu_id:4", "inst_word:4"),
    }),
    "riscv": ("riscv64", {
        "kvm_entry": ("pc:8",),
        "kvm_exit": ("sepc:8", "scause:8", "stval:8", "htval:8", "htinst:8"),
    }),
}
COMMON = ("common_type:2", "common_flags:1", "common_preempt_count:1", "common_pid:4")
TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
FIRST_ID = 100
THREAD = 1000

# include/uapi/linux/perf_event.h, tools/perf/util/header.h
TYPE_TRACEPOINT = 2
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10 | 1 << 16  # IP TID TIME CPU RAW IDENTIFIER
RECORD_SAMPLE, MISC_KERNEL = 9, 1
ATTR_SIZE = 64
HEADER_SIZE = 104
TRACING_DATA, ARCH, CPUID = 1, 6, 9

HEADER_PAGE = (b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
               b"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
               b"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
               b"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n")


def layout(fields):
    """Of each field the name, the offset and the size, as the compiler has them."""
    offset = 0
    for field in COMMON + fields:
        name, size = field.split(":")
        size = int(size)
        offset = (offset + size - 1) & -size
        yield name, offset, size
        offset += size


def event_format(name, number, fields):
    """The file `format' of the tracepoint."""
    lines = [f"\tfield:{TYPES[size]} {field};\toffset:{offset};\tsize:{size};\tsigned:0;"
             for field, offset, size in layout(fields)]
    common, own = "\n".join(lines[:len(COMMON)]), "\n".join(lines[len(COMMON):])
    return (f"name: {name}\nID: {number}\nformat:\n{common}\n\n{own}\n\n"
            'print fmt: "none"\n').encode()


def sized(data):
    """The data after its size."""
    return struct.pack("<Q", len(data)) + data


def tracing_data(tracepoints):
    """What tools/perf/util/trace-event-read.c reads."""
    out = b"\x17\x08\x44tracing" + b"0.6\0" + struct.pack("<BBI", 0, 8, 4096)
    out += b"header_page\0" + sized(HEADER_PAGE) + b"header_event\0" + sized(b"")
    out += struct.pack("<II", 0, 1) + b"kvm\0" + struct.pack("<I", len(tracepoints))
    for number, (name, fields) in enumerate(tracepoints.items(), FIRST_ID):
        out += sized(event_format(name, number, fields))
    return out + struct.pack("<IIQ", 0, 0, 0)


def text(string):
    """A string of the header."""
    return struct.pack("<I", 64) + string.encode().ljust(64, b"\0")


def raw(number, fields, values):
    """The tracepoint's own data."""
    values.update(common_type=number, common_pid=THREAD)
    data = b""
    for name, offset, size in layout(fields):
        data = data.ljust(offset, b"\0") + struct.pack("<" + CODES[size], values.pop(name, 0))
    if values:
        sys.exit(f"no field {' '.join(values)}")
    return data.ljust(((len(data) + 4 + 7) & -8) - 4, b"\0")


def sample(line, tracepoints):
    """A line of standard input as a record."""
    time, name, *assigned = line.split()
    number = FIRST_ID + list(tracepoints).index(name)
    values = {key: int(value, 0) for key, value in (word.split("=") for word in assigned)}
    data = raw(number, tracepoints[name], values)
    body = struct.pack("<QQIIQIII", number, 0, THREAD, THREAD, int(time) * 1000, 0, 0, len(data))
    body += data
    return struct.pack("<IHH", RECORD_SAMPLE, MISC_KERNEL, 8 + len(body)) + body


def attributes(count):
    """The attributes of the events, and before them the identifiers that these point to."""
    ids = b"".join(struct.pack("<Q", FIRST_ID + i) for i in range(count))
    attrs = b""
    for i in range(count):
        attr = struct.pack("<IIQQQ", TYPE_TRACEPOINT, ATTR_SIZE, FIRST_ID + i, 1, SAMPLE_TYPE)
        attrs += attr.ljust(ATTR_SIZE, b"\0") + struct.pack("<QQ", HEADER_SIZE + 8 * i, 8)
    return ids, attrs


def features(sections, offset):
    """The table of the header's features, which stands at the offset, and the features."""
    offset += 16 * len(sections)
    table, out = b"", b""
    for number in sorted(sections):
        table += struct.pack("<QQ", offset + len(out), len(sections[number]))
        out += sections[number]
    return table + out


def main():
    """Write the recording."""
    machine, tracepoints = MACHINES[sys.argv[1]]
    data = b"".join(sample(line, tracepoints) for line in sys.stdin)
    ids, attrs = attributes(len(tracepoints))
    sections = {TRACING_DATA: tracing_data(tracepoints), ARCH: text(machine), CPUID: text("none")}
    at_attrs = HEADER_SIZE + len(ids)
    at_data = at_attrs + len(attrs)
    header = b"PERFILE2" + struct.pack("<QQ", HEADER_SIZE, ATTR_SIZE + 16)
    header += struct.pack("<QQQQQQ", at_attrs, len(attrs), at_data, len(data), 0, 0)
    header += struct.pack("<QQQQ", sum(1 << number for number in sections), 0, 0, 0)
    with open(sys.argv[2], "wb") as file:
        file.write(header + ids + attrs + data + features(sections, at_data + len(data)))


if __name__ == "__main__":
    main()
