# SPDX-License-Identifier: GPL-2.0
"""Commands, which end with all that they began."""

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import time

from hyptrace.machine import BUILD, Failure, note, scaled

PR_SET_CHILD_SUBREAPER = 36
ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
GRACE = 15      # seconds from SIGTERM to SIGKILL
BEAT = 5        # seconds between two lines of progress
SHOWN = 30      # lines of what failed


def _table():
    """All processes that run: (pid, parent, session)."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                state, parent, _, session = stat.read().rpartition(")")[2].split()[:4]
            if state != "Z":
                yield int(pid), int(parent), int(session)


def below(root, session=None):
    """The processes that descend from one, or are of its session."""
    table, found, size = list(_table()), {root}, 0
    while size != len(found):
        size = len(found)
        found |= {pid for pid, parent, of in table if parent in found or of == session}
    return found & {pid for pid, _, _ in table} - {os.getpid()}


def end(root, session=None):
    """End them, as far as we may: root's own processes follow their sudo."""
    start, asked = time.monotonic(), set()
    while pids := below(root, session):
        took = time.monotonic() - start
        if took > 2 * GRACE:
            return
        for pid in pids if took > GRACE else pids - asked:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL if took > GRACE else signal.SIGTERM)
        asked |= pids
        time.sleep(0.05)


def end_on_signals():
    """A signal that ends us raises KeyboardInterrupt, once: all that was begun ends, and is put
    back, in order. What a command leaves behind becomes a child of ours, not of process 1."""
    def interrupted(number, _frame):
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt(number)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for each in ENDING:
        signal.signal(each, interrupted)


@contextlib.contextmanager
def started(command, **options):
    """A process in a session of its own, which ends with all that it began."""
    options = {"stdin": subprocess.DEVNULL, "start_new_session": True} | options
    with subprocess.Popen([str(word) for word in command], **options) as child:
        try:
            yield child
        finally:
            end(child.pid, child.pid)


def run(command, timeout=None, check=True, **options):
    """Run a command; the result has its output, errors included, as text."""
    given = options.pop("input", None)
    options = {"stdin": subprocess.DEVNULL if given is None else subprocess.PIPE,
               "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True,
               "errors": "replace"} | options
    with started(command, **options) as child:
        try:
            out, err = child.communicate(given, timeout and scaled(timeout))
        except subprocess.TimeoutExpired as late:
            raise Failure(f"{command[0]}: no end after {late.timeout:.0f} s") from late
    if check and child.returncode:
        said = "\n".join(((err or "") + (out or "")).splitlines()[-SHOWN:])
        raise Failure(f"{' '.join(map(str, command))}: exit status {child.returncode}\n{said}")
    return subprocess.CompletedProcess(command, child.returncode, out, err)


def logged(command, log, what, **options):
    """Run a long command with its output in a log, and show that it advances: how many lines
    it has put out. True if it succeeded."""
    with open(log, "wb") as out, \
            started(command, stdout=out, stderr=subprocess.STDOUT, **options) as child:
        while True:
            try:
                return child.wait(BEAT) == 0
            except subprocess.TimeoutExpired:
                note(f"{what}: {log.read_bytes().count(10)}")


@contextlib.contextmanager
def lock(name):
    """Only one at a time may change what stands under build/ by that name."""
    with open(BUILD / f".lock-{name}", "w", encoding="utf-8") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(f"waiting for another run that makes {name}")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
