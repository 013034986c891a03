# SPDX-License-Identifier: GPL-2.0
"""Tracing goes on until a reset, or until another kernel is started, which can trace, too."""

import re
import shutil

import pytest

from hyptrace import clients, image, kernel as kernels
from hyptrace.vm import PRELUDE

pytestmark = [pytest.mark.modes, pytest.mark.seconds(5)]

SHELL = PRELUDE + r"""
cd "$HYP"
load_kernel() { cp -R /test/usr /; kexec -s -l /test/Image --initrd=/test/initrd --reuse-cmdline; }
# Everything is traced, written and read, to the end. (No guest runs then: in plain nVHE mode KVM
# itself complains that there is no EL2 for it any more.)
trace_all() {
	echo 4096 >buffer_size_kb; echo 1 >events/enable; echo 1 >tracing_on; guest
	[ "$(grep -c 'hyp_exit reason=guest' trace)" -gt 0 ]
	for reader in 1 2; do (while :; do cat trace_pipe; cat trace; done) >/dev/null 2>&1 & done
	(while :; do echo 1 >write_event; echo 1 >tracing_on; done) >/dev/null 2>&1 &
	(while :; do echo 0 >tracing_on; echo >trace; done) >/dev/null 2>&1 &
}
# With the hyp stub for EL2, the machine sleeps before.
trace_and_sleep() {
	echo 1 >tracing_on; writes 1
	echo +1 >/sys/class/rtc/rtc0/wakealarm; echo freeze >/sys/power/state; writes 2
}
"""


@pytest.mark.parametrize("command, mode, cpu, smp, cmdline", [
    ("trace_all", "protected", "max", 2, ""), ("trace_all", "protected", "cortex-a72", 4, ""),
    ("trace_all", "nvhe", "max", 2, ""),
    ("trace_and_sleep", "nvhe", "max", 2, "kvm.enable_virt_at_load=0")],
                         ids=["protected", "protected, cortex-a72", "nvhe", "stub"])
def test_reboot(vm, selftest, command, mode, cpu, smp, cmdline):
    """The kernel reboots while everything is traced."""
    result = vm.dies(f'{SHELL}{command}\necho "it reboots"\nreboot -f\n', files=selftest(),
                     timeout=120, mode=mode, cpu=cpu, smp=smp, cmdline=cmdline)
    assert "the guest ended without a status" in result.errors
    assert "it reboots" in result.output and "reboot: Restarting system" in result.console


# One reader waits for the first event, and has one before tracing ends. The buffer is so large that
# no reader of pages returns for an event.
READERS = r"""
insmod "$DIR/modules/hyp_late.ko"
tracing_is_over() { dmesg | grep -q 'hyp_late: tracing has ended'; }
# say NAME COMMAND...: what becomes of it, in the kernel's log
say() { name=$1; shift; echo "seen: $name: $("$@" 2>&1)" >/dev/kmsg; }
has_opened() { ls -l "/proc/$1/fd" | grep -q trace_pipe; }
ended() { [ ! -e "/proc/$(cat "/tmp/$1.pid")/status" ]; }
# begin NAME COMMAND...: a reader that waits until tracing ends
begin() {
	name=$1; shift
	"$@" >"/tmp/$name" 2>&1 & echo $! >"/tmp/$name.pid"
	until_true 10 has_opened $!
}
echo 256 >buffer_size_kb; echo hypervisor:selftest >set_event
begin waiting cat trace_pipe; echo 1 >tracing_on; taskset 1 sh -c 'echo 1 >write_event'
until_true 10 grep -q 'id=1$' /tmp/waiting
begin stream fileop stream trace_pipe
begin poll fileop poll per_cpu/cpu0/trace_pipe_raw 20000
begin epoll fileop epoll per_cpu/cpu0/trace_pipe 20000
begin mapped mmap block per_cpu/cpu0/trace_pipe_raw
begin mapped_poll mmap follow per_cpu/cpu0/trace_pipe_raw
(
	until_true 20 tracing_is_over
	for name in waiting stream poll epoll mapped mapped_poll; do
		until_true 10 ended $name; say $name tail -n 1 /tmp/$name
	done
	say pipe timeout $((5 * HYP_TRACE_SCALE / 100)) cat trace_pipe
	say nonblock fileop read trace_pipe
	say raw timeout $((5 * HYP_TRACE_SCALE / 100)) cat per_cpu/cpu0/trace_pipe_raw
	say tracing_on fileop write tracing_on 1
	echo 1 >/sys/module/hyp_late/parameters/done
) &
reboot -f
"""
SEEN = {
    "waiting": "cat: read error: No such device", "stream": "fileop: splice: No such device",
    "poll": "fileop: per_cpu/cpu0/trace_pipe_raw: poll has 0x9", "epoll": "ok", "mapped": "ENODEV",
    "mapped_poll": "mmap: .*: TRACE_MMAP_IOCTL_GET_READER: No such device",
    "pipe": "cat: .*: No such device", "nonblock": "ENODEV", "raw": "cat: .*: No such device",
    "tracing_on": "ENODEV"}


@pytest.mark.parametrize("cpu, smp", [("max", 2), ("cortex-a72", 1)])
def test_readers_end(vm, selftest, checks, cpu, smp):
    """In plain nVHE mode tracing ends first: readers that wait and those that come get ENODEV."""
    result = vm.dies(SHELL + READERS, files=selftest(), timeout=120, mode="nvhe", cpu=cpu, smp=smp)
    seen = dict(re.findall(r"seen: (\w+): (.*)", result.console))
    for name, text in SEEN.items():
        checks(f"{cpu}: a reader ends: {name}", re.match(text, seen.get(name, "")), seen.get(name))


SECOND = 'trace_all; echo 0 >tracing_on; echo "the second kernel traces"'
REFUSED = """trace_all
if load_kernel; then exit 1; fi
dmesg | grep "Can't kexec: CPUs are stuck in the kernel"
guest"""


@pytest.mark.parametrize("mode", ["nvhe", "protected"])
def test_kexec(vm, selftest, tmp_path, mode):
    """The same kernel traces, too. pKVM's EL2 stays, and so kexec refuses; tracing goes on."""
    # With QEMU's GICv3 it hangs when it looks for its tables, whether anything is traced or not.
    files = tmp_path / "files"
    shutil.copytree(selftest(), files)
    clients.install(files, image.suite("machine", "kexec", "kexec-tools"), "usr/sbin/kexec")
    shutil.copy(kernels.image(), files / "Image")
    image.initrd(files / "initrd", files=selftest(), scripts={"test/script": SHELL + SECOND})
    how = {"files": files, "mem": "2G", "timeout": 120}
    if mode == "protected":
        vm.ok("another kernel, protected: refused", SHELL + REFUSED, **how)
        return
    result = vm(f'{SHELL}load_kernel\ntrace_all\necho "the first kernel traces"\nkexec -e\n',
                mode=mode, qemu_args="-machine gic-version=2", **how)
    assert result.status == 0, result.errors + result.output
    assert re.search("(?s)the first kernel traces.*the second kernel traces", result.output)
