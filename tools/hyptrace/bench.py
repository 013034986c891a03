# SPDX-License-Identifier: GPL-2.0
"""`make bench`: what an event costs, to write and to read, in instructions: one figure a line,
`name value unit`, each the median of several runs, and their spread where there is any. The same
machine, kernel and compiler give the same figures. They are left in build/bench/results.

Counted in a VM with one instruction a nanosecond (QEMU's -icount shift=0), on one CPU if their
number is not the point: no figure depends on how fast this machine is, but for what is lost at
full speed.

BASELINE=file     earlier results: mark what got worse by more than 3 %, and fail
RUNS=n            how often each is measured (3)
MODE=, CPU=       how KVM is set up
"""

import pathlib
import re
import shutil
from fractions import Fraction
from typing import NamedTuple

from hyptrace import kernel, objects, process, sites, tree, vm
from hyptrace.machine import BUILD, TOOLS, Failure, number, option

OUT = BUILD / "bench"
BOUNDS = TOOLS / "tests/bench.bounds"
COUNTED = "-icount shift=0,sleep=off"
MORE_EVENTS = "".join(f"""HYP_EVENT(more_{nr},
	HE_PROTO(u64 id), HE_STRUCT(he_field(u64, id)), HE_ASSIGN(__entry->id = id;),
	HE_PRINTK("id=%llu", __entry->id)
)
""" for nr in range(200))
TRACEPOINTS = ("kvm_trap_enter", "kvm_trap_exit", "kvm_vcpu_load", "kvm_vcpu_put",
               "kvm_vcpu_sched_in", "kvm_vcpu_sched_out")
# What of bench.sh a measurement runs
PARTS = {
    "callchains": "kvm-guest-callchains/cost", "syscalls": "syscalls",
    "off": "insmod $modules/hyp_call.ko || exit\nruns off",
    "event": "events", "full": "events\nmore",
} | {each: f"begin\nruns {each}" for each in ("cpus", "merge", "loads", "event_list", "loss")}
LINE = re.compile(r"(\S+) (-?[0-9.]+(?:/[0-9]+)?) (\S+)$", re.M)


class Figure(NamedTuple):
    """What was measured; the spread is in percent of the value, to both sides."""
    value: float
    unit: str
    spread: float = 0

    def words(self):
        """As it is shown."""
        return [f"{self.value:.6g}", self.unit] + [f"+-{self.spread:.1f}%"] * bool(self.spread)


def medians(text):
    """The figures in what was said, of lines `name value unit`, several of a name."""
    units, values = {}, {}
    for name, value, unit in LINE.findall(text):
        units[name] = unit
        values.setdefault(name, []).append(round(float(Fraction(value)), 1))
    if not values:
        raise Failure(f"no figures: {text[-4000:]}")
    found = {}
    for name, each in values.items():
        median = sorted(each)[(len(each) - 1) // 2]
        spread = 50 * (max(each) - min(each)) / abs(median) if median else 0
        found[name] = Figure(median, units[name], spread)
    return found


def merging(values):
    """How much more an event of 8 CPUs costs in text than one of a single CPU, in percent."""
    for file in "text", "trace":
        one, all_cpus = (values.get(f"read_{file}_insns_per_event.{n}-cpus") for n in (1, 8))
        if one and all_cpus:
            yield f"read_{file}_merge", 100 * (all_cpus / one - 1)


def of_hypercalls(values):
    """The longest hypercall; what each of the three events costs that a hypercall passes, while
    they are off; and what tracing that was never used costs a PSCI call."""
    longest = [value for name, value in values.items() if name.startswith("el2_hcall_insns.")]
    if longest:
        yield "el2_hcall_max_insns", max(longest)
    for call, name, passed in (("hcall", "el2_event_off_insns.measured", 3),
                               ("psci", "el2_psci_off_insns", 1)):
        if f"{call}_insns.without" in values:
            more = values[f"{call}_insns.default"] - values[f"{call}_insns.without"]
            yield name, more / passed


def of_syscalls(values):
    """What a system call costs more than without faultable tracepoints, and what strings cost one
    of a task that has no events: of syscall_insns.CALL.WHAT.KERNEL."""
    for name in [name for name in values if re.match(r"syscall_insns\..*\.default$", name)]:
        _, call, what, _ = name.split(".")
        was = "event" if what == "no_strings" else what.removesuffix("_no_strings")
        if was != what != "no_strings":
            strings = values[f"syscall_insns.{call}.{was}.default"] - values[name]
            yield f"syscall_strings_insns.{call}.{was}", strings
        plain = values.get(f"syscall_insns.{call}.{was}.plain")
        if plain is not None:
            yield f"syscall_more_insns.{call}.{what}", values[name] - plain


def derived(figures):
    """What follows from several figures."""
    values = {name: figure.value for name, figure in figures.items()}
    return {name: Figure(value, "percent" if name.endswith("_merge") else "insns")
            for follows in (merging, of_hypercalls, of_syscalls)
            for name, value in follows(values)}


def ring_bytes(text):
    """What an event takes in a ring, by its format: of strings and bitmasks where they are."""
    ends = [sum(map(int, field)) for field in re.findall(r"offset:(\d+);\s*size:(\d+)", text)]
    return 4 + -(-max(ends) // 4) * 4


def bounds(syscalls=False):
    """The most that figures may be: those of system calls, or the others."""
    lines = [line.split() for line in BOUNDS.read_text("utf-8").splitlines() if line[0] != "#"]
    return {name: float(bound) for bound, *names in lines for name in names
            if name.startswith("syscall_") == syscalls}


def over(limits, figures):
    """What is over its bound, or was not measured."""
    if not limits:
        yield "no bounds"
    for name, limit in limits.items():
        if name not in figures:
            yield f"{name}: not measured"
        elif figures[name].value > limit:
            yield f"{name}: {' '.join(figures[name].words()[:2])}, the bound is {limit:g}"


def compared(was, figures):
    """Lines with each figure and what it was, of {name: value}, marked if it got worse, which is
    more, by more than 3 % and not by less than one."""
    for name, figure in figures.items():
        before, mark = was.get(name, "-"), "" if name in was else "new"
        if not mark and figure.value > float(before) * 1.03 and figure.value - float(before) >= 1:
            mark = "WORSE"
        value, unit = figure.words()[:2]
        yield f"{name:<44} {value:>10} {unit:<6} {before:>10} {mark}"


def table(figures):
    """The figures in columns."""
    rows = [(name, *figure.words(), "")[:4] for name, figure in figures.items()]
    wide = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(word.ljust(n) for word, n in zip(row, wide)).rstrip() for row in rows]


def plain_kernel():
    """The default kernel without the topic faultable-tracepoints; its source."""
    source = tree.checkout("plain", topics=[topic for topic in tree.topics()
                                            if topic != "faultable-tracepoints"])
    kernel.build("plain", tree=source,
                 unknown=["TRACEPOINT_KUNIT_TEST", "TRACE_SYSCALLS_KUNIT_TEST"])
    return source


class Bench:
    """The measurements on one form of KVM, of a kernel that is built."""

    def __init__(self, config="default", runs=3, mode="protected", cpu="max"):
        self.config, self.runs, self.mode, self.cpu = config, runs, mode, cpu
        self.built, self.sizes = BUILD / f"kernel-{config}", {}

    def has(self, symbol):
        """Whether the kernel has a function or variable."""
        return f" {symbol}\n" in self.built.joinpath("System.map").read_text("utf-8")

    def add_suite(self, suite):
        """Lay a kselftest out."""
        shutil.copytree(kernel.selftest(suite, self.config) / suite, OUT / "files" / suite)

    def part(self, part, cpus=1, config="", **how):
        """Measure a part on a kernel."""
        config = config or self.config
        script = (f"RUNS={self.runs} KERNEL={config}\n" +
                  TOOLS.joinpath("bench.sh").read_text("utf-8") + PARTS[part])
        how = {"mode": self.mode, "qemu_args": COUNTED, "timeout": 1200} | how
        done = vm.boot(script, OUT / "files", cpu=self.cpu, smp=cpus, config=config, **how)
        with open(OUT / "log", "a", encoding="utf-8") as log:
            log.write(done.output)
        if done.status:
            raise Failure(f"{done.output}{done.errors}\nthe measurement of {part} failed")
        for path in done.out.glob("hypervisor/*/format"):
            self.sizes[path.parent.name] = ring_bytes(path.read_text("utf-8"))

    def other(self, part, config, changes):
        """A part on this kernel and on another one, which is built for it."""
        self.part(part)
        with tree.edited(changes):
            kernel.build(config, targets=["Image"])
        self.part(part, config=config)
        shutil.rmtree(BUILD / f"kernel-{config}")

    def event_list(self):
        """The same with more events."""
        self.other("event_list", "event", tree.more_events(MORE_EVENTS))

    def syscalls(self):
        """System calls, in a kernel with faultable tracepoints and in one without."""
        plain_kernel()
        self.add_suite("faultable-tracepoints")
        for config in self.config, "plain":
            self.part("syscalls", config=config, mode="none")

    def events(self, full):
        """All others; without full, what has a bound."""
        self.add_suite("hyp-trace")
        if self.has("kvm_guest_get_callchain"):
            self.add_suite("kvm-guest-callchains")
            self.part("callchains")
        self.part("full" if full else "event")
        for cpus in (1, 2, 4, 8) if full else (1, 8):
            self.part("cpus" if full else "merge", cpus)
        self.part("loads", 2, cmdline="maxcpus=1")
        if self.config == "default":
            self.other("off", "without", {})
        if self.config == "default" and full:
            self.event_list()
            self.syscalls()
        if full:
            self.part("loss", 2, qemu_args="")

    def off(self):
        """What calls of trace_<event>() cost while their event is off, by the code: EL2's, and
        those that the topic perf-kvm-stat adds to KVM."""
        calls, insns, wasted = sites.events(self.built / objects.EL2)
        yield "el2_event_sites", Figure(calls, "calls")
        yield "el2_event_off_insns", Figure(insns, "insns")
        yield "el2_event_wasted_insns", Figure(len(wasted), "insns")
        if self.has("__tracepoint_kvm_trap_enter"):
            found = sites.tracepoints(self.built / "vmlinux", TRACEPOINTS).values()
            yield "kvm_event_off_insns", Figure(1 + max(more for _, _, more in found), "insns")

    def figures(self, syscalls=False, full=False):
        """Measure, and leave the results."""
        with process.lock("bench"):
            shutil.rmtree(OUT / "files", ignore_errors=True)
            OUT.joinpath("files").mkdir(parents=True)
            OUT.joinpath("log").write_text("", "utf-8")
            _ = self.syscalls() if syscalls else self.events(full)
            found = medians(OUT.joinpath("log").read_text("utf-8"))
            found = {f"ring_bytes_per_event.{name}": Figure(size, "bytes")
                     for name, size in self.sizes.items()} | found
            found |= derived(found) | ({} if syscalls else dict(self.off()))
            OUT.joinpath("results").write_text("".join(
                f"{' '.join([name, *each.words()])}\n" for name, each in found.items()), "utf-8")
        return found


def main():
    """`make bench`."""
    baseline, runs = option("BASELINE"), number("RUNS", 3)
    if not runs:
        raise Failure("no number of runs: 0")
    if baseline and not pathlib.Path(baseline).is_file():
        raise Failure(f"no results in {baseline}")
    # The results of the last run may be the baseline.
    was = dict(line.split()[:2] for line in
               (pathlib.Path(baseline).read_text("utf-8").splitlines() if baseline else []))
    bench = Bench(option("CONFIG", "default"), runs, option("MODE", "protected"),
                  option("CPU", "max"))
    figures = bench.figures(full=True)
    lines = list(compared(was, figures)) if baseline else table(figures)
    print("\n".join(lines))
    return int(any(line.endswith("WORSE") for line in lines))
