# SPDX-License-Identifier: GPL-2.0
"""What the repository has of a series: its base, a kernel of which Debian has the source; the mails
of patches/TOPIC, in the order of `series'; and the new files, which stand at their path in the
kernel: `files' says which patch adds which."""

import functools
import re
from types import SimpleNamespace

from hyptrace import process
from hyptrace.machine import BUILD, ROOT, TOOLS, Failure, option

PATCHES = ROOT / "patches"
# Where new files stand
TOPS = "arch", "include", "kernel", "tools", "virt", "Documentation"


@functools.cache
def base():
    """The base's file: package, oldest, known, and the list of topics; with the tree."""
    text = (TOOLS / "bases/6.12").read_text("utf-8")
    found = SimpleNamespace(**dict(re.findall(r"^(\w+) = (.*)$", text, re.M)), tree=BUILD / "tree")
    found.topics = found.topics.split()
    return found


def numbers(version):
    return tuple(map(int, re.findall(r"\d+", version)))


def topics():
    """Those of the base, or the one that TOPIC names."""
    wanted = option("TOPIC").split()
    if unknown := [topic for topic in wanted if not (PATCHES / topic / "series").exists()]:
        raise Failure(f"no topic {unknown[0]}: there is no patches/{unknown[0]}/series")
    return wanted or base().topics


def series(topic):
    return (PATCHES / topic / "series").read_text("utf-8").split()


def texts(topic):
    """The patches of a topic, without new files: {name: text}."""
    return {name: (PATCHES / topic / name).read_text("utf-8") for name in series(topic)}


def repository_files():
    listed = process.run(["git", "ls-files", "-co", "--exclude-standard", "--", *TOPS,
                          ":!tools/hyptrace"], cwd=ROOT).stdout.splitlines()
    return sorted(name for name in listed if (ROOT / name).is_file())


def assigned():
    """Each new file with its topic and patch."""
    found, names = {}, repository_files()
    for topic in base().topics:
        listed = (PATCHES / topic / "files").read_text("utf-8")
        for patch, path in re.findall(r"^(\S+) (\S+)$", listed, re.M):
            if path not in names or patch not in series(topic):
                raise Failure(f"patches/{topic}/files: no such patch or file: {patch} {path}")
            if path in found:
                raise Failure(f"patches/*/files assign {path} to two patches")
            found[path] = topic, patch
    if lacking := [name for name in names if name not in found]:
        raise Failure(f"patches/*/files assign {lacking[0]} to no patch")
    return found


def new_files(topic=None):
    """The new files, of all topics or of one."""
    wanted = [topic] if topic else topics()
    return sorted(name for name, (of, _) in assigned().items() if of in wanted)


def touched():
    whole = "".join(text for topic in topics() for text in texts(topic).values())
    return sorted(set(re.findall(r"^diff --git a/(\S+) b/", whole, re.M)))


def options():
    kconfig = [ROOT / name for name in repository_files() if "/Kconfig" in name]
    return [option for path in [*PATCHES.glob("*/*.patch"), *kconfig] for option in
            re.findall(r"^\+?(?:menu)?config (\w+)", path.read_text("utf-8"), re.M)]
