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
            "vcpu_test-0": "a protected guest's registers are in no event, nor its functions",
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


# Arguments of hyp_trace_printk(), and the error that each is; what compiles has none.
CONVERSION = "hyp_trace_printk: no such conversion"
ARGUMENT = "invalid operands to binary"
CALLS = {
    '"none"': "", '"%d%%", 1': "", '"%lld %08x %20zu %o %lX %i", 1LL, 2, 3UL, 4, 5UL, 6': "",
    f'"{"t" * 125}%"': CONVERSION, f'"{"t" * 124}%d", 1': "", f'"{"t" * 125}%d", 1': "FORMAT_SIZE",
    '"%d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7': "HYP_PRINTK_MAX_ARGS",
    '"%d", 1LL': "expects argument of type", '"%lld", 1': "expects argument of type",
    '"%u", 1UL': "expects argument of type", '"%d %d", 1': "expects a matching",
    '"%d", 1, 2': "too many arguments", '"none", 1': "too many arguments",
    '"%s", text': ARGUMENT, '"%p", text': ARGUMENT, '"%lx", text': ARGUMENT, '"%d", 1.0': ARGUMENT,
    '"%s", 1': CONVERSION, '"%p", 1UL': CONVERSION, '"%n", 1': CONVERSION, '"%f", 1': CONVERSION
} | {f'"%{spec}", {arguments}': CONVERSION for spec, arguments in {
    "c": "1", "lc": "1", "hd": "1", "hhu": "1", "hx": "1", "-3d": "1", " d": "1", "+d": "1",
    "#x": "1", "#o": "1", ".3d": "1", "5.3u": "1", "*d": "1, 2", "td": "1L", "jd": "1L",
    "Lx": "1ULL", "llld": "1LL", "zld": "1L", "lzd": "1L", "5%": "", "d%": "1", "d %l": "1"
}.items()}


CALLER = """#include <nvhe/printk.h>
u32 words[2 * HYP_PRINTK_MAX_ARGS];
unsigned int call(char *text)
{{
	hyp_printk_check({});
	return hyp_printk_pack(words{});
}}
"""


@pytest.mark.seconds(15)
def test_printk_compiles(checks, tmp_path):
    """A hyp_trace_printk() that some reader would show wrong does not."""
    where = OBJECTS / "plain-12"
    make(f"{where}/bstr.o")
    for call, wrong in CALLS.items():
        call = call.removesuffix(", ")
        arguments = call.partition('", ')[2]
        (tmp_path / "call.c").write_text(
            CALLER.format(call, ", " * bool(arguments) + arguments), "utf-8")
        said = process.run(["make", "-s", "-C", SOURCES, f"O={OBJECTS}", f"VPATH={tmp_path}",
                            where / "call.o"], check=False)
        for path in where.glob("call.*"):
            path.unlink()
        checks(f"hyp_trace_printk({call}) {'fails' if wrong else 'compiles'}",
               bool(wrong) == bool(said.returncode) and wrong in said.stdout, said.stdout)


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
