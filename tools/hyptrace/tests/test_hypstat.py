# SPDX-License-Identifier: GPL-2.0
"""hypstat: its own tests; its counts of recordings, which are those of trace-cmd's text."""

import functools
import json
import re
import xml.etree.ElementTree

import pytest

from hyptrace import clients, hypstat, process, trace

pytestmark = pytest.mark.fast
built = functools.cache(hypstat.build)
BEGIN = """cp -R usr /; PATH=$PATH:/test/hyp-trace; cd /out
guest="guest --vcpus 2 --cpu 0 --hvc 100 --mmio 50 --wfi 4"
for size in 1024 4; do
"""
RECORD = {
    "trace-cmd": "trace-cmd record -o $size -C boot -e sched -B hypervisor -b $size -C boot "
                 "-e hypervisor",
    "hypstat": "hypstat record -o $size -e sched --trace-buffer-size $size"}
END = " $guest || exit\ntrace-cmd report -i $size >$size.text 2>/dev/null\ndone\n"
ACCOUNTED = """cp -R usr /; PATH=$PATH:/test/hyp-trace; cd /out
hypstat top -r 3 -i 0.2 >top && hypstat hist --reset --json sh -c 'guest --hvc 100 >guest' >hist &&
	hypstat hist --reset --prometheus sh -c 'guest >guest' >metrics || exit
guest --vcpus 2 --wfi 1000000 >guest &
for by in vm vcpu; do hypstat top -b -r 2 -i 0.2 --by $by >$by || exit; done
kill $!
cat /sys/kernel/tracing/hypervisor/accounting
"""
# The first run of a guest takes long; no stay takes an hour. Accounting is as before then.
STOPPED = """cp -R usr /; PATH=$PATH:/test/hyp-trace; cd /out
hyp=/sys/kernel/tracing/hypervisor
hypstat record -o hit -e sched -s 100 sh -c 'guest >guest; exec sleep 100' >said
[ $? = 1 ] || exit
hypstat record -o missed -s 4294967295 guest >/dev/null || exit
echo "$(cat $hyp/accounting $hyp/stop_tracing_us $hyp/tracing_on)"
"""
# Each says in one line what to do instead.
REFUSED = """cp -R usr /; mkdir -p /etc; echo user:x:1000:1000::/:/bin/sh >/etc/passwd
for words in "top" "hist" "hist true" "record true"; do
	{} $words 2>said && exit 1
	[ "$(wc -l <said)" = 1 ] && grep "{}" said || exit
done
"""
METRIC = re.compile(r'# (HELP|TYPE) .*|hypstat_\w+({\w+="[^"]*"(,\w+="[-+.\w]+")?})? [.\d]+')


def say(*words):
    return process.run([built("host"), *words]).stdout


@pytest.mark.host
@pytest.mark.seconds(90)
def test_own_tests(checks):
    """Its units under sanitizers, corrupted files, and its speed"""
    checks.program("host", "hypstat", hypstat.make("host", "check", check=False))


@pytest.mark.seconds(20)
@pytest.mark.parametrize("release, how", [("machine", "hypstat"), ("machine", "trace-cmd"),
                                          ("trixie", "trace-cmd")])
def test_report(vm, checks, tmp_path, release, how):
    """Each count is that of trace-cmd's text for the same file."""
    if how == "hypstat":
        hypstat.lay_out(tmp_path)
    else:
        clients.trace_cmd(tmp_path, release)
    out = vm.ok("it records", BEGIN + RECORD[how] + END, files=tmp_path, timeout=120).out
    for size in "1024", "4":
        report, svg = json.loads(say("report", "--json", out / size)), tmp_path / "svg"
        lines = list(trace.reported(trace.read(out / f"{size}.text")))
        for table, counts in hypstat.counts(lines).items():
            found = {row["name"].removesuffix(" (exit)"): row["count"] for row in report[table]}
            found.pop("__kvm_vcpu_run (enter)", None)
            checks.equals(f"{size} KB: {table}", found, dict(counts))
        lost = re.findall(r"^CPU:\d+ \[LOST (\d+)", "\n".join(lines), re.M)
        checks.equals(f"{size} KB: lost", report["losses"]["events"], sum(map(int, lost)))
        checks("guests ran", any("guest-" in row["name"] for row in report["tasks"]))
        checks("metrics", all(map(METRIC.fullmatch, say(
            "report", "--prometheus", out / size).splitlines())))
        say("timeline", "--svg", svg, out / size)
        checks("a time line", "CPU 1 EL2" in xml.etree.ElementTree.parse(svg).getroot().itertext())


@pytest.mark.seconds(15)
def test_accounting(vm, checks, tmp_path):
    """hypstat hist has the guest's own count, and leaves the accounting as it was."""
    hypstat.lay_out(tmp_path)
    done = vm.ok("it counts", ACCOUNTED, files=tmp_path, timeout=120)
    stays = json.loads((done.out / "hist").read_text())["accounts"][0]["stays"]
    counts = {row["name"]: row["count"] for row in stays}
    checks.equals("hypercalls of the guest", counts.get("guest:HVC64"), 100)
    checks.equals("refreshes", (done.out / "top").read_text().count("MAX*"), 3)
    for view, rows in ("vm", [""]), ("vcpu", [" vcpu 0", " vcpu 1"]):
        found = re.findall(r"^\d+-\d+( vcpu \d)? +[1-9][\d.]*", (done.out / view).read_text(),
                           re.M)
        checks.equals(f"{view}: each refresh has what ran", sorted(found), sorted(rows * 2))
    checks("off again", done.output.splitlines()[-1] == "0")
    checks("metrics", all(map(METRIC.fullmatch, (done.out / "metrics").read_text().splitlines())))


@pytest.mark.seconds(15)
def test_stopped(vm, checks, tmp_path):
    """hypstat record -s ends at a long stay, which ends its CPU's events, and explains it."""
    hypstat.lay_out(tmp_path)
    done = vm.ok("it stops, or does not", STOPPED, files=tmp_path, timeout=120)
    checks.equals("accounting, the threshold and tracing are off again",
                  done.output.split()[-3:], ["0"] * 3)
    said = (done.out / "said").read_text()
    took, cpu, begin = re.search(r"^ +([\d.]+) us  CPU (\d+), at ([\d.]+) s, reason", said,
                                 re.M).groups()
    checks("the stay took longer", float(took) >= 99.9, said)
    checks.equals("report says the same", say("report", "-s", 100, done.out / "hit")
                  .splitlines()[1:], said.splitlines()[1:])
    longest = json.loads(say("report", "--json", done.out / "missed"))["longest"]
    checks("other recordings go on", longest[0]["length_ns"] > 100000, longest[0])
    hit = json.loads(say("report", "--json", "-c", cpu, done.out / "hit"))
    end = float(begin) + float(took) / 1e6
    checks("it is the last one of its CPU", all(
        stay["begin_ns"] / 1e9 <= end for stay in hit["longest"]), hit["longest"])


@pytest.mark.seconds(10)
@pytest.mark.parametrize("mode, program, why", [
    ("vhe", "hypstat", "perf kvm stat"),
    ("protected", "start-stop-daemon -S -c user -x /usr/bin/hypstat --", "as root")],
    ids=["vhe", "user"])
def test_refused(vm, tmp_path, mode, program, why):
    """With VHE, and without rights"""
    hypstat.lay_out(tmp_path)
    vm.ok(why, REFUSED.format(program, why), files=tmp_path, mode=mode)
