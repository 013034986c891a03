# SPDX-License-Identifier: GPL-2.0
# Which registers an arm64 function needs, and where: as much of the instruction set as EL2's
# code uses. What is not known is taken to need all that it names, and to define nothing.
import re

FLAGS = "nzcv"
CALLER_SAVED = {f"x{n}" for n in range(19)} | {"x30", FLAGS}
CALLEE_SAVED = {f"x{n}" for n in range(19, 30)}
ARGUMENTS = {f"x{n}" for n in range(9)}
INDIRECT = {"x0", "x1", "x2", "x3"}  # no function that EL2 calls by a pointer has more
AT_RETURN = {"x0", "x1", "x30", "sp"} | CALLEE_SAVED

REGISTER = re.compile(r"\b(?:[wx](\d+)|(sp)|(lr))\b")
NO_RESULT = re.compile(r"(st|msr|isb|dsb|dmb|tlbi|at$|ic$|dc$|brk|udf|hint|wf|sev|prfm|psb|tsb|"
                       r"csdb|sb$|bti|pac|aut|nop|yield|esb|wrffr|casp?a?l?$|swp|ld[a-z]+al?$|smc|hvc)")
PAIR = re.compile(r"(ldp|ldpsw|ldxp|ldaxp|ldnp)$")
MODIFIES = re.compile(r"(movk|bfi|bfxil|bfm|bfc)$")
COMPARES = re.compile(r"(cmp|cmn|tst|ccmp|ccmn)$")
SETS_FLAGS = re.compile(r"(add|sub|and|bic|neg|adc|sbc|ngc)s$")
READS_FLAGS = re.compile(r"(cs[a-z]+|cin[cv]|cneg|ccm[pn]|adcs?|sbcs?|ngcs?)$")
ATOMIC = re.compile(r"(ldadd|ldset|ldclr|ldeor|ldsmax|ldsmin|ldumax|ldumin|swp|cas)")
VECTOR = re.compile(r"\b[vqdszp]\d+")


def registers(text):
    return {f"x{n}" if n else "sp" if sp else "x30" for n, sp, lr in REGISTER.findall(text)}


class Insn:
    """An instruction: what it needs and defines, and where it may go."""

    def __init__(self, addr, name, operands):
        self.addr, self.name, self.operands = addr, name, operands
        self.needs, self.defines = set(), set()
        self.has_effect = False
        self.falls, self.target = True, None
        self.call = None
        self.parse()

    def parse(self):
        name = self.name
        if name in ("b", "bl") or name.startswith(("b.", "cb", "tb")):
            return self.parse_branch()
        if name in ("ret", "br", "eret", "blr", "drps"):
            return self.parse_indirect()
        parts = self.operands.split(",")
        if VECTOR.search(self.operands) or ATOMIC.match(name) or NO_RESULT.match(name):
            self.has_effect = True
            self.needs = registers(self.operands)
            if name in ("smc", "hvc"):
                self.needs |= {f"x{n}" for n in range(18)}
        elif COMPARES.match(name):
            self.needs, self.defines = registers(self.operands), {FLAGS}
        else:
            results = 2 if PAIR.match(name) else 1
            self.defines = registers(",".join(parts[:results]))
            self.needs = registers(",".join(parts[0 if MODIFIES.match(name) else results:]))
            # A frame is not taken for something that computes.
            self.has_effect = "x29" in self.defines
            if name.startswith("ld") and re.search(r"\]!|\],", self.operands):
                self.defines |= registers(self.operands[self.operands.index("["):].split(",")[0])
        if SETS_FLAGS.match(name):
            self.defines.add(FLAGS)
        if READS_FLAGS.match(name):
            self.needs.add(FLAGS)
        return None

    def parse_branch(self):
        self.has_effect = True
        target = int(re.search(r"\b([0-9a-f]+) <|\b([0-9a-f]+)$", self.operands).group(0).split()[0], 16)
        if self.name == "bl":
            self.call = target
            self.defines = set(CALLER_SAVED)
            return
        self.target = target
        self.falls = self.name != "b"
        if self.name.startswith("b."):
            self.needs = {FLAGS}
        elif self.name != "b":
            self.needs = registers(self.operands.split(",")[0])

    def parse_indirect(self):
        self.has_effect = True
        self.needs = registers(self.operands)
        if self.name == "blr":
            self.needs |= INDIRECT
            self.defines = set(CALLER_SAVED)
            return
        self.falls = False
        self.needs |= AT_RETURN if self.name == "ret" else AT_RETURN | ARGUMENTS


class Function:
    """A function's instructions, and the registers that are live before each."""

    def __init__(self, name, insns):
        self.name, self.insns = name, insns
        self.index = {insn.addr: i for i, insn in enumerate(insns)}

    def is_pure(self, pure):
        """Does it store to nothing but its stack, and do no more than compute a result?"""
        return all(not insn.has_effect or insn.target in self.index or
                   insn.name in ("ret", "nop", "bti", "brk") or insn.call in pure or
                   insn.name.startswith("st") and "[sp" in insn.operands
                   for insn in self.insns)

    def successors(self, i, edges):
        insn = self.insns[i]
        found = [i + 1] if insn.falls and i + 1 < len(self.insns) else []
        targets = [insn.target] if insn.target is not None else []
        for target in targets + edges.get(insn.addr, []):
            found.append(self.index.get(target))
        return found

    def reachable(self, edges, past_brk=True):
        seen, todo = set(), [0]
        while todo:
            i = todo.pop()
            if i is None or i in seen:
                continue
            seen.add(i)
            if past_brk or self.insns[i].name != "brk":
                todo += self.successors(i, edges)
        return seen

    def live(self, edges, entries):
        """Before each instruction that is reached; what goes elsewhere needs all."""
        reached = self.reachable(edges)
        before = {i: set() for i in reached}
        elsewhere = ARGUMENTS | AT_RETURN
        changed = True
        while changed:
            changed = False
            for i in sorted(reached, reverse=True):
                insn, after = self.insns[i], set()
                for successor in self.successors(i, edges):
                    after |= elsewhere if successor is None else before[successor]
                new = self.live_before(insn, after, entries)
                if new != before[i]:
                    before[i], changed = new, True
        return before

    @staticmethod
    def live_before(insn, after, entries):
        if not insn.has_effect and not insn.defines & after:
            return after
        needs = insn.needs
        if insn.call is not None:
            needs = needs | entries.get(insn.call, ARGUMENTS)
        return (after - insn.defines) | needs

    def useful(self, edges, entries):
        """Addresses of instructions that something is done with."""
        before = self.live(edges, entries)
        found = set()
        for i in before:
            insn, after = self.insns[i], set()
            for successor in self.successors(i, edges):
                after |= (ARGUMENTS | AT_RETURN) if successor is None else before[successor]
            if insn.has_effect or insn.defines & after or not insn.defines:
                found.add(insn.addr)
        return found


def defined_by(function, known):
    """Registers that a call of a function may change, as the compiler knows it."""
    found = set()
    for insn in function.insns:
        callee = insn.target if insn.target not in function.index else None
        if callee is not None:
            found |= known.get(callee, CALLER_SAVED)
        found |= known.get(insn.call, insn.defines) if insn.call is not None else insn.defines
    return found & CALLER_SAVED


def mark_calls(found):
    """What calls do: they change less than they may, and some do nothing but return a value."""
    pure, known = set(), {f.insns[0].addr: set() for f in found}
    before = None
    while before != (len(pure), known):
        before = len(pure), dict(known)
        pure |= {f.insns[0].addr for f in found if f.is_pure(pure)}
        known = {f.insns[0].addr: defined_by(f, known) for f in found}
    for insn in (insn for f in found for insn in f.insns if insn.call is not None):
        insn.has_effect = insn.call not in pure
        insn.defines = known.get(insn.call, CALLER_SAVED) | {"x30"}


def functions(listing):
    """Of what objdump -d prints."""
    name, insns = None, []
    for line in listing.splitlines():
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if head and "$" in head.group(1):
            continue  # a mapping symbol, in the middle of a function
        if head:
            if insns:
                yield Function(name, insns)
            name, insns = head.group(1), []
            continue
        insn = re.match(r"\s*([0-9a-f]+):\t(\S+)\s*([^/]*)", line)
        if insn and name:
            insns.append(Insn(int(insn.group(1), 16), insn.group(2), insn.group(3).strip()))
    if insns:
        yield Function(name, insns)
