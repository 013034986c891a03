# SPDX-License-Identifier: GPL-2.0
"""What tracing costs: `make bench` and its bounds"""

import pytest

from hyptrace import bench, objects, process
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
