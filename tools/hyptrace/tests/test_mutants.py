# SPDX-License-Identifier: GPL-2.0
"""A mistake of one line in the product does not go unnoticed: each of tools/hyptrace/mutants is
made in build/tree, and the test that is named there fails."""

import os
import re
import shutil
import sys

import pytest
from hyptrace import fuzz, kernel as kernels, ktap, perf, process, tree, uml, vm
from hyptrace.machine import BUILD, TOOLS, need
from hyptrace.tests.conftest import script_of

pytestmark = [pytest.mark.mutants]

TREE, WORK = BUILD / "tree", BUILD / "mutants"
HYPTRACE, SELFTEST = TREE / "tools/testing/hyptrace", TREE / "tools/testing/selftests"
UML, KERNEL, PERF = (BUILD / name for name in ("kernel-uml-mutant", "kernel-mutant",
                                               "perf-host-build"))
REMOTE = "trace_remote_test"
KUNIT = "/sys/kernel/debug/kunit"


def failures(text):
    """The names of results that are a failure."""
    return re.findall(r"^ *not ok\b *[\d-]* *(.*)", text, re.M)


# What finds a mistake by a kind of test: the names of what fails

def user(test):
    """A program of tools/testing/hyptrace."""
    program = WORK / "user" / test
    process.run(["make", "-s", "-C", HYPTRACE, f"O={WORK}/user", f"PROGRAMS={program}", "all"])
    return [f"{test}: {name}" for name in failures(process.run([program], check=False).stdout)]


def fuzzer(test):
    """A fuzzer there, or a test that is made of the same sources."""
    program, words = WORK / "user/fuzz" / test, []
    process.run(["make", "-s", "-C", HYPTRACE, f"O={WORK}/user", program])
    if test.endswith("_fuzz"):
        listed = HYPTRACE / "fuzz/seeds" / test.removesuffix("_fuzz")
        words = ["-seed=1", "-runs=100000", f"-artifact_prefix={WORK}/",
                 fuzz.write_seeds(listed, WORK / "seeds")]
    return [test] if process.run([program, *words], check=False).returncode else []


def in_uml(test):
    """A case of KUnit, or a script of the kselftest, in UML."""
    uml.build()
    if not test.endswith(".sh"):
        return failures(uml.kunit())
    shutil.copy(UML / f"kernel/trace/remote/tests/{REMOTE}.ko", WORK / "uml")
    setup = f"export TRACE_REMOTE={REMOTE} HYP_TRACE_MODULE=/mnt/{REMOTE}.ko\ninsmod /mnt/*.ko"
    result = uml.run(script_of([f"hyp-trace/{test}"], setup), WORK / "uml")
    return [check.name for check in ktap.read(result.output, "UML") if not check.passed]


def in_vm(suite, lines, setup="", **how):
    """Scripts of a kselftest, and cases of KUnit, in a VM."""
    kernels.build("mutant", targets=["Image"])
    result = vm.boot(script_of(lines, setup), files=kernels.selftest(suite, "mutant"),
                     config="mutant", timeout=300, **how)
    return [check.name for check in ktap.read(result.output, suite) + ktap.kunit(result.output, [])
            if not check.passed] + ["the machine ends well"] * bool(result.status)


def kselftest(test):
    """A script of the kselftest, in pKVM. A guest is there all the time."""
    return in_vm("hyp-trace", [f"hyp-trace/{test}"], "export KVM_MODE=protected HYP_TRACE_SOAK=3\n"
                 "hyp-trace/guest --hold")


def kunit(_):
    """A case of KUnit, in pKVM."""
    return in_vm("hyp-trace", [f"cat {KUNIT}/*trace_*/results"], cmdline="kunit.enable=1")


def faultable(test):
    """A case of KUnit or a script of faultable tracepoints; some script has to run."""
    return in_vm("faultable-tracepoints", [
        *(f"sed -n 's/^    //p' {KUNIT}/{suite}/results" for suite in ("tracepoint",
                                                                       "tracepoint_syscalls")),
        f"faultable-tracepoints/{test if test.endswith('.sh') else 'module.sh'}"],
                 mode="none", cmdline="kunit.enable=1 kunit.filter_glob=tracepoint*")


def perfs_own(_):
    """A case of perf's own test, which goes by its number: a name would be that of each case."""
    program = perf.build("host")
    listed = process.run([program, "test", "list"]).stdout
    said = process.run([program, "test", re.search(r"^ *(\d+): KVM: which", listed, re.M)[1]],
                       check=False).stdout
    return re.findall(r": (.*?) *: FAILED", said)


def recorded(_):
    """A case of the recordings of other architectures."""
    words = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "test_perf_kvm.py"]
    return failures(process.run(words, check=False, cwd=TOOLS / "tests", env=os.environ | {
        "TESTS": "perf_kvm.recorded", "SET": ""}).stdout)


# Each kind's, the directory of what is made of the tree, and the seconds that one takes
KINDS = {"user": (user, WORK, 10), "fuzz": (fuzzer, WORK, 20), "uml": (in_uml, UML, 25),
         "vm": (kselftest, KERNEL, 60), "kunit": (kunit, KERNEL, 60), "perf": (perfs_own, PERF, 15),
         "faultable": (faultable, KERNEL, 60), "recorded": (recorded, PERF, 15)}


@pytest.fixture(name="work", scope="session")
def fixture_work():
    """What others do not use: a directory, UML and its kselftest."""
    for out in WORK, UML, KERNEL:
        shutil.rmtree(out, ignore_errors=True)
    need("check", "fuzz")
    tree.make()
    for path in "built", "uml/kselftest":
        (WORK / path).mkdir(parents=True)
    kernels.make("x86_64", "-s", "-C", SELFTEST / "hyp-trace", f"OUTPUT={WORK}/built",
                 f"INSTALL_PATH={WORK}/uml/hyp-trace", "install")
    shutil.copy(SELFTEST / "kselftest/ktap_helpers.sh", WORK / "uml/kselftest")
    yield WORK
    for out in WORK, UML, KERNEL:
        shutil.rmtree(out, ignore_errors=True)


def forget(out, name):
    """What was made of a file is made anew: its date is the old one again."""
    shutil.rmtree(WORK / "user", ignore_errors=True)
    for path in out.rglob(".*.cmd"):
        if f"/{name}" in path.read_text("utf-8", "replace"):
            (path.parent / path.name[1:-len(".cmd")]).unlink(missing_ok=True)


def listed_mutants():
    """The parameters of each line of the list."""
    for line in (TOOLS / "mutants").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            name, path, edit, test = re.split(r"\t+", line)
            kind, test = test.split(":", 1)
            mark = pytest.mark.boots("default") if KINDS[kind][1] == KERNEL else pytest.mark.alone
            yield pytest.param(kind, path, edit, test, id=f"{kind}-{name}",
                               marks=[mark, pytest.mark.seconds(KINDS[kind][2])])


@pytest.mark.parametrize("kind, path, edit, test", listed_mutants())
@pytest.mark.usefixtures("work")
def test_found(request, monkeypatch, kind, path, edit, test):
    """Make the mistake, which is in one line, find it, and put the file back."""
    # pylint: disable=too-many-arguments
    finder, out, _ = KINDS[kind]
    if kind == "uml":
        if not UML.exists():
            process.run(["cp", "-a", uml.build(), UML])
        monkeypatch.setenv("UML", UML.name)
    elif out == KERNEL:
        request.getfixturevalue("kernel")("default")
    original = (TREE / path).read_text("utf-8")
    text = process.run(["sed", edit], input=original).stdout
    lines = list(zip(original.splitlines(), text.splitlines(), strict=True))
    assert sum(a != b for a, b in lines) == 1, f"{path} does not have one line for {edit}"
    try:
        with tree.edited({path: text}):
            found = finder(test)
    finally:
        forget(out, path.rpartition("/")[2])
    assert [name for name in found if test in name], found
