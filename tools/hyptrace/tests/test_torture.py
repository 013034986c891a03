# SPDX-License-Identifier: GPL-2.0
"""`make torture` itself, with a VM and a host that take no time."""

import pathlib
import re
import subprocess

import pytest

from hyptrace import torture
from hyptrace.machine import Failure
from hyptrace.vm import DIED, Result

pytestmark = [pytest.mark.fast, pytest.mark.host]

PASSES = "1..1\nok 1 it does\n"
FAILS = "1..1\n# for this reason\nnot ok 1 as it should be\n"


@pytest.fixture(name="run")
def run_fixture(monkeypatch, capsys):
    """run(says, ...): main()'s status, and what it prints. Each part says the first text in the
    first VM, the next one in the next. run.made has what was booted and begun."""
    def run(*says, status=0, beside=0, **variables):
        def boot(script, **machine):
            text = says[min(len(run.made), len(says) - 1)]
            run.made.append((script, machine))
            output = "".join(f"{line}\n{text}# status 0\n"
                             for line in re.findall("# test .*(?=')", script))
            return Result(status, output, "", "", pathlib.Path())

        def begin(command, env, **_):
            run.made.append((command, env))
            return subprocess.CompletedProcess(command, beside, "", "")
        run.made = []
        monkeypatch.setattr(torture.vm, "boot", boot)
        monkeypatch.setattr(torture.process, "run", begin)
        monkeypatch.setattr(torture.kernel, "selftest", lambda **_: None)
        monkeypatch.setattr(torture, "need", lambda *_: None)
        for name in "MINUTES", "SEED", "ROUND", "SECS", "KERNELS":
            monkeypatch.setenv(name, str(({"KERNELS": "default debug"} | variables).get(name, "")))
        return torture.main(), capsys.readouterr().out
    return run


def test_round(run):
    """A round's line, and what its parts are given; the same again, alone or after others."""
    status, out = run(PASSES, SEED=7, ROUND=3, SECS=5)
    assert status == 0 and out.endswith("\n1 passed, 0 failed\n")
    line = re.search(r"round 3: seed (\d+), (protected|nvhe) ([\w-]+), SMP=[124], (default|debug): "
                     r"(\w+) (?!\5)(\w+) (\w+): passed, \d+ s\n", out)
    (script, machine), (_, beside) = run.made
    assert script.startswith(f"export SEED={line[1]} SECS=5\n")
    assert re.findall("# test (.*)'", script) == [line[5], line[6]]
    assert (machine["mode"], machine["cpu"], machine["config"]) == line.groups()[1:4]
    assert (beside["SEED"], beside["FUZZ_SECONDS"]) == (line[1], "5")
    assert str(torture.draw(7, 3, ["default", "debug"])) in line[0]
    # Of some rounds each form, number of CPUs, kernel and part is there.
    rounds = [torture.draw(1, n, ["default", "debug"]) for n in range(1, 61)]
    assert {each[2:4] for each in rounds} == set(torture.FORMS)
    assert {(each.smp, each.config) for each in rounds} == {
        (n, config) for n in (1, 2, 4) for config in ("default", "debug")}
    assert {part for each in rounds for part in each.parts} == set(torture.GUEST)
    assert {each.beside for each in rounds} == {"", *torture.HOST}


def test_failures(run):
    """The first failure ends it, and says how to replay it; so does a VM that dies, a failure
    beside it, and a part that says nothing."""
    status, out = run(PASSES, PASSES, FAILS, SEED=11, SECS=9)
    assert status == 1 and out.endswith("\n2 passed, 1 failed\n")
    assert re.search("(?s)not ok - .*as it should be.*for this reason", out)
    assert 'make torture SEED=11 ROUND=3 SECS=9 KERNELS="default debug"' in out
    assert "the VM ends with status 125" in run(PASSES, status=DIED, ROUND=3)[1]
    assert "ends with status 1" in run(PASSES, beside=1, ROUND=3)[1]
    assert run("", ROUND=1)[1].endswith("\n0 passed, 1 failed\n")
    assert run(PASSES, MINUTES=0)[0] == 1
    with pytest.raises(Failure, match="not a number: an-hour"):
        run(PASSES, MINUTES="an-hour")
