# SPDX-License-Identifier: GPL-2.0
"""hypstat of build/tree, built for this machine or for a VM; and the counts that it must find."""

import collections
import os
import re
import shutil

from hyptrace import image, process, tree
from hyptrace.machine import BUILD, cross_for, need

PROGRAM = BUILD / "hypstat/hypstat"
LIBRARIES = "libtracecmd", "libtracefs", "libtraceevent"


def make(*words, to=PROGRAM.parent, **how):
    """make in its directory; what it said."""
    need("check")
    to.mkdir(parents=True, exist_ok=True)
    with process.lock("hypstat"):
        return process.run(["make", "-s", f"-j{os.cpu_count()}", f"O={to}", "-C",
                            tree.make() / "tools/tracing/hypstat", *words], **how)


def say(*words):
    return process.run([PROGRAM, *words]).stdout


def cross(files):
    """Cross-build it for a VM, and add it with its libraries to what clients.trace_cmd() made."""
    to, root = BUILD / "hypstat-arm64", image.suite("machine", "hypstat", " ".join(
        f"{name}-dev" for name in LIBRARIES))
    libraries = root / "usr/lib/aarch64-linux-gnu"
    linked = " ".join(f"{libraries}/{name}.so.1" for name in LIBRARIES)
    make(f"CROSS_COMPILE={cross_for('arm64')}", f"LIBS={linked} -lpthread",
         "LDFLAGS=-Wl,--allow-shlib-undefined", to=to, env={
             **os.environ, "PKG_CONFIG_SYSROOT_DIR": str(root),
             "PKG_CONFIG_LIBDIR": str(libraries / "pkgconfig")})
    shutil.copy(to / "hypstat", files / "usr/bin")
    for name in LIBRARIES:
        shutil.copy(libraries / f"{name}.so.1", files / "usr/lib")


def counts(lines):
    """What is in the whole stays of a trace: a count of each name in hypstat's tables."""
    found, stay = collections.defaultdict(collections.Counter), {}
    for line in lines:
        if lost := re.match(r"CPU:(\d+) \[LOST", line):
            stay.pop(int(lost[1]), None)
        if not (event := re.match(r"\[(\d+)\] +[\d.]+: (\S+) (.*)", line)):
            continue
        cpu, name, value = int(event[1]), event[2], dict(re.findall(r"(\w+)=(\S+)", event[3]))
        if name == "hyp_enter":
            stay[cpu] = [("reasons", value["reason"])]
        elif name == "host_hcall" and cpu in stay:
            stay[cpu].append(("hypercalls", value["name"]))
        elif name == "guest_exit" and cpu in stay:
            field = "ec" if value["exit_code"] == "TRAP" else "exit_code"
            stay[cpu].append(("exits", value[field]))
        elif name == "hyp_exit":
            for table, each in stay.pop(cpu, []):
                found[table][each] += 1
    return found
