# SPDX-License-Identifier: GPL-2.0
"""Where the driver is, on what machine, and the variables that it was given."""

import functools
import os
import pathlib
import platform
import subprocess
import sys

TOOLS = pathlib.Path(__file__).resolve().parent
ROOT = TOOLS.parent.parent
# The kernel that the patches are for, a file of bases/. What is made for another one than MAIN
# stands by itself; packages, and user space of them, are for all.
MAIN = "6.12"
BASE = os.environ.get("BASE") or MAIN
SHARED = ROOT / "build"
BUILD = SHARED if BASE == MAIN else SHARED / BASE

# Debian's ccache stands for each compiler there. With a prefix in CC instead, the commands that
# kbuild records would not be the same with and without it.
CCACHE = "/usr/lib/ccache"
CROSS = {"arm64": ("aarch64", "aarch64-linux-gnu-"), "x86_64": ("x86_64", "x86_64-linux-gnu-"),
         "arm": ("", "arm-linux-gnueabi-"), "riscv": ("", "riscv64-linux-gnu-"),
         "um": ("x86_64", "")}


class Failure(Exception):
    """What went wrong, in a line for the user."""


def note(text):
    """A line of progress, kept off standard output: that belongs to the result."""
    print(f"hyptrace: {text}", file=sys.stderr, flush=True)


def option(name, default=""):
    """A variable that the user gave, by make or in the environment."""
    return os.environ.get(name) or default


def number(name, default=None):
    """A variable that is a whole number."""
    value = option(name)
    if value and not value.isdigit():
        raise Failure(f"{name} is not a number: {value}")
    return int(value) if value else default


def scaled(seconds):
    """A time limit on this machine. SCALE says how much slower it is than most, in percent."""
    return seconds * int(option("SCALE", "100")) / 100


def arch_of(config):
    """What the kernel of a configuration is for, as kbuild names it."""
    return "x86_64" if config.startswith("x86") else "arm64"


def cross_for(arch):
    """The prefix of the compiler for it on this machine."""
    own, prefix = CROSS[arch]
    return "" if platform.machine() == own else prefix


def image_of(arch):
    return "arch/x86/boot/bzImage" if arch == "x86_64" else "arch/arm64/boot/Image"


@functools.cache
def need(*steps):
    """Install the packages of these steps."""
    if subprocess.run([TOOLS / "deps", *steps], check=False).returncode:
        raise Failure(f"packages for {' '.join(steps)} are missing")


def prepare():
    """What each run begins with."""
    if not (TOOLS / "bases" / BASE).is_file():
        raise Failure(f"no base {BASE}: see {TOOLS.relative_to(ROOT)}/bases")
    BUILD.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = f"{CCACHE}:{os.environ['PATH'].replace(CCACHE + ':', '')}"
    if not option("CCACHE_DIR") and not os.access(option("HOME", "/nonexistent"), os.W_OK):
        os.environ["CCACHE_DISABLE"] = "1"
    # A make above us has variables and jobs for itself, not for the makes below.
    for name in "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL":
        os.environ.pop(name, None)
