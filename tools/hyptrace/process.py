# SPDX-License-Identifier: GPL-2.0
"""Commands, which end with all that they began."""

import contextlib
import fcntl
import os
import signal
import subprocess
import time

from hyptrace.machine import BUILD, ROOT, Failure, note, scaled

ENDING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
GRACE = 15      # seconds from SIGTERM to SIGKILL
SHOWN = 30      # lines of what failed


def end_on_signals():
    """A signal that ends us raises KeyboardInterrupt, once: all that was begun ends, in order."""
    def interrupted(number, _frame):
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt(number)
    for each in ENDING:
        signal.signal(each, interrupted)


def _end_group(leader):
    """End the processes of a group."""
    for number in signal.SIGTERM, signal.SIGKILL:
        late = time.monotonic() + GRACE
        # What has gone is not found, and what is root's is not permitted.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader.pid, number)
            while time.monotonic() < late:
                time.sleep(0.02)
                leader.poll()
                os.killpg(leader.pid, 0)


@contextlib.contextmanager
def started(command, **options):
    """A process in a session of its own, which ends with all that it began."""
    options = {"stdin": subprocess.DEVNULL, "start_new_session": True} | options
    with subprocess.Popen([str(word) for word in command], **options) as child:
        try:
            yield child
        finally:
            if options["start_new_session"]:
                _end_group(child)
            child.terminate()


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
    """Run a long command with its output in a log; true if it succeeded."""
    note(f"{what}; its output is in {log.relative_to(ROOT)}")
    with open(log, "wb") as out:
        return not run(command, check=False, stdout=out, **options).returncode


@contextlib.contextmanager
def lock(name, where=BUILD):
    """Only one at a time may change what stands there by that name."""
    with open(where / f".lock-{name}", "w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
