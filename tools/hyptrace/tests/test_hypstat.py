# SPDX-License-Identifier: GPL-2.0
"""hypstat: its own tests; its counts of recordings, which are those of trace-cmd's text."""

import json
import re
import xml.etree.ElementTree

import pytest

from hyptrace import clients, hypstat, trace

pytestmark = pytest.mark.fast
BEGIN = """cp -R usr /; PATH=$PATH:/test/hyp-trace; cd /out
guest="guest --vcpus 2 --cpu 0 --hvc 100 --mmio 50 --wfi 4"
for size in 1024 4; do
"""
RECORD = {
    "trace-cmd": "trace-cmd record -o $size -C boot -e sched -B hypervisor -b $size -C boot "
                 "-e hypervisor",
    "hypstat": "hypstat record -o $size -e sched --trace-buffer-size $size"}
END = " $guest || exit\ntrace-cmd report -i $size >$size.text 2>/dev/null\ndone\n"
METRIC = re.compile(r'# (HELP|TYPE) .*|hypstat_\w+({\w+="[^"]*"(,quantile="0[.\d]*")?})? [.\d]+')


@pytest.mark.host
@pytest.mark.seconds(90)
def test_own_tests(checks):
    """Its units under sanitizers, corrupted files, and its speed"""
    checks.program("host", "hypstat", hypstat.make("check", check=False))


@pytest.mark.seconds(20)
@pytest.mark.parametrize("release, how", [("machine", "hypstat"), ("machine", "trace-cmd"),
                                          ("trixie", "trace-cmd")])
def test_report(vm, checks, tmp_path, release, how):
    """Each count is that of trace-cmd's text for the same file."""
    hypstat.make()
    clients.trace_cmd(tmp_path, release)
    if how == "hypstat":
        hypstat.cross(tmp_path)
    out = vm.ok("it records", BEGIN + RECORD[how] + END, files=tmp_path, timeout=120).out
    for size in "1024", "4":
        report, svg = json.loads(hypstat.say("report", "--json", out / size)), tmp_path / "svg"
        lines = list(trace.reported(trace.read(out / f"{size}.text")))
        for table, counts in hypstat.counts(lines).items():
            found = {row["name"].removesuffix(" (exit)"): row["count"] for row in report[table]}
            found.pop("__kvm_vcpu_run (enter)", None)
            checks.equals(f"{size} KB: {table}", found, dict(counts))
        lost = re.findall(r"^CPU:\d+ \[LOST (\d+)", "\n".join(lines), re.M)
        checks.equals(f"{size} KB: lost", report["losses"]["events"], sum(map(int, lost)))
        checks("guests ran", any("guest-" in row["name"] for row in report["tasks"]))
        checks("metrics", all(map(METRIC.fullmatch, hypstat.say(
            "report", "--prometheus", out / size).splitlines())))
        hypstat.say("timeline", "--svg", svg, out / size)
        checks("a time line", "CPU 1 EL2" in xml.etree.ElementTree.parse(svg).getroot().itertext())
