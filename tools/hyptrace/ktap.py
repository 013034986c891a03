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
    """One program's checks. What is wrong as a whole is one more: it does not end or keep its plan,
    is skipped, or ends with an error but without a failure."""
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


def read(text, form):
    """The checks of several tests, each between "# test NAME" and "# status N", with `form`
    before their names."""
    checks, name, lines = [], None, []
    for line in [*text.replace("\r", "").splitlines(), None]:
        found = re.fullmatch(r"# test (\S+)|# status (\d+)", line or "")
        if line is not None and not found:
            lines.append(line)
            continue
        if name:
            checks += _test(name, lines, int(found[2]) if found and found[2] else None)
        if found:
            name, lines = found[1], []
    checks = checks or [Check("no test ran", False, "\n".join(lines[-SHOWN:]))]
    return [check._replace(name=f"{form}: {check.name}") for check in checks]


def _cases(text):
    """KUnit's cases on a console or not. A suite that does not keep its plan is one that failed,
    and so is a case that was skipped."""
    suite, said = None, []
    plan = seen = 0
    for line in text.splitlines():
        line = re.sub(r"^\[ *[\d.]*\] ", "", line.rstrip("\r"))
        if found := re.match(r"    # Subtest: (\S+)", line):
            suite, plan, seen, said = found[1], None, 0, []
        elif found := re.match(r"    1\.\.(\d+)$", line):
            plan = int(found[1])
        elif found := re.match(r"    (not )?ok \d+ ([^# ]*)(.*)", line):
            seen += 1
            yield Check(f"KUnit: {found[2]}", not found[1] and "# SKIP" not in found[3],
                        "\n".join(said[-20:]))
            said = []
        elif re.match(r"(not )?ok \d+ ", line) and suite:
            if plan != seen:
                yield Check(f"KUnit: {suite} keeps its plan", False, f"{plan} cases, ran {seen}")
            suite = None
        else:
            said.append(line)
    if suite:
        yield Check(f"KUnit: {suite} ends", False, "\n".join(said[-20:]))


def kunit(text, sources):
    """The cases in KUnit's output; and the sources, files, have no others."""
    checks = list(_cases(text))
    written = sum(path.read_text(encoding="utf-8").count("KUNIT_CASE") for path in sources)
    ran = f"{len(checks)} cases ran, {written} are written"
    return checks + [Check("KUnit: all cases ran", 0 < written == len(checks), ran)]
