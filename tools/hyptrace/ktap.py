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


class _Test:
    """One program's KTAP."""

    def __init__(self, name):
        self.name, self.plan, self.checks, self.comments = name, None, [], []

    def add(self, passed, text):
        """A result, with the comments before it if it is a failure."""
        skipped = bool(re.search(r"# *skip\b", text, re.I))
        self.checks.append(Check(f"{self.name}: {text}", passed or skipped,
                                 "\n".join(self.comments[-SHOWN:]), skipped))
        self.comments = []

    def read(self, line):
        """Take a line."""
        if found := RESULT.match(line):
            self.add(not found[1], found[2])
        elif found := re.match(r"1\.\.(\d+)", line):
            self.plan = int(found[1])
        elif NOT_FOUND.search(line):
            self.add(False, line)
        elif not line.startswith("TAP version"):
            self.comments.append(line)

    def end(self, status):
        """What is wrong as a whole: one that does not keep its plan, is skipped or ends with an
        error but without a failure."""
        seen = len(self.checks)
        if status is None:
            self.add(False, "did not end")
        elif self.plan != seen:
            self.add(False, f"planned {'no' if self.plan is None else self.plan} tests, ran {seen}")
        elif not self.plan:
            self.add(False, "was skipped")
        elif status and all(check.passed for check in self.checks):
            self.add(False, f"ended with status {status}")
        return self.checks


def read(text, form):
    """The checks of several tests, each between "# test NAME" and "# status N", with `form`
    before their names."""
    checks, test, stray = [], None, []
    for line in text.replace("\r", "").splitlines():
        words = line.split()
        if words[:2] == ["#", "test"] and len(words) == 3:
            checks += test.end(None) if test else []
            test = _Test(words[2])
        elif words[:2] == ["#", "status"] and test:
            checks += test.end(int(words[2]))
            test = None
        elif test:
            test.read(line)
        else:
            stray.append(line)
    checks += test.end(None) if test else []
    if not checks:
        checks = [Check("no test ran", False, "\n".join(stray[-SHOWN:]))]
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
