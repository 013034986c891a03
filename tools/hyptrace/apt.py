# SPDX-License-Identifier: GPL-2.0
"""What this machine's apt knows: its mirrors, what it offers, and why something can't be had."""

import functools
import platform
import re

from hyptrace import process
from hyptrace.machine import Failure


@functools.cache
def architecture():
    """This machine's architecture, by Debian's name."""
    return process.run(["dpkg", "--print-architecture"]).stdout.strip()


def mirror(archive=""):
    """The mirror that apt has of this machine's release, or of its archive "-security"."""
    wanted = platform.freedesktop_os_release().get("VERSION_CODENAME", "") + archive
    targets = process.run(["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)",
                           "Created-By: Packages"]).stdout
    found = re.search(rf"^{wanted} (?!cdrom:)(.*)", targets, re.M)
    return found[1] if found else ""


def sources(release, security=False):
    """The lines of sources.list for a release; "machine" is this one's, with its updates."""
    if release == "machine":
        release, security = platform.freedesktop_os_release()["VERSION_CODENAME"], True
    if not (uri := mirror()):
        raise Failure("the machine's apt has no mirror of Debian's")
    updates = mirror("-security") if security else ""
    return [f"deb {uri} {release} main"] + (
        [f"deb {updates} {release}-security main"] if updates else [])


def offered(package):
    """The version that apt would install; "" if there is none."""
    policy = process.run(["apt-cache", "policy", package], check=False).stdout
    found = re.search(r"^  Candidate: ([^(\s]\S*)", policy, re.M)
    return found[1] if found else ""


def upstream(version):
    """The numbers of a version, without what is Debian's: (10, 0, 2) of 1:10.0.2+dfsg-1."""
    return tuple(map(int, re.findall(r"\d+", re.match(r"(?:\d+:)?([\d.]*)", version)[1])))


def says(*logs):
    """The reason that apt gave in its logs; lists that failed come before what followed."""
    text = "".join(log.read_text("utf-8", "replace") for log in logs if log.exists())
    found = re.search(r"^(?:W: (?=Failed)|E: )(.*)", text, re.M)
    return found[1] if found else "apt has no such package"
