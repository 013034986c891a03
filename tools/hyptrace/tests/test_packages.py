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
from hyptrace.machine import TOOLS, Failure

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(5)]

ASKED = "install -y --no-install-recommends cpio python3 qemu-system-arm"
CANNOT = "can't install cpio python3 qemu-system-arm: "
NO_SUDO = {"id": "echo 1000", "sudo": "exit 1"}
OFFLINE = "echo 'W: Failed to fetch the list' >&2; echo 'E: no package'; exit 100"
QEMU_10 = "echo '  Candidate: 1:10.0.2+dfsg-1'"
NOT_RENEWED = "hyptrace: apt's lists are not all renewed; going on with them: "
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
        {"apt-get": OFFLINE}, "vm qemu", 0, [], CANNOT + "Failed to fetch the list"),
    "lists that can't be renewed are the cause": (
        {"apt-get": "[ $1 != update ] || exec echo 'W: Failed to fetch old'; " + OFFLINE},
        "vm qemu", 0, [], CANNOT + "Failed to fetch old"),
    "missing lists are fetched once": (
        {"apt-get": "ask; [ $1 = update ] && : >updated; [ -e updated ]"}, "vm qemu", 0,
        [ASKED, "update", ASKED], ""),
    "lists older than a day are renewed": ({}, "refresh", 2, ["update"], ""),
    "younger ones are not": ({}, "refresh", 0, [], ""),
    "without a network, old lists do": (
        {"apt-get": "ask; echo 'E: no network'; exit 100"}, "refresh", 2, ["update"],
        f"can't fetch apt's lists: no network\n{NOT_RENEWED}no network"),
    "a list that is not renewed is named": (
        {"apt-get": "echo 'W: Failed to fetch a list'"}, "refresh", 2, [],
        NOT_RENEWED + "Failed to fetch a list"),
    "without sudo, old lists do": (
        NO_SUDO, "refresh", 2, [], f"run as root: apt-get update\n{NOT_RENEWED}"),
    "the lists, which know QEMU's version, come first": (
        {"apt-cache": f"[ ! -e updated ] || {QEMU_10}",
         "apt-get": "ask; [ $1 != update ] || : >updated"}, "goals vm", 0, ["update", "install"],
        " qemu-system-arm "),
    "a target that needs nothing": ({}, "goals help", 0, [], ""),
    "a package of another architecture is missing": (
        {"dpkg-query": "for p in cpio python3; do echo installed armhf $p; done"}, "vm", 0,
        ["install -y --no-install-recommends cpio python3"], ""),
    "so is one that was removed": (
        {"dpkg-query": "echo 'not-installed  cpio'; echo 'config-files all python3'"}, "vm", 0,
        ["install -y --no-install-recommends cpio python3"], ""),
    "one of this machine's too is not": (
        {"dpkg-query": "for p in cpio python3; do echo installed armhf $p;"
                       "echo installed $(dpkg --print-architecture) $p; done"}, "vm", 0, [], ""),
    "one of all is not": (
        {"dpkg-query": "for p in cpio python3; do echo installed all $p; done"}, "vm", 0, [], ""),
}


class Played:
    """A repository with deps, and a machine whose programs say what a test gives them."""

    def __init__(self, tmp):
        self.tmp, self.asked, self.err, self.failed = tmp, [], "", 0
        (tmp / "lists/partial").mkdir(parents=True)
        self.repo("repo")
        self.play({"dpkg-query": "exit 1", "id": "echo 0", "apt-get": "ask", "apt-cache": QEMU_10})

    def repo(self, name):
        """A repository by that name, to be asked from then on."""
        self.deps = self.file(f"{name}/tools/hyptrace/deps", (TOOLS / "deps").read_text("utf-8"))

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

    def run(self, words, before=("sh", "-c"), os_release="ID=debian", **env):
        """Ask deps for something; the words that it asked of apt."""
        asked = self.file("asked", "")
        env = {"PATH": f"{self.tmp}/bin:{os.environ['PATH']}", "LISTS": f"{self.tmp}/lists",
               "OS_RELEASE": str(self.file("os-release", os_release)), "http_proxy": "http://a:1",
               "HTTPS_PROXY": "http://b:2", "SET": "", "TESTS": "", "CONFIG": ""} | env
        done = subprocess.run([*before, f"/bin/sh '{self.deps}' {words}"], text=True, check=False,
                              env=os.environ | env, stdin=-3, capture_output=True, cwd=self.tmp)
        self.err, self.failed = done.stderr, done.returncode
        self.asked = asked.read_text("utf-8").splitlines()
        # What fails is one line, beside those of progress.
        assert not self.failed or len(re.findall("^(?!hyptrace: ).", self.err, re.M)) == 1
        return " ".join(self.asked).split()


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
    played.run(words)
    assert len(played.asked) == len(asked) and said in played.err, played.err
    assert all(found.startswith(each) for found, each in zip(played.asked, asked))
    assert bool(played.failed) == (words == "vm qemu" and not asked)
    if days and said:    # The next attempt has time.
        assert not played.run(words) and not played.err


def test_password(played):
    """sudo asks for its password once, at the terminal, before apt begins."""
    played.play({"id": "echo 1000", "sudo": """case $1 in
        -n) [ -e known ] ;;
        -v) echo password >>asked; : >known ;;
        *) exec "$@" ;;
        esac"""})
    terminal = ["script", "-qeO", "/dev/null", "-c"]
    assert [played.run("vm", terminal)[:2] for _ in range(2)] == [
        ["password", "install"], ["install", "-y"]]


@pytest.mark.parametrize("goal, env, there, missing", [
    ("run", {}, "make git bison flex cpio qemu-system-arm ccache python3 mmdebstrap", "lld g++"),
    ("run", {"TOOL": "perf-kvm"}, "g++", "lld"),
    ("vm", {"CONFIG": "x86", "DEBUG": "1"}, "qemu-system-x86 gdb-multiarch", "g++"),
    ("perf", {}, "mmdebstrap g++", "qemu-system-arm"),
    ("check", {}, "python3-pytest shellcheck", "lld g++"),
    ("check", {"SET": "fast,variants"}, "lld shellcheck", "mtools"),
    ("check", {"SET": "deb"}, "g++ mtools", ""),
    ("check", {"TESTS": "boot compile.cl*"}, "lld g++", "mtools"),
])
def test_goals(played, goal, env, there, missing):
    """All that a target of the Makefile leads to is in one call of apt."""
    asked = played.run(f"goals {goal}", **env)
    assert len(played.asked) == 1
    assert set(there.split()) <= set(asked) and not set(missing.split()) & set(asked)


def test_old_qemu(played):
    """A QEMU that is too old is not installed."""
    played.play({"apt-cache": "echo '  Candidate: 1:7.2+dfsg-7+deb12u18'"})
    assert "qemu-system-arm" not in played.run("goals vm")


def test_other_system(played):
    """Another system is one line, and nothing is asked of it."""
    assert not played.run("goals run", os_release="ID=ubuntu\nPRETTY_NAME='Ubuntu 24.04 LTS'\n")
    assert played.failed and "and this is Ubuntu 24.04 LTS: run it in a container" in played.err


def test_no_apt(played):
    """So is a machine without apt."""
    for name in "sh", "dirname":
        played.file(f"none/{name}", f'#!/bin/sh\nexec {shutil.which(name)} "$@"\n')
    played.run("goals run", os_release="ID=debian\nPRETTY_NAME=None", PATH=f"{played.tmp}/none")
    assert played.failed and "Debian 12 or 13" in played.err and "podman run" in played.err


def test_spaces(played):
    """So is a path with a space, which kbuild does not take."""
    played.repo("a b")
    played.run("goals run")
    assert played.failed and "no path with spaces" in played.err
    assert not (played.tmp / "a b/build").exists()


@pytest.mark.parametrize("installed, offered, trixie, found, said", [
    ("8.1.0", "1:7.2+dfsg-7", True, "qemu-system-aarch64", ""),
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
