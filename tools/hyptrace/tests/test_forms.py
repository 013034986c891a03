# SPDX-License-Identifier: GPL-2.0
"""The kselftest in each configuration of KVM and of the machine, and its soak for minutes.

  KSELFTESTS=".."          these of its tests
  SOAK=seconds SEED=number how long the soak takes (120); repeats its plan
"""

import time

import pytest

from hyptrace.machine import option

# A guest is there all the time: QEMU may go on with code of the scheduler's that the first and last
# guest patch, seen without tracing too as a vCPU that comes back without kvm_sched_in().
SETUP = """export {}
[ ! -e /dev/kvm ] || hyp-trace/guest --hold
"""

# What others have with other CPUs, or the debug kernel, which is many times slower and looks at the
# host's code, has in the other mode.
FEWER = {
    ("debug", "protected"): "mode guest events buffer clear stats reader calls hostile faults "
                            "hotplug",
    ("debug", "nvhe"): "mode files clock set_event write_event sizes trace wait raw mmap refusals "
                       "each_event filter printk stress load",
    ("default", 4): "mode guest clock events buffer clear reader raw hostile hotplug stress soak",
    ("kcsan", "protected"): "clear stats mmap",
}


def tests_for(written, config, mode, smp):
    """What a form runs. Without a hypervisor at EL2 beside the host there is one thing to test."""
    if mode in ("vhe", "none"):
        return ["mode.sh"]
    fewer = FEWER.get((config, mode)) or FEWER.get((config, smp)) or ""
    return option("KSELFTESTS").split() or [f"{name}.sh" for name in fewer.split()] or written


def forms():
    """The forms, with their sets and seconds."""
    table = """\
fast 180 default protected max 2
fast 180 default nvhe cortex-a72 2
fast 130 default protected cortex-a72 4
fast 20 default vhe max 1
modes 400 default protected max 6
modes 130 default nvhe cortex-a72 4
modes 120 default protected cortex-a72 1
modes 120 default nvhe max 1
modes 20 default vhe max 2
modes 20 default vhe max 6
modes 20 default none max 1
debug 610 debug protected max 2
debug 610 debug nvhe cortex-a72 2
debug 30 debug none max 1
pages 250 16k protected max,lpa2=off 2
pages 150 16k nvhe max 1
pages 250 64k protected max 2
pages 250 64k nvhe cortex-a72 2
kcsan 150 kcsan protected max 2"""
    for name, seconds, *form, cpus in map(str.split, table.splitlines()):
        yield pytest.param(*form, int(cpus), marks=[
            getattr(pytest.mark, name), pytest.mark.seconds(int(seconds))])


@pytest.mark.parametrize("config, mode, cpu, smp", forms())
def test_forms(vm, selftest, config, mode, cpu, smp):
    """The results of the kselftest's tests; the soak in earnest is below."""
    # pylint: disable=too-many-arguments
    files = selftest(config=config)
    tests = tests_for((files / "tests").read_text("utf-8").split(), config, mode, smp)
    vm.tests(f"{mode} {cpu}, {smp} CPU{'s' if smp > 1 else ''}", [f"hyp-trace/{t}" for t in tests],
             SETUP.format(f"KVM_MODE={mode} HYP_TRACE_SOAK=3"), files=files, config=config,
             mode=mode, cpu=cpu, smp=smp, timeout=1380)


@pytest.mark.debug
@pytest.mark.seconds(180)
@pytest.mark.parametrize("config", [option("CONFIG", "debug").replace("default", "debug")])
def test_soak(vm, selftest, config):
    """On the debug kernel and four CPUs: no splat, no leak, all events and pages accounted for."""
    seconds, seed = option("SOAK", "120"), option("SEED", str(int(time.time())))
    vm.tests("protected max, 4 CPUs", ["hyp-trace/soak.sh"], SETUP.format(
        f"HYP_TRACE_SOAK={seconds} HYP_TRACE_SOAK_SEED={seed} HYP_TRACE_SOAK_KB=131072 "
        "HYP_TRACE_SOAK_LOADS=512"), files=selftest(config=config), config=config, smp=4,
             mem="384M", timeout=int(seconds) + 300)
