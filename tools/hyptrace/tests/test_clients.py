# SPDX-License-Identifier: GPL-2.0
"""Programs of Debian's record and read the hypervisor in a VM, and have what EL2 has written."""

# pylint: disable=too-many-arguments
import re
import shutil
from collections import Counter

import pytest

from hyptrace import clients, perfetto, trace, tree
from hyptrace.machine import BUILD, Failure

pytestmark = pytest.mark.clients
CPUS = 0, 1
UNLOADED = ["(unloaded)"]


def lines_of(path):
    """A file that a session may not have left."""
    return trace.read(path) if path.exists() else []


def per_cpu(facts, name):
    """The numbers that facts "NAME CPU NUMBER" have."""
    words = [fact.split() for fact in facts if fact.startswith(f"{name} ")]
    return {int(cpu): int(number) for _, cpu, number in words}


def total(facts, event, reason="", cpu=""):
    """How often an event was seen for that reason on that CPU: facts "count CPU EVENT REASON N"."""
    words = [fact.split() for fact in facts if fact.startswith("count ")]
    return sum(int(number) for _, at, name, why, number in words
               if name == event and reason in ("", why) and str(cpu) in ("", at))


def inexact(lines, want):
    """What is wrong with a trace of numbers: of each CPU there are so many, shown or lost."""
    facts = trace.facts("numbers", lines=lines)
    yield from (fact for fact in facts if re.match("malformed|backwards|wrong|uncounted", fact))
    got = Counter(per_cpu(facts, "shown")) + Counter(per_cpu(facts, "lost"))
    if got != want:
        yield f"{dict(got)}, not {want}"


class Session:
    """What trace-cmd has recorded in a session."""

    def __init__(self, directory, buffer="hypervisor"):
        self.directory = directory
        self.said, self.report = self.lines("said"), self.lines("report")
        self.events = list(trace.reported(self.report, buffer))
        self.facts = trace.facts("trace", lines=[line for line in self.events if
                                                 re.search(": hyp_(enter|exit) |^CPU:", line)])

    def lines(self, name):
        """A file that it has left."""
        return lines_of(self.directory / name)

    def exits(self):
        """KVM's count of the guests' exits."""
        return trace.guest_line("\n".join(self.said), "exits")

    def strange(self):
        """What trace-cmd can't make sense of, or complains about."""
        return self.lines("errors") + [
            line for line in self.events or ["no events"] if not trace.LOST.match(line) and (
                re.search(r"\[UNKNOWN EVENT|FAILED|FIND FIELD|INVALID|\?\?", line) or
                not re.match(r"\[\d+\] \d+\.\d+: [a-z_]+( [a-z_0-9]+=[^ =]+)+$", line))]

    def late(self):
        """What is not in order of time, whichever the buffer."""
        stamps = [(float(found[1]), line) for line in self.report
                  if (found := re.search(r"\[\d+\][^:]*?([\d.]+):", line))]
        return [line for (before, _), (time, line) in zip(stamps, stamps[1:]) if time < before] \
            if stamps else ["no events"]

    def lacking(self):
        """What the recording of a guest's run lacks. A CPU begins with what was under way."""
        for event in "hyp_enter", "hyp_exit":
            if (seen := total(self.facts, event, "guest")) != self.exits():
                yield f"{seen} {event} for {self.exits()} exits of the guest"
        for cpu in CPUS:
            if not total(self.facts, "hyp_exit", "host", cpu):
                yield f"nothing of CPU {cpu}"
        yield from (fact for fact in self.facts if not fact.startswith("count"))

    def outside_runs(self):
        """The runs of a guest that are not between the host's kvm_entry and kvm_exit."""
        host = self.directory / "host"
        host.write_text("\n".join(trace.reported(self.report, "", host=True)), encoding="utf-8")
        return trace.facts("clock", host, "-", lines=self.events)

    def misattributed(self):
        """A guest's events that do not name the vCPU and the VM of the thread that had KVM enter
        the guest, as the guest's output has them."""
        # The columns of these events have no task: Debian's kernels have no PID_IN_CONTEXTIDR.
        def words(line):
            fields = dict(re.findall(r"\b(\w+)=(\d+)", line))
            return fields.get("tid"), [fields.get(name) for name in ("vcpu", "vm_pid", "vm_fd")]

        of_task, entered, events = dict(words(line) for line in self.said), {}, 0
        for line in self.report:
            cpu = re.search(r"\[\d+\]|$", line)[0]
            if ": kvm_entry: " in line:
                entered[cpu] = of_task.get(line.split()[0].rpartition("-")[2])
            elif re.search(": guest_(enter|exit): ", line):
                events += 1
                if words(line)[1] != entered.get(cpu):
                    yield line
        if not events:
            yield "no events"

    def said_lost(self, cpu):
        """What trace-cmd says that it lost, from the buffer's counters."""
        found = re.findall(rf"^CPU {cpu}: (\d+) events lost", "\n".join(self.said), re.M)
        return sum(map(int, found))

    def lost_otherwise(self, count):
        """What is missing, but for lost events that are reported where they were, and whose sum is
        trace-cmd's."""
        facts = trace.facts("numbers", lines=self.events)
        yield from (fact for fact in facts if re.match("malformed|backwards|wrong", fact))
        for cpu in CPUS:
            shown, lost = per_cpu(facts, "shown").get(cpu, 0), self.said_lost(cpu)
            last = [line for line in self.events if line.startswith(f"[00{cpu}]")][-1:]
            if shown + lost != count or f"id={cpu * 1000000000 + count}" not in str(last):
                yield f"CPU {cpu}: {shown} events, {lost} lost, not {count}; the last is {last}"


def by_cpu(lines):
    """Events CPU by CPU: who prints them may choose between two of the same time."""
    return sorted((" ".join(line.split()) for line in lines if line.startswith("[")),
                  key=lambda line: line[:5])


def none(checks, name, faults):
    """A check that there are no faults."""
    return checks.equals(name, list(faults)[:8], [])


def judge_guest(checks, what, session):
    """The checks of a recording of a guest's run"""
    none(checks, f"{what}: each event has its fields, and the columns before", session.strange())
    none(checks, f"{what}: what EL2 did for the guest, in its order", session.lacking())
    none(checks, f"{what}: in order of time", session.late())


def judge_numbers(checks, what, session):
    """The checks of a recording of a thousand numbers on each CPU"""
    none(checks, f"{what}: each event has its fields, and the columns before", session.strange())
    none(checks, f"{what}: each number, once, in order",
         inexact(session.events, dict.fromkeys(CPUS, 1000)))


def judge_records(checks, out):
    """`trace-cmd record`, in each way that it has"""
    guest, host, one, lost = (Session(out / name) for name in "guest host one lost".split())
    judge_guest(checks, "record", guest)
    checks.equals("record: the buffer is given back", guest.lines("state"), UNLOADED)
    checks("record: the directory is still there", (guest.directory / "exists").exists())
    judge_guest(checks, "record, interrupted", Session(out / "interrupted"))
    judge_guest(checks, "record, with the host's events", host)
    none(checks, "record, with the host's events: one clock", host.outside_runs())
    none(checks, "record, with the host's events: whose they are", host.misattributed())
    none(checks, "record, one event: it has its fields", one.strange())
    checks.equals("record, one event: one for each exit of the guest",
                  total(one.facts, "hyp_enter", "guest"), one.exits())
    checks.equals("record, one event: no other", total(one.facts, "hyp_exit"), 0)
    judge_numbers(checks, "record, numbers", Session(out / "numbers"))
    judge_numbers(checks, "record --nosplice, numbers", Session(out / "nosplice"))
    none(checks, "events lost: every event has its fields", lost.strange())
    checks("events lost: some are", lost.said_lost(0) > 0)
    none(checks, "events lost: those, and they are reported", lost.lost_otherwise(10000))


def judge_extract(checks, out):
    """start, stat, stop, show, extract"""
    session = Session(out / "extract")
    for when, words in (("on", {"All enabled", "Clock: boot", "Tracing is enabled"}),
                        ("off", {"Tracing is disabled"})):
        said = {line.strip() for line in session.lines(f"stat.{when}")}
        none(checks, f"stat: while it is {when}", (words | {"Instance: hypervisor"}) - said)
    judge_guest(checks, "start, stop, extract", session)
    shown, events = by_cpu(session.lines("show.0")), by_cpu(session.events)
    checks.equals("report has the text of show", by_cpu(session.lines("show")), events)
    checks.equals("report has the text of show -c", shown,
                  [line for line in events if line.startswith("[000]")])
    checks("which is something", shown)
    checks.equals("extract: the buffer is given back", session.lines("state"), UNLOADED)


def judge_others(checks, out):
    """show -p, reset, list, and a recorder that is killed"""
    files = {f"{path.parent.name}/{path.name}": trace.read(path)
             for name in ("reset", "list", "killed") for path in (out / name).iterdir()}
    none(checks, "show -p: each number, once, in order",
         inexact(lines_of(out / "pipe/report"), dict.fromkeys(CPUS, 1000)))
    checks.equals("reset: no event is enabled", files["reset/enable"], ["0"])
    checks.equals("reset: tracing is on, as in the host's", files["reset/tracing_on"], ["1"])
    none(checks, "reset: no event is left", by_cpu(files["reset/trace"]))
    checks.equals("reset: the clock is its own", files["reset/trace_clock"], ["[boot]"])
    checks.equals("list -e: the events", sorted(files["list/events"]),
                  sorted(files["list/available_events"]))
    fields = [sorted(line for line in files[name] if re.search("field:.*offset", line))
              for name in ("list/formats", "list/format")]
    checks.equals("list -e -F: their fields", *fields)
    checks("list -B: the buffer", "hypervisor" in files["list/buffers"], files["list/buffers"])
    checks("killed: it had read", int(files["killed/read"][0]) > 0)
    checks.equals("killed: it has left tracing on", files["killed/tracing_on"], ["1"])
    after = Session(out / "after-killed")
    judge_numbers(checks, "after a killed one", after)
    checks.equals("after a killed one: the buffer is given back", after.lines("state"), UNLOADED)


@pytest.fixture(name="lay_out")
def _lay_out(tmp_path, selftest):
    """Lays /test of a VM out, the kselftest and a client; skips what can't be had."""
    selftest()

    def lay_out(how, *words):
        try:
            how(tmp_path / "files", *words)
        except Failure as failure:
            pytest.skip(str(failure))
        return tmp_path / "files"
    return lay_out


@pytest.mark.seconds(40)
@pytest.mark.parametrize("release, mode, cpu", [
    ("bookworm", "protected", "max"),
    pytest.param("trixie", "protected", "max", marks=pytest.mark.fast),
    ("trixie", "nvhe", "cortex-a72")])
def test_trace_cmd(vm, checks, lay_out, release, mode, cpu):
    """trace-cmd of a Debian release that has one able to"""
    files = lay_out(clients.trace_cmd, release)
    shutil.copy(clients.CLIENTS / "trace-cmd.sh", files / "hyp-trace")
    out = vm.ok("the machine ends well", "cp -R usr /; exec hyp-trace/trace-cmd.sh", files=files,
                mode=mode, cpu=cpu, timeout=300).out
    judge_records(checks, out)
    judge_extract(checks, out)
    judge_guest(checks, "record -N", Session(out / "net", ""))
    judge_guest(checks, "record -N -t", Session(out / "net-t", ""))
    judge_others(checks, out)


@pytest.mark.fast
@pytest.mark.seconds(8)
@pytest.mark.parametrize("mode, cpu", [("protected", "max"), ("nvhe", "cortex-a72")])
def test_libtracefs(vm, lay_out, mode, cpu):
    """A program of Debian 13's libtracefs uses each kind of file."""
    files = lay_out(clients.libtracefs)
    vm.tests(f"{mode} {cpu}", ["./libtracefs"], "cp -R usr /; taskset -p 1 $$", files=files,
             mode=mode, cpu=cpu, timeout=120)


class Recording:
    """A recording with Perfetto, and what was written meanwhile."""

    def __init__(self, out, name):
        self.lines = list(perfetto.decode((out / name).read_bytes()))
        self.found, self.wrong = perfetto.judge(self.lines)
        self.written = {int(cpu): int(count) for cpu, count in
                        (line.split() for line in trace.read(out / f"{name}.written"))}

    def sum_of(self, name, cpu):
        """The sum of what was found of a name."""
        return sum(self.found.get((name, cpu), []))

    def unread(self):
        """CPUs with fewer events than the kernel says were read. (Perfetto may read on after it has
        asked for the counts.)"""
        return [cpu for cpu in self.written
                if self.sum_of("events", cpu) < self.sum_of("read_events", cpu)]

    def inexact(self):
        """What is wrong with the numbers; that an event was lost is a fault."""
        lines = [line for line in self.lines if re.search("^CPU:|: selftest ", line)]
        return inexact(lines, self.written)

    def lost(self):
        """CPUs that lost events by the kernel's account, or by marks."""
        return [cpu for cpu in self.written if self.found.get(("marks", cpu)) or
                set(self.found.get(("overrun", cpu), [])) != {0}]

    def runs(self):
        """How many runs of guests there are between the host's kvm_entry and kvm_exit, and how many
        of those lack what EL2 did, by the two clocks. (The two buffers are not read from the same
        moment to the same.)"""
        events = sorted((each for each in trace.parse(self.lines)
                         if re.search(" (kvm_entry|kvm_exit|hyp_enter)( |$)", each.line)),
                        key=lambda each: (each.cpu, each.time))
        runs = short = 0
        for cpu in CPUS:
            begun, inside, stays_in, without = False, False, 0, 0
            for name in (event.name for event in events if event.cpu == cpu):
                if name == "kvm_entry":
                    inside, stays_in = True, 0
                elif name == "hyp_enter":
                    begun, stays_in, short, without = True, stays_in + 1, short + without, 0
                else:
                    runs += inside and begun
                    without += inside and begun and stays_in < 2
                    inside = False
        return runs, short

    def in_order(self, cpu):
        """In a buffer of few pages that was not read meanwhile: those overwritten, then in order
        those that were read, then those that Perfetto left."""
        lost, begin = self.sum_of("overrun", cpu), f"[{cpu:03}]"
        ids = [int(line.partition("id=")[2]) for line in self.lines if line.startswith(begin)]
        first = cpu * 1000000000 + lost + 1
        return lost > 0 and self.found.get(("marks", cpu)) == [1] and not self.unread() and \
            ids == list(range(first, first + len(ids))) and \
            lost + len(ids) + self.found["entries", cpu][-1] == self.written[cpu]


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
            "after": "after a killed one"}.items():
        recording = Recording(out, name)
        none(checks, f"{title}: the recording is sound", recording.wrong)
        none(checks, f"{title}: it has each numbered event", recording.inexact())
        none(checks, f"{title}: none was lost", recording.lost())
        if name in ("both", "load"):
            runs, short = recording.runs()
            checks(f"{title}: in the host's time", runs and not short,
                   f"{runs} runs, {short} without EL2")
        else:
            none(checks, f"{title}: it has all that were read", recording.unread())
    checks.equals("killed, it leaves tracing on", lines_of(out / "killed.on"), ["1"])
    small = Recording(out, "small")
    none(checks, "events lost: the recording is sound", small.wrong)
    none(checks, "events lost: marked, counted, and no others",
         [cpu for cpu in small.written if not small.in_order(cpu)])


@pytest.mark.fast
@pytest.mark.seconds(10)
def test_android(vm, checks, lay_out):
    """The tracer of Android's virtualization tests finds the events by its pattern, trace.EVENT.
    (test_boot.py compares the console with trace.)"""
    out = vm.ok("its steps in a VM", clients.CLIENTS / "android.sh",
                files=lay_out(clients.beside_selftest), timeout=120).out
    for cpu in CPUS:
        none(checks, f"each event of CPU {cpu}'s trace_pipe, by turns",
             trace.by_turns(lines_of(out / f"pipe.{cpu}")))
    seen = sum(line.endswith("hyp_enter reason=guest") for line in lines_of(out / "pipe.1"))
    exits = trace.guest_line((out / "guest").read_text(encoding="utf-8"), "exits")
    checks("each exit of the guest", 0 < seen == exits, f"{seen} of {exits}")
    for file, names in (("trace", {"hyp_enter", "host_hcall", "guest_exit", "hyp_printk"}),
                        ("trace_pipe", {"hyp_enter", "hyp_exit", "selftest"})):
        found = [trace.EVENT.match(line) for line in lines_of(out / file)]
        checks(f"each line of {file} is an event", found and all(found))
        none(checks, f"all events of {file}", names - {each and each[3] for each in found})


ADDED = """\
HYP_EVENT(added,
	HE_PROTO(u64 id, const char *text, const unsigned long *bits),
	HE_STRUCT(
		he_field(s32, sign)
		he_array(u16, values, 3)
		he_string(text, text)
		he_bitmask(bits, 70)
		he_string(again, text)
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
	{{
	u64 id = *reg;

	trace_added(id, id == 3 ? "" : id & 1 ? "odd" : "{'0123456789' * 14}",
		    (unsigned long[]){{ id << 60 | 5, id & 63 }});
	}}
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
    files = lay_out(clients.trace_cmd, "bookworm")
    shutil.copy(clients.CLIENTS / "added.sh", files / "hyp-trace")
    out = vm.ok("the machine ends well", "cp -R usr /; exec hyp-trace/added.sh", files=files,
                config="event", timeout=120).out

    def texts(name):
        begin = ": added: " if name == "report" else ": added "    # trace-cmd has a colon
        return [line.partition(begin)[2].strip() for line in lines_of(out / name)
                if begin in line]

    checks.equals("it is available", lines_of(out / "available"), ["hypervisor:added"])
    checks.equals("its fields", [line for line in lines_of(out / "format")
                                 if "field:" in line and "common_" not in line], FORMAT)
    checks.equals("the host's events/ has it, too", lines_of(out / "format.host"),
                  lines_of(out / "format"))
    checks.equals("off at first, after reset", lines_of(out / "enable"), ["0"])
    checks.equals("while it is off there is none", texts("off"), [])
    checks.equals("its text", texts("on"), added_lines())
    checks.equals("filtered", texts("filtered"), added_lines()[::2])
    for number, field in enumerate(("values", "text", "bits")):
        checks.equals(f"no filter of {field}", trace.read(out / "refused")[number], "EINVAL")
    checks.equals("its text, once more", texts("again"), added_lines())
    none(checks, "trace-cmd has no complaints",
         [line for line in lines_of(out / "errors") if not line.startswith("cpus=")])
    checks.equals("its text in trace-cmd's report", texts("report"), added_lines("{} {} 65535"))
