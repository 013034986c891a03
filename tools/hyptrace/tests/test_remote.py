# SPDX-License-Identifier: GPL-2.0
"""Remote tracing without EL2: the kselftest on the module trace_remote_test. In a VM of two CPUs
without KVM; and in UML, which has one CPU, natively, with the KUnit suites of
kernel/trace/remote."""

import platform
import shutil

import pytest

from hyptrace import kernel as kernels, ktap, tree, uml
from hyptrace.machine import ROOT
from hyptrace.tests.conftest import script_of

SETUP = """export TRACE_REMOTE=trace_remote_test HYP_TRACE_MODULE={}/trace_remote_test.ko
insmod "$HYP_TRACE_MODULE" || exit
trap 'rmmod trace_remote_test || exit 1' EXIT"""


def tests_of(files):
    """What other machines than arm64 run of the kselftest."""
    return [f"hyp-trace/{name}" for name in (files / "tests").read_text("utf-8").split()]


@pytest.fixture(name="files")
def files_fixture(tmp_path):
    """The kselftest for this machine: its own programs, and the shell's."""
    tree.make()
    kernels.install("x86_64", "hyp-trace", tmp_path / "objects", tmp_path / "files")
    return tmp_path / "files"


@pytest.mark.modes
@pytest.mark.seconds(120)
def test_remote(vm, selftest, files):
    """No part of what it tests needs EL2."""
    vm.tests("2 CPUs", tests_of(files), SETUP.format("/test/hyp-trace/modules"), files=selftest(),
             mode="none", timeout=1200)


@pytest.mark.fast
@pytest.mark.alone
@pytest.mark.seconds(240)
@pytest.mark.skipif(platform.machine() != "x86_64", reason="UML runs on x86-64")
def test_uml(checks, files):
    """KUnit, then the kselftest."""
    module = uml.build() / "kernel/trace/remote/tests/trace_remote_test.ko"
    checks.add(ktap.kunit(uml.kunit(), (ROOT / "kernel/trace/remote/tests").glob("test*.c")))
    shutil.copy(module, files)
    checks.ran("UML", uml.run(script_of(tests_of(files), SETUP.format("/mnt")), files))
