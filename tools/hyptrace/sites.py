# SPDX-License-Identifier: GPL-2.0
"""What the code of events costs while they are off, and how code differs.

The calls of trace_<event>() in EL2's code are in a table in vmlinux: see asm/kvm_hypevents_site.h.
Each costs its NOP, and each instruction before it that nothing but the branch in the NOP's place
has a use for: that computes an argument. Where the compiler has made a function of trace_<event>(),
the call and the return count, too. Not counted are branches around such instructions, and the frame
of a function that calls nothing else. The same goes for the kernel's tracepoints, by its static
keys."""

import pathlib
import re
import struct
import subprocess

from hyptrace.liveness import functions, mark_calls
from hyptrace.machine import TOOLS, Failure, cross_for, note
from hyptrace.process import run

NOP = 0xd503201f
OUT_OF_LINE = 2     # instructions: a call and a return
KEYS = 64           # more than struct tracepoint has before its end
SITES = "__kvm_nvhe___hyp_event_sites_"


def output(tool, *arguments):
    """What a program of binutils for arm64 prints."""
    return run([cross_for("arm64") + tool, *arguments], stderr=subprocess.PIPE).stdout


class Image:
    """vmlinux, or EL2's object alone that is linked: its symbols and memory."""

    def __init__(self, path):
        self.path, self.data = path, pathlib.Path(path).read_bytes()
        fields = [line.split() for line in output("readelf", "-sW", path).splitlines()]
        self.symbols = [(f[7], int(f[1], 16), int(f[2], 0), f[3]) for f in fields
                        if len(f) == 8 and f[0] != "Num:"]
        self.names = {name: addr for name, addr, _, _ in self.symbols}
        fields = [line.split() for line in output("readelf", "-lW", path).splitlines()]
        self.loads = [[int(x, 16) for x in f[1:6]] for f in fields if f and f[0] == "LOAD"]

    def read(self, addr, form="<I"):
        """A structure at an address: an instruction."""
        for offset, start, _, size, _ in self.loads:
            if start <= addr < start + size:
                return struct.unpack_from(form, self.data, offset + addr - start)
        raise Failure(f"{addr:#x} is not in {self.path}")

    def is_nop(self, addr):
        """Whether the instruction there is a NOP."""
        return self.read(addr)[0] == NOP

    def branch(self, addr):
        """How far an unconditional branch goes that is there, else None."""
        insn = self.read(addr)[0]
        return ((insn & 0x3ffffff ^ 0x2000000) - 0x2000000) * 4 if insn >> 26 == 5 else None

    def table(self, start, end, form):
        """A table's entries from one symbol to another. The first two words of each are where it is
        about code, and where that goes, relative to themselves; with them go its address and the
        rest."""
        for addr in range(self.names[start], self.names[end], struct.calcsize(form)):
            code, target, *rest = self.read(addr, form)
            yield addr + code, addr + 4 + target, addr, *rest

    def jump_labels(self):
        """Of the static keys: where a branch is, where it goes, and its key."""
        for code, target, addr, key in self.table("__start___jump_table", "__stop___jump_table",
                                                  "<iiq"):
            yield code, target, (addr + 8 + key) & ~3

    def alternatives(self):
        """Branches that are made at boot, or are no longer there."""
        for orig, alt, _, _, orig_len, alt_len in self.table(
                "__alt_instructions", "__alt_instructions_end", "<iiHBB"):
            yield from ((orig + n, orig + n + 4) for n in range(0, orig_len, 4)
                        if self.branch(orig + n) is not None)
            yield from ((orig + n, alt + n + self.branch(alt + n)) for n in range(0, alt_len, 4)
                        if self.branch(alt + n) is not None)

    def boot_edges(self, but=()):
        """What static keys and alternatives may make of an instruction: where it goes."""
        edges = {}
        for code, target, *_ in [*self.jump_labels(), *self.alternatives()]:
            if code not in but:
                edges.setdefault(code, []).append(target)
        return edges

    def functions(self, start, end):
        """The functions between two addresses."""
        return functions(output("objdump", "-d", "--no-show-raw-insn", self.path,
                                f"--start-address={start:#x}", f"--stop-address={end:#x}"))

    def function_at(self, code):
        """The kernel's function that has an instruction."""
        start, size = next((start, size) for _, start, size, kind in self.symbols
                           if kind == "FUNC" and start <= code < start + size)
        return self.functions(start, start + size)[0]


def link(obj, path):
    """Link EL2's object alone."""
    output("ld", "--no-warn-rwx-segments", "--unresolved-symbols=ignore-all", "-T",
           TOOLS / "el2.lds", "-o", path, obj)


def wasted(function, code, target, edges, entries):
    """How many instructions are of use only if there is a branch at `code`."""
    off = function.useful(edges, entries)
    branched = function.useful({**edges, code: edges.get(code, []) + [target]}, entries)
    # What is behind a BUG() alone is not executed.
    reached = {function.insns[i].addr for i in function.reachable(edges, past_brk=False)}
    found = sorted((branched - off) & reached)
    for insn in (function.insns[function.index[addr]] for addr in found):
        note(f"{function.name}, event at {code:#x}: {insn.addr:x}: {insn.name} {insn.operands}")
    return len(found)


def events(path):
    """The calls of EL2's events: how many there are, and how many instructions the most expensive
    one takes while its event is off."""
    image = Image(path)
    sites = {code: target for code, target, *_ in
             image.table(SITES + "start", SITES + "end", "<iiI")}
    if not sites or not all(map(image.is_nop, sites)):
        raise Failure(f"no event sites, or not NOPs, in {path}")
    edges = image.boot_edges()
    found = image.functions(image.names["__hyp_text_start"], image.names["__hyp_text_end"])
    mark_calls(found)
    entries, branched = {}, edges | {code: [target] for code, target in sites.items()}
    for _ in range(2):  # what functions need of their callers; more than that at first
        entries = {f.start: f.live(branched, entries)[0] for f in found}
    left, costs = dict(sites), []
    for function in found:
        inside = {code: left.pop(code) for code in sorted(left.keys() & function.index.keys())}
        # event_write.c runs for an event that is on. One function there checks a second time.
        if function.name.startswith("__kvm_nvhe_hyp_event_write"):
            continue
        # The copies of a function have a suffix.
        called = OUT_OF_LINE if function.name.startswith("__kvm_nvhe_trace_") else 0
        costs += [wasted(function, code, target, edges, entries) + called
                  for code, target in inside.items()]
    if left:
        raise Failure(f"calls in no function: {left}")
    return len(sites), 1 + max(costs)


def tracepoints(path, names):
    """Of each of the kernel's tracepoints: its call sites, how many of these are a NOP, and how
    many instructions beside the NOPs are for it alone."""
    image = Image(path)
    sites = {name: {code: target for code, target, key in image.jump_labels()
                    if 0 <= key - image.names["__tracepoint_" + name] < KEYS} for name in names}
    edges = image.boot_edges(but={code for found in sites.values() for code in found})
    return {name: (len(found), sum(map(image.is_nop, found)),
                   sum(wasted(image.function_at(code), code, target, edges, {})
                       for code, target in found.items())) for name, found in sites.items()}


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
            found[-1][1].append(_same(" ".join(line.split())))
    for _, insns in found:
        if any(re.match(r"R_AARCH64_\w+ __tracepoints$", insn) for insn in insns):
            insns[:] = [re.sub(r"^add x\d+, x\d+, #0x[0-9a-f]+", "add N", insn) for insn in insns]
    return found


def _same(insn):
    """An instruction or relocation without what may differ."""
    insn = re.sub(r"^R_AARCH64_\w+ \.(data|rodata|bss|text|init|exit)\S*", "DATA", insn)
    return re.sub(r", #\d+\]", ", #N]", insn, count=1) if insn.startswith("ldr ") else insn
