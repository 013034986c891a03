# SPDX-License-Identifier: GPL-2.0
"""A signal that ends the driver: nothing that it began goes on."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time
import types

import pytest

from hyptrace import process, tree
from hyptrace.machine import ROOT, scaled


def running(mark):
    """The processes that have the mark in their environment."""
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"MARK={mark}".encode() in path.read_bytes().split(b"\0"):
                yield path


@pytest.mark.fast
@pytest.mark.host
def test_ended(monkeypatch, tmp_path):
    """What a command leaves behind, and what ignores SIGTERM, ends; an edited file is put back."""
    monkeypatch.setattr(process, "GRACE", 1)
    monkeypatch.setattr(tree.base, "read", lambda: types.SimpleNamespace(tree=tmp_path))
    (tmp_path / "file").write_text("original", "utf-8")
    os.utime(tmp_path / "file", (1, 1))
    with tree.edited({"file": "edited"}):
        process.run(["sh", "-c", "cat file; (trap '' TERM; sleep 1000; sleep 1000) >&- 2>&- &"],
                    cwd=tmp_path, env=os.environ | {"MARK": str(tmp_path)})
    assert not list(running(tmp_path)) and (tmp_path / "file").stat().st_mtime == 1
    assert (tmp_path / "file").read_text("utf-8") == "original"


@pytest.mark.fast
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
