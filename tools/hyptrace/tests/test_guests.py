# SPDX-License-Identifier: GPL-2.0
"""Real guests of KVM with every event of the hypervisor on, and every function: they run the same,
and each trace has what was counted meanwhile, to the event.

CONFIGURATIONS="default,nvhe,max functions,protected,max"    kernels, KVM's modes, and CPUs
ALL=1                                                        KVM's selftests that take long, too
"""

import re
import shutil

import pytest

from hyptrace import clients, trace
from hyptrace.machine import option, scaled
from hyptrace.tests.conftest import rows

# KVM's own selftests that end within seconds in each mode, and longer ones. The others need what
# is not there (several sizes of pages, userfaultfd, a PMU), or fail without tracing in QEMU's
# emulation.
SHORT = """guest_print_test hypercalls kvm_binary_stats_test kvm_create_max_vcpus no-vgic-v3
    psci_test smccc_filter steal_time vcpu_width_config vgic_irq vgic_lpi_stress"""
LONG = " coalesced_io_test debug-exceptions set_memory_region_test"
# traced NAME COMMAND...: to /out, NAME.trace with every event, the counters when all is read
# (NAME.stats), and how often KVM ran a guest (NAME.runs)
TRACED = r"""HYP=/sys/kernel/tracing/hypervisor EXIT=/sys/kernel/tracing/events/kvm/kvm_exit
traced() {
	to=/out/$1 status=0
	shift
	echo >"$HYP/trace"
	echo hist:keys=ret >"$EXIT/trigger"
	echo 1 >"$HYP/tracing_on"
	cat "$HYP/trace_pipe" >"$to.trace" &
	"$@" || status=$?
	echo 0 >"$HYP/tracing_on"
	wait $!
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		sed "s/^/$cpu /" "$HYP/per_cpu/cpu$cpu/stats"
	done >"$to.stats"
	sed -n 's/^ *Hits: //p' "$EXIT/hist" >"$to.runs"
	echo '!hist:keys=ret' >"$EXIT/trigger"
	return $status
}
hyp-trace/guest --hold
echo 4096 >"$HYP/buffer_size_kb"
echo 1 >"$HYP/events/enable"
[ ! -e "$HYP/set_ftrace_filter" ] || echo "*" >"$HYP/set_ftrace_filter"
"""
PROGRAMS = r"""
run() {
	timeout -k 5 {} "kvm/$1" </dev/null >"/out/$1.$2" 2>&1
	echo "$2 $?" >>"/out/$1.status"
}
for path in kvm/*; do
	name=${path#*/}
	echo "# $name"
	run "$name" off
	traced "$name" run "$name" on
done
"""
UP = 'echo "the guest is up: $(/bin/busybox uname -sm), $(/bin/busybox nproc) CPUs"'


def configurations(default):
    """Of each one its set, its seconds, its kernel, mode and CPU; or those that are asked for."""
    asked = [f"clients 60 {each.replace(',', ' ', 2)}" for each in option("CONFIGURATIONS").split()]
    return pytest.mark.parametrize("config, mode, cpu", rows("\n".join(asked) or default))


def has_functions(path):
    return any(each.name == "func" for each in trace.parse(trace.read(path)))


def tap(path):
    """The results that a program prints, without times."""
    return [line for line in trace.read(path) if re.match(r"ok|not ok|Bail out|\d+\.\.", line)]


@configurations("clients 25 default protected max\nmodes 60 functions protected max")
def test_guests(vm, selftest, checks, tmp_path, config, mode, cpu):
    """KVM's own selftests of this kernel pass the same with every event of the hypervisor on, and
    every function that the kernel can trace."""
    limit = 600 if option("ALL") else 120
    names, built = (SHORT + LONG * bool(option("ALL"))).split(), clients.kvm_selftests()
    shutil.copytree(selftest(config=config), tmp_path, dirs_exist_ok=True)
    tmp_path.joinpath("kvm").mkdir()
    for name in names:
        shutil.copy(built[name], tmp_path / "kvm")
    out = vm.ok("the VM ends well", TRACED + PROGRAMS.replace("{}", f"{scaled(limit):.0f}"),
                files=tmp_path, config=config, mode=mode, cpu=cpu, mem="4G",
                timeout=120 + len(names) * limit / 2).out
    for name in names:
        said = [trace.read(out / f"{name}.{how}")[-20:] for how in ("off", "on")]
        checks(f"{name} passes, and the same with all traced",
               trace.read(out / f"{name}.status") == ["off 0", "on 0"] and
               tap(out / f"{name}.off") == tap(out / f"{name}.on"), said)
        checks.equals(f"{name}: the trace adds up", trace.adds_up(out / name)[:20], [])
        checks.equals(f"{name}: it has functions", has_functions(out / f"{name}.trace"),
                      config == "functions")


# In hVHE mode 6.12's KVM shows a guest features of QEMU 10's newest CPU that then trap: init
# dies of SIGILL, without tracing too. (Others: protected,cortex-a72 nvhe,max)
@configurations("clients 15 default protected cortex-a76\nmodes 60 functions nvhe cortex-a76")
def test_nested(vm, selftest, checks, tmp_path, config, mode, cpu):
    """Linux, as a guest of KVM's, boots and powers off with every event of the hypervisor on and
    read. The guest's kernel is the host's."""
    shutil.copytree(selftest(config=config), tmp_path, dirs_exist_ok=True)
    clients.linux(tmp_path, config, UP, 300, smp=2)
    out = vm.ok("the VM ends well", TRACED + "traced guest sh ./boot\n", files=tmp_path,
                config=config, mode=mode, cpu=cpu, timeout=420).out
    console = [line.rstrip("\r") for line in trace.read(out / "guest.console")]
    checks("the guest is up", "the guest is up: Linux aarch64, 2 CPUs" in console and
           any("reboot: Power down" in line for line in console), console)
    checks.equals("the trace adds up", trace.adds_up(out / "guest")[:20], [])
    checks.equals("it has functions", has_functions(out / "guest.trace"), config == "functions")
