# SPDX-License-Identifier: GPL-2.0
"""What the patches are for: a kernel of which Debian has the source."""

import functools
import re
from types import SimpleNamespace

from hyptrace.machine import BUILD, ROOT, TOOLS

PATCHES = ROOT / "patches"
# Where new files stand
TOPS = "arch", "include", "kernel", "tools", "virt", "Documentation"


@functools.cache
def read():
    """The base's file: package, oldest, known, and the list of topics; with the tree."""
    text = (TOOLS / "bases/6.12").read_text("utf-8")
    base = SimpleNamespace(**dict(re.findall(r"^(\w+) = (.*)$", text, re.M)), tree=BUILD / "tree")
    base.topics = base.topics.split()
    return base


def numbers(version):
    """What a version compares by."""
    return tuple(map(int, re.findall(r"\d+", version)))
