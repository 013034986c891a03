# SPDX-License-Identifier: GPL-2.0
"""What tracing costs: `make bench` and its bounds; and kernels without it pay nothing."""

import os
import re
import subprocess

import pytest

from hyptrace import bench, kernel as kernels, objects, process, series, tree
from hyptrace.machine import Failure, cross_for


@pytest.mark.fast
@pytest.mark.host
def test_judges():
    """A figure is the median of its runs; one over its bound, or not measured, is reported."""
    found = bench.medians("a 5 insns\na 7 insns\na 6 insns\nb 21/2 bytes\n")
    assert found == {"a": 6, "b": 10.5} and not bench.over({"a": 6}, found)
    assert bench.over({"b": 10, "c": 1}, found) == ["b: 10.5, the bound is 10",
                                                    "c: not measured, the bound is 1"]


@pytest.mark.fast
@pytest.mark.seconds(50)
def test_costs_are_within_their_bounds(kernel):
    """The costs of events, in tests/bench.bounds."""
    kernel()
    figures = bench.figures_of()
    print(bench.table(figures))
    assert bench.bounds() and not bench.over(bench.bounds(), figures)


OPTIONS = """64BIT=n EXPERT=y SMP=y PRINTK=y BUG=y MODULES=y PERF_EVENTS=y FTRACE=y
    FUNCTION_TRACER=y FTRACE_SYSCALLS=y TRACER_SNAPSHOT=y"""
PARTS = "kernel/trace/", "fs/tracefs/"
# Nothing selects them on 32 bits: as if something did.
REMOTE = ["fs/tracefs/inode.o", *[f"kernel/trace/{name}.o" for name in (
    "trace", "trace_events", "trace_events_filter", "trace_events_remote", "trace_dumper")]]


def make(source, out, *words):
    return kernels.make("x86_64", "ARCH=i386", "-s", f"-j{os.cpu_count()}", "-C", source,
                        f"O={out}", *words)


def sizes(source, out):
    """Build a source without remote tracing: text, data and bss of each object."""
    out.mkdir()
    (out / "options").write_text("".join(f"CONFIG_{each}\n" for each in OPTIONS.split()), "utf-8")
    make(source, out, f"KCONFIG_ALLCONFIG={out}/options", "allnoconfig")
    assert "\nCONFIG_FTRACE_SYSCALLS=y\n" in (out / ".config").read_text("utf-8")
    make(source, out, "prepare")
    make(source, out, *PARTS)
    paths = [path for part in PARTS for path in (out / part).rglob("*.o")
             if path.name != "built-in.a"]
    rows = [line.split() for line in process.run(["size", *paths]).stdout.splitlines()[1:]]
    return {os.path.relpath(row[5], out): [int(each) for each in row[:3]] for row in rows}


@pytest.mark.modes
@pytest.mark.alone
@pytest.mark.seconds(60)
def test_objects_without_remote_tracing(checks, tmp_path):
    """A kernel without remote tracing, of 32 bits, pays nothing but for fixes of the kernel's own
    faults; most of it would build there."""
    if subprocess.run(["gcc", "-m32", "-xc", "-c", "-o", tmp_path / "probe.o", "/dev/null"],
                      check=False).returncode:
        pytest.skip("no compiler for i386")
    tree.make()
    fixed = tree.checkout("source", commit=series.parts_of("hyp-trace")["fixes"][-1])
    source, out = tree.checkout("hyp-trace", topics=["hyp-trace"]), tmp_path / "now"
    was, now = sizes(fixed, tmp_path / "was"), sizes(source, out)
    checks("the options of remote tracing are off", not re.search(
        "CONFIG_(RING_BUFFER_READER|TRACE_REMOTE_EVENTS|TRACE_DUMPERS)=y",
        (out / ".config").read_text("utf-8")))
    larger = {name: size for name, size in now.items()
              if name not in was or any(a > b for a, b in zip(size, was[name]))}
    checks("no object is larger than without the series", not larger and len(now) >= 10, larger)
    make(source, out, "KCFLAGS=-DCONFIG_TRACE_REMOTE_EVENTS=1 -DCONFIG_TRACE_DUMPERS=1 -Werror",
         *REMOTE)
    checks("remote events and dumpers build for 32 bits", "trace_add_remote_event" in process.run(
        ["nm", out / "kernel/trace/trace_events_remote.o"]).stdout)


EVENT = """.section .hyp.text, "ax"
.globl f, g
f:	{before}
	adrp x2, hyp_event_on_a
	ldr w2, [x2, #:lo12:hyp_event_on_a]
	{test} w2, 1f
	ret
1:	mov x0, x3
	b hyp_event_write_8
"""


@pytest.mark.fast
@pytest.mark.host
@pytest.mark.parametrize("before, test, wasted", [
    ("mov x3, x1", "cbnz", []), ("ldr x3, [x1]", "cbnz", ["0: ldr x3, [x1]"]),
    ("bl g; mov x3, x0", "cbnz", []), ("bl g; lsl x3, x0, #1", "cbnz", ["4: lsl x3, x0, #1"]),
    ("ldr x3, [x1]; str x3, [x1, #8]", "cbnz", []), ("ldr x3, [x1]", "cbz", ["0: ldr x3, [x1]"]),
    ("nop", "tst w2, #0xff; cbnz", None)])
def test_what_is_computed_for_an_event_that_is_off_is_found(tmp_path, before, test, wasted):
    """Alone for the event; a copy of a register is not computed. A longer test is refused."""
    text = EVENT.format(before=before, test=test)
    if test == "cbz":
        text = text.replace("ret\n1:", "b 2f\n1:	ret\n2:")
    process.run([cross_for("arm64") + "as", "-o", tmp_path / "o", "-"], input=text)
    if wasted is None:
        with pytest.raises(Failure, match="hyp_event_on_a is not tested"):
            objects.events(tmp_path / "o")
    else:
        assert objects.events(tmp_path / "o") == (1, 3 + len(wasted), wasted)
