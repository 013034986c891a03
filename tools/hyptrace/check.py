# SPDX-License-Identifier: GPL-2.0
"""`make check`: run pytest on the tests that are asked for, first those that may run beside others;
count the checks that they made, and end with the line `N passed, N failed`.

SET="fast .."     these sets, one after another
TESTS="boot .."   these tests: names, beginnings of names up to a dot, or patterns
LIST=1            list them, with how long each takes
TIME_LIMIT=s      the most that all may take, from BEGUN (`date +%s`) on: a test that would not end
                  before is not begun, one that does not is ended; both are skipped
ROTATE=n          begin each set but the fast one at its n-th test

A boot shows how fast the machine is: all limits but TIME_LIMIT are scaled by that (SCALE=percent).
"""

import json
import os
import re
import shutil
import time
import xml.etree.ElementTree as xml

from hyptrace import kernel, process, tree, vm
from hyptrace.machine import BUILD, ROOT, TOOLS, need, number, option

SETS = {
    "fast": "user-space tests, KUnit, the whole kselftest in pKVM with VHE and in nVHE without, "
            "its concurrency on four CPUs, the clients, the series: what a change needs",
    "debug": "the debug kernel: KASAN, lockdep, fault injection, a soak",
    "pages": "kernels with pages of 16k and 64k, or landing pads (BTI)",
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
REFERENCE_BOOT = 3.5    # seconds that a boot takes where the markers' seconds were measured
BOOT_SCALE = 500        # percent that its limits are multiplied by, before the speed is known


def seconds_left():
    """To the end of all; None if there is no limit."""
    limit = number("TIME_LIMIT")
    return limit and limit - (time.time() - number("BEGUN", 0))


def calibrate():
    """Boot, once, and set the scale: how much slower this machine is than the markers'."""
    if "SCALE" in os.environ or not kernel.image().exists():
        return
    os.environ["SCALE"], begin = str(BOOT_SCALE), time.monotonic()
    if not vm.boot(":", timeout=120).status:
        scale = int((time.monotonic() - begin) / REFERENCE_BOOT * 100)
        os.environ["SCALE"] = str(max(100, min(1000, scale)))
    print(f"# time limits are multiplied by {os.environ['SCALE']} %", flush=True)


def record(test, checks, said):
    """Keep what a test made: its checks, and what it said in a file of its own."""
    name = re.sub(r"[^\w.-]", "-", test.rpartition("/")[2])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name[:200]}.log").write_text(said, encoding="utf-8")
    with open(RESULTS / "checks.jsonl", "a", encoding="utf-8") as out:
        out.write("".join(json.dumps([test, *each]) + "\n" for each in checks))


def _finish(begin, statuses):
    """The last lines, and the same as JUnit's XML, a case for each check. True: all is well."""
    suite, passed, failed = xml.Element("testsuite", name="hyptrace"), 0, 0
    lines = (RESULTS / "checks.jsonl").read_text(encoding="utf-8").splitlines()
    for test, name, good, comment, skipped in map(json.loads, lines):
        case = xml.SubElement(suite, "testcase", classname=test, name=name)
        passed, failed = passed + (good and not skipped), failed + (not good)
        if skipped or not good:
            print(f"# {'skipped' if skipped else 'failed'}: {test}: {name}")
            for line in comment.splitlines()[-30:]:
                print(f"#   {line}")
            text = re.sub(r"[^\n\t -~]", "", comment)
            xml.SubElement(case, "skipped" if skipped else "failure").text = text
    xml.ElementTree(suite).write(RESULTS / "junit.xml", encoding="utf-8", xml_declaration=True)
    failed += sum(status not in (0, 1, 5) for status in statuses)    # 5: there were no tests
    print(f"# {(time.time() - begin) / 60:.1f} minutes; what each test said: build/results")
    print(f"{passed} passed, {failed} failed", flush=True)
    return passed and not failed


def pytest(*words, **env):
    """Run pytest on our tests."""
    command = ["/usr/bin/python3", "-B", "-m", "pytest", "-p", "no:cacheprovider", "-rN",
               "--no-header", "--tb=short", "-c", TOOLS / "pytest.ini", TOOLS / "tests", *words]
    with process.started(command, cwd=ROOT, start_new_session=False,
                         env=os.environ | env) as child:
        return child.wait()


def main():
    """`make check`."""
    wanted = option("SET") + option("TESTS")
    need("check", *["clang", "archs"] * bool(wanted.replace("fast", "")),
         *["deb", "installed"] * any(each in wanted for each in ("deb", "fresh")))
    # A name that there is not, before the work
    found = pytest("--collect-only", "-qqq", LIST=option("LIST", "names")) == 5
    if option("LIST") or not found:
        return 0 if found else 1
    begin = number("BEGUN") or time.time()
    os.environ["BEGUN"] = str(int(begin))
    with process.lock("check"):
        tree.make()    # tests that run beside each other read it
        shutil.rmtree(RESULTS, ignore_errors=True)
        RESULTS.mkdir()
        (RESULTS / "checks.jsonl").touch()
        cpus = str(len(os.sched_getaffinity(0)))
        statuses = [pytest("-v", "-m", "host", "-n", cpus, "--dist", "load"),
                    pytest("-v", "-m", "not host")]
        return 0 if _finish(begin, statuses) else 1
