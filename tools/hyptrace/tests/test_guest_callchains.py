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
from hyptrace import clients, demo, image, kvmstat, perf, process, tree
from hyptrace.machine import BUILD, ROOT, TOOLS, arch_of, cross_for, need, number
from hyptrace.tests.conftest import rows
from hyptrace.vm import boot

SUITE = "kvm-guest-callchains"
SAMPLES, SEED = number("SAMPLES", 20000), number("SEED", os.getpid())
WALKS = BUILD / "tree/tools/testing/guest-walk"
PREPARE = """echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
"""
HOSTILE = "hostile hotplug losses bpf"
TESTS = {"default": f"chains stacks {HOSTILE} perf", "pmu": f"chains stacks kinds {HOSTILE} perf",
         "debug": f"chains stacks {HOSTILE}", "kcsan": f"chains stacks {HOSTILE}",
         "x86": "x86_chains stacks perf"}
COUNTED = "-icount shift=3,sleep=off"   # by instructions: how busy this machine is does not count
KERNEL, USER = "k_leaf k_middle k_outer k_entry", "u_leaf u_deep u_deep u_outer u_start"


def shows(expected):
    """Of the chains that begin with that function 95 % are this, and there are enough. The guest of
    x86 has one of each name in code of 64 bits, and one of 32."""
    chain = tuple(expected.split())

    def is_right(text):
        found = perf.chains(text.replace("64_", "_"))
        total = sum(count for names, count in found.items() if names[0] == chain[0])
        return total >= 20 and found[chain] >= 0.95 * total
    return is_right


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


def converted(text):
    """Whether chains have their callers in what perf data convert writes."""
    samples = [len(sample["callchain"]) for sample in
               json.loads(text.removesuffix("status 0\n"))["samples"]]
    return len(samples) > 20 and sum(samples) > 1.1 * len(samples)


OTHERS_RUN = r"2 VMs have left their guests [1-9]\d* times meanwhile\."


def profiler(to):
    """The example of libbpf, for the VM, against Debian's libraries."""
    root = image.suite("machine", "libbpf", "libbpf-dev libelf-dev zlib1g-dev libzstd-dev")
    lib, include = root / "usr/lib/aarch64-linux-gnu", root / "usr/include"
    to.mkdir()
    process.run(["make", "-s", "-C", BUILD / "tree/tools/testing/selftests" / SUITE / "profiler",
                 f"OUTPUT={to}", f"CROSS_COMPILE={cross_for('arm64')}",
                 f"CPPFLAGS=-idirafter {include} -idirafter {include / lib.name}",
                 f"LDFLAGS=-static -L{lib}", "LDLIBS=-lbpf -lelf -lz -lzstd"])


# In the VM: spin is a VMM, which writes its guest's kallsyms. QEMU's PMU looks for an overflow when
# the exception level changes. Where that is seldom, its timer comes first, and most samples are of
# where the guest spins. A directory for --guestmount has kallsyms below the number of the VMM. The
# chart is made of the host's switches. perf_event_paranoid decides for guests as for the host's
# kernel.
SPIN = r"""begin chains
mkfifo fifo
/test/kvm-guest-callchains/spin kallsyms 2000000 <>fifo >guest.out 2>&1 &
spin=$!
until_done grep -qs _etext kallsyms
mkdir -p mnt/$spin/proc mnt/1/proc
cp kallsyms mnt/$spin/proc
: >mnt/$spin/proc/modules
KALLSYMS="kvm --guestkallsyms=kallsyms --guest"
OPTIONS="-e EVENT -c 500000 -p $spin"
perf $KALLSYMS record $OPTIONS -g -o data -- sleep 3
perf kvm --guest --guestmount=mnt record $OPTIONS -g -o mounted -- sleep 1
perf kvm --guest --guestvmlinux=/test/vmlinux record $OPTIONS -g -o linked -- sleep 1
perf $KALLSYMS --host record -e sched:sched_switch -e sched:sched_wakeup $OPTIONS -g -o switches \
	-- sleep 1
perf $KALLSYMS record $OPTIONS -g --host-frames -o below -- sleep 2
perf record $OPTIONS -g -o host.data -- sleep 1
perf $KALLSYMS --host record -e EVENT -c 500000 -a -o late -- sh -c \
	'/test/kvm-guest-callchains/spin late.kallsyms 2000000 <fifo & echo $! >late.pid
	until grep -qs _etext late.kallsyms; do sleep 0.1; done; sleep 1'
late=$(cat late.pid)
umount /sys/kernel/debug
perf $KALLSYMS record $OPTIONS -o unknown -- sleep 1
mount -t debugfs debugfs /sys/kernel/debug
refused() { ! "$@"; }
by_vcpu() {
	echo "VMMs: $spin $late"
	perf $KALLSYMS --host report --stdio --no-children -g none -s vm,vcpu -i "$@"
}
fallback() {
	ls /sys/bus/event_source/devices
	perf $KALLSYMS record -a -c 500000 -o fallback -- sleep 1
	perf evlist -i fallback
}
excluded() {
	perf $KALLSYMS record -a -e EVENT:H -o none -- sleep 1
}
stopped() {
	kill -STOP $spin $late
	perf $KALLSYMS record -a -e EVENT -o none -- sleep 1
	kill -CONT $spin $late
}
vms_are_gone() {
	! ls -d /sys/kernel/debug/kvm/*-*
}
end_guests() {
	kill $spin $late
	until_done vms_are_gone
}
no_vm() {
	end_guests
	perf $KALLSYMS record -a -e EVENT -o none -- sleep 1
}
top() {
	{
		until_done grep -qs k_leaf "$to" || :
		echo q
	} | perf $KALLSYMS top $OPTIONS --stdio -d 1 "$@"
}
"""


def below(text):
    """Below the chains of the guest's kernel are KVM, and the VMM's system call."""
    found, kernel = perf.chains(text.replace("64_", "_")), tuple(KERNEL.split())
    whole = {names[len(kernel):]: count for names, count in found.items()
             if names[:len(kernel)] == kernel}
    good = sum(count for names, count in whole.items() if "kvm_vcpu_ioctl" in names and
               any(re.fullmatch("(__)?ioctl", name) for name in
                   names[names.index("kvm_vcpu_ioctl"):]))
    return good >= 20 and good >= 0.95 * sum(whole.values())


def of_vcpus(*vms):
    """A report by VM and vCPU has vCPU 0 of these VMMs: "-" where VM and vCPU are not known."""
    def is_right(text):
        names = dict(zip(("spin", "late"), re.search(r"^VMMs: (\d+) (\d+)$", text, re.M).groups()))
        found = re.findall(r"^ +[0-9.]+% +(\S+) +(\S+)$", text, re.M)
        return sorted((vm.split("-")[0], vcpu) for vm, vcpu in found) == sorted(
            (names.get(name, ""), "0") if name in names else ("", "-") for name in vms) and all(
                re.fullmatch(r"\d+-\d+|-", vm) for vm, _ in found)
    return is_right


def falls_back(text):
    """From the cycles that the machine lacks"""
    says = "cycles event is not supported, trying to fall back to cpu-clock" in text
    return says == bool(re.search("^cpu-clock", text, re.M)) == ("armv8_pmuv3" not in text)


def explains(*reasons, idle=False):
    """A recording says that it has no sample of a guest, for these reasons alone. If no guest runs,
    the PMU's event has counted nothing."""
    def is_right(text):
        found = re.findall("^  (.*)$", text.partition("There is no sample of a guest:\n")[2], re.M)
        all_of_them = [".+ has counted nothing in guests.+"] * (idle and "cycles" in text)
        all_of_them += reasons
        return len(found) == len(all_of_them) and all(map(re.fullmatch, all_of_them, found))
    return is_right


def folds(text):
    """The profiler's stacks are of both guests, with the kernel's calls and with user space's; the
    document shows one of them."""
    stack, document = ";".join(reversed(KERNEL.split())), ROOT / "Documentation/virt/kvm"
    found = Counter()
    for line in text.splitlines():
        if match := re.fullmatch(r"\d+;(kernel;\S*_leaf|user;0x\S+) (\d+)", line):
            found[match[1].partition(";0x")[0]] += int(match[2])
    kernels = sum(number for name, number in found.items() if name.startswith("kernel"))
    return found["user"] >= 20 and kernels >= 20 and found[f"kernel;{stack}"] >= 0.95 * kernels \
        and len(set(re.findall(r"^\d+(?=;)", text, re.M))) == 2 \
        and f";kernel;{stack} " in (document / "guest-callchains.rst").read_text("utf-8")


PROFILER = [("a profiler by libbpf", "/test/profiler/guest_stacks 3 kallsyms", folds)]

# What is seen, the command, and what it says
SAYS = [
    ("the kernel's chain, by its kallsyms",
     "perf script -i data --guestkallsyms=kallsyms -F ip,sym", shows(KERNEL)),
    ("user space's chain, by the VMM's file", "perf script -i data --guest-code -F ip,sym",
     shows(USER)),
    # The lines of the callers have no columns.
    ("perf report", "perf $KALLSYMS report -i data --stdio --no-children -G", lambda text: all(
        re.search(rf"^[ |0-9.%-]+{name}( |$)", text, re.M) for name in KERNEL.split())),
    ("perf report, folded",
     "perf $KALLSYMS report -i data --stdio --no-children -g folded,0,caller",
     lambda text: "k_entry;k_outer;k_middle;k_leaf" in text),
    ("perf data convert", "perf data convert -i data --to-json=data.json --force", bool),
    ("its chains have their callers", "cat data.json", converted),
    ("the host's frames below", "perf script -i below --guestkallsyms=kallsyms -F ip,sym", below),
    ("one folded chain of guest and host",
     "perf $KALLSYMS report -i below --stdio --no-children -g folded,0,caller", lambda text:
     re.search(r"ioctl;.*;kvm_vcpu_ioctl;.*k_entry;k_outer;k_middle;k_leaf", text)),
    ("--host-frames needs -g", "refused perf $KALLSYMS record $OPTIONS --host-frames -o none true",
     lambda text: "needs a call chain" in text),
    ("--guestmount", "perf script -i mounted --guestmount=mnt -F ip,sym", shows(KERNEL)),
    ("--guestvmlinux", "perf script -i linked --guestvmlinux=/test/vmlinux -F ip,sym",
     shows(KERNEL)),
    ("perf timechart's recording has the guest",
     "perf script -i switches --guestkallsyms=kallsyms", lambda text: "k_leaf" in text),
    ("perf timechart", "perf timechart -i switches -o chart.svg", bool),
    ("its chart does not", "cat chart.svg", lambda text: "<svg" in text and "k_leaf" not in text),
    ("perf top", "top", lambda text: "k_leaf" in text),
    ("samples by VM and vCPU", "by_vcpu data", of_vcpus("spin")),
    ("those of the host, too, and of a VM that has begun later", "by_vcpu late",
     of_vcpus("spin", "late", "")),
    ("a guest without debugfs is its VMM's", "by_vcpu unknown", lambda text: re.search(
        r"^VMMs: (\d+) (.*\n)* +100.00% +\1 +-$", text, re.M)),
    ("perf script's fields vm and vcpu", "perf script -i data -G -F vm,vcpu,ip", lambda text: len(
        re.findall(r"^VM:\d+-\d+ VCPU:000 +[0-9a-f]+ *$", text, re.M)) == text.count("\n") - 1),
    ("perf top by vCPU", "top -s vm,vcpu,symbol", lambda text: re.search(
        r" \d+-\d+ +0 +\[g\] k_leaf", text)),
    ("perf record without --guest has no samples of it", "perf script -i host.data -F ip,sym",
     lambda text: re.search(r"^\s+[0-9a-f]+ ", text, re.M) and not re.search("[ku]_leaf", text)),
    ("without a PMU, cpu-clock takes the place of cycles", "fallback", falls_back),
    ("and samples guests", "perf script -i fallback --guestkallsyms=kallsyms -F ip,sym",
     lambda text: "k_leaf" in text),
    ("a recording of a guest says nothing more",
     "perf $KALLSYMS record $OPTIONS -o more -- sleep 1",
     lambda text: "Captured" in text and "no sample" not in text and "fall" not in text),
    ("the event excludes guests", "excluded",
     explains(r".+ excludes guests \(exclude_guest\)\.", OTHERS_RUN)),
    ("a tracepoint", "perf $KALLSYMS record -a -e sched:sched_switch -o none -- sleep 1",
     explains(r"sched:sched_switch happens in the host\..+", OTHERS_RUN)),
    ("perf record of the host says nothing",
     "perf record -a -e sched:sched_switch -o none -- sleep 1",
     lambda text: "Captured" in text and "no sample" not in text),
    ("no vCPU runs", "stopped", explains(r"No vCPU of 2 VMs has left its guest.+", idle=True)),
    # The last one, as 7.3 warns where it shuts down and a guest runs under nVHE
    ("there is no VM", "no_vm", explains(r"KVM had no VM at the begin and none at the end\.",
                                         idle=True))]


# pKVM of 6.12 does not let the PMU count guests alone. Its cycles, in QEMU, are no time.
@pytest.mark.parametrize("config, mode, cpu", rows("""
topics 170 default protected max
topics 170 default protected cortex-a72
topics 170 default nvhe cortex-a72
topics 170 default vhe max
modes 325 pmu nvhe cortex-a72
modes 325 pmu vhe max
debug 180 debug protected max
kcsan 180 kcsan nvhe cortex-a72
x86 150 x86 none max,+svm,+npt"""))
def test_chains(vm, checks, selftest, tmp_path, config, mode, cpu):
    """The kselftest, and perf."""
    files, arch, tests = tmp_path / "files", arch_of(config), TESTS[config].split()
    event, rows_of_perf = "cycles" if config == "pmu" else "cpu-clock", SAYS
    arguments = {"hostile": f"{SEED} 5 ", "hotplug": f"{SEED} 5 ", "losses": f"{SAMPLES} "}
    shutil.copytree(selftest(SUITE, config), files)
    if arch == "x86_64" and platform.machine() != arch:
        checks.skip("perf on x86-64", "it is built there")
        tests.remove("perf")
    elif "perf" in tests:
        shutil.copy(perf.build(arch), files)
        shutil.copy(TOOLS / "perf-kvm/perf-kvm.sh", files)
        vmlinux(arch, files / "vmlinux")
        if "bpf" in tests:
            profiler(files / "profiler")
            rows_of_perf = PROFILER + rows_of_perf
        kvmstat.write_script(files / SUITE / "perf", SPIN.replace("EVENT", event), rows_of_perf)

    def run(title, names, **how):
        lines = [f"{SUITE}/{name} {arguments.get(name, '')}{event}" for name in names]
        result = vm.tests(title, lines, PREPARE, files=files, mode=mode, cpu=cpu,
                          timeout=900 + SAMPLES // 250, **how)
        if "perf" in names:
            kvmstat.judge(result.out / "chains", rows_of_perf, checks, f"{title}: ")
    run("plain", tests)
    if config == "default":
        run("counted", ["kinds"], qemu_args=COUNTED)
    if config == "pmu":
        run("pseudo-NMI", tests, cmdline="irqchip.gicv3_pseudo_nmi=1")


@pytest.mark.parametrize("config", rows("topics 30 default\nx86 30 x86"))
@pytest.mark.usefixtures("vm")
def test_the_boot_of_a_linux_guest(tmp_path, config):
    """What `make run TOOL=guest-callchains` shows"""
    demo.run("guest-callchains", tmp_path, config=config)


# Where the guest has its kernel, it says
ADDRESSES = "/bin/busybox grep -E ' (_text|_stext|_etext)$' /proc/kallsyms\n"
RECORD = """PATH=$PWD:$PATH
perf kvm --guest --guestkallsyms={} record -e cpu-clock -c {} --call-graph dwarf,16384 \
	--guest-stack -o /out/guest.data {}
"""
# Where a guest's kernel is at random, the recording begins when it has said where. As that has
# nothing of the boot, it takes more samples.
RECORDS = {"ours": RECORD.format("/proc/kallsyms", 5000000, "sh ./boot"),
           "debian": """sh ./boot &
while kill -0 $! && ! grep -qs _etext /out/guest.console; do sleep 0.1; done
tr -d '\\r' </out/guest.console >guest.kallsyms
""" + RECORD.format("guest.kallsyms", 1000000,
                    "-a sh -c 'while kill -0 $0 2>/dev/null; do sleep 0.1; done' $!")}
# Debian's kernel has no frame pointers: an interrupt's chain ends at the bottom of its stack.
ROOTS = {"ours": demo.ROOTS,
         "debian": re.compile(f"{demo.ROOTS.pattern}|sysvec_.*|common_interrupt")}
# Where the host's libdw is not arm64's, the VM's is seen to find the same.
NATIVE = """cp /proc/kallsyms /out
perf script -i /out/guest.data --guestkallsyms=/proc/kallsyms --guestvmlinux=/test/vmlinux \
	-F ip,sym --no-inline --time 50%-55% >/out/native.txt
"""
GUESTS = {"x86": demo.LINUX["x86_64"], "pmu": {"mode": "vhe"} | demo.LINUX["arm64"]}


def chains_of(out, kallsyms, *words):
    """What perf script of this machine says of a guest's samples"""
    return process.run([perf.build("host"), "script", f"--guestkallsyms={kallsyms}", "-i",
                        out / "guest.data", "-F", "ip,sym", "--no-inline", *words]).stdout


def addresses(text):
    """The addresses of each chain, where libdw's are the calls, and others where these return."""
    return [[int(ip, 16) for ip in re.findall(r"^\s+([0-9a-f]+) ", block, re.M)]
            for block in re.split(r"\n\s*\n", text) if block.strip()]


def judge_leaves(by_libdw, by_frames, checks):
    """Frame pointers alone lead to the same callers, but for that of a function without a frame."""
    def same(full, frames):
        return len(full) == len(frames) and all(
            at in (to, to - 1) for at, to in zip(full, frames))
    pairs = list(zip(addresses(by_libdw), addresses(by_frames), strict=True))
    more = [(full, frames) for full, frames in pairs if not same(full, frames)]
    leaves = sum(same(full[:1] + full[2:], frames) for full, frames in more)
    others = len(more) - leaves
    checks("callers of functions without a frame are found", leaves >= 0.1 * len(pairs), leaves)
    checks("other chains are as frame pointers have them", others <= 0.01 * len(pairs), others)


@pytest.mark.parametrize("config, guest", rows("""
x86 150 x86 ours
x86 300 x86 debian
modes 250 pmu ours"""))
@pytest.mark.usefixtures("vm")
def test_the_stacks_of_a_linux_guest(checks, tmp_path, config, guest):
    """Chains of a kernel's code end in a root: by the call frame information of its vmlinux, and
    behind an interrupt's stack by frame pointers. Debian's kernel has none of these: there a
    chain ends at the bottom of that stack."""
    arch, files, kallsyms = arch_of(config), tmp_path / "files", tmp_path / "kallsyms"
    if arch == "x86_64" and platform.machine() != arch:
        pytest.skip("perf on x86-64 is built there")
    files.mkdir()
    boots, vmlinux_of = clients.debian_kernel() if guest == "debian" else (
        None, BUILD / f"kernel-{config}/vmlinux")
    shutil.copy(perf.build("host" if arch == "x86_64" else arch), files)
    clients.linux(files, config, ADDRESSES + demo.WORK, 1000, guest=boots)
    if arch == "arm64":
        process.run([f"{cross_for(arch)}objcopy", "-R", ".debug_*", "-R", "!.debug_frame",
                     vmlinux_of, files / "vmlinux"])
    out = boot(RECORDS[guest] + NATIVE * (arch == "arm64"), files, config=config, timeout=1200,
               mem="2G", **GUESTS[config]).out
    console = out.joinpath("guest.console").read_text("utf-8", "replace")
    kallsyms.write_text("".join(re.findall(r"^[0-9a-f]{16} \w _\w+\n", console, re.M)), "utf-8")
    by_libdw = chains_of(out, kallsyms, f"--guestvmlinux={vmlinux_of}")
    demo.show_chains(by_libdw, ROOTS[guest])
    if arch == "arm64":
        judge_leaves(by_libdw, chains_of(out, out / "kallsyms"), checks)
        native = out.joinpath("native.txt").read_text("utf-8")
        checks.equals("another architecture's libdw finds the same", native, chains_of(
            out, out / "kallsyms", f"--guestvmlinux={vmlinux_of}", "--time", "50%-55%"))
        checks("it has chains", len(addresses(native)) >= 10, native)


@pytest.mark.fast
@pytest.mark.host
@pytest.mark.seconds(15)
def test_walks(checks):
    """Of arm64 and of x86."""
    need("check")
    tree.make()
    for name in ".", "x86", "frame", "stack", "x86-stack", "regs":
        checks.program("walk", name, process.run(
            ["make", "-s", "-C", WALKS / name, "check", f"SEED={SEED}", f"O={BUILD}/guest-walk"],
            check=False))
