# SPDX-License-Identifier: GPL-2.0
"""What a build leaves behind: warnings in its log, what objects were made of, how their code
differs, and what the code of events is like while they are off."""

# trace_<event>() at EL2 loads a word of the event's, hyp_event_on_<event>, and branches; entries
# and exits load hyp_stay_on. The kernel's tracepoints are NOPs, by its static keys. Wasted is what
# is reached while the event is off, and has a result that is read only where it is on. A copy of a
# register computes nothing: an argument is kept so. Condition flags are not followed; what sets
# them counts as read.

import re
import subprocess

from hyptrace import patches, tree
from hyptrace.machine import Failure, cross_for, note
from hyptrace.process import run

NVHE = "arch/arm64/kvm/hyp/nvhe"
EL2 = f"{NVHE}/kvm_nvhe.o"      # linked but for what it takes from the host kernel
FLAG = re.compile("hyp_event_on_|hyp_stay_on")
LABEL = re.compile(r"PREL32 +\.text\+0x(\w+)\n.*PREL32 +\.text\+0x(\w+)\n.*PREL64 +(\w+)")
ARGUMENTS, CLOBBERED = range(8), range(19)      # of a call
READS = {"ret": range(2), "blr": ARGUMENTS, "smc": range(18), "hvc": range(18)}
NO_RESULT = re.compile(r"st|cmp|cmn|tst|ccm|b$|b[.lr]|[ct]bn?z|ret|eret|msr|brk|hvc|smc|swp|cas|"
                       r"prfm|[di]c$|at$|tlbi|hint|ld(add|set|clr|eor)")
# The last one is a function's frame, whatever reads that
NO_WASTE = re.compile(r"(and|add|sub|bic|neg|adc|sbc)s |mov [wx]\d+, [wx]\d+$|(mov|add) x29, sp")
ENDS = "b", "br", "ret", "eret", "brk", "udf"


def output(tool, *arguments):
    return run([cross_for("arm64") + tool, *arguments], stderr=subprocess.PIPE).stdout


def ours():
    return [*patches.new_files(), *patches.touched()]


def log_of(out):
    return out.with_name(out.name + ".log").read_text("utf-8", "replace")


def warnings(text, paths):
    """The lines of a log that are a warning or an error of the compiler or of sparse in one of the
    files. One in a macro counts for the file that uses the macro."""
    names = "|".join(re.escape(path) for path in paths
                     if path.endswith((".c", ".h")) and not path.startswith("tools/"))
    return re.findall(rf"^(?:.*[/ \t])?(?:{names}):\d+(?::\d+)?: (?:warning|error).*", text, re.M)


def not_compiled(out, arch="arm64"):
    """The .c files, ours or that the patches change, that no object in a directory was made of."""
    made = {word for path in out.rglob(".*.cmd")
            for word in re.findall(r"\S+\.c(?=[\s)])", path.read_text("utf-8", "replace"))}
    return [path for path in tree.c_files(arch)
            if not any(word.endswith("/" + path) for word in made)]


def undefined(out):
    """What EL2's object takes from the host kernel, or nothing defines."""
    return {line.split()[-1] for line in output("nm", "-u", out / EL2).splitlines()}


class Insn:     # pylint: disable=too-few-public-methods
    """An instruction: the registers that it sets and reads, and where a branch goes."""

    def __init__(self, name, operands):
        self.name, self.text, self.goes, self.symbol = name, f"{name} {operands}".strip(), None, ""
        parts = [[int(n) for n in re.findall(r"\b[wx](\d+)\b", part)]
                 for part in operands.split(",")]
        results = 0 if NO_RESULT.match(name) else 2 if name.startswith("ldp") else 1
        self.sets = set(sum(parts[:results], [0] * (name == "bl")))
        self.reads = set(sum(parts[0 if name in ("movk", "bfi", "bfxil") else results:],
                             list(READS.get(name, []))))
        if re.match(r"b$|b[.l]|[ct]bn?z", name) and (
                found := re.search(r"\b([0-9a-f]+)$", operands)):
            self.goes = int(found[1], 16)


class Code:
    """What objdump lists, with edges that the code does not have as it is, {from: to}."""

    def __init__(self, listing, edges=()):
        self.starts, self.insns, self.edges = {}, {}, dict(edges)
        for line in listing.splitlines():
            if head := re.match(r"([0-9a-f]+) <([^$].*)>:$", line):
                self.starts[head[2]] = int(head[1], 16)
            elif found := re.match(r" *([0-9a-f]+):\t(\S+)\s*([^/<]*)", line):
                insn = self.insns[int(found[1], 16)] = Insn(found[2], found[3].strip())
            elif found := re.search(r": R_AARCH64_(\w+)\t(\S+)", line):
                insn.symbol = found[2]
                if found[1] in ("CALL26", "JUMP26"):
                    insn.goes = None
        for insn in self.insns.values():
            if insn.name in ("b", "bl"):
                insn.goes = self.starts.get(insn.symbol, insn.goes)

    def next(self, addr, but):
        """Where it goes on after an instruction, except by these edges."""
        insn = self.insns[addr]
        found = {insn.goes if insn.name != "bl" else None, self.edges.get(addr),
                 addr + 4 if insn.name not in ENDS else None}
        return {each for each in found if each in self.insns and (addr, each) not in but}

    def walk(self, starts, but, ends=lambda addr: False):
        """The instructions that are reached, and none beyond one where it ends."""
        seen, todo = set(), set(starts)
        while todo:
            seen.add(addr := todo.pop())
            yield addr
            if not ends(addr):
                todo |= self.next(addr, but) - seen

    def is_argument(self, register, call, but, calls):
        """Whether a call reads a register; one of what is not here reads all."""
        insn = self.insns[call]
        if insn.name != "bl" or register not in ARGUMENTS or call in calls:
            return False
        return insn.goes not in self.insns or self.is_read(register, [insn.goes], but,
                                                           (*calls, call))

    def is_read(self, register, starts, but, calls=()):
        """Whether a register is read from there on before it is set, here or in what is called."""
        def is_set(addr):
            insn = self.insns[addr]
            return register in (CLOBBERED if insn.name in ("bl", "blr") else insn.sets)

        return any(register in self.insns[addr].reads or
                   self.is_argument(register, addr, but, calls)
                   for addr in self.walk(starts, but, is_set))

    def wasted(self, edges):
        """The instructions whose results are read only behind these edges, where an event is on."""
        for addr in sorted(self.walk(self.starts.values(), edges)):
            insn = self.insns[addr]
            used, used_off = (any(self.is_read(each, self.next(addr, but), but)
                                  for each in insn.sets) for but in ((), edges))
            if used and not used_off and not NO_WASTE.match(insn.text):
                yield f"{addr:x}: {insn.text}"

    def tests(self):
        """Where EL2 tests whether an event is on: each branch, and where it goes if so."""
        for addr, insn in self.insns.items():
            if not FLAG.search(insn.symbol) or not insn.name.startswith("ldr"):
                continue
            flag, = insn.sets
            addr += 4
            while flag not in self.insns[addr].reads | self.insns[addr].sets:
                addr += 4
            branch = self.insns[addr]
            if branch.name in ("cbz", "cbnz"):
                yield addr, branch.goes if branch.name == "cbnz" else addr + 4
            elif "hyp_stay_on" not in insn.symbol:      # which is changed, and read, by others
                raise Failure(f"{insn.symbol} is not tested at {addr:x}: {branch.text}")


def events(path):
    """How many calls of events EL2 has, what each takes while off, and all that is wasted."""
    code = Code(output("objdump", "-dr", "--no-show-raw-insn", "-j", ".hyp.text", path))
    found = set(code.tests())
    if not found:
        raise Failure(f"no event is tested in {path}")
    wasted = list(code.wasted(found))
    note(f"computed for events that are off: {wasted}")
    insns = len(found) + sum(bool(FLAG.search(insn.symbol)) for insn in code.insns.values())
    return len(found), (insns + len(wasted)) / len(found), wasted


def tracepoints(built, names):
    """Of each of KVM's tracepoints: how many call sites, NOPs there, and wasted instructions."""
    found = {name: [0, 0, 0] for name in names}
    for path in [*built.glob("arch/arm64/kvm/*.o"), *built.glob("virt/kvm/*.o")]:
        labels = [(int(code, 16), int(target, 16), key.removeprefix("__tracepoint_"))
                  for code, target, key in LABEL.findall(output("objdump", "-r", path))]
        if not any(name in found for _, _, name in labels):
            continue
        code = Code(output("objdump", "-dr", "--no-show-raw-insn", "-j", ".text", path),
                    {addr: target for addr, target, _ in labels})
        for addr, target, name in labels:
            if name in found:
                found[name][0] += 1
                found[name][1] += code.insns[addr].name == "nop"
                found[name][2] += len(list(code.wasted({(addr, target)})))
    return found


def same(insn):
    """An instruction or relocation without a place in a section of data, or in a load."""
    # That of the probes in struct tracepoint differs where the loop over them is inlined.
    insn = re.sub(r"^R_AARCH64_\w+ \.(data|rodata|bss|text|init|exit)\S*", "DATA", insn)
    return re.sub(r", #\d+\]", ", #N]", insn, count=1) if insn.startswith("ldr ") else insn


def code_of(path):
    """An object's functions: each one's name and its instructions with their relocations."""
    found = []
    for line in output("objdump", "-dr", "--no-addresses", "--no-show-raw-insn", path).splitlines():
        if re.fullmatch(r"<.*>:", line):
            found.append((line[1:-2], []))
        elif found and line[:1].isspace() and line.strip():
            found[-1][1].append(same(" ".join(line.split())))
    # One that registers probes has offsets in an array of struct tracepoint, whose size differs.
    for _, insns in found:
        if any(re.match(r"R_AARCH64_\w+ __tracepoints$", insn) for insn in insns):
            insns[:] = [re.sub(r"^add x\d+, x\d+, #0x[0-9a-f]+", "add N", insn) for insn in insns]
    return found
