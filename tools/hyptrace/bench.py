# SPDX-License-Identifier: GPL-2.0
"""`make bench`: figures, each the median of RUNS, with their bounds; also in build/bench."""

import re
import shutil
import statistics
from fractions import Fraction

from hyptrace import kernel, objects, process, tree, vm
from hyptrace.machine import BUILD, TOOLS, Failure, number, option

OUT = BUILD / "bench"
# One instruction a nanosecond: no figure depends on how fast this machine is, but for what is lost
# at full speed.
COUNTED = "-icount shift=0,sleep=off"
MORE_EVENTS = "".join(f"""HYP_EVENT(more_{nr},
	HE_PROTO(u64 id), HE_STRUCT(he_field(u64, id)), HE_ASSIGN(__entry->id = id;),
	HE_PRINTK("id=%llu", __entry->id)
)
""" for nr in range(200))
TRACEPOINTS = ("kvm_trap_enter", "kvm_trap_exit", "kvm_vcpu_load", "kvm_vcpu_put",
               "kvm_vcpu_sched_in", "kvm_vcpu_sched_out")


def medians(text):
    """The figures in what was said, of lines `name value unit`, several of a name."""
    values = {}
    for name, value in re.findall(r"^(\S+) (-?[0-9.]+(?:/[0-9]+)?) \S+$", text, re.M):
        values.setdefault(name, []).append(round(float(Fraction(value)), 1))
    return {name: statistics.median_low(each) for name, each in values.items()}


def of_events(values):
    """What follows for events; hcall passes three that are off, and psci all of tracing."""
    for file in "text", "trace":
        name = f"read_{file}_insns_per_event"
        yield f"read_{file}_merge", 100 * (values[f"{name}.8-cpus"] / values[f"{name}.1-cpus"] - 1)
    yield "el2_hcall_max_insns", max(value for name, value in values.items()
                                     if name.startswith("el2_hcall_insns."))
    yield "el2_event_off_insns.measured", (
        values["hcall_insns.default"] - values["hcall_insns.without"]) / 3
    yield "el2_psci_off_insns", values["psci_insns.default"] - values["psci_insns.without"]


def of_syscalls(values):
    """What a system call costs more than in the plain kernel, where strings can't be turned off."""
    for name, value in values.items():
        if found := re.match(r"syscall_insns\.(\w+)\.(\w+)\.default$", name):
            call, what = found.groups()
            was = "event" if what == "no_strings" else what.removesuffix("_no_strings")
            yield f"syscall_more_insns.{call}.{what}", \
                value - values[f"syscall_insns.{call}.{was}.plain"]
            if what == "excluded_no_strings":
                yield f"syscall_strings_insns.{call}.excluded", \
                    values[f"syscall_insns.{call}.excluded.default"] - value


def of_code():
    """What calls of trace_<event>() cost while their event is off: EL2's, and KVM's new ones."""
    built = BUILD / "kernel-default"
    calls, insns, wasted = objects.events(built / objects.EL2)
    more = max(more for _, _, more in objects.tracepoints(built, TRACEPOINTS).values())
    return {"el2_event_sites": calls, "el2_event_off_insns": insns,
            "el2_event_wasted_insns": len(wasted), "kvm_event_off_insns": 1 + more}


def bounds(kind=""):
    """The most that figures may be: those of a kind, which is not measured with all others."""
    text = TOOLS.joinpath("tests/bench.bounds").read_text("utf-8")
    lines = [line.split() for line in text.splitlines() if line[0] != "#"]
    return {name: float(bound) for bound, *names in lines for name in names
            if kind == next(filter(name.startswith, KINDS), "")}


def over(limits, figures):
    """What is over its bound, or was not measured."""
    return [f"{name}: {figures.get(name, 'not measured')}, the bound is {limit:g}"
            for name, limit in limits.items() if not figures.get(name, limit + 1) <= limit]


def table(figures):
    """Lines with each figure and its bound."""
    limits = {name: limit for kind in ("", *KINDS) for name, limit in bounds(kind).items()}
    return "".join(f"{name:<44} {value:>10.6g} {limits.get(name, ''):>10}\n"
                   for name, value in figures.items())


def plain_kernel():
    """Build the default kernel without the topic faultable-tracepoints."""
    source = tree.checkout("plain", topics=[topic for topic in tree.topics()
                                            if topic != "faultable-tracepoints"])
    kernel.build("plain", tree=source,
                 unknown=["TRACEPOINT_KUNIT_TEST", "TRACE_SYSCALLS_KUNIT_TEST"])


def ring_bytes(path):
    """What an event takes in a ring, by its format: of strings and bitmasks where they are."""
    ends = [sum(map(int, field)) for field in
            re.findall(r"offset:(\d+);\s*size:(\d+)", path.read_text("utf-8"))]
    return f"ring_bytes_per_event.{path.parent.name} {4 + -(-max(ends) // 4) * 4} bytes\n"


def measure(functions, smp=1, config="default", **how):
    """Run functions of bench.sh on a kernel; what they say."""
    script = (f"RUNS={number('RUNS', 3)} KERNEL={config}\n" +
              TOOLS.joinpath("bench.sh").read_text("utf-8") + functions)
    how = {"mode": option("MODE", "protected"), "cpu": option("CPU", "max"),
           "qemu_args": COUNTED, "timeout": 1200} | how
    done = vm.boot(script, OUT / "files", smp=smp, config=config, **how)
    if done.status:
        raise Failure(f"{done.output}{done.errors}\nthe measurement of {functions} failed")
    return done.output + "".join(ring_bytes(path) for path in done.out.glob("hypervisor/*/format")
                                 if f"event.{path.parent.name} " not in done.output)


def measure_both(functions, config, changes):
    """The same on the default kernel and on another one, which is built for it."""
    with tree.edited(changes):
        kernel.build(config, targets=["Image"])
    said = measure(functions) + measure(functions, config=config)
    shutil.rmtree(BUILD / f"kernel-{config}")
    return said


def of_system_calls():
    """System calls, in a kernel with faultable tracepoints and in one without."""
    plain_kernel()
    return "".join(measure("syscalls", config=config, mode="none")
                   for config in ("default", "plain"))


def of_functions():
    """EL2's functions, in a kernel that traces them."""
    kernel.build("functions")
    return measure("functions", config="functions")


def all_but_those(full):
    """All others; without full, what has a bound."""
    said = measure("kvm-guest-callchains/cost") + measure("events\nmore" if full else "events")
    for cpus in (1, 2, 4, 8) if full else (1, 8):
        said += measure("begin\nruns cpus" if full else "begin\nruns merge", cpus)
    said += measure("begin\nruns loads", 2, cmdline="maxcpus=1")
    said += measure_both("runs off", "without", {})
    if full:
        said += measure_both("begin\nruns event_list", "event", tree.more_events(MORE_EVENTS))
        said += of_system_calls() + of_functions() + measure("begin\nruns loss", 2, qemu_args="")
    return said


# Beginnings of the names of figures, and what measures them
KINDS = {"syscall_": of_system_calls, "function_": of_functions}


def figures_of(kind="", full=False):
    """Measure what is of a kind or all others, or all; leave the results in build/bench."""
    with process.lock("bench"):
        shutil.rmtree(OUT, ignore_errors=True)
        for suite in "hyp-trace", "kvm-guest-callchains", "faultable-tracepoints":
            shutil.copytree(kernel.selftest(suite) / suite, OUT / "files" / suite)
        said = KINDS[kind]() if kind else all_but_those(full)
        OUT.joinpath("log").write_text(said, "utf-8")
        found = medians(said)
        found |= dict(of_syscalls(found))
        if not kind:
            found |= dict(of_events(found)) | of_code()
        OUT.joinpath("results").write_text(table(found), "utf-8")
    return found


def main():
    print(table(figures_of(full=True)), end="")
