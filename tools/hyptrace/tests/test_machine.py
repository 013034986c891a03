# SPDX-License-Identifier: GPL-2.0
"""Tracing where CPUs come and go, where EL2 is a stub, and where it can't be set up or started."""

import pytest

from hyptrace.vm import PRELUDE

SHELL = PRELUDE + r"""
cd "$HYP"
loaded() { grep '(loaded)' buffer_size_kb; }
load() { echo 1 >tracing_on; }
# Tracing ends, and the buffer is given back.
unload() { echo 0 >tracing_on; echo >trace; grep '(unloaded)' buffer_size_kb; }
comes_up() { echo 1 >"/sys/devices/system/cpu/cpu$1/online"; }
goes_down() { echo 0 >"/sys/devices/system/cpu/cpu$1/online"; }
hotplug() { [ ! -e /sys/devices/system/cpu/cpu1/online ] || { goes_down 1; comes_up 1; }; }
# An event of that CPU comes, and can be read in each way.
traces() {
	taskset $((1 << $1)) sh -c "echo $2 >write_event"
	grep "^\[00$1\].*selftest id=$2\$" trace; grep "selftest id=$2\$" "per_cpu/cpu$1/trace"
	grep "entries: [1-9]" "per_cpu/cpu$1/stats"
	fileop drain "per_cpu/cpu$1/trace_pipe" >/tmp/pipe; grep "selftest id=$2\$" /tmp/pipe
}
# KiB that are free, those included that CPUs keep for themselves
free_kb() {
	awk '$1 == "MemTotal:" { total = $2 }
		$1 == "managed" { pages += $2 }
		$1 == "nr_free_pages" || $1 == "count:" { free += $2 }
		END { print int(free * (total / pages)) }' /proc/meminfo /proc/zoneinfo
}
# takes FROM TO COMMAND...: the memory that it takes, in KiB
takes() {
	from=$1 to=$2 before=$(free_kb); shift 2; "$@"
	taken=$((before - $(free_kb)))
	[ "$taken" -ge "$from" ] && [ "$taken" -le "$to" ]
}
# KVM has a callback for CPUs that come and go while its virtualization is enabled.
enabled() { grep 'kvm/cpu:online' /sys/devices/system/cpu/hotplug/states; }
disabled() { ! enabled; }
gone() { [ ! -e "/proc/$1" ]; }
# A VM that stays: its process is the last one.
hold() { guest --hold; until_true 10 enabled; holder=$(pidof guest); }
drop() { kill "$holder"; until_true 10 gone "$holder"; }
"""

A72, NVHE, ALONE = {"cpu": "cortex-a72"}, {"mode": "nvhe"}, {"cmdline": "maxcpus=1"}
STUB = NVHE | {"cmdline": "kvm.enable_virt_at_load=0"}
FROM_BOOT = NVHE | {"cmdline": f"{STUB['cmdline']} hyp_trace_event=selftest,hyp_exit"}

# The name, the machines that it is so on, and the script
CASES = [
    # CPUs that have been up have rings. Of 8 one is up: one ring, of 16 MiB.
    ("one CPU of 8 is up", {
        "protected": ALONE | {"smp": 8}, "nvhe": ALONE | A72 | NVHE | {"smp": 8}}, """
echo 16384 >buffer_size_kb
grep -x '131072 (unloaded)' buffer_total_size_kb
takes 16000 24000 load
takes -24000 -16000 unload"""),
    # The files of a CPU that was never up can be opened, and show that there is nothing.
    ("a CPU was never up", {"protected": ALONE | A72, "nvhe": ALONE | NVHE}, """
exec 3<per_cpu/cpu1/trace_pipe_raw
load; cd per_cpu/cpu1
[ "$(fileop read trace_pipe_raw)" = ENODEV ]
for file in trace_pipe_raw trace_pipe; do
	timeout "$(scaled 10)" cat $file 2>&1 3<&- | grep 'No such device'
done
[ "$(fileop read trace_pipe)" = EAGAIN ]
grep -x 'entries: 0' stats; grep -x 'read events: 0' stats
[ "$(grep -vc '^#' trace)" = 0 ]
[ "$(fileop open trace wt)" = ok ]
echo >trace; cd "$HYP"; echo >trace
exec 3<&-; traces 0 7; unload"""),
    # In plain nVHE mode a CPU can come up later: it is traced from then on. Not under pKVM.
    ("a CPU comes later", {
        "max": ALONE | NVHE | {"smp": 4}, "cortex-a72": ALONE | NVHE | A72 | {"smp": 4}}, """
echo 16384 >buffer_size_kb
takes 16000 24000 load; exec 3<trace_pipe
takes 16000 24000 comes_up 1; comes_up 3
traces 1 11; traces 3 33; traces 0 10
goes_down 3; comes_up 3; traces 3 34
fileop drain - <&3 >/tmp/all
exec 3<&-; unload; comes_up 2; load
for cpu in 0 1 2 3; do traces $cpu 5$cpu; done
goes_down 2; unload; load; comes_up 2; traces 2 62; unload"""),
    # It comes up, and nothing else is wrong, when there is no memory for its ring.
    ("there is no memory for a CPU", {"nvhe": ALONE | NVHE | {"mem": "256M"}}, """
echo 65536 >buffer_size_kb; echo 262144 >per_cpu/cpu1/buffer_size_kb
load; comes_up 1
dmesg | grep 'trace_remote: hypervisor: CPU1 is not traced (-12)'
taskset 2 sh -c 'echo 4 >write_event'
traces 0 7
[ "$(fileop read per_cpu/cpu1/trace_pipe_raw)" = ENODEV ]
unload; echo 1024 >buffer_size_kb; load; traces 1 8; unload"""),
    # A loaded buffer keeps KVM's virtualization enabled: before the first VM, between two, after
    # the last one. Without it a write of an event or of a filter enables it for itself.
    ("stub, no VM", {
        "max, 1": STUB | {"smp": 1}, "max, 2": STUB, "cortex-a72, 1": STUB | A72 | {"smp": 1},
        "cortex-a72, 2": STUB | A72}, """
disabled; hotplug
for id in 1 2 3; do
	load; enabled; writes $id; hotplug; writes 1$id; unload; disabled
	echo 5 >write_event
	echo 'id == 7' >events/hypervisor/selftest/filter
	grep -x 'id == 7' events/hypervisor/selftest/filter
	echo 0 >events/hypervisor/selftest/filter
	disabled; hotplug; guest; until_true 10 disabled
done"""),
    # Tracing goes on when the first VM comes and the last one goes, and off while there is one.
    ("stub, around a VM", {
        "cortex-a72": STUB | A72, "max": STUB, "one CPU": STUB | {"smp": 1}}, """
load; hold; writes 1; guest; grep 'hyp_exit reason=guest' trace
drop; enabled; writes 2; hotplug; writes 3; unload; until_true 10 disabled
hold; load; writes 4; unload; enabled; guest
load; drop; writes 5; unload; until_true 10 disabled"""),
    ("stub, from boot", {"max": FROM_BOOT, "cortex-a72": FROM_BOOT | A72}, """
enabled; loaded; grep -x 1 tracing_on
writes 1; guest; grep 'hyp_exit reason=guest' trace
writes 2; unload; until_true 10 disabled"""),
    ("stub, a filter that was set before EL2 was there", {"nvhe": STUB}, """
echo 'id == 7' >events/hypervisor/selftest/filter
disabled; load; writes 7
if writes 8; then exit 1; fi
unload"""),
    ("stub, a file that uses the buffer keeps it", {"nvhe": STUB}, """
exec 3<trace_pipe; loaded; enabled; load
echo 9 >write_event; echo 0 >tracing_on
fileop drain - <&3 >/tmp/pipe; grep 'selftest id=9$' /tmp/pipe
enabled; exec 3<&-; until_true 10 disabled
grep '(unloaded)' buffer_size_kb"""),
    ("no stub under pKVM", {"protected": STUB | {"mode": "protected"}},
     "load; disabled; writes 1; guest; writes 2; unload"),
    # The files can't be opened, as the host's own, but for what describes an event.
    ("tracefs is locked down later", {"": {}}, r"""
load; echo 42 >write_event; exec 3<trace_pipe
mount -t securityfs securityfs /sys/kernel/security
echo confidentiality >/sys/kernel/security/lockdown
find . -type f >/tmp/files
set +x
while read -r file; do
	host=$(echo "../$file" | sed 's,events/hypervisor/[^/]*/,events/kvm/kvm_exit/,
		s,events/hypervisor/,events/kvm/,; s,/write_event,/trace_marker,')
	for mode in r w wt rw; do
		echo "$(fileop open "$file" $mode) $(fileop open "$host" $mode) $file $mode"
	done
done </tmp/files >/tmp/outcomes
[ "$(grep -c . /tmp/outcomes)" -ge 100 ]
[ -z "$(grep -v '^EPERM EPERM ' /tmp/outcomes | grep -v '^EPERM ok .*/\(format\|id\) ')" ]
fileop drain - <&3 | grep 'selftest id=42'; guest"""),
]


@pytest.mark.modes
@pytest.mark.seconds(4)
@pytest.mark.parametrize("script, machine", [
    pytest.param(script, machine, id=f"{name}, {where}".rstrip(", "))
    for name, machines, script in CASES for where, machine in machines.items()])
def test_machine(vm, selftest, request, script, machine):
    """The script succeeds."""
    vm.ok(request.node.callspec.id, SHELL + script, files=selftest(), timeout=120, **machine)


@pytest.mark.debug
@pytest.mark.seconds(65)
@pytest.mark.parametrize("config", ["debug"])
def test_cgroup(vm, selftest, config):
    """A task in a small memory cgroup, which the debug kernel has, loads a large buffer."""
    vm.ok("a small memory cgroup", SHELL + """
mkdir -p /tmp/cgroup; mount -t cgroup2 none /tmp/cgroup
echo +memory >/tmp/cgroup/cgroup.subtree_control
mkdir /tmp/cgroup/small; echo 8M >/tmp/cgroup/small/memory.max
echo 16384 >buffer_size_kb
sh -c 'echo $$ >/tmp/cgroup/small/cgroup.procs; exec fileop write tracing_on 1' >/tmp/did
grep -x ok /tmp/did; traces 0 7; unload""",
          files=selftest(config=config), timeout=120, config=config)
