# SPDX-License-Identifier: GPL-2.0
"""The list of tests: which there are, and which of them to run."""

import fnmatch
import re
import shlex

BESIDE = "beside"  # needs no kernel, runs at the same time as others of that kind
ALONE = "alone"    # needs no kernel that is booted, but all CPUs or the tree

# Sets that change the tree, need root or take hours: run only by their name.
NOT_IN_ALL = {"deb", "fresh", "mutants"}


class Test:
    """One line of the list: its sets, seconds, kind or kernel, and command."""

    def __init__(self, line):
        sets, seconds, self.kind, self.command = line.split(None, 3)
        self.sets = sets.split(",")
        self.seconds = int(seconds)
        self.name = name_of(self.command)

    @property
    def kernel(self):
        """The configuration that the test boots, if any."""
        return None if self.kind in (BESIDE, ALONE) else self.kind

    @property
    def builds(self):
        """The configuration that the test builds, if any."""
        kernel = re.fullmatch(r"kernel(\.(.+))?", self.name)
        return kernel and (kernel.group(2) or "default")

    def is_called(self, pattern):
        """NAME, the beginning of a name up to a dot, or a pattern."""
        return fnmatch.fnmatchcase(self.name, pattern) or self.name.startswith(pattern + ".")


def name_of(command):
    """forms.debug.protected-max-2 of CONFIG=debug FORM="protected max 2" .../forms.t"""
    values = []
    for word in shlex.split(command):
        if re.match(r"[A-Z_]+=", word):
            values.append(re.sub(r"[^A-Za-z0-9_=]+", "-", word.split("=", 1)[1]))
            continue
        base = re.sub(r"\.t$", "", word.rsplit("/", 1)[-1])
        return ".".join([base] + values)
    raise SystemExit(f"check: no command in {command}")


def read(path):
    """All tests, in the order of the list."""
    with open(path, encoding="utf-8") as lines:
        return [Test(line.strip()) for line in lines if line.strip() and line[0] != "#"]


def rotate(tests, turns):
    """Begin elsewhere each time, behind what builds the kernel."""
    first = [test for test in tests if test.builds]
    rest = [test for test in tests if not test.builds]
    turns %= len(rest) or 1
    return first + rest[turns:] + rest[:turns]


def with_builders(chosen, tests):
    """Before a test that is picked by name, the one that builds its kernel."""
    needed = {test.kernel for test in chosen if test.kernel}
    return [test for test in tests if test in chosen or test.builds in needed]


def choose(tests, sets, patterns, turns=0):
    """The tests of these sets, one after another; of them those of such names."""
    known = {name for test in tests for name in test.sets}
    if patterns:
        sets = sets or sorted(known)
    elif not sets:
        sets = ["fast"]
    if "all" in sets:
        sets = ["fast"] + sorted(known - NOT_IN_ALL - {"fast"})
    chosen = []
    for name in sets:
        if name not in known:
            raise SystemExit(f"check: no set {name}: there are {' '.join(sorted(known))} all")
        some = [test for test in tests if name in test.sets and test not in chosen]
        chosen += some if name == "fast" or not turns else rotate(some, turns)
    for pattern in patterns:
        if not any(test.is_called(pattern) for test in chosen):
            raise SystemExit(f"check: no test {pattern}: make check LIST=1 lists them")
    if not patterns:
        return chosen
    chosen = [test for test in chosen if any(test.is_called(each) for each in patterns)]
    return with_builders(chosen, tests)
