# SPDX-License-Identifier: GPL-2.0
"""What kselftests and KUnit say: KTAP."""

import re
from typing import NamedTuple

SHOWN = 40      # comments that are kept with a check
# Of busybox's shell, and of others
NOT_FOUND = re.compile(r": line \d+: .*: not found$|: command not found$")
RESULT = re.compile(r"(not )?ok\b *\d* *(?:- )?(.*)")


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
