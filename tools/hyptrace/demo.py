# SPDX-License-Identifier: GPL-2.0
"""`make run`: boot a pKVM host, trace its hypervisor while a guest runs, and show what a user types
and sees. Leaves the trace as build/run/trace.txt. TOOL= records with another tool."""

import platform
import re
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from hyptrace import clients, hypstat, kernel, patches, perf, trace, vm
from hyptrace.documents import typed
from hyptrace.machine import BASE, BUILD, ROOT, Failure, arch_of, option

OUT = BUILD / "run"
TYPE_IN = """
type_in() {
	echo "# $1"
	eval "$1" || exit
}
PATH=$PWD/hyp-trace:$PWD:$PATH
[ ! -d usr ] || cp -R usr /
"""
VERSION = ["uname -srm", "dmesg | grep -o 'kvm.* mode initialized.*'"]
GUEST = "guest --hvc 32 --mmio 32 --wfi 4 --cpu 1"
KVM = "perf kvm --guest --guestkallsyms=guest.kallsyms"
# What a Linux guest does when it is up
WORK = """for _ in 1 2; do
	/bin/busybox cat /proc/kallsyms | /bin/busybox wc -l
	/bin/busybox dd if=/dev/zero of=/dev/null bs=4k count=2000 2>/dev/null
done"""
# Where a guest's kernel is entered, or a thread begins
ROOTS = re.compile(
    r"el[01][th]_(64|32)_(sync|irq|fiq|error)|ret_from_fork(_asm)?|init_el1|vectors|"
    r"__(primary|secondary)_switched|primary_entry|start_kernel|__pi_.*|asm_.*|"
    r"entry_SYSCALL_64.*|common_startup_64|(secondary_)?startup_64.*|x86_64_start_.*")


class Tool(NamedTuple):
    """What is typed, what is said of the file that it leaves; what the VM does before and after,
    and how it is booted; the topic that it is for."""
    typed: list
    left: tuple
    setup: str = ""
    end: str = ""
    how: dict = {}
    topic: str = "hyp-trace"


TOOLS = {
    "": Tool(
        [*VERSION, "cd /sys/kernel/tracing/hypervisor", "echo 1 > accounting",
         "echo 1 > tracing_on", GUEST, "echo 0 > tracing_on", "echo 0 > accounting",
         "cat trace_pipe > /out/trace.txt", "hypstat hist --by exit"],
        ("the whole trace is", "trace.txt")),
    "hypstat": Tool(
        [*VERSION, "guest --vms 2 --hvc 9000 --mmio 9000 --wfi 1000000 > /tmp/guest &",
         "hypstat top -r 3", "kill $!",
         f"hypstat hist --by exit --svg histogram.svg {GUEST}",
         f"hypstat record -e sched -e irq {GUEST}",
         "hypstat report | sed '/^ 2. /,$d'", "hypstat timeline --svg timeline.svg"],
        ("hypstat report reads trace.dat; a browser opens histogram.svg and", "timeline.svg"),
        "cd /out\n"),
    "functions": Tool(
        [*VERSION, f"hypstat record -f '*' --trace-buffer-size 8192 {GUEST}",
         "hypstat report | sed -n '/^FUNCTION/,/^$/p' | head -n 25",
         "hypstat report | sed '1,/^THE LONGEST/d; /^ 2. /,$d'",
         "hypstat report --folded > folded.txt", "grep '^guest:HVC64' folded.txt"],
        ("flamegraph.pl, inferno and speedscope make a flame graph of", "folded.txt"),
        "cd /out\n", how={"mem": "2G"}),
    "trace-cmd": Tool(
        [*VERSION, "trace-cmd --version 2>&1 | grep -o 'trace-cmd version.*'",
         "trace-cmd record -C boot -e kvm -e sched -B hypervisor -C boot -e hypervisor " + GUEST,
         "trace-cmd report -N >trace.txt"], ("the whole trace is", "trace.txt"),
        "cd /out\n"),
    "perfetto": Tool(
        [*VERSION, "perfetto --version", "cat config",
         "recorder=$(perfetto --background-wait -o /out/trace.perfetto-trace --txt "
         "-c config 2>/tmp/log)", GUEST, "kill $recorder"],
        ("https://ui.perfetto.dev opens", "trace.perfetto-trace"), """. ./perfetto.sh
start_traced && start_probes || exit
configure 4096 250 '*' >config
configure_host 'kvm/*' 'sched/*' >>config
echo 'data_sources { config { name: "linux.process_stats" } }' >>config
""", "until_true 20 ended $recorder\nchmod a+r /out/* && [ -s /out/* ]\n",
        {"mem": "2G"}),
    "perf-kvm": Tool(
        [*VERSION, "perf kvm stat record -a -o perf.data "
         "guest vcpus=2 hvc=100 sysreg=50 mmio=10 delay=5000",
         *(f"perf kvm stat report -i perf.data --stdio {words}" for words in
           ("--per-vcpu", "--event=mmio", "--event=trap --vcpu=0"))],
        ("perf kvm stat report -i opens, here or on x86,", "perf.data"), r"""cd /out
printf '#!/bin/sh\necho | perf test -w kvm_exits "$@"\n' >/bin/guest
chmod +x /bin/guest
""", topic="perf-kvm-stat"),
    "syscalls": Tool(
        [VERSION[0], "cd /sys/kernel/tracing",
         "echo '__filename_val ~ \"/proc/*\"' > events/syscalls/sys_enter_openat/filter",
         "echo 1 > events/syscalls/sys_enter_openat/enable",
         "echo 1 > events/syscalls/sys_enter_execve/enable",
         "sh -c 'cat /proc/version /none; /bin/echo \"two words\"'",
         "echo 0 > events/enable", 'grep -v "^#" trace | tee /out/trace.txt'],
        ("The trace is", "trace.txt"), how={"mode": "none"}, topic="faultable-tracepoints",
        end="grep -q 'sys_openat(.* \"/proc/version\", ' /out/trace.txt\n"),
    # The guest has the host's kernel, and its addresses are not random.
    "guest-callchains": Tool(
        [f"{KVM} record -e cpu-clock -c 5000000 -g -o guest.data sh ./boot 2>record.err",
         f"{KVM} report -i guest.data --stdio --no-children -g caller,0.5 --percent-limit 1 "
         "2>report.err >/out/report.txt", "head -n 60 /out/report.txt",
         "perf script --guestkallsyms=guest.kallsyms -i guest.data "
         "-F comm,tid,time,event,ip,sym,dso 2>script.err >/out/chains.txt"],
        ("speedscope makes a flame graph of", "chains.txt"),
        "echo 0 >/proc/sys/kernel/kptr_restrict\ncp /proc/kallsyms guest.kallsyms\n",
        topic="guest-callchains"),
}
# With two CPUs QEMU's SVM (7.2 and 10.0) at times interrupts a guest that has interrupts off.
LINUX = {"arm64": {"cpu": "cortex-a76"},
         "x86_64": {"mode": "none", "cpu": "max,+svm,+npt", "smp": 1}}


def _lay_out(tool, config, files):
    """What the session has in the VM. Returns how that is booted."""
    if tool == "perfetto":
        clients.perfetto(files)
    elif tool in ("", "hypstat", "functions", "trace-cmd"):
        hypstat.lay_out(files)
    elif tool != "syscalls":
        shutil.copy(perf.build(arch_of(config)), files)
    if tool == "guest-callchains":
        clients.linux(files, config, WORK, 400)
        return LINUX[arch_of(config)] | {"timeout": 600}
    return TOOLS[tool].how


def _show_trace(lines, said):
    """The trace is whole if it has an event for each exit that KVM counted."""
    exits = trace.guest_line(said, "exits")
    seen = sum(bool(re.search("hyp_enter:? *reason=guest ", line)) for line in lines)
    if not 0 < seen == exits:
        raise Failure(f"KVM counted {exits} exits of the guest, the trace has {seen}")
    print("\nThe trace where the guest makes its first hypercalls:")
    entries = [nr for nr, line in enumerate(lines) if re.search("hyp_exit:? *reason=guest ", line)]
    print("\n".join(lines[entries[2] - 3:entries[2] + 21]) + "\n")
    if not lines[0].startswith("cpus="):
        lost = [int(each.args) for each in trace.parse(lines) if each.name == "LOST"]
        print(f"events lost: {sum(lost)}")
    print(f"{seen} guest exits, as KVM counted;", end=" ")


def show_chains(text, roots=ROOTS):
    """The share of chains that end where the guest's kernel is entered, or a thread begins."""
    chains = perf.chains(text)
    known = {chain: count for chain, count in chains.items() if chain[-1] != "[unknown]"}
    rooted = sum(count for chain, count in known.items() if roots.fullmatch(chain[-1]))
    total = sum(known.values())
    print(f"{sum(chains.values())} samples of the guest: {total} of its kernel, {rooted} of these "
          "from a root")
    if total < 100 or rooted < 0.95 * total:
        raise Failure("too few chains end in a root")


def run(tool, out, config="default"):
    """Record with a tool in a VM, whose kernel is built, and show what was recorded and what was
    left in the directory `out`."""
    what = TOOLS[tool]
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="demo-") as files:
        how = {"timeout": 120, "config": config} | _lay_out(tool, config, Path(files))
        result = vm.boot(TYPE_IN + what.setup + typed(what.typed) + what.end, Path(files), **how)
    print(result.output, end="", flush=True)
    shutil.copytree(result.out, out, dirs_exist_ok=True)
    (out / "session.txt").write_text(result.output, "utf-8")
    if result.status:
        raise Failure(f"the demo failed in the VM, with status {result.status}\n{result.errors}")
    if tool == "guest-callchains":
        show_chains((out / "chains.txt").read_text("utf-8"))
    elif tool in ("", "trace-cmd"):
        _show_trace(trace.read(out / "trace.txt"), result.output)
    print(what.left[0], str(out / what.left[1]).removeprefix(f"{ROOT}/"))


def main():
    """`make run`. With ARGUMENTS=1 only look at the arguments, before a kernel is built."""
    topics = patches.base().topics
    tool = option("TOOL", "" if TOOLS[""].topic in topics else "perf-kvm")
    config = option("CONFIG", "default")
    if tool not in TOOLS:
        raise Failure(f"no TOOL {tool}: {', '.join(filter(None, TOOLS))}")
    if TOOLS[tool].topic not in topics:
        raise Failure(f"TOOL={tool}: BASE={BASE} has no topic {TOOLS[tool].topic}")
    if config == "x86" and (tool != "guest-callchains" or platform.machine() == "aarch64"):
        raise Failure("CONFIG=x86 is for TOOL=guest-callchains on x86-64 alone")
    if option("ARGUMENTS"):
        return
    if TOOLS[tool].topic == "hyp-trace":
        kernel.selftest(config=config)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    run(tool, OUT, config)
