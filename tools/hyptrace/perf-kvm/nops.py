#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# nops.py VMLINUX TRACEPOINT... - how many call sites each tracepoint has, and how many of
# these are a NOP in the image, by the table of its static keys.
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench.d"))
from sites import NOP, reader, symbols  # noqa: E402

JUMP = struct.Struct("<iiq")
KEYS = 64	# more than struct tracepoint has before its end

read = reader(sys.argv[1])
names = symbols(sys.argv[1])
start, stop = names["__start___jump_table"], names["__stop___jump_table"]
sites = {name: [] for name in sys.argv[2:]}
for addr in range(start, stop, JUMP.size):
    code, _, key = JUMP.unpack(read(addr, JUMP.size))
    key = (addr + 8 + key) & ~3
    for name in sites:
        if 0 <= key - names["__tracepoint_" + name] < KEYS:
            sites[name].append(struct.unpack("<I", read(addr + code, 4))[0])
for name, found in sites.items():
    print(name, len(found), sum(code == NOP for code in found))
