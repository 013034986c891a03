# SPDX-License-Identifier: GPL-2.0
"""Linux 7.3's own tracing of remotes, with trace-remote-fixes: its kselftest, and trace-cmd."""

import re

import pytest

from hyptrace import clients, image, results, trace
from hyptrace.machine import BASE, BUILD, MAIN

pytestmark = [pytest.mark.variants,
              pytest.mark.skipif(BASE == MAIN, reason="6.12 has no remotes of its own")]
SUITE = BUILD / "tree/kernel/trace/ring_buffer_remote_test.c"
MODES = ("protected", "max"), ("nvhe", "cortex-a72")
# The numbers are written on one CPU; what the recorder does, on all.
RECORD = """cp -R usr /
for number in $(seq 1 1000); do
	echo "echo $number >/sys/kernel/tracing/remotes/hypervisor/write_event"
done >numbers
# record NAME EVENTS
record() {
	trace-cmd record -B hypervisor -e $2 -b 512 -o /out/$1.dat taskset 2 sh numbers \
		>/out/$1.said 2>&1 && trace-cmd report -i /out/$1.dat >/out/$1 &&
		trace-cmd report -i /out/$1.dat --stat >/out/$1.stats
}
record all hypervisor && record one hypervisor:selftest || exit
trace-cmd stat -B hypervisor >/out/stat 2>&1
# The oldest of the numbers are lost, and trace-cmd counts them.
trace-cmd start -B hypervisor -e hypervisor:selftest -b 8; taskset 2 sh numbers
trace-cmd stop -B hypervisor
trace-cmd extract -B hypervisor -o /out/lost.dat >/out/lost.said 2>&1 &&
	trace-cmd report -i /out/lost.dat >/out/lost
"""
# What opening each file of the hypervisor's remote gives, and its counterpart of the kernel's own,
# once tracefs is locked down. The remote itself makes write_event and trace_clock.
LOCK = r"""set -ex
cd /sys/kernel/tracing/remotes/hypervisor
echo 1 >events/hypervisor/selftest/enable; echo 1 >tracing_on; echo 42 >write_event
exec 3<trace_pipe
mount -t securityfs securityfs /sys/kernel/security
echo confidentiality >/sys/kernel/security/lockdown
# An open file still works.
dd bs=4096 count=1 <&3 | grep 'selftest id=42'
find . -type f ! -name write_event ! -name trace_clock >/tmp/files
set +x
# opening FILE MODE
opening() {
	said=$(exec 2>&1; case $2 in
		r) : <"$1" ;; w) : >>"$1" ;; wt) : >"$1" ;; rw) : <>"$1" ;;
	esac) && echo ok || echo "${said##*: }"
}
while read -r file; do
	kernels=$(echo "../../$file" | sed 's,events/hypervisor/[^/]*/,events/kvm/kvm_exit/,
		s,events/hypervisor/,events/kvm/,')
	for mode in r w wt rw; do
		echo "$file $mode: $(opening "$file" $mode), $(opening "$kernels" $mode)"
	done
done </tmp/files >/out/outcomes
"""
# What trace-cmd says of a recording without a fault
FINE = r"(CPU\d data recorded at offset=\w+|    \d+ bytes in size \(\d+ uncompressed\)|" \
    r"Buffer: hypervisor|)"


@pytest.mark.seconds(300)
@pytest.mark.parametrize("mode, cpu", MODES)
def test_ftrace(vm, selftest, mode, cpu):
    """Each script for remotes, the kernel's own and those that the series adds: of a remote in the
    kernel, and of the hypervisor."""
    files = selftest("ftrace")
    scripts = files / "ftrace/test.d/remotes"
    names = sorted(str(path.relative_to(scripts)) for path in scripts.rglob("*.tc"))
    vm.tests(f"{mode} {cpu}", [f"./ftracetest -K test.d/remotes/{name}" for name in names],
             "cd ftrace; PATH=$PATH:$PWD", files=files, mode=mode, cpu=cpu, timeout=900)


@pytest.mark.seconds(40)
def test_clocksource(vm, selftest):
    """A script that needs a clocksource besides the counter, which there is if the tick is
    periodic."""
    done = vm.tests("periodic tick",
                    ["./ftracetest -K test.d/remotes/hypervisor/clocksource.tc"],
                    "cd ftrace; PATH=$PATH:$PWD", files=selftest("ftrace"), timeout=300,
                    cmdline="highres=off nohz=off")
    assert not re.search(r"# *SKIP", done.output)


@pytest.mark.seconds(15)
def test_kunit(vm, checks):
    """What a reader meets in the middle of a commit."""
    said = vm.ok("the machine ends well", "cat /sys/kernel/debug/kunit/ring_buffer_remote/results",
                 cmdline="kunit.enable=1 kunit.autorun=1").output
    checks.add(results.kunit(said, [SUITE]))


@pytest.mark.seconds(10)
def test_lockdown(vm, checks):
    """The files can't be opened once tracefs is locked down, as the kernel's own, but for what
    describes an event."""
    lines = trace.read(vm.ok("the machine ends well", LOCK, timeout=120).out / "outcomes")
    refused = [line for line in lines if line.endswith(": Operation not permitted, Operation not "
                                                       "permitted")]
    checks.equals("what can be opened",
                  [line for line in lines if line not in refused
                   and not re.fullmatch(r".*/(format|id) \w+: ok, ok", line)], [])
    checks("all files were opened", len(refused) >= 100, f"{len(refused)} of {len(lines)}")


@pytest.mark.seconds(10)
@pytest.mark.parametrize("mode, cpu", MODES)
def test_boot_locked_down(vm, selftest, mode, cpu):
    """A kernel that is locked down from boot does not trace the hypervisor. KVM works."""
    vm.ok("locked down", "[ ! -e /sys/kernel/tracing/remotes ] && [ -c /dev/kvm ] && "
          "ftrace/kvm_run", files=selftest("ftrace"), mode=mode, cpu=cpu, timeout=120,
          cmdline="lockdown=confidentiality")


def numbers(lines):
    return [int(found[1]) for found in map(re.compile(r": selftest: +id=(\d+)$").search, lines)
            if found]


def strange(lines):
    """Lines that are no event with its fields"""
    event = re.compile(r" +\S+-0 +\[\d+\].*\d+\.\d+: (selftest: +id=\d+|"
                       r"hyp_(enter|exit): +reason=(smc|hvc|sys|psci|host_abort|guest_exit|"
                       r"eret_host|eret_guest) vcpu=\d+)$")
    return [line for line in lines[1:] if not event.match(line) and not line.startswith("hypervi")]


def complaints(lines):
    return [line for line in lines if not re.fullmatch(FINE, line)]


def left_or_lost(lines):
    """What the files stats of the CPUs say at the end: no event is left, and none was lost."""
    counted = re.findall(r"^(entries|overrun|dropped events|read events): (\d+)$",
                         "\n".join(lines), re.M)
    return [(name, count) for name, count in counted if name != "read events" and count != "0"] + \
        [name for name in ("entries", "overrun", "dropped events", "read events")
         if name not in dict(counted)]


@pytest.mark.seconds(60)
@pytest.mark.parametrize("mode, cpu", MODES)
def test_trace_cmd(vm, checks, tmp_path, mode, cpu):
    """Debian 13's trace-cmd, unmodified, records each number, shows each event by its name, counts
    those that were lost, and has no complaint."""
    clients.install(tmp_path, image.suite("trixie", "trace-cmd", "trace-cmd"), "usr/bin/trace-cmd")
    out = vm.ok("the machine ends well", RECORD, files=tmp_path, mode=mode, cpu=cpu,
                timeout=300).out
    for name in "all", "one":
        lines = trace.read(out / name)
        checks.equals(f"{name}: each number, in order", numbers(lines), list(range(1, 1001)))
        checks.equals(f"{name}: each event has its fields", strange(lines)[:8], [])
        checks.equals(f"{name}: no complaint", complaints(trace.read(out / f"{name}.said")), [])
        checks.equals(f"{name}: nothing left or lost",
                      left_or_lost(trace.read(out / f"{name}.stats")), [])
    checks.equals("stat: the sizes", [line.strip() for line in trace.read(out / "stat")
                                      if re.fullmatch(r" +\d+( \(unloaded\))?", line)],
                  ["7 (unloaded)", "14"])
    found = numbers(trace.read(out / "lost"))
    checks.equals("lost: the newest numbers", found, list(range(1001 - len(found), 1001)))
    checks.equals("lost: trace-cmd counts the others", complaints(trace.read(out / "lost.said")),
                  [f"CPU 1: {1000 - len(found)} events lost"])
    entered = sum(": hyp_enter: " in line for line in trace.read(out / "all"))
    checks("EL2 was entered for each number, and more often", entered > 1000, str(entered))
