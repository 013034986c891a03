# SPDX-License-Identifier: GPL-2.0
"""EL2's sources and the kernel's reader of a ring in user space, under sanitizers, from build/tree;
and what is in them."""

import os
import re

import pytest
from hyptrace import fuzz, process, tree
from hyptrace.machine import BUILD, need

pytestmark = [pytest.mark.fast, pytest.mark.host]

SOURCES, OBJECTS = BUILD / "tree/tools/testing/hyptrace", BUILD / "hyptrace-tests"
ARM64 = BUILD / "tree/arch/arm64"
# How many inputs take some five seconds
RUNS = {"hcall": 30000, "filter": 100000, "format": 200000, "clock": 100000,
        "reader": 50000}
# A CPU that waits for a lock that is never released waits for ever.
PROGRAMS = {"result_test": "a hypercall's result is shown only if there is one",
            "func_test": "functions return to where they were called, and events say so",
            "vcpu_test-0": "a protected guest's registers are in no event",
            "vcpu_test-1": "... unless EL2 is built for debugging",
            "race/park_race": "CPUs that park race with others that change their rings",
            "race/stay_race": "CPUs that count their stays race with others that copy the counters",
            "race/trigger_race": "triggers of several CPUs turn tracing off and on"}


def make(target, **options):
    """make, after others that make the same; what it said."""
    need("check", "fuzz")
    tree.make()
    with process.lock(OBJECTS.name):
        return process.run(["make", "-s", f"-j{os.cpu_count()}", "-C", SOURCES, f"O={OBJECTS}",
                            target], **options)


def find(expression, path):
    return re.findall(expression, path.read_text("utf-8"))


@pytest.mark.seconds(60)
def test_programs(checks):
    """Each is a result."""
    checks.program("user space", "programs", make("check", check=False))


@pytest.mark.seconds(30)
@pytest.mark.parametrize("name", RUNS)
def test_fuzz(checks, tmp_path, name):
    """No input is its end, whether it is written down or chance's."""
    make("fuzzers")
    seeds = fuzz.write_seeds(SOURCES / "fuzz/seeds" / name, tmp_path / "seeds")
    checks("no input is its end", True,
           fuzz.run(OBJECTS / f"fuzz/{name}_fuzz", name, seeds, RUNS[name]))


@pytest.mark.seconds(10)
def test_hypercalls_and_guests(checks):
    """What EL2's sources write, and what the fuzzer makes."""
    make("fuzzers")
    nvhe, numbers = ARM64 / "kvm/hyp/nvhe", "__KVM_HOST_SMCCC_FUNC_[a-z_0-9]+"
    handlers = set(find("handle___hyp_[a-z_]*", nvhe / "trace_hcall.c") +
                   find("handle___hyp_[a-z_]*", nvhe / "acct.c"))
    checks("each hypercall of tracing is made", handlers and not handlers - set(
        find(r"\w+", SOURCES / "fuzz/hcall_fuzz.c")), handlers)
    checks.equals("of each hypercall it is said, once, whether the trace has what it returns",
                  sorted(find(numbers, nvhe / "events.c")),
                  sorted(set(find(numbers, ARM64 / "include/asm/kvm_asm.h"))))
    for program, name in PROGRAMS.items():
        done = process.run([OBJECTS / "fuzz" / program], timeout=120, check=False,
                           env=os.environ | {"TSAN_OPTIONS": "halt_on_error=1"})
        checks(name, not done.returncode, done.stdout)
    # trace_vcpu.h alone writes events with a guest's registers, which vcpu_test looks at.
    lines = [line for path in nvhe.rglob("*.c")
             for line in find(r".*trace_(?:vcpu_illegal_trap|guest_exit)\(", path)]
    checks("no other event has a guest's registers",
           lines and all("hyp_trace_" in line for line in lines), lines)
