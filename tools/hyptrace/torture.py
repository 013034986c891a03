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

FORMS = ("protected", "max"), ("protected", "cortex-a72"), ("nvhe", "max")
# What runs in the VM. SEED is a number that all that is random is drawn from, SECS about how many
# seconds it is to take.
GUEST = {
    "soak": "HYP_TRACE_SOAK=$SECS HYP_TRACE_SOAK_SEED=$SEED HYP_TRACE_SOAK_SWITCHED=/test/switched "
            "hyp-trace/soak.sh",
    "load": "HYP_TRACE_LOAD_SECONDS=$((1 + SECS / 30)) hyp-trace/load.sh",
    "hostile": "HYP_TRACE_HOSTILE_CALLS=$((SECS * 20000)) HYP_TRACE_HOSTILE_SEED=$SEED "
               "hyp-trace/hostile.sh",
    "clear": "hyp-trace/clear.sh",
    "hotplug": "hyp-trace/hotplug.sh",
    "readers": "hyp-trace/wait.sh",
    "storms": "HYP_TRACE_STORMS=$((1 + SECS / 30)) hyp-trace/storms.sh",
    "faults": "hyp-trace/faults.sh",
}
# Tests of ours beside it
HOST = {"guests": "guests", "nested": "nested", "writer": "writer.writer",
        "fuzz": "writer.no_input_is_its_end"}


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
                 chance.choice(kernels), chance.sample(list(GUEST), 2),
                 "" if index % 3 else chance.choice(list(HOST)))


def in_vm(this, secs):
    """Run the parts in a VM; what is wrong. The debug kernel, and CPUs that QEMU has to emulate in
    turn, take their time."""
    script = f"export SEED={this.seed} SECS={secs}\nhyp-trace/guest --hold\n" + "".join(
        f"echo '# test {part}'\n( {GUEST[part]} ) </dev/null\necho \"# status $?\"\n"
        for part in this.parts)
    result = vm.boot(script, files=kernel.selftest(config=this.config), config=this.config,
                     mode=this.mode, cpu=this.cpu, smp=this.smp, timeout=600 + 20 * secs)
    wrong = [f"the VM ends with status {result.status}\n{result.errors}"] if result.status else []
    return wrong + [f"not ok - {check.name}\n{check.comment}" for check in ktap.read(
        result.output, f"{this.mode} {this.cpu}") if not check.passed]


def on_host(this, secs):
    """Run a part beside it; what is wrong."""
    if not this.beside:
        return []
    cpu = "cortex-a76" if (this.beside, *this[2:4]) == ("nested", "protected", "max") else this.cpu
    done = process.run(
        [sys.executable, "-B", "-m", "pytest", "-q", "-c", TOOLS / "pytest.ini", TOOLS / "tests"],
        check=False, env=os.environ | {
            "TESTS": HOST[this.beside], "SET": "all", "CONFIG": "default", "SEED": str(this.seed),
            "FUZZ_SECONDS": str(secs), "FORMS": f"{this.mode},{cpu}", "ALL": "1"})
    return done.returncode and [
        f"{this.beside} ends with status {done.returncode}\n{done.stdout[-3000:]}"]


def run_round(this, secs, again):
    """Run it, and show its line; whether it passed."""
    print(this, end="", flush=True)
    start = time.monotonic()
    wrong = in_vm(this, secs) or on_host(this, secs)
    print(f": {'failed' if wrong else 'passed'}, {time.monotonic() - start:.0f} s")
    if wrong:
        print(*wrong, f"this round again: make torture {again}", sep="\n")
    return not wrong


def main():
    """Rounds; the status is 0 if some passed and none failed."""
    minutes, secs, alone = number("MINUTES", 60), number("SECS", 60), number("ROUND")
    seed = number("SEED", random.getrandbits(32))
    kernels = option("KERNELS").split() or [
        config for config in ("default", "debug", "kcsan") if kernel.image(config).exists()]
    if not kernels:
        raise Failure("no kernel is built: make kernel")
    need("kernel", "vm")
    print(f"seed {seed}, kernels: {' '.join(kernels)}")
    end, results = time.monotonic() + minutes * 60, []
    for index in [alone] if alone else itertools.count(1):
        if not all(results) or not alone and time.monotonic() >= end:
            break
        results.append(run_round(draw(seed, index, kernels), secs, f"SEED={seed} ROUND={index} "
                                 f'SECS={secs} KERNELS="{" ".join(kernels)}"'))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1
