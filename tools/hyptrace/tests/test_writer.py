# SPDX-License-Identifier: GPL-2.0
"""EL2's sources in user space, under sanitizers, from build/tree: the ring's writer, fuzzers of
what the host gives EL2, and what needs these sources, too: CPUs that race, a guest's registers."""

import os
import re

import pytest
from hyptrace import fuzz, ktap, process, tree
from hyptrace.machine import BUILD, need

pytestmark = [pytest.mark.fast, pytest.mark.host]

SOURCES = BUILD / "tree/tools/testing/hyptrace"
OBJECTS = BUILD / "hyptrace-tests"
ARM64 = BUILD / "tree/arch/arm64"
# How many inputs take some five seconds
RUNS = {"hcall": 30000, "filter": 100000, "format": 200000, "clock": 100000}
HCALL = r"__KVM_HOST_SMCCC_FUNC_[a-z_0-9]+"


def make(*words, **options):
    """make, after others that make the same."""
    need("check", "fuzz")
    tree.make()
    with process.lock(OBJECTS.name):
        return process.run(["make", "-s", f"-j{os.cpu_count()}", "-C", SOURCES, f"O={OBJECTS}",
                            *words], **options)


def find(expression, path):
    """What there is of it in a file."""
    return re.findall(expression, path.read_text("utf-8"))


@pytest.mark.seconds(60)
def test_programs(checks):
    """Each is a result."""
    done = make("check", check=False)
    checks.add(ktap.read(f"# test programs\n{done.stdout}\n# status {done.returncode}",
                         "user space"))


@pytest.fixture(scope="session", name="built")
def fixture_built():
    """The directory of the fuzzers."""
    make("fuzzers")
    return OBJECTS / "fuzz"


@pytest.mark.seconds(30)
@pytest.mark.parametrize("name", RUNS)
def test_fuzz(checks, built, tmp_path, name):
    """No input is its end, whether it is written down or chance's."""
    seeds = fuzz.write_seeds(SOURCES / "fuzz/seeds" / name, tmp_path / "seeds")
    checks("no input is its end", True,
           fuzz.run(built / f"{name}_fuzz", name, seeds, RUNS[name]))


@pytest.mark.seconds(10)
def test_hypercalls_and_guests(checks, built):
    """What EL2's sources write, and what the fuzzer makes."""
    nvhe = ARM64 / "kvm/hyp/nvhe"
    handlers = set(find("handle___hyp_trace_[a-z_]*", nvhe / "trace_hcall.c"))
    checks("each hypercall of tracing is made", handlers and not handlers - set(
        find(r"\w+", SOURCES / "fuzz/hcall_fuzz.c")), handlers)
    checks.equals("of each hypercall it is said, once, whether the trace has what it returns",
                  sorted(find(HCALL, nvhe / "events.c")),
                  sorted(set(find(HCALL, ARM64 / "include/asm/kvm_asm.h"))))
    process.run([built / "result_test"])
    checks("a hypercall's result is shown only if there is one", True)
    # trace_vcpu.h alone writes events with a guest's registers.
    for name in "vcpu_test-0", "vcpu_test-1":
        process.run([built / name])
    lines = [line for path in nvhe.rglob("*.c")
             for line in find(r".*trace_(?:vcpu_illegal_trap|guest_exit)\(", path)]
    checks("a protected guest's registers are in no event",
           lines and all("hyp_trace_" in line for line in lines), lines)
    # A CPU that waits for a lock that is never released waits for ever.
    done = process.run([built / "race/park_race"], timeout=120, check=False,
                       env=os.environ | {"TSAN_OPTIONS": "halt_on_error=1"})
    checks("CPUs that park race with others that change their rings", not done.returncode,
           done.stdout)
