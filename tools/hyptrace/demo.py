# SPDX-License-Identifier: GPL-2.0
"""`make run`: boot a pKVM host, trace its hypervisor while a guest runs, and show what a user types
and sees. Leaves the trace as build/run/trace.txt.

    TOOL=trace-cmd, perfetto, perf-kvm      record it with that instead: trace.dat and its report as
                                            trace.txt, trace.perfetto-trace, perf.data
    TOOL=syscalls                           trace the system calls of some programs, with the names
                                            of their files
    TOOL=guest-callchains                   record the call chains of a Linux guest: report.txt,
                                            folded.txt, flamegraph.svg; with CONFIG=x86 on x86-64
"""

import platform
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from hyptrace import callchains, clients, kernel, kvmstat, perf, perfetto, trace, vm
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
PERIOD = {"arm64": "1000000", "x86_64": "5000000"}    # nanoseconds between two samples

SETUP = {
    "trace-cmd": "cp -R usr /\ncd /out\n",
    "perfetto": """. ./perfetto.sh
start_traced && start_probes || exit
cat >config <<'END'
buffers { size_kb: 32768 }
data_sources { config { name: "linux.ftrace" ftrace_config {
  instance_name: "hypervisor"
  ftrace_events: "hypervisor/*"
} } }
data_sources { config { name: "linux.ftrace" ftrace_config {
  ftrace_events: "kvm/*"
  ftrace_events: "sched/*"
} } }
data_sources { config { name: "linux.process_stats" } }
END
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
         "wc -l < /out/trace.txt"],
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
END = {"perfetto": "until_true 20 ended $recorder\n",
       "guest-callchains": "fold <chains >/out/folded.txt\n"}


def _lay_out(tool, config, files):
    """What the session has in the VM. Returns what differs of that."""
    if tool == "":
        clients.beside_selftest(files)
    elif tool == "trace-cmd":
        clients.trace_cmd(files, "machine")
    elif tool == "perfetto":
        clients.perfetto(files)
        return {"mem": "2G"}
    elif tool == "perf-kvm":
        shutil.copy(perf.build(), files)
    elif tool == "syscalls":
        return {"mode": "none"}
    else:
        arm = arch_of(config) == "arm64"
        shutil.copy(perf.build("arm64" if arm else "host"), files)
        clients.qemu(files, arch_of(config))
        shutil.copy(kernel.image(config), files / "Image")
        shutil.copy(TOOLS / "callchains.sh", files)
        # With two CPUs QEMU's SVM (7.2 and 10.0) at times interrupts a guest that has interrupts
        # off.
        return {"timeout": 600, **({"cpu": "cortex-a76"} if arm else
                                   {"mode": "none", "cpu": "max,+svm,+npt", "smp": 1})}
    return {}


def _shown(path):
    """A file, as the user knows it."""
    return str(path).removeprefix(f"{ROOT}/")


def _seen(lines, pattern, said, path):
    """The trace is whole if it has an event for each exit that KVM counted."""
    exits = trace.guest_line(said, "exits")
    seen = sum(bool(re.search(pattern, line)) for line in lines)
    if not 0 < seen == exits:
        raise Failure(f"KVM counted {exits} exits of the guest, the trace has {seen}: {path}")
    return seen


def _print_stretch(what, lines):
    """Some lines of a trace."""
    print(f"\nThe {what} where the guest makes its first hypercalls:")
    print("".join(f"  {line}\n" for line in lines))


def _show(out, said):
    """The trace of the hypervisor."""
    path = out / "trace.txt"
    lines = trace.read(path)
    seen = _seen(lines, "hyp_enter reason=guest$", said, path)
    _print_stretch("trace", trace.stretch(lines, trace.guest_line(said, "cpu"), 3, 24))
    print(trace.summary(lines))
    print(f"\n{seen} guest exits, as KVM counted; the whole trace is {_shown(path)}")


def _show_trace_cmd(out, said):
    """The report."""
    path = out / "trace.txt"
    lines = trace.read(path)
    seen = _seen(lines, "^hypervisor: .*hyp_enter: *reason=guest$", said, path)
    entries = [number for number, line in enumerate(lines) if "kvm_entry:" in line]
    _print_stretch("report", lines[entries[2]:entries[2] + 24])
    print(f"{seen} guest exits, as KVM counted; the whole report is {_shown(path)}")
    print(f"The recording is {_shown(out)}/trace.dat: trace-cmd report -i, or kernelshark, "
          "opens it")


def _show_perfetto(out, _said):
    """How many events the recording has."""
    path = out / "trace.perfetto-trace"
    path.chmod(0o644)
    lines = list(perfetto.decode(path.read_bytes()))
    (out / "trace.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    events = [each for each in trace.parse(lines) if isinstance(each, trace.Event)]
    counts = Counter(each.name for each in events if re.match("(hyp|kvm)_", each.name))
    if not counts["hyp_enter"]:
        raise Failure(f"no events in {path}")
    print("\nevents in the recording:")
    print("".join(f"  {name:<10} {count:>9}\n" for name, count in sorted(counts.items())), end="")
    print(f"marked as lost: {sum(line.startswith('CPU:') for line in lines)}")
    print(f"\nThe recording is {_shown(path)}: open it in https://ui.perfetto.dev")


def _show_perf_kvm(out, said):
    """Each vCPU's hypercalls are those that KVM counted, in all rounds together."""
    counted = Counter()
    for name, vcpu, hvc in re.findall(r"^vm=(\S+) vcpu=(\d+) .*\bhvc=(\d+) ", said, re.M):
        counted[f"{name}/{vcpu}"] += int(hvc)
    report = said.partition("--per-vcpu\n")[2].partition("--event=mmio\n")[0]
    reported = kvmstat.counts(kvmstat.parse(report), "HVC64")
    if not counted or reported != counted:
        raise Failure(f"the report has the hypercalls {reported}, KVM has counted {dict(counted)}: "
                      f"{_shown(out)}/session.txt")
    print("The report has the hypercalls that KVM counted.")
    print(f"The recording is {_shown(out)}/perf.data: perf kvm stat report -i opens it, "
          "here or on x86")


def _show_syscalls(out, _said):
    """The trace was shown in the session."""
    path = out / "trace.txt"
    if not any(re.search(r'sys_openat\(.* "/proc/version", ', line) for line in trace.read(path)):
        raise Failure(f"the trace has no name of a file: {path}")


def _show_callchains(out, _said):
    """The share of chains that end where the guest's kernel is entered, or a thread begins."""
    folded = trace.read(out / "folded.txt")
    (out / "flamegraph.svg").write_text(callchains.flame_graph(folded, "A guest's boot"),
                                        encoding="utf-8")
    text, good = callchains.roots(folded)
    print(text)
    if not good:
        raise Failure(f"too few chains end in a root: {_shown(out)}/folded.txt")
    print(f"The flame graph is {_shown(out)}/flamegraph.svg")


SHOW = {"": _show, "trace-cmd": _show_trace_cmd, "perfetto": _show_perfetto,
        "perf-kvm": _show_perf_kvm, "syscalls": _show_syscalls,
        "guest-callchains": _show_callchains}


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
    SHOW[tool](out, result.output)


def main():
    """`make run`. With ARGUMENTS=1 only look at the arguments, before a kernel is built."""
    tool, config = option("TOOL"), option("CONFIG", "default")
    if tool not in TYPED:
        raise Failure(f"no TOOL {tool}: {', '.join(filter(None, TYPED))}")
    if config == "x86" and tool != "guest-callchains":
        raise Failure("CONFIG=x86 is for TOOL=guest-callchains alone")
    if config == "x86" and platform.machine() == "aarch64":
        raise Failure("perf of x86-64 is built on x86-64, this is arm64")
    if option("ARGUMENTS"):
        return
    if tool in ("", "trace-cmd", "perfetto"):
        kernel.selftest()
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    run(tool, OUT, config)
