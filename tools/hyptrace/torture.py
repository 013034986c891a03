# SPDX-License-Identifier: GPL-2.0
"""`make torture`: rounds of the hardest tests for long, each in one form of KVM, kernel and
machine, with seeds that follow from one: until the time is over, or the first failure, which can be
replayed. Ends with the line `N passed, N failed`, of rounds. A round has two of the parts that run
in a VM and, each third round, one that does not.

  MINUTES=n SECS=s  no round begins later (60); about how long each part takes (60)
  SEED=s ROUND=n    where the rounds' seeds come from, else random, and printed; that round alone
  KERNELS=".."      configurations to choose from: of default, debug and kcsan those that are built
"""

import itertools
import os
import random
import sys
import time
from typing import NamedTuple

from hyptrace import kernel, ktap, process, vm
from hyptrace.machine import TOOLS, Failure, need, number, option
from hyptrace.tests.conftest import script_of

FORMS = ("protected", "max"), ("protected", "cortex-a72"), ("nvhe", "max")
# Scripts of the kselftest, and what they take from the round
GUEST = "soak load hostile clear hotplug wait stress faults".split()
SETUP = """SEED={} SECS={}
export HYP_TRACE_SOAK=$SECS HYP_TRACE_SOAK_SEED=$SEED
export HYP_TRACE_HOSTILE_CALLS=$((SECS * 20000)) HYP_TRACE_HOSTILE_SEED=$SEED
export HYP_TRACE_LOAD_SECONDS=$((1 + SECS / 30)) HYP_TRACE_STRESS_ROUNDS=$((1 + SECS / 30))
hyp-trace/guest --hold
"""
# Tests of ours beside it, by the mode
HOST = {"guests": "guests.{}", "nested": "guests.nested.{}", "writer": "writer.programs",
        "fuzz": "writer.fuzz"}


class Round(NamedTuple):
    """What follows from the seed and the round's number, alone or after others."""
    index: int
    seed: int
    mode: str
    cpu: str
    smp: int
    config: str
    parts: list
    beside: str

    def __str__(self):
        return (f"round {self.index}: seed {self.seed}, {self.mode} {self.cpu}, SMP={self.smp}, "
                f"{self.config}: {' '.join([*self.parts, self.beside]).rstrip()}")


def draw(seed, index, kernels):
    """The round of that number."""
    chance = random.Random(f"{seed} {index}")
    return Round(index, chance.getrandbits(31), *chance.choice(FORMS), chance.choice((1, 2, 4)),
                 chance.choice(kernels), chance.sample(GUEST, 2),
                 "" if index % 3 else chance.choice(list(HOST)))


def in_vm(this, secs):
    """Run the parts in a VM; what is wrong. The debug kernel, and CPUs that QEMU has to emulate in
    turn, take their time."""
    script = script_of([f"hyp-trace/{part}.sh" for part in this.parts],
                       SETUP.format(this.seed, secs))
    result = vm.boot(script, files=kernel.selftest(config=this.config), config=this.config,
                     mode=this.mode, cpu=this.cpu, smp=this.smp, timeout=600 + 20 * secs)
    wrong = [f"the VM ends with status {result.status}\n{result.errors}"] if result.status else []
    return wrong + [f"not ok - {check.name}\n{check.comment}" for check in ktap.read(
        result.output, f"{this.mode} {this.cpu}") if not check.passed]


def on_host(this, secs):
    """Run a part beside it; what is wrong."""
    if not this.beside:
        return []
    # In hVHE a nested guest does not boot on the newest CPU: see test_guests.py
    nested = (this.beside, this.mode, this.cpu) == ("nested", "protected", "max")
    variables = {"TESTS": HOST[this.beside].format(this.mode), "SET": "all", "CONFIG": "default",
                 "SEED": str(this.seed), "FUZZ_SECONDS": str(secs), "ALL": "1",
                 "FORMS": f"{this.mode},{'cortex-a76' if nested else this.cpu}"}
    done = process.run([sys.executable, "-B", "-m", "pytest", "-q", "-c", TOOLS / "pytest.ini",
                        TOOLS / "tests"], check=False, env=os.environ | variables)
    return done.returncode and [
        f"{this.beside} ends with status {done.returncode}\n{done.stdout[-3000:]}"]


def main():
    """Rounds; the status is 0 if some passed and none failed."""
    minutes, secs, alone = number("MINUTES", 60), number("SECS", 60), number("ROUND")
    seed, rounds, wrong = number("SEED", random.getrandbits(32)), 0, []
    kernels = option("KERNELS").split() or [
        config for config in ("default", "debug", "kcsan") if kernel.image(config).exists()]
    if not kernels:
        raise Failure("no kernel is built: make kernel")
    need("kernel", "vm")
    print(f"seed {seed}, kernels: {' '.join(kernels)}")
    end = time.monotonic() + minutes * 60
    for index in [alone] if alone else itertools.count(1):
        start = time.monotonic()
        if wrong or start >= end and not alone:
            break
        this, rounds = draw(seed, index, kernels), rounds + 1
        print(this, end="", flush=True)
        wrong = in_vm(this, secs) or on_host(this, secs)
        print(f": {'failed' if wrong else 'passed'}, {time.monotonic() - start:.0f} s")
    if wrong:
        print(*wrong, f"this round again: make torture SEED={seed} ROUND={this.index} "
              f'SECS={secs} KERNELS="{" ".join(kernels)}"', sep="\n")
    print(f"{rounds - bool(wrong)} passed, {int(bool(wrong))} failed")
    return int(bool(wrong) or not rounds)
