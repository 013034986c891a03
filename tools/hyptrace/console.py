# SPDX-License-Identifier: GPL-2.0
"""What a guest's console shows of faults of the kernel's or the hypervisor's own."""

import functools
import re

from hyptrace.machine import ROOT, TOOLS

SPLAT = re.compile(
    "Kernel panic|Internal error|Oops|BUG:|WARNING:|INFO: task .* blocked|rcu:.*(stall|starved)"
    "|UBSAN:|KASAN:|KCSAN:|HYP panic|hyp panic|hyp BUG|list_(add|del) corruption"
    "|[1-9][0-9]* new suspected memory leaks|Unable to handle kernel|invalid opcode"
    "|bad: scheduling from|soft lockup")
FRAME = re.compile(r" *([A-Za-z0-9_]+)[.\w]*\+0x[0-9a-f]+/0x[0-9a-f]+")
OURS = re.compile("hyp_(trace|event|filter|clock)")
RACE = re.compile(r"^BUG: KCSAN: .*\n((?:(?!BUG: KCSAN: |=====).*\n)*)", re.M)
INTERRUPT = re.compile("el[01][ht]_(64|32)_(irq|fiq)$")


def not_allowed(lines, path):
    """The lines that a list of expressions, each with a tab and a reason, does not allow."""
    known = re.findall(r"^([^#\t\n][^\t\n]*)\t.", path.read_text("utf-8"), re.M)
    return [line for line in lines if not any(re.search(each, line) for each in known)]


@functools.cache
def our_functions():
    """The functions that KCSAN can name: of new files, and those that patches add to others."""
    text = "".join(path.read_text("utf-8") for top in ("kernel", "arch", "virt")
                   for path in (ROOT / top).rglob("*.c") if "nvhe" not in path.parts)
    for patch in ROOT.glob("patches/*/*.patch"):
        for part in re.split(r"^diff --git ", patch.read_text("utf-8"), flags=re.M)[1:]:
            if not part.startswith("a/tools/"):
                text += re.sub(r"^\+(?=[a-z])", "", part, flags=re.M)
    return set(re.findall(r"^(?:[a-z].*[ *])?([a-z0-9_]+)\(", text, re.M))


def _is_ours(report):
    """One of our functions took part in a race, which an interrupted one has not."""
    interrupted = False
    for line in report.splitlines():
        if re.search(r" by (task \d+|interrupt) on cpu ", line):
            interrupted = False
        elif found := FRAME.match(line):
            if not interrupted and (found[1] in our_functions() or OURS.match(found[1])):
                return True
            interrupted = interrupted or bool(INTERRUPT.match(found[1]))
    return False


def splats(text):
    """The lines that are a splat, but for harmless ones and for races of the kernel's own."""
    text = re.sub(r"(?m)^\[ *\d+\.\d+\] |\r", "", text) + "\n"
    text = RACE.sub(lambda race: race[0] if _is_ours(race[1]) else race[1], text)
    found = [line for line in text.splitlines() if SPLAT.search(line)]
    return not_allowed(found, TOOLS / "splats.allow")
