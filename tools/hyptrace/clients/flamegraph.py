#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a flame graph, as SVG, of folded call chains.

usage: flamegraph.py TITLE [LEAST] <folded >svg

Frames of fewer than LEAST pixels are left out.

A line of the input is a chain, from the root on, its functions separated by semicolons, and
how often it was seen.
"""

import sys
import zlib
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN, FONT = 1200, 16, 10, 11
LEAST = float(sys.argv[2]) if len(sys.argv) > 2 else 0.4


class Frame:
    """A function with what it has called"""

    def __init__(self):
        self.count = 0
        self.callees = {}

    def add(self, chain, count):
        self.count += count
        if chain:
            self.callees.setdefault(chain[0], Frame()).add(chain[1:], count)

    def depth(self, least):
        return 1 + max((callee.depth(least) for callee in self.callees.values()
                        if callee.count >= least), default=0)


def read(lines):
    root = Frame()
    for line in lines:
        chain, _, count = line.rstrip('\n').rpartition(' ')
        root.add(chain.split(';'), int(count))
    return root


def color(name):
    shade = zlib.crc32(name.encode())
    return f'rgb({205 + shade % 50},{80 + (shade >> 8) % 120},{(shade >> 16) % 60})'


def draw(frame, name, left, level, scale, total, top):
    width = frame.count * scale
    if width < LEAST:
        return
    y = top - (level + 1) * HEIGHT
    share = 100 * frame.count / total
    print(f'<g><title>{escape(name)}: {frame.count} samples, {share:.1f} %</title>'
          f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT - 1}" '
          f'fill="{color(name)}"/>')
    room = int((width - 4) / (FONT * 0.62))
    if room > 2:
        text = name if len(name) <= room else name[:room - 2] + '..'
        print(f'<text x="{left + 2:.1f}" y="{y + HEIGHT - 5}">{escape(text)}</text>')
    print('</g>')
    for callee in sorted(frame.callees):
        draw(frame.callees[callee], callee, left, level + 1, scale, total, top)
        left += frame.callees[callee].count * scale


def main():
    root = read(sys.stdin)
    if not root.count:
        sys.exit('flamegraph.py: no chains')
    scale = (WIDTH - 2 * MARGIN) / root.count
    top = 40 + root.depth(LEAST / scale) * HEIGHT
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top + MARGIN}" '
          f'font-family="monospace" font-size="{FONT}">')
    print('<rect width="100%" height="100%" fill="#f8f8f0"/>')
    print(f'<text x="{MARGIN}" y="20" font-size="14">{escape(sys.argv[1])}: '
          f'{root.count} samples</text>')
    draw(root, 'all', MARGIN, 0, scale, root.count, top)
    print('</svg>')


if __name__ == '__main__':
    main()
