# SPDX-License-Identifier: GPL-2.0
"""Each file of ours, and each that the patches change, compiles without a warning, apart from the
kernels that are booted: by gcc, clang and sparse, on the oldest source that is supported, with
options turned off and on, and for other machines. What EL2's code is like."""

import functools
import os
import re
import shutil
import sys

import pytest
from hyptrace import kernel as kernels, objects, patches, process, repo, series, source, tree
from hyptrace.machine import BUILD, ROOT, Failure, cross_for, need
from hyptrace.vm import PRELUDE

pytestmark = [pytest.mark.variants, pytest.mark.alone]

LINT, CLANG = BUILD / "kernel-lint", BUILD / "kernel-clang"
OFF = [f"KVM_HYP_TRACING{end}=n" for end in ("", "_DUMP", "_SELFTEST", "_KUNIT_TEST")]
PID, SELFTEST_OFF = "PID_IN_CONTEXTIDR=y", OFF[2:]
remove = functools.partial(shutil.rmtree, ignore_errors=True)


@pytest.fixture(name="laid", scope="module", autouse=True)
def fixture_laid():
    need("check")
    tree.make()


@pytest.fixture(name="compiler", params=["lint", "clang"])
def fixture_compiler(request):
    """A configuration: for gcc or for clang."""
    yield request.param
    remove(CLANG)


def judge(checks, out, files):
    """The checks of a build; its log."""
    log, left = objects.log_of(out), objects.not_compiled(out)
    checks("each file of ours and each that the patches change is compiled",
           tree.c_files() and not left, left)
    checks.equals("without a warning", objects.warnings(log, files), [])
    return log


@pytest.mark.seconds(160)
def test_compiler(checks, compiler):
    """gcc and sparse, of which warnings in new files count; clang, of which Debian 12's is the
    oldest that this is run with. Both with W=1."""
    by_clang, out = compiler == "clang", BUILD / f"kernel-{compiler}"
    remove(out)
    kernels.build(compiler, targets=["W=1", *["C=1"] * (not by_clang),
                                     *tree.objects(BUILD / "tree")])
    log = judge(checks, out, objects.ours() if by_clang else patches.new_files())
    checks.equals("the compiler", "CONFIG_CC_IS_CLANG=y\n" in (out / ".config").read_text("utf-8"),
                  by_clang)
    checks("sparse looked at the reader", by_clang or re.search("CHECK .*ring_buffer.c", log))


@pytest.mark.series
@pytest.mark.seconds(110)
def test_the_oldest_source(checks, tmp_path):
    """That apt offers and the series supports, in a repository of its own."""
    version = min(source.versions(), key=patches.numbers)
    process.run(["cp", "-R", "--parents", *patches.new_files(), "patches", "tools/hyptrace",
                 tmp_path], cwd=ROOT)
    process.run(["git", "init", "-q", tmp_path])
    given = {"PYTHONPATH": str(tmp_path / "tools"), "SOURCE": str(source.fetch(version)),
             "TARGETS": " ".join(tree.objects(BUILD / "tree"))}
    driver = [sys.executable, "-B", "-m", "hyptrace"]
    said = process.run([*driver, "tree"], cwd=tmp_path, env=os.environ | given).stdout
    count = sum(len(patches.series(topic)) for topic in patches.topics())
    checks(f"make tree on {version}", f"{source.upstream(version)}, {count} patches, "
           f"{len(patches.new_files())} new files" in said, said)
    process.run([*driver, "kernel"], cwd=tmp_path, env=os.environ | given)
    judge(checks, tmp_path / "build/kernel-default", objects.ours())


@pytest.mark.seconds(120)
def test_options(checks):
    """Ours off, and those on that distributions turn on: no warning, and nothing is left undefined
    at EL2 that is not so with all of ours."""
    known = None
    for options in ([], OFF[1:2], SELFTEST_OFF, [PID], ["FORTIFY_SOURCE=y", "INIT_STACK_ALL_ZERO=y",
                                                        "UBSAN=y", "LIST_HARDENED=y"], OFF):
        (LINT / objects.EL2).unlink(missing_ok=True)
        kernels.build("lint", options=options, targets=[
            "W=1", "arch/arm64/kvm/", "fs/tracefs/", *(f"kernel/trace/{name}.o" for name in (
                "ring_buffer", "trace", "trace_events", "trace_events_filter"))])
        names = objects.undefined(LINT)
        known = known or names
        wrong = objects.warnings(objects.log_of(LINT), objects.ours()) + sorted(names - known)
        checks(options[0] if options else "all options on", names and not wrong, wrong)


# Each exit of a guest is traced; events with a process are filtered by it where EL2 knows it.
TRACED = r"""
exits() { guest | sed 's/.* exits=\([0-9]*\) .*/\1/'; }
cd /sys/kernel/tracing/hypervisor
echo 1 >tracing_on; exits=$(exits); echo 0 >tracing_on
[ "$(grep -c 'hyp_exit reason=guest' trace)" = "$exits" ] || exit
echo >trace
echo "common_pid != 0" >events/hypervisor/guest_exit/filter
echo 1 >tracing_on; exits=$(exits); echo 0 >tracing_on
$has_pid || exits=0
[ "$(grep -c guest_exit trace)" = "$exits" ]
"""
UNTRACED = "[ ! -e /sys/kernel/tracing/hypervisor ]\nguest\n"


@pytest.mark.boots("default")
@pytest.mark.seconds(120)
@pytest.mark.parametrize("options", [OFF[1:2], SELFTEST_OFF, [PID], OFF],
                         ids=lambda options: options[0].partition("=")[0])
def test_linked(checks, vm, selftest, options):
    """Link and boot a kernel with options off or on: a guest runs, and is traced where there is
    tracing. It is made of the default kernel."""
    out = kernels.build("event", options=options, targets=["Image"])
    log = objects.log_of(out)
    checks("it builds without a warning", "LD      vmlinux" in log and "warning:" not in log, log)
    has_pid = f"has_pid={str(PID in options).lower()}\n"
    for mode, cpu in ("protected", "max"), ("nvhe", "cortex-a72"):
        vm.ok(f"it boots, {mode}", PRELUDE + has_pid + (UNTRACED if options == OFF else TRACED),
              files=selftest(), image=kernels.image("event"), mode=mode, cpu=cpu, timeout=120)
    remove(out)


def el2_object(config, options, path):
    (BUILD / f"kernel-{config}" / objects.EL2).unlink(missing_ok=True)
    out = kernels.build(config, options=options, targets=[objects.NVHE + "/"])
    return shutil.move(out / objects.EL2, path)


SPILLED = re.compile(r"ldr [wx]\d+, \[sp, #\d+\]")
# What comes between the two does not branch or compare, and leaves the register as it is.
SELECTED = re.compile(
    r"^(?:csel|csinc) w(\d+),.*\n"
    r"(?:(?!b|cb|tb|ret|cmp|\w+ [wx]\1\b|ldp \w+, [wx]\1\b).*\n)*cmp .*\bw\1\b", re.M)


@pytest.mark.seconds(100)
def test_el2_code(checks, tmp_path, compiler):
    """An event that is off costs three instructions, whatever the compiler inlines, and where it
    takes an address out of a loop, one more. With -Os it may take a constant argument from a
    variable that has this value, and read that from the stack. The next predicate of a filter is
    selected, not branched to: a CPU can't mispredict it."""
    for level, options in {"-O2": [], "-Os": ["CC_OPTIMIZE_FOR_SIZE=y",
                                              "CC_OPTIMIZE_FOR_PERFORMANCE=n"]}.items():
        obj = el2_object(compiler, options, tmp_path / "el2.o")
        _, insns, wasted = objects.events(obj)
        checks(f"{level}: an event that is off costs three instructions", insns < 3.5, insns)
        checks.equals(f"{level}: nothing is computed for it", [
            each for each in wasted if level == "-O2" or not SPILLED.search(each)], [])
        insns = "\n".join(dict(objects.code_of(obj))["__kvm_nvhe_hyp_filter_match"])
        checks(f"{level}: the next predicate of a filter is selected",
               SELECTED.search(insns))


WRONG = ("%c", "%hd", "%hhx", "%-3d", "% d", "%+d", "%#x", "%.2d")


@pytest.mark.seconds(60)
def test_wrong_formats_of_el2(checks, compiler):
    """Each is an error of the compiler's; tests/test_writer.py has more of them."""
    path, calls = f"{objects.NVHE}/trace_hcall.c", "".join(
        f'void wrong_{nr}(int number);\nvoid wrong_{nr}(int number)\n{{\n'
        f'\thyp_trace_printk("{spec}", number);\n}}\n' for nr, spec in enumerate(WRONG))
    with tree.edited({path: (BUILD / "tree" / path).read_text("utf-8") + calls}):
        with pytest.raises(Failure):
            kernels.build(compiler, targets=[path.replace(".c", ".nvhe.o")])
    log = objects.log_of(BUILD / f"kernel-{compiler}")
    checks.equals("each is an error", len(re.findall(
        "error: .*hyp_trace_printk: no such conversion", log)), len(WRONG))


@pytest.mark.seconds(60)
def test_without_tracing_no_function_of_el2_is_longer_than_in_the_source(tmp_path):
    """But for those that the patches change on purpose: the result of FFA_VERSION is cleared, a
    call that is passed on leaves by one way, an access to a system register has a case."""
    may_grow = "__kvm_nvhe_kvm_host_ffa_handler", "__kvm_nvhe_handle_trap"
    plain = tree.checkout("plain-source", commit=repo.commit_of(repo.laid("source")))
    out, config = tmp_path / "kernel", ROOT / "kernel/configs/hyptrace.config"
    for words in [f"KCONFIG_ALLCONFIG={config}", "allnoconfig"], [objects.NVHE + "/"]:
        kernels.make("arm64", "-s", "-j4", "-C", plain, f"O={out}", *words)
    was, now = ({name: sum(not insn.startswith(("R_AARCH64_", "DATA")) for insn in insns)
                 for name, insns in objects.code_of(path)}
                for path in (out / objects.EL2, el2_object("lint", OFF, tmp_path / "without.o")))
    assert len(now) >= 200
    assert not {name: (was.get(name), length) for name, length in now.items()
                if name not in may_grow and length > was.get(name, 0)}


@pytest.mark.seconds(100)
def test_without_the_option_functions_of_el2_are_as_before(checks):
    """EL2's object, byte for byte, before the mails that let it trace functions and after them."""
    names = {name: commit for commit, name in series.commits_of("hyp-trace").items()}
    first = names["KVM-arm64-Trace-the-functions-of-EL2.patch"]
    last = names["KVM-arm64-Choose-at-EL2-which-functions-are-traced.patch"]
    found = []
    for commit, value in (f"{first}^", "n"), (last, "n"), (last, "y"):
        out = kernels.build("lint", tree=tree.checkout("prefix", commit=commit),
                            options=[f"KVM_HYP_FUNCTION_TRACER={value}"],
                            unknown=tree.our_options(), targets=[objects.NVHE + "/"])
        found.append((out / objects.EL2).read_bytes())
    checks("they are the same", found[0] == found[1])
    checks("and have other code with the option", found[1] != found[2])
    remove(LINT)


# Options of each, and which must be in .config
COMMON = """BLK_DEV_IO_TRACE BLOCK BPF_SYSCALL BUG EXPERT FTRACE FTRACE_SYSCALLS HIST_TRIGGERS INET
    KPROBES KPROBE_EVENTS KUNIT MMU MODULES NET NET_DROP_MONITOR PERF_EVENTS PRINTK RV RV_REACTORS
    SMP SYSFS TRACEPOINT_KUNIT_TEST TRACE_SYSCALLS_KUNIT_TEST UPROBE_EVENTS"""
GOT = "BPF_EVENTS FTRACE_SYSCALLS TRACEPOINT_KUNIT_TEST TRACE_SYSCALLS_KUNIT_TEST"
# The directories of our files, and the call sites of system calls
TARGETS = """fs/tracefs/ kernel/bpf/ kernel/events/ kernel/trace/ kernel/tracepoint.o
    kernel/tracepoint_test.o net/bpf/test_run.o net/core/drop_monitor.o"""
# Files that no machine here has a use for: dumps are for a remote that can panic.
USELESS = "/trace_dumper.c /remote/dump.c ^arch/x86/um/"
NO_REMOTE = "/remote/ /ring_buffer_reader _remote.c /trace_ring.c"
# The architecture; options; those that must be in .config; targets; files that have no use there
MACHINES = {
    "x86-m": ("x86_64", "64BIT FUNCTION_TRACER TRACE_REMOTE_TEST=m TRACE_REMOTE_KUNIT_TEST=n",
              "TRACE_REMOTE_TEST=m", "arch/x86/events/core.o",
              "/remote/tests/test ^virt/kvm/ ^arch/x86/kvm/ ^arch/x86/xen/"),
    "x86-y": ("x86_64", "64BIT HYPERVISOR_GUEST PARAVIRT XEN XEN_PV VIRTUALIZATION "
              "HIGH_RES_TIMERS KVM KVM_AMD KVM_INTEL TRACE_REMOTE_TEST TRACE_REMOTE_KUNIT_TEST",
              "TRACE_REMOTE_TEST TRACE_REMOTE_KUNIT_TEST KVM_AMD KVM_INTEL XEN_PV",
              "arch/x86/events/core.o arch/x86/kvm/ arch/x86/xen/pmu.o kernel/entry/common.o", ""),
    "arm": ("arm", "FUNCTION_TRACER ARCH_MULTIPLATFORM ARCH_MULTI_V7 ARCH_VIRT", "",
            "arch/arm/kernel/ptrace.o", NO_REMOTE + " ^virt/kvm/"),
    "riscv": ("riscv", "NONPORTABLE 64BIT VIRTUALIZATION KVM", "KVM",
              "kernel/entry/common.o arch/riscv/kvm/", NO_REMOTE + " /trace_events_hist.c"),
}


def settings(*names):
    """Lines of .config: an option is on, if nothing else is said."""
    return [f"CONFIG_{each}" + "=y" * ("=" not in each) for each in " ".join(names).split()]


@pytest.mark.seconds(105)
@pytest.mark.parametrize("name", MACHINES)
def test_other_machines(checks, tmp_path, name):
    """With no warning by W=1: x86-64, with the test remote as a module and built in with its KUnit
    suites; 32-bit Arm, which has no remote tracing and no KVM; RISC-V."""
    need("kernel", "archs")
    arch, options, wanted, targets, useless = MACHINES[name]
    out, config = BUILD / f"kernel-{name}", tmp_path / "config"
    config.write_text("\n".join(settings(COMMON, options)) + "\n", "utf-8")
    remove(out)
    out.mkdir()
    words = ["-C", BUILD / "tree", f"O={out}"]
    kernels.make(arch, *words, f"KCONFIG_ALLCONFIG={config}", "allnoconfig")
    got = (out / ".config").read_text("utf-8").splitlines()
    checks.equals("a configuration", set(settings(GOT, wanted)) - set(got), set())
    kernels.long_make(arch, BUILD / f"{out.name}.log", f"compiling for {name}",
                      [*words, "W=1", *TARGETS.split(), *targets.split()])
    checks.equals("it builds without a warning",
                  objects.warnings(objects.log_of(out), objects.ours()), [])
    if "CONFIG_HAVE_KVM_GUEST_FRAMES=y" not in got:
        useless += " /guest_frame.c"
    useless = re.compile("|".join(f"{USELESS} {useless}".split()))
    arch = arch.partition("_")[0]    # its directory
    needed = {path for path in tree.c_files(arch) if not useless.search(path)}
    left = needed & set(objects.not_compiled(out, arch))
    checks("each file is compiled", len(needed) >= 15 and not left, left)
    if name == "arm":
        said = process.run([cross_for("arm") + "nm", "-uA",
                            *(out / "kernel/trace").rglob("*.o")]).stdout
        checks.equals("no division of libgcc's, which the kernel does not have",
                      re.findall(r".*__aeabi_u?ldivmod.*", said), [])
    remove(out)
