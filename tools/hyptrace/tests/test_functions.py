# SPDX-License-Identifier: GPL-2.0
"""What hypstat says of EL2's functions is what the trace has; and the demonstration of it."""

import functools
import json
import re
from collections import Counter

import pytest

from hyptrace import demo, hypstat, process, trace
from hyptrace.tests.conftest import rows

CPUS = 2
built = functools.cache(hypstat.build)
RECORD = """cp -R usr /; PATH=$PATH:/test/hyp-trace; cd /out
filter=/sys/kernel/tracing/hypervisor/set_ftrace_filter
echo '*' >$filter
echo __kvm_vcpu_run >>$filter
cat $filter >before
hypstat record -f '__*' -o part true || exit
cmp before $filter || exit
echo __kvm_vcpu_run >$filter
hypstat record -f '*' --trace-buffer-size 8192 -o all guest --hvc 100 >/dev/null || exit
cat $filter
! hypstat record -f nonsense -o none true 2>refused || exit
cat $filter
trace-cmd report -i all >all.text 2>/dev/null
"""


def report(path, *words):
    return process.run([built("host"), "report", *words, path]).stdout


def calls(lines):
    """How often each function is entered, and returns."""
    found = {"func": Counter(), "func_ret": Counter()}
    for each in trace.parse(lines):
        if each.name in found:
            found[each.name][each.args.split()[0].removeprefix("__kvm_nvhe_")] += 1
    return found["func"], found["func_ret"]


@pytest.mark.parametrize("config, mode", rows("""
modes 40 functions protected
modes 40 functions nvhe"""))
@pytest.mark.usefixtures("config")
def test_hypstat(vm, checks, tmp_path, mode):
    """Each function was entered as often as trace-cmd's text says; all time has its path."""
    hypstat.lay_out(tmp_path)
    done = vm.ok("it records", RECORD, files=tmp_path, mode=mode, mem="2G", timeout=200)
    checks.equals("the filter is as before", done.output.split()[-2:], ["__kvm_vcpu_run"] * 2)
    checks("a function that there is not", "EL2 has no function nonsense" in
           (done.out / "refused").read_text())
    found, folded = json.loads(report(done.out / "all", "--json")), Counter()
    checks.equals("events lost", found["losses"]["events"], 0)
    entered, left = calls(trace.reported(trace.read(done.out / "all.text")))
    counts = {row["name"]: row["count"] for row in found["functions"]}
    # On each CPU one function has been entered before the recording, or not left by its end.
    wrong = {name for name in entered
             if not left[name] - CPUS <= counts.get(name, 0) <= entered[name]}
    checks("each function, with the end of the recording", len(counts) > 20 and not wrong, wrong)
    for path, time in re.findall("^(.*) ([0-9]+)$", report(done.out / "all", "--folded"), re.M):
        folded[path.partition(";")[0]] += int(time)
    for row in found["exits"]:
        checks.equals(f"the time of {row['name']}", folded[f"guest:{row['name']}"],
                      row["total_ns"])
    checks("all time is there", 0.9 * found["all"]["total_ns"] < folded.total() <=
           found["all"]["total_ns"], folded)
    longest = found["longest"][0]
    checks("the functions of the longest stay", 0 < sum(
        part["self_ns"] for part in longest["functions"]) <= longest["length_ns"], longest)


@pytest.mark.parametrize("config", rows("modes 30 functions"))
@pytest.mark.usefixtures("vm")
def test_demo(tmp_path, config):
    """What `make run TOOL=functions` shows"""
    demo.run("functions", tmp_path, config=config)
