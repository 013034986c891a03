# SPDX-License-Identifier: GPL-2.0
"""A run that is not sound fails: what becomes of results."""

import re

import pytest

from hyptrace import check, ktap
from hyptrace.machine import ROOT

pytestmark = [pytest.mark.fast, pytest.mark.host]
GOOD = "1..2\nok 1 a\nok 2 b\n"


@pytest.mark.parametrize("said, status, passed, failed", [
    (GOOD, "0", 2, 0),
    ("1..2\nok 1 a\nnot ok 2 b\n", "1", 1, 1),
    ("    not ok 1 - a subtest\n" + GOOD, "0", 2, 0),
    ("1..1\nok 1 # SKIP no\n", "0", 1, 0),
    ("1..0 # SKIP no\n", "0", 0, 1),
    ("ok 1 a\n", "0", 1, 1),
    ("1..2\nok 1 a\n", "0", 1, 1),
    (GOOD, "3", 2, 1),
    (GOOD, None, 2, 1),
    ("1..3\nok 1 a\nBail out! broken\n", "0", 1, 1),
    ("1..2\nx.sh: line 62: cksum: not found\nok 1 a\nok 2 b\n", "0", 2, 2),
    (GOOD + "# status 0\n# test y.sh\nlogin:\n", None, 2, 1)])
def test_kselftest(said, status, passed, failed):
    """A test that does not end, keeps no plan, lacks a command or ends with an error has failed."""
    text = f"# test x.sh\n{said}" + (f"# status {status}\n" if status else "")
    results = [each.passed for each in ktap.read(text, "form")]
    assert results.count(True) == passed and results.count(False) == failed
    assert not ktap.read("login:\n", "none ran")[0].passed


@pytest.mark.parametrize("said, failed", [
    ("1..2\nok 1 a\nok 2 b\nok 1 suite", 0), ("1..2\nok 1 a # SKIP\nok 2 b\nok 1 suite", 1),
    ("1..3\nok 1 a\nok 2 b\nok 1 suite", 1), ("1..2\nok 1 a\nnot ok 2 b\nnot ok 1 suite", 1),
    ("1..2\nok 1 a\nok 2 b\nnot ok 1 suite", 1), ("1..2\nok 1 a\nok 2 b\n", 1)])
def test_kunit(said, failed):
    """Of a console: a suite that does not end or keeps no plan has failed, and a skipped case."""
    *cases, end = said.split("\n")
    text = "".join(f"[    1.0]     {line}\r\n" for line in ["# Subtest: suite", *cases])
    results = ktap.kunit(f"{text}[    1.1] {end}\r\n", [])[:-1]
    assert sum(not each.passed for each in results) == failed and len(results) >= 2


@pytest.mark.parametrize("checks, statuses, line", [
    ([("a", True, "", False), ("b", True, "", True)], [0, 5], "1 passed, 0 failed"),
    ([("a", True, "", True)], [0, 5], "0 passed, 0 failed"),
    ([("a", True, "", False), ("b", False, "why", False)], [0, 1], "1 passed, 1 failed"),
    ([("a", True, "", False)], [0, 3], "1 passed, 1 failed")])
def test_last_line(tmp_path, monkeypatch, capfd, checks, statuses, line):
    """A failure, nothing but skipped checks, or a pytest that breaks off fail the run."""
    monkeypatch.setattr(check, "RESULTS", tmp_path)
    check.record("t", checks, "")
    good = check._finish(0, statuses)    # pylint: disable=protected-access
    assert bool(good) == (line == "1 passed, 0 failed")
    assert capfd.readouterr().out.splitlines()[-1] == line
    assert (tmp_path / "junit.xml").read_text("utf-8").count("<testcase") == len(checks)


def test_ci():
    """CI runs each set in turn, in less time than it has."""
    text = (ROOT / ".ci/run").read_text("utf-8")
    sets = re.search(r"^sets=\((.*)\)", text, re.M)[1].split()
    assert set(check.SETS) - set(sets) == {"fast", "fresh", "deb"}
    assert int(re.search(r"TIME_LIMIT=(\d+)", text)[1]) < 90 * 60
