# SPDX-License-Identifier: GPL-2.0
"""`make run`: boot a pKVM host, trace its hypervisor while a guest runs, and show what a user types
and sees. Leaves the trace as build/run/trace.txt. TOOL= records with another tool."""

import platform
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from hyptrace import callchains, clients, kernel, perf, perfetto, trace, vm
from hyptrace.documents import typed
from hyptrace.machine import BUILD, ROOT, TOOLS, Failure, arch_of, option

OUT = BUILD / "run"
TYPE_IN = """
type_in() {
	echo "# $1"
	eval "$1" || exit
}
PATH=$PWD/hyp-trace:$PWD:$PATH
"""
VERSION = ["uname -srm", "dmesg | grep -o 'kvm.* mode initialized.*'"]
GUEST = "guest --hvc 32 --mmio 32 --wfi 4 --cpu 1"
KVM = "perf kvm --guest --guestkallsyms=guest.kallsyms"
# As in the user's guide
TIME = """awk '$2 == "[LOST" { delete t }
     $3 == "hyp_enter" { t[$1] = $2; why[$1] = $4 }
     $3 == "hyp_exit" && t[$1] { n[why[$1]]++; us[why[$1]] += 1e6 * ($2 - t[$1]); t[$1] = 0 }
     END { for (r in n) printf "%-14s %6d x %7.1f us\\n", r, n[r], us[r] / n[r] }' /out/trace.txt"""
PERIOD = {"arm64": "1000000", "x86_64": "5000000"}    # nanoseconds between two samples

SETUP = {
    "trace-cmd": "cp -R usr /\ncd /out\n",
    "perfetto": """. ./perfetto.sh
start_traced && start_probes || exit
configure 4096 250 '*' >config
configure_host 'kvm/*' 'sched/*' >>config
echo 'data_sources { config { name: "linux.process_stats" } }' >>config
""",
    "perf-kvm": r"""cd /out
printf '#!/bin/sh\necho | perf test -w kvm_exits "$@"\n' >/bin/guest
chmod +x /bin/guest
""",
    "guest-callchains": ". ./callchains.sh\n",
}
TYPED = {
    "": [*VERSION, "cd /sys/kernel/tracing/hypervisor", "cat events/hypervisor/hyp_enter/format",
         "echo 1 > tracing_on", GUEST, "echo 0 > tracing_on", "cat trace_pipe > /out/trace.txt",
         "wc -l < /out/trace.txt", TIME],
    "trace-cmd": [*VERSION, "trace-cmd --version 2>&1 | grep -o 'trace-cmd version.*'",
                  "trace-cmd record -C boot -e kvm -e sched -B hypervisor -C boot -e hypervisor "
                  + GUEST, "trace-cmd report -N >trace.txt"],
    "perfetto": [*VERSION, "perfetto --version", "cat config",
                 "recorder=$(perfetto --background-wait -o /out/trace.perfetto-trace --txt "
                 "-c config 2>/tmp/log)", GUEST, "kill $recorder"],
    "perf-kvm": [*VERSION, "perf kvm stat record -a -o perf.data "
                 "guest vcpus=2 hvc=100 sysreg=50 mmio=10 delay=5000",
                 *(f"perf kvm stat report -i perf.data --stdio {words}" for words in
                   ("--per-vcpu", "--event=mmio", "--event=trap --vcpu=0"))],
    "syscalls": [VERSION[0], "cd /sys/kernel/tracing",
                 "echo '__filename_val ~ \"/proc/*\"' > events/syscalls/sys_enter_openat/filter",
                 "echo 1 > events/syscalls/sys_enter_openat/enable",
                 "echo 1 > events/syscalls/sys_enter_execve/enable",
                 "sh -c 'cat /proc/version /none; /bin/echo \"two words\"'",
                 "echo 0 > events/enable", 'grep -v "^#" trace | tee /out/trace.txt'],
    "guest-callchains": [
        f"{KVM} record -e cpu-clock -c PERIOD -g -o guest.data sh ./boot 2>record.err",
        f"{KVM} report -i guest.data --stdio --no-children -g caller,0.5 --percent-limit 1 "
        "2>report.err >/out/report.txt", "head -n 60 /out/report.txt",
        "perf script --guestkallsyms=guest.kallsyms -i guest.data -F ip,sym 2>script.err >chains"],
}
END = {"syscalls": "grep -q 'sys_openat(.* \"/proc/version\", ' /out/trace.txt\n",
       "perfetto": "until_true 20 ended $recorder\n",
       "guest-callchains": "fold <chains >/out/folded.txt\n"}


def _lay_out(tool, config, files):
    """What the session has in the VM. Returns what differs of that."""
    if tool == "perfetto":
        clients.perfetto(files)
        return {"mem": "2G"}
    if tool == "syscalls":
        return {"mode": "none"}
    if tool == "guest-callchains":
        arm = arch_of(config) == "arm64"
        clients.qemu(files, arch_of(config))
        for path in perf.build("arm64" if arm else "host"), TOOLS / "callchains.sh":
            shutil.copy(path, files)
        shutil.copy(kernel.image(config), files / "Image")
        # With two CPUs QEMU's SVM (7.2 and 10.0) at times interrupts a guest that has interrupts
        # off.
        return {"timeout": 600, **({"cpu": "cortex-a76"} if arm else
                                   {"mode": "none", "cpu": "max,+svm,+npt", "smp": 1})}
    if tool == "perf-kvm":
        shutil.copy(perf.build(), files)
    elif tool == "trace-cmd":
        clients.trace_cmd(files, "machine")
    else:
        clients.beside_selftest(files)
    return {}


def _show(out, said):
    """The trace of the hypervisor, or with the host's events: it is whole if it has an event for
    each exit that KVM counted."""
    lines = trace.read(out / "trace.txt")
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
    return f"{seen} guest exits, as KVM counted; the whole trace is", "trace.txt"


def _show_perfetto(out, _said):
    """How many events the recording has."""
    path = out / "trace.perfetto-trace"
    path.chmod(0o644)
    lines = perfetto.Recording(path.read_bytes()).lines
    (out / "trace.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    counts = Counter(each.name for each in trace.parse(lines))
    if not counts["hyp_enter"]:
        raise Failure("no events in the recording")
    print("\nevents in the recording:")
    print("".join(f"  {name:<10} {count:>9}\n" for name, count in sorted(counts.items())
                  if re.match("(hyp|kvm)_", name)))
    return "https://ui.perfetto.dev opens", path.name


def _show_callchains(out, _said):
    """The share of chains that end where the guest's kernel is entered, or a thread begins."""
    folded = trace.read(out / "folded.txt")
    (out / "flamegraph.svg").write_text(callchains.flame_graph(folded, "A guest's boot"),
                                        encoding="utf-8")
    text, good = callchains.roots(folded)
    print(text)
    if not good:
        raise Failure("too few chains end in a root")
    return "The flame graph is", "flamegraph.svg"


SHOW = {"": _show, "trace-cmd": _show, "perfetto": _show_perfetto,
        "guest-callchains": _show_callchains,
        "perf-kvm": lambda *_: ("perf kvm stat report -i opens, here or on x86,", "perf.data"),
        "syscalls": lambda *_: ("The trace is", "trace.txt")}


def run(tool, out, config="default"):
    """Record with a tool in a VM, whose kernel is built, and show what was recorded and what was
    left in the directory `out`."""
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="demo-") as files:
        how = {"timeout": 120, "config": config, **_lay_out(tool, config, Path(files))}
        script = TYPE_IN + SETUP.get(tool, "") + typed(TYPED[tool]) + END.get(tool, "")
        script = script.replace("PERIOD", PERIOD[arch_of(config)])
        result = vm.boot(script, Path(files), **how)
    print(result.output, end="", flush=True)
    shutil.copytree(result.out, out, dirs_exist_ok=True)
    (out / "session.txt").write_text(result.output, encoding="utf-8")
    if result.status:
        raise Failure(f"the demo failed in the VM, with status {result.status}\n{result.errors}")
    text, name = SHOW[tool](out, result.output)
    print(text, str(out / name).removeprefix(f"{ROOT}/"))


def main():
    """`make run`. With ARGUMENTS=1 only look at the arguments, before a kernel is built."""
    tool, config = option("TOOL"), option("CONFIG", "default")
    if tool not in TYPED:
        raise Failure(f"no TOOL {tool}: {', '.join(filter(None, TYPED))}")
    if config == "x86" and (tool != "guest-callchains" or platform.machine() == "aarch64"):
        raise Failure("CONFIG=x86 is for TOOL=guest-callchains on x86-64 alone")
    if option("ARGUMENTS"):
        return
    if tool in ("", "trace-cmd", "perfetto"):
        kernel.selftest()
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    run(tool, OUT, config)
