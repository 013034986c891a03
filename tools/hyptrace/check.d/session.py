# SPDX-License-Identifier: GPL-2.0
"""A command with all that it begins, which ends with it."""

import ctypes
import os
import signal
import subprocess
import threading
import time

PR_SET_CHILD_SUBREAPER = 36
GRACE = 15  # seconds from SIGTERM to SIGKILL
beginning = threading.Lock()    # held while a command is begun; who keeps it ends that


def adopt_orphans():
    """What a test leaves behind becomes a child of ours."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def processes():
    """All processes: pid, state, parent and session."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue
        yield int(pid), fields[0], int(fields[1]), int(fields[3])


def below(root, session=None):
    """The processes that descend from one, or are of its session, and still run."""
    table = list(processes())
    found, grown = {root}, True
    while grown:
        more = {pid for pid, _, parent, of in table
                if pid not in found and (parent in found or (session and of == session))}
        found |= more
        grown = bool(more)
    return {pid for pid, state, _, _ in table if pid in found and state != "Z"} - {os.getpid()}


def end(root, session=None):
    """End what is below, as far as we may: root's own processes follow their sudo."""
    deadline = time.monotonic() + GRACE
    asked = set()
    while pids := below(root, session):
        late = time.monotonic() > deadline
        for pid in pids if late else pids - asked:
            try:
                os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
            except OSError:
                pass
        asked |= pids
        if time.monotonic() > deadline + GRACE:
            return
        time.sleep(0.05)


class Session:
    """A shell command in a session of its own; its output goes to a file, and to each
    line's reader."""

    def __init__(self, command, cwd, env, path, show):
        self.log = open(path, "w", encoding="utf-8", errors="replace")
        self.show = show
        with beginning:
            self.process = subprocess.Popen(
                ["sh", "-c", command], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, start_new_session=True, encoding="utf-8",
                errors="replace")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        """Pass lines on as they come."""
        for line in self.process.stdout:
            self.log.write(line)
            self.show(line)

    def wait(self, seconds):
        """Its exit status; None if it took longer, and was ended."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        end(self.process.pid, self.process.pid)
        self.process.wait()
        self.reader.join(GRACE)
        self.log.close()
        return status
