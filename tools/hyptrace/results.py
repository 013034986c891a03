# SPDX-License-Identifier: GPL-2.0
"""Results: what a guest's console shows of faults of the kernel's or the hypervisor's own, and what
kselftests and KUnit say in KTAP."""

import functools
import re
from typing import NamedTuple

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
SHOWN = 40      # comments that are kept with a check
# Of busybox's shell, and of others
NOT_FOUND = re.compile(r": line \d+: .*: not found$|: command not found$")
RESULT = re.compile(r"(not )?ok\b *\d* *(?:- )?(.*)")


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


class Check(NamedTuple):
    """One result."""
    name: str
    passed: bool
    comment: str = ""
    skipped: bool = False


def _test(name, lines, status):
    """One program's checks. What is wrong as a whole is one more."""
    plan, checks, comments = None, [], []
    for line in lines:
        if found := RESULT.match(line):
            skipped = bool(re.search(r"# *skip\b", found[2], re.I))
            checks.append(Check(f"{name}: {found[2]}", skipped or not found[1],
                                "\n".join(comments[-SHOWN:]), skipped))
            comments = []
        elif found := re.match(r"1\.\.(\d+)", line):
            plan = int(found[1])
        elif NOT_FOUND.search(line):
            checks.append(Check(f"{name}: {line}", False))
        else:
            comments.append(line)
    wrong = {
        "did not end": status is None,
        f"planned {plan} tests, ran {len(checks)}": plan != len(checks),
        "was skipped": not plan,
        f"ended with status {status}": status and all(check.passed for check in checks)}
    why = next((text for text, is_so in wrong.items() if is_so), None)
    return checks + [Check(f"{name}: {why}", False, "\n".join(comments[-SHOWN:]))] * bool(why)


def read(text, title):
    """The checks of tests, each between "# test NAME" and "# status N", named TITLE: .."""
    _, *parts = re.split(r"^# test (\S+)$", text.replace("\r", ""), flags=re.M)
    checks = []
    for name, said in zip(parts[::2], parts[1::2]):
        said, *status = re.split(r"^# status (\d+)$", said, maxsplit=1, flags=re.M)
        checks += _test(name, said.splitlines()[1:], int(status[0]) if status else None)
    checks = checks or [Check("no test ran", False, text[-2000:])]
    return [check._replace(name=f"{title}: {check.name}") for check in checks]


def kunit(text, sources):
    """The cases in KUnit's output or a console's: all of the sources, and none is skipped."""
    text, checks = re.sub(r"(?m)^\[ *[\d.]*\] |\r$", "", text), []
    for suite in re.split(r"^    # Subtest: .*\n", text, flags=re.M)[1:]:
        said, *end = re.split(r"^(not )?ok \d+ ", suite, maxsplit=1, flags=re.M)
        lines = [line[4:] if line.startswith("    ") else f"# {line}" for line in said.splitlines()]
        checks += _test("KUnit", lines, (1 if end[0] else 0) if end else None)
    checks = [check._replace(passed=check.passed and not check.skipped, skipped=False)
              for check in checks]
    written = sum(path.read_text(encoding="utf-8").count("KUNIT_CASE") for path in sources)
    ran = f"{len(checks)} cases ran, {written} are written"
    return checks + [Check("KUnit: all cases ran", 0 < written == len(checks), ran)]
