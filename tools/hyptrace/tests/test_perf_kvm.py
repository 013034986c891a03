# SPDX-License-Identifier: GPL-2.0
"""perf kvm stat of the topic perf-kvm-stat: its counts are KVM's own and its times those of the
machine, in each mode of KVM; Debian's perf has the faults that the topic mends, and works with it;
perf works in Debian's user space; no tracepoint that exists has changed, and the new ones cost
nothing while they are off. x86-64 is QEMU's emulation of AMD's SVM."""

import functools
import os
import platform
import re
import shutil
from collections import Counter

import pytest
from hyptrace import demo, fuzz, image, kernel as kernels, kvmstat, patches, perf, perfdata, process
from hyptrace import sites, tree
from hyptrace.kvmstat import NAMES, counts, differences, every
from hyptrace.machine import BUILD, ROOT, TOOLS, Failure, arch_of, need, scaled

pytestmark = pytest.mark.topics

TREE, TOPIC = BUILD / "tree", "perf-kvm-stat"
NEW = [f"kvm_{name}" for name in ("trap_enter", "trap_exit", "vcpu_load", "vcpu_put",
                                  "vcpu_sched_in", "vcpu_sched_out")]
COUNTED = "-icount shift=0,sleep=off -rtc clock=vm"     # an instruction takes a nanosecond
MODES = [("protected", "max"), ("nvhe", "cortex-a72"), ("vhe", "max")]
X86 = pytest.param("x86", "none", "max,+svm,+npt", marks=pytest.mark.x86)
FORMATS = "grep -H '' /sys/kernel/tracing/events/*/*/format | grep -v ':ID: ' >/out/formats\n"
UNKNOWN = "VCPU is not known"
NO_LOAD = "The kernel has no kvm:kvm_vcpu_load"
TRUNCATED = "The recording is truncated: its .* should end at"
perf_of = functools.cache(perf.build)

# Reports that have what KVM has counted: of what, of all guests or one, and the kind
EXITS = {"main": ("exits of each vCPU, none is unknown, nothing is lost", "", "vmexit"),
         "main.trap": ("traps of each vCPU", "", "trap"),
         "main.mmio": ("accesses of each vCPU to its device", "", "mmio"),
         "one": ("a recording of one process", "four", "vmexit"),
         "one.mmio": ("a recording of one process: accesses", "four", "mmio"),
         "alone": ("a recording of one process, without debugfs", "two", "vmexit"),
         "no-debugfs": ("without debugfs", "", "vmexit"),
         "no-tracepoints": ("without the tracepoints of vCPUs", "", "vmexit")}
CHANGES = {"swap": ("threads are exchanged", "", "vmexit"),
           "swap.mmio": ("threads are exchanged: accesses", "", "mmio")}
SORTED = {"sample": "ended", "max_t": "max", "min_t": "min", "mean_t": "mean", "time": "time"}


class Said:
    """What a script left."""

    def __init__(self, directory, arch="arm64"):
        self.directory, self.arch, self.names = directory, arch, NAMES[arch]

    def text(self, name):
        """What was said, if at all."""
        path = self.directory / name
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

    def status(self, name):
        """The exit status, if there was one."""
        found = re.search(r"^status (\d+)\n\Z", self.text(name), re.M)
        return found and int(found[1])

    def tables(self, name):
        """Those of a report that succeeded."""
        return kvmstat.parse(self.text(name)) if self.status(name) == 0 else {}

    def vcpus(self, recording, guest=""):
        """What the guests, or one, have counted for a recording."""
        return {name: vcpu for path in self.directory.glob(f"{recording}.{guest or '*'}")
                if self.status(path.name) is None
                for name, vcpu in kvmstat.last_round(self.text(path.name)).items()}

    def has(self, name, *patterns):
        """It succeeded, and each of the patterns is in what it said."""
        return self.status(name) == 0 and all(re.search(each, self.text(name), re.I)
                                              for each in patterns)

    def fails(self, checks, **texts):
        """Each fails, and says why."""
        for name, text in texts.items():
            checks(f"{name}: {text}", self.status(name) and re.search(text, self.text(name), re.I),
                   self.text(name))

    def hypercalls(self, name, number):
        """So many are in the report, of all vCPUs together."""
        return sum(counts(self.tables(name), self.names.hypercall).values()) == number

    def compare(self, checks, reports):
        """Reports have what KVM has counted, and nobody is unknown."""
        for name, (title, guest, kind) in reports.items():
            vcpus = self.vcpus(name.partition(".")[0], guest)
            wrong = list(differences(self.tables(name), vcpus, kind, self.arch))
            checks(title, not wrong and not self.has(name, "unknown|lost"),
                   "\n".join(wrong + [self.text(name)]))


@pytest.fixture(name="boots")
def fixture_boots(vm, tmp_path, request):
    """boots(script, ...): run a script with perf in a VM; what it left."""
    config = getattr(request.node, "callspec", None) and request.node.callspec.params.get("config")
    arch, files = arch_of(config or "default"), tmp_path / "files"
    if arch == "x86_64" and platform.machine() != arch:
        pytest.skip("perf of x86-64 is built on x86-64")

    def run(script, **how):
        shutil.copytree(TOOLS / "perf-kvm", files / "perf-kvm")
        shutil.copy(perf_of("arm64" if arch == "arm64" else "host"), files)
        files.joinpath("tests/shell").mkdir(parents=True)
        shutil.copy(TREE / "tools/perf/tests/shell/kvm_stat.sh", files / "tests/shell")
        result = vm.tests(script, [f"perf-kvm/{script}.sh"], files=files, timeout=900, **how)
        return Said(result.out / script, arch)
    run.files = files
    files.mkdir()
    return run


def judge_exits(said, checks):
    """Two VMs: exits, traps and accesses of each vCPU are those that KVM has counted."""
    tables, total = said.tables("main").values(), said.tables("main.all")
    said.compare(checks, {name: each for name, each in EXITS.items()
                          if said.arch == "arm64" or name != "main.trap"})
    dump = re.findall(r"EVENT_TYPE VM (\S+), VCPU (\d+): thread (\d+)\n", said.text("main.dump"))
    checks.equals("the recording has the vCPUs", sorted(dump), sorted(
        (*name.split("/"), str(vcpu["tid"])) for name, vcpu in said.vcpus("main").items()))
    checks("a report without a terminal", said.has("main.plain", said.names.hypercall) and all(
        said.text(name) == said.text(same) for name, same in
        (("main.vcpus", "main"), ("main.plain", "main.all"))))
    checks("the table of all vCPUs is the sum", total and all(
        table.ended == sum(each.ended for each in tables) and
        abs(table.time - sum(each.time for each in tables)) < 1 for table in total.values()))
    checks("--vcpu, --vm and -p", said.hypercalls("main.vcpu1", 2200) and
           said.hypercalls("main.vcpu1-two", 2000) and said.hypercalls("main.of-two", 3000) and
           said.hypercalls("main.of-four", 1000) and
           not counts(said.tables("main.vcpu1"), said.names.access))
    for key, name in SORTED.items():
        found = [getattr(event, name) for table in said.tables(f"main.key-{key}").values()
                 for event in table.events.values()]
        checks(f"-k {key}: smaller numbers come later",
               len(found) > 2 and found == sorted(found, reverse=True), found)
    said.fails(checks, **{"main.key-nothing": "Unsupported sort key: nothing",
                          "main.bad-event": f"Unknown event nothing: {said.names.events}",
                          "main.bad-vcpu": "Invalid vcpu:-2", "missing": "No such file"})
    lost = list(differences(said.tables("losses"), said.vcpus("losses"), "vmexit", said.arch, True))
    checks("lost events are reported; no vCPU has any of another",
           not lost and said.has("losses", "Lost events: [1-9]"), lost)


def judge_neither(said, checks):
    """Neither debugfs nor tracepoints say which thread runs which vCPU. x86 has the vCPU in
    kvm_entry: all that is not known is which VM of its process it is of."""
    tables, vcpus = said.tables("neither"), said.vcpus("neither")
    if said.arch == "x86_64":
        processes = {re.sub("-[0-9]+/", "/", name): vcpu for name, vcpu in vcpus.items()}
        checks.equals("without both, VMs are processes", list(differences(
            tables, processes, arch=said.arch)), [])
        return
    checks("without both, vCPUs are unknown, and none is vCPU 0", tables and
           all(name.endswith("/unknown") for name in tables) and
           said.has("neither.recorded", "Can't read kvm/ in debugfs") and
           said.has("neither", f"samples are of threads whose {UNKNOWN}", NO_LOAD) and
           said.has("neither.vcpu0", f"{UNKNOWN}: they are left out") and
           "HVC64" not in said.text("neither.vcpu0") and said.hypercalls("neither.all", 4000))
    # In live mode all displays together have what these guests did, and nothing else.
    for name, guest in {"live": "", "live-two": "two"}.items():
        found = Counter()
        for display in said.text(name).split("Analyze events"):
            found.update(counts(kvmstat.parse(display), "HVC64", ended=True))
        checks.equals(f"{name}: hypercalls of each vCPU", +found, Counter(
            {vcpu: each["hvc"] for vcpu, each in said.vcpus(name, guest).items()}))


def judge_changes(said, checks):
    """Threads, vCPUs and VMs that come and go; recordings that are damaged."""
    said.compare(checks, CHANGES)
    busy = said.tables("busy")
    wrong = list(differences(busy, said.vcpus("busy"), lossy=True))
    checks("a vCPU that runs already", not wrong and not said.has("busy", "unknown") and
           every(busy, "HVC64", lambda event: event.ended > 0), wrong)
    for name, number, title in (("plug", 3, "a vCPU that begins to run"),
                                ("ends", 3, "VMs that begin and end"),
                                ("user", 1, "without root's rights")):
        vcpus = {vcpu: each["hvc"] for vcpu, each in said.vcpus(name).items()}
        checks(title, len(vcpus) == number and not said.has(name, "unknown") and
               counts(said.tables(name), "HVC64") == vcpus, said.text(name))
    checks("root's rights are missing, which is said",
           said.has("user.recorded", "Can't read kvm/ in debugfs: Permission denied"))
    whole, some = said.tables("swap.whole"), False
    for name in (f"part{part}" for part in (10, 30, 50, 70, 80, 85, 90, 95, 99)):
        good = said.status(name) == 0 and said.tables(name) == whole
        some = some or good
        checks(f"{name}: that it is truncated is said", whole and
               re.search(TRUNCATED, said.text(name)) and (good or said.status(name) == 255 and (
                   some or "incompatible file format" in said.text(name))), said.text(name))
    checks("some truncated recording is reported", some)
    said.fails(checks, empty="zero-sized data", short="incompatible file format",
               broken="was the .perf record. command properly terminated")


def judge_here(said, checks, tmp_path):
    """This machine's perf reads arm64's recording, and what others may have written."""
    here, data = perf_of("host"), (said.directory / "data").read_bytes()

    def report(content, *options, **env):
        (tmp_path / "data").write_bytes(content)
        return process.run([here, "kvm", "stat", "report", "-f", "--stdio", *options, "-i",
                            tmp_path / "data"], check=False, env=os.environ | env).stdout
    process.run(["gcc", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-o",
                 tmp_path / "plugin_trap.so", "-"], input="__attribute__((constructor)) "
                "static void loaded(void) { __builtin_trap(); }")
    plain, later = report(data), report(perfdata.later(data))
    header = process.run([here, "report", "-f", "--header-only", "-I", "-i", tmp_path / "data"])
    checks.equals("no library is loaded", report(data, TRACEEVENT_PLUGIN_DIR=str(tmp_path)), plain)
    checks("the recording has no feature of its own",
           max(perfdata.features(data), default=99) < perfdata.KNOWN)
    checks("a later perf's feature is none of ours",
           "HVC64" in plain and plain == later and "VM 77-5" not in header.stdout, header.stdout)
    said_of = report(perfdata.wrapped(data))
    checks("a feature that ends beyond all numbers",
           re.search(f"{TRUNCATED} 0xffffffffffffffff", said_of), said_of)
    if platform.machine() == "aarch64":
        checks.skip("a recording of arm64 is reported on another machine", "this is arm64")
        return
    checks.equals("a recording of arm64 is reported here", report(data, "--per-vcpu"),
                  said.text("main").removesuffix("status 0\n"))
    # The browser, in a terminal: it has each vCPU's exits together, and goes on until a key.
    screen = tmp_path / "screen"
    process.run(["sh", "-c", f"""(until grep -qs HVC64 {screen}; do sleep 0.1; done; printf q) |
        timeout {scaled(60):.0f} script -qefc '{here} kvm stat report -f -i {tmp_path}/data' {screen}
        """], timeout=90, env=os.environ | {"TERM": "xterm"})
    checks("and in the browser", re.search(r"(^|m) *HVC64 +4000 ", screen.read_text(
        errors="replace").replace("\r", "").replace("\033", "\n"), re.M))


@pytest.mark.seconds(90)
@pytest.mark.parametrize("config, mode, cpu", [*(("default", *mode) for mode in MODES), X86])
def test_exits(boots, checks, tmp_path, config, mode, cpu):    # pylint: disable=too-many-arguments
    """Counts are KVM's own, whatever says which thread runs which vCPU."""
    said = boots("exits", mode=mode, cpu=cpu, config=config)
    checks("perf test 'perf kvm stat'", said.has("shell", ": perf kvm stat *: Ok"),
           said.text("shell"))
    judge_exits(said, checks)
    judge_neither(said, checks)
    if mode == "protected":
        judge_here(said, checks, tmp_path)


@pytest.mark.seconds(30)
@pytest.mark.parametrize("mode, cpu", MODES)
def test_changes(boots, checks, mode, cpu):
    """What is recorded changes meanwhile, or is damaged afterwards."""
    judge_changes(boots("changes", mode=mode, cpu=cpu), checks)


def five_ms(number):
    """So many took 5 ms, and what the timer, the switches of tasks and KVM take. The only CPU may
    be another task's until the next tick, 4 ms later."""
    return lambda event: (event.ended == number and 5000 <= event.min and event.max < 9500 and
                          5000 <= event.mean < 5400)


@pytest.mark.seconds(40)
@pytest.mark.parametrize("mode, cpu", MODES)
def test_times(boots, checks, tmp_path, mode, cpu):
    """Those of the machine, with softirqs, too."""
    shutil.copy(TOOLS / "perf-kvm/flood.c", tmp_path)
    (tmp_path / "Makefile").write_text("obj-m := flood.o\n")
    kernels.make("arm64", "-s", "-C", TREE, f"O={BUILD}/kernel-default", f"M={tmp_path}", "modules")
    shutil.copy(tmp_path / "flood.ko", boots.files)
    said = boots("times", mode=mode, cpu=cpu, smp=1, qemu_args=COUNTED)
    exits, accesses, traps = (said.tables(f"late0{kind}") for kind in ("", ".mmio", ".trap"))
    checks("exits take the time of user space", every(exits, "DABT_LOW", five_ms(100)))
    checks("so do accesses", every(accesses, "0x.*", five_ms(50)))
    checks("traps do not", every(traps, "DABT_LOW", lambda event: event.max < 1000))
    # From before the first KVM_RUN to after the last access
    took = [vcpu["ns"] / 1000 for vcpu in said.vcpus("late1").values()]
    times = [table.time + table.guest for table in said.tables("late1").values()]
    checks("exits and guest are the running time, within 1 %", len(took) == len(times) == 1 and
           0.99 * took[0] < times[0] < 1.01 * took[0], f"{times} of {took} us")
    seen = int(said.text("in_guest") or 0)
    checks("softirqs interrupt the guest", seen >= 20, seen)
    checks("exits by an interrupt take the time of softirqs", every(
        said.tables("flooded"), "IRQ", lambda event: event.ended >= seen and
        event.time >= 500 * seen), said.text("flooded"))
    calm, flooded = (sum(table.guest for table in said.tables(name).values())
                     for name in ("calm", "flooded"))
    checks("the guest does not", 0 < calm and flooded - calm < 500 * seen / 10, (calm, flooded))


def judge_others(said, name, checks, vcpus_known):
    """What perf of the tree knows of any recording: exits, and accesses with their time."""
    exits, accesses = said.tables(f"{name}.all"), said.tables(f"{name}.mmio")
    checks(f"{name}: exits and accesses are right", said.hypercalls(f"{name}.all", 300) and
           every(exits, "DABT_LOW", lambda event: event.ended == 20 and event.min >= 5000) and
           every(accesses, "0x.*", lambda event: event.ended == 10), exits)
    if vcpus_known:
        checks(f"{name}: vCPUs are known", said.hypercalls(f"{name}.vcpu1", 200))
        return
    tables = said.tables(f"{name}.vcpus")
    checks(f"{name}: vCPUs are unknown, which is said", said.has(f"{name}.vcpus", UNKNOWN) and
           tables and all(vcpu.endswith("/unknown") for vcpu in tables), said.text(f"{name}.vcpus"))


@pytest.mark.seconds(15)
def test_debians_perf(boots, checks):
    """It works as before, with the two faults; its recordings are read without them."""
    try:
        image.program(image.suite("trixie", "linux-perf", "linux-perf"), "usr/bin/perf",
                      boots.files / "debian")
    except Failure as why:
        return checks.skip("Debian's perf", why)
    said = boots("others")
    for name in "old", "new":
        judge_others(said, name, checks, vcpus_known=name == "new")
        checks(f"{name}: Debian's report calls each thread vCPU 0", said.hypercalls(
            f"{name}.vcpu0.debian", 300) and said.has(f"{name}.vcpu1.debian") and
            said.hypercalls(f"{name}.vcpu1.debian", 0))
        checks(f"{name}: it has the guest's time as that of an access", every(
            said.tables(f"{name}.all.debian"), "DABT_LOW",
            lambda event: event.ended == 20 and event.mean < 5000))
    return None


@pytest.mark.seconds(15)
@pytest.mark.parametrize("config, mode, cpu", [("default", *MODES[0]), X86])
@pytest.mark.parametrize("release", ["trixie", "machine"])
def test_user_space(boots, checks, tmp_path, release, config, mode, cpu):
    """Debian's, of a newer C library than perf's, and of the same, whose libraries fit better, and
    so do more harm."""
    # pylint: disable=too-many-arguments,too-many-locals
    name, arch = ("perf-user-x86", "amd64") if config == "x86" else ("perf-user", "arm64")
    try:
        root = image.suite(release, name, "libtraceevent1-plugin trace-cmd linux-perf "
                           "busybox-static", arch)
    except Failure as why:
        return checks.skip("Debian's user space", why)
    checks("it has plugins", len(list(root.rglob("plugin_*.so"))) > 5 and
           all((root / "usr/bin" / program).exists() for program in ("trace-cmd", "perf")))
    (tmp_path / "lib64").symlink_to("usr/lib64")
    more = ["-C", tmp_path, "lib64"] if (root / "usr/lib64").is_dir() else []
    without = "--exclude=./usr/share --exclude=./usr/lib/python3* --exclude=./var --exclude=./lib64"
    process.run(["tar", "-cf", boots.files / "user.tar", *without.split(), "-C", root, ".", *more])
    said = boots("user", mode=mode, cpu=cpu, config=config, mem="2G")
    checks("perf records there", said.has("recorded"), said.text("recorded"))
    checks("perf reports there", said.hypercalls("report", 300), said.text("report"))
    checks("perf finds a user there", said.has("user") and "Invalid User" not in said.text("user"))
    checks("Debian's perf reads it from a pipe", said.has("piped") and said.has("debian-piped") and
           "wrong feature" not in said.text("debian-piped"), said.text("debian-piped"))
    # A perf before 6.3 reads no file of a later one, because attributes have grown since.
    version = re.search(r"perf version (\d+)\.(\d+)", said.text("version"))
    if checks("its version", version) and (int(version[1]), int(version[2])) >= (6, 3):
        checks("Debian's perf reports the same recording", said.hypercalls("debian-report", 300))
        for each in "debian-script", "debian-header", "debian-inject":
            checks(f"{each} reads all of it", said.has(each) and not said.has(
                each, "unknown feature|unsupported|invalid|incompatible|corrupt"), said.text(each))
        checks("what it has injected into, perf reports", said.has("injected"))
    return None


def without_topic(work):
    """The files that the topic's patches of the kernel change, as they are without these."""
    mails = [ROOT / "patches" / TOPIC / name for name in patches.series(TOPIC)
             if name.startswith("KVM-")]
    names = {name for mail in mails for name in re.findall(r"\n\+\+\+ b/(.*)", mail.read_text())}
    for name in names:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TREE / name, work / name)
    for mail in reversed(mails):
        process.run(["patch", "-R", "-p1", "-s", "-d", work, "-i", mail])
    return {name: (work / name).read_text() for name in names}


def formats(result):
    """Text and fields of each event but the number, which depends on how many there are."""
    found = {}
    for line in (result.out / "formats").read_text().splitlines():
        path, _, text = line.partition(":")
        found.setdefault("/".join(path.split("/")[5:7]), []).append(text)
    return found


@pytest.mark.seconds(100)
def test_a_kernel_without_the_topic(boots, vm, checks, tmp_path):
    """perf says what it can't know there; and with the topic no event has changed."""
    with tree.edited(without_topic(tmp_path / "work")):
        plain = {"image": kernels.build("event", targets=["Image"]) / "arch/arm64/boot/Image"}
    said = boots("others", **plain)
    judge_others(said, "new", checks, vcpus_known=False)
    checks("why is said", said.has("new.vcpus", NO_LOAD))
    said.fails(checks, **{"new.trap": "The recording has no kvm:kvm_trap_enter, which trap needs"})
    before, after = formats(vm(FORMATS, **plain)), formats(vm(FORMATS))
    checks.equals("six events are new", sorted(after.keys() - before.keys()),
                  [f"kvm/{name}" for name in NEW])
    checks("no event has changed", len(before) > 100 and before.items() <= after.items())
    shutil.rmtree(BUILD / "kernel-event")


@pytest.mark.seconds(20)
def test_new_tracepoints_are_nops_while_off(kernel):
    """And nothing else is computed for them."""
    found = sites.tracepoints(kernel() / "vmlinux", NEW)
    assert all(calls and calls == nops and not more for calls, nops, more in found.values()), found


@pytest.mark.alone
@pytest.mark.seconds(20)
def test_perf_is_static():
    """Nothing but the kernel is needed, so that any arm64 system will do."""
    said = process.run(["readelf", "-hl", perf_of("arm64")]).stdout
    assert "AArch64" in said and "INTERP" not in said


@pytest.mark.alone
@pytest.mark.seconds(20)
def test_which_thread_runs_which_vcpu(checks):
    """perf's own test of that needs no KVM. By its number: a name would be each part's, too."""
    listed = process.run([perf_of("host"), "test", "list"]).stdout
    number = re.search(r"^ *(\d+): KVM: which", listed, re.M)[1]
    said = process.run([perf_of("host"), "test", number], check=False).stdout
    found = re.findall(r"^ *\d+\.\d+: (.*?) *: (.*)$", said, re.M)
    for name, verdict in found:
        checks(name, verdict == "Ok", said)
    cases = (TREE / "tools/perf/tests/kvm-vcpus.c").read_text().count("\n\tTEST_CASE")
    checks("all ran", 0 < len(found) == cases, said)


@pytest.mark.host
def test_each_exception_class_has_a_name():
    """Those that the kernel has are those that perf has a name for."""
    texts = [(TREE / path).read_text() for path in (
        "arch/arm64/include/asm/esr.h", "tools/perf/arch/arm64/util/arm64_exception_types.h")]
    own, perfs = ({name.upper(): int(value, 16) for name, value in re.findall(
        r"^#define ESR_ELx_EC_(\w+)\s+(?:UL)?\((0x[0-9A-Fa-f]+)\)", text, re.M)} for text in texts)
    assert len(own) > 40 and own == perfs
    named = [name.upper() for name in re.findall(r"ECN\((\w+)\)", texts[1]) if name != "x"]
    assert sorted(named) == sorted(own.keys() - {"MAX"})


@pytest.mark.alone
@pytest.mark.seconds(20)
@pytest.mark.skipif(platform.machine() == "aarch64", reason="this is arm64")
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
    shown, document = (re.findall(r"\n *(# .*|(?:HVC64|SYS64|0x[0-9a-f]+:[RW]) +\d+)",
                                  f"\n{path.read_text()}")
                       for path in (tmp_path / "session.txt", document))
    assert shown == document and sum(row.startswith("HVC64") for row in shown) == 3


# The guest of riscv runs for 100, 100 and 60 us, and the last exit has not ended when the recording
# does. LoongArch's kernel handles two of the exits: kvm_reenter alone ends them.
RECORDINGS = [
    ("exits of riscv take from kvm_exit to kvm_entry", "riscv",
     "1000 kvm_entry, 1100 kvm_exit scause=10, 1107 kvm_entry, 1207 kvm_exit scause=21, "
     "1247 kvm_entry, 1307 kvm_exit scause=10",
     (2, 47, 260), {"LOAD_GUEST_PAGE_FAULT": (1, 0, 40), "SUPERVISOR_SYSCALL": (1, 1, 7)}),
    ("LoongArch's guest runs after kvm_reenter", "loongarch",
     "1000 kvm_enter, 1050 kvm_exit reason=23, 1055 kvm_reenter, 1155 kvm_exit reason=22, "
     "1156 kvm_exit_gspr inst_word=0x06488000, 1200 kvm_reenter, 1500 kvm_exit reason=15, "
     "1580 kvm_enter, 1600 kvm_exit reason=23",
     (3, 130, 470), {"FPU": (1, 0, 80), "Hypercall": (1, 1, 5), "Idle": (1, 0, 45)})]
REENTRY = "1 kvm_reenter vcpu_id=3, 9 kvm_exit vcpu_id=3 reason=23, 10 kvm_reenter vcpu_id=3"


@pytest.mark.alone
@pytest.mark.seconds(40)
def test_recorded(checks, tmp_path):
    """An exit takes from kvm_exit until the guest is entered again, and the guest has the rest, in
    recordings of other architectures, which are made up."""
    def report(arch, lines, *options):
        (tmp_path / "data").write_bytes(perfdata.recording(arch, lines.split(", ")))
        return process.run([perf_of("host"), "kvm", "stat", "report", "-f", "--stdio", "-i",
                            tmp_path / "data", *options]).stdout
    for name, arch, lines, total, events in RECORDINGS:
        checks.equals(name, kvmstat.parse(report(arch, lines)), {"all/all": kvmstat.Vcpu(
            {event: kvmstat.Event(*each, each[2], each[2]) for event, each in events.items()},
            *total)})
    said = report("loongarch", REENTRY, "--per-vcpu")
    checks("kvm_reenter names LoongArch's vCPU", "VCPU 3, thread 1000" in said, said)


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


REPORT = """VM 80-5, VCPU 0, thread 81:
     HVC64        100    58.82%     2.67%     17.51us    164.34us     24.38us ( +-   9.81% )
       IRQ          8     4.71%     3.48%    132.86us    886.83us    396.51us ( +-  26.14% )
Total Samples:108, Total events handled time:91269.21us.
Time in the guest:29767.75us.
Not ended: WFx 1
"""
ROUNDS = """vm=80-5 vcpu=0 tid=81 exits=3 hvc=0 wfi=1 mmio=0 sysreg=0 ns=0
round 0
vm=80-5 vcpu=0 tid=81 exits=109 hvc=100 wfi=1 mmio=0 sysreg=0 ns=120132193
round 1
"""


@pytest.mark.host
@pytest.mark.parametrize("old, new, lossy, wrong", [
    (" ", " ", False, 0), ("  100", "   99", False, 2), ("  100", "   99", True, 0),
    ("  100", "  101", True, 2), ("CPU 0", "CPU unknown", False, 4),
    ("CPU 0", "CPU unknown", True, 0), ("CPU 0", "CPU 1", True, 1), ("WFx", "SYS64", False, 2)])
def test_a_count_that_is_not_kvms_is_found(old, new, lossy, wrong):
    """A vCPU's event, all of its events, or a vCPU that is none."""
    table = kvmstat.parse(REPORT)["80-5/0"]
    assert (table.ended, table.time, table.guest) == (108, 91269.21, 29767.75)
    assert table.events["HVC64"] == kvmstat.Event(100, 0, 17.51, 164.34, 24.38)
    found = list(differences(kvmstat.parse(REPORT.replace(old, new)), kvmstat.last_round(ROUNDS),
                             lossy=lossy))
    assert len(found) == wrong, found
