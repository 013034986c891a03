# SPDX-License-Identifier: GPL-2.0
"""UML, the kernel as a program of an x86 machine: of build/tree, in build/kernel-uml."""

from hyptrace import console as consoles, kernel, process
from hyptrace.machine import BUILD, Failure, need, option
from hyptrace.vm import DIED, HUNG, Result

LIMIT = 900
# Process 1. Its root is the machine's, for reading. Programs leave what they have to say in a
# directory of the machine's, and the machine is halted by perl, which any Debian has.
INIT = """#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
export TMPDIR=/tmp HYP_TRACE_SCALE={scale}
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
mount -t tmpfs -o mode=1777 tmpfs /mnt
mount -t hostfs -o "{out}" none /mnt
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
cd /mnt && OUT=/mnt ./script </dev/null >output 2>&1
echo $? >status
exec perl -e 'syscall 169, 0xfee1dead, 672274793, 0x4321fedc'
"""


def directory():
    """The build directory."""
    return BUILD / option("UML", "kernel-uml")


def build():
    """Build it, with the options of .kunitconfig and of hyptrace-uml.config."""
    need("kernel", "uml")
    out, tree = directory(), BUILD / "tree"
    with process.lock(out.name):
        out.mkdir(exist_ok=True)
        # kunit.py changes to the tree, and writes byte code beside itself.
        process.run(["/usr/bin/python3", "-B", tree / "tools/testing/kunit/kunit.py", "config",
                     "--kunitconfig=kernel/trace/remote", f"--build_dir={out}",
                     "--kunitconfig=kernel/configs/hyptrace-uml.config"],
                    cwd=tree, env=kernel.clean_env())
        kernel.long_make("um", BUILD / f"{out.name}.log", "building UML",
                         ["-C", tree, f"O={out}", "all"])
    return out


def _boot(*arguments):
    """Run it to its end; its console, and whether it hung. Each allocation that is made to fail
    logs a stack, and what a full pipe does not take UML leaves out: the console is a file."""
    log, hung = BUILD / f"{directory().name}.console", False
    with open(log, "w", encoding="utf-8") as out:
        try:
            process.run([directory() / "linux", "mem=512M", *arguments], check=False, stdout=out,
                        timeout=LIMIT)
        except Failure:
            hung = True
    return log.read_text("utf-8", "replace"), hung


def kunit():
    """The KTAP of its KUnit tests."""
    console, _ = _boot("log_buf_len=16M", "kunit_shutdown=halt")
    return console[max(0, console.find("KTAP version")):]


def run(script, out):
    """Boot it on the machine's own root directory, which it can't change, and run the script's
    text there as root, with `out`, a directory, to write to."""
    init = INIT.format(scale=option("SCALE", "100"), out=out)
    for name, text in ("script", script), ("init", init), ("output", ""), ("status", ""):
        (out / name).write_text(text, "utf-8")
        (out / name).chmod(0o755)
    console, hung = _boot("rootfstype=hostfs", "rootflags=/", "ro", f"init={out / 'init'}",
                          "console=tty", "panic=-1", "kunit.enable=0")
    said, status = ((out / name).read_text("utf-8", "replace") for name in ("output", "status"))
    splats = consoles.splats(console)
    if splats or not status:
        why = "\n".join(splats + console.splitlines()[-15:])
        return Result(HUNG if hung else DIED, said, console, why, out)
    return Result(int(status), said, console, "", out)
