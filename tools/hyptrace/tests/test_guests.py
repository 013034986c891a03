# SPDX-License-Identifier: GPL-2.0
"""Real guests of KVM with every event of the hypervisor on: they run the same, and each trace has
what was counted meanwhile, to the event.

FORMS="protected,max nvhe,max"    KVM's modes and CPUs
ALL=1                             KVM's selftests that take long, too
"""

# pylint: disable=too-many-arguments
import re
import shutil

import pytest

from hyptrace import clients, kernel as kernels, trace
from hyptrace.machine import option, scaled

# KVM's own selftests that end within seconds in each mode, and longer ones. The others need what
# is not there (several sizes of pages, userfaultfd, a PMU), or fail without tracing in QEMU's
# emulation.
SHORT = """guest_print_test hypercalls kvm_binary_stats_test kvm_create_max_vcpus no-vgic-v3
    psci_test smccc_filter steal_time vcpu_width_config vgic_irq vgic_lpi_stress"""
LONG = " coalesced_io_test debug-exceptions set_memory_region_test"


def forms(default):
    """Modes and CPUs, as parameters."""
    return [pytest.param(*form.split(",", 1), id=form.replace(",", "-"))
            for form in option("FORMS", default).split()]


@pytest.fixture(name="run")
def run_fixture(vm, selftest, tmp_path):
    """run(script, programs, limit, ...): what a script left in /out of a VM, which has the
    programs beside traced.sh; of the seconds a guest may take."""
    def run(script, programs, limit, **how):
        selftest()
        clients.beside_selftest(tmp_path, clients.GUESTS / "traced.sh")
        (tmp_path / "limit").write_text(f"{scaled(limit):.0f}\n", "utf-8")
        (tmp_path / "kvm").mkdir()
        for program in programs:
            shutil.copy(program, tmp_path / "kvm")
        return vm.ok("the VM ends well", clients.GUESTS / script, files=tmp_path, **how).out
    return run


def tap(path):
    """The results that a program prints, without times."""
    return [line for line in trace.read(path) if re.match(r"ok|not ok|Bail out|\d+\.\.", line)]


@pytest.mark.clients
@pytest.mark.seconds(25)
@pytest.mark.parametrize("mode, cpu", forms("protected,max"))
def test_guests(run, checks, mode, cpu):
    """KVM's own selftests of this kernel pass the same with every event of the hypervisor on."""
    limit = 600 if option("ALL") else 120
    names = (SHORT + LONG * bool(option("ALL"))).split()
    built = clients.kvm_selftests()
    out = run("kvm-selftests.sh", [built[name] for name in names], limit, mode=mode, cpu=cpu,
              mem="4G", timeout=120 + len(names) * limit / 2)
    for name in names:
        said = [trace.read(out / f"{name}.{how}")[-20:] for how in ("off", "on")]
        checks(f"{name} passes, and the same with all traced",
               trace.read(out / f"{name}.status") == ["off 0", "on 0"] and
               tap(out / f"{name}.off") == tap(out / f"{name}.on"), said)
        checks.equals(f"{name}: the trace adds up", trace.adds_up(out / name)[:20], [])


# In hVHE form 6.12's KVM shows a guest features of QEMU 10's newest CPU that then trap: init
# dies of SIGILL, without tracing too. (Others: protected,cortex-a72 nvhe,max)
@pytest.mark.clients
@pytest.mark.seconds(15)
@pytest.mark.parametrize("mode, cpu", forms("protected,cortex-a76"))
def test_nested(run, checks, tmp_path, mode, cpu):
    """Linux, as a guest of KVM's, boots and powers off with every event of the hypervisor on and
    read. The guest's kernel is the host's."""
    clients.qemu(tmp_path)
    out = run("linux.sh", [kernels.image()], 300, mode=mode, cpu=cpu, timeout=420)
    console = [line.rstrip("\r") for line in trace.read(out / "guest.console")]
    checks("the guest is up", "the guest is up: Linux aarch64, 2 CPUs" in console and
           any("reboot: Power down" in line for line in console), console)
    checks.equals("the trace adds up", trace.adds_up(out / "guest")[:20], [])
