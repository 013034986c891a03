# SPDX-License-Identifier: GPL-2.0
"""What judges traces finds what is wrong with one, and nothing in one that is right."""

import re

import pytest

from hyptrace import trace
from hyptrace.process import run

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(5)]


def lines_of(tokens):
    """CPU<ENTER CPU>EXIT CPU#NUMBER CPU=EVENT CPU?LOST, at @TIME; or a line. + is a space."""
    for place, token in enumerate(tokens.split(), 1):
        if not (found := re.fullmatch(r"(\d)([<>#?=])([^@]*)(?:@(.*))?", token)):
            yield token.replace("+", " ")
            continue
        cpu, kind, what, at = found.groups()
        if kind == "?":
            yield f"CPU:{cpu} [LOST {what and what + ' '}EVENTS]"
            continue
        if kind == "#":
            what = int(cpu) * 1000000000 + int(what)
        elif kind in "<>":
            what += " vcpu=3" if what == "guest" else " vcpu=-1"
        name = {"<": "hyp_enter reason=", ">": "hyp_exit reason=", "#": "selftest id=", "=": ""}
        text = f"{name[kind]}{what}".replace("+", " ")
        yield f"[{int(cpu):03}] {1 + int(at or place) / 1000000:>12.6f}: {text}"


def cases(table):
    """The parameters of a table: lines of NAME: GIVEN -> EXPECTED, each below its JUDGE:"""
    judge = None
    for line in table.strip().splitlines():
        name, _, rest = line.partition(":")
        given, arrow, expected = rest.rpartition("->")
        judge = judge if arrow else name
        if arrow:
            yield pytest.param(judge, given.strip(), expected.strip(), id=f"{judge} {name}")


def edited(path, text, script=""):
    path.write_text(run(["sed", script], input=text).stdout, encoding="utf-8")
    return path


def kinds(found):
    """The faults in facts: their kinds and lines."""
    return " ".join(line.split(":")[0] for line in found
                    if not re.match("(count|lost|shown) ", line))


@pytest.mark.parametrize("program, given, faults", cases("""
trace:
two CPUs: 0<hvc 1>host 1<smc 0>guest 1>firmware 0<guest 1<psci 0>host 1>firmware 1<firmware ->
it may begin at EL2 only once: 0>guest 0>host -> unpaired 2
hyp_enter twice: 0<hvc 0<hvc -> unpaired 2
time goes backwards: 0>guest@2 0<hvc@1 -> backwards 2 unmerged 2
time goes backwards between CPUs: 0<hvc 0>guest 1<smc@1 -> unmerged 3
as many lost as keep the turn: 0<hvc 0?2 0>host ->
lost, and not how many: 0? -> malformed 1
another reason: 0=hyp_enter+reason=?+vcpu=-1 -> malformed 1
no vCPU of a guest: 0=hyp_enter+reason=guest+vcpu=-1 -> malformed 1
two digits of a CPU: [00]+1.000001:+hyp_enter+reason=hvc+vcpu=-1 -> malformed 1
numbers:
one digit of a CPU: [0]+1.000001:+selftest+id=1 -> malformed 1
two in a line: [000]+1.000001:+selftest+id=1[000]+1.000002:+selftest+id=2 -> malformed 1
what trace_pipe has for too much: [LINE+TOO+BIG] -> malformed 1
in order, lost at first, in between and in the end: 1?2 0#1 0#2 1#3 1?2 1#6 0?1 ->
one twice: 0#1 0#1 -> wrong 2
in the wrong order: 0#2 0#1 -> wrong 1 wrong 2
on the wrong CPU: 1#-999999999 -> wrong 1
from another on: 0#5 0#6 | 5 ->
one more lost than reported: 0#1 0?2 0#5 -> wrong 3
lost, and not how many: 0#1 0? 0#9 0#10 -> uncounted 2
but not what was there: 0#1 0? 0#1 -> uncounted 2 wrong 3
time goes backwards: 0#1@2 0#2@1 -> backwards 2
time goes backwards between CPUs: 0#1@2 1#1@1 -> unmerged 2
event_order:
after a loss: 0?2 0=guest_exit+vcpu=0 1?2 1>guest 2?2 2=host_hcall+id=1 ->
"""))
def test_lines(program, given, faults):
    """Programs of awk that read lines of a trace"""
    given, _, first = given.partition("| ")
    found = trace.facts(program, lines=lines_of(given), **({"first": first} if first else {}))
    assert kinds(found) == faults


HOST = "".join(f"guest-101 [001] d..1. 1.{time}: {text}, PC: 0x40000000\n" for time, text in (
    ("000000", "kvm_entry: PC: 0x4"), ("000010", "kvm_exit: TRAP: HSR_EC: 0x0016 (HVC64)"),
    ("000020", "kvm_entry: PC: 0x4"), ("000030", "kvm_exit: IRQ: HSR_EC: 0x0000 (UNKNOWN)")))
EL2 = "\n".join(lines_of("1>host@-10 1<hvc@2 0>host@3 1>guest@4 1<guest@5 1>host@7 1<abort@13 "
                         "1>host@14 1<hvc@22 1>guest@23 1<guest@24 1>host@25"))
BRACKETS = """\
id=0 cpu=0 from=1.000010000 to=1.000020000
id=1 cpu=0 from=1.000030900 to=1.000040100
id=1000000000 cpu=1 from=1.000015000 to=1.000017000
"""
FILES = {"clock": (HOST, EL2), "bracket": (BRACKETS, "\n".join(lines_of("0#0@15 1#0@16 0#1@35")))}


@pytest.mark.parametrize("program, script, faults", cases(r"""
clock:
a microsecond is for the rounding: s/1.000002: h/0.999999: h/; s/1.000025: h/1.000031: h/ ->
EL2 is late: s/1.000025: hyp/1.000032: hyp/ -> CPU
EL2 is left before it was entered: s/1.000007: hyp/1.000001: hyp/ -> CPU
a run that the trace does not have: /1.00002[2345]: hyp/d -> CPU, CPU
bracket:
a microsecond early or late, and the rounding: s/1.000035/1.000030/; s/1.000016/1.000018/ ->
early: s/1.000035/1.000029/ -> not between
late: s/1.000035/1.000042/ -> not between
an older event on the same CPU: s/1.000035/1.000014/ -> backwards, not between
an event that is not there: /=1$/d -> missing
an event that nobody wrote: /=1$/{p;s/=1/=2/} -> never written
an event of another CPU: /=1$/s/000/002/ -> not on CPU
events lost: /=0$/iCPU:1 [LOST 1 EVENTS] -> lost
"""))
def test_files(tmp_path, program, script, faults):
    """Programs of awk that compare two files"""
    files = [edited(tmp_path / str(n), text, script) for n, text in enumerate(FILES[program])]
    found = [re.sub(":.*|(?<=between) .*|(?<=CPU) .*", "", line)
             for line in trace.facts(program, *files)]
    assert ", ".join(sorted(found)) == faults


@pytest.mark.parametrize("cpu_and_time, expected", [
    ("[000]   2.000001499", "[000] 2.000001499"),
    ("[000] ..... 2.000001", "[000] 2.000001"),
    ("[000] .....  2000001499", "[000] 2.000001"),
    ("[000] .....302000001501", "[000] 302.000002"),
    ("[000]302000001501", "[000] 302.000002")])
def test_reported(cpu_and_time, expected):
    """An event as trace-cmd reports it, with and without flags, seconds and a space"""
    event = f"hypervisor:    <...>-99    {cpu_and_time}: hyp_exit:     reason=host vcpu=-1"
    assert [*trace.reported([event])] == [f"{expected}: hyp_exit reason=host vcpu=-1"]


@pytest.mark.parametrize("file, given, expected", cases(r"""
numbers.sh:
too few: 0#1 1#1 | inexact trace 2 -> CPU 0: 1 events, not 2 CPU 1: 1 events, not 2
lost and shown: 0?2 0#3 0?1 | inexact trace 4 1 0 ->
tracing.sh:
if nothing is wrong: 0<hvc 0<hvc | facts trace; unsound unpaired trace | sed s/:.*// -> unpaired 2
soak.sh:
22 lost by each load: | printf '%s\n' 10 34 43 88 72 122 165 176 186 208 | median_slope -> 22
"""))
def test_shell(tmp_path, file, given, expected):
    """inexact(), unsound(), and of the pages taken after each batch of loads median_slope()"""
    tokens, _, script = f" {given}".partition(" | ")
    edited(tmp_path / "trace", "".join(f"{line}\n" for line in lines_of(tokens)))
    functions = re.findall(r"^(?:facts|unsound|median_slope)\(\) {$.*?^}$",
                           (trace.KSELFTEST / file).read_text("utf-8"), re.M | re.S)
    setup = f"DIR={trace.KSELFTEST} CPUS=2 PAGE_BYTES=4080; . $DIR/numbers.sh"
    done = run(["sh", "-c", "\n".join([setup, *functions, script])], cwd=tmp_path, check=False)
    assert " ".join(done.stdout.split("\n")).strip() == expected


STATS = "".join(f"{cpu} {line}\n" for cpu, lost, read in ((0, 3, 3), (1, 0, 1)) for line in (
    "entries: 0", f"overrun: {lost}", "commit overrun: 0", "bytes: 9", "dropped events: 0",
    f"read events: {read}", "now ts: 1.5"))
READ = "\n".join(lines_of("0<hvc 0=host_hcall+id=1+name=__kvm_vcpu_run 0>host 0?3 1<smc"))


@pytest.mark.parametrize("script, runs, wrong", [
    ("", 4, ""), ("", 5, "1 runs of"), ("", 0, "1 runs of"),
    ("s/read events: 3/&1/", 1, "CPU 0 read events"), ("s/overrun: 3/&1/", 1, "CPU 0 overrun"),
    ("s/^1 entries: 0/&1/", 1, "CPU 1 entries"), ("s/^1 dropped.*/&1/", 1, "CPU 1 dropped events"),
    ("d", 1, "CPU 0 read events")])
def test_adds_up(tmp_path, script, runs, wrong):
    """The counters, and of lost events some may have been runs; the order of events"""
    edited(tmp_path / "x.trace", READ)
    edited(tmp_path / "x.stats", STATS, script)
    edited(tmp_path / "x.runs", f"{runs}")
    found = trace.adds_up(tmp_path / "x")
    assert bool(found) == bool(wrong) and "".join(found).startswith(wrong)
    edited(tmp_path / "x.trace", READ, "/hcall/d; $awhat")
    assert [line.split(":")[0] for line in trace.adds_up(tmp_path / "x")][-2:] == [
        "nothing in hvc", "malformed"]
