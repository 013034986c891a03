# SPDX-License-Identifier: GPL-2.0
"""A mistake of one line in the product does not go unnoticed: each of tools/hyptrace/mutants is
made in build/tree, and the test that is named there fails. In the walks of a guest's tables and of
its stack, whose tests take a second, mistakes are made by rule."""

import functools
import os
import re
import shutil
import sys
from concurrent import futures

import pytest
from hyptrace import fuzz, hypstat, kernel as kernels, process, results, tree, vm
from hyptrace.machine import BASE, BUILD, MAIN, TOOLS, need, scaled
from hyptrace.tests.conftest import script_of
from hyptrace.tests.test_kselftest import SETUP, in_uml

pytestmark = [pytest.mark.mutants]

TREE, WORK = BUILD / "tree", BUILD / "mutants"
HYPTRACE = TREE / "tools/testing/hyptrace"
UML, KERNEL = BUILD / "kernel-uml-mutant", BUILD / "kernel-mutant"
remove = functools.partial(shutil.rmtree, ignore_errors=True)


def failures(text):
    return re.findall(r"^ *not ok\b *[\d-]* *(.*)", text, re.M)


# What finds a mistake by a kind of test: the names of what fails

def user(test):
    """A program of tools/testing/hyptrace, or a fuzzer there."""
    program, words = WORK / "user" / test, []
    if test.endswith("_fuzz"):
        listed = HYPTRACE / "fuzz/seeds" / program.name[:-len("_fuzz")]
        words = ["-seed=1", "-runs=100000", f"-artifact_prefix={WORK}/",
                 fuzz.write_seeds(listed, WORK / "seeds")]
    process.run(["make", "-s", "-C", HYPTRACE, f"O={WORK}/user", program])
    return [test] if process.run([program, *words], check=False).returncode else []


def in_vm(suite, script, mode, suites, test):
    """A script of a kselftest, or a case of KUnit beside some script, in a VM. A guest is there all
    the time, if there is KVM."""
    setup = SETUP.format(f"KVM_MODE={mode} HYP_TRACE_SOAK=3")
    lines, cmdline = [f"{suite}/{test}"], ""
    if not test.endswith(".sh"):
        lines = [f"{suite}/{script}", "cat /sys/kernel/debug/kunit/*/results"]
        cmdline = f"kunit.enable=1 kunit.filter_glob={suites}"
    kernels.build("mutant", targets=["Image"])
    result = vm.boot(script_of(lines, setup), files=kernels.selftest(suite, "mutant"),
                     config="mutant", mode=mode, cmdline=cmdline, timeout=300)
    made = results.read(result.output, suite) + results.kunit(result.output, [])
    return [check.name for check in made if not check.passed] + \
        ["the machine ends well"] * bool(result.status)


def in_ftrace(test):
    """A script of ftrace's selftest for remotes, in a VM."""
    kernels.build("mutant", targets=["Image"])
    result = vm.boot(script_of([f"./ftracetest -K test.d/remotes/{test}"],
                               "cd ftrace; PATH=$PATH:$PWD"),
                     files=kernels.selftest("ftrace", "mutant"), config="mutant",
                     mode="protected", timeout=300)
    made = results.read(result.output, test)
    return [test] if result.status or not all(check.passed for check in made) else []


def in_kunit(_):
    """The cases of KUnit, in a VM."""
    kernels.build("mutant", targets=["Image"])
    result = vm.boot("cat /sys/kernel/debug/kunit/*/results", config="mutant", mode="protected",
                     cmdline="kunit.enable=1 kunit.autorun=1", timeout=300)
    return [check.name for check in results.kunit(result.output, []) if not check.passed]


def in_pytest(name, _):
    """Checks of another test of the driver's."""
    words = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "test_perf_kvm.py"]
    return failures(process.run(words, check=False, cwd=TOOLS / "tests", env=os.environ | {
        "TESTS": name, "SET": "", "OF_TEST": "1", "PYTHONPATH": str(TOOLS.parent)}).stdout)


def in_hypstat(test):
    return failures(hypstat.make("host", "check", f"UNITS={test}", "TOOLS=", to=WORK / "hypstat",
                                 check=False).stdout)


# Each kind's, the directory of what is made of the tree, and the seconds that one takes
KINDS = {
    "user": (user, WORK, 10), "hypstat": (in_hypstat, WORK, 40),
    "uml": (lambda _: failures(in_uml(UML)), UML, 25),
    "vm": (functools.partial(in_vm, "hyp-trace", "mode.sh", "protected", "*"), KERNEL, 60),
    "faultable": (functools.partial(in_vm, "faultable-tracepoints", "module.sh", "none",
                                    "tracepoint*"), KERNEL, 60)
} | {kind: (functools.partial(in_pytest, f"perf_kvm.{name}"), BUILD / "perf-host-build", 15)
     for kind, name in (("perf", "which_thread_runs_which_vcpu"), ("recorded", "recorded"),
                        ("hist", "how_long_events_took"), ("percentiles", "percentiles"),
                        ("switches", "how_long_threads_were_off_the_cpu"),
                        ("samples", "why_there_are_no_samples_of_guests"),
                        ("bpf", "bpf_programs_count"), ("off", "time_off_the_cpu"),
                        ("slow", "slow_exits"), ("lines", "lines_for_programs"))}
# Those of another base's tree
OF_BASE = {"ftrace": (in_ftrace, KERNEL, 90), "kunit": (in_kunit, KERNEL, 60)}


@pytest.fixture(name="work", scope="session")
def fixture_work():
    """What others do not use: a directory, a UML and a kernel."""
    for out in WORK, UML, KERNEL:
        remove(out)
    need("check", "fuzz")
    tree.make()
    WORK.mkdir()
    yield WORK
    for out in WORK, UML, KERNEL:
        remove(out)


def forget(out, name):
    """What was made of a file is made anew: its date is the old one again."""
    remove(WORK / "user")
    remove(WORK / "hypstat")
    for path in out.rglob(".*.cmd"):
        if f"/{name}" in path.read_text("utf-8", "replace"):
            (path.parent / path.name[1:-len(".cmd")]).unlink(missing_ok=True)


def listed():
    """Each mistake in this base's tree: its name, the file, sed's command, and what finds it"""
    kinds = KINDS if BASE == MAIN else OF_BASE
    text = (TOOLS / "mutants").read_text("utf-8")
    for name, path, edit, test in re.findall(r"^([^#\t]+)\t(.*)\t(.*)\t(.*)$", text, re.M):
        kind, test = test.split(":", 1)
        if kind in kinds:
            yield name, path, edit, kind, test


def edited(path, edit):
    """The file with the mistake, which is in one line"""
    original = (TREE / path).read_text("utf-8")
    text = process.run(["sed", edit], input=original).stdout
    lines = zip(original.splitlines(), text.splitlines(), strict=True)
    changed = {was for was, now in lines if was != now}
    assert len(changed) == 1, f"{path} does not have one line for {edit}"
    return text


@pytest.mark.fast
@pytest.mark.host
def test_lines():
    """Each mistake is in a line that is there."""
    tree.make()
    for _, path, edit, *_ in listed():
        edited(path, edit)


def parameters():
    """Each mistake in this base's tree as parameters of a test."""
    kinds = KINDS | OF_BASE
    for name, path, edit, kind, test in listed():
        mark = pytest.mark.boots("default") if kinds[kind][1] == KERNEL else pytest.mark.alone
        yield pytest.param(kind, path, edit, test, id=f"{kind}-{name}",
                           marks=[mark, pytest.mark.seconds(kinds[kind][2])])


@pytest.mark.parametrize("kind, path, edit, test", parameters())
@pytest.mark.usefixtures("work")
def test_found(request, kind, path, edit, test):
    """Make the mistake, which is in one line, find it, and put the file back."""
    # pylint: disable=too-many-arguments
    finder, out, _ = (KINDS | OF_BASE)[kind]
    if out == KERNEL:
        request.getfixturevalue("kernel")("default")
    try:
        with tree.edited({path: edited(path, edit)}):
            found = finder(test)
    finally:
        forget(out, path.rpartition("/")[2])
    assert [name for name in found if test in name], found


# The test of each file, and how many mistakes in the file change nothing, or nothing that it sees
WALKS = {"arch/arm64/kvm/guest_walk.c": (".", 21), "arch/x86/kvm/guest_walk.c": ("x86", 13),
         "virt/kvm/guest_frame.c": ("frame", 13), "arch/arm64/kvm/guest_stack.c": ("stack", 2),
         "arch/x86/kvm/guest_stack.c": ("x86-stack", 3), "virt/kvm/guest_regs.c": ("regs", 0)}
CALL = r"\([^()]*\)[^&|?;=()]*"
TEST = r"!?\w+(?:\(.*\))?(?:->\w+)*(?: [&<=]+ \w+(?:\(\w*\))?)?"
# What is in a line, and what is wrong in its place: conditions, results, operands, both sides of a
# choice, bounds, numbers, statements. What does not compile then is none.
MISTAKES = {
    r"(?<=if \().*(?=\)$)": "0", r"(?<=^\t    ).*(?=\)$)": "0", "(?<=return )(?!true).*(?=;)": "1",
    rf"(?<=[ (\t])(?!return)[^ ()&|?;=][^&|?;=()]*(?:{CALL})*(?: == \d+)? (?:&&|\|\|)(?: |$)": "",
    rf" (?:&&|\|\|) [^&|?;()]*(?:{CALL})*(?=;$|\)+;?$| &&$| \|\||\) \|\|)": "",
    rf"{TEST} \? (.*?) : [^;),]*(?:\(.*\))?": r"\1", rf"{TEST} \? .*? : ([^;),]*)": r"\1",
    r"!(?=[\w(])": "", r" \| \w+\(\w+\)": "", "(?<=[A-Z])1(?=_EL1)": "0",
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ",
    r"\b[1-9]\d*\b": r"(\g<0> + 1)",
    r"(?<=^\t)\t*(?!return|break|goto|\})[a-z_>.-]+(\(.*\)| [|&+-]?= .*);$": ""}


def mistakes(lines):
    """Each mistake alone, in a line that is no comment: its place, and the line that has it."""
    for at, line in enumerate(lines):
        if not re.match(r"#include|//|\s*/?\*|\w.*\*/", line):
            yield from {(at, line[:found.start()] + found.expand(wrong) + line[found.end():])
                        for right, wrong in MISTAKES.items()
                        for found in re.finditer(right, line.partition("\t/*")[0], re.M)
                        if found[0] != found.expand(wrong)}


def is_seen(directory, work, lines):
    """Whether the test fails with these lines, or they do not compile; with a part of the load."""
    work.mkdir()
    (work / "walk.c").write_text("".join(lines), "utf-8")
    done = process.run(["timeout", f"{scaled(60):.0f}", "make", "-s", "-C",
                        TREE / "tools/testing/guest-walk" / directory, "check", f"O={work}",
                        f"WALK={work}/walk.c", "CC=gcc -w", "LOAD=2"], check=False)
    remove(work)
    return done.returncode


@pytest.mark.alone
@pytest.mark.seconds(120)
@pytest.mark.parametrize("path", WALKS)
def test_walks(path, tmp_path):
    """No more mistakes than are known go unnoticed."""
    directory, known = WALKS[path]
    tree.make()
    lines = (TREE / path).read_text("utf-8").splitlines(keepends=True)
    assert is_seen(directory, tmp_path / "right", lines) == 0
    made = list(mistakes(lines))
    with futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        seen = pool.map(lambda n: is_seen(directory, tmp_path / str(n), [
            *lines[:made[n][0]], made[n][1], *lines[made[n][0] + 1:]]), range(len(made)))
        unseen = [f"{at + 1}: {line}" for (at, line), found in zip(made, seen) if not found]
    print(f"{len(made)} mistakes, {len(unseen)} of them not seen\n", *sorted(unseen))
    assert len(made) > 20 and len(unseen) <= known
