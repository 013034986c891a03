# SPDX-License-Identifier: GPL-2.0
"""Build hypstat of build/tree for arm64 or for this machine; and the counts that it must find."""

import collections
import os
import re

from hyptrace import clients, image, kernel, patches, process
from hyptrace.machine import BUILD, Failure, need, note, option

LIBRARIES = "libtracecmd", "libtracefs", "libtraceevent"
NAMES = {"arm64": "hypstat", "host": "hypstat-host"}    # of the directories below build/


def root():
    """The libraries for arm64, with trace-cmd, of the release that the compiler is of."""
    return image.suite("machine", "hypstat",
                       " ".join([*(f"{name}-dev" for name in LIBRARIES), "trace-cmd"]))


def make(machine, *words, to=None, **how):
    """make in its directory, for "arm64" or for this machine, "host"; what it said."""
    if machine not in NAMES:
        raise Failure(f"no machine {machine}: {' or '.join(NAMES)}")
    need("hypstat", "rootfs")
    command, env, to = ["make"], {}, to or BUILD / NAMES[machine]
    if machine == "arm64":
        command = [*kernel.make_args(machine), "LDFLAGS=-Wl,--allow-shlib-undefined"]
        env = {"PKG_CONFIG_SYSROOT_DIR": str(root()),
               "PKG_CONFIG_LIBDIR": f"{root()}/usr/lib/aarch64-linux-gnu/pkgconfig"}
    to.mkdir(parents=True, exist_ok=True)
    with process.lock("hypstat"):
        return process.run([*command, "-s", f"-j{os.cpu_count()}", f"O={to}", "-C",
                            patches.base().tree / "tools/tracing/hypstat", *words],
                           env=kernel.clean_env(**env), **how)


def build(machine="arm64"):
    make(machine)
    return BUILD / NAMES[machine] / "hypstat"


def lay_out(files):
    """What a VM needs: hypstat and trace-cmd, with the kselftest."""
    clients.beside_selftest(files)
    clients.install(files, root(), build(), "usr/bin/trace-cmd")


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


def main():
    note(str(build(option("FOR", "arm64")).relative_to(BUILD.parent)))
