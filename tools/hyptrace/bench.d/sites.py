#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# sites.py VMLINUX - what the calls of trace_<event>() in EL2's code cost while the events are
# off, by the table in vmlinux: see asm/kvm_hypevents_site.h. A call costs its NOP, and each
# instruction before it that nothing but the branch in the NOP's place has a use for: that
# computes an argument. Where the compiler has made a function of trace_<event>(), the call and
# the return count, too. Not counted are branches around such instructions, and the frame of a
# function that calls nothing else.
#
# VMLINUX may be EL2's object alone, linked by el2.lds.
import itertools
import struct
import subprocess
import sys

from liveness import functions, mark_calls

NOP = 0xd503201f
OUT_OF_LINE = 2  # instructions: a call and a return
SITE = struct.Struct("<iiI")
JUMP = struct.Struct("<iiq")
ALTERNATIVE = struct.Struct("<iiHBB")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def symbols(path):
    fields = (line.split() for line in output("readelf", "-sW", path).splitlines())
    return {f[7]: int(f[1], 16) for f in fields if len(f) == 8 and f[0] != "Num:"}


def segments(path):
    fields = (line.split() for line in output("readelf", "-lW", path).splitlines())
    return [[int(x, 16) for x in f[1:6]] for f in fields if f and f[0] == "LOAD"]


def reader(path):
    with open(path, "rb") as file:
        data = file.read()
    loads = segments(path)

    def read(addr, size):
        for offset, vaddr, _, filesz, _ in loads:
            if vaddr <= addr < vaddr + filesz:
                begin = offset + addr - vaddr
                return data[begin:begin + size]
        sys.exit(f"{addr:#x} is not in {path}")

    return read


def table(read, start, end, entry):
    """Pairs of where an instruction is and where the branch in its place goes."""
    for addr in range(start, end, entry.size):
        code, target, _ = entry.unpack(read(addr, entry.size))
        yield addr + code, addr + 4 + target


def event_sites(read, names):
    prefix = "__kvm_nvhe___hyp_event_sites_"
    found = list(table(read, names[prefix + "start"], names[prefix + "end"], SITE))
    if not found:
        sys.exit("no event sites")
    for code, _ in found:
        if struct.unpack("<I", read(code, 4))[0] != NOP:
            sys.exit(f"no NOP at {code:#x}")
    return found


def is_branch(insn):
    return insn >> 26 == 0b000101


def branch_offset(insn):
    return ((insn & 0x3ffffff ^ 0x2000000) - 0x2000000) * 4


def alternatives(read, names):
    """Branches that are made at boot, or are no longer there."""
    for addr in range(names["__alt_instructions"], names["__alt_instructions_end"],
                      ALTERNATIVE.size):
        orig, alt, _, orig_len, alt_len = ALTERNATIVE.unpack(read(addr, ALTERNATIVE.size))
        orig, alt = addr + orig, addr + 4 + alt
        for at in range(0, orig_len, 4):
            if is_branch(struct.unpack("<I", read(orig + at, 4))[0]):
                yield orig + at, orig + at + 4
        for at in range(0, alt_len, 4):
            insn = struct.unpack("<I", read(alt + at, 4))[0]
            if is_branch(insn):
                yield orig + at, alt + at + branch_offset(insn)


def boot_edges(read, names):
    """What EL2's static keys and alternatives may make of an instruction: where it goes."""
    edges = {}
    keys = table(read, names["__start___jump_table"], names["__stop___jump_table"], JUMP)
    for code, target in itertools.chain(keys, alternatives(read, names)):
        edges.setdefault(code, []).append(target)
    return edges


def objdump():
    for name in ("aarch64-linux-gnu-objdump", "objdump"):
        try:
            if "aarch64" in output(name, "-i"):
                return name
        except (OSError, subprocess.CalledProcessError):
            pass
    sys.exit("no objdump for arm64")


def disassembled(path, names):
    return list(functions(output(objdump(), "-d", "--no-show-raw-insn",
                                 f"--start-address={names['__hyp_text_start']:#x}",
                                 f"--stop-address={names['__hyp_text_end']:#x}", path)))


def needed_at_entry(found, edges):
    """What functions need of their callers; more than that at first."""
    entries = {}
    for _ in range(2):
        entries = {f.insns[0].addr: f.live(edges, entries)[0] for f in found}
    return entries


def cost(function, code, target, edges, entries):
    """Instructions that are of use only if there is a branch at @code."""
    off = function.useful(edges, entries)
    on = function.useful({**edges, code: edges.get(code, []) + [target]}, entries)
    # What is behind a BUG() alone is not executed.
    reached = {function.insns[i].addr for i in function.reachable(edges, past_brk=False)}
    return sorted((on - off) & reached)


def is_of_events_on(function):
    """A function of event_write.c runs for an event that is on. One checks a second time."""
    return function.name.startswith("__kvm_nvhe_hyp_event_write")


def is_out_of_line(function):
    """Is this a check that its caller calls? The copies of a function have a suffix."""
    return function.name.startswith("__kvm_nvhe_trace_")


def shown(function, code, more, wasted):
    lines = [f"# {function.name}: the event at {code:#x} costs {more} more"]
    for addr in wasted:
        insn = function.insns[function.index[addr]]
        lines.append(f"#   {addr:x}: {insn.name} {insn.operands}")
    return "\n".join(lines)


def main():
    path = sys.argv[1]
    read, names = reader(path), symbols(path)
    sites = event_sites(read, names)
    found = disassembled(path, names)
    mark_calls(found)
    edges = boot_edges(read, names)
    entries = needed_at_entry(found, {**edges, **{c: [t] for c, t in sites}})
    most = 0
    left = dict(sites)
    for function in found:
        for code in sorted(left.keys() & function.index.keys()):
            target = left.pop(code)
            if is_of_events_on(function):
                continue
            wasted = cost(function, code, target, edges, entries)
            more = len(wasted) + (OUT_OF_LINE if is_out_of_line(function) else 0)
            most = max(most, more)
            if more:
                print(shown(function, code, more, wasted), file=sys.stderr)
    if left:
        sys.exit(f"calls in no function: {left}")
    print(f"el2_event_sites {len(sites)} calls")
    print(f"el2_event_off_insns {1 + most} insns")


if __name__ == "__main__":
    main()
