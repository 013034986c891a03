# SPDX-License-Identifier: GPL-2.0
"""The kselftest and the KUnit suites in each configuration of KVM and of the machine.

  KSELFTESTS=".."                 these scripts
  MACHINE="default nvhe max 2"    on this machine: kernel, mode, CPU, CPUs
  LIMIT=seconds VARIABLES=".."    how long they may take; what they take from the environment
  SOAK=seconds SEED=number        how long the soak takes (120); repeats its plan
"""

import platform
import re
import time

import pytest

from hyptrace import kernel as kernels, process, results, tree
from hyptrace.machine import BUILD, ROOT, need, number, option
from hyptrace.tests.conftest import rows

# A guest is there all the time: QEMU may go on with code of the scheduler's that the first and last
# guest patch, seen without tracing too as a vCPU that comes back without kvm_sched_in().
SETUP = """export {}
[ ! -e /dev/kvm ] || hyp-trace/guest --hold
"""
MODULE = """module=/test/hyp-trace/modules/trace_remote_test.ko
export TRACE_REMOTE=trace_remote_test HYP_TRACE_MODULE=$module
insmod $module || exit
trap 'rmmod trace_remote_test || exit 1' EXIT"""
# What others have with other CPUs, or the debug kernel, which is many times slower and looks at the
# host's code, has in the other mode.
FEWER = {
    ("debug", "protected"): "mode guest events buffer clear stats reader calls triggers hist "
                            "hostile faults hotplug",
    ("debug", "nvhe"): "mode files clock set_event write_event sizes trace wait raw mmap refusals "
                       "each_event filter printk pids snapshot stress load",
    ("default", 4): "mode guest clock events buffer clear reader raw hostile hotplug stress soak",
    ("kcsan", "protected"): "clear stats mmap",
    ("functions", "protected"): "mode files guest clock events each_event calls pids triggers "
                                "functions tracers hostile faults hotplug stress "
                                "load",
    ("functions", "nvhe"): "mode files guest events each_event functions tracers stress load",
    ("bti", "protected"): "mode guest each_event functions tracers hostile hotplug load",
    ("bti", "nvhe"): "mode guest each_event functions tracers load",
}
# These need an option that some kernels have.
OF_FUNCTIONS = "functions.sh", "tracers.sh"
WITH_FUNCTIONS = "functions", "16k", "64k", "bti"
# These judge what they trace while all functions are traced beside it. Others expect exact lists of
# events, or count what is enabled.
BESIDE_FUNCTIONS = """guest clock set_event write_event sizes trace clear stats overwrite snapshot
    wait raw mmap hostile hotplug splice access error_log accounting vcpu_stats stop_tracing cpumask
    pids triggers hist stress load"""
# Of each configuration the set, the seconds, the kernel, the mode, the CPU, and how many CPUs
CONFIGURATIONS = """\
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
modes 250 functions protected max 2
modes 250 functions protected cortex-a72 2
modes 150 functions nvhe cortex-a72 2
debug 800 debug protected max 2
debug 610 debug nvhe cortex-a72 2
debug 30 debug none max 1
pages 300 16k protected max,lpa2=off 2
pages 200 16k nvhe max 1
pages 250 64k protected max 2
pages 250 64k nvhe cortex-a72 2
pages 250 bti protected max 2
pages 150 bti nvhe max 2
kcsan 150 kcsan protected max 2""" if not option("MACHINE") else \
    f"fast {number('LIMIT', 1380)} {option('MACHINE')}"
KUNIT = """\
fast 25 default max
debug 190 debug max
pages 25 16k max,lpa2=off
pages 25 64k max
kcsan 200 kcsan max"""
SUITES = ("trace_remote_ring trace_remote_merge trace_remote_setup trace_remote_api "
          "hyp_trace_setup hyp_trace_events hyp_trace_buffer hyp_trace_retry")
REMOTE, LOCAL = ROOT / "kernel/trace/remote/tests", ROOT / "arch/arm64/kvm/hyp_trace/tests"
# Functions of ring_buffer.h that make a buffer, take none, or need a process' mapping (mmap.sh)
NO_CASE = set("""alloc alloc_range event_data event_length read_page_data read_page_size
    print_entry_header map_dup""".split())


def scripts(written, config, mode, smp):
    """What a machine runs: one test, if it has no hypervisor at EL2 beside the host."""
    if mode in ("vhe", "none"):
        return ["mode.sh"]
    fewer = FEWER.get((config, mode)) or FEWER.get((config, int(smp))) or ""
    return option("KSELFTESTS").split() or [f"{name}.sh" for name in fewer.split()] or [
        name for name in written if config in WITH_FUNCTIONS or name not in OF_FUNCTIONS]


@pytest.mark.parametrize("config, mode, cpu, smp", rows(CONFIGURATIONS))
def test_kselftest(vm, selftest, config, mode, cpu, smp):
    """The results of the kselftest's tests; the soak in earnest is below."""
    files, limit = selftest(config=config), number("LIMIT", 1380)
    tests = scripts((files / "tests").read_text("utf-8").split(), config, mode, smp)
    variables = " ".join(option("VARIABLES", "HYP_TRACE_SOAK=3").split())
    vm.tests(f"{mode} {cpu}, {smp} CPU{'s' if smp != '1' else ''}",
             [f"hyp-trace/{name}" for name in tests], SETUP.format(f"KVM_MODE={mode} {variables}"),
             files=files, config=config, mode=mode, cpu=cpu, smp=smp, timeout=limit)


@pytest.mark.parametrize("config, mode", rows("modes 300 functions protected"))
def test_beside_functions(vm, selftest, config, mode):
    """The same tests while EL2's functions are traced, all of them"""
    vm.tests(f"{mode}, all functions", [f"hyp-trace/{name}.sh" for name in
                                        BESIDE_FUNCTIONS.split()],
             SETUP.format(f"KVM_MODE={mode} HYP_TRACE_FUNCTIONS='*'"),
             files=selftest(config=config), config=config, mode=mode, timeout=1380)


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


@pytest.mark.fast
@pytest.mark.seconds(120)
def test_remote(vm, selftest, tmp_path):
    """Remote tracing without EL2 and without KVM, on the module trace_remote_test: what machines
    other than arm64 run."""
    files = selftest()
    listed = kernels.make("x86_64", "-s", "-C", BUILD / "tree/tools/testing/selftests/hyp-trace",
                          f"OUTPUT={tmp_path}", "emit_tests")
    vm.tests("2 CPUs", [f"hyp-trace/{name}" for name in re.findall(r"\w+\.sh$", listed, re.M)],
             MODULE, files=files, mode="none", timeout=1200)


@pytest.mark.parametrize("config, cpu", rows(KUNIT))
def test_kunit(vm, checks, config, cpu):
    """Each case is a result: of the rings, and of setting them up."""
    result = vm(f"cd /sys/kernel/debug/kunit\nfor suite in {SUITES}; do cat $suite/results; done",
                config=config, cpu=cpu, cmdline="kunit.enable=1", timeout=600)
    checks("the VM ends well", result.status == 0, result.errors)
    checks.add(results.kunit(result.output, [*REMOTE.glob("test*.c"), *LOCAL.glob("test*.c")]))


def in_uml(out):
    """What the kernel's runner of KUnit says; it builds UML, the kernel as a program of x86-64."""
    need("kernel", "uml")
    return process.run(
        ["/usr/bin/python3", "-B", "tools/testing/kunit/kunit.py", "run", "--raw_output=all",
         f"--build_dir={out}", "--kunitconfig=kernel/trace/remote", "--timeout=900",
         "--kunitconfig=kernel/configs/hyptrace-uml.config", "--kernel_args=log_buf_len=16M"],
        cwd=BUILD / "tree", env=kernels.clean_env(), check=False).stdout


@pytest.mark.fast
@pytest.mark.alone
@pytest.mark.seconds(100)
@pytest.mark.skipif(platform.machine() != "x86_64", reason="UML runs on x86-64")
def test_uml(checks):
    """The same cases natively, with lockdep"""
    tree.make()
    with process.lock("kernel-uml"):
        checks.add(results.kunit(in_uml(BUILD / "kernel-uml"), REMOTE.glob("test*.c")))


@pytest.mark.fast
@pytest.mark.host
def test_each_function_is_called():
    """test_api.c calls each function of ring_buffer.h that takes a buffer or an iterator."""
    pattern = re.compile(r"\bring_buffer_([a-z_]+)\(")
    names = set(pattern.findall((BUILD / "tree/include/linux/ring_buffer.h").read_text("utf-8")))
    assert "consume" in names
    assert not names - NO_CASE - set(pattern.findall((REMOTE / "test_api.c").read_text("utf-8")))
