# SPDX-License-Identifier: GPL-2.0
"""The objects of a part call each other in one direction, so that each builds with those below."""

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


def symbols(option, path):
    """The global symbols that an object defines, or those that it uses."""
    said = process.run([cross_for("arm64") + "nm", "-g", option, path]).stdout
    return {line.split()[-1] for line in said.splitlines()}


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
@pytest.mark.parametrize("part", PARTS)
def test_no_circles(kernel, part):
    """Of the default kernel's objects, without those of an earlier build, which have no source."""
    out, (pattern, wanted) = kernel(), PARTS[part]
    paths = [path for path in out.glob(pattern)
             if (BUILD / "tree" / path.relative_to(out)).with_suffix(".c").exists()]
    owner = {name: path.stem for path in paths for name in symbols("--defined-only", path)}
    below = {path.stem: {owner[name] for name in symbols("-u", path) if name in owner}
             for path in paths}
    assert set(wanted.split()) <= set(below)
    graphlib.TopologicalSorter(below).prepare()     # raises a CycleError
