# SPDX-License-Identifier: GPL-2.0
"""Faultable tracepoints: the topic's kselftest and KUnit suites in VMs, clients that show the
strings of system calls, and what differs from a kernel without the topic."""

import re
import shutil

import pytest

from hyptrace import bench, clients, image, kernel as kernels, objects
from hyptrace.machine import BUILD, Failure
from hyptrace.tests.conftest import rows

SUITE = "faultable-tracepoints"
KUNIT = "kunit.enable=1 kunit.filter_glob=tracepoint*"
GUEST = """kunit() { sed -n 's/^    //p' "/sys/kernel/debug/kunit/$1/results"; }"""


# Kernels, how they are preempted, and what their tests must use: kprobes, where static calls call
# the probes
KERNELS = """
topics 120 default - -
debug 280 debug - -
kcsan 250 kcsan - -
variants 130 preempt none -
variants 130 preempt voluntary -
variants 130 preempt full -
variants 190 rt rt -
x86 190 x86 full kprobe"""
ATOMIC = """
debug 15 debug
x86 15 x86
variants 15 preempt
variants 15 rt"""


@pytest.mark.parametrize("config, model, uses", rows(KERNELS))
def test_kselftest(vm, selftest, checks, config, model, uses):
    """The kselftest and the KUnit suites; seccomp and 32-bit programs, where the kernel has them"""
    files = selftest(SUITE, config)
    lines = ["kunit tracepoint", "kunit tracepoint_syscalls"]
    lines += [f"{SUITE}/{test}" for test in (files / "tests").read_text("utf-8").split()]
    title = f"{config} {model}".strip()
    said = vm.tests(title, lines, GUEST, files=files, mode="none", timeout=900,
                    cmdline=f"{KUNIT} preempt={model}" if config != "rt" and model else KUNIT)
    if model:
        asked = "PREEMPT_RT" if config == "rt" else rf"Dynamic Preempt: {model}\s"
        checks(f"{title}: the kernel is preempted so", re.search(asked, said.console))
    passed = [each.name for each in checks.results if each.passed and not each.skipped]
    for what in f"{'seccomp 32-bit' if model else ''} {uses}".split():
        checks(f"{title}: {what} was tested", any(
            re.search(rf"(calls|waits)\.sh.* {what}", name) for name in passed))


@pytest.mark.parametrize("config", rows(ATOMIC))
def test_a_call_site_in_atomic_context_is_reported(vm, selftest, config):
    """It says that a task may fault there, also without a probe: a kernel that checks that
    complains where a task may not."""
    died = vm.dies(f"insmod {SUITE}/modules/faultable_atomic.ko", mode="none",
                   files=selftest(SUITE, config))
    assert re.search("BUG: sleeping function called.*faultable_atomic", died.console)


# The string is on a page that comes late. Perfetto's libraries are those of another release.
SETUP = f"""
run() {{ lib/ld-linux-aarch64.so.1 --library-path lib "$@"; }}
page="$PWD/{SUITE}/page missing 100"
"""
# The string with the address before it, and the flags behind it
SHOWN = rb'openat.*filename: 0x[0-9a-f]+ "/page/missing", flags: '
# Of each client, what records it, and what its output then has. Perfetto names the fields of an
# event that it does not know, in strings that come after their length.
CLIENTS = {
    "trace-cmd": (r"""
run ./trace-cmd record -q -e syscalls:sys_enter_openat -f '__filename_val ~ "/page/*"' \
	-o /tmp/trace.dat $page
run ./trace-cmd report -i /tmp/trace.dat >/out/trace-cmd
run ./trace-cmd report -R -i /tmp/trace.dat >>/out/trace-cmd
""", [SHOWN, rb"sys_enter_openat.* __filename_val=/page/missing"]),
    "perf": ("""
run ./perf record -q -e syscalls:sys_enter_openat -o /tmp/perf.data $page
run ./perf script -f -i /tmp/perf.data >/out/perf
""", [SHOWN]),
    "perfetto": ("""
. ./perfetto.sh
echo 'buffers { size_kb: 4096 }' >/tmp/config
configure_host syscalls/sys_enter_openat >>/tmp/config
start_traced
start_probes
begin /out/perfetto --txt -c /tmp/config
$page
end
""", [rb"\x0e__filename_val", rb"\x0d/page/missing"])}


@pytest.mark.topics
@pytest.mark.seconds(30)
@pytest.mark.parametrize("client", CLIENTS)
def test_clients_show_strings(vm, selftest, checks, tmp_path, client):
    """trace-cmd, perf and Perfetto of Debian, as far as there are any."""
    files, (script, patterns) = tmp_path / "files", CLIENTS[client]
    shutil.copytree(selftest(SUITE), files)
    try:
        if client == "perfetto":
            clients.perfetto(files)
        else:
            package = {"perf": "linux-perf"}.get(client, client)
            image.program(image.suite("trixie", package, package), f"usr/bin/{client}", files)
    except Failure as why:
        pytest.skip(f"{client} of Debian: {why}")
    out = vm.ok("the client records", SETUP + script, files=files, mode="none", mem="2G").out
    data = (out / client).read_bytes() if (out / client).exists() else b""
    for pattern in patterns:
        checks(f"it has {pattern}", re.search(pattern, data), data[-4000:])


FTRACE = "00basic event filter instances trigger"
PARTS = "block drivers fs init kernel lib mm security virt"
CHANGED = re.compile(r"kernel/(trace|bpf)/|/tracepoint[^/]*\.o$|\.mod\.o$")


@pytest.fixture(name="plain", scope="module")
def _plain(kernel):
    kernel()
    bench.plain_kernel()


def code(config):
    """The functions of a kernel's objects, but for those that the topic changes: what it changes in
    its files and in inline functions of headers, what has the tracepoints of system calls, and the
    functions that go through the probes of a tracepoint."""
    out = BUILD / f"kernel-{config}"
    paths = [path.relative_to(out) for part in PARTS.split() for path in (out / part).rglob("*.o")]
    return {(path, n): function for path in paths if not CHANGED.search(str(path))
            for n, function in enumerate(each for each in objects.code_of(out / path)
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
@pytest.mark.usefixtures("plain")
def test_code_at_other_call_sites_is_the_same():
    """With jump labels, each call site is named in a table."""
    was, now = code("plain"), code("default")
    assert not [key for key in was.keys() | now.keys() if was.get(key) != now.get(key)]
    assert len(now) >= 10000
    tables = [objects.output("objdump", "-r", path) for part in ("kernel", "mm", "fs")
              for path in (BUILD / "kernel-default" / part).rglob("*.o")]
    assert sum(table.count(" __tracepoint_") for table in tables) >= 100


@pytest.mark.topics
@pytest.mark.seconds(250)
@pytest.mark.usefixtures("plain")
def test_ftrace_selftests_have_the_same_results(vm, tmp_path):
    """The kernel's own, with and without the topic."""
    shutil.copytree(BUILD / "tree/tools/testing/selftests/ftrace", tmp_path / "ftrace")
    was, now = (ftrace_results(vm, tmp_path / "ftrace", config) for config in ("plain", "default"))
    print("\n".join(line for line in now if "[PASS]" not in line))
    assert was == now
    assert sum("[PASS]" in line for line in now) >= 20


@pytest.mark.topics
@pytest.mark.seconds(100)
@pytest.mark.usefixtures("plain")
def test_costs_of_system_calls_are_within_their_bounds():
    """Those in tests/bench.bounds."""
    figures = bench.figures_of("syscall_")
    print(bench.table(figures))
    assert not bench.over(bench.bounds("syscall_"), figures)


@pytest.mark.x86
@pytest.mark.boots("x86")
@pytest.mark.seconds(300)
def test_the_verifier_of_bpf_accepts_what_it_did(vm, checks, tmp_path):
    """And rejects it: test_verifier of the kernel's own selftests passes on x86-64, where it runs
    programs by the JIT. A sleepable program at the raw tracepoint sched_switch, which it rejects,
    is among them."""
    source, out = BUILD / "tree/tools/testing/selftests/bpf", BUILD / "selftest-bpf"
    module, files = tmp_path / "bpf_testmod", tmp_path / "files"
    out.mkdir(exist_ok=True)
    files.mkdir()
    # The program alone: what clang compiles for BPF is for other tests.
    kernels.make("x86_64", "-s", "-C", source, f"OUTPUT={out}",
                 "LDLIBS=-static -lelf -lz -lrt -lpthread", out / "test_verifier")
    shutil.copy(out / "test_verifier", files)
    # The module whose functions its programs call
    shutil.copytree(source / "bpf_testmod", module)
    shutil.copy(source / "bpf_experimental.h", tmp_path)
    kernels.make("x86_64", "-s", "-C", BUILD / "tree", f"O={BUILD}/kernel-x86", f"M={module}",
                 "modules")
    shutil.copy(module / "bpf_testmod.ko", files)
    done = vm("./test_verifier", files=files, timeout=900)
    checks("it runs in the VM", done.status == 0, done.errors + "\n".join(
        line for line in done.output.splitlines() if "FAIL" in line))
    for name, pattern in {
            "each of its tests passes or is skipped":
                r"Summary: \d{3,} PASSED, \d+ SKIPPED, 0 FAILED\n\Z",
            "a sleepable program is rejected at a raw tracepoint":
                r"#\d+/p sleepable raw tracepoint reject OK$",
            "one is accepted at a function's entry": r"#\d+/p sleepable fentry accept OK$"}.items():
        checks(name, re.search(f"^{pattern}", done.output, re.M), done.output[-200:])
