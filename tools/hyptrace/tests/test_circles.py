# SPDX-License-Identifier: GPL-2.0
"""The objects of a part call each other in one direction: a file can be read, and built in user
space, with those below it alone."""

import graphlib
import re

import pytest

from hyptrace import patches, process
from hyptrace.machine import BUILD, ROOT, cross_for

# Each part with objects that it must have. ring_buffer.o is the reader's lowest layer.
PARTS = {
    "the remote layer": ("kernel/trace/remote/*.o", "instance remote"),
    "the reader": ("kernel/trace/ring_buffer*.o", "ring_buffer ring_buffer_reader_state"),
    "the arm64 remote": ("arch/arm64/kvm/hyp_trace/*.o", "hyp_trace ring clock"),
}


def circle(symbols):
    """Objects that use each other's symbols in a circle, of {object: (defined, used)}; or none."""
    owner = {name: each for each, (defined, _) in symbols.items() for name in defined}
    below = {each: {owner[name] for name in used if owner.get(name, each) != each}
             for each, (_, used) in symbols.items()}
    try:
        graphlib.TopologicalSorter(below).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return []


def symbols_of(path):
    """The global symbols that an object defines, and those that it uses."""
    lines = [line.split()[-2:] for line in
             process.run([cross_for("arm64") + "nm", "-g", path]).stdout.splitlines()]
    return [{name for kind, name in lines if (kind == "U") == used} for used in (False, True)]


@pytest.mark.fast
@pytest.mark.host
def test_no_source_includes_another_one():
    """But for tests, and the part of the reader that needs what is private to ring_buffer.c."""
    texts = [(ROOT / path).read_text("utf-8") for path in patches.new_files()
             if re.match(r"(?!tools/|.*/tests/).*\.[chS]$", path)]
    texts += [text for topic in patches.topics() for text in patches.texts(topic).values()]
    assert [name for text in texts for name in
            re.findall(r'^\+?#include "(.*\.c)"$', text, re.M)] == ["ring_buffer_reader_base.c"]


@pytest.mark.fast
@pytest.mark.boots("default")
def test_no_circles(checks, kernel):
    """Of the default kernel's objects, without those of an earlier build, which have no source."""
    assert circle({"a": ("f", "g"), "b": ("g", "h"), "c": ("h", "f")}) == ["a", "b", "c", "a"]
    assert circle({"a": ("f", "ghi"), "b": ("g", "h"), "c": ("h", "x")}) == []
    out = kernel()
    for part, (pattern, wanted) in PARTS.items():
        symbols = {path.stem: symbols_of(path) for path in out.glob(pattern)
                   if (BUILD / "tree" / path.relative_to(out)).with_suffix(".c").exists()}
        assert set(wanted.split()) <= set(symbols)
        checks.equals(f"{part} has no circle", circle(symbols), [])
