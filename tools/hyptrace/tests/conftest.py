# SPDX-License-Identifier: GPL-2.0
"""What the tests share: their sets, the kernels and machines that they boot, and the count.

A test counts as many checks as it makes; one that makes none counts as one. Each pytest leaves
its results in build/results/checks.jsonl, of which check.py makes the last line and junit.xml.
"""

import functools
import os

import pytest

from hyptrace import check, kernel as kernels, ktap, machine, process, tree as trees, vm as vms
from hyptrace.machine import Failure, number, option

LIMIT = 1500    # seconds that a test may take, or four times what its marker says
BUILDING = 350  # seconds that a kernel takes, with an empty ccache
CHECKS, TEST = pytest.StashKey(), pytest.StashKey()
# The last check of each phase of a test
ENDS = {"setup": "it can be set up", "call": "the test ends", "teardown": "it ends well"}


class Checks:
    """The checks of one test. They go on after one that fails."""

    def __init__(self):
        self.results = []

    def __call__(self, name, passed, comment=""):
        self.add([ktap.Check(name, bool(passed), str(comment))])
        return bool(passed)

    def equals(self, name, found, expected):
        """The one is the other."""
        return self(name, found == expected, f"found {found!r}, not {expected!r}")

    def skip(self, name, why):
        """A check that can't be made here."""
        self.add([ktap.Check(name, True, str(why), True)])

    def add(self, results):
        """Results of checks that were made elsewhere."""
        for each in results:
            self.results.append(each)
            print(f"{'ok' if each.passed else 'not ok'} - {each.name}"
                  + ("\n" + each.comment if not each.passed else ""))


    def ran(self, form, result):
        """The checks of a run of script_of()."""
        self.add(ktap.read(result.output, form))
        self(f"{form}: the machine ends well", result.status == 0, result.errors)


class Machines:
    """Virtual machines for a test."""

    def __init__(self, build, config, checks):
        self.build, self.config, self.checks = build, config, checks

    def __call__(self, script, config=None, image=None, **how):
        config = config or self.config
        if not image:
            self.build(config)
        result = vms.boot(script, config=config, image=image, **how)
        print(result.errors)
        return result

    def ok(self, name, script, **how):
        """One check: the script succeeds."""
        result = self(script, **how)
        self.checks(name, result.status == 0, result.output[-4000:] + result.errors)
        return result

    def dies(self, script, **how):
        """The machine dies before the script ends."""
        result = self(script, **how)
        assert result.status == vms.DIED, f"exit status {result.status}\n{result.output}"
        return result

    def tests(self, form, lines, setup="", **how):
        """Each of the lines is a program and its arguments, which prints KTAP; its checks become
        the test's."""
        result = self(script_of(lines, setup), **how)
        self.checks.ran(form, result)
        return result


def script_of(lines, setup=""):
    """A script that runs programs that print KTAP, each between lines that ktap.read() needs."""
    return """#!/bin/sh
run() {
	echo "# test ${1##*/}"
	begin=$(cut -d . -f 1 /proc/uptime)
	"$@" </dev/null
	status=$?
	echo "# ${1##*/} took $(($(cut -d . -f 1 /proc/uptime) - begin)) s"
	echo "# status $status"
}
""" + setup + "\n" + "".join(f"run {line}\n" for line in lines)


def pytest_configure(config):
    """The markers."""
    for text in (*map(": ".join, check.SETS.items()),
                 "seconds(n): what it takes on two CPUs where a boot takes 3.5 s",
                 "host: it needs no kernel, and may run beside others",
                 "alone: it boots no kernel, and needs the machine",
                 "boots(config): the kernel that it boots"):
        config.addinivalue_line("markers", text)
    machine.prepare()
    if not hasattr(config, "workerinput"):
        process.end_on_signals()


def _booted(item):
    """The configuration of the kernel that a test boots; None if there is none."""
    if marker := item.get_closest_marker("boots"):
        return marker.args[0]
    if item.get_closest_marker("host") or item.get_closest_marker("alone"):
        return None
    return getattr(item, "callspec", None) and item.callspec.params.get("config") or "default"


def _described(item):
    """The test, as the choice needs it. The name that TESTS takes is the module's noun, the
    function's if it is another, and the parameters."""
    parts = [item.path.stem.removeprefix("test_"), item.function.__name__.removeprefix("test_"),
             *item.name.partition("[")[2][:-1].split("-")]
    name = ".".join(part for n, part in enumerate(parts) if part and part not in parts[:n])
    seconds = item.get_closest_marker("seconds")
    return check.Test(name, [each for each in check.SETS if item.get_closest_marker(each)],
                      seconds.args[0] if seconds else 1, _booted(item),
                      bool(item.get_closest_marker("host")), item)


def pytest_collection_modifyitems(config, items):
    """Choose what was asked for."""
    try:
        chosen = check.choose([_described(item) for item in items])
    except Failure as failure:
        raise pytest.UsageError(str(failure)) from failure
    for test in chosen:
        test.item.stash[TEST] = test
    config.hook.pytest_deselected(items=[item for item in items if TEST not in item.stash])
    items[:] = [] if option("LIST") else [test.item for test in chosen]
    if option("LIST") not in ("", "names"):
        last = check.last_times()
        for test in chosen:
            print(f"{last.get(test.item.nodeid, '-'):>6} {test.seconds:>6}  "
                  f"{','.join(test.sets):<16} {test.name}")
        print(f"{'':>6} {sum(test.seconds for test in chosen):>6}  seconds in all")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test fails if one of its checks does; what it made is kept with its report."""
    report, left = (yield).get_result(), check.seconds_left()
    results, name = [], ENDS[call.when]
    if call.when == "call":
        if report.failed and left is not None and left < 2:
            report.outcome = "skipped"
            report.longrepr = item.nodeid, 0, "the time limit is reached"
        if CHECKS in item.stash:
            results = item.stash[CHECKS].results
        name = name if results else item.name
    if not report.passed or call.when == "call" and not results:
        text = str(report.longrepr[2] if report.skipped else report.longrepr or "")[-4000:]
        results.append(ktap.Check(name, not report.failed, text, report.skipped))
    if wrong := [f"not ok - {each.name}" for each in results if not each.passed]:
        report.outcome, report.longrepr = "failed", report.longrepr or "\n".join(wrong)
    report.hyptrace = [list(each) for each in results]


def pytest_runtest_logreport(report):
    """Write what each test made to build/results. Only the session that has all reports does."""
    lost = [["the test ends", False, str(report.longrepr), False]]
    results = getattr(report, "hyptrace", lost)
    if results and "PYTEST_XDIST_WORKER" not in os.environ:
        check.record(report.nodeid, results, report.duration, report.capstdout)


def pytest_runtest_setup(item):
    """A test that would not end before the time is over is not begun; one that does not is
    ended."""
    test, left = item.stash[TEST], check.seconds_left()
    builds = test.boots and not kernels.image(test.boots).exists()
    expected = max(check.last_times().get(item.nodeid, 0) * 1.25,
                   machine.scaled(test.seconds + (BUILDING if builds else 0)))
    limit = machine.scaled(number("TEST_TIMEOUT") or max(LIMIT, 4 * test.seconds))
    if left is not None:
        if expected > left:
            pytest.skip(f"it would take about {expected:.0f} s; {max(left, 0):.0f} s are left")
        limit = min(limit, left)
    item.add_marker(pytest.mark.timeout(limit, func_only=True), append=False)


@pytest.fixture(name="checks")
def _checks(request):
    """Counts the checks of a test."""
    request.node.stash[CHECKS] = Checks()
    return request.node.stash[CHECKS]


@pytest.fixture(name="kernel", scope="session")
def _kernel():
    """Builds a kernel, once a session. The default one shows how fast the machine is. One that was
    built in some way is there for who asks for its configuration alone."""
    made = {}

    def build(config="default", **how):
        if config not in made or how and made[config][0] != how:
            made[config] = how, None
            trees.make()
            made[config] = how, kernels.build(config, **how)
            check.calibrate()
        if made[config][1] is None:
            pytest.fail(f"the {config} kernel could not be built")
        return made[config][1]
    return build


@pytest.fixture(name="vm")
def _vm(kernel, checks, request):    # pylint: disable=redefined-outer-name
    """Boots virtual machines, with the kernel of the test if nothing else is said."""
    config = request.node.stash[TEST].boots or "default"
    kernel(config)
    return Machines(kernel, config, checks)


@pytest.fixture(name="selftest", scope="session")
def _selftest(kernel):    # pylint: disable=redefined-outer-name
    """Builds kselftests, once a session."""
    @functools.cache
    def build(suite="hyp-trace", config="default", tree=None):
        if not tree:
            kernel(config)
        return kernels.selftest(suite, config, tree)
    return build
