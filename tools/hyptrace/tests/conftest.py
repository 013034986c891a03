# SPDX-License-Identifier: GPL-2.0
"""What the tests share: their sets, the kernels and machines that they boot, and the count: a test
counts as many checks as it makes, or as one."""

import fnmatch
import functools
import os

import pytest

from hyptrace import check, kernel as kernels, machine, process, results, tree as trees, vm as vms
from hyptrace.machine import BUILD, number, option

LIMIT = 1500    # seconds that a test may take, or four times what its marker says
BUILDING = 350  # seconds that a kernel takes, with an empty ccache
CHECKS = pytest.StashKey()


class Checks:
    """The checks of one test. They go on after one that fails."""

    def __init__(self):
        self.results = []

    def __call__(self, name, passed, comment=""):
        self.add([results.Check(name, bool(passed), str(comment))])
        return bool(passed)

    def equals(self, name, found, expected):
        return self(name, found == expected, f"found {found!r}, not {expected!r}")

    def skip(self, name, why):
        """A check that can't be made here."""
        self.add([results.Check(name, True, str(why), True)])

    def add(self, results):
        """Results of checks that were made elsewhere."""
        self.results += results
        for each in results:
            print(f"ok - {each.name}" if each.passed else f"not ok - {each.name}\n{each.comment}")

    def program(self, title, name, done):
        """The checks of a program that ran on this machine."""
        self.add(results.read(f"# test {name}\n{done.stdout}\n# status {done.returncode}", title))

    def ran(self, title, result):
        """The checks of a run of script_of()."""
        self.add(results.read(result.output, title))
        self(f"{title}: the machine ends well", result.status == 0, result.errors)


class Machines:
    """Virtual machines for a test."""

    def __init__(self, build, config, checks):
        self.build, self.config, self.checks = build, config, checks

    def __call__(self, script, config=None, image=None, **how):
        if not image:
            self.build(config or self.config)
        result = vms.boot(script, config=config or self.config, image=image, **how)
        print(result.errors)
        return result

    def ok(self, name, script, **how):
        result = self(script, **how)
        self.checks(name, result.status == 0, result.output[-4000:] + result.errors)
        return result

    def dies(self, script, **how):
        result = self(script, **how)
        assert result.status == vms.DIED, f"exit status {result.status}\n{result.output}"
        return result

    def tests(self, title, lines, setup="", **how):
        """Each of the lines is a command that prints KTAP; its checks become the test's."""
        result = self(script_of(lines, setup), **how)
        self.checks.ran(title, result)
        return result


def rows(table):
    """The parameters of a table, whose lines have a set, seconds, and values; - is an empty one."""
    for name, seconds, *values in map(str.split, table.strip().splitlines()):
        yield pytest.param(*(value.strip("-") for value in values), marks=[
            getattr(pytest.mark, name), pytest.mark.seconds(int(seconds))])


def script_of(lines, setup=""):
    """A script that runs commands that print KTAP, each between lines that results.read() needs."""
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


def _marked(item, name, default):
    marker = item.get_closest_marker(name)
    return marker.args[0] if marker else default


def _booted(item):
    """The configuration of the kernel that a test boots; None if there is none."""
    if item.get_closest_marker("host") or item.get_closest_marker("alone"):
        return None
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return _marked(item, "boots", params.get("config") or "default")


def _name(item):
    """The name that TESTS takes: the module's noun, the function's, and the parameters."""
    parts = [item.path.stem.removeprefix("test_"), item.function.__name__.removeprefix("test_"),
             *item.name.partition("[")[2][:-1].split("-")]
    return ".".join(part for n, part in enumerate(parts) if part and part not in parts[:n])


def _of_sets(items):
    """The tests of the sets, one set after another; each but the fast one begins elsewhere."""
    names = option("SET").replace(",", " ").split() or (
        list(check.SETS) if option("TESTS") else ["fast"])
    if "all" in names:
        names = [name for name in check.SETS if name not in check.NOT_IN_ALL]
    chosen = []
    for name in names:
        if name not in check.SETS:
            raise pytest.UsageError(f"no set {name}: there are {' '.join(check.SETS)} all")
        some = [each for each in items if each.get_closest_marker(name) and each not in chosen]
        turns = number("ROTATE", 0) % (len(some) or 1) if name != "fast" else 0
        chosen += some[turns:] + some[:turns]
    return chosen


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Choose what was asked for: first the tests that boot nothing, then those of each kernel."""
    chosen, patterns = _of_sets(items), option("TESTS").split()
    found = {pattern: [item for item in chosen if fnmatch.fnmatchcase(_name(item), pattern)
                       or _name(item).startswith(f"{pattern}.")] for pattern in patterns}
    for pattern in patterns:
        if not found[pattern]:
            raise pytest.UsageError(f"no test {pattern}: make check LIST=1 lists them")
    if patterns:
        chosen = [item for item in chosen if any(item in some for some in found.values())]
    kernels_used = list(dict.fromkeys([None, "default", *map(_booted, chosen)]))
    chosen.sort(key=lambda item: kernels_used.index(_booted(item)))
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [] if option("LIST") else chosen
    for item in chosen if option("LIST") == "1" else []:
        sets = ",".join(name for name in check.SETS if item.get_closest_marker(name))
        print(f"{_marked(item, 'seconds', 1):>6}  {sets:<16} {_name(item)}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test fails if one of its checks does; what it made is kept with its report."""
    report, left, made = (yield).get_result(), check.seconds_left(), []
    if call.when == "call":
        if report.failed and left is not None and left < 2:
            report.outcome = "skipped"
            report.longrepr = item.nodeid, 0, "the time limit is reached"
        if CHECKS in item.stash:
            made = item.stash[CHECKS].results
    if not report.passed or call.when == "call" and not made:
        text = str(report.longrepr[2] if report.skipped else report.longrepr or "")[-4000:]
        name = f"{item.name}, {call.when}"
        made.append(results.Check(name, not report.failed, text, report.skipped))
    if wrong := [f"not ok - {each.name}" for each in made if not each.passed]:
        report.outcome, report.longrepr = "failed", report.longrepr or "\n".join(wrong)
    report.hyptrace = [list(each) for each in made]


def pytest_runtest_logreport(report):
    """Write what each test made to build/results. Only the session that has all reports does, and
    none that a test runs."""
    lost = [["the test ends", False, str(report.longrepr), False]]
    if not {"PYTEST_XDIST_WORKER", "OF_TEST"} & os.environ.keys():
        check.record(report.nodeid, getattr(report, "hyptrace", lost), report.capstdout)


def pytest_runtest_setup(item):
    """A test that would not end before the time is over is not begun; one that does not ends."""
    seconds, boots, left = _marked(item, "seconds", 1), _booted(item), check.seconds_left()
    builds = boots and not kernels.image(boots).exists()
    expected = machine.scaled(seconds + (BUILDING if builds else 0))
    limit = machine.scaled(max(LIMIT, 4 * seconds))
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
    """Builds a kernel, once a session: build(CONFIG) takes one that was built in some way."""
    made = {}

    def build(config="default", **how):
        if config not in made or how and made[config] != how:
            trees.make()
            kernels.build(config, **how)
            made[config] = how
            check.calibrate()
        return BUILD / f"kernel-{config}"
    return build


@pytest.fixture(name="vm")
def _vm(kernel, checks, request):    # pylint: disable=redefined-outer-name
    """Boots virtual machines, with the kernel of the test if nothing else is said."""
    config = _booted(request.node) or "default"
    kernel(config)
    return Machines(kernel, config, checks)


@pytest.fixture(name="selftest", scope="session")
def _selftest(kernel):    # pylint: disable=redefined-outer-name
    """Builds kselftests, once a session."""
    @functools.cache
    def build(suite="hyp-trace", config="default"):
        kernel(config)
        return kernels.selftest(suite, config)
    return build
