# SPDX-License-Identifier: GPL-2.0
"""Folded call chains: lines of the functions of a chain, from the root on and separated by
semicolons, and how often it was seen."""

import re
import zlib
from collections import Counter
from itertools import groupby
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN, LETTER = 1200, 16, 10, 6.8
ROOT = re.compile(r"el[01][th]_(64|32)_(sync|irq|fiq|error)|ret_from_fork(_asm)?|init_el1|vectors|"
                  r"__(primary|secondary)_switched|primary_entry|start_kernel|__pi_.*|asm_.*|"
                  r"entry_SYSCALL_64.*|common_startup_64|(secondary_)?startup_64.*|x86_64_start_.*")


def _chains(folded):
    """The chains as lists of functions, and their counts."""
    for line in folded:
        chain, _, count = line.rpartition(" ")
        yield chain.split(";"), int(count)


def _frames(chains, level=0, left=0):
    """Each function with what it has called, of sorted chains: its name, level and place, and how
    often it was seen there."""
    longer = [each for each in chains if len(each[0]) > level]
    for name, found in groupby(longer, lambda each: each[0][level]):
        callees = list(found)
        count = sum(each[1] for each in callees)
        yield name, level, left, count
        yield from _frames(callees, level + 1, left)
        left += count


def _box(name, said, left, top, width):
    """A frame as SVG: `said` is shown where the mouse is."""
    shade, room = zlib.crc32(name.encode()), int((width - 4) / LETTER)
    colour = f"{205 + shade % 50},{80 + (shade >> 8) % 120},{(shade >> 16) % 60}"
    text = name if len(name) <= room else name[:room - 2] + ".." if room > 2 else ""
    return (f'<g><title>{escape(said)}</title><rect x="{left:.1f}" y="{top}" width="{width:.1f}" '
            f'height="{HEIGHT - 1}" fill="rgb({colour})"/>'
            f'<text x="{left + 2:.1f}" y="{top + HEIGHT - 5}">{escape(text)}</text></g>')


def flame_graph(folded, title, least=0.4):
    """The text of an SVG. Frames of fewer than `least` pixels are left out."""
    frames = list(_frames(sorted((["all", *chain], count) for chain, count in _chains(folded))))
    total = frames[0][3]
    scale = (WIDTH - 2 * MARGIN) / total
    frames = [frame for frame in frames if frame[3] * scale >= least]
    bottom = 40 + HEIGHT * (1 + max(level for _, level, _, _ in frames))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + MARGIN}" '
        'font-family="monospace" font-size="11">',
        '<rect width="100%" height="100%" fill="#f8f8f0"/>',
        f'<text x="{MARGIN}" y="20" font-size="14">{escape(title)}: {total} samples</text>',
        *(_box(name, f"{name}: {count} samples, {100 * count / total:.1f} %", MARGIN + left * scale,
               bottom - (level + 1) * HEIGHT, count * scale)
          for name, level, left, count in frames), "</svg>", ""])


def roots(folded):
    """How many chains of a Linux guest's kernel begin where the kernel is entered, or a thread
    begins, as text; and whether these are 95 % of a hundred at least."""
    first = Counter()
    for chain, count in _chains(folded):
        first[chain[0]] += count
    unknown = first.pop("[unknown]", 0)
    kernel = sum(first.values())
    other = {name: count for name, count in first.items() if not ROOT.fullmatch(name)}
    rooted = kernel - sum(other.values())
    share = 100 * rooted / max(kernel, 1)
    text = (f"{kernel + unknown} samples of the guest: {kernel} of its kernel, {rooted} of these "
            f"from a root ({share:.1f} %), {unknown} of its user space")
    return "\n".join([text, *(f"  {count} from {name}" for name, count in other.items())]), \
        kernel >= 100 and share >= 95
