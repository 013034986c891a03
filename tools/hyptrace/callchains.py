# SPDX-License-Identifier: GPL-2.0
"""Folded call chains: lines of the functions of a chain, from the root on and separated by
semicolons, and how often it was seen.

    flame_graph(folded, title, least)   a flame graph of them as SVG
    roots(folded)                       (text, good): how many chains of a Linux guest's kernel
                                        begin where the kernel is entered, or a thread begins
"""

import re
import zlib
from collections import Counter
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN, FONT = 1200, 16, 10, 11
ROOT = re.compile(r"(el[01][th]_(64|32)_(sync|irq|fiq|error)|ret_from_fork|"
                  r"__primary_switched|__secondary_switched|primary_entry|"
                  r"start_kernel|init_el1|__pi_.*|vectors|"
                  r"entry_SYSCALL_64.*|asm_.*|ret_from_fork_asm|"
                  r"common_startup_64|secondary_startup_64.*|startup_64.*|x86_64_start_.*)$")


def _counts(folded):
    """The chains as lists of functions, and their counts."""
    for line in folded:
        chain, _, count = line.rpartition(" ")
        yield chain.split(";"), int(count)


class _Frame:
    """A function with what it has called."""

    def __init__(self):
        self.count, self.callees = 0, {}

    def add(self, chain, count):
        """Add the rest of a chain."""
        self.count += count
        if chain:
            self.callees.setdefault(chain[0], _Frame()).add(chain[1:], count)

    def depth(self, least):
        """How many levels there are to draw."""
        return 1 + max((callee.depth(least) for callee in self.callees.values()
                        if callee.count >= least), default=0)


class _Drawing:    # pylint: disable=too-few-public-methods
    """A flame graph. Frames of fewer than `least` pixels are left out."""

    def __init__(self, root, least):
        self.total, self.least = root.count, least
        self.scale = (WIDTH - 2 * MARGIN) / root.count
        self.top = 40 + root.depth(least / self.scale) * HEIGHT

    def lines(self, frame, name, left=MARGIN, level=0):
        """A frame and those above it."""
        width, shade = frame.count * self.scale, zlib.crc32(name.encode())
        if width < self.least:
            return
        low = self.top - (level + 1) * HEIGHT
        yield (f"<g><title>{escape(name)}: {frame.count} samples, "
               f"{100 * frame.count / self.total:.1f} %</title>"
               f'<rect x="{left:.1f}" y="{low}" width="{width:.1f}" height="{HEIGHT - 1}" '
               f'fill="rgb({205 + shade % 50},{80 + (shade >> 8) % 120},{(shade >> 16) % 60})"/>')
        room = int((width - 4) / (FONT * 0.62))
        if room > 2:
            text = name if len(name) <= room else name[:room - 2] + ".."
            yield f'<text x="{left + 2:.1f}" y="{low + HEIGHT - 5}">{escape(text)}</text>'
        yield "</g>"
        for callee, called in sorted(frame.callees.items()):
            yield from self.lines(called, callee, left, level + 1)
            left += called.count * self.scale


def flame_graph(folded, title, least=0.4):
    """The text of the SVG."""
    root = _Frame()
    for chain, count in _counts(folded):
        root.add(chain, count)
    drawing = _Drawing(root, least)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{drawing.top + MARGIN}" '
        f'font-family="monospace" font-size="{FONT}">',
        '<rect width="100%" height="100%" fill="#f8f8f0"/>',
        f'<text x="{MARGIN}" y="20" font-size="14">{escape(title)}: {root.count} samples</text>',
        *drawing.lines(root, "all"), "</svg>", ""])


def roots(folded):
    """Good are 95 % of the kernel's chains, which are a hundred at least."""
    first = Counter()
    for chain, count in _counts(folded):
        first[chain[0]] += count
    unknown = first.pop("[unknown]", 0)
    kernel = sum(first.values())
    other = {name: count for name, count in first.items() if not ROOT.match(name)}
    rooted = kernel - sum(other.values())
    share = 100 * rooted / kernel if kernel else 0
    text = (f"{kernel + unknown} samples of the guest: {kernel} of its kernel, {rooted} of these "
            f"from a root ({share:.1f} %), {unknown} of its user space")
    return "\n".join([text, *(f"  {count} from {name}" for name, count in other.items())]), \
        kernel >= 100 and share >= 95
