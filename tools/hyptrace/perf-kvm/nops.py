#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# nops.py VMLINUX TRACEPOINT... - what each tracepoint costs while it is off, a line each: how
# many call sites it has, how many of these are a NOP in the image, by the table of its static
# keys, and how many instructions beside the NOPs nothing but the tracepoints have a use for.
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench.d"))
from liveness import functions  # noqa: E402
from sites import JUMP, NOP, boot_edges, cost, objdump, output, reader, shown, symbols  # noqa: E402

KEYS = 64	# more than struct tracepoint has before its end


def sites_of(read, names, tracepoints):
    """Of each tracepoint, where its branches are and where they go."""
    found = {name: {} for name in tracepoints}
    for addr in range(names["__start___jump_table"], names["__stop___jump_table"], JUMP.size):
        code, target, key = JUMP.unpack(read(addr, JUMP.size))
        key = (addr + 8 + key) & ~3
        for name in tracepoints:
            if 0 <= key - names["__tracepoint_" + name] < KEYS:
                found[name][addr + code] = addr + 4 + target
    return found


def disassembled(path, code):
    """The function that has the instruction."""
    for line in output("readelf", "-sW", path).splitlines():
        field = line.split()
        if len(field) != 8 or field[3] != "FUNC":
            continue
        start, size = int(field[1], 16), int(field[2], 0)
        if start <= code < start + size:
            return next(iter(functions(output(objdump(), "-d", "--no-show-raw-insn",
                                              f"--start-address={start:#x}",
                                              f"--stop-address={start + size:#x}", path))))
    sys.exit(f"{code:#x} is in no function")


def main():
    path = sys.argv[1]
    read, names = reader(path), symbols(path)
    found = sites_of(read, names, sys.argv[2:])
    edges = boot_edges(read, names)
    for sites in found.values():
        for code in sites:
            del edges[code]
    for name, sites in found.items():
        nops = wasted = 0
        for code, target in sites.items():
            nops += struct.unpack("<I", read(code, 4))[0] == NOP
            function = disassembled(path, code)
            more = cost(function, code, target, edges, {})
            wasted += len(more)
            if more:
                print(shown(function, code, more), file=sys.stderr)
        print(name, len(sites), nops, wasted)


if __name__ == "__main__":
    main()
