# SPDX-License-Identifier: GPL-2.0
"""Missing packages are installed, or the command to do so is named; which QEMU runs the VMs. The
package tools are played: what matters is what is asked of them."""

import os
import shutil
import subprocess

import pytest

from hyptrace import image, process
from hyptrace.machine import ROOT, TOOLS

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(2)]

INSTALL, UPDATE = "satisfy python3, ", "update"
# The programs that are played; what is asked of apt, and what deps says
CASES = {
    "root installs what is missing": ({}, [INSTALL], "hyptrace: apt-get satisfy python3, "),
    "what is there is not installed": ({"apt-get": "ASK"}, [], ""),
    "without sudo, the command is named": (
        {"id": "echo 1000", "sudo": "exit 1"}, [],
        "; run as root: apt-get --no-install-recommends satisfy 'python3, "),
    "missing lists are fetched once, and the cause is named": (
        {"apt-get": "echo Inst; ASK; echo 'E: no package'; [ $1 = -s ] || [ $3 = update ]"},
        [INSTALL, UPDATE, INSTALL], ": E: no package"),
}


@pytest.mark.parametrize("name", CASES)
def test_deps(tmp_path, name):
    """What is asked of apt, once for all steps, and what the user reads."""
    programs, asked, said = CASES[name]
    for program, text in ({"id": "echo 0", "apt-get": "echo Inst; ASK"} | programs).items():
        text = text.replace("ASK", '[ $1 = -s ] || echo "$*" >>asked')
        (tmp_path / program).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        (tmp_path / program).chmod(0o755)
    deps = shutil.copy(TOOLS / "deps", tmp_path)
    done = process.run(["/bin/sh", deps, "run", "deb"], check=False, cwd=tmp_path,
                       env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    log = tmp_path / "asked"
    found = log.read_text("utf-8").splitlines() if log.exists() else []
    assert said in done.stdout and len(found) == len(asked)
    for line, each in zip(found, asked):
        assert line.startswith(f"-y --no-install-recommends {each}")
        assert each == UPDATE or "debhelper" in line


@pytest.mark.parametrize("tool, said", [("", ""), ("none", "run: no TOOL none: ")])
def test_arguments(tool, said):
    """`make run` looks at its arguments before it builds or boots anything."""
    done = subprocess.run(["make", "-s", "arguments", f"TOOL={tool}"], cwd=ROOT, check=False,
                          capture_output=True, text=True)
    assert bool(done.returncode) == bool(said) and not done.stdout
    assert done.stderr.startswith(said) and bool(done.stderr) == bool(said)


@pytest.mark.parametrize("status, found", [(0, "qemu-system-aarch64"), (100, "ld-linux-x.so.2")])
def test_qemu(monkeypatch, tmp_path, status, found):
    """The machine's QEMU, if apt has one that is new enough; else Debian 13's."""
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "usr/lib/ld-linux-x.so.2").touch()
    monkeypatch.setattr(image, "suite", lambda *_: tmp_path)
    monkeypatch.setattr(image, "need", lambda _: None)
    monkeypatch.setattr(process, "run", lambda words, check: subprocess.CompletedProcess(
        words, status, ""))
    monkeypatch.setattr(image.apt, "architecture", lambda: "amd64")
    assert image.qemu.__wrapped__()[0].endswith(found)
