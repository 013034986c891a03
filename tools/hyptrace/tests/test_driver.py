# SPDX-License-Identifier: GPL-2.0
"""The driver: what becomes of results; packages that are missing; a signal that ends it."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import types

import pytest

from hyptrace import check, process, results, tree
from hyptrace.machine import ROOT, TOOLS, scaled

pytestmark = pytest.mark.fast
GOOD = "1..2\nok 1 a\nok 2 b\n"
SUITE = "    # Subtest: suite\n    1..2\n    ok 1 a\n    "


@pytest.mark.host
@pytest.mark.parametrize("said, status, passed, failed", [
    (GOOD, "0", 2, 0), ("    not ok 1 - a subtest\n" + GOOD, "0", 2, 0),
    ("1..2\nok 1 a\nnot ok 2 b\n", "1", 1, 1), ("1..1\nok 1 # SKIP no\n", "0", 1, 0),
    ("1..0 # SKIP no\n", "0", 0, 1), ("ok 1 a\n", "0", 1, 1), ("1..2\nok 1 a\n", "0", 1, 1),
    (GOOD, "3", 2, 1), (GOOD, None, 2, 1),
    ("1..2\nx.sh: line 62: cksum: not found\nok 1 a\nok 2 b\n", "0", 2, 2),
    (GOOD + "# status 0\n# test y.sh\nlogin:\n", None, 2, 1),
    (f"{SUITE}ok 2 b\nok 1 suite\n", "KUnit", 2, 0), (f"{SUITE}\nok 1 suite\n", "KUnit", 1, 1),
    (f"{SUITE}ok 2 b # SKIP\nok 1 suite\n", "KUnit", 1, 1),
    (f"{SUITE}ok 2 b\nnot ok 1 suite\n", "KUnit", 2, 1), (f"{SUITE}ok 2 b\n", "KUnit", 2, 1)])
def test_results(said, status, passed, failed):
    """A test that does not end, keeps no plan, lacks a command or ends with an error has failed; so
    has a case of KUnit that is skipped."""
    if status == "KUnit":
        text = "".join(f"[    1.0] {line}\r\n" for line in said.splitlines())
        found = [each.passed for each in results.kunit(text, [])[:-1]]
    else:
        text = f"# test x.sh\n{said}" + (f"# status {status}\n" if status else "")
        found = [each.passed for each in results.read(text, "title")]
    assert found.count(True) == passed and found.count(False) == failed


@pytest.mark.host
@pytest.mark.parametrize("checks, statuses, line", [
    ("a passed, b skipped", [0, 5], "1 passed, 0 failed"),
    ("a skipped", [0, 5], "0 passed, 0 failed"),
    ("a passed, b failed", [0, 1], "1 passed, 1 failed"),
    ("a passed", [0, 3], "1 passed, 1 failed")])
def test_last_line(tmp_path, monkeypatch, capfd, checks, statuses, line):
    """A failure, nothing but skipped checks, or a pytest that breaks off fail the run."""
    monkeypatch.setattr(check, "RESULTS", tmp_path)
    check.record("t", [(name, how != "failed", "why", how == "skipped")
                       for name, how in map(str.split, checks.split(", "))], "")
    good = check._finish(0, statuses)    # pylint: disable=protected-access
    assert bool(good) == (line == "1 passed, 0 failed")
    assert capfd.readouterr().out.splitlines()[-1] == line
    assert (tmp_path / "junit.xml").read_text("utf-8").count("<testcase") == len(checks) // 8


@pytest.mark.host
def test_ci():
    """CI runs each set in turn, in less time than it has."""
    text = (ROOT / ".ci/run").read_text("utf-8")
    sets = re.search(r"^sets=\((.*)\)", text, re.M)[1].split()
    assert set(check.SETS) - set(sets) == {"fast", "fresh", "deb"}
    assert int(re.search(r"TIME_LIMIT=(\d+)", text)[1]) < 90 * 60


INSTALL, UPDATE = "satisfy python3, ", "update"
# The programs that are played; what is asked of apt, what deps says, and its exit status
DEPS = {
    "root installs what is missing": (
        {}, [INSTALL], "hyptrace: apt-get satisfy python3, ", 0),
    "what is there is not installed": ({"apt-get": "ASK"}, [], "", 0),
    "without sudo, the command is named": (
        {"id": "echo 1000", "sudo": "exit 1"}, [],
        "; run as root: apt-get --no-install-recommends satisfy 'python3, ", 1),
    "missing lists are fetched once, and the cause is named": (
        {"apt-get": "echo Inst; ASK; echo 'E: no package'; [ $1 = -s ] || [ $3 = update ]"},
        [INSTALL, UPDATE, INSTALL], ": E: no package", 1)}


@pytest.mark.host
@pytest.mark.seconds(2)
@pytest.mark.parametrize("name", DEPS)
def test_packages(tmp_path, name):
    """What is asked of apt, once for all steps, and what the user reads."""
    programs, asked, said, status = DEPS[name]
    for program, text in ({"id": "echo 0", "apt-get": "echo Inst; ASK"} | programs).items():
        text = text.replace("ASK", '[ $1 = -s ] || echo "$*" >>asked')
        (tmp_path / program).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        (tmp_path / program).chmod(0o755)
    (tmp_path / "asked").touch()
    done = process.run(["/bin/sh", shutil.copy(TOOLS / "deps", tmp_path), "run", "deb"],
                       check=False, cwd=tmp_path,
                       env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    found = (tmp_path / "asked").read_text("utf-8").splitlines()
    assert said in done.stdout and len(found) == len(asked) and done.returncode == status
    for line, each in zip(found, asked):
        assert line.startswith(f"-y --no-install-recommends {each}")
        assert each == UPDATE or "debhelper" in line


@pytest.mark.host
@pytest.mark.parametrize("target, mistake, said", [
    ("run", "TOOL=nonsense", "run: no TOOL nonsense: "),
    ("run", "BASE=7.3 TOOL=functions", "run: TOOL=functions: BASE=7.3 has no topic hyp-trace"),
    ("vm", "MODE=nonsense", "vm: no mode nonsense: protected, ")])
def test_mistake(target, mistake, said):
    """A mistake is refused first, before anything is built."""
    made = process.run(["make", "-n", target, *mistake.split()], cwd=ROOT).stdout.splitlines()
    assert [line.rpartition(" ")[2] for line in made if "-m hyptrace" in line][0] == target
    done = process.run(["make", target, *mistake.split()], timeout=60, check=False, cwd=ROOT)
    assert done.returncode and said in done.stdout


def running(mark):
    """The processes that have the mark in their environment."""
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"MARK={mark}".encode() in path.read_bytes().split(b"\0"):
                yield path


@pytest.mark.host
def test_ended(monkeypatch, tmp_path):
    """What a command leaves behind, and what ignores SIGTERM, ends; an edited file is put back."""
    monkeypatch.setattr(process, "GRACE", 1)
    monkeypatch.setattr(tree.patches, "base", lambda: types.SimpleNamespace(tree=tmp_path))
    (tmp_path / "file").write_text("original", "utf-8")
    os.utime(tmp_path / "file", (1, 1))
    with tree.edited({"file": "edited"}):
        process.run(["sh", "-c", "(trap '' TERM; sleep 1000; sleep 1000) >&- 2>&- &"],
                    env=os.environ | {"MARK": str(tmp_path)})
    assert not list(running(tmp_path)) and (tmp_path / "file").stat().st_mtime == 1
    assert (tmp_path / "file").read_text("utf-8") == "original"


@pytest.mark.seconds(10)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_make_vm(kernel, tmp_path, number):
    """QEMU ends with `make vm'; what the script says has come out as it was written."""
    kernel()
    script, said = tmp_path / "script", tmp_path / "said"
    script.write_text("echo first; while :; do sleep 1; done\n", encoding="utf-8")
    with open(said, "wb") as out, subprocess.Popen(
            ["/usr/bin/python3", "-B", "-m", "hyptrace", "vm"], stdout=out, stderr=out, cwd=ROOT,
            start_new_session=True, env=os.environ | {
                "MARK": str(tmp_path), "PYTHONPATH": "tools", "SCRIPT": str(script)}) as child:
        end = time.monotonic() + scaled(300)
        while "first\n" not in said.read_text(encoding="utf-8"):
            assert time.monotonic() < end and child.poll() is None, "it is ready"
            time.sleep(0.1)
        os.killpg(child.pid, number)    # as a terminal does
        assert child.wait(scaled(60)) and not list(running(tmp_path))
