# SPDX-License-Identifier: GPL-2.0
"""Programs of Debian's record and read the hypervisor in a VM, and have what EL2 has written."""

# pylint: disable=too-many-arguments
import re
import shutil

import pytest

from hyptrace import clients, perfetto, trace, tree
from hyptrace.machine import BUILD, Failure

pytestmark = pytest.mark.clients
CPUS = 0, 1
THOUSAND = dict.fromkeys(CPUS, 1000)


def total(facts, *words, cpu=""):
    """The sum of the facts "KIND CPU MORE NUMBER" of a kind and more, on one CPU or all."""
    found = [fact.split() for fact in facts if re.match("(count|shown|lost) ", fact)]
    return sum(int(number) for kind, at, *more, number in found
               if (kind, *more)[:len(words)] == words and cpu in ("", int(at)))


def number_faults(lines, want, lost=None):
    """What is wrong with a trace of numbers: of each CPU there are so many, shown or lost. `lost`
    are those that its lines do not count."""
    facts = trace.facts("numbers", lines=lines)
    fine = "(shown|lost|unmerged|uncounted) " if lost else "(shown|lost|unmerged) "
    yield from (fact for fact in facts if not re.match(fine, fact))
    for cpu in CPUS:
        got = total(facts, "shown", cpu=cpu)
        got += lost[cpu] if lost else total(facts, "lost", cpu=cpu)
        if got != want.get(cpu, 0):
            yield f"CPU {cpu}: {got} events, not {want.get(cpu, 0)}"


def by_cpu(lines):
    """Events CPU by CPU: who prints them may choose between two of the same time."""
    return sorted((" ".join(line.split()) for line in lines if line.startswith("[")),
                  key=lambda line: line[:5])


def none(checks, name, found):
    """A check that there are no faults."""
    return checks.equals(name, list(found)[:8], [])


class Session:
    """What trace-cmd has recorded in a session."""

    def __init__(self, out, name):
        self.directory = out / name
        self.said, self.report = self.lines("said"), self.lines("report")
        buffer = "" if name.startswith("record -N") else "hypervisor"
        self.events = list(trace.reported(self.report, buffer))
        self.facts = trace.facts("trace", lines=[line for line in self.events if
                                                 re.search(": hyp_(enter|exit) |^CPU:", line)])

    def lines(self, name):
        """A file that it may have left."""
        path = self.directory / name
        return trace.read(path) if path.exists() else []

    def exits(self):
        """KVM's count of the guests' exits."""
        return trace.guest_line("\n".join(self.said), "exits")

    def strange(self):
        """What trace-cmd can't make sense of, or complains about."""
        return self.lines("errors") + [
            line for line in self.events or ["no events"] if not trace.LOST.match(line) and
            not re.match(r"\[\d+\] \d+\.\d+: [a-z_]+( [a-z_0-9]+=[^ =?]+)+$", line)]

    def guest_faults(self):
        """What is wrong with the recording of a guest's run. A CPU begins with what was under way;
        times are in order, whichever the buffer."""
        yield from self.strange()
        for event in "hyp_enter", "hyp_exit":
            if (seen := total(self.facts, "count", event, "guest")) != self.exits():
                yield f"{seen} {event} for {self.exits()} exits of the guest"
        for cpu in CPUS:
            if not total(self.facts, "count", "hyp_exit", "host", cpu=cpu):
                yield f"nothing of CPU {cpu}"
        yield from (fact for fact in self.facts if not fact.startswith("count "))
        times = [float(found[1]) for line in self.report
                 if (found := re.search(r"\[\d+\][^:]*?([\d.]+):", line))]
        yield from (f"backwards to {time}" for before, time in zip(times, times[1:])
                    if time < before)

    def outside_runs(self):
        """The runs of a guest that are not between the host's kvm_entry and kvm_exit."""
        host = self.directory / "host"
        host.write_text("\n".join(trace.reported(self.report, "", host=True)), encoding="utf-8")
        return trace.facts("clock", host, "-", lines=self.events)

    def misattributed(self):
        """A guest's events that do not name the vCPU and the VM of the thread that had KVM enter
        the guest, as the guest's output has them. (Debian's kernels have no PID_IN_CONTEXTIDR,
        so that the columns of these events have no task.)"""
        def named(line):
            fields = dict(re.findall(r"\b(\w+)=(\d+)", line))
            return [fields.get(name) for name in ("vcpu", "vm_pid", "vm_fd", "tid")]

        names, entered = {named(line)[3]: named(line)[:3] for line in self.said}, {}
        for line in self.report:
            cpu = re.search(r"\[\d+\]|$", line)[0]
            if ": kvm_entry: " in line:
                entered[cpu] = names.get(line.split()[0].rpartition("-")[2])
            elif re.search(": guest_(enter|exit): ", line) and named(line)[:3] != entered.get(cpu):
                yield line
        if not entered:
            yield "no guest was entered"

    def lost_otherwise(self, count):
        """What is missing, but for lost events that are reported where they were, and whose sum is
        trace-cmd's, from the buffer's counters."""
        said = re.findall(r"^CPU (\d): (\d+) events lost", "\n".join(self.said), re.M)
        lost = {cpu: sum(int(number) for at, number in said if int(at) == cpu) for cpu in CPUS}
        yield from number_faults(self.events, dict.fromkeys(CPUS, count), lost)
        yield from (f"CPU {cpu}: not the last event" for cpu in CPUS if not any(
            line.endswith(f"id={cpu * 1000000000 + count}") for line in self.events))
        if not lost[0]:
            yield "no events lost"


def judge_records(checks, out):
    """What trace-cmd has recorded, in each way that it has"""
    sessions = {path.name: Session(out, path.name) for path in out.iterdir()}
    host, one, lost = (sessions[f"record, {name}"] for name in (
        "with the host's events", "one event", "events lost"))
    for name in ("record", "record, interrupted", "record, with the host's events", "extract",
                 "record -N", "record -N -t"):
        none(checks, f"{name}: each event has its fields, in EL2's order and in time's",
             sessions[name].guest_faults())
    for name in "record, numbers", "record --nosplice", "after a killed one":
        none(checks, f"{name}: each number, once, in order",
             [*sessions[name].strange(), *number_faults(sessions[name].events, THOUSAND)])
    for name in "record", "extract", "after a killed one":
        checks.equals(f"{name}: the buffer is given back", sessions[name].lines("state"),
                      ["(unloaded)"])
    none(checks, "record, with the host's events: one clock", host.outside_runs())
    none(checks, "record, with the host's events: whose they are", host.misattributed())
    checks.equals("record, one event: one for each exit of the guest, and no other",
                  [one.strange(), total(one.facts, "count", "hyp_enter", "guest"),
                   total(one.facts, "count", "hyp_exit")], [[], one.exits(), 0])
    none(checks, "record, events lost: some are, and those are reported",
         [*lost.strange(), *lost.lost_otherwise(10000)])


def judge_others(checks, out):
    """The other commands; left() is a file of a session's"""
    def left(session, name):
        return trace.read(out / session / name)

    for when, words in (("on", {"All enabled", "Clock: boot", "Tracing is enabled"}),
                        ("off", {"Tracing is disabled"})):
        said = {line.strip() for line in left("extract", f"stat.{when}")}
        none(checks, f"stat: while it is {when}", (words | {"Instance: hypervisor"}) - said)
    events = by_cpu(Session(out, "extract").events)
    checks.equals("report has the text of show", by_cpu(left("extract", "show")), events)
    checks.equals("report has the text of show -c", by_cpu(left("extract", "show.0")),
                  [line for line in events if line.startswith("[000]")] or "something")
    none(checks, "show -p: each number, once, in order",
         number_faults(left("pipe", "report"), THOUSAND))
    none(checks, "reset: no event is left", by_cpu(left("reset", "trace")))
    for session, name, expected in (("reset", "enable", "0"), ("reset", "tracing_on", "1"),
                                    ("reset", "trace_clock", "[boot]"),
                                    ("killed", "tracing_on", "1")):
        checks.equals(f"{session}: it leaves {name} as in the host's", left(session, name),
                      [expected])
    checks("killed: it had read", int(left("killed", "read")[0]) > 0)
    checks.equals("list -e: the events", sorted(left("list", "events")),
                  sorted(left("list", "available_events")))
    checks.equals("list -e -F: their fields", *(
        sorted(line for line in left("list", name) if re.search("field:.*offset", line))
        for name in ("formats", "format")))
    checks("list -B: the buffer", "hypervisor" in left("list", "buffers"))


@pytest.fixture(name="lay_out")
def _lay_out(tmp_path, selftest):
    """Lays /test of a VM out, with a client and a script; skips what can't be had."""
    selftest()

    def lay_out(how, *words, script="android.sh"):
        try:
            how(tmp_path / "files", *words)
        except Failure as failure:
            pytest.skip(str(failure))
        shutil.copy(clients.CLIENTS / script, tmp_path / "files/hyp-trace")
        return tmp_path / "files"
    return lay_out


@pytest.mark.seconds(40)
@pytest.mark.parametrize("release, mode, cpu", [
    ("bookworm", "protected", "max"),
    pytest.param("trixie", "protected", "max", marks=pytest.mark.fast),
    ("trixie", "nvhe", "cortex-a72")])
def test_trace_cmd(vm, checks, lay_out, release, mode, cpu):
    """trace-cmd of a Debian release that has one able to"""
    files = lay_out(clients.trace_cmd, release, script="trace-cmd.sh")
    out = vm.ok("the machine ends well", "cp -R usr /; exec hyp-trace/trace-cmd.sh", files=files,
                mode=mode, cpu=cpu, timeout=300).out
    judge_records(checks, out)
    judge_others(checks, out)


@pytest.mark.fast
@pytest.mark.seconds(8)
@pytest.mark.parametrize("mode, cpu", [("protected", "max"), ("nvhe", "cortex-a72")])
def test_libtracefs(vm, lay_out, mode, cpu):
    """A program of Debian 13's libtracefs uses each kind of file."""
    vm.tests(f"{mode} {cpu}", ["./libtracefs"], "cp -R usr /; taskset -p 1 $$",
             files=lay_out(clients.libtracefs), mode=mode, cpu=cpu, timeout=120)


class Recording(perfetto.Recording):
    """A recording with Perfetto, and what was written meanwhile."""

    def __init__(self, out, name):
        super().__init__((out / name).read_bytes())
        self.written = {int(cpu): int(count) for cpu, count in
                        (line.split() for line in trace.read(out / f"{name}.written"))}

    def lost(self):
        """Numbers that it does not have once and in order; an event lost by the kernel's count."""
        numbers = [line for line in self.lines if re.search("^CPU:|: selftest ", line)]
        return [*number_faults(numbers, self.written), *(
            f"CPU {cpu} overran" for cpu in self.written if set(self.stats["overrun", cpu]) != {0})]

    def unread(self):
        """CPUs with fewer events than the kernel says were read. (Perfetto may read on after it has
        asked for the counts.)"""
        events = [each.cpu for each in self.ours() if isinstance(each, trace.Event)]
        return [cpu for cpu in self.written
                if events.count(cpu) < sum(self.stats["read_events", cpu])]

    def short_runs(self):
        """Runs of guests between the host's kvm_entry and kvm_exit that lack what EL2 did, by the
        two clocks. (The two buffers are not read from the same moment to the same: only what is
        between EL2's first event and its last counts.)"""
        events = sorted((each for each in trace.parse(self.lines)
                         if isinstance(each, trace.Event)), key=lambda each: each.time)
        letters = {"kvm_entry": "<", "kvm_exit": ">", "hyp_enter": "h"}
        runs = []
        for cpu in CPUS:
            text = "".join(letters.get(each.name, "") for each in events if each.cpu == cpu)
            runs += re.findall("<h*>", text[text.find("h"):text.rfind("h")])
        return [run for run in runs if run.count("h") < 2] if runs else ["no runs"]

    def disordered(self):
        """CPUs whose buffer of few pages, which was not read meanwhile, does not have in order
        those overwritten, those that were read, and those that Perfetto left."""
        for cpu, count in self.written.items():
            lost = sum(self.stats["overrun", cpu])
            marks = self.lines.count(f"CPU:{cpu} [LOST EVENTS]")
            ids = [int(line.partition("id=")[2]) - cpu * 1000000000 for line in self.lines
                   if line.startswith(f"[{cpu:03}]")]
            left = count - self.stats["entries", cpu][-1]
            if not lost or marks != 1 or ids != list(range(lost + 1, left + 1)):
                yield f"CPU {cpu}: {lost} lost, {marks} marks, {left} not left, read {ids}"


@pytest.mark.fast
@pytest.mark.seconds(30)
def test_perfetto(vm, checks, lay_out):
    """Debian's Perfetto records all events."""
    out = vm.ok("Perfetto records in a VM", clients.CLIENTS / "perfetto-sessions.sh",
                files=lay_out(clients.perfetto), mem="2G", timeout=300).out
    for name, title in {
            "first": "instance hypervisor", "second": "another session",
            "shortcut": "perfetto hypervisor", "both": "with the host's events",
            "load": "begun and ended under load", "hotplug": "a CPU goes off and on",
            "after": "after a killed one", "small": "events lost"}.items():
        recording = Recording(out, name)
        none(checks, f"{title}: the recording is sound",
             [*recording.wrong, *recording.disorder()])
        faults = recording.disordered() if name == "small" else recording.lost()
        none(checks, f"{title}: each event is there, or counted as lost", faults)
        if name in ("both", "load"):
            none(checks, f"{title}: in the host's time", recording.short_runs())
        else:
            none(checks, f"{title}: it has all that were read", recording.unread())
    checks.equals("killed, it leaves tracing on", trace.read(out / "killed.on"), ["1"])


@pytest.mark.fast
@pytest.mark.seconds(10)
def test_android(vm, checks, lay_out):
    """The tracer of Android's virtualization tests finds the events by its pattern, trace.EVENT.
    (test_panic.py compares the console with trace.)"""
    out = vm.ok("its steps in a VM", clients.CLIENTS / "android.sh",
                files=lay_out(clients.beside_selftest), timeout=120).out
    for cpu in CPUS:
        none(checks, f"each event of CPU {cpu}'s trace_pipe, by turns",
             [fact for fact in trace.facts("trace", out / f"pipe.{cpu}") or ["no events"]
              if not fact.startswith(f"count {cpu} ")])
    seen = total(trace.facts("trace", out / "pipe.1"), "count", "hyp_enter", "guest")
    checks.equals("each exit of the guest", seen,
                  trace.guest_line((out / "guest").read_text(encoding="utf-8"), "exits"))
    for name in "trace", "trace_pipe":
        found = [trace.EVENT.match(line) for line in trace.read(out / name)]
        checks(f"each line of {name} is an event", found and all(found))
        none(checks, f"all events of {name}", {
            "hyp_enter", "host_hcall", "guest_exit", "hyp_printk", "selftest"} - {
                each and each[3] for each in found})


ADDED = """\
HYP_EVENT(added,
	HE_PROTO(u64 id, const char *text, const unsigned long *bits),
	HE_STRUCT(
		he_field(s32, sign) he_array(u16, values, 3) he_string(text, text)
		he_bitmask(bits, 70) he_string(again, text)
	),
	HE_ASSIGN(
		__entry->sign = id & 1 ? -1 : 1;
		__entry->values[0] = id;
		__entry->values[1] = id + 1;
		__entry->values[2] = 0xffff;
		__assign_str(text);
		__assign_bitmask(bits, bits, 70);
		__assign_str(again);
	),
	HE_PRINTK("sign=%d values=%s text=%s bits=%s again=%s", __entry->sign,
		  __print_array(__entry->values, 3, 2), __get_str(text), __get_bitmask(bits),
		  __get_str(again))
)
"""
CALL = f"""\
	trace_added(*reg, *reg == 3 ? "" : *reg & 1 ? "odd" : "{'0123456789' * 14}",
		    (unsigned long[]){{ *reg << 60 | 5, *reg & 63 }});
"""
FORMAT = """\
	field:s32 sign;	offset:8;	size:4;	signed:1;
	field:u16 values[3];	offset:12;	size:6;	signed:0;
	field:__data_loc char[] text;	offset:20;	size:4;	signed:0;
	field:__data_loc unsigned long[] bits;	offset:24;	size:4;	signed:0;
	field:__data_loc char[] again;	offset:28;	size:4;	signed:0;""".splitlines()


def added_lines(values="{{{:#x},{:#x},0xffff}}"):
    """What is shown of the numbers 1, 2, 3 and 62. A text is cut."""
    cut = "0123456789" * 12 + "0123456"
    return [f"sign={-1 if number & 1 else 1} values={values.format(number, number + 1)} "
            f"text={text} bits=00000000,{number:08x},{number % 16:x}0000000,00000005 "
            f"again={text}".rstrip()
            for number, text in ((1, "odd"), (2, cut), (3, ""), (62, cut))]


def with_event():
    """The sources with one more entry in the event list, and one call behind the number's own."""
    path, mark = "arch/arm64/kvm/hyp/nvhe/trace_hcall.c", "\t\ttrace_selftest(id);\n\t}\n"
    before, found, after = (BUILD / "tree" / path).read_text(encoding="utf-8").partition(mark)
    assert found, f"no place in {path}"
    return {**tree.more_events(ADDED), path: before + found + CALL + after}


@pytest.mark.seconds(200)
def test_added(kernel, vm, checks, lay_out):
    """An event is one entry in the event list and one call: one that has a field of each kind is
    wherever events are seen."""
    tree.make()
    with tree.edited(with_event()):
        kernel("event", targets=["Image"])
    out = vm.ok("the machine ends well", "cp -R usr /; exec hyp-trace/added.sh", config="event",
                files=lay_out(clients.trace_cmd, "bookworm", script="added.sh"), timeout=120).out
    left = {path.name: trace.read(path) for path in out.iterdir()}

    def texts(name):
        """The text of the events; trace-cmd has a colon before it."""
        return [found[1].strip() for line in left[name]
                if (found := re.search(": added:? (.*)", line))]

    for title, found, expected in (
            ("it is available", left["available"], ["hypervisor:added"]),
            ("its fields",
             [line for line in left["format"] if re.search("field:(?!.* common_)", line)], FORMAT),
            ("the host's events/ has it, too", left["format.host"], left["format"]),
            ("off at first, after reset", [*left["enable"], *texts("off")], ["0"]),
            ("its text", texts("on"), added_lines()),
            ("filtered", texts("filtered"), added_lines()[::2]),
            ("no filter of values, text, bits", left["refused"], ["EINVAL"] * 3),
            ("its text, once more", texts("again"), added_lines()),
            ("its text in trace-cmd's report, without complaints",
             [*(line for line in left["errors"] if not line.startswith("cpus=")),
              *texts("report")], added_lines("{} {} 65535"))):
        checks.equals(title, found, expected)
