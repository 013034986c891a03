# SPDX-License-Identifier: GPL-2.0
"""hypstat, built for this machine: its own tests, and its counts, which are trace-cmd's."""

import json

import pytest

from hyptrace import clients, hypstat, ktap, process, trace

pytestmark = pytest.mark.fast
RECORD = """cp -R usr /; PATH=$PATH:/test/hyp-trace; cd /out
for size in 1024 8; do
	trace-cmd record -o $size -C boot -e sched -B hypervisor -b $size -C boot -e hypervisor \
		guest --vcpus 2 --cpu 0 --hvc 100 --mmio 50 --wfi 4 || exit
	trace-cmd report -i $size >$size.text 2>/dev/null
done
"""


@pytest.mark.host
@pytest.mark.seconds(90)
def test_own_tests(checks):
    """Its units under sanitizers, corrupted files, and its speed"""
    done = hypstat.make("check", check=False)
    checks.add(ktap.read(f"# test hypstat\n{done.stdout}\n# status {done.returncode}", "host"))


@pytest.mark.seconds(20)
@pytest.mark.parametrize("release", ["machine", "trixie"])
def test_report(vm, checks, tmp_path, release):
    """Each count is that of trace-cmd's text for the same file."""
    hypstat.make()
    clients.trace_cmd(tmp_path, release)
    out = vm.ok("trace-cmd records", RECORD, files=tmp_path, timeout=120).out
    for size in "1024", "8":
        said = process.run([hypstat.PROGRAM, "report", "--json", out / size]).stdout
        report, lines = json.loads(said), trace.reported(trace.read(out / f"{size}.text"))
        for table, counts in hypstat.counts(lines).items():
            found = {row["name"].removesuffix(" (exit)"): row["count"] for row in report[table]}
            found.pop("__kvm_vcpu_run (enter)", None)
            checks.equals(f"{size} KB: {table}", found, dict(counts))
        checks.equals(f"{size} KB: events were lost", report["losses"]["events"] > 0, size == "8")
        checks("guests ran", any("guest-" in row["name"] for row in report["tasks"]))
