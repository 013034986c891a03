# SPDX-License-Identifier: GPL-2.0
"""Remote tracing without EL2: the kselftest on the module trace_remote_test. In a VM of two CPUs
without KVM; and in UML, which has one CPU, natively, with the KUnit suites of
kernel/trace/remote."""

import platform
import shutil

import pytest

from hyptrace import kernel as kernels, ktap, tree, uml
from hyptrace.machine import BUILD, ROOT
from hyptrace.tests.conftest import script_of

SELFTESTS = BUILD / "tree/tools/testing/selftests"


def tests_of(built):
    """What other machines than arm64 run of the kselftest that make built there."""
    listed = kernels.make("x86_64", "-s", "-C", SELFTESTS / "hyp-trace", f"OUTPUT={built}",
                          "emit_tests")
    return [f"hyp-trace/{line.partition(':')[2]}" for line in listed.splitlines()]


def setup(modules):
    """With the module of that directory of the machine."""
    return f"""export TRACE_REMOTE=trace_remote_test HYP_TRACE_MODULE={modules}/trace_remote_test.ko
insmod "$HYP_TRACE_MODULE" || exit
trap 'rmmod trace_remote_test || exit 1' EXIT"""


@pytest.mark.modes
@pytest.mark.seconds(120)
def test_remote(vm, selftest):
    """No part of what it tests needs EL2."""
    files = selftest()
    vm.tests("2 CPUs", tests_of(BUILD / "selftest-build"), setup("/test/hyp-trace/modules"),
             files=files, mode="none", timeout=1200)


@pytest.mark.fast
@pytest.mark.alone
@pytest.mark.seconds(240)
@pytest.mark.skipif(platform.machine() != "x86_64", reason="UML runs on x86-64")
def test_uml(checks, tmp_path):
    """KUnit, then the kselftest for this machine: its own programs, and the shell's."""
    tree.make()
    built = uml.build()
    checks.add(ktap.kunit(uml.kunit(), (ROOT / "kernel/trace/remote/tests").glob("test*.c")))
    files, objects = tmp_path / "files", tmp_path / "build"
    files.joinpath("kselftest").mkdir(parents=True)
    objects.mkdir()
    kernels.make("x86_64", "-s", "-C", SELFTESTS / "hyp-trace", f"OUTPUT={objects}",
                 f"INSTALL_PATH={files}/hyp-trace", "install")
    shutil.copy(SELFTESTS / "kselftest/ktap_helpers.sh", files / "kselftest")
    shutil.copy(built / "kernel/trace/remote/tests/trace_remote_test.ko", files)
    result = uml.run(script_of(tests_of(objects), setup("/mnt")), files)
    checks.add(ktap.read(result.output, "UML"))
    checks("UML: the machine ends well", result.status == 0, result.errors)
