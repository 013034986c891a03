# SPDX-License-Identifier: GPL-2.0
"""hypstat of build/tree, built for this machine; and the counts that it must find."""

import collections
import os
import re

from hyptrace import process, tree
from hyptrace.machine import BUILD, need

PROGRAM = BUILD / "hypstat/hypstat"


def make(*words, **how):
    """make in its directory; what it said."""
    need("kernel", "hypstat")
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    with process.lock("hypstat"):
        return process.run(["make", "-s", f"-j{os.cpu_count()}", f"O={PROGRAM.parent}", "-C",
                            tree.make() / "tools/tracing/hypstat", *words], **how)


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
