# SPDX-License-Identifier: GPL-2.0
"""`make torture` itself, with a VM and a host that take no time."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from hyptrace import process, torture
from hyptrace.machine import TOOLS
from hyptrace.vm import DIED, Result

pytestmark = [pytest.mark.fast, pytest.mark.host]

PASSES, FAILS = "1..1\nok 1 it does\n", "1..1\n# for this reason\nnot ok 1 as it should be\n"


@pytest.mark.seconds(5)
def test_rounds():
    """A round is the same again; of some each form, number of CPUs, kernel and part is there. The
    tests that run beside a VM exist."""
    rounds = [torture.draw(1, n, ["default", "debug"]) for n in range(1, 61)]
    assert rounds[2] == torture.draw(1, 3, ["default", "debug"])
    assert [len({each[n:m] for each in rounds}) for n, m in ((2, 4), (4, 6))] == [3, 6]
    assert {part for each in rounds for part in [*each.parts, each.beside]} == {
        "", *torture.GUEST, *torture.HOST}
    names = " ".join(torture.HOST.values()).format("protected", "protected")
    listed = process.run([sys.executable, "-B", "-m", "pytest", "-q", "-c", TOOLS / "pytest.ini",
                          TOOLS / "tests"], check=False,
                         env=os.environ | {"TESTS": names, "SET": "all", "LIST": "1"})
    assert listed.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, listed.stdout


@pytest.mark.parametrize("said, status, beside, expected", [
    (PASSES, 0, 0, "\n1 passed, 0 failed\n$"), ("", 0, 0, "\n0 passed, 1 failed\n$"),
    (FAILS, 0, 0, "(?s)not ok - .*as it should be.*for this reason.*SEED=7 ROUND=3 SECS=60 K"),
    (PASSES, DIED, 0, "the VM ends with status 125"), (PASSES, 0, 1, "ends with status 1\n")],
                         ids=["passes", "nothing", "fails", "dies", "beside"])
def test_verdict(monkeypatch, capsys, said, status, beside, expected):
    """A failure says how to replay it; so does a VM that dies, a failure beside it, and a part that
    says nothing."""
    # pylint: disable=too-many-arguments
    monkeypatch.setattr(torture.vm, "boot", lambda script, **_: Result(status, "".join(
        f"# test {name}\n{said}# status 0\n" for name in re.findall("^run (.*)", script, re.M)),
                                                                       "", "", pathlib.Path()))
    monkeypatch.setattr(torture.process, "run", lambda command, **_:
                        subprocess.CompletedProcess(command, beside, "", ""))
    monkeypatch.setattr(torture.kernel, "selftest", lambda **_: None)
    monkeypatch.setattr(torture, "need", lambda *_: None)
    for name, value in {"SEED": "7", "ROUND": "3", "KERNELS": "default debug"}.items():
        monkeypatch.setenv(name, value)
    assert torture.main() == ("1 passed" not in expected)
    assert re.search(expected, capsys.readouterr().out)
