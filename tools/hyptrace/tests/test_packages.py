# SPDX-License-Identifier: GPL-2.0
"""Missing packages are installed, or the command to do so is named; which QEMU runs the VMs. The
package tools are played: what matters is what is asked of them."""

import os
import re
import shutil
import subprocess
import time

import pytest

from hyptrace import apt, image
from hyptrace.machine import ROOT, TOOLS, Failure

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(5)]

INSTALL = "install -y --no-install-recommends "
ASKED = INSTALL + "cpio python3 qemu-system-arm"
NO_SUDO = {"id": "echo 1000", "sudo": "exit 1"}
OFFLINE = "echo 'W: Failed to fetch the list' >&2; echo 'E: no package'; exit 100"
QEMU_10 = "echo '  Candidate: 1:10.0.2+dfsg-1'"
# The programs that are played, what deps is asked for, the age of apt's lists in days; what is
# asked of apt, and what deps says
CASES = {
    "root installs what is missing": ({}, "vm qemu", 0, [ASKED], ""),
    "without sudo, the command is named": (
        NO_SUDO, "vm qemu", 0, [], "run as root: apt-get install cpio python3 qemu-system-arm"),
    "sudo is used, and proxies reach apt through it": (
        {"id": "echo 1000", "apt-get": "ask; echo $http_proxy $HTTPS_PROXY >>asked",
         "sudo": '[ "$1" = -n ] || exec env -i PATH="$PATH" "$@"'}, "vm qemu", 0,
        [ASKED, "http://a:1 http://b:2"], ""),
    "the cause is named": (
        {"apt-get": OFFLINE}, "vm qemu", 0, [],
        "can't install cpio python3 qemu-system-arm: Failed to fetch the list"),
    "missing lists are fetched once": (
        {"apt-get": "ask; [ $1 = update ] && : >updated; [ -e updated ]"}, "vm qemu", 0,
        [ASKED, "update", ASKED], ""),
    "lists older than a day are renewed": ({}, "refresh", 2, ["update"], ""),
    "younger ones are not": ({}, "refresh", 0, [], ""),
    "without a network, old lists do": (
        {"apt-get": OFFLINE}, "refresh", 2, [],
        "hyptrace: apt's lists are not all renewed; going on with them: Failed to fetch the list"),
    "the lists, which know QEMU's version, come first": (
        {"apt-cache": f"[ ! -e updated ] || {QEMU_10}",
         "apt-get": "ask; [ $1 != update ] || : >updated"}, "goals vm", 0, ["update", "install"],
        " qemu-system-arm "),
    "a QEMU that is too old is not installed": (
        {"apt-cache": "echo '  Candidate: 1:7.2+dfsg-7+deb12u18'",
         "dpkg-query": "for p; do [ $p = qemu-system-arm ] || echo installed all $p; done"},
        "goals vm", 0, [], ""),
    "what is there is not installed; what is for another machine, or was removed, is": (
        {"dpkg-query": "echo installed armhf cpio; echo config-files all python3\n"
                       "echo installed $(dpkg --print-architecture) qemu-system-arm"}, "vm qemu",
        0, [INSTALL + "cpio python3"], ""),
}


class Played:
    """A repository with deps, and a machine whose programs say what a test gives them."""

    def __init__(self, tmp):
        self.tmp, self.asked, self.err = tmp, [], ""
        (tmp / "lists/partial").mkdir(parents=True)
        self.deps = self.file("repo/tools/hyptrace/deps", (TOOLS / "deps").read_text("utf-8"))
        self.play({"dpkg-query": "exit 1", "id": "echo 0", "apt-get": "ask", "apt-cache": QEMU_10})

    def file(self, name, text):
        """A file of the test's."""
        path = self.tmp / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o755)
        return path

    def play(self, programs):
        """Stand in for programs; `ask' notes what they were asked."""
        for name, text in programs.items():
            text = re.sub(r"\bask\b", 'echo "$*" >>asked', text)
            self.file(f"bin/{name}", f"#!/bin/sh\n{text}\n")

    def run(self, words, os_release="ID=debian", **env):
        """Ask deps for something; what it says. If it fails, that is one line."""
        asked = self.file("asked", "")
        env = {"PATH": f"{self.tmp}/bin:{os.environ['PATH']}", "LISTS": f"{self.tmp}/lists",
               "OS_RELEASE": str(self.file("os-release", os_release)), "http_proxy": "http://a:1",
               "HTTPS_PROXY": "http://b:2", "SET": "", "TESTS": "", "CONFIG": ""} | env
        done = subprocess.run(["/bin/sh", self.deps, *words.split()], text=True, check=False,
                              env=os.environ | env, stdin=-3, capture_output=True, cwd=self.tmp)
        self.asked = asked.read_text("utf-8").splitlines()
        assert not done.returncode or len(re.findall("^(?!hyptrace: ).", done.stderr, re.M)) == 1
        return done.stderr


@pytest.fixture(name="played")
def _played(tmp_path):
    """A machine with nothing installed."""
    return Played(tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_deps(played, name):
    """What is asked of apt, and what the user reads."""
    programs, words, days, asked, said = CASES[name]
    for path in "lists", "lists/partial":
        os.utime(played.tmp / path, (time.time() - days * 86400,) * 2)
    played.play(programs)
    assert said in played.run(words) and len(played.asked) == len(asked)
    assert all(found.startswith(each) for found, each in zip(played.asked, asked))
    if days and said:    # The next attempt has time.
        assert not played.run(words)


@pytest.mark.parametrize("goal, env, there, missing", [
    ("run", {}, "make git bison flex cpio qemu-system-arm ccache python3 mmdebstrap", "lld g++"),
    ("vm", {"CONFIG": "x86", "DEBUG": "1"}, "qemu-system-x86 gdb-multiarch", "g++"),
    ("check", {"SET": "fast,variants"}, "lld shellcheck python3-pytest", "mtools"),
    ("check", {"SET": "deb"}, "g++ mtools", ""),
    ("check", {"TESTS": "boot compile.cl*"}, "lld g++", "mtools"),
])
def test_goals(played, goal, env, there, missing):
    """All that a target of the Makefile leads to is in one call of apt."""
    played.run(f"goals {goal}", **env)
    [asked] = map(str.split, played.asked)
    assert set(there.split()) <= set(asked) and not set(missing.split()) & set(asked)


@pytest.mark.parametrize("tool, said", [("", ""), ("none", "run: no TOOL none: ")])
def test_arguments(tool, said):
    """`make run` looks at its arguments before it builds or boots anything."""
    done = subprocess.run(["make", "-s", "arguments", f"TOOL={tool}"], cwd=ROOT, check=False,
                          capture_output=True, text=True)
    assert bool(done.returncode) == bool(said) and not done.stdout
    assert done.stderr.startswith(said) and bool(done.stderr) == bool(said)


def test_other_system(played):
    """Another system, or a machine without apt, is one line, and nothing is asked of it."""
    for name in "sh", "dirname":
        played.file(f"none/{name}", f'#!/bin/sh\nexec {shutil.which(name)} "$@"\n')
    for name, path in ("ubuntu", {}), ("debian", {"PATH": f"{played.tmp}/none"}):
        said = played.run("goals run", os_release=f"ID={name}\nPRETTY_NAME='Some 1'\n", **path)
        assert not played.asked and "and this is Some 1: run it in a container" in said


@pytest.mark.parametrize("installed, offered, trixie, found, said", [
    ("8.1.0", "", True, "qemu-system-aarch64", ""),
    ("7.2.9", "1:10.0.2+dfsg-7+deb12u18", True, "qemu-system-aarch64", ""),
    ("7.2.9", "1:7.2+dfsg-7", True, "ld-linux-machine.so.2", "using Debian 13's"),
    ("7.2.9", "", False, "qemu-system-aarch64", "using this machine's QEMU: events may stay off"),
])
def test_qemu(played, monkeypatch, capsys, installed, offered, trixie, found, said):
    """The machine's QEMU, if it is new enough; the one that apt installs, if that is; else Debian
    13's. Where that can't be had, the machine's, with a warning."""
    # pylint: disable=too-many-arguments
    def suite(*_):
        """Debian 13's QEMU"""
        if not trixie:
            raise Failure("can't fetch it")
        return played.file("root/usr/lib/ld-linux-machine.so.2", "").parents[2]

    steps = []
    played.play({"qemu-system-aarch64": f"echo 'QEMU emulator version {installed} (Debian)'"})
    for name, value in {"suite": suite, "BUILD": played.tmp, "need": steps.append}.items():
        monkeypatch.setattr(image, name, value)
    monkeypatch.setattr(apt, "offered", lambda _: offered)
    monkeypatch.setenv("PATH", f"{played.tmp}/bin:/usr/bin:/bin")
    assert image.qemu.__wrapped__()[0].endswith(found) and said in capsys.readouterr().err
    assert steps == ([] if "ld-" in found else ["qemu"])
