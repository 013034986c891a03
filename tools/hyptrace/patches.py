# SPDX-License-Identifier: GPL-2.0
"""What the repository has of a series: the mails of patches/TOPIC, in the order of `series', and
the new files, which stand at their path in the kernel; `files' says which patch adds which."""

import os
import re

from hyptrace import process
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
    listed = process.run(["git", "ls-files", "-co", "--exclude-standard", "--", *TOPS], cwd=ROOT,
                         check=False)
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
        for patch, path in claims(topic):
            mine = [name for name in names if covers(path, name)]
            if not mine or patch not in series(topic):
                raise Failure(f"patches/{topic}/files: no such patch or file: {patch} {path}")
            if twice := found.keys() & mine:
                raise Failure(f"patches/*/files assign {min(twice)} to two patches")
            found |= dict.fromkeys(mine, (topic, patch))
    if lacking := [name for name in names if name not in found]:
        raise Failure(f"patches/*/files assign {lacking[0]} to no patch")
    return found


def new_files(topic=None):
    """The new files, of all topics or of one."""
    wanted = [topic] if topic else topics()
    return sorted(name for name, (of, _) in assigned().items() if of in wanted)


def _added(name):
    """A diff that adds a file."""
    path = ROOT / name
    mode = "100755" if os.access(path, os.X_OK) else "100644"
    head = f"diff --git a/{name} b/{name}\nnew file mode {mode}\n"
    text = re.findall(r".*\n|.+\Z", path.read_text("utf-8"))
    if not text:
        return head + "index 0000000..e69de29\n"
    end = "" if text[-1].endswith("\n") else "\n\\ No newline at end of file\n"
    count = f",{len(text)}" if len(text) > 1 else ""
    where = f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1{count} @@\n"
    return f"{head}{where}+{'+'.join(text)}{end}"


def mails(topic):
    """The patches of a topic as whole mails, with their new files: [(name, text)]."""
    added = {}
    for name, owner in assigned().items():
        added[owner] = added.get(owner, "") + _added(name)
    return [(patch, f"{text}\n{added.get((topic, patch), '')}")
            for patch, text in texts(topic).items()]


def texts(topic):
    """The patches of a topic as they are in the repository, without new files."""
    return {name: (PATCHES / topic / name).read_text("utf-8") for name in series(topic)}


def touched(topic=None):
    """The kernel's own files that the patches change."""
    whole = "".join(text for each in [topic] * bool(topic) or topics()
                    for text in texts(each).values())
    return sorted(set(re.findall(r"^diff --git a/(\S+) b/", whole, re.M)))


def options():
    """The options that our files and patches add."""
    kconfig = [ROOT / name for name in repository_files() if "/Kconfig" in name]
    return [option for path in [*PATCHES.glob("*/*.patch"), *kconfig] for option in
            re.findall(r"^\+?(?:menu)?config (\w+)", path.read_text("utf-8"), re.M)]
