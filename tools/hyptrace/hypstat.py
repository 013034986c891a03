# SPDX-License-Identifier: GPL-2.0
"""Build hypstat of build/tree for arm64 or for this machine; and the counts that it must find."""

import os
import re
from collections import Counter, defaultdict

from hyptrace import clients, image, kernel, patches, process, trace
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
    found, stays = defaultdict(Counter), {}
    for each in trace.parse(lines):
        stay, value = stays.get(each.cpu, []), dict(re.findall(r"(\w+)=(\S+)", each.args))
        if each.name == "hyp_enter":
            stays[each.cpu] = [("reasons", value["reason"])]
        elif each.name == "host_hcall":
            stay.append(("hypercalls", value["name"]))
        elif each.name == "guest_exit":
            trap = value["exit_code"] == "TRAP"
            stay.append(("exits", value["ec" if trap else "exit_code"]))
        elif each.name in ("hyp_exit", "LOST"):
            for table, name in stays.pop(each.cpu, []) * (each.name == "hyp_exit"):
                found[table][name] += 1
    return found


def main():
    note(str(build(option("FOR", "arm64")).relative_to(BUILD.parent)))
