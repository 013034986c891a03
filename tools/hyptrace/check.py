# SPDX-License-Identifier: GPL-2.0
"""`make check`: run pytest on the tests that are asked for, first those that may run beside others;
count the checks that they made, and end with the line `N passed, N failed`.

SET="fast .."     these sets, one after another
TESTS="boot .."   these tests: names, beginnings of names up to a dot, or patterns
LIST=1            list them, with how long each took last time
TEST_TIMEOUT=s    the most that one test may take (1500, or four times what it takes)
TIME_LIMIT=s      the most that all may take, from BEGUN (`date +%s`) on: a test that would not end
                  before is not begun, one that does not is ended; both are skipped
ROTATE=n          begin each set but the fast one at its n-th test

A boot shows how fast the machine is: all limits but TIME_LIMIT are scaled by that (SCALE=percent).
"""

import fnmatch
import json
import os
import shutil
import subprocess
import time
import xml.etree.ElementTree as xml
from typing import NamedTuple

from hyptrace import kernel, process, tree, vm
from hyptrace.machine import BUILD, ROOT, TOOLS, Failure, need, number, option

SETS = {
    "fast": "user-space tests, KUnit, the whole kselftest in pKVM with VHE and in nVHE without, "
            "its concurrency on four CPUs, the clients, the series: what a change needs",
    "debug": "the debug kernel: KASAN, lockdep, fault injection, a soak",
    "pages": "kernels with pages of 16k and 64k",
    "kcsan": "a kernel that looks for data races",
    "clients": "trace-cmd of each release, Perfetto, KVM's selftests, Linux as a guest",
    "modes": "more modes of KVM and CPUs, clocks, CPU hotplug, kexec, a PMU",
    "series": "each patch builds; all sources that apt offers",
    "topics": "perf kvm stat, faultable tracepoints, call chains of guests",
    "variants": "options off, clang, 32-bit Arm, RISC-V, preemption and RT",
    "x86": "a kernel for x86-64, with SVM: faultable tracepoints, call chains, perf kvm stat",
    "mutants": "mistakes of one line in the product, each of which a test finds",
    "fresh": "`make run' in minimal chroots of Debian 12 and 13; needs root or sudo",
    "deb": "the packages of `make deb' on a Debian machine; needs root or sudo, takes hours",
}
NOT_IN_ALL = "mutants", "fresh", "deb"    # they change the tree, need root or take hours
RESULTS = BUILD / "results"
TIMES = BUILD / ".check-times.json"
REFERENCE_BOOT = 3.5    # seconds that a boot takes where the markers' seconds were measured
BOOT_SCALE = 500        # percent that its limits are multiplied by, before the speed is known


class Test(NamedTuple):
    """A test, as the choice needs it."""
    name: str
    sets: list
    seconds: int
    boots: str    # None if it boots no kernel
    is_host: bool
    item: object

    def is_called(self, pattern):
        """NAME, the beginning of a name up to a dot, or a pattern."""
        return fnmatch.fnmatchcase(self.name, pattern) or self.name.startswith(pattern + ".")


def _of_sets(tests):
    """The tests of the sets, one set after another; each but the fast one begins elsewhere."""
    names = option("SET").replace(",", " ").split()
    names = names or (list(SETS) if option("TESTS") else ["fast"])
    if "all" in names:
        names = [name for name in SETS if name not in NOT_IN_ALL]
    chosen = []
    for name in names:
        if name not in SETS:
            raise Failure(f"check: no set {name}: there are {' '.join(SETS)} all")
        some = [test for test in tests if name in test.sets and test not in chosen]
        turns = number("ROTATE", 0) % (len(some) or 1) if name != "fast" else 0
        chosen += some[turns:] + some[:turns]
    return chosen


def choose(tests):
    """The tests that the variables ask for: those that run beside others, then those that boot
    nothing, then those of each kernel."""
    chosen = _of_sets(tests)
    patterns = option("TESTS").split()
    for pattern in patterns:
        if not any(test.is_called(pattern) for test in chosen):
            raise Failure(f"check: no test {pattern}: make check LIST=1 lists them")
    if patterns:
        chosen = [test for test in chosen if any(map(test.is_called, patterns))]
    kernels = list(dict.fromkeys([None, "default"] + [test.boots for test in chosen]))
    chosen.sort(key=lambda test: (not test.is_host, kernels.index(test.boots)))
    part = option("PART")
    return [test for test in chosen if not part or test.is_host == (part == "host")]


def seconds_left():
    """To the end of all; None if there is no limit."""
    limit = number("TIME_LIMIT")
    return limit and limit - (time.time() - number("BEGUN", 0))


def last_times():
    """How long each test took when it last ended, in this build directory."""
    return json.loads(TIMES.read_text(encoding="utf-8")) if TIMES.exists() else {}


def calibrate():
    """Boot the default kernel and set the scale: how much slower this machine is than the one of
    the markers. Once a boot has succeeded, or has failed twice, nothing is done."""
    left = seconds_left()
    if "SCALE" in os.environ or not kernel.image().exists() or (left is not None and left <= 0):
        return
    os.environ["SCALE"], scale = str(BOOT_SCALE), BOOT_SCALE
    for _ in range(2):
        begin = time.monotonic()
        failed = vm.boot(":", timeout=120).status
        took = time.monotonic() - begin
        if not failed:
            scale = max(100, min(1000, int(took / REFERENCE_BOOT * 100)))
            break
    os.environ["SCALE"] = str(scale)
    print(f"# a boot takes {took:.1f} s{' and fails' if failed else ''}: time limits are "
          f"multiplied by {scale / 100:.2f}", flush=True)


def record(test, checks, seconds, said):
    """Keep what a test made: its checks, and what it said in a file of its own."""
    name = "".join(c if c.isalnum() or c in "._-" else "-" for c in test.rpartition("/")[2])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name[:200]}.log").write_text(said, encoding="utf-8")
    with open(RESULTS / "checks.jsonl", "a", encoding="utf-8") as out:
        out.write(json.dumps({"test": test, "checks": checks, "seconds": seconds}) + "\n")
    if all(passed and not skipped for _, passed, _, skipped in checks):
        new = TIMES.with_suffix(".new")
        new.write_text(json.dumps(last_times() | {test: round(seconds)}), encoding="utf-8")
        new.rename(TIMES)


def _recorded():
    """The checks of the tests, each with the name of its test."""
    path = RESULTS / "checks.jsonl"
    tests = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [(test["test"], *each) for test in map(json.loads, tests) for each in test["checks"]]


def _finish(begin, statuses):
    """The last lines, and the same as JUnit's XML, a case for each check. True: all is well."""
    suite, passed, failed = xml.Element("testsuite", name="hyptrace"), 0, 0
    for test, name, good, comment, skipped in _recorded():
        case = xml.SubElement(suite, "testcase", classname=test, name=name)
        passed, failed = passed + (good and not skipped), failed + (not good)
        if skipped or not good:
            print(f"# {'skipped' if skipped else 'failed'}: {test}: {name}")
            for line in comment.splitlines()[-30:]:
                print(f"#   {line}")
            text = "".join(c for c in comment if c.isprintable() or c in "\n\t")
            xml.SubElement(case, "skipped" if skipped else "failure").text = text
    xml.ElementTree(suite).write(RESULTS / "junit.xml", encoding="utf-8", xml_declaration=True)
    for status in statuses:    # of pytest: tests failed, or there were none
        if status not in (0, 1, 5):
            print(f"# failed: pytest ends with status {status}")
            failed += 1
    print(f"# {(time.time() - begin) / 60:.1f} minutes; what each test said, and JUnit: "
          "build/results")
    print(f"{passed} passed, {failed} failed", flush=True)
    return passed and not failed


def _pytest(*words, stdout=None, **env):
    """Run pytest on our tests."""
    command = ["/usr/bin/python3", "-B", "-m", "pytest", "-p", "no:cacheprovider", "-rN",
               "--no-header", "--tb=short", "-c", TOOLS / "pytest.ini", TOOLS / "tests", *words]
    with process.started(command, cwd=ROOT, env=os.environ | env, stdout=stdout,
                         start_new_session=False) as child:
        return child.wait()


def main():
    """`make check`."""
    if option("LIST"):
        return 0 if _pytest("--collect-only", "-qq") in (0, 5) else 1
    need("check")
    # A name that there is not, before the work
    if _pytest("--collect-only", "-qq", stdout=subprocess.DEVNULL, LIST="names") not in (0, 5):
        return 1
    begin = number("BEGUN") or time.time()
    os.environ["BEGUN"] = str(int(begin))
    with process.lock("check"):
        tree.make()    # tests that run beside each other read it
        shutil.rmtree(RESULTS, ignore_errors=True)
        RESULTS.mkdir()
        cpus = str(len(os.sched_getaffinity(0)))
        statuses = [_pytest("-v", "-n", cpus, "--dist", "load", PART="host"),
                    _pytest("-v", PART="rest")]
        return 0 if _finish(begin, statuses) else 1
