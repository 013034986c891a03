# SPDX-License-Identifier: GPL-2.0
"""What judges traces, documents and call chains finds what is wrong with one, and nothing in one
that is right: programs of the kselftest, in awk and sh, and functions of the driver."""

import re
import subprocess

import pytest

from hyptrace import callchains, documents, perfetto, trace
from hyptrace.machine import Failure
from hyptrace.process import run

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(5)]

LINES = {
    "h0": "[000]     1.000001: hyp_enter reason=hvc",
    "g0": "[000]     1.000002: hyp_exit reason=guest",
    "y0": "[000]     1.000002: hyp_exit reason=host",
    "i0": "[000]     1.000003: hyp_enter reason=guest",
    "a0": "[000]     1.000003: hyp_enter reason=abort",
    "x0": "[000]     1.000004: hyp_exit reason=host",
    "s1": "[001]     1.000001: hyp_enter reason=smc",
    "h1": "[001]     1.000002: hyp_enter reason=smc",
    "f1": "[001]     1.000003: hyp_exit reason=firmware",
    "r1": "[001]     1.000004: hyp_enter reason=firmware",
    "p1": "[001]     1.000004: hyp_enter reason=psci",
    "run": "[000]     1.000002: host_hcall id=1 name=__kvm_vcpu_run ret=0",
    "e9": "[000] 9.999999: hyp_enter", "x10": "[000] 10.000001: hyp_exit",
    "e11": "[000] 11.000001: hyp_enter", "x11": "[000] 11.000001: hyp_exit",
    "e12": "[000] 12.000001: hyp_enter", "error": "# error 7",
    "#": "# tracer: nop",
}


def event(cpu, micros, number):
    """A numbered event."""
    return f"[{cpu:03}]     1.{micros:06}: selftest id={cpu * 1000000000 + number}"


def lines_of(tokens):
    """The lines of a trace: names of LINES; CPU.TIME.NUMBER, a numbered event; L CPU, events lost,
    and L CPU.COUNT."""
    for token in tokens.split():
        if found := re.match(r"L(\d)(?:\.(\d+))?$", token):
            yield f"CPU:{found[1]} [LOST {found[2] + ' ' if found[2] else ''}EVENTS]"
        elif re.match(r"\d\.", token):
            yield event(*map(int, token.split(".")))
        else:
            yield LINES[token]


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
a sound trace: h0 g0 i0 x0 ->
CPUs do not meet: h0 h1 g0 f1 i0 r1 x0 ->
it may begin at EL2: g0 i0 x0 ->
it may begin at EL2 only once: g0 x0 -> unpaired 2
hyp_enter twice: h0 h0 -> unpaired 2
hyp_exit twice: h0 g0 x0 -> unpaired 3
from the guest, but not by the guest: h0 g0 a0 -> misled 3
from the host, but by the guest: h0 y0 i0 -> misled 3
the firmware returns by PSCI: h1 f1 p1 ->
time goes backwards: g0 h0 -> backwards 2 unmerged 2
time goes backwards between CPUs: h0 g0 s1 -> unmerged 3
as many lost as keep the turn: h0 L0.2 x0 ->
one lost too many: h0 L0.3 x0 -> unpaired 3
lost on another CPU: h0 L1.1 h0 -> unpaired 3
"""))
def test_pairs(given, faults):
    """trace.awk"""
    assert kinds(trace.facts("trace", lines=lines_of(given))) == faults


@pytest.mark.parametrize("line", [
    "[000] 1.000001: hyp_enter ", "[00] 1.000001: hyp_enter reason=hvc",
    "[000] 1.00001: hyp_enter reason=hvc", "[000] 1.000001: hyp_enter reason=?",
    "CPU:0 [LOST EVENTS]", "[000] 1.000001: hyp_enter reason=hvc vcpu=1"])
def test_pairs_malformed(line):
    """trace.awk takes no line that is not as documented."""
    assert kinds(trace.facts("trace", lines=[line])) == "malformed 1"


def test_pairs_are_counted():
    """trace.awk counts events, and those that were lost."""
    found = trace.facts("trace", lines=lines_of("h0 g0 i0 x0 L3.7 h0 L3.1"))
    assert sorted(fact for fact in found if not kinds([fact])) == [
        "count 0 hyp_enter guest 1", "count 0 hyp_enter hvc 2", "count 0 hyp_exit guest 1",
        "count 0 hyp_exit host 1", "lost 3 8"]


HOST = "".join(f"guest-101 [001] d..1. 1.{time}: {text}, PC: 0x40000000\n" for time, text in (
    ("000000", "kvm_entry: PC: 0x4"), ("000010", "kvm_exit: TRAP: HSR_EC: 0x0016 (HVC64)"),
    ("000020", "kvm_entry: PC: 0x4"), ("000030", "kvm_exit: IRQ: HSR_EC: 0x0000 (UNKNOWN)")))
EL2 = """\
[001]     0.999990: hyp_exit reason=host
[001]     1.000002: hyp_enter reason=hvc
[000]     1.000003: hyp_exit reason=host
[001]     1.000004: hyp_exit reason=guest
[001]     1.000005: hyp_enter reason=guest
[001]     1.000007: hyp_exit reason=host
[001]     1.000013: hyp_enter reason=abort
[001]     1.000014: hyp_exit reason=host
[001]     1.000022: hyp_enter reason=hvc
[001]     1.000023: hyp_exit reason=guest
[001]     1.000024: hyp_enter reason=guest
[001]     1.000025: hyp_exit reason=host
"""


@pytest.mark.parametrize("script, faults", cases("""
the clocks agree: -> 0
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
id=1000000000 cpu=1 from=1.000015000 to=1.000017000
"""
BRACKETED = f"{event(0, 15, 0)}\n{event(1, 16, 0)}\n{event(0, 35, 1)}\n"


@pytest.mark.parametrize("script, faults", cases("""
the clocks agree: ->
a microsecond early, and the rounding: s/1.000035/1.000030/ ->
a microsecond late, and the rounding: s/1.000035/1.000041/ ->
early: s/1.000035/1.000029/ -> not between
late: s/1.000035/1.000042/ -> not between
early by seconds: s/1.000016/0.000016/ -> not between
an older event on the same CPU: s/1.000035/1.000014/ -> backwards, not between
backwards, though it may be early: 1i[001]     1.000017: hyp_exit reason=host -> backwards
an event that is not there: /id=1$/d -> missing
an event that is there twice: 3p -> twice
an event that nobody wrote: 3p; 3s/id=1/id=2/ -> never written
an event of another CPU: 3s/000/002/ -> not on CPU
events lost: 1iCPU:1 [LOST 1 EVENTS] -> lost
no event at all: d -> missing, missing, missing, no events
"""))
def test_brackets(tmp_path, script, faults):
    """bracket.awk"""
    found = trace.facts("bracket", edited(tmp_path / "brackets", BRACKETS, ""),
                        edited(tmp_path / "trace", BRACKETED, script))
    found = [re.sub(":.*|(?<=between) .*|(?<=CPU) .*", "", line) for line in found]
    assert ", ".join(sorted(found)) == faults


def test_margins(tmp_path):
    """bracket.awk says how near the events come to the host's times."""
    found = trace.facts("bracket", edited(tmp_path / "brackets", BRACKETS, ""),
                        edited(tmp_path / "trace", BRACKETED, ""), margins=1)
    assert "3 events, at least 1.0 us after and 1.0 us before" in found[0]


def shell(script):
    """What a script with the functions of numbers.sh prints, in a line."""
    begin = f"DIR={trace.KSELFTEST} CPUS=2 PAGE_BYTES=4080; . $DIR/numbers.sh; "
    done = subprocess.run(["sh", "-c", begin + script], capture_output=True, text=True, check=False)
    return " ".join((done.stdout + done.stderr).split("\n")).strip()


@pytest.mark.parametrize("given, faults", cases("""
numbers in order: 0.1.1 0.1.2 1.2.1 ->
one twice: 0.1.1 0.1.1 -> wrong 2
one missing: 0.1.1 0.1.3 -> wrong 2
the first missing: 0.1.2 -> wrong 1
in the wrong order: 0.1.2 0.1.1 -> wrong 1 wrong 2
on the wrong CPU: 1.1.-999999999 -> wrong 1
from another on: 0.1.5 0.1.6 | 5 ->
from another on, the one before: 0.1.4 | 5 -> wrong 1
lost at first: L0.2 0.1.3 ->
lost in between: 0.1.1 L0.2 0.1.4 ->
lost in the end: 0.1.1 L0.2 ->
one more lost than reported: 0.1.1 L0.2 0.1.5 -> wrong 3
one less lost than reported: 0.1.1 L0.2 0.1.3 -> wrong 3
lost elsewhere: 0.1.1 L1.2 0.1.4 -> wrong 3
lost, and not how many: 0.1.1 L0 0.1.9 0.1.10 -> uncounted 2
but not what was there: 0.1.1 L0 0.1.1 -> uncounted 2 wrong 3
time goes backwards: 0.2.1 0.1.2 -> backwards 2
time goes backwards between CPUs: 0.2.1 1.1.1 -> unmerged 2
a header: # 0.1.1 ->
"""))
def test_numbers(tmp_path, given, faults):
    """numbers.awk, by judge() of numbers.sh"""
    given, _, first = given.partition("|")
    written(tmp_path / "trace", lines_of(given))
    assert not shell(f"judge {tmp_path}/trace {first}")
    assert kinds(trace.read(tmp_path / "trace.facts")) == faults


@pytest.mark.parametrize("line", [
    "[000]     1.000001: selftest id=", "[000]     1.000001: selftest id=1 ",
    "[0] 1.000001: selftest id=1", "[000] 1.0001: selftest id=1", event(0, 1, 1) + event(0, 1, 2),
    LINES["h0"], "CPU:0 [LOST EVENTS", "[LINE TOO BIG]", ""])
def test_numbers_malformed(line):
    """numbers.awk takes no line that is not as documented."""
    assert kinds(trace.facts("numbers", lines=[line])) == "malformed 1"


@pytest.mark.parametrize("given, complaints", cases("""
as many as there ought to be, of both: 0.1.1 0.1.2 1.2.1 | 2 -> CPU 1: 1 events, not 2
of one: 0.1.1 0.1.2 1.2.1 | 1 1 1 -> CPU 0: 2 events, not 0
too few: 0.1.1 0.1.2 1.2.1 | 3 -> CPU 0: 2 events, not 3 CPU 1: 1 events, not 3
lost and shown: L0.2 0.1.3 | 3 1 0 ->
shown and lost: 0.1.1 L0.2 | 3 1 0 ->
"""))
def test_inexact(tmp_path, given, complaints):
    """inexact() of numbers.sh"""
    given, _, arguments = given.partition("|")
    written(tmp_path / "trace", lines_of(given))
    assert shell(f"inexact {tmp_path}/trace {arguments}") == complaints


def function_of(file, name):
    """A function of a script of the kselftest."""
    text = (trace.KSELFTEST / file).read_text(encoding="utf-8")
    return re.search(rf"^{name}\(\) {{$.*?^}}$", text, re.M | re.S)[0]


@pytest.mark.parametrize("given, fault", cases("""
an empty trace is not sound: -> no event in trace
nor one of gaps alone: L0.2 -> no event in trace
one with events is: h0 g0 i0 ->
if nothing is wrong with them: h0 h0 -> unpaired 2
"""))
def test_unsound(tmp_path, given, fault):
    """unsound() of tracing.sh"""
    path = written(tmp_path / "trace", lines_of(given))
    written(tmp_path / "trace.facts", trace.facts("trace", path))
    said = shell(f"{function_of('tracing.sh', 'unsound')}\ncd {tmp_path}; unsound unpaired trace")
    assert said.partition(":")[0] == fault


def test_catalogue_of_nothing():
    """catalogue.awk finds that an empty trace has no event in its place."""
    assert trace.facts("catalogue", lines=[]) == ["no events"]


@pytest.mark.parametrize("line", ["guest_exit vcpu=0", "hyp_exit reason=guest", "host_hcall id=1"])
def test_catalogue_after_loss(line):
    """Any event is in its place when the one before it was lost."""
    lines = ["CPU:0 [LOST 2 EVENTS]", f"[000] 1.000001: {line}"]
    assert not trace.facts("catalogue", lines=lines)


@pytest.mark.parametrize("taken, slope", cases("""
pages that others take and return are none: 10 12 -1 22 -16 12 33 22 10 10 -> 0
a page lost by each of 22 loads is: 10 34 43 88 72 122 165 176 186 208 -> 22
"""))
def test_slope(taken, slope):
    """median_slope() of soak.sh, of the pages taken after each batch of loads"""
    function = function_of("soak.sh", "median_slope")
    assert shell(f"{function}\nprintf '%s\\n' {taken} | median_slope") == slope


@pytest.mark.parametrize("given, wrong", cases("""
a sound trace, past ten seconds: e9 x10 e11 ->
time goes backwards: x10 e9 -> 2
what comes again and again at the end: e9 x10 x11 x11 ->
what comes again, and the other then: e9 x10 x11 e11 -> 3
after a loss anything may come: e9 x10 L0 x11 e12 ->
an error: error -> 1
"""))
def test_recorded(given, wrong):
    """Recordings of Perfetto"""
    found = perfetto.judge(list(lines_of(given)))[1]
    assert " ".join(line.split(":")[0] for line in found) == wrong


def message(*fields):
    """A message of protobuf: numbers, texts and messages."""
    def varint(number):
        return bytes([number & 127 | 128]) + varint(number >> 7) if number > 127 else \
            bytes([number])

    data = b""
    for number, value in fields:
        value = value.encode() if isinstance(value, str) else value
        data += varint(number << 3) + varint(value) if isinstance(value, int) else \
            varint(number << 3 | 2) + varint(len(value)) + value
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
    stats = message((1, 2), (2, message((1, 1), (3, 4), (9, 5))), (7, "perfetto/compact_sched"))
    buffers = message((1, message((3, 0), (6, 2))))
    lines = perfetto.decode(message(*((1, message(each)) for each in (
        (1, bundle), (34, stats), (35, buffers)))))
    assert lines == [
        "CPU:1 [LOST EVENTS]", "[001] 1.000002: selftest id=300", "[001] 12.345678: hyp_enter",
        "[001] 0.000000: sched/some", "# error 7", "# end 1 overrun 4", "# end 1 read_events 5",
        "# failed_event perfetto/compact_sched", "# traced patches_failed 2"]
    found, wrong = perfetto.judge(lines)
    assert [len(wrong), *(found[name, 1] for name in (
        "events", "marks", "overrun", "read_events"))] == [2, [2], [1], [4], [5]]


@pytest.mark.parametrize("line", [
    pytest.param("  cat-123   [001] ..... 102.060535: selftest:  id=1", id="trace-cmd 3.3"),
    pytest.param("  cat-123   [001]102060535440: selftest:  id=1", id="trace-cmd 3.1, after 100 s"),
])
def test_reported(line):
    """An event that trace-cmd reports"""
    assert list(trace.reported([line], "")) == ["[001] 102.060535: selftest id=1"]


def test_reported_buffers():
    """Each buffer has its events and what it lost; the host's have a task and flags."""
    report = ["cpus=2", "CPU:1 [EVENTS DROPPED]", " a b-1 [001] d..1. 1.000001: kvm_entry:  PC: 1",
              "hypervisor: CPU:0 [3 EVENTS DROPPED]",
              "  <idle>-0 [000] ..... 1.000002: hyp_exit:  a=b",
              "hypervisor:  cat-5  [001] d.... 1.000003: hyp_enter:  a=b"]
    assert list(trace.reported(report)) == [
        "CPU:0 [LOST 3 EVENTS]", "[000] 1.000002: hyp_exit a=b",
        " cat-5  [001] d.... 1.000003: hyp_enter:  a=b"]
    assert list(trace.reported(report, "", host=True)) == [
        "CPU:1 [LOST EVENTS]", "a [001] d..1. 1.000001: kvm_entry: PC: 1"]


@pytest.mark.parametrize("given, wrong", cases("""
a sound trace: h0 g0 i0 ->
an empty one: -> no events
twice: h0 i0 -> [000]     1.000003
time goes backwards: g0 h0 -> [000]     1.000001
another CPU: g0 r1 -> [001]     1.000004
another event: h0 run -> neither
events lost: h0 L0.1 -> neither
"""))
def test_by_turns(given, wrong):
    """hyp_enter and hyp_exit alone, of one CPU"""
    found = list(trace.by_turns(lines_of(given)))
    assert len(found) == bool(wrong) and "".join(found).startswith(wrong)


STATS = "".join(f"{cpu} {line}\n" for cpu, lost, read in ((0, 3, 2), (1, 0, 1)) for line in (
    "entries: 0", f"overrun: {lost}", "commit overrun: 0", "bytes: 9", "dropped events: 0",
    f"read events: {read}", "now ts: 1.5"))


@pytest.mark.parametrize("given, wrong", cases("""
it adds up: 1 ->
the runs may be lost: 4 ->
not so many: 5 -> 1 runs
one too many: 0 -> 1 runs
shown: 1 s/^0 read events: 2/&1/ -> CPU 0: shown
lost: 1 s/^0 overrun: 3/&1/ -> CPU 0: reported lost
left: 1 s/^1 entries: 0/&1/ -> CPU 1: left
dropped: 1 s/^1 dropped events: 0/&1/ -> CPU 1: dropped
commit overrun: 1 s/^1 commit overrun: 0/&1/ -> CPU 1: commit
no counters: 1 d -> no events
"""))
def test_account(tmp_path, given, wrong):
    """What was counted"""
    runs, _, script = given.partition(" ")
    stats = edited(tmp_path / "stats", STATS, script).read_text(encoding="utf-8")
    found = list(trace.account(stats, list(lines_of("h0 run L0.3 h1")), int(runs)))
    assert len(found) == bool(wrong) and "".join(found).startswith(wrong)


def test_adds_up(tmp_path):
    """An account and the catalogue of files; each must be there."""
    assert trace.adds_up(tmp_path / "x") == ["no x.trace"]
    written(tmp_path / "x.trace", [LINES["h0"], LINES["x0"], "what"])
    written(tmp_path / "x.runs", ["0"])
    written(tmp_path / "x.stats", STATS.splitlines())
    assert [line.split(":")[0] for line in trace.adds_up(tmp_path / "x")] == [
        "malformed", "CPU 0", "CPU 1", "nothing in hvc", "malformed"]


# Two CPUs in turn; CPU 1 begins at EL2. Events are lost while CPU 0 is there, which makes of the
# hyp_exit no stay. A hyp_exit is missing, then a hyp_enter. A line is none of ours.
SUMMED = """\
[000]    10.000000: hyp_enter reason=hvc
[001]    10.000003: hyp_exit reason=host
[001]    10.000005: hyp_enter reason=smc
[000]    10.000010: hyp_exit reason=guest
[001]    10.000015: hyp_exit reason=firmware
[001]    10.000065: hyp_enter reason=firmware
[000]    10.000080: hyp_enter reason=guest
[001]    10.000085: hyp_exit reason=host
[000]    10.000100: hyp_exit reason=host
[000]    10.000200: hyp_enter reason=hvc
[001]    10.000200: hyp_enter reason=abort
CPU:0 [LOST 1234567 EVENTS]
[000]    10.500000: hyp_exit reason=host
[000]    10.700000: hyp_enter reason=abort
[000]    10.700010: hyp_enter reason=sysreg
[000]    10.700015: hyp_exit reason=host
[000]    10.700020: hyp_exit reason=host
[001]    11.000200: hyp_exit reason=host
[000]    12.000000: unknown record of 12 bytes
""".splitlines()
SUMS = """\
events          hyp_enter     hyp_exit
  hvc                   2            -
  smc                   1            -
  abort                 2            -
  sysreg                1            -
  guest                 1            1
  host                  -            7
  firmware              1            1
  all                   8            9

time at EL2         stays        total         mean      longest    of time
  CPU 0                 3        35 us      11.7 us        20 us      0.0 %
  CPU 1                 3 1,000,030 us  333343.3 us 1,000,000 us    100.0 %
  all                   6 1,000,065 us  166677.5 us 1,000,000 us     50.0 %

longest stay: 1,000,000 us
  [001]    10.000200: hyp_enter reason=abort
  [001]    11.000200: hyp_exit reason=host

events lost: 1,234,567
hyp_enter or hyp_exit without the other: 4
other lines: 1"""


def test_summary():
    """The sums of a trace; one without events is an error."""
    assert trace.summary(SUMMED) == SUMS
    with pytest.raises(Failure, match="no events"):
        trace.summary([])


def test_stretch():
    """The stretch is around an entry of the guest."""
    lines = [LINES["h0"]] * 9 + EL2.splitlines()
    assert trace.stretch(lines, 1, 2, 5) == lines[15:20]
    assert not trace.stretch(lines, 1, 3, 5)


def test_guest_line():
    """Guests' numbers are added; without a guest that is an error."""
    assert trace.guest_line("vcpu=0 cpu=1 exits=7\nexits=5\nvcpu=1 cpu=1 exits=8\n", "exits") == 15
    with pytest.raises(Failure, match="no guest"):
        trace.guest_line("exits=7", "exits")


def test_sessions():
    """Shell sessions of a document, their commands, and what they print otherwise"""
    document = ("Text::\n\n  # cd dir\n  # echo 1 >\n  > file\n  # tracer: nop\n  10 lines\n\n"
                "  No.\n.. boot: a=b\n\nNo session::\n\n  text\n\nMore::\n\n  # cat\n")
    first, second, *more = documents.sessions(document)
    assert not more
    # pylint: disable-next=unbalanced-tuple-unpacking
    [third] = documents.sessions("```console\n# no\n```\n```\n# ls\nfile\n```\n```\nno\n```\n")
    assert first.commands() == ["cd dir", "echo 1 >\nfile"] and first.title() == "echo 1 >"
    assert (second.boot, second.lines[0], third.lines) == ("a=b", "# cat", ["# ls", "file"])
    printed = ["# cd dir", "# tracer: nop", "12  lines", "No."]
    assert not documents.differs(first, printed + ["more"])
    assert documents.differs(first, printed[1:3] + ["cat: no"]) == ["No.", "cat: no"]
    assert "reset\n{\ntype_in ls\n} 2>&1 | tee /out/1\n" in documents.script([third])


def test_callchains():
    """Roots of a Linux guest's chains, and their flame graph"""
    folded = ["el1h_64_irq;f<x> 190", "a;b 10", "[unknown];c 50"]
    text, good = callchains.roots(folded)
    assert good and text.splitlines()[1:] == ["  10 from a"] and "190 of these" in text
    assert not callchains.roots(["el1h_64_irq 189", "a 11"])[1]
    assert not callchains.roots(["el1h_64_irq 99"])[1]
    svg = callchains.flame_graph(folded, "Title", least=50)
    assert "<title>f&lt;x&gt;: 190 samples, 76.0 %" in svg and "<title>b:" not in svg
