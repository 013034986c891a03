# SPDX-License-Identifier: GPL-2.0
"""The runner: what the guest's script says comes out, and how it ends is the exit status."""

import re

import pytest

from hyptrace import results, vm as vms

pytestmark = [pytest.mark.fast, pytest.mark.seconds(4)]

# The script, what it is given, its status, and what is found in its output, errors and console
ENDS = {
    "the script's exit status and its output come out, whatever else runs":
        ("echo hello; echo error >&2; (while :; do echo busy; done) & exit 7", {}, 7,
         r"^hello\nerror\n[^\0]*\0\0"),
    "a panic fails, and the console is there":
        ("echo c >/proc/sysrq-trigger", {}, vms.DIED,
         "(?s)\0.*Kernel panic.*sysrq triggered crash.*\0.*Booting Linux.*sysrq triggered crash"),
    "a splat fails, whatever the script says":
        ("echo 'WARNING: CPU: 0 PID: 1 at' >/dev/kmsg; exit 0", {}, vms.DIED,
         "\0.*the kernel complained: .*WARNING: CPU: 0 PID: 1 at"),
    "an end without a status fails":
        ("poweroff -f", {}, vms.DIED, "(?s)\0.*ended without a status"),
    "the output's text decides nothing":
        ("echo 7; echo 'Kernel panic - not syncing'", {}, 0, "^7\nKernel panic"),
    "SMP, MEM, CMDLINE and QEMU_ARGS arrive, and pKVM is hVHE where the CPU has VHE":
        ("nproc; cat /proc/cmdline; free -m; ls /sys/bus/virtio/devices; dmesg", {
            "smp": 3, "mem": "512M", "cmdline": "one.two=3",
            "qemu_args": "-device virtio-rng-device"}, 0,
         r"(?s)^3\n.* one.two=3\n.*Mem: +([34]\d\d|50\d) .*virtio1.*Protected hVHE mode"),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends(vm, name):
    """The status, and what comes out."""
    script, machine, status, pattern = ENDS[name]
    result = vm(script, **{"timeout": 120} | machine)
    assert result.status == status
    assert re.search(pattern, "\0".join((result.output, result.errors, result.console)))


def test_slow(vm, monkeypatch):
    """A hang ends at the time limit. That and the guest's are longer where the machine is slow."""
    monkeypatch.setenv("SCALE", "300")
    result = vm('echo "$HYP_TRACE_SCALE"; cat /proc/cmdline; while :; do sleep 1; done', timeout=4)
    assert result.status == vms.HUNG and "Run /init" in result.console
    assert re.search("no end after 12 s(?s:.*)Run /init", result.errors)
    assert re.match("(?s)300\n.*rcupdate.rcu_cpu_stall_timeout=63 ", result.output)


@pytest.mark.seconds(12)
@pytest.mark.parametrize("mode, cpu", [("protected", "max"), ("nvhe", "cortex-a72")])
def test_debug(kernel, mode, cpu):
    """gdb stops at a trap to EL2 and at a function of the host kernel; then the VM goes on."""
    kernel()
    done, gdb = vms.Machine(mode=mode, cpu=cpu, timeout=180).under_gdb(
        "break __kvm_nvhe_handle_trap\nbreak kernel_init\ncontinue\ninfo symbol $pc\ncontinue\n"
        "info symbol $pc\ndelete\ndetach\n", "exit 7")
    assert done.status == 7, gdb
    assert "__kvm_nvhe_handle_trap in section" in gdb and "kernel_init in section" in gdb


RACE = """BUG: KCSAN: data-race in hrtimer_active / {0}
read to 0xffff000001234567 of 8 bytes by interrupt on cpu 0:
 hrtimer_active+0x7c/0x110
 el1h_64_irq+0x64/0x68
 rb_reader_update+0x10/0x20
write to 0xffff000001234567 of 8 bytes by task 12 on cpu 1:
 {0}+0x10/0x200
 {1}+0x100/0x120
==================================================================
 rb_reader_update+0x10/0x20
"""


@pytest.mark.host
@pytest.mark.seconds(1)
def test_splats():
    """KASAN's errors, panics of the hypervisor, and races of a function of ours, of one that the
    compiler made another, and of one that ours calls; not the kernel's own, nor harmless ones."""
    for text in ("BUG: KASAN: use-after-free", "nVHE hyp panic at:",
                 RACE.format("rb_reader_update", "kthread"),
                 RACE.format("rb_move_tail", "hyp_trace_get"),
                 RACE.format("trace_remote_open.constprop.0", "kthread")):
        assert results.splats(f"[    1.000000] {text}\r\n"), text
    assert not results.splats(RACE.format("rb_move_tail", "kthread"))
    assert not results.splats("WARNING: CPU: 1 PID: 2 at alloc_tagging_slab_alloc_hook+0x1/0x2")
