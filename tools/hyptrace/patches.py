# SPDX-License-Identifier: GPL-2.0
"""What the repository has of a series: the mails of patches/TOPIC, in the order of `series', and
the new files, which stand at their path in the kernel; `files' says which patch adds which."""

import os
import re
import subprocess

from hyptrace.base import PATCHES, TOPS, lines, read
from hyptrace.machine import ROOT, Failure, option


def topics():
    """Those of the base, or the one that TOPIC names."""
    wanted = option("TOPIC").split()
    for topic in wanted:
        if not (PATCHES / topic / "series").exists():
            raise Failure(f"no topic {topic}: there is no patches/{topic}/series")
    return wanted or read().topics


def series(topic):
    """The names of a topic's patches, in order."""
    names = lines(PATCHES / topic / "series")
    for name in names:
        if not (PATCHES / topic / name).exists():
            raise Failure(f"patches/{topic}/series names {name}: no such file")
    return names


def repository_files():
    """All new files: git's, but not what it ignores; without git, all that are there."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "--", *TOPS]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = listed.stdout.splitlines() if listed.returncode == 0 else [
        str(path.relative_to(ROOT)) for top in TOPS for path in (ROOT / top).rglob("*")]
    return sorted({name for name in found
                   if not name.startswith("tools/hyptrace/") and (ROOT / name).is_file()})


def claims(topic):
    """The lines of a topic's `files': (patch, path); a path that ends in / stands for all below."""
    return [tuple(line.split(None, 1)) for line in lines(PATCHES / topic / "files")]


def covers(path, name):
    """A line of `files' means this file."""
    return name == path or (path.endswith("/") and name.startswith(path))


def assigned():
    """Each new file with its topic and patch: each has one, and each line has a file."""
    found, names = {}, repository_files()
    for topic in read().topics:
        known = series(topic)
        for patch, path in claims(topic):
            if patch not in known:
                raise Failure(f"patches/{topic}/files: {patch} is not in the series")
            mine = [name for name in names if covers(path, name)]
            if not mine:
                raise Failure(f"patches/{topic}/files: there is no {path}")
            for name in mine:
                if name in found:
                    raise Failure(f"patches/*/files assign {name} to two patches")
                found[name] = topic, patch
    for name in names:
        if name not in found:
            raise Failure(f"patches/*/files assign {name} to no patch")
    return found


def new_files(topic=None):
    """The new files, of all topics or of one."""
    return sorted(name for name, (of, _) in assigned().items()
                  if of == topic or (not topic and of in topics()))


def _added(name):
    """A diff that adds a file."""
    path = ROOT / name
    mode = "100755" if os.access(path, os.X_OK) else "100644"
    head = f"diff --git a/{name} b/{name}\nnew file mode {mode}\n"
    text = path.read_text("utf-8")
    if not text:
        return head + "index 0000000..e69de29\n"
    count = len(text.splitlines())
    body = "".join(f"+{line}\n" for line in text.split("\n")[:count])
    end = "" if text.endswith("\n") else "\\ No newline at end of file\n"
    return (f"{head}--- /dev/null\n+++ b/{name}\n@@ -0,0 +1{f',{count}' if count > 1 else ''} @@\n"
            f"{body}{end}")


def mails(topic):
    """The patches of a topic as whole mails, with their new files: [(name, text)]."""
    owners = assigned()
    return [(patch, (PATCHES / topic / patch).read_text("utf-8") + "\n" + "".join(
        _added(name) for name, owner in owners.items() if owner == (topic, patch)))
            for patch in series(topic)]


def touched(topic=None):
    """The kernel's own files that the patches change."""
    found = set()
    for each in [topic] if topic else topics():
        for patch in series(each):
            text = (PATCHES / each / patch).read_text("utf-8")
            found |= set(re.findall(r"^diff --git a/(\S+) b/", text, re.M))
    return sorted(found)


def options():
    """The options that our files and patches add."""
    found = []
    for path in PATCHES.glob("*/*.patch"):
        found += re.findall(r"^\+(?:menu)?config (\w+)", path.read_text("utf-8"), re.M)
    for name in repository_files():
        if "/Kconfig" in name:
            found += re.findall(r"^(?:menu)?config (\w+)", (ROOT / name).read_text("utf-8"), re.M)
    return found
