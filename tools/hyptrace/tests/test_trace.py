# SPDX-License-Identifier: GPL-2.0
"""What judges traces, documents and call chains finds what is wrong with one, and nothing in one
that is right: programs of the kselftest, in awk and sh, and functions of the driver."""

import re
import subprocess

import pytest

from hyptrace import callchains, documents, perfetto, trace
from hyptrace.process import run

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(5)]


def lines_of(tokens):
    """The lines of a trace. CPU<REASON is a hyp_enter, CPU>REASON a hyp_exit, CPU#N the Nth of the
    CPU's numbers, CPU?N lost events; @T is the time after a second, by default the place."""
    for place, token in enumerate(tokens.split(), 1):
        cpu, kind, what, at = re.fullmatch(r"(\d)([<>#?])([^@]*)(?:@(.*))?", token).groups()
        reason = f"reason={what} vcpu={'3' if what == 'guest' else '-1'}"
        text = {"<": f"hyp_enter {reason}", ">": f"hyp_exit {reason}"}.get(kind) or \
            f"selftest id={int(cpu) * 1000000000 + int(what or 0)}"
        yield f"CPU:{cpu} [LOST {what and what + ' '}EVENTS]" if kind == "?" else \
            f"[{int(cpu):03}] {1 + int(at or place) / 1000000:>12.6f}: {text}"


def cases(table):
    """The parameters of a table, lines of NAME: GIVEN -> EXPECTED."""
    for line in table.strip().splitlines():
        name, _, rest = line.partition(": ")
        given, _, expected = rest.rpartition("->")
        yield pytest.param(given.strip(), expected.strip(), id=name)


def written(path, lines):
    """A file of these lines."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def edited(path, text, script):
    """A file of the text that sed has edited."""
    return written(path, run(["sed", script], input=text).stdout.splitlines())


def kinds(found):
    """The faults in facts: their kinds and lines."""
    return " ".join(line.split(":")[0] for line in found
                    if not re.match("(count|lost|shown) ", line))


@pytest.mark.parametrize("given, faults", cases("""
two CPUs: 0<hvc 1>host 1<smc 0>guest 1>firmware 0<guest 1<psci 0>host 1>firmware 1<firmware ->
it may begin at EL2 only once: 0>guest 0>host -> unpaired 2
hyp_enter twice: 0<hvc 0<hvc -> unpaired 2
hyp_exit twice: 0<hvc 0>guest 0>host -> unpaired 3
from the guest, but not by the guest: 0<hvc 0>guest 0<abort -> misled 3
from the host, but by the guest: 0<hvc 0>host 0<guest -> misled 3
time goes backwards: 0>guest@2 0<hvc@1 -> backwards 2 unmerged 2
time goes backwards between CPUs: 0<hvc 0>guest 1<smc@1 -> unmerged 3
as many lost as keep the turn: 0<hvc 0?2 0>host ->
one lost too many: 0<hvc 0?3 0>host -> unpaired 3
lost on another CPU: 0<hvc 1?1 0<hvc -> unpaired 3
"""))
def test_pairs(given, faults):
    """trace.awk"""
    assert kinds(trace.facts("trace", lines=lines_of(given))) == faults


@pytest.mark.parametrize("given, faults", cases("""
in order, lost at first, in between and in the end: 1?2 0#1 0#2 1#3 1?2 1#6 0?1 ->
one twice: 0#1 0#1 -> wrong 2
one missing: 0#1 0#3 -> wrong 2
the first missing: 0#2 -> wrong 1
in the wrong order: 0#2 0#1 -> wrong 1 wrong 2
on the wrong CPU: 1#-999999999 -> wrong 1
from another on: 0#5 0#6 | 5 ->
from another on, the one before: 0#4 | 5 -> wrong 1
one more lost than reported: 0#1 0?2 0#5 -> wrong 3
one less lost than reported: 0#1 0?2 0#3 -> wrong 3
lost elsewhere: 0#1 1?2 0#4 -> wrong 3
lost, and not how many: 0#1 0? 0#9 0#10 -> uncounted 2
but not what was there: 0#1 0? 0#1 -> uncounted 2 wrong 3
time goes backwards: 0#1@2 0#2@1 -> backwards 2
time goes backwards between CPUs: 0#1@2 1#1@1 -> unmerged 2
"""))
def test_numbers(given, faults):
    """numbers.awk"""
    given, _, first = given.partition(" | ")
    found = trace.facts("numbers", lines=[*lines_of(given), "# a comment"], first=first or 1)
    assert kinds(found) == faults


@pytest.mark.parametrize("program, line", [
    *(("trace", line) for line in (
        "[000] 1.000001: hyp_enter ", "[00] 1.000001: hyp_enter reason=hvc vcpu=-1",
        "[000] 1.00001: hyp_enter reason=hvc vcpu=-1", "[000] 1.000001: hyp_enter reason=? vcpu=-1",
        "CPU:0 [LOST EVENTS]", "[000] 1.000001: hyp_enter reason=hvc vcpu=-1 x",
        "[000] 1.000001: hyp_enter reason=hvc", "[000] 1.000001: hyp_enter reason=hvc vcpu=1",
        "[000] 1.000001: hyp_enter reason=guest vcpu=-1")),
    *(("numbers", line) for line in (
        "[000]     1.000001: selftest id=", "[000]     1.000001: selftest id=1 ",
        "[0] 1.000001: selftest id=1", "[000] 1.0001: selftest id=1", "".join(lines_of("0#1 0#2")),
        "[000]     1.000001: hyp_enter reason=hvc", "CPU:0 [LOST EVENTS", "[LINE TOO BIG]", ""))])
def test_malformed(program, line):
    """trace.awk and numbers.awk take no line that is not as documented."""
    assert kinds(trace.facts(program, lines=[line])) == "malformed 1"


def test_pairs_are_counted():
    """trace.awk counts events, and those that were lost."""
    found = trace.facts("trace", lines=lines_of("0<hvc 0>guest 0<guest 0>host 3?7 0<hvc 3?1"))
    assert sorted(fact for fact in found if not kinds([fact])) == [
        "count 0 hyp_enter guest 1", "count 0 hyp_enter hvc 2", "count 0 hyp_exit guest 1",
        "count 0 hyp_exit host 1", "lost 3 8"]


def test_event_order():
    """event_order.awk: an empty trace has no event in its place; after a loss any event is."""
    assert trace.facts("event_order", lines=[]) == ["no events"]
    for text in "guest_exit vcpu=0", "hyp_exit reason=guest vcpu=0", "host_hcall id=1":
        lines = ["CPU:0 [LOST 2 EVENTS]", f"[000] 1.000001: {text}"]
        assert not trace.facts("event_order", lines=lines)


HOST = "".join(f"guest-101 [001] d..1. 1.{time}: {text}, PC: 0x40000000\n" for time, text in (
    ("000000", "kvm_entry: PC: 0x4"), ("000010", "kvm_exit: TRAP: HSR_EC: 0x0016 (HVC64)"),
    ("000020", "kvm_entry: PC: 0x4"), ("000030", "kvm_exit: IRQ: HSR_EC: 0x0000 (UNKNOWN)")))
EL2 = "\n".join(lines_of("1>host@-10 1<hvc@2 0>host@3 1>guest@4 1<guest@5 1>host@7 1<abort@13 "
                         "1>host@14 1<hvc@22 1>guest@23 1<guest@24 1>host@25"))


@pytest.mark.parametrize("script, faults", cases("""
a microsecond is for the rounding: s/1.000002: h/0.999999: h/; s/1.000025: h/1.000031: h/ -> 0
EL2 is late: s/1.000025: hyp/1.000032: hyp/ -> 1
EL2 is early: s/1.000002: hyp/0.999998: hyp/ -> 1
EL2 is as early as the run before: s/1.000022: hyp/1.000008: hyp/ -> 1
EL2 is left before it was entered: s/1.000007: hyp/1.000001: hyp/ -> 1
a run that the trace does not have: /1.00002[2345]: hyp/d -> 2
no runs at all: s/reason=guest/reason=host/; s/kvm_e/kvm_f/ -> 1
"""))
def test_clock(tmp_path, script, faults):
    """clock.awk"""
    files = edited(tmp_path / "host", HOST, script), edited(tmp_path / "el2", EL2, script)
    assert str(len(trace.facts("clock", *files))) == faults


BRACKETS = """\
id=0 cpu=0 from=1.000010000 to=1.000020000
id=1 cpu=0 from=1.000030900 to=1.000040100
id=1000000000 cpu=1 from=1.000015000 to=1.000017000""".splitlines()
BRACKETED = "\n".join(lines_of("0#0@15 1#0@16 0#1@35"))


@pytest.mark.parametrize("script, faults", cases("""
a microsecond early or late, and the rounding: s/1.000035/1.000030/; s/1.000016/1.000018/ ->
early: s/1.000035/1.000029/ -> not between
late: s/1.000035/1.000042/ -> not between
early by seconds: s/1.000016/0.000016/ -> not between
an older event on the same CPU: s/1.000035/1.000014/ -> backwards, not between
backwards, though it may be early: 1i[001]     1.000017: hyp_exit reason=host vcpu=-1 -> backwards
an event that is not there: /id=1$/d -> missing
an event that is there twice: 3p -> twice
an event that nobody wrote: 3p; 3s/id=1/id=2/ -> never written
an event of another CPU: 3s/000/002/ -> not on CPU
events lost: 1iCPU:1 [LOST 1 EVENTS] -> lost
no event at all: d -> missing, missing, missing, no events
"""))
def test_brackets(tmp_path, script, faults):
    """bracket.awk"""
    found = trace.facts("bracket", written(tmp_path / "brackets", BRACKETS),
                        edited(tmp_path / "trace", BRACKETED, script))
    found = [re.sub(":.*|(?<=between) .*|(?<=CPU) .*", "", line) for line in found]
    assert ", ".join(sorted(found)) == faults


def function_of(file, name):
    """A function of a script of the kselftest."""
    text = (trace.KSELFTEST / file).read_text(encoding="utf-8")
    return re.search(rf"^{name}\(\) {{$.*?^}}$", text, re.M | re.S)[0]


@pytest.mark.parametrize("given, expected", cases("""
as many as there ought to be, of both: 0#1 0#2 1#1 | inexact trace 2 -> CPU 1: 1 events, not 2
of one: 0#1 0#2 1#1 | inexact trace 1 1 1 -> CPU 0: 2 events, not 0
too few: 0#1 1#1 | inexact trace 2 -> CPU 0: 1 events, not 2 CPU 1: 1 events, not 2
lost and shown: 0?2 0#3 0?1 | inexact trace 4 1 0 ->
a trace of gaps alone is not sound: 0?2 | facts trace; unsound unpaired trace -> no event in trace
one with events is: 0<hvc 0>guest | facts trace; unsound unpaired trace ->
if nothing is wrong: 0<hvc 0<hvc | facts trace; unsound unpaired trace | sed s/:.*// -> unpaired 2
pages that are taken and returned: | median_slope 10 12 -1 22 -16 12 33 22 10 10 -> 0
a page lost by each of 22 loads: | median_slope 10 34 43 88 72 122 165 176 186 208 -> 22
"""))
def test_shell(tmp_path, given, expected):
    """inexact() of numbers.sh, unsound() of tracing.sh, and median_slope() of soak.sh: of the pages
    taken after each batch of loads"""
    tokens, _, script = f" {given}".partition(" | ")
    written(tmp_path / "trace", lines_of(tokens))
    script = re.sub("median_slope (.*)", r"printf '%s\\n' \1 | median_slope", script)
    functions = [f"DIR={trace.KSELFTEST} CPUS=2 PAGE_BYTES=4080; . $DIR/numbers.sh",
                 function_of("tracing.sh", "facts"), function_of("tracing.sh", "unsound"),
                 function_of("soak.sh", "median_slope")]
    done = subprocess.run(["sh", "-c", "\n".join([*functions, script])], cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert " ".join(done.stdout.split("\n")).strip() == expected


@pytest.mark.parametrize("given, wrong", cases("""
time goes backwards: 0>host@9 0<hvc@8 -> [000]     1.000008
past ten seconds, again and again at the end: 0<hvc@8999999 0>host@9000001 0>host@9000002 ->
what comes again, and the other then: 0<hvc 0>host 0>host 0<hvc -> [000]     1.000003
after a loss anything may come: 0<hvc 0>host 0? 0>host 0<hvc ->
"""))
def test_disorder(given, wrong):
    """Recordings of Perfetto"""
    recording = perfetto.Recording(b"")
    recording.lines = list(lines_of(given))
    assert " ".join(line.partition(": ")[0] for line in recording.disorder()) == wrong


def message(*fields):
    """A message of protobuf: numbers, texts and messages."""
    def varint(number):
        return bytes([number & 127 | 128]) + varint(number >> 7) if number > 127 else \
            bytes([number])

    data = b""
    for number, value in fields:
        if isinstance(value, int):
            data += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            data += varint(number << 3 | 2) + varint(len(value)) + value
    return data


def test_decoded():
    """Kinds of events that the recording names, one that has a number, what was lost, counters"""
    kind = message((1, 65536), (3, "hypervisor"), (2, message(
        (1, "selftest"), (2, message((1, "id"), (3, 7))))))
    other = message((1, 65537), (3, "sched"), (2, message((1, "some"))))
    bundle = message(
        (1, 1), (2, message((1, 1000002000), (65536, message((7, 300))))), (3, 1),
        (2, message((1, 12345678901), (588, b""))), (2, message((1, 5), (65537, b""))),
        (8, message((2, 7))), (11, kind), (11, other))
    stats = message((1, 2), (2, message((1, 1), (3, 4), (9, 5))),
                    (7, "perfetto/compact_sched (why)"))
    packets = (1, bundle), (34, stats), (35, message((1, message((3, 0), (6, 2)))))
    found = perfetto.Recording(message(*((1, message(each)) for each in packets)))
    assert found.lines == ["CPU:1 [LOST EVENTS]", "[001] 1.000002: selftest id=300",
                           "[001] 12.345678: hyp_enter", "[001] 0.000000: sched/some"]
    assert [each.line for each in found.ours()] == found.lines[:3]
    assert (found.stats["overrun", 1], found.stats["read_events", 1]) == ([4], [5])
    assert found.wrong == ["error 7", "patches_failed 2"]


def test_reported():
    """Each buffer has its events and what it lost; the host's have a task and flags. trace-cmd 3.1
    has another form after 100 s."""
    report = ["cpus=2", "CPU:1 [EVENTS DROPPED]", " a b-1 [001] d..1. 1.000001: kvm_entry:  PC: 1",
              "hypervisor: CPU:0 [3 EVENTS DROPPED]",
              "  <idle>-0 [000] ..... 1.000002: hyp_exit:  a=b",
              "hypervisor:  cat-5  [001] d.... 1.000003: hyp_enter:  a=b"]
    assert list(trace.reported(["  cat-123   [001]102060535500: selftest:  id=1"], "")) == [
        "[001] 102.060536: selftest id=1"]
    assert list(trace.reported(report)) == [
        "CPU:0 [LOST 3 EVENTS]", "[000] 1.000002: hyp_exit a=b",
        " cat-5  [001] d.... 1.000003: hyp_enter:  a=b"]
    assert list(trace.reported(report, "", host=True)) == [
        "CPU:1 [LOST EVENTS]", "a [001] d..1. 1.000001: kvm_entry: PC: 1"]


STATS = "".join(f"{cpu} {line}\n" for cpu, lost, read in ((0, 3, 2), (1, 0, 1)) for line in (
    "entries: 0", f"overrun: {lost}", "commit overrun: 0", "bytes: 9", "dropped events: 0",
    f"read events: {read}", "now ts: 1.5"))


@pytest.mark.parametrize("given, wrong", cases("""
it adds up, the runs may be lost: 4 ->
not so many: 5 -> 1 runs of
one too many: 0 -> 1 runs of
shown: 1 s/^0 read events: 2/&1/ -> CPU 0: read events
lost: 1 s/^0 overrun: 3/&1/ -> CPU 0: overrun
left: 1 s/^1 entries: 0/&1/ -> CPU 1: entries
dropped: 1 s/^1 dropped events: 0/&1/ -> CPU 1: dropped events
commit overrun: 1 s/^1 commit overrun: 0/&1/ -> CPU 1: commit overrun
no counters: 1 d -> no events
"""))
def test_account(tmp_path, given, wrong):
    """What was counted"""
    runs, _, script = given.partition(" ")
    stats = edited(tmp_path / "stats", STATS, script).read_text(encoding="utf-8")
    lines = ["[000] 1.000001: host_hcall id=1 name=__kvm_vcpu_run ret=0"]
    found = list(trace.account(stats, [*lines, *lines_of("0<hvc 0?3 1<smc")], int(runs)))
    assert len(found) == bool(wrong) and "".join(found).startswith(wrong)


def test_adds_up(tmp_path):
    """Counters and the order of events, of files that must be there."""
    assert trace.adds_up(tmp_path / "x")[0] == "no x.trace"
    written(tmp_path / "x.trace", [*lines_of("0<hvc 0>host"), "what"])
    written(tmp_path / "x.runs", ["0"])
    written(tmp_path / "x.stats", STATS.splitlines())
    assert [line.split(":")[0] for line in trace.adds_up(tmp_path / "x")] == [
        "malformed", "CPU 0", "CPU 1", "nothing in hvc", "malformed"]


def test_summary():
    """The sums of a trace; CPU 1 begins at EL2, and what lost events cut into is no stay."""
    lines = lines_of("1>host@0 1<smc@5 1>firmware@15 0<hvc@20 0>host@1020 0<hvc@1500 0?1234567 "
                     "0>host@2000")
    counts, times, lost = trace.summary(lines).split("\n\n")
    assert "       2 hyp_enter reason=hvc" in counts and lost == "events lost: 1,234,567"
    assert [re.findall(r"[\d.,]+", line)[-5:] for line in times.splitlines()[1:]] == [
        ["1", "1,000", "1000.0", "1,000", "50.0"], ["1", "10", "10.0", "10", "0.5"],
        ["2", "1,010", "505.0", "1,000", "25.2"]]


def test_sessions():
    """Shell sessions of a document, their commands, and what they print otherwise"""
    document = ("Text::\n\n  # cd dir\n  # echo 1 >\n  > file\n  # tracer: nop\n  10 lines\n\n"
                "  No.\n.. boot: a=b\n\nNo session::\n\n  text\n\nMore::\n\n  # cat\n")
    # pylint: disable-next=unbalanced-tuple-unpacking
    first, second = documents.sessions(document)
    assert first.commands() == ["cd dir", "echo 1 >\nfile"] and first.title() == "echo 1 >"
    assert (second.boot, second.lines[0]) == ("a=b", "# cat")
    fenced = "```console\n# no\n```\n```\n# ls\nfile\n```\n```\nno\n```\n"
    assert [each.lines for each in documents.sessions(fenced)] == [["# ls", "file"]]
    printed = ["# cd dir", "# tracer: nop", "12  lines", "No."]
    assert not documents.differs(first, printed + ["more"])
    assert documents.differs(first, printed[1:3] + ["cat: no"]) == ["No.", "cat: no"]


def test_callchains():
    """Roots of a Linux guest's chains, and their flame graph"""
    folded = ["el1h_64_irq;f<x> 190", "a;b 10", "[unknown];c 50"]
    text, good = callchains.roots(folded)
    assert good and text.splitlines()[1:] == ["  10 from a"] and "190 of these" in text
    assert not callchains.roots(["el1h_64_irq 189", "a 11"])[1]
    assert not callchains.roots(["el1h_64_irq 99"])[1]
    svg = callchains.flame_graph(folded, "Title", least=50)
    assert "<title>f&lt;x&gt;: 190 samples, 76.0 %" in svg and "<title>b:" not in svg
