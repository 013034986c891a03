# SPDX-License-Identifier: GPL-2.0
"""What this machine's apt knows: its architecture, and its mirrors."""

import functools
import platform
import re

from hyptrace import process
from hyptrace.machine import Failure


@functools.cache
def architecture():
    return process.run(["dpkg", "--print-architecture"]).stdout.strip()


def sources(release):
    """The lines of sources.list for a release or "machine"; bookworm's updates have its 6.12."""
    own = platform.freedesktop_os_release()["VERSION_CODENAME"]
    release = own if release == "machine" else release
    said = process.run(["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)",
                        "Created-By: Packages"]).stdout
    mirrors = dict(re.findall(r"^(\S+) (?!cdrom:)(.*)", said, re.M))
    if own not in mirrors:
        raise Failure("the machine's apt has no mirror of Debian's")
    updates = mirrors.get(f"{own}-security") if release in (own, "bookworm") else None
    return [f"deb {mirrors[own]} {release} main"] + (
        [f"deb {updates} {release}-security main"] if updates else [])
