# SPDX-License-Identifier: GPL-2.0
"""Tracing goes on until the machine is reset, or until another kernel is started without a reset;
and that one can trace again."""

import re
import shutil

import pytest

from hyptrace import image, kernel as kernels
from hyptrace.vm import PRELUDE

pytestmark = [pytest.mark.modes, pytest.mark.seconds(5)]

SHELL = PRELUDE + r"""
cd "$HYP"
# As Debian has it, with its libraries
kexec() {
	/test/root/aarch64-linux-gnu/ld-linux-aarch64.so.1 \
		--library-path /test/root/aarch64-linux-gnu /test/root/kexec "$@"
}
load_kernel() { kexec -s -l /test/root/Image --initrd=/test/root/initrd --reuse-cmdline; }
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

REBOOTS = {
    "protected": ("trace_all", {}),
    "protected, cortex-a72": ("trace_all", {"cpu": "cortex-a72", "smp": 4}),
    "nvhe": ("trace_all", {"mode": "nvhe"}),
    "stub": ("trace_and_sleep", {"mode": "nvhe", "cmdline": "kvm.enable_virt_at_load=0"}),
}


@pytest.mark.parametrize("name", REBOOTS)
def test_reboot(vm, selftest, name):
    """The kernel reboots while everything is traced."""
    command, machine = REBOOTS[name]
    result = vm.dies(f'{SHELL}{command}\necho "it reboots"\nreboot -f\n', files=selftest(),
                     timeout=120, **machine)
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
    """In plain nVHE mode tracing ends before the machine does: readers get ENODEV then, those that
    wait and those that come, whether the buffer was given back by then or not."""
    result = vm.dies(SHELL + READERS, files=selftest(), timeout=120, mode="nvhe", cpu=cpu, smp=smp)
    seen = dict(re.findall(r"seen: (\w+): (.*)", result.console))
    for name, text in SEEN.items():
        checks(f"{cpu}: a reader ends: {name}", re.match(text, seen.get(name, "")),
               f"found {seen.get(name)!r}, not {text!r}")


@pytest.fixture(name="next_kernel")
def next_kernel_fixture(kernel, selftest, tmp_path):
    """next_kernel(script): the files of a VM that can start the same kernel, with its own
    script."""
    def make(script):
        kernel()
        root = image.suite("machine", "kexec", "kexec-tools")
        stage, files = tmp_path / "stage/test", tmp_path / "files"
        shutil.copytree(selftest(), stage)
        shutil.copytree(selftest(), files)
        stage.joinpath("script").write_text(SHELL + script, "utf-8")
        stage.joinpath("script").chmod(0o755)
        shutil.copytree(root / "usr/lib/aarch64-linux-gnu", files / "root/aarch64-linux-gnu")
        for path in root / "usr/sbin/kexec", kernels.image():
            shutil.copy(path, files / "root")
        shutil.copy(image.rootfs(), files / "root/initrd")
        with open(files / "root/initrd", "ab") as initrd:
            image.pack(stage.parent, initrd)
        return files
    return make


def test_kexec(vm, next_kernel):
    """What the second kernel says comes after what the first one did. (With QEMU's GICv3 the next
    kernel hangs when it looks for its tables, whether anything is traced or not.)"""
    second = 'trace_all\necho 0 >tracing_on\necho "the second kernel traces"\n'
    result = vm(f'{SHELL}load_kernel\ntrace_all\necho "the first kernel traces"\nkexec -e\n',
                files=next_kernel(second), mode="nvhe", mem="2G", timeout=90,
                qemu_args="-machine gic-version=2")
    assert result.status == 0, result.errors + result.output
    assert re.search("(?s)the first kernel traces.*the second kernel traces", result.output)


def test_kexec_refused(vm, next_kernel):
    """pKVM's EL2 stays, and so kexec refuses, as it does without tracing; which goes on."""
    vm.ok("another kernel, protected: refused", SHELL + """trace_all
        if load_kernel; then exit 1; fi
        dmesg | grep "Can't kexec: CPUs are stuck in the kernel"
        guest""", files=next_kernel(""), mem="2G", timeout=120)
