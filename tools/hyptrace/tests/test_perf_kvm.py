# SPDX-License-Identifier: GPL-2.0
"""perf kvm stat of the topic perf-kvm-stat: its counts are KVM's own and its times those of the
machine, in each mode of KVM; it works beside Debian's perf; no tracepoint that exists has changed,
and the new ones cost nothing while they are off. x86-64 is QEMU's emulation of AMD's SVM."""

import csv
import functools
import json
import platform
import random
import re
import shutil
from collections import Counter

import pytest
from hyptrace import demo, fuzz, image, kernel as kernels, kvmstat, perf, perfdata, process, repo
from hyptrace import objects, tree
from hyptrace.bench import TRACEPOINTS
from hyptrace.kvmstat import NAMES, counts, each, fails, falls, good, has, is_counted, parse
from hyptrace.kvmstat import says
from hyptrace.machine import BASE, BUILD, MAIN, TOOLS, Failure, arch_of, need, number, scaled

pytestmark = pytest.mark.topics

TREE, TOPIC = BUILD / "tree", "perf-kvm-stat"
SHELL = TREE / "tools/perf/tests/shell"
# 7.3 initializes hrtimers by another function. Its perf has the parts of all architectures in one
# directory, and each perf compiles all of them.
LATER = BASE != MAIN
COUNTED = "-icount shift=0,sleep=off -rtc clock=vm"     # an instruction takes a nanosecond
MODES = [("protected", "max"), ("nvhe", "cortex-a72"), ("vhe", "max")]
X86 = pytest.param("x86", "none", "max,+svm,+npt", marks=pytest.mark.x86)
FORMATS = "cd /sys/kernel/tracing/events && grep -v '^ID:' */*/format >/out/formats\n"
UNKNOWN = "VCPU is not known"
NO_LOAD = "The kernel has no kvm:kvm_vcpu_load"
NO_DEBUGFS = "Can't read kvm/ in debugfs"
# What is said of a recording whose end is missing, and of a feature beyond all numbers. perf of 7.3
# checks that itself: it reads no such recording, and says no more of most.
TRUNCATED, BEYOND = ("incompatible file format", "section extends past EOF") if LATER else (
    "The recording is truncated: its .* should end at", "should end at 0xffffffffffffffff")
perf_of = functools.cache(perf.build)


def all_unknown(text):
    """A report by vCPU says that it knows none."""
    tables = parse(text)
    return says(UNKNOWN)(text) and tables and all(name.endswith("/unknown") for name in tables)


class Said:
    """What a run of perf-kvm.sh left."""

    def __init__(self, directory, checks, arch="arm64"):
        self.directory, self.checks, self.arch = directory, checks, arch

    def text(self, name):
        path = self.directory / name
        return path.read_text("utf-8", errors="replace") if path.is_file() else ""

    def report(self, recording, options="", program="kvm stat report -f --stdio"):
        """What this machine's perf says of a recording."""
        done = process.run([perf_of("host"), *program.split(), "-i", self.data(recording),
                            *options.split()], check=False)
        return f"{done.stdout}status {done.returncode}\n"

    def data(self, recording):
        return self.directory / f"{recording}.data"

    def vcpus(self, recording, guest="*"):
        """What the guests, or one, have counted for a recording."""
        return {name: vcpu for path in self.directory.glob(f"{recording}.of-{guest}")
                for name, vcpu in kvmstat.last_round(path.read_text("utf-8")).items()}

    def check(self, *rows):
        for title, recording, options, is_right in rows:
            text = self.report(recording, options)
            self.checks(title, is_right(text), text)

    def compare(self, title, recording, guest="*", kind="vmexit"):
        """A report has what KVM has counted, and nobody is unknown."""
        text = self.report(recording, f"--per-vcpu --event={kind}")
        vcpus = self.vcpus(recording, guest)
        self.checks(title, is_counted(text, vcpus, kind, self.arch) and
                    not says("unknown|lost")(text), f"{vcpus}\n{text}")


@pytest.fixture(name="boots")
def fixture_boots(vm, checks, tmp_path):
    """boots(step, ...): run a step of perf-kvm.sh, or a script, in a VM; what it left."""
    arch, files = arch_of(vm.config), tmp_path / "files"
    if arch == "x86_64" and platform.machine() != arch:
        pytest.skip("perf of x86-64 is built on x86-64")
    files.joinpath("tests/shell/lib").mkdir(parents=True)

    def run(step, command="/test/perf-kvm.sh main", **how):
        shutil.copy(TOOLS / "perf-kvm/perf-kvm.sh", files)
        shutil.copy(perf_of(arch), files)
        files.joinpath("x86.data").write_bytes(recorded(*RECORDED_X86[1:3]))
        for path in SHELL.rglob("kvm_*.sh"):
            shutil.copy(path, files / "tests/shell" / path.relative_to(SHELL))
        result = vm.tests(step, [f"{command} {step}"], files=files, timeout=900, **how)
        return Said(result.out / step, checks, arch)
    run.files = files
    return run


def judge_main(said, checks):
    """The recording of both VMs."""
    report, plain, names = said.report("main", "--per-vcpu"), said.report("main"), NAMES[said.arch]
    dump = process.run(["sh", "-c", f"{perf_of('host')} report -D -i {said.data('main')} 2>&1 | "
                        "sed /PERF_RECORD_SAMPLE/q"]).stdout
    found = re.findall(r"EVENT_TYPE VM (\S+), VCPU (\d+): thread (\d+)\n", dump)
    checks.equals("the recording has the vCPUs", sorted(found), sorted(
        (*name.split("/"), str(vcpu["tid"])) for name, vcpu in said.vcpus("main").items()))
    checks.equals("the VM's perf reports the same", said.text("main.report"), report)
    said.data("x86").write_bytes(recorded(*RECORDED_X86[1:3]))
    checks.equals("and the same of a recording of x86", said.text("x86.report"),
                  said.report("x86", "--per-vcpu"))
    checks.equals("one without --stdio", said.report("main", program="kvm stat report"), plain)
    tables = parse(report).values()
    checks("the table of all vCPUs is the sum", parse(plain) and all(
        table.ended == sum(one.ended for one in tables) and
        abs(table.time - sum(one.time for one in tables)) < 1 for table in parse(plain).values()))
    two, four = (next(iter(said.vcpus("main", guest))).split("/")[0] for guest in ("two", "four"))
    for options, is_right in {
            "--vcpu 1": lambda text: has(2200)(text) and not counts(text, names.access),
            f"--vcpu 1 --vm {two}": has(2000), f"--vm {two.split('-')[0]}": has(3000),
            f"-p {four.split('-')[0]}": has(1000),
            "-k sample": falls("ended"), "-k time": falls("time"), "-k max_t": falls("max"),
            "-k min_t": falls("min"), "-k mean_t": falls("mean"),
            "-k nothing": fails("Unsupported sort key: nothing"),
            "--event=nothing": fails(f"Unknown event nothing: {names.events}"),
            "--vcpu=-2": fails("Invalid vcpu:-2"), "-i missing": fails("No such file")}.items():
        said.check((f"a report with {options}", "main", options, is_right))


def judge_neither(said, checks):
    """Neither debugfs nor tracepoints say which thread runs which vCPU. x86 has the vCPU in
    kvm_entry: all that is not known is which VM of its process it is of."""
    if said.arch == "x86_64":
        vcpus = {re.sub("-[0-9]+/", "/", name): vcpu
                 for name, vcpu in said.vcpus("neither").items()}
        said.check(("without both, VMs are processes", "neither", "--per-vcpu",
                   lambda text: is_counted(text, vcpus, arch=said.arch)))
        return
    checks("without both, the record says so", says(NO_DEBUGFS)(said.text("neither.recorded")))
    said.check(
        ("without both, vCPUs are unknown", "neither", "--per-vcpu", all_unknown),
        ("without both, why is said", "neither", "--per-vcpu",
         says(f"of threads whose {UNKNOWN}", NO_LOAD)),
        ("without both, none is vCPU 0", "neither", "--vcpu=0", lambda text: "HVC64" not in text),
        ("without both, they are left out", "neither", "--vcpu=0",
         says(f"{UNKNOWN}: they are left out")),
        ("without both, exits are known", "neither", "", has(4000)))


def displays(text):
    """What the displays of live mode show, as Vcpus by "VM/VCPU"."""
    return [parse(display) for display in text.split("Analyze events")]


def all_displays(text):
    """The same, together: what has ended, and what is still open."""
    found = {}
    for display in displays(text):
        for vcpu, table in display.items():
            events = found.setdefault(vcpu, kvmstat.Vcpu({})).events
            for name in events.keys() | table.events.keys():
                event = table.events.get(name, kvmstat.Event())
                ended = events.get(name, kvmstat.Event()).ended + event.ended
                events[name] = event._replace(ended=ended)
    return found


def judge_bpf(said, checks, *rows):
    """What BPF programs count is what KVM has counted."""
    for name, guest, kind in rows:
        text, names = said.text(name), NAMES[said.arch]
        checks.equals(f"{name}: events of each vCPU", {
            vcpu: kvmstat.reported(table, names) for vcpu, table in all_displays(text).items()}, {
                vcpu: found for vcpu, one in said.vcpus(name, guest).items()
                for found in [kvmstat.counted(one, kind, names)] if +found})
        checks(f"{name}: nothing is lost or unknown", not re.search("unknown|lost|not known", text),
               text)


def judge_live(said, checks):
    """All displays together have what these guests did, and nothing else."""
    hypercall = NAMES[said.arch].hypercall
    for name, guest in {"live": "*", "live-two": "two"}.items():
        checks.equals(f"{name}: hypercalls of each vCPU", Counter({
            vcpu: event.ended for vcpu, table in all_displays(said.text(name)).items()
            for event in [table.events.get(hypercall)] if event}), Counter({
                vcpu: one["hvc"] for vcpu, one in said.vcpus(name, guest).items()}))
    for name in "live-two", "bpf-two":
        found = [event for display in displays(said.text(name))
                 for table in display.values() for event in table.events.values() if event.ended]
        checks(f"{name}: percentiles", found and all(
            len(event.percentiles) == 4 and [event.min, *event.percentiles, event.max] ==
            sorted([event.min, *event.percentiles, event.max]) for event in found), found)
    judge_bpf(said, checks, ("bpf", "*", "vmexit"), ("bpf-two", "two", "vmexit"),
              ("bpf-mmio", "*", "mmio"))
    checks("BPF programs do not show long events",
           fails("--duration needs each event")(said.text("bpf-duration")))


def judge_files(said, checks):
    """What others may have written; and the browser, in a terminal: it has the exits of all vCPUs
    together, and goes on until a key."""
    data, plain = said.data("main").read_bytes(), said.report("main")
    said.data("later").write_bytes(perfdata.later(data))
    said.data("wrapped").write_bytes(perfdata.wrapped(data))
    header = said.report("later", program="report --header-only -I")
    checks("the recording has no feature of its own",
           max(perfdata.features(data)[0]) < perfdata.KNOWN)
    checks("a later perf's feature is none of ours", "HVC64" in plain and
           said.report("later") == plain and "VM 77-5" not in header, header)
    said.check(("a feature that ends beyond all numbers", "wrapped", "", lambda text: re.search(
        BEYOND, text)))
    browser = f"{perf_of('host')} kvm stat report -f -i main.data"
    process.run(["sh", "-c", f"""(until grep -qs HVC64 screen; do sleep 0.1; done; printf q) |
        TERM=xterm timeout {scaled(60):.0f} script -qefc '{browser}' screen"""], timeout=90,
                cwd=said.directory)
    checks("a recording in the browser", re.search(r"(^|m) *HVC64 +4000 ", said.text(
        "screen").replace("\r", "").replace("\033", "\n"), re.M))


@pytest.mark.seconds(90)
@pytest.mark.parametrize("config, mode, cpu", [*(("default", *mode) for mode in MODES), X86])
def test_exits(boots, checks, config, mode, cpu):
    """Two VMs: exits, traps and accesses of each vCPU are those that KVM has counted, whatever says
    which thread runs which vCPU."""
    said = boots("exits", mode=mode, cpu=cpu, config=config)
    for name in "perf kvm stat", "perf kvm stat: times", "perf kvm stat: counted by BPF":
        checks(f"perf test '{name}'", says(f": {name} *: Ok")(said.text("shell")),
               said.text("shell"))
    for title, *which in (
            ("exits of each vCPU, none is unknown, nothing is lost", "main"),
            ("accesses of each vCPU to its device", "main", "*", "mmio"),
            ("a recording of one process", "one", "four"),
            ("a recording of one process: accesses", "one", "four", "mmio"),
            ("a recording of one process, without debugfs", "alone", "two"),
            ("without debugfs", "no-debugfs"),
            ("without the tracepoints of vCPUs", "no-tracepoints")):
        said.compare(title, *which)
    said.check(("lost events are reported; no vCPU has any of another", "losses", "--per-vcpu",
               lambda text: says("Lost events: [1-9]")(text) and is_counted(
                   text, said.vcpus("losses"), arch=said.arch, lossy=True)))
    judge_main(said, checks)
    judge_neither(said, checks)
    if said.arch == "arm64":
        said.compare("traps of each vCPU", "main", kind="trap")
    judge_live(said, checks)
    if mode == "protected":
        judge_files(said, checks)


@pytest.mark.seconds(30)
@pytest.mark.parametrize("mode, cpu", MODES)
def test_changes(boots, checks, mode, cpu):
    """Threads, vCPUs and VMs that come and go; recordings that are damaged."""
    said = boots("changes", mode=mode, cpu=cpu)
    said.compare("threads are exchanged", "swap")
    said.compare("threads are exchanged: accesses", "swap", kind="mmio")
    judge_bpf(said, checks, ("swap-bpf", "swap", "vmexit"), ("swap-mmio", "swap", "mmio"))
    said.check(("a vCPU that runs already", "busy", "--per-vcpu", lambda text:
               not says("unknown")(text) and is_counted(text, said.vcpus("busy"), lossy=True) and
               each("HVC64", lambda event: event.ended > 0)(text)))
    for name, number, title in (("plug", 3, "a vCPU that begins to run"),
                                ("ends", 3, "VMs that begin and end"),
                                ("user", 1, "without root's rights")):
        vcpus = {vcpu: one["hvc"] for vcpu, one in said.vcpus(name).items()}
        said.check((title, name, "--per-vcpu", lambda text, vcpus=vcpus, number=number:
                   len(vcpus) == number and not says("unknown")(text) and
                   counts(text, "HVC64") == vcpus))
    checks("root's rights are missing, which is said",
           says(f"{NO_DEBUGFS}: Permission denied")(said.text("user.recorded")))
    said.check(("perf was killed", "broken", "",
               fails("was the .perf record. command properly terminated")))
    judge_truncated(said, checks)


def judge_truncated(said, checks):
    """The end of a recording is missing."""
    data, whole, some = said.data("swap").read_bytes(), parse(said.report("swap")), False
    for part in 10, 30, 50, 70, 80, 85, 90, 95, 99:
        said.data("part").write_bytes(data[:len(data) * part // 100])
        text = said.report("part")
        some = some or parse(text) == whole
        checks(f"{part} %: that it is truncated is said", whole and re.search(TRUNCATED, text) and (
            parse(text) == whole or text.endswith("status 255\n") and (
                some or "incompatible file format" in text)), text)
    checks("some truncated recording is reported", some != LATER)
    said.data("empty").write_bytes(b"")
    said.data("short").write_bytes(data[:50])
    said.check(("an empty recording", "empty", "", fails("zero-sized data")),
               ("half of a header", "short", "", fails("incompatible file format")))


def five_ms(number):
    """So many took 5 ms, and what the timer, the switches of tasks and KVM take. The only CPU may
    be another task's until the next tick, 4 ms later."""
    return lambda event: (event.ended == number and 5000 <= event.min and event.max < 9500 and
                          5000 <= event.mean < 5400)


def slept(number):
    """--duration shows so many accesses to a device, each with a switch to another task, and where
    the guest makes them: it writes and reads."""
    def is_right(text):
        found = re.findall(r"^\d+ VM \S+, VCPU 0, thread \d+: DABT_LOW event took [5-9]\d{3}usec, "
                           r"preempted \d+usec, slept [5-9]\d{3}usec, pc (0x\w+)\n((?:  .*\n)+)",
                           text, re.M)
        return len(found) == number and len({pc for pc, _ in found}) == 2 and all(
            "sched:sched_switch: " in lines and ": kvm:kvm_mmio: " in lines for _, lines in found)
    return is_right


def off_by_tracepoints(text, thread):
    """How long a thread was off the CPU in its exits, preempted and not, in microseconds: by
    sched_switch, in what `perf script` prints."""
    begin = out = None
    sums, exits, state = [0, 0], [0, 0], 0
    for tid, time, name, fields in re.findall(r"^ *(\d+) +([\d.]+): +(\S+): +(.*)$", text, re.M):
        time, mine = float(time) * 1e6, int(tid) == thread
        if name == "kvm:kvm_exit" and mine:
            begin, exits = time, [0, 0]
        elif name == "kvm:kvm_entry" and mine and begin:
            begin, sums = None, list(map(sum, zip(sums, exits)))
        elif f"prev_pid={thread} " in fields:
            out, state = time, "prev_state=R" not in fields
        elif f"next_pid={thread} " in fields and out and begin:
            exits[state] += time - max(out, begin)
    return sums


def judge_shared(said, checks):
    """Another thread takes the only CPU in exits of a guest, and user space sleeps for 5 ms."""
    thread = next(iter(said.vcpus("shared").values()))["tid"]
    found = off_cpu(said.report("shared", "-j"))
    expected = off_by_tracepoints(said.report(
        "shared", "-F tid,time,event,trace --ns", program="script"), thread)
    checks("the time off the CPU is that by tracepoints, within 2 %", expected[0] > 10000 and
           expected[1] > 100000 and all(0.98 < time / 1000 / other < 1.02 for time, other in
                                        zip(found["all"], expected)), f"{found} {expected}")
    for name in "shared", "process":
        said.check(
            (f"{name}: exits by an interrupt are preempted", name, "", each(
                "IRQ", lambda event: event.off[0] > 100 and event.off[0] <= event.mean)),
            (f"{name}: user space sleeps", name, "", each("DABT_LOW", lambda event: (
                event.ended == 20 and 4900 < event.off[1] < event.mean - event.off[0] + 1))),
            (f"{name}: all is known", name, "", lambda text: "switches are missing" not in text))
        for how in "live", "bpf":
            events = [event for display in displays(said.text(f"{name}-{how}"))
                      for table in display.values() for event in table.events.values()]
            checks(f"{name}, {how}", any(event.off and event.off[0] > 100 for event in events) and
                   any(event.off and event.off[1] > 4900 for event in events), events)
    said.check(("context switches that are not recorded", "without", "", lambda text:
               good(text) and " preempted" not in text))


@pytest.mark.seconds(60)
@pytest.mark.parametrize("mode, cpu", MODES)
def test_times(boots, checks, tmp_path, mode, cpu):
    """Those of the machine, with softirqs, too."""
    shutil.copy(TOOLS / "perf-kvm/flood.c", tmp_path)
    flags = "" if LATER else "ccflags-y := -DNO_HRTIMER_SETUP\n"
    (tmp_path / "Makefile").write_text(f"obj-m := flood.o\n{flags}")
    kernels.make("arm64", "-s", "-C", TREE, f"O={BUILD}/kernel-default", f"M={tmp_path}", "modules")
    shutil.copy(tmp_path / "flood.ko", boots.files)
    said = boots("durations", mode=mode, cpu=cpu, smp=1, qemu_args=COUNTED)
    seen = int(said.text("in_guest") or 0)
    checks("softirqs interrupt the guest", seen >= 20, seen)
    said.check(
        ("exits take the time of user space", "late0", "", each("DABT_LOW", five_ms(100))),
        ("so long they sleep", "late0", "--duration=4999", slept(100)),
        ("so do accesses", "late0", "--event=mmio", each("0x.*", five_ms(50))),
        ("traps do not", "late0", "--event=trap", each("DABT_LOW", lambda event: event.max < 1000)),
        ("exits by an interrupt take the time of softirqs", "flooded", "", each(
            "IRQ", lambda event: event.ended >= seen and event.time >= 500 * seen)))
    before, after, late = (parse(said.report(name)).get("all/all", kvmstat.Vcpu())
                           for name in ("calm", "flooded", "late1"))
    checks("the guest does not", 0 < before.guest and after.guest - before.guest < 500 * seen / 10,
           (before, after))
    # From before the first KVM_RUN to after the last access
    took = next(iter(said.vcpus("late1").values()))["ns"] / 1000
    checks("exits and guest are the running time, within 1 %",
           0.99 * took < late.time + late.guest < 1.01 * took, f"{late} of {took} us")
    judge_shared(said, checks)


def judge_exits(said, name):
    """What perf of the tree knows of any recording, and nothing of vCPUs."""
    said.check(
        (f"{name}: hypercalls", name, "", has(300)),
        (f"{name}: accesses are exits, with their time", name, "", each(
            "DABT_LOW", lambda event: event.ended == 20 and event.min >= 5000)),
        (f"{name}: vCPUs are unknown, which is said", name, "--per-vcpu", all_unknown))


# Debian's user space has libtraceevent's plugins and linux-perf.
IN_DEBIAN = r"""begin in-debian
tar -xf /test/user.tar
ln -s usr/lib/*-linux-gnu lib64
cp /test/perf .
mkdir -p proc sys dev tmp
mount --bind /proc proc
mount --bind /dev dev
mount --rbind /sys sys
guest some vcpus=2 hvc=100 sysreg=50 mmio=20 delay=5000
for name in new.data old.data; do
	perf=/perf
	[ $name = new.data ] || perf=/usr/bin/perf
	rm -f begun over
	chroot . $perf kvm stat record -o $name -a /bin/busybox sh -c \
		': >/begun; until [ -e /over ]; do /bin/busybox sleep 0.05; done' >$name.log 2>&1 &
	perf=$!
	until_done test -e begun
	rounds
	: >over
	wait $perf || :
done
cp *.data *.log "$out"
# Debian 12's perf has no other report than text, and no option for that.
stdio=$(chroot . /usr/bin/perf kvm stat report -h 2>&1 | grep -o -m 1 -- --stdio) || :
refused() { ! "$@"; }
"""
# 7.3 writes a feature to a pipe, E_MACHINE, that Debian 12's and 13's perf do not read.
UNREAD = ["33"] if LATER else []
SAYS = [
    ("Debian's perf has a version", "chroot . /usr/bin/perf version", bool),
    ("perf reports there", "chroot . /perf kvm -i /new.data stat report --stdio", has(300)),
    # A pipe ends with a number, too: that of the first feature that perf does not have.
    ("perf writes to a pipe", "chroot . /bin/busybox sh -c "
     "'/perf kvm stat record -o - -a /bin/busybox true >/piped'", bool),
    ("Debian's perf reads it from a pipe", "chroot . /usr/bin/perf report --stdio -i - <piped",
     lambda text: re.findall("wrong feature.*: (.*)", text) == UNREAD)]
# A perf before 6.3 reads no file of a later one, because attributes have grown since.
SINCE_6_3 = [
    ("Debian's perf reports the same recording",
     "chroot . /usr/bin/perf kvm -i /new.data stat report $stdio", has(300)),
    *((f"perf {command} reads all of it", f"chroot . /usr/bin/perf {command} -i /new.data",
       lambda text: not re.search("unknown feature|unsupported|invalid|incompatible|corrupt", text,
                                  re.I))
      for command in ("script", "report --stdio -I --header-only", "inject -o /injected")),
    ("what it has injected into, perf reports",
     "chroot . /perf kvm -i /injected stat report --stdio", bool)]
# And so they have in 7.3, since Debian 13's.
OF_LATER = [(f"Debian's perf {command} refuses it: attributes have grown",
             f"refused chroot . /usr/bin/perf {command}",
             lambda text: "incompatible file format" in text)
            for command in ("script -i /new.data", "kvm -i /new.data stat report")]
READS = OF_LATER if LATER else SINCE_6_3


def a_user(config):
    """perf loads no library to find a user, either. 7.3 has a BPF program for that, which needs
    BTF: the VM's kernel for arm64 has none."""
    command = "chroot . /perf record -q -u 65534 -e dummy -o /user.data /bin/busybox true"
    if LATER and config != "x86":
        return ("perf would find a user there", f"refused {command}",
                lambda text: "Invalid User" not in text and "sample_filter_bpf" in text)
    return "perf finds a user there", command, lambda text: "Invalid User" not in text


@pytest.mark.seconds(15)
@pytest.mark.parametrize("config, mode, cpu", [("default", *MODES[0]), X86])
@pytest.mark.parametrize("release", ["trixie", "machine"])
def test_user_space(boots, checks, release, config, mode, cpu):
    """Debian's, of a newer C library than perf's, and of the same, whose libraries fit better, and
    so do more harm. perf of Debian 13 records as before."""
    name, arch = ("perf-user-x86", "amd64") if config == "x86" else ("perf-user", "arm64")
    try:
        root = image.suite(release, name, "libtraceevent1-plugin trace-cmd linux-perf "
                           "busybox-static", arch)
    except Failure as why:
        pytest.skip(f"Debian's user space: {why}")
    checks("it has plugins", len(list(root.rglob("plugin_*.so"))) > 5)
    without = "--exclude=./usr/share --exclude=./usr/lib/python3* --exclude=./var --exclude=lib64"
    process.run(["tar", "-cf", boots.files / "user.tar", *without.split(), "-C", root, "."])
    says_all = [*SAYS, a_user(config)]
    kvmstat.write_script(boots.files / "user", IN_DEBIAN, says_all + READS)
    said = boots("in-debian", "sh user", mode=mode, cpu=cpu, config=config, mem="2G")
    version = re.findall(r"version (\d+)\.(\d+)", said.text("0"))
    newer = version and tuple(map(int, version[0])) >= (6, 3)
    kvmstat.judge(said.directory, says_all + (READS if newer else []), checks)
    if newer and said.arch == "arm64":
        judge_exits(said, "old")


def without_topic():
    """The kernel's files that the topic changes, as they are without it."""
    plain = repo.merge({each: repo.commit_of(each) for each in tree.topics() if each != TOPIC})
    names = repo.git("diff", "--name-only", "--diff-filter=M", plain, "HEAD", "--", "arch",
                     "include", "virt").splitlines()
    return {name: repo.git("show", f"{plain}:{name}", strip=False) for name in names}


@pytest.mark.seconds(100)
def test_a_kernel_without_the_topic(boots, vm, checks):
    """perf says what it can't know there; and with the topic no event has changed."""
    with tree.edited(without_topic()):
        plain = {"image": kernels.build("event", targets=["Image"]) / "arch/arm64/boot/Image"}
    said = boots("some", **plain)
    judge_exits(said, "some")
    said.check(
        ("accesses are right", "some", "--event=mmio",
         each("0x.*", lambda event: event.ended == 10)),
        ("why is said", "some", "--per-vcpu", says(NO_LOAD)),
        ("there are no traps", "some", "--event=trap",
         fails("The recording has no kvm:kvm_trap_enter, which trap needs")))
    # Text and fields of each event but the number, which depends on how many there are
    before, after = (set((vm(FORMATS, **how).out / "formats").read_text().splitlines())
                     for how in (plain, {}))
    checks.equals("six events are new", sorted({line.split("/format:")[0] for line in
                                                after - before}),
                  [f"kvm/{name}" for name in TRACEPOINTS])
    checks("no event has changed", len(before) > 1000 and before <= after)
    shutil.rmtree(BUILD / "kernel-event")


@pytest.mark.seconds(20)
def test_new_tracepoints_are_nops_while_off(kernel):
    """And nothing else is computed for them."""
    found = objects.tracepoints(kernel(), TRACEPOINTS)
    assert all(calls and calls == nops and not more for calls, nops, more in found.values()), found


def run_suite(checks, title, source):
    """A test of perf's own. By its number: a name would be each part's, too."""
    listed = process.run([perf_of("host"), "test", "list"]).stdout
    number = re.search(rf"^ *(\d+): KVM: {title}", listed, re.M)[1]
    said = process.run([perf_of("host"), "test", number], check=False).stdout
    found = re.findall(r"^ *\d+\.\d+: (.*?) *: (?!Running)(.*)$", said, re.M)
    for name, verdict in found:
        checks(name, verdict == "Ok", said)
    cases = (TREE / f"tools/perf/tests/{source}").read_text().count("\n\tTEST_CASE")
    checks("all ran", 0 < len(found) == cases, said)


@pytest.mark.alone
@pytest.mark.seconds(20)
def test_which_thread_runs_which_vcpu(checks):
    """That needs no KVM."""
    run_suite(checks, "which", "kvm-vcpus.c")


@pytest.mark.alone
@pytest.mark.seconds(20)
def test_how_long_events_took(checks):
    """Percentiles and histograms."""
    run_suite(checks, "how long events", "kvm-hist.c")


@pytest.mark.alone
@pytest.mark.seconds(20)
def test_how_long_threads_were_off_the_cpu(checks):
    """By their context switches."""
    run_suite(checks, "how long threads", "kvm-switches.c")


@pytest.mark.alone
@pytest.mark.seconds(20)
def test_why_there_are_no_samples_of_guests(checks):
    """What is said of that, and when cycles fall back to cpu-clock."""
    run_suite(checks, "why there", "kvm-no-samples.c")


@pytest.mark.host
@pytest.mark.seconds(10)
def test_bpf_programs_count(checks, tmp_path):
    """The programs of --use-bpf in user space count what a model does.

      SEED=n      of what threads do
    """
    need("check")
    process.run(["make", "-s", "-C", TREE / "tools/testing/perf-kvm-bpf", f"O={tmp_path}"])
    done = process.run([tmp_path / "bpf_test", str(number("SEED", random.randrange(1 << 30))),
                        "500"], check=False)
    checks("threads that do anything", not done.returncode and done.stdout.startswith("ok: "),
           done.stdout)


@pytest.mark.host
def test_each_exception_class_has_a_name():
    """Those that the kernel has are those that perf has a name for."""
    part = "util/kvm-stat-arch" if LATER else "arch/arm64/util"
    texts = [(TREE / path).read_text() for path in (
        "arch/arm64/include/asm/esr.h", f"tools/perf/{part}/arm64_exception_types.h")]
    own, perfs = ({name.upper(): int(value, 16) for name, value in re.findall(
        r"^#define ESR_ELx_EC_(\w+)\s+(?:UL)?\((0x[0-9A-Fa-f]+)\)", text, re.M)} for text in texts)
    assert len(own) > 40 and own == perfs
    named = [name.upper() for name in re.findall(r"ECN\((\w+)\)", texts[1]) if name != "x"]
    assert sorted(named) == sorted(own.keys() - {"MAX"})


@pytest.mark.alone
@pytest.mark.seconds(20)
@pytest.mark.skipif(platform.machine() == "aarch64", reason="this is arm64")
@pytest.mark.skipif(LATER, reason="each perf has all of them")
def test_the_part_of_each_architecture_compiles():
    """By the command that has compiled this machine's, whose headers come first."""
    perf_of("host")
    line = next(BUILD.glob("perf-host-build/arch/*/util/.kvm-stat.o.cmd")).read_text()
    command = re.sub(r' -Wp,-M\S*| -D"BUILD_STR[^"]*"\S*| -c -o .*', "",
                     re.search(r"^cmd_[^=]* := (.*)$", line, re.M)[1])
    sources = list(TREE.glob("tools/perf/arch/*/util/kvm-stat.c"))
    assert len(sources) >= 6
    for path in sources:
        process.run(["sh", "-c", f"{command} -I{TREE}/tools/arch/{path.parts[-3]}/include/uapi "
                     f"-fsyntax-only {path}"], cwd=TREE / "tools/perf")


@pytest.mark.seconds(10)
@pytest.mark.usefixtures("vm")
def test_the_demo_shows_what_the_document_does(tmp_path):
    """`make run TOOL=perf-kvm` has its commands, and as many samples in its rows."""
    demo.run("perf-kvm", tmp_path)
    document = TREE / "Documentation/virt/kvm/vcpu-tracepoints.rst"
    shown, document = (re.findall(r"^ *(# .*|(?:HVC64|SYS64|0x[0-9a-f]+:[RW]) +\d+)",
                                  path.read_text(), re.M)
                       for path in (tmp_path / "session.txt", document))
    assert shown == document and sum(row.startswith("HVC64") for row in shown) == 3


# Two exits of riscv. 7.3 has names of its own, and takes an exception for the interrupt of the same
# number: these have none.
FAULT, CALL = (f"{'EXC_' * LATER}{name}" for name in ("LOAD_GUEST_PAGE_FAULT", "SYSCALL"))
# The guest of riscv runs for 100, 100 and 60 us, and the last exit has not ended when the recording
# does. LoongArch's kernel handles two of the exits: kvm_reenter alone ends them.
RECORDINGS = [
    ("exits of riscv take from kvm_exit to kvm_entry", "riscv64",
     "1000 kvm_entry, 1100 kvm_exit scause=8, 1107 kvm_entry, 1207 kvm_exit scause=21, "
     "1247 kvm_entry, 1307 kvm_exit scause=8",
     (2, 47, 260), {FAULT: (1, 0, 40), CALL: (1, 1, 7)}),
    ("LoongArch's guest runs after kvm_reenter", "loongarch64",
     "1000 kvm_enter, 1050 kvm_exit reason=23, 1055 kvm_reenter, 1155 kvm_exit reason=22, "
     "1156 kvm_exit_gspr inst_word=0x06488000, 1200 kvm_reenter, 1500 kvm_exit reason=15, "
     "1580 kvm_enter, 1600 kvm_exit reason=23",
     (3, 130, 470), {"FPU": (1, 0, 80), "Hypercall": (1, 1, 5), "Idle": (1, 0, 45)})]
RECORDED_X86 = (
    "exits of x86, which any perf reports", "x86_64",
    "1000 kvm_entry vcpu_id=2, 1100 kvm_exit exit_reason=0x81, 1107 kvm_entry vcpu_id=2, "
    "1207 kvm_exit exit_reason=0x78, 1247 kvm_entry vcpu_id=2, 1307 kvm_exit exit_reason=0x81",
    (2, 47, 260), {"hlt": (1, 0, 40), "hypercall": (1, 1, 7)})
CPUIDS = {"x86_64": "AuthenticAMD,25,1,1"}
REENTRY = "1 kvm_reenter vcpu_id=3, 9 kvm_exit vcpu_id=3 reason=23, 10 kvm_reenter vcpu_id=3"


def recorded(arch, lines):
    return perfdata.recording(arch, lines.split(", "), CPUIDS.get(arch, "none"))


@pytest.mark.alone
@pytest.mark.seconds(40)
def test_recorded(checks, tmp_path):
    """An exit takes from kvm_exit until the guest is entered again, and the guest has the rest, in
    recordings of other architectures, which are made up."""
    said = Said(tmp_path, checks)
    for name, arch, lines, total, events in [*RECORDINGS, RECORDED_X86]:
        said.data(arch).write_bytes(recorded(arch, lines))
        events = {event: kvmstat.Event(*one, one[2], one[2]) for event, one in events.items()}
        checks.equals(name, parse(said.report(arch)), {"all/all": kvmstat.Vcpu(events, *total)})
    said.data("reentry").write_bytes(perfdata.recording("loongarch64", REENTRY.split(", ")))
    said.check(("AMD's hlt is not shown as long", "x86_64", "--duration=30", lambda text:
                says("VM-EXIT")(text) and not says("event took")(text)))
    said.check(("kvm_reenter names LoongArch's vCPU", "reentry", "--per-vcpu",
               says("VCPU 3, thread 1000")))


def made_up(arch, exits):
    """The recording of exits: what kvm_exit has of each, and how long it took in microseconds."""
    now, lines = 1000, []
    for fields, time in exits:
        lines += [f"{now} kvm_exit {fields}", f"{now + time} kvm_entry"]
        now += time + 10
    return perfdata.recording(arch, lines)


def exact(times, permille):
    """The shortest time than which so much of them are not longer."""
    return sorted(times)[-(-permille * len(times) // 1000) - 1]


def near(found, time):
    """At most 1 % off, and rounded to 10 ns."""
    return abs(found - time) <= time / 100 + 0.005


def histogram(text, name):
    """The rows of an event's histogram: {microseconds from which: how many}."""
    rows = text.split(f"\n{name}:\n")[1].split("\n\n")[0]
    return {float(first): int(number) for first, number in
            re.findall(r"^ +([\d.]+)us - +[\d.]+us \| +(\d+) \| [ #]{46} \|$", rows, re.M)}


FAULTS, CALLS = [*range(1, 1001)], [0.001, 0.1, 0.127, 5000]    # microseconds


@pytest.mark.alone
@pytest.mark.seconds(30)
def test_percentiles(checks, tmp_path):
    """Those of exits that are known, and how many took how long; nothing else changes."""
    said = Said(tmp_path, checks)
    exits = [("scause=21", time) for time in FAULTS] + [("scause=8", time) for time in CALLS]
    random.Random(1).shuffle(exits)
    said.data("made").write_bytes(made_up("riscv64", exits))
    text = said.report("made", "--percentiles")
    for name, times in (FAULT, FAULTS), (CALL, CALLS):
        found = parse(text)["all/all"].events[name].percentiles
        checks(f"{name}: percentiles", len(found) == 4 and all(
            near(one, exact(times, permille)) for one, permille in
            zip(found, (500, 900, 990, 999))), found)
        log2 = Counter(2 ** (int(time * 1000).bit_length() - 1) / 1000 if time > 0.001 else 0
                       for time in times)
        found = histogram(said.report("made", "--histogram"), name)
        checks.equals(f"{name}: histogram", {row: n for row, n in found.items() if n}, log2)
    text = said.report("made", "--histogram --per-vcpu")
    found = histogram(text, CALL)
    checks("a histogram of each vCPU", sum(found.values()) == len(CALLS), text)
    text = said.report("made", "--percentiles")
    plain = re.sub(r"(Avg time ) {10}( +p[\d.]+){4}$", r"\1", text, flags=re.M)
    plain = re.sub(r"(% \))( +[\d.]+us){4}$", r"\1", plain, flags=re.M)
    checks.equals("all else is as before", plain, said.report("made"))
    said.check(
        ("sorted by p99", "made", "-k p99", lambda text: [*parse(text)["all/all"].events] ==
         [CALL, FAULT] and falls("p99", 1)(text)),
        ("sorted by p50", "made", "-k p50", lambda text: [*parse(text)["all/all"].events] ==
         [FAULT, CALL]),
        ("no such percentile", "made", "-k p98", fails("Unsupported sort key: p98")))


# A guest of arm64 whose thread is exchanged for another one and comes back on CPU 1
MEANWHILE = [
    "1000 kvm_exit vcpu_pc=0x40001000 ret=2 esr_ec=0x16",
    "1010 sched:sched_switch next_pid=7",
    "1020 irq:softirq_entry tid=7 vec=1",
    "1030 irq:softirq_entry tid=8 vec=2 cpu=1",
    "1050 kvm_vcpu_sched_in cpu=1 vm_pid=99 vm_fd=5 vcpu_id=1",
    "1060 irq:softirq_entry tid=7 vec=3",
    "1070 irq:softirq_entry tid=8 vec=4 cpu=1",
    "1100 kvm_entry cpu=1",
    "1200 kvm_exit cpu=1 vcpu_pc=0x40002000 ret=2 esr_ec=0x16", "1205 kvm_entry cpu=1",
    # It waits for an interrupt.
    "1300 kvm_exit cpu=1 vcpu_pc=0x40003000 ret=2 esr_ec=0x1", "1900 kvm_entry cpu=1"]
SLOW = """1100000 VM 99-5, VCPU 1, thread 1000: HVC64 event took 100usec, pc 0x40001000
          +0.000us [000] tid 1000: kvm:kvm_exit: none
         +10.000us [000] tid 1000: sched:sched_switch: none
         +20.000us [000] tid 7: irq:softirq_entry: none
         +50.000us [001] tid 1000: kvm:kvm_vcpu_sched_in: none
         +70.000us [001] tid 8: irq:softirq_entry: none
        +100.000us [001] tid 1000: kvm:kvm_entry: none

"""


@pytest.mark.alone
@pytest.mark.seconds(20)
def test_slow_exits(checks, tmp_path):
    """--duration shows each with what the host did, also before it is known which vCPU it is."""
    said = Said(tmp_path, checks)
    said.data("made").write_bytes(perfdata.recording("aarch64", MEANWHILE))
    plain = said.report("made")
    for options, expected in (("--duration 50", SLOW), ("--duration=99 --vcpu=1", SLOW),
                              ("--duration 100", ""), ("--duration=50 --vcpu=0", ""),
                              ("--duration=50 --vm=98", "")):
        text = said.report("made", options)
        found = re.search(r":\n\n((?:.*\n)*?)(?= +VM-EXIT )", text)
        checks(options, found and found[1] == expected, text)
    checks.equals("all else is as before", said.report("made", "--duration=50").replace(SLOW, ""),
                  plain)


# What the first of RECORDINGS has
FIRST = [
    {"event": FAULT, "samples": 1, "samples-percent": 50.0,
     "time-percent": 85.11, "time-ns": 40000, "min-time-ns": 40000, "max-time-ns": 40000,
     "mean-time-ns": 40000.0, "mean-time-deviation-percent": 0.0, "p50-ns": 40000,
     "p90-ns": 40000, "p99-ns": 40000, "p99.9-ns": 40000},
    {"event": CALL, "samples": 1, "samples-percent": 50.0,
     "time-percent": 14.89, "time-ns": 7000, "min-time-ns": 7000, "max-time-ns": 7000,
     "mean-time-ns": 7000.0, "mean-time-deviation-percent": 0.0, "p50-ns": 7000,
     "p90-ns": 7000, "p99-ns": 7000, "p99.9-ns": 7000},
    {"event": FAULT, "from-ns": 32768, "to-ns": 65535, "samples": 1},
    {"event": CALL, "from-ns": 4096, "to-ns": 8191, "samples": 1},
    {"event": CALL, "not-ended": 1},
    {"total-samples": 2, "total-time-ns": 47000, "guest-time-ns": 260000},
    {"unknown-vcpu-samples": 2, "lost-events": 0, "left-out-samples": 0}]
VCPU = {"vm": "99-5", "vcpu": 1, "thread": 1000}
LINE = {"slow-event-end-ns": 1100000, "text": "none"}
SLOW_LINES = [
    {**VCPU, "slow-event": "HVC64", "end-ns": 1100000, "time-ns": 100000, "pc": "0x40001000"},
    *({**LINE, "since-begin-ns": time, "cpu": cpu, "thread": thread, "host-event": name}
      for time, cpu, thread, name in [
          (0, 0, 1000, "kvm:kvm_exit"), (10000, 0, 1000, "sched:sched_switch"),
          (20000, 0, 7, "irq:softirq_entry"), (50000, 1, 1000, "kvm:kvm_vcpu_sched_in"),
          (70000, 1, 8, "irq:softirq_entry"), (100000, 1, 1000, "kvm:kvm_entry")])]


def separated(text, separator):
    """The lines of --field-separator as dictionaries."""
    lines = []
    for table in text.split("\n\n"):
        names, *rows = csv.reader(table.splitlines(), delimiter=separator, quoting=csv.QUOTE_NONE)
        lines += [dict(zip(names, row, strict=True)) for row in rows]
    return lines


def as_text(lines):
    """Their values, as --field-separator prints them."""
    return [{name: f"{value:.2f}" if isinstance(value, float) else str(value)
             for name, value in line.items()} for line in lines]


@pytest.mark.alone
@pytest.mark.seconds(20)
def test_lines_for_programs(checks, tmp_path):
    """--json-output and --field-separator have what the table has."""
    said = Said(tmp_path, checks)
    _, arch, lines, *_ = RECORDINGS[0]
    said.data("first").write_bytes(perfdata.recording(arch, lines.split(", ")))
    said.data("slow").write_bytes(perfdata.recording("aarch64", MEANWHILE))

    def report(recording, options):
        text = said.report(recording, options)
        checks(f"{recording} {options}", text.endswith("status 0\n"), text)
        return text.removesuffix("status 0\n")
    for recording, options, number, expected in (
            ("first", "--percentiles --histogram -k time", len(FIRST), FIRST),
            ("slow", "--duration 50", len(SLOW_LINES), SLOW_LINES)):
        found = [json.loads(line) for line in report(recording, f"-j {options}").splitlines()]
        checks.equals(f"{recording}: JSON", found[:number], expected)
        for separator in ";", "\t":
            lines = separated(report(recording, f"{options} -x {separator}" if separator == ";" else
                                     f"{options} --field-separator=\\t"), separator)
            checks.equals(f"{recording}: lines with {separator!r}", lines, as_text(found))
    found = [json.loads(line) for line in report("slow", "--json-output --per-vcpu").splitlines()]
    checks("lines of a vCPU", [line["event"] for line in found[:-2]] == ["HVC64", "WFx"] and
           all(VCPU.items() <= line.items() for line in found[:-1]), found)
    said.check(
        ("a separator in a text is a dot", "slow", "-x: --duration=50", says("kvm.kvm_exit")),
        ("both are an error", "slow", "-j -x,", fails("cannot use both")))


# Thread 1000 is preempted, and it turns out whose vCPU it is; an exit waits for an interrupt;
# thread 1001 goes on with an access that 1000 has begun, and completes it before it loads the
# vCPU. Others' switches are not the vCPU's.
OFF_CPU = [
    "990 kvm_vcpu_put vm_pid=99 vm_fd=5 vcpu_id=1 tid=1001", "995 switch-out tid=1001",
    "1001 kvm_entry", "1003 preempt", "1005 switch-in",
    "1010 kvm_exit ret=2 esr_ec=0x16 vcpu_pc=0x40001000", "1012 preempt", "1013 preempt tid=8",
    "1013.1 kvm_vcpu_sched_out vm_pid=99 vm_fd=5 vcpu_id=1", "1015.5 switch-in",
    "1016 kvm_vcpu_sched_in vm_pid=99 vm_fd=5 vcpu_id=1", "1020 kvm_entry",
    "1030 kvm_exit ret=2 esr_ec=0x16", "1035 kvm_entry",
    # Not in an exit
    "1040 preempt", "1045 switch-in",
    "1050 kvm_exit ret=2 esr_ec=0x1", "1051 switch-out", "1551.25 switch-in", "1552 kvm_entry",
    "1560 kvm_exit ret=2 esr_ec=0x24 vcpu_pc=0x40002000", "1560.5 kvm_mmio type=0 gpa=0x8",
    "1561 preempt", "1562 switch-in", "1563 kvm_vcpu_put vm_pid=99 vm_fd=5 vcpu_id=1",
    "1570 switch-out", "1585 switch-in tid=1001", "1590 kvm_mmio type=1 gpa=0x8 tid=1001",
    "1592 preempt tid=1001", "1595 switch-in tid=1001",
    "1600 kvm_vcpu_load vm_pid=99 vm_fd=5 vcpu_id=1 tid=1001", "1601 preempt tid=1001",
    "1603 switch-in tid=1001", "1610 switch-in", "1620 kvm_entry tid=1001"]
# The first of these has no begin, the second no end, the third loses records of its CPU.
WITHOUT = ["999 kvm_vcpu_load vm_pid=99 vm_fd=5 vcpu_id=1",
           "1000 kvm_exit ret=2 esr_ec=0x16", "1001 switch-in", "1002 kvm_entry",
           "1010 kvm_exit ret=2 esr_ec=0x16", "1011 switch-out", "1012 kvm_entry",
           "1020 kvm_exit ret=2 esr_ec=0x16", "1021 switch-out", "1022 lost nr=3 cpu=1 tid=0",
           "1023 switch-in", "1024 kvm_entry",
           "1030 kvm_exit ret=2 esr_ec=0x16", "1031 preempt", "1033 switch-in", "1034 kvm_entry",
           "1040 kvm_exit ret=2 esr_ec=0x16", "1041 switch-out"]
OFF = "preempted-time-ns", "slept-time-ns", "unknown-off-cpu-samples"
OFF_SLOW = (
    r"1020000 VM 99-5, VCPU 1, thread \d+: HVC64 event took 10usec, preempted 3usec, slept 0usec, "
    r"pc 0x40001000\n",
    r"1620000 VM 99-5, VCPU 1, thread \d+: DABT_LOW event took 60usec, preempted 6usec, "
    r"slept 20usec, pc 0x40002000\n")


def off_cpu(text):
    """What JSON has of each event, and of the sums."""
    lines = [json.loads(line) for line in text.removesuffix("status 0\n").splitlines()]
    return {line.get("event", "all"): tuple(
        line[name] for name in OFF if name in line) for line in lines if OFF[0] in line}


@pytest.mark.alone
@pytest.mark.seconds(20)
def test_time_off_the_cpu(checks, tmp_path):
    """It is what the switches say, to the nanosecond, or it is not known."""
    said = Said(tmp_path, checks)
    for name, lines in ("off", OFF_CPU), ("without", WITHOUT):
        said.data(name).write_bytes(perfdata.recording("aarch64", lines))
    said.data("old").write_bytes(perfdata.recording("aarch64", [
        line for line in OFF_CPU if line.split()[1] not in perfdata.SWITCHES]))
    checks.equals("each event", off_cpu(said.report("off", "-j")), {
        "HVC64": (3500, 0, 0), "WFx": (0, 500250, 0), "DABT_LOW": (6000, 20000, 0),
        "all": (9500, 520250)})
    checks.equals("an access", off_cpu(said.report("off", "-j --event=mmio")), {
        "0x8:R": (1000, 20000, 0), "all": (1000, 20000)})
    checks.equals("exits that took long: JSON", [json.loads(line)[name] for line in said.report(
        "off", "-j --duration=9").splitlines() for name in OFF if '"slow-event"' in line and
                                                 name in line], [3500, 0, 6000, 20000])
    table = parse(said.report("off"))["all/all"].events
    checks.equals("the mean", {name: event.off for name, event in table.items()}, {
        "HVC64": (1.75, 0), "WFx": (0, 500.25), "DABT_LOW": (6, 20)})
    old = said.report("old")
    plain = re.sub(r"(Avg time) +Avg preempted +Avg slept$", r"\1 ", said.report("off"), flags=re.M)
    plain = re.sub(r"(% \))( +[\d.]+us){2}$", r"\1", plain, flags=re.M)
    plain = re.sub(r"Time off the CPU: preempted:9.50us, slept:520.25us.\n", "", plain)
    checks.equals("an old recording: all else is as before", plain, old)
    said.check(
        ("exits that took long", "off", "--duration=9", says(*OFF_SLOW)),
        ("sorted by the preempted time", "off", "-k preempted", lambda text:
         [*parse(text)["all/all"].events] == ["DABT_LOW", "HVC64", "WFx"]),
        ("sorted by the slept time", "off", "-k slept", lambda text:
         [*parse(text)["all/all"].events] == ["WFx", "DABT_LOW", "HVC64"]),
        ("with percentiles", "off", "--percentiles", each("WFx", lambda event: event.off == (
            0, 500.25) and len(event.percentiles) == 4)),
        ("what is not known is said", "without", "",
         says("3 samples lack the time off the CPU: switches are missing")),
        ("of an exit, too", "without", "--duration=1", says("took 2usec, off the CPU for an unkn")))
    checks.equals("records that are missing", off_cpu(said.report("without", "-j")), {
        "HVC64": (2000, 0, 3), "all": (2000, 0)})


@pytest.mark.fast
@pytest.mark.host
@pytest.mark.seconds(10)
def test_no_recording_is_its_end(checks, tmp_path):
    """A fuzzer of what perf kvm stat reads: perf's own sources, with libFuzzer and sanitizers."""
    need("check", "fuzz")
    source = tree.make() / "tools/testing/perf-kvm"
    process.run(["make", "-s", "-C", source, f"O={BUILD}/perf-fuzz"])
    checks("no recording is perf's end", True, fuzz.run(
        BUILD / "perf-fuzz/records_fuzz", "records",
        fuzz.write_seeds(source / "seeds", tmp_path / "seeds"), 60000))
