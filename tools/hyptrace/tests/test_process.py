# SPDX-License-Identifier: GPL-2.0
"""An interrupt, or a signal that ends the driver: nothing that it began goes on, no lock is held,
the tree is whole."""

import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from hyptrace.machine import ROOT, scaled

# Processes of it have time to clean up; one ignores that it is to end, one has left the session.
PROGRAM = """
import pathlib, types
from hyptrace import machine, process
machine.BUILD = process.BUILD = pathlib.Path.cwd()
process.GRACE = 3
from hyptrace import tree
tree.base.read = lambda: types.SimpleNamespace(tree=machine.BUILD)
process.end_on_signals()
with process.lock("things"), tree.edited({"file": "edited"}):
    process.logged(["sh", "-c", '''(trap "" TERM; sleep 1000; sleep 1000) &
setsid sleep 1000 &
trap "sleep 1; touch cleaned; exit" TERM
echo ready >ready
sleep 1000 & wait'''], machine.BUILD / "log", "lines")
"""


def running(mark):
    """The processes that have the mark in their environment."""
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"MARK={mark}".encode() in path.read_bytes().split(b"\0"):
                yield path


def interrupted(number, command, directory, ready, text):
    """Send a signal to its group, as a terminal does, when a file has the text; its status."""
    with open(directory / "said", "wb") as said, subprocess.Popen(
            command, cwd=directory, stdout=said, stderr=said, start_new_session=True,
            env=os.environ | {"MARK": str(directory), "PYTHONPATH": str(ROOT / "tools")}) as child:
        end = time.monotonic() + scaled(300)
        while not (ready.exists() and text in ready.read_text(encoding="utf-8")):
            assert time.monotonic() < end and child.poll() is None, "it is ready"
            time.sleep(0.1)
        os.killpg(child.pid, number)
        status = child.wait(scaled(60))
    assert not list(running(directory))
    return status


@pytest.mark.fast
@pytest.mark.host
@pytest.mark.seconds(6)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(tmp_path, number):
    """A long command, with a lock and the tree edited."""
    file = tmp_path / "file"
    file.write_text("original", encoding="utf-8")
    os.utime(file, (1, 1))
    assert interrupted(number, [sys.executable, "-B", "-c", PROGRAM], tmp_path, tmp_path / "ready",
                       "ready")
    assert file.read_text(encoding="utf-8") == "original" and file.stat().st_mtime == 1
    assert (tmp_path / "cleaned").exists()
    with open(tmp_path / ".lock-things", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.fast
@pytest.mark.seconds(10)
def test_make_vm(kernel, tmp_path):
    """QEMU ends with `make vm'; what the script says has come out as it was written."""
    kernel()
    (tmp_path / "script").write_text("echo first; while :; do sleep 1; done\n", encoding="utf-8")
    assert interrupted(signal.SIGINT, ["make", "-C", ROOT, "vm", f"SCRIPT={tmp_path}/script"],
                       tmp_path, tmp_path / "said", "first\n")
