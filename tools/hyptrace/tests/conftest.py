# SPDX-License-Identifier: GPL-2.0
"""What the tests share: their sets, the kernels and machines that they boot, and the count.

A test counts as many checks as it makes; one that makes none counts as one. Each pytest leaves
its results in build/results/checks.jsonl, of which check.py makes the last line and junit.xml.
"""

import pytest

from hyptrace import check, kernel as kernels, ktap, machine, process, tree as trees, vm as vms
from hyptrace.machine import Failure, number, option

LIMIT = 1500    # seconds that a test may take, or four times what its marker says
BUILDING = 350  # seconds that a kernel takes, with an empty ccache
CHECKS = pytest.StashKey()


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


class Machines:
    """Virtual machines for a test."""

    def __init__(self, build, config, checks):
        self.build, self.config, self.checks = build, config, checks

    def __call__(self, script, config=None, image=None, **how):
        config = config or self.config
        if not image:
            self.build(config)
        result = vms.boot(script, config=config, image=image, **how)
        if result.errors:
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
        self.report(form, result)
        return result

    def report(self, form, result):
        """The checks of a run of script_of()."""
        self.checks.add(ktap.read(result.output, form))
        self.checks(f"{form}: the machine ends well", result.status == 0, result.errors)


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
    for name, text in check.SETS.items():
        config.addinivalue_line("markers", f"{name}: {text}")
    for text in ("seconds(n): what it takes on two CPUs where a boot takes 3.5 s",
                 "host: it needs no kernel, and may run beside others",
                 "alone: it boots no kernel, and needs the machine",
                 "boots(config): the kernel that it boots"):
        config.addinivalue_line("markers", text)
    machine.prepare()
    if not hasattr(config, "workerinput"):
        process.end_on_signals()


def booted(item):
    """The configuration of the kernel that a test boots; None if there is none."""
    if marker := item.get_closest_marker("boots"):
        return marker.args[0]
    if item.get_closest_marker("host") or item.get_closest_marker("alone"):
        return None
    return getattr(item, "callspec", None) and item.callspec.params.get("config") or "default"


def name_of(item):
    """The name that TESTS takes: the module's noun, the function's if it is another, and the
    parameters."""
    noun, function = item.path.stem.removeprefix("test_"), item.function.__name__
    parts = [noun, function.removeprefix("test_"), *item.name.partition("[")[2][:-1].split("-")]
    return ".".join(part for n, part in enumerate(parts) if part and part not in parts[:n])


def seconds_of(item):
    """What a test takes where the markers were measured."""
    marker = item.get_closest_marker("seconds")
    return marker.args[0] if marker else 1


def sets_of(item):
    """The sets that it is in."""
    return [name for name in check.SETS if item.get_closest_marker(name)]


def described(item):
    """The test, as the choice needs it."""
    return check.Test(name_of(item), sets_of(item), seconds_of(item), booted(item),
                      bool(item.get_closest_marker("host")), item)


def pytest_collection_modifyitems(config, items):
    """Choose what was asked for."""
    try:
        chosen = check.choose([described(item) for item in items])
    except Failure as failure:
        raise pytest.UsageError(str(failure)) from failure
    kept = [test.item for test in chosen]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
    if option("LIST") == "names":
        items[:] = []
    elif option("LIST"):
        last = check.last_times()
        for test in chosen:
            print(f"{last.get(test.item.nodeid, '-'):>6} {test.seconds:>6}  "
                  f"{','.join(test.sets):<16} {test.name}")
        print(f"{'':>6} {sum(test.seconds for test in chosen):>6}  seconds in all")
        items[:] = []


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test fails if one of its checks does; what it made is kept with its report."""
    outcome = yield
    report = outcome.get_result()
    if call.when != "call":
        return
    made = item.stash.get(CHECKS, None)
    left = check.seconds_left()
    if report.failed and left is not None and left < 2:
        report.outcome, report.longrepr = "skipped", (item.nodeid, 0, "the time limit is reached")
    results = list(made.results) if made else []
    if report.failed or not results:
        text = "" if report.passed else str(report.longrepr)[-4000:]
        results.append(ktap.Check("the test ends" if made and made.results else item.name,
                                  not report.failed, text, report.skipped))
    if report.passed and not all(each.passed for each in results):
        report.outcome = "failed"
        report.longrepr = "\n".join(f"not ok - {each.name}" for each in results if not each.passed)
    report.hyptrace = [list(each) for each in results]


class Recorder:    # pylint: disable=too-few-public-methods
    """Writes what each test made to build/results."""

    def pytest_runtest_logreport(self, report):
        """At the end of each."""
        results = getattr(report, "hyptrace", None)
        if report.when == "setup" and not report.passed:
            text = str(report.longrepr[2] if report.skipped else report.longrepr)[-4000:]
            results = [["it can be set up", not report.failed, text, report.skipped]]
        elif report.when == "teardown" and report.failed:
            results = [["it ends well", False, str(report.longrepr)[-4000:], False]]
        if results is not None:
            check.record(report.nodeid, results, report.duration, report.capstdout)


def pytest_sessionstart(session):
    """Only the session that has all reports writes them."""
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Recorder())


def pytest_runtest_setup(item):
    """A test that would not end before the time is over is not begun; one that does not is
    ended."""
    config = booted(item)
    builds = config and not kernels.image(config).exists()
    expected = max(check.last_times().get(item.nodeid, 0) * 1.25,
                   machine.scaled(seconds_of(item) + (BUILDING if builds else 0)))
    limit = machine.scaled(number("TEST_TIMEOUT") or max(LIMIT, 4 * seconds_of(item)))
    left = check.seconds_left()
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
    made, last = {}, {}

    def build(config="default", **how):
        key = config, str(how)
        if not how:
            key = last.get(config, key)
        if key not in made:
            made[key] = None
            trees.make()
            made[key] = kernels.build(config, **how)
            last[config] = key
            check.calibrate()
        if made[key] is None:
            pytest.fail(f"the {config} kernel could not be built")
        return made[key]
    return build


@pytest.fixture(name="vm")
def _vm(kernel, checks, request):    # pylint: disable=redefined-outer-name
    """Boots virtual machines, with the kernel of the test if nothing else is said."""
    config = booted(request.node) or "default"
    kernel(config)
    return Machines(kernel, config, checks)


@pytest.fixture(name="selftest", scope="session")
def _selftest(kernel):    # pylint: disable=redefined-outer-name
    """Builds kselftests, once a session."""
    made = {}

    def build(suite="hyp-trace", config="default", tree=None):
        key = suite, config, str(tree)
        if key not in made:
            if not tree:
                kernel(config)
            made[key] = kernels.selftest(suite, config, tree)
        return made[key]
    return build
