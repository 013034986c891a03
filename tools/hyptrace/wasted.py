# SPDX-License-Identifier: GPL-2.0
"""What arm64's code, as objdump shows it, computes for an event that is off: what is reached while
it is off, and has a result that is read only where the event is on. A copy of a register computes
nothing: an argument is kept so. Condition flags are not followed; what sets them counts as read."""

import re

ARGUMENTS, CLOBBERED = range(8), range(19)      # of a call
READS = {"ret": range(2), "blr": ARGUMENTS, "smc": range(18), "hvc": range(18)}
NO_RESULT = re.compile(r"st|cmp|cmn|tst|ccm|b$|b[.lr]|[ct]bn?z|ret|eret|msr|brk|hvc|smc|swp|cas|"
                       r"prfm|[di]c$|at$|tlbi|hint|ld(add|set|clr|eor)")
NO_WASTE = re.compile(r"(and|add|sub|bic|neg|adc|sbc)s |mov [wx]\d+, [wx]\d+$")
ENDS = "b", "br", "ret", "eret", "brk", "udf"


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
    """Functions by their names, and instructions by their addresses; with edges that the code does
    not have as it is, {from: to}."""

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

    def reached(self, but):
        """The instructions that are reached from the functions' starts."""
        seen, todo = set(), set(self.starts.values())
        while todo:
            seen.add(addr := todo.pop())
            todo |= self.next(addr, but) - seen
        return seen

    def is_argument(self, register, call, but, calls):
        """Whether a call reads a register; one of what is not here reads all."""
        insn = self.insns[call]
        if insn.name != "bl" or register not in ARGUMENTS or call in calls:
            return False
        return insn.goes not in self.insns or self.is_read(register, [insn.goes], but,
                                                           (*calls, call))

    def is_read(self, register, starts, but, calls=()):
        """Whether a register is read from there on before it is set, here or in what is called."""
        seen, todo = set(), set(starts)
        while todo:
            seen.add(addr := todo.pop())
            insn = self.insns[addr]
            if register in insn.reads or self.is_argument(register, addr, but, calls):
                return True
            if register not in (CLOBBERED if insn.name in ("bl", "blr") else insn.sets):
                todo |= self.next(addr, but) - seen
        return False

    def wasted(self, events):
        """The instructions whose results are read only behind these edges, where an event is on."""
        for addr in sorted(self.reached(events)):
            insn = self.insns[addr]
            used, used_off = ({each for each in insn.sets
                             if self.is_read(each, self.next(addr, but), but)}
                            for but in ((), events))
            if used and not used_off and not NO_WASTE.match(insn.text):
                yield f"{addr:x}: {insn.text}"
