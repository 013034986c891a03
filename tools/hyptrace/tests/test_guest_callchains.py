# SPDX-License-Identifier: GPL-2.0
"""Call chains of guests: the kselftest in each mode of KVM, and perf kvm with its reports, whose
guest's calls are known. KVM's walks of a guest's tables, its reads of the frames of a stack, and
which guests it refuses, in user space, under sanitizers.

  SAMPLES=n   of the test that counts what is lost
  SEED=n      of the hostile guests, and of the tables
"""

import json
import os
import platform
import re
import shutil
from collections import Counter

import pytest
from hyptrace import demo, ktap, perf, process, tree
from hyptrace.machine import BUILD, ROOT, TOOLS, arch_of, cross_for, need, number

SUITE = "kvm-guest-callchains"
SAMPLES, SEED = number("SAMPLES", 20000), number("SEED", os.getpid())
WALKS = BUILD / "tree/tools/testing/guest-walk"
PREPARE = """echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
"""
HOSTILE = "hostile hotplug losses bpf"
TESTS = {"default": f"chains {HOSTILE} perf", "pmu": f"chains kinds {HOSTILE} perf",
         "debug": f"chains {HOSTILE}", "kcsan": f"chains {HOSTILE}", "x86": "x86_chains perf"}
COUNTED = "-icount shift=3,sleep=off"   # by instructions: how busy this machine is does not count
KERNEL, USER = "k_leaf k_middle k_outer k_entry", "u_leaf u_deep u_deep u_outer u_start"


def of(name, seconds, *values):    # pylint: disable=invalid-name
    """Parameters of a test that is in this set."""
    return pytest.param(*values, marks=[getattr(pytest.mark, name), pytest.mark.seconds(seconds)])


def prevails(text, expected):
    """Of the chains that begin with that function, 95 % are this, in what perf script -F ip,sym
    prints, and there are enough. The guest of x86 has one of each name in code of 64 bits, and one
    of 32."""
    found = Counter()
    for block in re.split(r"\n\s*\n", text):
        names = re.findall(r"^\s+[0-9a-f]+ (\S+)", block, re.M)
        found[" ".join(name.replace("64_", "_", 1) for name in names)] += 1
    first = expected.split()[0]
    total = sum(count for chain, count in found.items() if chain.split()[:1] == [first])
    return total >= 20 and found[expected] >= 0.95 * total


def vmlinux(arch, path):
    """The guest's kernel, linked to the address at which spin has it, and without the labels in its
    functions."""
    payload, start = {"arm64": ("payload.S", "0xffff000000000000"),
                      "x86_64": ("x86_payload.S", "0xffff800000000000")}[arch]
    process.run([f"{cross_for(arch)}gcc", "-nostdlib", "-static", "-no-pie", "-o", path,
                 f"-Wl,--section-start=.guest={start},--entry=guest_begin,"
                 "--defsym=_text=guest_begin,--defsym=_etext=guest_end,--defsym=_edata=guest_end",
                 BUILD / "tree/tools/testing/selftests" / SUITE / payload])
    process.run([f"{cross_for(arch)}objcopy", "--rename-section", ".guest=.text", "--wildcard",
                 "--strip-symbol=*_spin*", "--strip-symbol=*_ret", path])


def line_of(test, event):
    """A test's command."""
    if test in ("hostile", "hotplug", "losses"):
        event = f"{SAMPLES if test == 'losses' else f'{SEED} 5'} {event}"
    return f"{'perf-kvm/chains.sh' if test == 'perf' else f'{SUITE}/{test}'} {event}"


def converted(text):
    """Whether chains have their callers in what perf data convert writes."""
    samples = [len(sample["callchain"]) for sample in json.loads(text)["samples"]]
    return len(samples) > 20 and sum(samples) > 1.1 * len(samples)


# What perf says, and whether it is right; it succeeds in each
SAYS = {
    "data.recorded": ("perf kvm records it", bool),
    "by-kallsyms": ("the kernel's chain, by its kallsyms", lambda text: prevails(text, KERNEL)),
    "by-file": ("user space's chain, by the VMM's file", lambda text: prevails(text, USER)),
    # The lines of the callers have no columns.
    "report": ("perf report", lambda text: all(
        re.search(rf"^[ |0-9.%-]+{name}( |$)", text, re.M) for name in KERNEL.split())),
    "folded": ("perf report, folded", lambda text: "k_entry;k_outer;k_middle;k_leaf" in text),
    "by-mount": ("--guestmount", lambda text: prevails(text, KERNEL)),
    "by-vmlinux": ("--guestvmlinux", lambda text: prevails(text, KERNEL)),
    "converted": ("perf data convert", bool),
    "chart": ("perf timechart's recording has the guest", lambda text: "k_leaf" in text),
    "timechart": ("perf timechart", bool),
    "chart.svg": ("its chart does not", lambda text: "<svg" in text and "k_leaf" not in text),
    "top": ("perf top", lambda text: "k_leaf" in text),
    "host.data.recorded": ("perf record without --guest", bool),
    "host": ("has no samples of it", lambda text: re.search("^ +[0-9a-f]+ ", text, re.M) and
             not re.search("[ku]_leaf", text))}


def judge(out, checks, form):
    """Each caller has its name, and the host's samples are the host's."""
    for name, (title, is_right) in SAYS.items():
        path = out / name
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        checks(f"{form}: {title}", text.endswith("status 0\n") and is_right(text), text[-4000:])
    checks(f"{form}: its chains have their callers", converted((out / "data.json").read_text()))


@pytest.mark.parametrize("config, mode, cpu", [
    of("topics", 170, "default", "protected", "max"),
    of("topics", 170, "default", "protected", "cortex-a72"),
    of("topics", 170, "default", "nvhe", "cortex-a72"), of("topics", 170, "default", "vhe", "max"),
    # pKVM of 6.12 does not let the PMU count guests alone. Its cycles, in QEMU, are no time.
    of("modes", 325, "pmu", "nvhe", "cortex-a72"), of("modes", 325, "pmu", "vhe", "max"),
    of("debug", 180, "debug", "protected", "max"), of("kcsan", 180, "kcsan", "nvhe", "cortex-a72"),
    of("x86", 150, "x86", "none", "max,+svm,+npt")])
def test_chains(vm, checks, selftest, tmp_path, config, mode, cpu):
    """The kselftest, and perf."""
    # pylint: disable=too-many-arguments
    files, arch, tests = tmp_path / "files", arch_of(config), TESTS[config].split()
    shutil.copytree(selftest(SUITE, config), files)
    shutil.copytree(TOOLS / "perf-kvm", files / "perf-kvm")
    if arch == "x86_64" and platform.machine() != arch:
        checks.skip("perf on x86-64", "it is built there")
        tests.remove("perf")
    elif "perf" in tests:
        shutil.copy(perf.build("arm64" if arch == "arm64" else "host"), files)
    vmlinux(arch, files / "vmlinux")

    def run(form, names, **how):
        lines = [line_of(name, "cycles" if config == "pmu" else "cpu-clock") for name in names]
        result = vm.tests(form, lines, PREPARE, files=files, mode=mode, cpu=cpu,
                          timeout=900 + SAMPLES // 250, **how)
        if "perf" in names:
            judge(result.out / "chains", checks, form)
    run("plain", tests)
    if config == "default":
        run("counted", ["kinds"], qemu_args=COUNTED)
    if config == "pmu":
        run("pseudo-NMI", tests, cmdline="irqchip.gicv3_pseudo_nmi=1")


@pytest.mark.parametrize("config", [of("topics", 30, "default"), of("x86", 30, "x86")])
@pytest.mark.usefixtures("vm")
def test_the_boot_of_a_linux_guest(tmp_path, config):
    """What `make run TOOL=guest-callchains` shows"""
    demo.run("guest-callchains", tmp_path, config=config)


def walk(name, *variables):
    """Run the tests in a directory of the walks."""
    return process.run(["make", "-s", "-C", WALKS / name, "check", f"SEED={SEED}", *variables],
                       check=False)


@pytest.mark.fast
@pytest.mark.host
@pytest.mark.seconds(15)
def test_walks(checks):
    """Of arm64 and of x86."""
    need("check")
    tree.make()
    for name in ".", "x86", "frame", "stack", "x86-stack":
        done = walk(name, f"O={BUILD}/guest-walk")
        checks.add(ktap.read(f"# test {name}\n{done.stdout}\n# status {done.returncode}", "walk"))


def where(path):
    """The tests that find a mistake in a file."""
    name = "frame" if path.startswith("virt/") else "x86" if "/x86/" in path else "."
    return {".": "stack", "x86": "x86-stack"}[name] if path.endswith("guest_stack.c") else name


@pytest.mark.mutants
@pytest.mark.host
@pytest.mark.seconds(120)
def test_walk_mutants(checks, tmp_path):
    """Each mistake is found. Not all of the load: one is found early, or by the other tests."""
    need("check")
    tree.make()
    lines = (TOOLS / "tests/walks.mutants").read_text().splitlines()
    for path, command in ((path, f"s/{text}/{'' if wrong == '-' else wrong}/")
                          for path, text, *many in (line.split("\t") for line in lines[2:])
                          for wrong in many):
        edited = process.run(["sed", command, ROOT / path]).stdout
        (tmp_path / "walk.c").write_text(edited)
        said = walk(where(path), f"O={BUILD}/guest-walk/mutant", "LOAD=2",
                    f"WALK={tmp_path}/walk.c")
        checks(f"found in {path}: {command}", edited != (ROOT / path).read_text() and
               said.returncode and re.search("^not ok|^Bail out|ERROR: |runtime error",
                                             said.stdout, re.M), said.stdout[-2000:])


@pytest.mark.fast
@pytest.mark.host
@pytest.mark.parametrize("wrong, good", [(0, True), (1, True), (2, False)])
def test_chains_that_are_not_the_guests_are_found(wrong, good):
    """More than one in twenty, or too few."""
    text = "\n    ffff k_leaf\n    ffff k64_outer\n\n"
    said = (30 - wrong) * text + wrong * text.replace("outer", "middle") + "\n    0 x\nWarning: y\n"
    assert prevails(said, "k_leaf k_outer") == good
    assert not prevails(10 * text, "k_leaf k_outer")
