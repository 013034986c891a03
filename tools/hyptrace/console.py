# SPDX-License-Identifier: GPL-2.0
"""What a guest's console shows of faults of the kernel's or the hypervisor's own."""

import re

from hyptrace.machine import ROOT, TOOLS, Failure

SPLAT = re.compile(
    "Kernel panic|Internal error|Oops|BUG:|WARNING:|INFO: task .* blocked|rcu:.*(stall|starved)"
    "|UBSAN:|KASAN:|KCSAN:|HYP panic|hyp panic|hyp BUG|list_(add|del) corruption"
    "|[1-9][0-9]* new suspected memory leaks|Unable to handle kernel|invalid opcode"
    "|bad: scheduling from|soft lockup")
FRAME = re.compile(r" *([A-Za-z0-9_]+)[.\w]*\+0x[0-9a-f]+/0x[0-9a-f]+")
OURS = re.compile("hyp_(trace|event|filter|clock)")
INTERRUPT = re.compile("el[01][ht]_(64|32)_(irq|fiq)$")


def allowed(path):
    """The expressions of a list: each line is one, a tab and the reason."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            expression, _, reason = line.partition("\t")
            if not reason:
                raise Failure(f"{path}: no reason for {expression}")
            found.append(re.compile(expression))
    return found


def not_allowed(lines, path):
    """Those of the lines that a list does not allow."""
    known = allowed(path)
    return [line for line in lines if not any(each.search(line) for each in known)]


def our_functions():
    """The functions that KCSAN can name: of new files, and those that patches add to others."""
    text = []
    for patch in ROOT.glob("patches/*/*.patch"):
        for part in re.split(r"^diff --git ", patch.read_text(encoding="utf-8"), flags=re.M)[1:]:
            if not part.startswith("a/tools/"):
                text += re.findall(r"^\+([a-z].*)", part, re.M)
    for top in "kernel", "arch", "virt":
        for path in (ROOT / top).rglob("*.c"):
            if "nvhe" not in path.parts:
                text += re.findall(r"^[a-z].*", path.read_text(encoding="utf-8"), re.M)
    found = (re.match(r"(?:[a-z].*[ *])?([a-z0-9_]+)\(", line) for line in text)
    return {match[1] for match in found if match}


def _is_ours(report, ours):
    """Whether one of our functions took part in a race. What an interrupt does is not done by the
    function that it interrupted."""
    interrupted = False
    for line in report:
        if re.search(r" by (task \d+|interrupt) on cpu ", line):
            interrupted = False
        elif found := FRAME.match(line):
            if not interrupted and (found[1] in ours or OURS.match(found[1])):
                return True
            interrupted = interrupted or bool(INTERRUPT.match(found[1]))
    return False


def _without_others_races(lines):
    """The lines without the headlines of those reports of KCSAN's that have none of our functions
    in them: races of the kernel's own. Lines of others may be between those of a report."""
    ours, kept, report, headline = None, [], [], None
    for line in lines + ["BUG: KCSAN: end"]:
        text = re.sub(r"^\[ *\d+\.\d+\] ", "", line)
        begins = text.startswith("BUG: KCSAN: ")
        if headline and (begins or text.startswith("=====")):
            ours = our_functions() if ours is None else ours
            kept += [headline] if _is_ours(report, ours) else []
            headline, report = None, []
        if begins:
            headline = line
        elif headline:
            report.append(text)
        if not begins:
            kept.append(line)
    return kept


def splats(text):
    """The lines that are a splat, and not one that is known to be harmless."""
    lines = _without_others_races(text.replace("\r", "").splitlines())
    return not_allowed([line for line in lines if SPLAT.search(line)], TOOLS / "splats.allow")
