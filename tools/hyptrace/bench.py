# SPDX-License-Identifier: GPL-2.0
"""`make bench`: what an event costs, to write and to read, in instructions: one figure a line,
`name value unit`, each the median of several runs. The same machine, kernel and compiler give the
same figures. They are left in build/bench/results.

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
import statistics
from fractions import Fraction
from typing import NamedTuple

from hyptrace import kernel, objects, process, sites, tree, vm
from hyptrace.machine import BUILD, TOOLS, Failure, number, option

OUT = BUILD / "bench"
COUNTED = "-icount shift=0,sleep=off"
MORE_EVENTS = "".join(f"""HYP_EVENT(more_{nr},
	HE_PROTO(u64 id), HE_STRUCT(he_field(u64, id)), HE_ASSIGN(__entry->id = id;),
	HE_PRINTK("id=%llu", __entry->id)
)
""" for nr in range(200))
TRACEPOINTS = ("kvm_trap_enter", "kvm_trap_exit", "kvm_vcpu_load", "kvm_vcpu_put",
               "kvm_vcpu_sched_in", "kvm_vcpu_sched_out")
LINE = re.compile(r"(\S+) (-?[0-9.]+(?:/[0-9]+)?) (\S+)$", re.M)


class Figure(NamedTuple):
    """What was measured."""
    value: float
    unit: str

    def __str__(self):
        return f"{self.value:.6g} {self.unit}"


def medians(text):
    """The figures in what was said, of lines `name value unit`, several of a name."""
    values = {}
    for name, value, unit in LINE.findall(text):
        values.setdefault((name, unit), []).append(round(float(Fraction(value)), 1))
    if not values:
        raise Failure(f"no figures: {text[-4000:]}")
    return {name: Figure(statistics.median_low(each), unit)
            for (name, unit), each in values.items()}


def of_events(values):
    """How much more an event of 8 CPUs costs in text than one of a single CPU, in percent; the
    longest hypercall; what each of the three events costs that a hypercall passes, while they are
    off; and what tracing that was never used costs a PSCI call."""
    for file in "text", "trace":
        one, all_cpus = (values.get(f"read_{file}_insns_per_event.{n}-cpus") for n in (1, 8))
        if one and all_cpus:
            yield f"read_{file}_merge", 100 * (all_cpus / one - 1), "percent"
    if longest := [values[name] for name in values if name.startswith("el2_hcall_insns.")]:
        yield "el2_hcall_max_insns", max(longest), "insns"
    for call, name, passed in (("hcall", "el2_event_off_insns.measured", 3),
                               ("psci", "el2_psci_off_insns", 1)):
        if f"{call}_insns.without" in values:
            more = values[f"{call}_insns.default"] - values[f"{call}_insns.without"]
            yield name, more / passed, "insns"


def of_syscalls(values):
    """What a system call costs more than without faultable tracepoints, where strings can't be
    turned off; and what strings cost one of a task that has no events."""
    for name, value in values.items():
        if found := re.match(r"syscall_insns\.(\w+)\.(\w+)\.default$", name):
            call, what = found.groups()
            was = "event" if what == "no_strings" else what.removesuffix("_no_strings")
            plain = values[f"syscall_insns.{call}.{was}.plain"]
            yield f"syscall_more_insns.{call}.{what}", value - plain, "insns"
            if what == "excluded_no_strings":
                strings = values[f"syscall_insns.{call}.excluded.default"] - value
                yield f"syscall_strings_insns.{call}.excluded", strings, "insns"


def derived(figures):
    """What follows from several figures."""
    values = {name: figure.value for name, figure in figures.items()}
    return {name: Figure(value, unit) for follows in (of_events, of_syscalls)
            for name, value, unit in follows(values)}


def ring_bytes(text):
    """What an event takes in a ring, by its format: of strings and bitmasks where they are."""
    ends = [sum(map(int, field)) for field in re.findall(r"offset:(\d+);\s*size:(\d+)", text)]
    return 4 + -(-max(ends) // 4) * 4


def bounds(syscalls=False):
    """The most that figures may be: those of system calls, or the others."""
    text = TOOLS.joinpath("tests/bench.bounds").read_text("utf-8")
    lines = [line.split() for line in text.splitlines() if line[0] != "#"]
    return {name: float(bound) for bound, *names in lines for name in names
            if name.startswith("syscall_") == syscalls}


def over(limits, figures):
    """What is over its bound, or was not measured."""
    for name, limit in limits.items():
        if name not in figures:
            yield f"{name}: not measured"
        elif figures[name].value > limit:
            yield f"{name}: {figures[name]}, the bound is {limit:g}"


def table(figures, was=None):
    """Lines with each figure, and with what it was, {name: value}: marked if it got worse, which is
    more, by more than 3 % and not by less than one."""
    for name, (value, unit) in figures.items():
        line = f"{name:<44} {value:>10.6g} {unit}"
        if was and name in was:
            worse = value > was[name] * 1.03 and value - was[name] >= 1
            line = f"{line:<63} {was[name]:>10.6g}{' WORSE' if worse else ''}"
        yield line


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
        self.built, self.said = BUILD / f"kernel-{config}", ""

    def has(self, symbol):
        """Whether the kernel has a function or variable."""
        return f" {symbol}\n" in self.built.joinpath("System.map").read_text("utf-8")

    def add_suite(self, suite):
        """Lay a kselftest out."""
        shutil.copytree(kernel.selftest(suite, self.config) / suite, OUT / "files" / suite)

    def measure(self, functions, cpus=1, config="", **how):
        """Run functions of bench.sh on a kernel."""
        config = config or self.config
        script = (f"RUNS={self.runs} KERNEL={config}\n" +
                  TOOLS.joinpath("bench.sh").read_text("utf-8") + functions)
        how = {"mode": self.mode, "qemu_args": COUNTED, "timeout": 1200} | how
        done = vm.boot(script, OUT / "files", cpu=self.cpu, smp=cpus, config=config, **how)
        if done.status:
            raise Failure(f"{done.output}{done.errors}\nthe measurement of {functions} failed")
        self.said += done.output
        for path in done.out.glob("hypervisor/*/format"):
            name = f"ring_bytes_per_event.{path.parent.name} "
            if name not in self.said:
                self.said += f"{name}{ring_bytes(path.read_text('utf-8'))} bytes\n"

    def other(self, functions, config, changes):
        """The same on this kernel and on another one, which is built for it."""
        self.measure(functions)
        with tree.edited(changes):
            kernel.build(config, targets=["Image"])
        self.measure(functions, config=config)
        shutil.rmtree(BUILD / f"kernel-{config}")

    def syscalls(self):
        """System calls, in a kernel with faultable tracepoints and in one without."""
        plain_kernel()
        self.add_suite("faultable-tracepoints")
        for config in self.config, "plain":
            self.measure("syscalls", config=config, mode="none")

    def events(self, full):
        """All others; without full, what has a bound."""
        self.add_suite("hyp-trace")
        if self.has("kvm_guest_get_callchain"):
            self.add_suite("kvm-guest-callchains")
            self.measure("kvm-guest-callchains/cost")
        self.measure("events\nmore" if full else "events")
        for cpus in (1, 2, 4, 8) if full else (1, 8):
            self.measure("begin\nruns cpus" if full else "begin\nruns merge", cpus)
        self.measure("begin\nruns loads", 2, cmdline="maxcpus=1")
        if self.config == "default":
            self.other("runs off", "without", {})
        if self.config == "default" and full:
            self.other("begin\nruns event_list", "event", tree.more_events(MORE_EVENTS))
            self.syscalls()
        if full:
            self.measure("begin\nruns loss", 2, qemu_args="")

    def off(self):
        """What calls of trace_<event>() cost while their event is off, by the code: EL2's, and
        those that the topic perf-kvm-stat adds to KVM."""
        calls, insns, wasted = sites.events(self.built / objects.EL2)
        yield "el2_event_sites", Figure(calls, "calls")
        yield "el2_event_off_insns", Figure(insns, "insns")
        yield "el2_event_wasted_insns", Figure(len(wasted), "insns")
        if self.has("__tracepoint_kvm_trap_enter"):
            found = sites.tracepoints(self.built, TRACEPOINTS).values()
            yield "kvm_event_off_insns", Figure(1 + max(more for _, _, more in found), "insns")

    def figures(self, syscalls=False, full=False):
        """Measure, and leave the results."""
        with process.lock("bench"):
            shutil.rmtree(OUT / "files", ignore_errors=True)
            OUT.joinpath("files").mkdir(parents=True)
            if syscalls:
                self.syscalls()
            else:
                self.events(full)
            OUT.joinpath("log").write_text(self.said, "utf-8")
            found = medians(self.said)
            found |= derived(found) | ({} if syscalls else dict(self.off()))
            OUT.joinpath("results").write_text(
                "".join(f"{name} {each}\n" for name, each in found.items()), "utf-8")
        return found


def main():
    """`make bench`."""
    # The results of the last run may be the baseline.
    was = option("BASELINE") and {
        name: float(value) for name, value, *_ in map(str.split, pathlib.Path(
            option("BASELINE")).read_text("utf-8").splitlines())}
    bench = Bench(option("CONFIG", "default"), number("RUNS", 3), option("MODE", "protected"),
                  option("CPU", "max"))
    lines = list(table(bench.figures(full=True), was))
    print("\n".join(lines))
    return int(any(line.endswith("WORSE") for line in lines))
