#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What tools/hyptrace/check runs; its variables are explained there."""

import concurrent.futures
import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import session
import tap
import tests

REFERENCE_BOOT = 3.5   # seconds that a boot takes where the list's seconds were measured
BOOT_SCALE = 500       # percent that its limits are multiplied by, before the speed is known
KERNEL_LATE = 1.25     # a build or a boot may take so much longer than last time
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP

env = os.environ
root, build, tools = env["ROOT"], env["BUILD"], env["TOOLS"]
results_dir = f"{build}/results"
times_file = f"{build}/.check-times"
printing = threading.Lock()


def number(name):
    """A variable that is a number or empty."""
    value = env.get(name, "")
    if value and not value.isdigit():
        raise SystemExit(f"check: {name} is not a number: {value}")
    return int(value) if value else None


begun = time.monotonic() - max(0, time.time() - (number("BEGUN") or time.time()))


def say(text):
    """A line of ours, at once."""
    print(text, flush=True)


class Times:
    """How long each test took when it last ended, in this build directory."""

    def __init__(self):
        self.last = {}
        if os.path.exists(times_file):
            with open(times_file, encoding="utf-8") as lines:
                self.last = {name: int(seconds) for name, seconds in map(str.split, lines)}

    def note(self, name, seconds):
        """Keep it, for the next run."""
        self.last[name] = seconds
        with open(times_file + ".new", "w", encoding="utf-8") as out:
            out.writelines(f"{name} {seconds}\n" for name, seconds in sorted(self.last.items()))
        os.replace(times_file + ".new", times_file)


class Run:
    """One run of the tests that were chosen."""

    def __init__(self, chosen):
        self.chosen = chosen
        self.times = Times()
        self.scale = number("SCALE") or 100
        self.boots_left = 0 if "SCALE" in env else 2    # attempts to calibrate
        self.limit = number("TIME_LIMIT")
        self.test_limit = number("TEST_TIMEOUT")
        self.results = []
        self.not_begun = []
        self.broken = {}     # kernels that could not be built

    def left(self):
        """Seconds to the end of all."""
        return self.limit - (time.monotonic() - begun) if self.limit is not None else None

    def most(self, test):
        """Seconds that a test may take before it counts as hanging."""
        return (self.test_limit or max(1500, 4 * test.seconds)) * self.scale / 100

    def expected(self, test):
        """Seconds that it will take: here, or where the list was made."""
        last = self.times.last.get(test.name, 0)
        return max(last * KERNEL_LATE, test.seconds * self.scale / 100)

    def why_not(self, test):
        """A reason not to begin a test."""
        if test.kernel in self.broken:
            return f"it needs the {test.kernel} kernel, {self.broken[test.kernel]}"
        left = self.left()
        if left is None or (left > 0 and self.expected(test) <= left):
            return None
        return (f"it would take about {self.expected(test):.0f} s, and of the time limit "
                f"{max(left, 0):.0f} s are left")

    def calibrate(self):
        """Boot the default kernel and set the scale: how much slower this machine is than the
        one of the list. Does nothing without a kernel, or once a boot has succeeded."""
        image = f"{build}/kernel-default/arch/arm64/boot/Image"
        left = self.left()
        if left is not None and left <= 0:
            return
        if not self.boots_left or not all(map(os.path.exists, (image, f"{build}/rootfs.cpio"))):
            return
        self.boots_left -= 1
        script = f"{results_dir}/.boot"
        with open(script, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\n")
        start = time.monotonic()
        limit = 120 if left is None else min(120, max(1, int(left * 100 / BOOT_SCALE)))
        status = subprocess.run([f"{tools}/vm", f"SCRIPT={script}", f"TIMEOUT={limit}"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env=env | {"SCALE": str(BOOT_SCALE)}, check=False).returncode
        seconds = time.monotonic() - start
        if status == 0:
            self.boots_left = 0
            self.scale = max(100, min(1000, int(seconds / REFERENCE_BOOT * 100)))
        say(f"# a boot takes {seconds:.1f} s{'' if status == 0 else ' and fails'}: "
            f"time limits are multiplied by {self.scale / 100:.2f}")

    def command_env(self):
        """What is meant for this script is not for the tests."""
        mine = ("SET", "TESTS", "LIST", "TIME_LIMIT", "TEST_TIMEOUT", "ROTATE", "BEGUN", "ROOT",
                "BUILD", "TOOLS")
        return {k: v for k, v in env.items() if k not in mine} | {"SCALE": str(self.scale)}

    def run_test(self, test, streamed):
        """Run one, and count what it says. Its output is shown as it comes, or at its end."""
        left = self.left()
        late = left is not None and left < self.most(test)
        if streamed:
            say(f"# {test.command}")
        path = f"{results_dir}/{test.name}.tap"
        show = (lambda line: (sys.stdout.write(line), sys.stdout.flush())) if streamed \
            else (lambda line: None)
        start = time.monotonic()
        status = session.Session(test.command, root, self.command_env(), path, show).wait(
            max(left, 0.1) if late else self.most(test))
        seconds = round(time.monotonic() - start)
        with open(path, encoding="utf-8", errors="replace") as text:
            said = text.read()
        result = tap.read(test.name, said, status if late or status is not None else 124)
        result.seconds = seconds
        with printing:
            say((f"# {test.command}\n{said}" if not streamed else "") + f"# {seconds} s")
            self.add(test, result, status is None and late)

    def add(self, test, result, is_late):
        """Keep a result. One that the limit has ended has no time, and is skipped."""
        self.results.append(result)
        if is_late:
            result.skips.append("not ended: the time limit is reached")
        elif not result.failed:
            self.times.note(test.name, result.seconds)
        if test.builds and (result.failed or is_late):
            self.broken[test.builds] = "which could not be built"

    def run_group(self, group):
        """Tests that run at the same time, as many as there are CPUs."""
        jobs = len(os.sched_getaffinity(0)) if len(group) > 1 else 1
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for each in [pool.submit(self.begin, test, len(group) == 1)
                         for test in sorted(group, key=self.expected, reverse=True)]:
                each.result()
        session.end(os.getpid())    # what has left its session

    def begin(self, test, streamed):
        """Run a test, or say why not."""
        why = self.why_not(test)
        if why:
            self.not_begun.append((test.name, f"not begun: {why}"))
            if test.builds:
                self.broken[test.builds] = "which was not built"
        else:
            self.run_test(test, streamed)

    def run_all(self):
        """Group by group."""
        if any(test.kernel for test in self.chosen):
            self.calibrate()
        for beside, group in itertools.groupby(self.chosen, lambda t: t.kind == tests.BESIDE):
            group = list(group)
            for part in [group] if beside else [[test] for test in group]:
                if part[0].kernel:
                    self.calibrate()
                self.run_group(part)

    def finish(self):
        """The last lines, and the files. True: all is well."""
        tap.junit(self.results, self.not_begun).write(
            f"{results_dir}/junit.xml", encoding="utf-8", xml_declaration=True)
        for name, why in self.not_begun:
            say(f"# skipped: {name}: {why}")
        for result in self.results:
            for why in result.skips:
                say(f"# skipped: {result.name}: {why}")
        for result in self.results:
            for what, comments in result.failures:
                say(f"# failed: {result.name}: {what}")
                for line in comments:
                    say(f"# failed:   {line}")
        passed = sum(result.passed for result in self.results)
        failed = sum(result.failed for result in self.results)
        say(f"# {(time.monotonic() - begun) / 60:.1f} minutes; TAP and JUnit: build/results")
        say(f"{passed} passed, {failed} failed")
        return passed and not failed


def show_list(chosen):
    """LIST=1: the tests, and how long each takes."""
    last = Times().last
    say(f"{'last':>6} {'about':>6}  {'sets':<16} test")
    for test in chosen:
        say(f"{last.get(test.name, '-'):>6} {test.seconds:>6}  {','.join(test.sets):<16} {test.name}")
    say(f"{'':>6} {sum(test.seconds for test in chosen):>6}  seconds in all")


def interrupted(number_of, _frame):
    """End everything that was begun, and go."""
    for each in SIGNALS:
        signal.signal(each, lambda *_: None)
    session.beginning.acquire()    # for good: what waits to be begun is not
    session.end(os.getpid())
    say("# interrupted: all that was begun is ended")
    os._exit(128 + number_of)


def main():
    """The tests that are asked for."""
    every = tests.read(f"{tools}/tests")
    wanted = env.get("TESTS", "").split()
    sets = env.get("SET", "").replace(",", " ").split()
    chosen = tests.choose(every, sets, wanted, number("ROTATE") or 0)
    if env.get("LIST"):
        show_list(chosen if sets or wanted else every)
        return 0
    session.adopt_orphans()
    for each in SIGNALS:
        signal.signal(each, interrupted)
    shutil.rmtree(results_dir, ignore_errors=True)
    os.makedirs(results_dir)
    run = Run(chosen)
    run.run_all()
    return 0 if run.finish() else 1


sys.exit(main())
