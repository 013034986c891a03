# SPDX-License-Identifier: GPL-2.0
"""`make torture`: rounds of the hardest tests until the time is over, or the first failure."""

import itertools
import os
import random
import sys
import time

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


def draw(seed, index, kernels):
    """A round by its number: seed, machine, two parts in it, and at times a part beside it."""
    chance = random.Random(f"{seed} {index}")
    seed, (mode, cpu) = chance.getrandbits(31), chance.choice(FORMS)
    machine = {"mode": mode, "cpu": cpu, "smp": chance.choice((1, 2, 4)),
               "config": chance.choice(kernels)}
    return seed, machine, chance.sample(GUEST, 2), "" if index % 3 else chance.choice(list(HOST))


def in_vm(seed, machine, parts, secs):
    """Run the parts in a VM, which may take its time; what is wrong."""
    script = script_of([f"hyp-trace/{part}.sh" for part in parts], SETUP.format(seed, secs))
    result = vm.boot(script, files=kernel.selftest(config=machine["config"]),
                     timeout=600 + 20 * secs, **machine)
    wrong = [f"the VM ends with status {result.status}\n{result.errors}"] if result.status else []
    return wrong + [f"not ok - {check.name}\n{check.comment}" for check in ktap.read(
        result.output, machine["mode"]) if not check.passed]


def on_host(seed, machine, part, secs):
    """Run a part beside it; what is wrong."""
    mode, cpu = machine["mode"], machine["cpu"]
    # In hVHE a nested guest does not boot on the newest CPU: see test_guests.py
    cpu = "cortex-a76" if (part, mode, cpu) == ("nested", "protected", "max") else cpu
    variables = {"TESTS": HOST[part].format(mode), "SET": "all", "CONFIG": "default", "ALL": "1",
                 "SEED": str(seed), "FUZZ_SECONDS": str(secs), "FORMS": f"{mode},{cpu}"}
    done = process.run([sys.executable, "-B", "-m", "pytest", "-q", "-c", TOOLS / "pytest.ini",
                        TOOLS / "tests"], check=False, env=os.environ | variables)
    return done.returncode and [f"{part} ends with status {done.returncode}", done.stdout[-3000:]]


def main():
    """Rounds; the status is 0 if some passed and none failed."""
    secs, seed = number("SECS", 60), number("SEED", random.getrandbits(32))
    alone, wrong, index = number("ROUND"), [], 0
    kernels = option("KERNELS").split() or [
        config for config in ("default", "debug", "kcsan") if kernel.image(config).exists()]
    if not kernels:
        raise Failure("no kernel is built: make kernel")
    need("kernel", "vm")
    end = time.monotonic() + number("MINUTES", 60) * 60
    for index in [alone] if alone else itertools.count(1):
        chosen, machine, parts, beside = draw(seed, index, kernels)
        print(f"SEED={seed} ROUND={index}:", *machine.values(), *parts, beside, flush=True)
        wrong = in_vm(chosen, machine, parts, secs) or \
            beside and on_host(chosen, machine, beside, secs)
        if wrong or alone or time.monotonic() >= end:
            break
    if wrong:
        print(*wrong, f'this round again, with KERNELS="{" ".join(kernels)}"', sep="\n")
    passed = (1 if alone else index) - bool(wrong)
    print(f"{passed} passed, {int(bool(wrong))} failed")
    return int(bool(wrong))
