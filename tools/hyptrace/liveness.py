# SPDX-License-Identifier: GPL-2.0
"""Which registers an arm64 function needs, and where: as much of the instruction set as EL2's code
uses. What is not known is taken to need all that it names, and to define nothing."""

import re

FLAGS = "nzcv"
RESULT = {"x0", "x1"}
ARGUMENTS = {f"x{n}" for n in range(9)}
INDIRECT = {f"x{n}" for n in range(4)}      # no function that EL2 calls by a pointer has more
FIRMWARE = {f"x{n}" for n in range(18)}     # of a call of firmware or of EL2
CALLER_SAVED = FIRMWARE | {"x18", "x30", FLAGS}
AT_RETURN = RESULT | {f"x{n}" for n in range(19, 31)} | {"sp"}
ELSEWHERE = ARGUMENTS | AT_RETURN

REGISTER = re.compile(r"\b(?:[wx](\d+)|(sp)|(lr))\b")
NO_RESULT = re.compile(r"(st|msr|isb|dsb|dmb|tlbi|at$|ic$|dc$|brk|udf|hint|wf|sev|prfm|psb|tsb|"
                       r"csdb|sb$|bti|pac|aut|nop|yield|esb|wrffr|cas|swp|ld[a-z]+al?$|smc|hvc|"
                       r"ld(add|set|clr|eor|[su]max|[su]min))")
COMPARES = re.compile(r"(cmp|cmn|tst|ccmp|ccmn)$")
SETS_FLAGS = re.compile(r"(add|sub|and|bic|neg|adc|sbc|ngc)s$")
READS_FLAGS = re.compile(r"(cs[a-z]+|cin[cv]|cneg|ccm[pn]|adcs?|sbcs?|ngcs?)$")
VECTOR = re.compile(r"\b[vqdszp]\d+")
BRANCH = re.compile(r"(b$|b\.|[ct]b)")
TARGET = re.compile(r"\b([0-9a-f]+)(?: <|$)")


def registers(text):
    """Those that are named."""
    return {f"x{n}" if n else "sp" if sp else "x30" for n, sp, lr in REGISTER.findall(text)}


class Insn:    # pylint: disable=too-many-instance-attributes
    """An instruction: what it needs and defines, and where it may go."""

    def __init__(self, addr, name, operands):
        self.addr, self.name, self.operands = addr, name, operands
        self.needs, self.defines, self.has_effect = registers(operands), set(), True
        self.falls, self.target, self.call = True, None, None
        if name == "bl":
            self.needs, self.defines, self.call = set(), CALLER_SAVED, self.destination()
        elif BRANCH.match(name):
            self.target, self.falls = self.destination(), name != "b"
            self.needs = {FLAGS} if name[:2] == "b." else registers(
                operands.split(",")[0] if name != "b" else "")
        elif name == "blr":
            self.needs, self.defines = self.needs | INDIRECT, CALLER_SAVED
        elif name in ("ret", "br", "eret", "drps"):
            self.falls = False
            self.needs = self.needs | (AT_RETURN if name == "ret" else ELSEWHERE)
        else:
            self.compute()

    def destination(self):
        """Where a branch goes."""
        return int(TARGET.search(self.operands)[1], 16)

    def compute(self):
        """No branch."""
        name = self.name
        if VECTOR.search(self.operands) or NO_RESULT.match(name):
            self.needs |= FIRMWARE if name in ("smc", "hvc") else set()
        elif COMPARES.match(name):
            self.defines, self.has_effect = {FLAGS}, False
        else:
            self.result()
        if SETS_FLAGS.match(name):
            self.defines.add(FLAGS)
        if READS_FLAGS.match(name):
            self.needs.add(FLAGS)

    def result(self):
        """The first operands are defined."""
        parts = self.operands.split(",")
        results = 2 if re.match(r"(ldp|ldpsw|ldxp|ldaxp|ldnp)$", self.name) else 1
        modifies = re.match(r"(movk|bfi|bfxil|bfm|bfc)$", self.name)
        self.defines = registers(",".join(parts[:results]))
        self.needs = registers(",".join(parts[0 if modifies else results:]))
        # A frame is not taken for something that computes.
        self.has_effect = "x29" in self.defines
        if self.name.startswith("ld") and re.search(r"\]!|\],", self.operands):
            self.defines |= registers(self.operands[self.operands.index("["):].split(",")[0])

    def live_before(self, after, entries):
        """The registers that are live before it."""
        if not self.has_effect and not self.defines & after:
            return after
        called = entries.get(self.call, ARGUMENTS) if self.call is not None else set()
        return (after - self.defines) | self.needs | called


class Function:
    """A function's instructions, and the registers that are live before each."""

    def __init__(self, name, insns):
        self.name, self.insns, self.start = name, insns, insns[0].addr
        self.index = {insn.addr: i for i, insn in enumerate(insns)}

    def is_pure(self, pure):
        """Whether it stores to nothing but its stack, and does no more than compute a result."""
        return all(not insn.has_effect or insn.target in self.index or
                   insn.name in ("ret", "nop", "bti", "brk") or insn.call in pure or
                   insn.name.startswith("st") and "[sp" in insn.operands
                   for insn in self.insns)

    def changes(self, known):
        """Registers that a call of it may change, as the compiler knows it."""
        found = set()
        for insn in self.insns:
            if insn.target is not None and insn.target not in self.index:
                found |= known.get(insn.target, CALLER_SAVED)
            found |= known.get(insn.call, insn.defines)
        return found & CALLER_SAVED

    def successors(self, i, edges):
        """Where an instruction may go; None is out of the function."""
        insn = self.insns[i]
        if insn.falls and i + 1 < len(self.insns):
            yield i + 1
        yield from map(self.index.get, ([] if insn.target is None else [insn.target]) +
                       edges.get(insn.addr, []))

    def reachable(self, edges, past_brk=True):
        """The instructions that may be executed."""
        seen, todo = set(), {0}
        while todo:
            i = todo.pop()
            seen.add(i)
            if past_brk or self.insns[i].name != "brk":
                todo |= set(self.successors(i, edges)) - seen - {None}
        return seen

    def after(self, i, edges, before):
        """The registers that are live behind an instruction; what goes elsewhere needs all."""
        return set().union(*(ELSEWHERE if successor is None else before[successor]
                             for successor in self.successors(i, edges)))

    def live(self, edges, entries):
        """The registers that are live before each instruction that is reached."""
        before, was = {i: set() for i in self.reachable(edges)}, None
        while before != was:
            was = dict(before)
            for i in sorted(before, reverse=True):
                before[i] = self.insns[i].live_before(self.after(i, edges, before), entries)
        return before

    def useful(self, edges, entries):
        """Addresses of instructions that something is done with."""
        before = self.live(edges, entries)
        return {insn.addr for i, insn in ((i, self.insns[i]) for i in before)
                if insn.has_effect or not insn.defines or
                insn.defines & self.after(i, edges, before)}


def mark_calls(found):
    """What calls do: they change less than they may, and some do nothing but return a value."""
    pure, known, before = set(), {f.start: set() for f in found}, None
    while before != (len(pure), known):
        before = len(pure), dict(known)
        pure |= {f.start for f in found if f.is_pure(pure)}
        known = {f.start: f.changes(known) for f in found}
    for insn in (insn for f in found for insn in f.insns if insn.call is not None):
        insn.has_effect = insn.call not in pure
        insn.defines = known.get(insn.call, CALLER_SAVED) | {"x30"}


def functions(listing):
    """Of what objdump -d --no-show-raw-insn prints."""
    found = []
    for line in listing.splitlines():
        if head := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            if "$" not in head[1]:  # else a mapping symbol, in the middle of a function
                found.append((head[1], []))
        elif found and (insn := re.match(r"\s*([0-9a-f]+):\t(\S+)\s*([^/]*)", line)):
            found[-1][1].append(Insn(int(insn[1], 16), insn[2], insn[3].strip()))
    return [Function(name, insns) for name, insns in found if insns]
