#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# How many calls of trace_<event>() EL2's code has, and that each is one NOP, by the table
# in vmlinux: see asm/kvm_hypevents_site.h.
import struct
import subprocess
import sys

NOP = 0xd503201f
SITE = struct.Struct("<iiI")


def symbol(names, name):
    return names["__kvm_nvhe___hyp_event_sites_" + name]


def symbols(path):
    listed = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True, check=True)
    fields = (line.split() for line in listed.stdout.splitlines())
    return {f[7]: int(f[1], 16) for f in fields if len(f) == 8 and "hyp_event_sites" in f[7]}


def segments(path):
    listed = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True)
    fields = (line.split() for line in listed.stdout.splitlines())
    return [[int(x, 16) for x in f[1:6]] for f in fields if f and f[0] == "LOAD"]


def reader(path):
    data = open(path, "rb").read()
    loads = segments(path)

    def read(addr, size):
        for offset, vaddr, _, filesz, _ in loads:
            if vaddr <= addr < vaddr + filesz:
                begin = offset + addr - vaddr
                return data[begin:begin + size]
        sys.exit(f"{addr:#x} is not in {path}")

    return read


def main():
    path = sys.argv[1]
    read = reader(path)
    names = symbols(path)
    start, end = symbol(names, "start"), symbol(names, "end")
    sites = list(range(start, end, SITE.size))
    for addr in sites:
        code = addr + SITE.unpack(read(addr, SITE.size))[0]
        if struct.unpack("<I", read(code, 4))[0] != NOP:
            sys.exit(f"no NOP at {code:#x}")
    print(f"el2_event_sites {len(sites)} calls")
    print("el2_event_off_insns 1 insns")


main()
