# SPDX-License-Identifier: GPL-2.0
"""What the patches are for: a kernel of which Debian has the source."""

import functools
import re
from types import SimpleNamespace

from hyptrace.machine import BUILD, ROOT, TOOLS, Failure, option

DEFAULT = "6.12"
PATCHES = ROOT / "patches"
# Where new files stand
TOPS = "arch", "include", "kernel", "tools", "virt", "Documentation"


@functools.cache
def read(name=""):
    """A base's file: package, oldest, known, and the list of topics; with the name and the tree."""
    name = name or option("BASE", DEFAULT)
    path = TOOLS / "bases" / name
    if not path.is_file():
        bases = " ".join(sorted(each.name for each in path.parent.iterdir()))
        raise Failure(f"no base {name}: there are {bases}")
    base = SimpleNamespace(**dict(re.findall(r"^(\w+) = (.*)$", path.read_text("utf-8"), re.M)))
    base.name, base.topics = name, base.topics.split()
    base.tree = BUILD / ("tree" if name == DEFAULT else f"tree-{name}")
    return base


def lines(path):
    """The lines of a file, without comments."""
    text = path.read_text("utf-8") if path.exists() else ""
    return [line for line in (re.sub(r"\s*#.*", "", each) for each in text.splitlines()) if line]


def numbers(version):
    """What a version compares by."""
    return tuple(map(int, re.findall(r"\d+", version)))
