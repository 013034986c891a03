# SPDX-License-Identifier: GPL-2.0
"""What the code of events is like while they are off, and how code differs.

trace_<event>() at EL2 loads a word of the event's, hyp_event_on_<event>, and branches. The kernel's
tracepoints are NOPs, by its static keys. Neither may compute anything for an event that is off: see
wasted.py."""

import re
import struct
import subprocess

from hyptrace.machine import Failure, cross_for, note
from hyptrace.process import run
from hyptrace.wasted import Code

KEYS = 64           # more than struct tracepoint has before its end
JUMP = struct.Struct("<iiq")
FLAG = "hyp_event_on_"


def output(tool, *arguments):
    """What a program of binutils for arm64 prints."""
    return run([cross_for("arm64") + tool, *arguments], stderr=subprocess.PIPE).stdout


def tests(code):
    """Where EL2 tests whether an event is on: each branch, and where it goes if so."""
    for addr, insn in code.insns.items():
        if FLAG not in insn.symbol or not insn.name.startswith("ldr"):
            continue
        flag, = insn.sets
        addr += 4
        while flag not in code.insns[addr].reads | code.insns[addr].sets:
            addr += 4
        branch = code.insns[addr]
        if branch.name not in ("cbz", "cbnz"):
            raise Failure(f"{insn.symbol} is not tested at {addr:x}: {branch.text}")
        yield addr, branch.goes if branch.name == "cbnz" else addr + 4


def events(path):
    """The calls of EL2's events, in its object: how many there are, how many instructions one takes
    while its event is off, on average, and what is computed for them then."""
    code = Code(output("objdump", "-dr", "--no-show-raw-insn", "-j", ".hyp.text", path))
    found = set(tests(code))
    if not found:
        raise Failure(f"no event is tested in {path}")
    wasted = list(code.wasted(found))
    for line in wasted:
        note(f"for an event that is off: {line}")
    insns = len(found) + sum(FLAG in insn.symbol for insn in code.insns.values())
    return len(found), (insns + len(wasted)) / len(found), wasted


class Image:
    """vmlinux: its symbols and memory."""

    def __init__(self, path):
        self.path = path
        fields = [line.split() for line in output("readelf", "-sW", path).splitlines()]
        self.symbols = [(f[7], int(f[1], 16), int(f[2], 0), f[3]) for f in fields
                        if len(f) == 8 and f[0] != "Num:"]
        self.names = {name: addr for name, addr, _, _ in self.symbols}
        fields = [line.split() for line in output("readelf", "-lW", path).splitlines()]
        self.loads = [[int(x, 16) for x in f[1:6]] for f in fields if f and f[0] == "LOAD"]
        with open(path, "rb") as file:
            self.data = file.read()

    def read(self, addr, entry):
        """A structure at an address."""
        for offset, start, _, size, _ in self.loads:
            if start <= addr < start + size:
                return entry.unpack_from(self.data, offset + addr - start)
        raise Failure(f"{addr:#x} is not in {self.path}")

    def jump_labels(self):
        """Of the static keys: where a branch is, where it goes, and its key."""
        for addr in range(self.names["__start___jump_table"], self.names["__stop___jump_table"],
                          JUMP.size):
            code, target, key = self.read(addr, JUMP)
            yield addr + code, addr + 4 + target, (addr + 8 + key) & ~3

    def function_at(self, addr, edges):
        """The function that has an instruction."""
        for _, start, size, kind in self.symbols:
            if kind == "FUNC" and start <= addr < start + size:
                return Code(output("objdump", "-d", "--no-show-raw-insn", self.path,
                                   f"--start-address={start:#x}",
                                   f"--stop-address={start + size:#x}"), edges)
        raise Failure(f"{addr:#x} is in no function")


def tracepoints(path, names):
    """Of each of the kernel's tracepoints: its call sites, how many of these are a NOP, and how
    many instructions beside the NOPs are for it alone."""
    image, found = Image(path), {}
    labels = list(image.jump_labels())
    edges = {code: target for code, target, _ in labels}
    for name in names:
        calls = [((code, target), image.function_at(code, edges)) for code, target, key in labels
                 if 0 <= key - image.names["__tracepoint_" + name] < KEYS]
        found[name] = (len(calls), sum(code.insns[edge[0]].name == "nop" for edge, code in calls),
                       sum(len(list(code.wasted({edge}))) for edge, code in calls))
    return found


def code_of(path):
    """An object's functions: each one's name and its instructions with their relocations. What is
    in a section of data, and where, is left out; so is the offset in a load, for that of the probes
    in struct tracepoint differs where the compiler has put the loop over the probes into the call
    site. A function that registers probes has offsets in an array of struct tracepoint, whose size
    differs."""
    found = []
    for line in output("objdump", "-dr", "--no-addresses", "--no-show-raw-insn", path).splitlines():
        if re.fullmatch(r"<.*>:", line):
            found.append((line[1:-2], []))
        elif found and line[:1].isspace() and line.strip():
            found[-1][1].append(same(" ".join(line.split())))
    for _, insns in found:
        if any(re.match(r"R_AARCH64_\w+ __tracepoints$", insn) for insn in insns):
            insns[:] = [re.sub(r"^add x\d+, x\d+, #0x[0-9a-f]+", "add N", insn) for insn in insns]
    return found


def same(insn):
    """An instruction or relocation without what may differ."""
    insn = re.sub(r"^R_AARCH64_\w+ \.(data|rodata|bss|text|init|exit)\S*", "DATA", insn)
    return re.sub(r", #\d+\]", ", #N]", insn, count=1) if insn.startswith("ldr ") else insn
