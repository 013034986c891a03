#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A mistake of one line in the product does not go unnoticed: each of tools/hyptrace/mutants is
made in build/tree, and the test that is named there fails. Speaks TAP.

MUTANTS="reset time"	these alone
KIND="user uml"		those of these kinds, see tools/hyptrace/mutants
"""

import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

TOOLS = pathlib.Path(__file__).resolve().parent.parent
BUILD = TOOLS.parent.parent / "build"
TREE = BUILD / "tree"
WORK = BUILD / "mutants"
HYPTRACE = TREE / "tools/testing/hyptrace"
SELFTEST = TREE / "tools/testing/selftests"
UML = "kernel-uml-mutant"

# What is made of the tree, for each kind of test
MADE = {"uml": [UML], "perf": ["perf-host-build"], "recorded": ["perf-host-build"],
        "vm": ["kernel-mutant"], "kunit": ["kernel-mutant"], "faultable": ["kernel-mutant"]}

# The variable of tools/testing/hyptrace/Makefile that names a file
VARIABLES = {"trace_ring.c": "RING", "filter.c": "FILTER", "printk.c": "PRINTK"}


class Failed(Exception):
    """A mistake that was not found, and why."""


class Mutant:
    """One line of the list."""

    def __init__(self, line):
        self.name, self.path, self.edit, test = re.split(r"\t+", line)
        self.kind, self.test = test.split(":", 1)

    def title(self):
        """Of the result."""
        return f"{self.kind}:{self.test} finds {self.name} in {self.path}"

    def text(self):
        """The file with the mistake, which is in one line."""
        original = (TREE / self.path).read_text()
        edited = subprocess.run(["sed", self.edit], input=original, text=True, check=True,
                                stdout=subprocess.PIPE).stdout
        before, after = original.splitlines(), edited.splitlines()
        if len(before) != len(after) or sum(a != b for a, b in zip(before, after)) != 1:
            raise Failed(f"{self.path} does not have one line for {self.edit}")
        return edited


def run(*command, **variables):
    """Run a command: its status, and what it says."""
    done = subprocess.run([str(word) for word in command], env=os.environ | variables, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, errors="replace",
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def must(*command, **variables):
    """Run a command that works whatever the mistake is."""
    status, said = run(*command, **variables)
    if status:
        raise Failed(f"{command[0]} has status {status}:\n{said[-500:]}")


def fails(result, *command, **variables):
    """The command fails, by a result that is called so."""
    status, said = run(*command, **variables)
    if not re.search(rf"^ *not ok .*{re.escape(result)}", said, re.M):
        raise Failed(f"no result {result!r} fails, status {status}:\n{said[-500:]}")


def make_selftest():
    """The kselftest for UML."""
    (WORK / "built").mkdir()
    must("make", "-s", "-C", SELFTEST / "hyp-trace", "ARCH=x86_64", f"OUTPUT={WORK}/built",
         f"INSTALL_PATH={WORK}/uml/hyp-trace", "install")
    (WORK / "uml/kselftest").mkdir()
    shutil.copy(SELFTEST / "kselftest/ktap_helpers.sh", WORK / "uml/kselftest")


def uml(mutant):
    """A case of KUnit, or a script of the kselftest, in UML."""
    test = mutant.test
    must(TOOLS / "uml", "kernel", UML=UML)
    if not test.endswith(".sh"):
        return fails(test, TOOLS / "uml", "kunit", UML=UML, TIMEOUT="300")
    if not (WORK / "built").exists():
        make_selftest()
    module = "trace_remote_test"
    shutil.copy(BUILD / UML / f"kernel/trace/remote/tests/{module}.ko", WORK / "uml")
    (WORK / "script").write_text(
        f"#!/bin/sh\nexport TRACE_REMOTE={module} HYP_TRACE_MODULE=/mnt/{module}.ko\n"
        f"insmod /mnt/{module}.ko && hyp-trace/{test}\n")
    status, said = run(TOOLS / "uml", "run", WORK / "script", UML=UML, OUT=str(WORK / "uml"),
                       TIMEOUT="120")
    if not status:
        raise Failed(f"{test} passes:\n{said[-500:]}")
    return None


def user(mutant):
    """A program of tools/testing/hyptrace."""
    test = mutant.test
    must("make", "-s", "-C", HYPTRACE, f"O={WORK}/user", f"PROGRAMS={WORK}/user/{test}",
         f"{VARIABLES[os.path.basename(mutant.path)]}={TREE / mutant.path}", "all")
    fails("", WORK / "user" / test)


def seeds(test):
    """The inputs of a fuzzer that are written down, a file each."""
    into = WORK / "seeds"
    into.mkdir(exist_ok=True)
    for line in (HYPTRACE / "fuzz/seeds" / test.removesuffix("_fuzz")).read_text().splitlines():
        if line and line[0] != "#":
            name, *numbers = line.split()
            (into / name).write_bytes(bytes.fromhex("".join(numbers)))
    return into


def fuzz(mutant):
    """A fuzzer there, or a test that is made of the same sources."""
    test = mutant.test
    program = WORK / "user/fuzz" / test
    must("make", "-s", "-C", HYPTRACE, f"O={WORK}/user", program)
    options = ["-seed=1", "-runs=100000", f"-artifact_prefix={WORK}/", seeds(test)] \
        if test.endswith("_fuzz") else []
    status, said = run(program, *options)
    if not status:
        raise Failed(f"{test} finds nothing:\n{said[-500:]}")


def perf(mutant):
    """A case of perf's own test, which goes by its number: a name would be that of each case."""
    test = mutant.test
    must(TOOLS / "perf", "FOR=host")
    _, listed = run(BUILD / "perf-host/perf", "test", "list")
    number = re.search(r"^ *(\d+): KVM: which", listed, re.M).group(1)
    _, said = run(BUILD / "perf-host/perf", "test", number)
    if not re.search(rf": {re.escape(test)} *: FAILED", said):
        raise Failed(f"{test} does not fail:\n{said[-500:]}")


def recorded(mutant):
    """A case of the recordings of other architectures."""
    fails(mutant.test, TOOLS / "t/perf-recorded.t")


def in_vm(result, test, **variables):
    """A result of a test that boots the kernel with the mistake."""
    must(TOOLS / "kernel", "CONFIG=mutant", "TARGETS=Image")
    fails(result, TOOLS / "t" / test, CONFIG="mutant", TIMEOUT="300", **variables)


def kselftest(mutant):
    """A script of the kselftest."""
    in_vm(f": {mutant.test}: ", "forms.t", FORM="protected max 2", KSELFTESTS=mutant.test)


def kunit(mutant):
    """A case of KUnit."""
    in_vm(mutant.test, "kunit.t")


def faultable(mutant):
    """A case of KUnit or a script of faultable tracepoints; some script has to run."""
    is_script = mutant.test.endswith(".sh")
    in_vm(mutant.test, "faultable.t", TESTS=mutant.test if is_script else "module.sh")


FINDERS = {"user": user, "fuzz": fuzz, "uml": uml, "vm": kselftest, "kunit": kunit,
           "faultable": faultable, "perf": perf, "recorded": recorded}


def forget(kind, path):
    """What was made of a file is made anew: its date is the old one again."""
    for out in MADE.get(kind, []):
        listed = subprocess.run(["grep", "-rlF", "--include=.*.cmd", f"/{path.split('/')[-1]}",
                                 str(BUILD / out)], text=True, check=False,
                                stdout=subprocess.PIPE).stdout
        for name in listed.splitlines():
            command = pathlib.Path(name)
            (command.parent / command.name[1:-len(".cmd")]).unlink(missing_ok=True)


def found(mutant):
    """Make the mistake, find it, and put the file back."""
    path = TREE / mutant.path
    text = mutant.text()
    shutil.copy2(path, WORK / "original")
    try:
        path.unlink()   # build/tree-plain may have it, too
        path.write_text(text)
        FINDERS[mutant.kind](mutant)
    finally:
        path.unlink(missing_ok=True)
        shutil.copy2(WORK / "original", path)
        forget(mutant.kind, mutant.path)


def prepare(kinds):
    """What the tests are made from."""
    must(TOOLS / "deps", "check", *(["fuzz"] if "fuzz" in kinds else []))
    must(TOOLS / "tree")
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    if "uml" in kinds:
        must(TOOLS / "uml", "kernel")
        must("cp", "-a", BUILD / "kernel-uml", BUILD / UML)


def chosen():
    """The mutants that were asked for."""
    lines = (TOOLS / "mutants").read_text().splitlines()
    mutants = [Mutant(line) for line in lines if line and line[0] != "#"]
    names = os.environ.get("MUTANTS", "").split()
    kinds = os.environ.get("KIND", "").split()
    return [m for m in mutants if (not names or m.name in names) and
            (not kinds or m.kind in kinds)]


def clean():
    """The outputs that only this test has."""
    for out in [WORK, BUILD / UML, BUILD / "kernel-mutant"]:
        shutil.rmtree(out, ignore_errors=True)


def try_one(number, mutant):
    """A line of TAP; whether the mistake was found."""
    try:
        found(mutant)
    except Failed as why:
        print(f"not ok {number} - {mutant.title()}")
        print("\n".join(f"# {line}" for line in str(why).splitlines()), flush=True)
        return False
    print(f"ok {number} - {mutant.title()}", flush=True)
    return True


def main():
    """TAP, a result for each mutant."""
    mutants = chosen()
    clean()
    try:
        prepare({mutant.kind for mutant in mutants})
        with open(BUILD / ".lock-tree", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            results = [try_one(number, mutant) for number, mutant in enumerate(mutants, 1)]
    finally:
        clean()
    print(f"1..{len(mutants)}")
    return not all(results)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
sys.exit(main())
