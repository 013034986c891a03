#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Read traces as the tracer of Android's virtualization tests does.

usage: android.py whole FILE...: of one CPU each: hyp_enter and hyp_exit alone, by turns, none lost
       android.py lines FILE NAME...: each line is an event, and of these names there are some
"""
import collections
import re
import sys

# Word for word from that tracer
PATTERN = re.compile(r"^\[([0-9]*)\][ \t]*([0-9]*\.[0-9]*): (\S+)\s*(.*)")
Event = collections.namedtuple("Event", "cpu time name args")


def events(path):
    """The events of a file; a line that is none ends the program."""
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            match = PATTERN.match(line)
            if not match:
                sys.exit(f"{path}:{number}: no event: {line.rstrip()}")
            cpu, time, name, args = match.groups()
            yield Event(int(cpu), float(time), name, args)


def whole(path):
    """Check the events of one CPU, and return how many there are."""
    before = None
    count = 0
    for event in events(path):
        if event.name not in ("hyp_enter", "hyp_exit"):
            sys.exit(f"{path}: neither hyp_enter nor hyp_exit: {event}")
        if before and (event.time < before.time or event.name == before.name or
                       event.cpu != before.cpu):
            sys.exit(f"{path}: {event} after {before}")
        if not re.fullmatch(r"reason=[a-z]+", event.args):
            sys.exit(f"{path}: no reason: {event}")
        before = event
        count += 1
    return count


def lines(path, names):
    """Check that each line is an event, and that each of the names is there."""
    found = {event.name for event in events(path)}
    if missing := set(names) - found:
        sys.exit(f"{path}: {sorted(found)}, but not {sorted(missing)}")


def main():
    """Do what the arguments say."""
    what, *args = sys.argv[1:]
    if what == "whole":
        counts = [whole(path) for path in args]
        print(counts)
        if not all(counts):
            sys.exit("a CPU without events")
    else:
        lines(args[0], args[1:])


main()
