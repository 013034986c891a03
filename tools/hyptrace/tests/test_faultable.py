# SPDX-License-Identifier: GPL-2.0
"""Faultable tracepoints: the topic's kselftest and KUnit suites in VMs, clients that show the
strings of system calls, and what differs from a kernel without the topic."""

import re
import shutil

import pytest

from hyptrace import bench, clients, image, kernel as kernels, sites
from hyptrace.machine import BUILD, Failure

SUITE = "faultable-tracepoints"
KUNIT = "kunit.enable=1 kunit.filter_glob=tracepoint*"
GUEST = """kunit() { sed -n 's/^    //p' "/sys/kernel/debug/kunit/$1/results"; }"""


def marked(config, group, seconds, model="", uses=""):
    """A kernel, how it is preempted, and what its tests must use. seccomp and 32-bit programs are
    tested where the kernel has them; kprobes where the probes are called by static calls."""
    names = ("seccomp 32-bit " if model else "") + uses
    return pytest.param(config, model, names.split(), id="-".join(filter(None, (config, model))),
                        marks=[getattr(pytest.mark, group), pytest.mark.seconds(seconds)])


@pytest.mark.parametrize("config, model, uses", [
    marked("default", "topics", 120), marked("debug", "debug", 280), marked("kcsan", "kcsan", 250),
    marked("preempt", "variants", 130, "none"), marked("preempt", "variants", 130, "voluntary"),
    marked("preempt", "variants", 130, "full"), marked("rt", "variants", 190, "rt"),
    marked("x86", "x86", 190, "full", "kprobe")])
def test_kselftest(vm, selftest, checks, config, model, uses):
    """The kselftest and the KUnit suites."""
    # pylint: disable=too-many-arguments
    files = selftest(SUITE, config)
    lines = ["kunit tracepoint", "kunit tracepoint_syscalls"]
    lines += [f"{SUITE}/{test}" for test in (files / "tests").read_text("utf-8").split()]
    form = f"{config} {model}".strip()
    said = vm.tests(form, lines, GUEST, files=files, mode="none", timeout=900,
                    cmdline=f"{KUNIT} preempt={model}" if config != "rt" and model else KUNIT)
    if model:
        asked = "PREEMPT_RT" if config == "rt" else rf"Dynamic Preempt: {model}\s"
        checks(f"{form}: the kernel is preempted so", re.search(asked, said.console))
    passed = [each.name for each in checks.results if each.passed and not each.skipped]
    for what in uses:
        checks(f"{form}: {what} was tested", any(
            re.search(rf"(calls|waits)\.sh.* {what}", name) for name in passed))


@pytest.mark.parametrize("config", [
    pytest.param("debug", marks=pytest.mark.debug), pytest.param("x86", marks=pytest.mark.x86),
    pytest.param("preempt", marks=pytest.mark.variants),
    pytest.param("rt", marks=pytest.mark.variants)])
@pytest.mark.seconds(15)
def test_a_call_site_in_atomic_context_is_reported(vm, selftest, config):
    """It says that a task may fault there, also without a probe: a kernel that checks that
    complains where a task may not."""
    died = vm.dies(f"insmod {SUITE}/modules/faultable_atomic.ko", mode="none",
                   files=selftest(SUITE, config))
    assert re.search("BUG: sleeping function called.*faultable_atomic", died.console)


# The string is on a page that comes late. Perfetto's libraries are those of another release.
RECORD = f"""
run() {{ lib/ld-linux-aarch64.so.1 --library-path lib "$@"; }}
page="$PWD/{SUITE}/page missing 100"
""" + r"""
if [ -e trace-cmd ]; then
	run ./trace-cmd record -q -e syscalls:sys_enter_openat -f '__filename_val ~ "/page/*"' \
		-o /tmp/trace.dat $page
	run ./trace-cmd report -i /tmp/trace.dat >/out/trace-cmd
	run ./trace-cmd report -R -i /tmp/trace.dat >/out/trace-cmd.raw
fi
if [ -e perf ]; then
	run ./perf record -q -e syscalls:sys_enter_openat -o /tmp/perf.data $page
	run ./perf script -f -i /tmp/perf.data >/out/perf
fi
if [ -e perfetto.sh ]; then
	. ./perfetto.sh
	cat >/tmp/config <<-CONFIG
		buffers { size_kb: 4096 }
		data_sources { config { name: "linux.ftrace" ftrace_config {
			ftrace_events: "syscalls/sys_enter_openat"
		} } }
	CONFIG
	start_traced && start_probes && begin /out/perfetto --txt -c /tmp/config
	$page
	end
fi
:
"""
# The string with the address before it, and the flags behind it
SHOWN = rb'openat.*filename: 0x[0-9a-f]+ "/page/missing", flags: '
# What is seen, the file that has it, and what that has. Perfetto names the fields of an event that
# it does not know, in strings that come after their length.
SEEN = {
    "trace-cmd": [("trace-cmd shows the string", "trace-cmd", [SHOWN]),
                  ("it has the string as a field", "trace-cmd.raw",
                   [rb"sys_enter_openat.* __filename_val=/page/missing"])],
    "perf": [("perf shows the string", "perf", [SHOWN])],
    "perfetto": [("Perfetto has the string", "perfetto", [rb"\x0e__filename_val",
                                                          rb"\x0d/page/missing"])],
}


def lay_out(client, files):
    """A client as Debian has it."""
    if client == "perfetto":
        clients.perfetto(files)
    else:
        package = {"perf": "linux-perf"}.get(client, client)
        image.program(image.suite("trixie", package, package), f"usr/bin/{client}", files)


@pytest.mark.topics
@pytest.mark.seconds(60)
def test_clients_show_strings(vm, selftest, checks, tmp_path):
    """trace-cmd, perf and Perfetto of Debian, as far as there are any."""
    files, has = tmp_path / "files", []
    shutil.copytree(selftest(SUITE), files)
    for client in SEEN:
        try:
            lay_out(client, files)
            has.append(client)
        except Failure as failure:
            checks.skip(f"{client} of Debian", failure)
    out = vm.ok("the clients record", RECORD, files=files, mode="none", mem="2G", timeout=300).out
    for name, path, patterns in (seen for client in has for seen in SEEN[client]):
        data = (out / path).read_bytes() if (out / path).exists() else b""
        checks(name, all(re.search(each, data) for each in patterns), data[-4000:])


# The counterpart: one line a tracer and kind of page, with what it has seen
COUNTERPART = r"""#!/bin/sh
. "$(dirname "$0")/lib.sh" >/dev/null
EVENT=$TRACEFS/events/syscalls/sys_enter_openat
swap_on
for kind in missing swapped file; do
	load
	watched page $kind 100 >out
	echo "module $kind $(parameter result) '$(parameter text)' $(cut -d ' ' -f 1 out)"
	unload
	echo 1 >"$EVENT/enable"
	page $kind 100 >/dev/null
	echo 0 >"$EVENT/enable"
	echo "ftrace $kind $(sed -n '/page-.*sys_openat/s/.*filename: [0-9a-f]*//p' "$TRACEFS/trace" |
		tail -n 1)"
	echo "perf $kind $(event syscalls/sys_enter_openat __filename_val page $kind 100)"
	echo "sleepable $kind $(bpf page $kind 100 2>/dev/null)"
	echo "bpf $kind $(bpf -n page $kind 100 | tail -n 1)"
done
"""
GETS = {
    "module": ("a module's probe gets nothing, the system call does", "-14 '' openat=ENOENT"),
    "ftrace": ("ftrace shows the address alone", ", flags: 0, mode: 0)"),
    "perf": ("perf's event has no string", "syscalls/sys_enter_openat has no __filename_val"),
    "sleepable": ("a sleepable BPF program is refused", "load: EINVAL"),
    "bpf": ("another BPF program gets nothing", "entered=2 result=-14 text="),
}
FTRACE = "00basic event filter instances trigger"
PARTS = "block drivers fs init kernel lib mm security virt"
CHANGED = re.compile(r"kernel/(trace|bpf)/|/tracepoint[^/]*\.o$|\.mod\.o$")


@pytest.fixture(name="plain", scope="module")
def _plain(kernel):
    """The source of a kernel without the topic, which is built."""
    kernel()
    return bench.plain_kernel()


def code(config):
    """The functions of a kernel's objects, but for those that the topic changes: what it changes in
    its files and in inline functions of headers, what has the tracepoints of system calls, and the
    functions that go through the probes of a tracepoint."""
    out = BUILD / f"kernel-{config}"
    paths = [path.relative_to(out) for part in PARTS.split() for path in (out / part).rglob("*.o")]
    return {(path, n): function for path in paths if not CHANGED.search(str(path))
            for n, function in enumerate(each for each in sites.code_of(out / path)
                                         if not each[0].startswith("__traceiter_"))}


def ftrace_results(vm, files, config):
    """The results of the kernel's own ftrace selftests."""
    script = "ln -sf /bin/true /bin/sudo\n" + "".join(
        f"./ftracetest test.d/{each}; echo set {each} $?\n" for each in FTRACE.split())
    said = vm(script, files=files, image=kernels.image(config), mode="none")
    assert not said.status, said.errors
    return re.findall(r"^\[\d+\].*\[[A-Z]+\]$", re.sub(r"\x1b\[[0-9;]*m", "", said.output), re.M)


@pytest.mark.topics
@pytest.mark.seconds(200)
def test_code_at_other_call_sites_is_the_same(plain):
    """With jump labels, each call site is named in a table."""
    assert plain
    was, now = code("plain"), code("default")
    assert not [key for key in was.keys() | now.keys() if was.get(key) != now.get(key)]
    assert len(now) >= 10000
    tables = [sites.output("objdump", "-r", path) for part in ("kernel", "mm", "fs")
              for path in (BUILD / "kernel-default" / part).rglob("*.o")]
    assert sum(table.count(" __tracepoint_") for table in tables) >= 100


@pytest.mark.topics
@pytest.mark.seconds(150)
def test_no_tracer_gets_a_string_without_the_topic(vm, checks, plain, tmp_path):
    """A module's probe, ftrace, perf and BPF, where the string is not in memory."""
    files = tmp_path / "files"
    shutil.copytree(kernels.selftest(SUITE, "plain", plain), files)
    kernels.selftest(SUITE)     # for others, which may have its name
    checks("the kselftest has no module of the topic",
           not (files / SUITE / "modules/faultable_atomic.ko").exists())
    (files / SUITE / "counterpart.sh").write_text(COUNTERPART, "utf-8")
    seen = vm.ok("a VM runs its programs", f"sh {SUITE}/counterpart.sh", files=files,
                 image=kernels.image("plain"), mode="none").output
    for tracer, (name, text) in GETS.items():
        checks(name, all(f"{tracer} {kind} {text}" in seen
                         for kind in ("missing", "swapped", "file")), seen)


@pytest.mark.topics
@pytest.mark.seconds(250)
def test_ftrace_selftests_have_the_same_results(vm, plain, tmp_path):
    """The kernel's own, with and without the topic."""
    assert plain
    shutil.copytree(BUILD / "tree/tools/testing/selftests/ftrace", tmp_path / "ftrace")
    was, now = (ftrace_results(vm, tmp_path / "ftrace", config) for config in ("plain", "default"))
    print("\n".join(line for line in now if "[PASS]" not in line))
    assert was == now
    assert sum("[PASS]" in line for line in now) >= 20


@pytest.mark.topics
@pytest.mark.seconds(100)
def test_costs_of_system_calls_are_within_their_bounds(plain):
    """Those in tests/bench.bounds."""
    assert plain
    figures = bench.Bench().figures(syscalls=True)
    print("\n".join(bench.table(figures)))
    assert not list(bench.over(bench.bounds(syscalls=True), figures))


@pytest.mark.x86
@pytest.mark.boots("x86")
@pytest.mark.seconds(300)
def test_the_verifier_of_bpf_accepts_what_it_did(vm, checks, tmp_path):
    """And rejects it: test_verifier of the kernel's own selftests passes on x86-64, where it runs
    programs by the JIT. A sleepable program at the raw tracepoint sched_switch, which it rejects,
    is among them."""
    source, out = BUILD / "tree/tools/testing/selftests/bpf", BUILD / "selftest-bpf"
    files = tmp_path / "files"
    out.mkdir(exist_ok=True)
    # The program alone: what clang compiles for BPF is for other tests.
    kernels.make("x86_64", "-s", "-C", source, f"OUTPUT={out}",
                 "LDLIBS=-static -lelf -lz -lrt -lpthread", out / "test_verifier")
    # The module whose functions its programs call
    shutil.copytree(source / "bpf_testmod", tmp_path / "bpf_testmod")
    shutil.copy(source / "bpf_experimental.h", tmp_path)
    kernels.make("x86_64", "-s", "-C", BUILD / "tree", f"O={BUILD}/kernel-x86",
                 f"M={tmp_path}/bpf_testmod", "modules")
    files.mkdir()
    for path in out / "test_verifier", tmp_path / "bpf_testmod/bpf_testmod.ko":
        shutil.copy(path, files)
    done = vm("./test_verifier", files=files, timeout=900)
    said = done.output
    checks("it runs in the VM", done.status == 0,
           "\n".join(line for line in said.splitlines() if "FAIL" in line) + done.errors)
    checks("each of its tests passes or is skipped", re.search(
        r"^Summary: \d{3,} PASSED, \d+ SKIPPED, 0 FAILED\n\Z", said, re.M), said[-200:])
    for name, test in (("a sleepable program is rejected at a raw tracepoint",
                        "sleepable raw tracepoint reject"),
                       ("one is accepted at a function's entry", "sleepable fentry accept")):
        checks(name, re.search(rf"^#\d+/p {test} OK$", said, re.M))
