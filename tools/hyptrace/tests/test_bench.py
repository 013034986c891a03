# SPDX-License-Identifier: GPL-2.0
"""What tracing costs: `make bench` and its bounds; and kernels without it pay nothing."""

import os
import re
import subprocess

import pytest

from hyptrace import bench, kernel as kernels, process, sites, tree
from hyptrace.bench import Figure
from hyptrace.machine import Failure, cross_for

host = pytest.mark.host
fast = pytest.mark.fast


@fast
@host
@pytest.mark.parametrize("values, expected", [
    ("5 7 6", "6 insns +-16.7%"), ("5 5", "5 insns"), ("21/2", "10.5 insns")])
def test_a_figure_is_the_median_of_its_runs(values, expected):
    """Also of quotients; the spread is shown if there is one."""
    found = bench.medians("".join(f"a {value} insns\n" for value in values.split()))
    assert " ".join(found["a"].words()) == expected


@fast
@host
@pytest.mark.parametrize("was, now, worse", [
    (100, 103, False), (100, 90, False), (2, 2.9, False), (100, 104, True)])
def test_what_got_worse_by_more_than_3_percent_is_reported(was, now, worse):
    """But not less than one."""
    lines = list(bench.compared({"a": str(was)}, {"a": Figure(now, "insns")}))
    assert len(lines) == 1 and lines[0].endswith("WORSE") == worse


@fast
@host
@pytest.mark.parametrize("given, expected", [
    ("read_text_insns_per_event.1-cpus 100, read_text_insns_per_event.8-cpus 110.5",
     "read_text_merge 10.5"),
    ("read_trace_insns_per_event.1-cpus 200, read_trace_insns_per_event.2-cpus 250, "
     "read_trace_insns_per_event.8-cpus 220", "read_trace_merge 10"),
    ("el2_hcall_insns.a 7, el2_hcall_insns.b 9, el2_hcall_insns.c 8", "el2_hcall_max_insns 9"),
    ("hcall_insns.default 106, hcall_insns.without 100", "el2_event_off_insns.measured 2"),
    ("psci_insns.default 140, psci_insns.without 100", "el2_psci_off_insns 40"),
    ("syscall_insns.a.off.default 11, syscall_insns.a.event.default 90, "
     "syscall_insns.a.no_strings.default 40, syscall_insns.a.off.plain 10, "
     "syscall_insns.a.event.plain 30", "syscall_more_insns.a.off 1, syscall_more_insns.a.event 60, "
     "syscall_more_insns.a.no_strings 10"),
    ("syscall_insns.a.excluded.default 15, syscall_insns.a.excluded_no_strings.default 12, "
     "syscall_insns.a.excluded.plain 10", "syscall_more_insns.a.excluded 5, "
     "syscall_strings_insns.a.excluded 3, syscall_more_insns.a.excluded_no_strings 2"),
    ("a 1", "")], ids=["merged", "merged of all", "longest", "event off", "psci", "syscalls",
                      "strings", "none"])
def test_figures_follow_from_others(given, expected):
    """The longest, a ratio in percent, a third of a difference, and differences."""
    found = bench.derived({name: Figure(float(value), "insns") for name, value in
                           (each.split() for each in given.split(", "))})
    assert ", ".join(f"{name} {round(each.value, 3):g}" for name, each in found.items()) == expected


@fast
@host
def test_what_is_over_its_bound_or_was_not_measured_is_reported():
    """And only that."""
    limits = {"a": 10}
    assert not list(bench.over(limits, {"a": Figure(10, "insns"), "b": Figure(99, "insns")}))
    assert list(bench.over(limits, {"a": Figure(10.5, "insns")})) == [
        "a: 10.5 insns, the bound is 10"]
    assert list(bench.over(limits, {"b": Figure(1, "insns")})) == ["a: not measured"]


def assembled(text, path):
    """An object of EL2's with such code."""
    process.run([cross_for("arm64") + "as", "-o", path, "-"],
                input=".section .hyp.text, \"ax\"\n.globl f, g\n" + text)
    return path


EVENT = """f:	{before}
	adrp x2, hyp_event_on_a
	ldr w2, [x2, #:lo12:hyp_event_on_a]
	{test} w2, 1f
	ret
1:	mov x0, x3
	b hyp_event_write_8
"""


@fast
@pytest.mark.parametrize("before, test, wasted", [
    ("mov x3, x1", "cbnz", []), ("ldr x3, [x1]", "cbnz", ["0: ldr x3, [x1]"]),
    ("bl g; mov x3, x0", "cbnz", []), ("bl g; lsl x3, x0, #1", "cbnz", ["4: lsl x3, x0, #1"]),
    ("ldr x3, [x1]; str x3, [x1, #8]", "cbnz", []), ("ldr x3, [x1]", "cbz", ["0: ldr x3, [x1]"])])
def test_what_is_computed_for_an_event_that_is_off_is_found(tmp_path, before, test, wasted):
    """Alone for the event; a copy of a register is not computed."""
    text = EVENT.format(before=before, test=test)
    if test == "cbz":
        text = text.replace("ret\n1:", "b 2f\n1:	ret\n2:")
    assert sites.events(assembled(text, tmp_path / "o")) == (1, 3 + len(wasted), wasted)


@fast
def test_another_test_of_an_event_is_refused(tmp_path):
    """It would be longer."""
    text = EVENT.format(before="nop", test="tst w2, #0xff; cbnz")
    with pytest.raises(Failure, match="hyp_event_on_a is not tested"):
        sites.events(assembled(text, tmp_path / "o"))


@fast
@host
def test_no_events_no_figures_and_no_bounds_are_errors(tmp_path):
    """An object may have no event."""
    with pytest.raises(Failure, match="no event is tested"):
        sites.events(assembled("f:	ret\n", tmp_path / "none"))
    with pytest.raises(Failure, match="no figures"):
        bench.medians("nothing here\n")
    assert list(bench.over({}, {})) == ["no bounds"]
    assert bench.bounds() and bench.bounds(syscalls=True)


@fast
@host
@pytest.mark.parametrize("name, value, why", [
    ("RUNS", "none", "not a number: none"), ("RUNS", "0", "no number of runs"),
    ("BASELINE", "none", "no results in none")])
def test_wrong_options_are_refused(monkeypatch, name, value, why):
    """Before anything is measured."""
    monkeypatch.setenv(name, value)
    with pytest.raises(Failure, match=why):
        bench.main()


@fast
@pytest.mark.seconds(50)
def test_costs_are_within_their_bounds(kernel):
    """The costs of events, in tests/bench.bounds."""
    kernel()
    figures = bench.Bench().figures()
    print("\n".join(bench.table(figures)))
    assert not list(bench.over(bench.bounds(), figures))


OPTIONS = """64BIT=n EXPERT=y SMP=y PRINTK=y BUG=y MODULES=y PERF_EVENTS=y FTRACE=y
    FUNCTION_TRACER=y FTRACE_SYSCALLS=y TRACER_SNAPSHOT=y"""
PARTS = "kernel/trace/", "fs/tracefs/"
# Nothing selects them on 32 bits: as if something did.
REMOTE = [f"kernel/trace/{name}.o" for name in
          ("trace", "trace_events", "trace_events_filter", "trace_dumper")] + ["fs/tracefs/inode.o"]


class I386:
    """A source, built for 32 bits without remote tracing."""

    def __init__(self, source, out):
        self.source, self.out = source, out
        out.mkdir()
        (out / "options").write_text("".join(f"CONFIG_{each}\n" for each in OPTIONS.split()),
                                     "utf-8")
        self.make(f"KCONFIG_ALLCONFIG={out}/options", "allnoconfig")
        self.config = (out / ".config").read_text("utf-8")
        assert "\nCONFIG_FTRACE_SYSCALLS=y\n" in self.config
        self.make("prepare")
        self.make(*PARTS)

    def make(self, *words):
        """A make of the kernel's."""
        process.run(["make", "ARCH=i386", "LOCALVERSION=", "-s", f"-j{os.cpu_count()}", "-C",
                     self.source, f"O={self.out}", *words], env=kernels.clean_env())

    def sizes(self):
        """Of each object, text, data and bss."""
        paths = [path for part in PARTS for path in (self.out / part).rglob("*.o")
                 if path.name != "built-in.a"]
        rows = [line.split() for line in process.run(["size", *paths]).stdout.splitlines()[1:]]
        return {os.path.relpath(row[5], self.out): [int(each) for each in row[:3]] for row in rows}


@pytest.mark.modes
@pytest.mark.alone
@pytest.mark.seconds(60)
def test_objects_without_remote_tracing(checks, tmp_path):
    """A kernel without remote tracing pays nothing for it. What does not depend on words of 64 bits
    builds on a machine of 32. Both are looked at with one such kernel."""
    if subprocess.run(["gcc", "-m32", "-xc", "-c", "-o", tmp_path / "probe.o", "/dev/null"],
                      check=False).returncode:
        checks.skip("objects no larger than without the series", "no compiler for i386")
        return
    tree.make()
    was = I386(tree.checkout("source", topics=[]), tmp_path / "was").sizes()
    series = I386(tree.checkout("hyp-trace", topics=["hyp-trace"]), tmp_path / "now")
    now = series.sizes()
    checks("the options of remote tracing are off", not re.search(
        "CONFIG_(RING_BUFFER_READER|TRACE_REMOTE_EVENTS|TRACE_DUMPERS)=y", series.config))
    larger = {name: (was.get(name), size) for name, size in now.items()
              if name not in was or any(a > b for a, b in zip(size, was[name]))}
    checks("no object is larger than without the series", not larger and len(now) >= 10, larger)
    series.make("KCFLAGS=-DCONFIG_TRACE_REMOTE_EVENTS=1 -DCONFIG_TRACE_DUMPERS=1 -Werror", *REMOTE)
    checks("remote events and dumpers build for 32 bits", "trace_add_remote_event" in process.run(
        ["nm", series.out / "kernel/trace/trace_events.o"]).stdout)
