# SPDX-License-Identifier: GPL-2.0
"""`make torture`: rounds of the hardest tests until the time is over, or the first failure."""

import itertools
import random
import time

from hyptrace import check, kernel
from hyptrace.machine import Failure, number, option

MODES = ("protected", "max"), ("protected", "cortex-a72"), ("nvhe", "max")
# Scripts of the kselftest, and what they take from the round
SCRIPTS = "soak load hostile clear hotplug wait stress faults".split()
VARIABLES = """HYP_TRACE_SOAK={0} HYP_TRACE_SOAK_SEED={2} HYP_TRACE_HOSTILE_CALLS={3}
    HYP_TRACE_HOSTILE_SEED={2} HYP_TRACE_LOAD_SECONDS={1} HYP_TRACE_STRESS_ROUNDS={1}"""
# Tests beside them, by the mode
BESIDE = "guests.default.{}", "guests.nested.default.{}", "writer.programs", "writer.fuzz"


def draw(seed, index, kernels, secs):
    """The variables of a round by its number: machine, two scripts, and at times a test beside."""
    chance = random.Random(f"{seed} {index}")
    seed, (mode, cpu) = str(chance.getrandbits(31)), chance.choice(MODES)
    machine = chance.choice(kernels), mode, cpu, chance.choice("124")
    scripts = [f"{name}.sh" for name in chance.sample(SCRIPTS, 2)]
    tests = ["kselftest." + ".".join(machine).replace("-", ".")]
    beside = chance.choice(BESIDE).format(mode)
    if index % 3 == 0:
        tests.append(beside)
        # In hVHE a nested guest does not boot on the newest CPU: see test_guests.py
        cpu = "cortex-a76" if beside == BESIDE[1].format("protected") and cpu == "max" else cpu
    return {"TESTS": " ".join(tests), "SET": "", "MACHINE": " ".join(machine), "SEED": seed,
            "KSELFTESTS": " ".join(scripts), "LIMIT": str(600 + 20 * secs), "ALL": "1",
            "VARIABLES": VARIABLES.format(secs, 1 + secs // 30, seed, 20000 * secs),
            "FUZZ_SECONDS": str(secs), "CONFIGURATIONS": f"default,{mode},{cpu}"}


def main():
    """Rounds; the status is 0 if some passed and none failed."""
    secs, seed = number("SECS", 60), number("SEED", random.getrandbits(32))
    alone, failed, index = number("ROUND"), False, 0
    kernels = option("KERNELS").split() or [
        config for config in ("default", "debug", "kcsan") if kernel.image(config).exists()]
    if not kernels:
        raise Failure("no kernel is built: make kernel")
    end = time.monotonic() + number("MINUTES", 60) * 60
    for index in [alone] if alone else itertools.count(1):
        chosen = draw(seed, index, kernels, secs)
        print(f"SEED={seed} ROUND={index}:", chosen["MACHINE"], chosen["KSELFTESTS"],
              chosen["TESTS"], flush=True)
        failed = bool(check.pytest("-q", **chosen))
        if failed or alone or time.monotonic() >= end:
            break
    if failed:
        print(f'this round again, with KERNELS="{" ".join(kernels)}"')
    print(f"{(1 if alone else index) - failed} passed, {int(failed)} failed")
    return int(failed)
