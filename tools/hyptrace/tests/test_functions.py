# SPDX-License-Identifier: GPL-2.0
"""EL2's functions: from boot; in the order in which gdb sees them; with their addresses where KASLR
has moved the kernel; in the call trace of a panic; what hypstat says of them is what the trace has;
and the demonstration of it."""

import functools
import json
import re
from collections import Counter

import pytest

from hyptrace import bench, demo, hypstat, objects, process, trace, vm as vms
from hyptrace.machine import BUILD
from hyptrace.tests.conftest import rows
from hyptrace.tests.test_boot import SHELL

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


# What the command line asks for, and whether it is so when user space begins
BOOT = {
    "graph": ("hyp_trace_ftrace=function_graph hyp_trace_ftrace_graph_filter=handle_trap,nonsense "
              "hyp_trace_ftrace_graph_max_depth=2", r"""
holds hypervisor/current_tracer function_graph
holds hypervisor/set_graph_function handle_trap
holds hypervisor/max_graph_depth 2
holds hypervisor/tracing_on 1
[ -z "$(cat hypervisor/set_event)" ]
logged_only "no such function: nonsense"
echo 0 >hypervisor/tracing_on
# Calls of handle_trap, what it calls, and nothing below that
sed -n '/^#/d; s/^[^|]*|  //p' hypervisor/trace >/tmp/graph
grep '^handle_trap() {$' /tmp/graph >/tmp/traps
grep '^  [a-z_]*();$' /tmp/graph >/tmp/calls
! grep -e '^    ' -e '^ *[a-z_]*() {$' /tmp/graph | grep -v '^handle_trap() {$'"""),
    "events": ("hyp_trace_ftrace_filter=handle_*,__kvm_vcpu_run,nonsense "
               "hyp_trace_ftrace_notrace=handle_host_mem_abort,nothing "
               "hyp_trace_event=func,func_ret", r"""
grep -v -e '^handle_' -e '^__kvm_vcpu_run$' hypervisor/set_ftrace_filter && exit 1
holds hypervisor/set_ftrace_notrace handle_host_mem_abort
holds hypervisor/set_event hypervisor:func hypervisor:func_ret
logged_only "no such function: nonsense" "no such function: nothing"
guest
echo 0 >hypervisor/tracing_on
grep -E ' func (__kvm_nvhe_)?__kvm_vcpu_run' hypervisor/trace >/tmp/run
grep -E ' func_ret (__kvm_nvhe_)?handle_trap' hypervisor/trace >/tmp/traps
! grep -E ' func (__kvm_nvhe_)?handle_host_mem_abort' hypervisor/trace"""),
    "wrong values": ("hyp_trace_ftrace=nonsense hyp_trace_ftrace_graph_max_depth=deep", """
holds hypervisor/current_tracer nop
holds hypervisor/max_graph_depth 0
holds hypervisor/tracing_on 0
logged_only "no such depth: deep" "no tracer from boot: nonsense"
"""),
}


@pytest.mark.modes
@pytest.mark.seconds(8)
@pytest.mark.parametrize("config", ["functions"])
@pytest.mark.parametrize("name", BOOT)
def test_boot(vm, selftest, name, config):
    cmdline, script = BOOT[name]
    vm.ok(name, SHELL + script, files=selftest(), config=config, cmdline=cmdline)


HANDLER, TRAP = "handle___kvm_vcpu_run", "handle_trap"
RUN = SHELL + """cd hypervisor
echo '*' >set_ftrace_filter
echo func func_ret >set_event
echo 1 >tracing_on
guest --hvc 1 >/dev/null
echo 0 >tracing_on
cat available_filter_functions >/out/all
cat trace >/out/trace
"""
# From the first run of a vCPU to the next trap, gdb stops where each function begins.
STOPS = """set breakpoint always-inserted on
break *{first:#x}
continue
{all}
set $n = 0
while $n < 400
  printf "at %#lx\\n", $pc
  if $n > 0 && $pc == {trap:#x}
    loop_break
  end
  set $n = $n + 1
  continue
end
delete
detach
"""


def el2_functions(machine):
    """{address: name} of what gdb can stop at, but for tracing itself"""
    found = re.findall(r"^(\w+) [tT] __kvm_nvhe_(?!hyp_(?:event|func|trace|stay)|trace_ring)(\w+)$",
                       (machine.built / "System.map").read_text("utf-8"), re.M)
    return {int(address, 16) + machine.el2_offset(): name for address, name in found}


def callees(path):
    """{function: those that its code calls}, and those that these jump to; and the functions that
    call by an address."""
    code = objects.Code(objects.output("objdump", "-dr", "--no-show-raw-insn", "-j", ".hyp.text",
                                       path))
    names = {address: name.removeprefix("__kvm_nvhe_") for name, address in code.starts.items()}
    goes, indirect, name = {"b": {}, "bl": {}}, set(), ""
    for address, insn in sorted(code.insns.items()):
        name = names.get(address, name)
        if insn.name in goes and insn.goes in names:
            goes[insn.name].setdefault(name, set()).add(names[insn.goes])
        if insn.name in ("blr", "br"):
            indirect.add(name)
    for found in goes["bl"].values():
        while more := set().union(*(goes["b"].get(each, ()) for each in found)) - found:
            found |= more
    return goes["bl"], indirect


@pytest.mark.modes
@pytest.mark.seconds(40)
@pytest.mark.parametrize("config", ["functions"])
@pytest.mark.parametrize("mode, cpu", [("protected", "max"), ("nvhe", "cortex-a72")])
@pytest.mark.usefixtures("vm")
def test_order(selftest, checks, config, mode, cpu):
    """A hypercall's functions are traced in the order in which gdb stops at them, and each one's
    caller has the call in its object code."""
    machine = vms.Machine(config=config, mode=mode, cpu=cpu, smp=1, timeout=300)
    names = el2_functions(machine)
    at = {name: address for address, name in names.items()}
    done, said = machine.under_gdb(STOPS.format(
        first=at[HANDLER], trap=at[TRAP], all="\n".join(f"break *{each:#x}" for each in names)),
        RUN, selftest(config=config))
    checks("the script ends well", done.status == 0, done.errors + done.output)
    known = set(trace.read(done.out / "all"))
    stops = [names[int(each, 16)] for each in re.findall(r"^at (0x\w+)$", said, re.M)]
    stops = [name for name in stops if name in known]
    traced = [each.args.split(" <-") for each in trace.parse(trace.read(done.out / "trace"))
              if each.name == "func"]
    traced = traced[[name for name, _ in traced].index(HANDLER):]
    checks("gdb has seen a run of a vCPU", len(stops) >= 10 and "__kvm_vcpu_run" in stops and
           (stops[0], stops[-1]) == (HANDLER, TRAP), said[-2000:])
    checks.equals("the same functions in the same order",
                  [name for name, _ in traced[:len(stops)]], stops)
    has, indirect = callees(BUILD / f"kernel-{config}" / objects.EL2)
    checks.equals("each caller has the call", [
        (caller, name) for name, caller in traced if caller in known - indirect and
        name not in has.get(caller, ())], [])


ADDRESSES = SHELL + """grep ' _stext$' /proc/kallsyms >/out/moved
cd hypervisor
echo 4096 >buffer_size_kb
echo '*' >set_ftrace_filter
echo func >set_event
echo hist:keys=ip.hex >events/hypervisor/func/trigger
echo 1 >tracing_on
guest --hvc 32 >/dev/null
echo 0 >tracing_on
cat events/hypervisor/func/hist >/out/hist
cat trace >/out/trace
"""
SYMBOL = re.compile(r"^(\w+) [tT] (_stext$|__kvm_nvhe_[\w.]+)", re.M)


@pytest.mark.parametrize("config, mode", rows("""
pages 8 16k protected
pages 8 16k nvhe"""))
def test_addresses(vm, selftest, checks, config, mode):
    """KASLR has moved the kernel. An address in a record is the one that the linker gave to the
    function in the text, and as far from it as the kernel is from where it was linked."""
    done = vm.ok("it traces", ADDRESSES, files=selftest(config=config), config=config, mode=mode,
                 cpu="max,lpa2=off")
    linked = SYMBOL.findall((BUILD / f"kernel-{config}/System.map").read_text("utf-8"))
    moved = int((done.out / "moved").read_text("utf-8").split()[0], 16) - next(
        int(address, 16) for address, name in linked if name == "_stext")
    checks("the kernel is not where it was linked", moved, moved)
    names = {int(address, 16) + moved: name.removeprefix("__kvm_nvhe_") for address, name in linked}
    found = {names.get(int(address, 16), address): int(hits) for address, hits in
             re.findall(r"^{ ip: *(\w+) } hitcount: *(\d+)",
                        (done.out / "hist").read_text("utf-8"), re.M)}
    entered, _ = calls(trace.read(done.out / "trace"))
    checks("many functions", len(entered) > 20, entered)
    checks.equals("each function's address, as often as its name",
                  sorted(found.items() ^ entered.items()), [])


# EL2 reads through a pointer that is none, in a function that calls no other: its LR is not signed.
PANIC = SHELL + r"""
insmod /test/hyp-trace/modules/hyp_call.ko
id=$(sed -n 's/.*{ \([0-9]*\), "__kvm_tlb_flush_vmid" }.*/\1/p' \
	hypervisor/events/hypervisor/host_hcall/format)
echo function_graph >hypervisor/current_tracer
echo 1 >hypervisor/tracing_on
echo "hvc $((0xc6000000 + id)) 0" >/sys/kernel/debug/hyp_call
"""


@pytest.mark.parametrize("config, cpu", rows("""
modes 5 functions cortex-a72
pages 5 16k max
pages 5 16k max,pauth=off
pages 5 bti max"""))
def test_panic(vm, selftest, config, cpu):
    """The call trace of EL2 has where traced functions would have returned to."""
    console = vm.dies(PANIC, files=selftest(config=config), config=config, mode="nvhe",
                      cpu=cpu).console
    calls = re.search("nVHE call trace:\n(.*)end nVHE call trace", console, re.S)
    # The last one is a label of the code that has called handle_trap(). gcc inlines
    # handle_host_hcall().
    names = calls and re.findall(r"\] __kvm_nvhe_(\w+)", calls[1])[:-1]
    assert names and [name for name in names if name != "handle_host_hcall"] == [
        "hyp_panic", "__kvm_tlb_flush_vmid", "handle___kvm_tlb_flush_vmid", "handle_trap"], \
        console[-4000:]


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


@pytest.mark.modes
@pytest.mark.seconds(40)
def test_costs_are_within_their_bounds():
    """The costs of functions, in tests/bench.bounds"""
    figures = bench.figures_of("function_")
    print(bench.table(figures))
    assert not bench.over(bench.bounds("function_"), figures)
