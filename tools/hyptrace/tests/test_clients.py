# SPDX-License-Identifier: GPL-2.0
"""Programs of Debian's record and read the hypervisor in a VM, and have what EL2 has written."""

import re
import shlex
from collections import Counter, defaultdict

import pytest

from hyptrace import clients, perfetto, trace, tree
from hyptrace.machine import BUILD, Failure
from hyptrace.vm import PRELUDE

pytestmark = pytest.mark.clients
CPUS = 0, 1


def number_faults(lines, count, lost=None):
    """What is wrong with a trace of numbers: of each CPU there are so many, shown or lost."""
    fine = "(shown|lost|unmerged|uncounted) " if lost else "(shown|lost|unmerged) "
    yield from (fact for fact in trace.facts("numbers", lines=lines) if not re.match(fine, fact))
    found = Counter(lost)
    for each in trace.parse(lines):
        if each.name != "LOST":
            found[each.cpu] += 1
        elif not lost:
            found[each.cpu] += int(each.args)
    yield from (f"CPU {cpu}: {found[cpu]} events" for cpu in CPUS if found[cpu] != count)


def differ(found, expected):
    return [] if found == expected else [f"found {found!r}, not {expected!r}"]


def by_cpu(lines):
    """Events CPU by CPU: who prints them may choose between two of the same time."""
    return sorted((" ".join(line.split()) for line in lines if line.startswith("[")),
                  key=lambda line: line[:5])


def not_all(session, cpu, count):
    """What is wrong with the numbers of a CPU, which are 1 to count, in order."""
    found = [int(line.partition("id=")[2]) - cpu * 1000000000 for line in session.events
             if line.startswith(f"[{cpu:03}]")]
    if found != list(range(1, count + 1)):
        yield f"CPU {cpu}: {len(found)} numbers, the last is {found[-1:]}, not {count}"


class Session:
    """What a session of trace-cmd has left: files, whose lines are left[NAME]."""

    def __init__(self, directory):
        self.directory, self.left = directory, defaultdict(list, {
            path.name: trace.read(path) for path in directory.iterdir()})
        self.said, self.report = "\n".join(self.left["said"]), self.left["report"]
        # What was sent has no buffer of that name.
        self.events = list(trace.reported(self.report)) or list(trace.reported(self.report, ""))
        self.counts = Counter((each.name, each.args.partition(" ")[0])
                              for each in trace.parse(self.events))

    def strange(self):
        """What trace-cmd can't make sense of, or complains about."""
        return self.left["errors"] + [
            line for line in self.events or ["no events"] if not trace.LOST.match(line) and
            not re.match(r"\[\d+\] \d+\.\d+: [a-z_]+( [a-z_0-9]+=[^ =?]+)+$", line)]


# What is wrong with a session, each a check; the sessions are below.

def guests(session):
    """each event has its fields, in EL2's order and in time's"""
    yield from session.strange()
    for name in "hyp_enter", "hyp_exit":
        yield from differ(session.counts[name, "reason=guest"],
                          trace.guest_line(session.said, "exits"))
    facts = trace.facts("trace", lines=[line for line in session.events if
                                        re.search(": hyp_(enter|exit) |^CPU:", line)])
    yield from (fact for fact in facts if not fact.startswith("count "))
    yield from (f"nothing of CPU {cpu}" for cpu in CPUS
                if not any(fact.startswith(f"count {cpu} hyp_exit host") for fact in facts))


def numbers(session):
    """each number, once, in order"""
    yield from session.strange()
    yield from number_faults(session.events, 1000)


def fine_otherwise(session):
    """files and other commands are as they should be"""
    return session.left["wrong"]


def in_runs(session):
    """one clock"""
    host = session.directory / "host"
    host.write_text("\n".join(trace.reported(session.report, "", host=True)), encoding="utf-8")
    return trace.facts("clock", host, "-", lines=session.events)


def attributed(session):
    """a guest's events name the vCPU and the VM of the thread that had KVM enter the guest"""
    def named(line):
        fields = dict(re.findall(r"\b(\w+)=(\d+)", line))
        return [fields.get(name) for name in ("vcpu", "vm_pid", "vm_fd", "tid")]

    names, entered = {named(line)[3]: named(line)[:3] for line in session.left["said"]}, {}
    for line in session.report:
        cpu = re.search(r"\[\d+\]|$", line)[0]
        if ": kvm_entry: " in line:
            entered[cpu] = names.get(line.split()[0].rpartition("-")[2])
        elif re.search(": guest_(enter|exit): ", line) and named(line)[:3] != entered.get(cpu):
            yield line
    yield from [] if entered else ["no guest was entered"]


def one_event(session):
    """one for each exit of the guest, and no other"""
    yield from session.strange()
    yield from differ(session.counts["hyp_enter", "reason=guest"],
                      trace.guest_line(session.said, "exits"))
    yield from {name for name, _ in session.counts} - {"hyp_enter"}


def lost(session):
    """some are, and those are reported where they were; their sum is trace-cmd's"""
    said = Counter()
    for cpu, number in re.findall(r"^CPU (\d): (\d+) events lost", session.said, re.M):
        said[int(cpu)] += int(number)
    yield from session.strange()
    yield from number_faults(session.events, 10000, said)
    yield from (f"CPU {cpu}: not the last event" for cpu in CPUS if not any(
        line.endswith(f"id={cpu * 1000000000 + 10000}") for line in session.events))
    yield from [] if said[0] else ["no events lost"]


def shown(session):
    """report has the text of show, and of show -c"""
    events = by_cpu(session.events)
    yield from differ(by_cpu(session.left["show"]), events)
    yield from differ(by_cpu(session.left["show.0"]),
                      [line for line in events if line.startswith("[000]")] or "something")


def stopped(session):
    """what led to the event that turned tracing off, which is the last one"""
    yield from session.strange()
    yield from not_all(session, 0, 500)


def chosen(session):
    """each number of the chosen task, and none of another"""
    yield from session.strange()
    yield from not_all(session, 0, 1000)
    yield from not_all(session, 1, 0)


def chosen_guest(session):
    """each exit of the chosen task's guest, once, and no event of another task"""
    yield from session.strange()
    exits = {tid: int(count) for count, tid in re.findall(
        r"^vcpu=.*\bexits=(\d+) .*\btid=(\d+)", session.said, re.M)}
    yield from differ(Counter(re.findall(
        r"-(\d+) +\[.*: hyp_enter: +reason=guest", "\n".join(session.report))), exits or "an exit")
    yield from (f"twice: {line}" for line, count in Counter(session.report).items() if count > 1)
    # A shell may be between the chosen task and the guest.
    tasks = {int(found) for found in re.findall(r"\b(?:tid|vm_pid|task)=(\d+)", session.said)}
    found = {int(pid) for line in session.report for pid in re.findall(r"-(\d+) +\[", line)}
    yield from differ(found - tasks, set())
    yield from [] if found else ["no tasks"]


LINE = "write_event {0}: 0x{0:08x} {0} {1:3} {0:o} {2}"


def printed(session):
    """each line of hyp_trace_printk(), as the kernel's bprint, and as the kernel has it"""
    lines = [LINE.format(number, number % 256, number // 2) for number in range(1, 301)]
    yield from differ([line.partition(": bprint ")[2] for line in session.events], [
        f"__kvm_nvhe_handle___hyp_trace_write_event: {line}" for line in lines])
    yield from differ([line.partition(": hyp_printk ")[2] for line in session.left["show"]
                       if line.startswith("[")], lines)


def piped(session):
    """show -p: each number, once, in order"""
    return number_faults(session.left["show"], 1000)


TRACE_CMD = PRELUDE + r"""set +ex
cp -R usr /; cd /tmp
export HYP PORT=12345
# QEMU may go on with code of the scheduler's that is patched, so that a CPU's task is not seen: a
# guest and a user of sched_switch are there all the time.
guest --hold; mkdir /sys/kernel/tracing/instances/held
echo 0 >/sys/kernel/tracing/instances/held/options/record-cmd
echo 1 >/sys/kernel/tracing/instances/held/events/sched/sched_switch/enable
B="-B hypervisor" ALL="-B hypervisor -C boot -e hypervisor"
# What there is to record: on each CPU a guest; so many numbers on each at once
GUEST="guest --vcpus $(nproc) --cpu 0 --hvc 100 --mmio 50 --wfi 4"
cat >/bin/numbers <<'END'
#!/bin/sh
for cpu in $(seq 0 $(($(nproc) - 1))); do
	emit "$HYP/write_event" "$cpu" $((cpu * 1000000000 + 1)) "$1" &
done
wait
END
# As many, which no recorder reads until events were lost
cat >/bin/unread <<'END'
#!/bin/sh
recorders=$(ps -o pid,ppid,comm | awk "\$2 == $PPID && \$3 == \"trace-cmd\" { print \$1 }")
kill -STOP $recorders || exit; numbers "$1" &
until grep -q "^overrun: [1-9]" "$HYP/per_cpu/cpu0/stats" || ! kill -0 $!; do :; done
kill -CONT $recorders; wait
END
chmod +x /bin/numbers /bin/unread
ended() { ! kill -0 "$1" 2>/dev/null; }
# The listener wants to know by which name it was called.
mkdir -p /etc; echo 127.0.0.1 localhost >/etc/hosts; echo hosts: files >/etc/nsswitch.conf
trace-cmd listen -p $PORT -d /tmp -o net >listener 2>&1 &
until_true 20 grep -qi ":$(printf %04x $PORT) " /proc/net/tcp
# It has put together what it was sent.
arrived() { ls net.*.dat && ! ls net.*.cpu0 && ! ls net.*.cpu1; } 2>/dev/null
# What follows says what is wrong to descriptor 3: finds EXPRESSION FILE; stat EXPRESSION...
finds() { grep -q "$1" "$2" || echo "no $1 in $2" >&3; }
stat() {
	trace-cmd stat $B >stat 2>&1
	for words in 'Instance: hypervisor' "$@"; do finds "$words" stat; done
}
# written CPU COUNT: numbers that one process writes
written() { emit "$HYP/write_event" "$1" $(($1 * 1000000000 + 1)) "$2"; }
# record_of COMMAND WORDS...: record a task that runs the command once it is recorded; others, too,
# do what is recorded.
record_of() {
	rm -f go; mkfifo go; sh -c "read -r _; $1" <go & task=$!
	shift; trace-cmd record "$@" -P $task >recorder 2>&1 & recorder=$!
	echo task=$task; until_true 20 grep -q 1 "$HYP/tracing_on"
	written 1 1000; guest --hvc 4 >others
	echo >go; wait $task; kill -INT $recorder; wait $recorder
}
# said_of INSTANCE GROUP EVENT COMMAND WORDS...: what stat says of an instance after trace-cmd's
# command, less what others lack or have of their own
said_of() {
	instance=$1 group=$2 event=$3 command=$4; shift 4
	eval "trace-cmd $command -B $instance $*"; trace-cmd stat -B "$instance" |
		sed "/^Clock/,/^$/d; /^Filtered function/,/^$/d; s/^   [0-9].*/   SIZE/
			s/$event/EVENT/; s/\<$group\>\|\<$instance\>/NAME/g"
}
# as_hosts COMMAND WORDS...: stat says the same of an instance of the host's.
as_hosts() {
	said_of other kvm kvm_entry "$@" >expected; said_of hypervisor hypervisor hyp_enter "$@" >found
	diff expected found >&3; finds NAME found
}
given_back() {
	finds '(unloaded)' "$HYP/buffer_size_kb"
	[ -d /sys/kernel/tracing/instances/hypervisor ] || echo "no directory is left" >&3
}
list() {
	trace-cmd list -e ^hypervisor: | sort >list; sort "$HYP/available_events" | diff list - >&3
	trace-cmd list -e ^hypervisor: -F | grep 'field:.*offset' | sort >list
	cat "$HYP"/events/hypervisor/*/format | grep 'field:.*offset' | sort | diff list - >&3
	trace-cmd list -B >list; finds '^hypervisor$' list
}
# session NAME COMMANDS
session() {
	out="/out/$1"; mkdir "$out"; rm -f trace.dat*
	echo 0 >"$HYP/tracing_on"; echo >"$HYP/trace"; echo 1024 >"$HYP/buffer_size_kb"
	echo hyp_enter hyp_exit selftest >"$HYP/set_event"
	eval "$2" >"$out/said" 2>&1 3>"$out/wrong"
	trace-cmd report -i trace.dat >"$out/report" 2>"$out/errors"
}
"""
SESSIONS = {
    "record": ("trace-cmd record $ALL $GUEST; given_back", guests, fine_otherwise),
    "record, with the host's events": ("trace-cmd record -C boot -e sched -e kvm $ALL $GUEST",
                                       guests, in_runs, attributed),
    "record, one event": ("trace-cmd record $ALL:hyp_enter $GUEST", one_event),
    "record, numbers": ("trace-cmd record $ALL:selftest numbers 1000", numbers),
    "extract, lines": ("trace-cmd start $ALL:hyp_printk; emit $HYP/write_event 0 1 300; "
                       "trace-cmd stop $B; trace-cmd show $B >$out/show; trace-cmd extract $B",
                       printed),
    "record --nosplice": ("trace-cmd record $ALL:selftest --nosplice numbers 1000", numbers),
    "record, events lost": ("trace-cmd record $ALL:selftest -b 8 unread 10000", lost),
    # Without a command, trace-cmd records until a signal ends it.
    "record, interrupted": ("trace-cmd record $ALL >recorder 2>&1 & "
                            "until_true 20 grep -q 1 $HYP/tracing_on; $GUEST; "
                            "kill -INT $!; wait $!", guests),
    "record -N": ("trace-cmd record -N 127.0.0.1:$PORT $ALL $GUEST; "
                  "until_true 20 arrived; mv net.*.dat trace.dat", guests),
    "record -N -t": ("trace-cmd record -N 127.0.0.1:$PORT -t $ALL $GUEST; "
                     "until_true 20 arrived; mv net.*.dat trace.dat", guests),
    "extract": ("trace-cmd start $ALL; stat 'All enabled' 'Clock: boot' 'Tracing is enabled'; "
                "$GUEST; trace-cmd stop $B; stat 'Tracing is disabled'; "
                "trace-cmd show $B >$out/show; trace-cmd show $B -c 0 >$out/show.0; "
                "trace-cmd extract $B; given_back",
                guests, fine_otherwise, shown),
    "pipe": ("trace-cmd start $ALL:selftest; trace-cmd show $B -p >$out/show & "
             "numbers 1000; trace-cmd stop $B; until_true 20 ended $! || kill $!", piped),
    "reset": ("trace-cmd start $ALL; $GUEST; trace-cmd reset $B; ! grep '^\\[' $HYP/trace >&3; "
              "finds ^0$ $HYP/events/enable; finds ^1$ $HYP/tracing_on; "
              "finds '^\\[boot\\]$' $HYP/trace_clock", fine_otherwise),
    "start -R": ("trace-cmd start $ALL:selftest -R 'traceoff:1 if id == 500'; written 0 1000; "
                 "stat 'Tracing is disabled' 'selftest \"traceoff:count=0 if id == 500\"'; "
                 "trace-cmd extract $B; trace-cmd reset $B", stopped, fine_otherwise),
    "set -R": ("trace-cmd start $ALL:selftest; "
               "trace-cmd set $B -e hypervisor:selftest -R 'traceoff if id == 500'; "
               "written 0 1000; trace-cmd stop $B; "
               "trace-cmd extract $B; trace-cmd reset $B", stopped),
    "record -R": ("trace-cmd record $ALL:selftest -R 'traceoff if id == 500' "
                  "emit $HYP/write_event 0 1 1000; trace-cmd reset $B", stopped),
    "record -P": ("record_of 'exec emit $HYP/write_event 0 1 1000' $ALL:selftest", chosen),
    "record -P -c": ("record_of 'guest --hvc 4' $ALL -c", chosen_guest),
    "record -F -c": ("guest --wfi 10000 >others & "
                     "trace-cmd record $ALL -F -c guest --hvc 4; kill $!", chosen_guest),
    "stat": ("mkdir /sys/kernel/tracing/instances/other; "
             r"as_hosts start -C boot -e \$group:\$event -f \'common_pid\>3\' -R traceoff:3 "
             "-P 7 -P 8 -M 2; as_hosts stop; as_hosts reset; "
             "rmdir /sys/kernel/tracing/instances/other", fine_otherwise),
    # `trace-cmd snapshot' ignores -B and takes the top level's.
    "snapshot": ("trace-cmd start $ALL:selftest; numbers 1000; echo 1 >$HYP/snapshot; "
                 "trace-cmd clear $B; numbers 10; trace-cmd show $B -s >$out/show; "
                 "trace-cmd show $B -s -c 0 >$out/show.0; echo 0 >$HYP/snapshot; "
                 "trace-cmd snapshot -s $B; finds 'is freed' $HYP/snapshot; "
                 "trace-cmd snapshot -f; trace-cmd stop $B", piped, fine_otherwise),
    "list": ("list", fine_otherwise),
    # All its processes; it has read some by then.
    "killed": ("setsid trace-cmd record $ALL:selftest -b 64 numbers 100000000 >recorder 2>&1 & "
               "until_true 20 test -s trace.dat.hypervisor.cpu0 || echo it had not read >&3; "
               "kill -9 -$!; until_true 20 ended $!; finds ^1$ $HYP/tracing_on", fine_otherwise),
    "after a killed one": ("trace-cmd record $ALL:selftest -b 1024 numbers 1000; given_back",
                           numbers, fine_otherwise),
}


@pytest.fixture(name="lay_out")
def _lay_out(tmp_path, selftest):
    """Lays /test of a VM out, with a client; skips what can't be had."""
    selftest()

    def lay_out(how, *words):
        try:
            how(tmp_path / "files", *words)
        except Failure as failure:
            pytest.skip(str(failure))
        return tmp_path / "files"
    return lay_out


@pytest.mark.seconds(60)
@pytest.mark.parametrize("release, mode, cpu", [
    ("bookworm", "protected", "max"),
    pytest.param("trixie", "protected", "max", marks=pytest.mark.fast),
    ("trixie", "nvhe", "cortex-a72")])
def test_trace_cmd(vm, checks, lay_out, release, mode, cpu):
    """trace-cmd of a Debian release that has one able to"""
    script = TRACE_CMD + "".join(f"session {shlex.quote(name)} {shlex.quote(commands)}\n"
                                 for name, (commands, *_) in SESSIONS.items())
    out = vm.ok("the machine ends well", script, files=lay_out(clients.trace_cmd, release),
                mode=mode, cpu=cpu, timeout=300).out
    for name, (_, *judges) in SESSIONS.items():
        session = Session(out / name)
        for judge in judges:
            checks.equals(f"{name}: {judge.__doc__}", list(judge(session))[:8], [])


GRAPH = re.compile(r"\[(\d+)\] .*: funcgraph_(entry|exit): .*\|( *)(?:} /\* |}|)"
                   r"(?:__kvm_nvhe_([\w.]+))?(\(\);|\(\) {)?")


def nested(session):
    """EL2's functions, named and nested as deep as they were called"""
    depths = {}
    for line in session.report:
        found = GRAPH.search(line)
        if not found:
            continue
        cpu, depth = found[1], len(found[3]) // 2
        leaves = found[2] == "exit"
        if not leaves and not found[4]:
            yield f"no name: {line}"
        if cpu in depths and depth not in (depths[cpu] - leaves, 0 if not leaves else -1):
            yield f"{depths[cpu]} deep: {line}"
        depths[cpu] = depth + (found[5] == "() {")
    names = {found[4] for found in map(GRAPH.search, session.report) if found}
    yield from {"handle_trap", "__kvm_vcpu_run"} - names
    yield from session.left["errors"]


def called(session):
    """EL2's functions, with their callers"""
    pairs = {found.groups() for found in (re.search(
        r": function: +__kvm_nvhe_(\w+)(?: <--|.*<-) *__kvm_nvhe_(\w+)", line)
        for line in session.report) if found}
    yield from {("__kvm_vcpu_run", "handle___kvm_vcpu_run")} - pairs
    yield from session.left["errors"]


# trace-cmd chooses only tracers that the kernel itself has, too: ours has no function_graph.
FUNCTION_SESSIONS = {
    "record -p function": ("trace-cmd record -B hypervisor -p function $GUEST; "
                           "finds ^nop$ $HYP/current_tracer", called, fine_otherwise),
    "extract, function_graph": ("echo function_graph >$HYP/current_tracer; "
                                "echo 1 >$HYP/tracing_on; $GUEST; echo 0 >$HYP/tracing_on; "
                                "stat 'Tracer: function_graph'; "
                                "trace-cmd extract $B; trace-cmd reset $B; "
                                "finds ^nop$ $HYP/current_tracer", nested, fine_otherwise),
}


@pytest.mark.seconds(60)
@pytest.mark.boots("functions")
@pytest.mark.parametrize("mode, cpu", [("protected", "max"), ("nvhe", "cortex-a72")])
def test_trace_cmd_functions(vm, checks, lay_out, mode, cpu):
    """trace-cmd records EL2's functions by current_tracer"""
    script = TRACE_CMD + "".join(f"session {shlex.quote(name)} {shlex.quote(commands)}\n"
                                 for name, (commands, *_) in FUNCTION_SESSIONS.items())
    out = vm.ok("the machine ends well", script, files=lay_out(clients.trace_cmd, "trixie"),
                mode=mode, cpu=cpu, config="functions", timeout=200).out
    for name, (_, *judges) in FUNCTION_SESSIONS.items():
        session = Session(out / name)
        for judge in judges:
            checks.equals(f"{name}: {judge.__doc__}", list(judge(session))[:8], [])


@pytest.mark.fast
@pytest.mark.seconds(8)
@pytest.mark.parametrize("mode, cpu", [("protected", "max"), ("nvhe", "cortex-a72")])
def test_libtracefs(vm, lay_out, mode, cpu):
    """A program of Debian 13's libtracefs uses each kind of file."""
    vm.tests(f"{mode} {cpu}", ["libtracefs"], "cp -R usr /; taskset -p 1 $$",
             files=lay_out(clients.libtracefs), mode=mode, cpu=cpu, timeout=120)


# What is wrong with a recording of Perfetto's, each a check

def sound(recording):
    """Perfetto does not complain, and events are in order"""
    yield from recording.wrong
    for cpu in CPUS:
        yield from recording.disorder(cpu)


def counted(recording):
    """each number, once, in order; none overran by the kernel's count"""
    lines = [line for line in recording.lines if re.search("^CPU:|: selftest ", line)]
    yield from number_faults(lines, 3000)
    yield from (f"CPU {cpu} overran" for cpu in CPUS if set(recording.stats["overrun", cpu]) != {0})


def formats(recording):
    """of each line of hyp_trace_printk(), the format: Perfetto does not know the arguments"""
    found = Counter(each.args.partition("fmt=")[2] for each in recording.ours()
                    if each.name == "hyp_printk")
    yield from differ(found, Counter({'write_event %llu: 0x%08x %d %3u %o %lld': 6000}))


def all_read(recording):
    """it has all that were read by the kernel's count, which Perfetto may ask for before the end"""
    events = Counter(each.cpu for each in recording.ours() if each.name != "LOST")
    yield from (f"CPU {cpu}" for cpu in CPUS
                if events[cpu] < sum(recording.stats["read_events", cpu]))


def in_host_time(recording):
    """EL2 is entered twice between the host's kvm_entry and kvm_exit"""
    # The two buffers are not read from the same moment to the same: only what is between EL2's
    # first event and its last counts.
    events = [each for each in trace.parse(recording.lines) if each.name != "LOST"]
    letters, runs = {"kvm_entry": "<", "kvm_exit": ">", "hyp_enter": "h"}, []
    for cpu in CPUS:
        text = "".join(letters.get(each.name, "") for each in sorted(
            events, key=lambda each: each.time) if each.cpu == cpu)
        runs += re.findall("<h*>", text[text.find("h"):text.rfind("h")])
    yield from [run for run in runs if run.count("h") < 2] if runs else ["no runs"]


def in_parts(recording):
    """those overwritten, those that were read, and those that Perfetto left, in order"""
    # The buffer has few pages, and is not read meanwhile.
    for cpu in CPUS:
        over, left = (recording.stats[name, cpu] for name in ("overrun", "entries"))
        yield from differ([int(line.partition("id=")[2]) - cpu * 1000000000
                           for line in recording.lines if line.startswith(f"[{cpu:03}]")],
                          list(range(sum(over) + 1, 3001 - left[-1])) or "some")
        yield from differ(recording.lines.count(f"CPU:{cpu} [LOST EVENTS]"), int(sum(over) > 0))
        yield from [] if sum(over) else [f"CPU {cpu}: none is lost"]


PERFETTO = r"""set -ex
. ./perfetto.sh
cd /tmp; start_traced; start_probes
HYP=/sys/kernel/tracing/hypervisor ONLINE=/sys/devices/system/cpu/cpu1/online
configure 2048 100 '*' >config; configure 16 60000 selftest >small
{ cat config && configure_host kvm/kvm_entry kvm/kvm_exit 'sched/*'; } >both
numbers() { for cpu; do emit $HYP/write_event "$cpu" $((cpu * 1000000000 + 1)) 3000; done; }
# record NAME ARGUMENT...: before there is a load, and until after it
record() {
	name=$1; shift
	begin "/out/$name" "$@"; guest --hvc 32; numbers 0 1; end
}
record "instance hypervisor" --txt -c config
record "another session" --txt -c config
record "perfetto hypervisor" --time 60s hypervisor
record "with the host's events" --txt -c both
# While guests come and go
: >load; while [ -e load ]; do guest --hvc 32; done >guests & load=$!
until_true 20 test -s guests
begin "/out/begun and ended under load" --txt -c both; numbers 0 1; end
rm load; wait $load
# The CPU is off when it begins and again when it ends, and on in between.
echo 0 >$ONLINE; begin "/out/a CPU goes off and on" --txt -c config; numbers 0
echo 1 >$ONLINE; numbers 1; echo 0 >$ONLINE; end; echo 1 >$ONLINE
# The reader of the buffers is killed: the files stay as the reader left them.
begin killed --txt -c config; guest --hvc 32; kill -9 "$probes"; end
cp $HYP/tracing_on /out/killed.on
start_probes
record "after a killed one" --txt -c config
record "events lost" --txt -c small
"""
RECORDINGS = {**dict.fromkeys(["instance hypervisor", "another session", "perfetto hypervisor",
                               "a CPU goes off and on", "after a killed one"],
                              (sound, counted, formats, all_read)),
              **dict.fromkeys(["with the host's events", "begun and ended under load"],
                              (sound, counted, in_host_time)),
              "events lost": (sound, in_parts, all_read)}


@pytest.mark.fast
@pytest.mark.seconds(30)
def test_perfetto(vm, checks, lay_out):
    """Debian's Perfetto records all events."""
    out = vm.ok("Perfetto records in a VM", PERFETTO, files=lay_out(clients.perfetto), mem="2G",
                timeout=300).out
    for name, judges in RECORDINGS.items():
        recording = perfetto.Recording((out / name).read_bytes())
        for judge in judges:
            checks.equals(f"{name}: {judge.__doc__}", list(judge(recording))[:8], [])
    checks.equals("killed, it leaves tracing on", trace.read(out / "killed.on"), ["1"])


# The events of functions, and the host's function_graph, which Perfetto itself turns on
PERFETTO_FUNCTIONS = r"""set -ex
. ./perfetto.sh
cd /tmp; start_traced; start_probes
HYP=/sys/kernel/tracing/hypervisor
{ configure 16384 100 '*'; configure_host kvm/kvm_entry; } >events
sed 's/^.*instance_name.*/& symbolize_ksyms: true enable_function_graph: true/' events >graph
echo '*' >$HYP/set_ftrace_filter
begin /out/events --txt -c events; guest --hvc 32; end
: >$HYP/set_ftrace_filter
begin /out/graph --txt -c graph; guest --hvc 32; end
cp $HYP/current_tracer $HYP/available_filter_functions /out
grep __kvm_nvhe_ /proc/kallsyms >/out/kallsyms
"""
# The field that says which function; and the event of a function that is the same
FUNCTION_FIELDS = {"func": ("ip", "func"), "func_ret": ("ip", "func_ret"),
                   "funcgraph_entry": ("func", "func"), "funcgraph_exit": ("func", "func_ret")}


def function_lines(recording, symbols):
    """Perfetto's records of functions, as the lines of trace"""
    for each in recording.ours():
        if each.name in FUNCTION_FIELDS:
            field, name = FUNCTION_FIELDS[each.name]
            value = dict(word.split("=") for word in each.args.split())[field]
            yield f"[{each.cpu:03}] 0.0: {name} {symbols.get(value, value)} <-"


@pytest.mark.seconds(20)
@pytest.mark.boots("functions")
@pytest.mark.parametrize("mode, cpu", [("protected", "max"), ("nvhe", "cortex-a72")])
def test_perfetto_functions(vm, checks, lay_out, mode, cpu):
    """Debian's Perfetto records EL2's functions: events, and the graph, which it turns on itself"""
    out = vm.ok("Perfetto records in a VM", PERFETTO_FUNCTIONS, files=lay_out(clients.perfetto),
                mode=mode, cpu=cpu, config="functions", mem="2G", timeout=200).out
    known, symbols = {*trace.read(out / "available_filter_functions")}, {}
    for address, _, name in map(str.split, trace.read(out / "kallsyms")):
        if (bare := name.removeprefix("__kvm_nvhe_")) in known:
            symbols[name] = symbols[str(int(address, 16))] = bare
    for name in "events", "graph":
        recording = perfetto.Recording((out / name).read_bytes())
        lines = list(function_lines(recording, symbols))
        checks.equals(f"{name}: {sound.__doc__}", list(sound(recording)), [])
        checks.equals(f"{name}: no event is lost", [line for line in recording.lines
                                                    if "LOST" in line], [])
        checks.equals(f"{name}: none overran by the kernel's count", {
            count for cpu in CPUS for count in recording.stats["overrun", cpu]}, {0})
        checks(f"{name}: all that were read by the kernel's counts, the host's events too",
               len(recording.lines) >= sum(sum(recording.stats["read_events", cpu])
                                           for cpu in CPUS) > 0)
        checks.equals(f"{name}: functions nest", trace.facts(
            "functions", out / "available_filter_functions", "-", lines=lines)[:8], [])
        called = Counter(tuple(line.split()[2:4]) for line in lines)
        checks.equals(f"{name}: each has a name", {word for _, word in called} - known, set())
        runs = sum("kvm_entry" in line for line in recording.lines)
        checks(f"{name}: a vCPU ran", runs >= 32)
        checks.equals(f"{name}: as often as KVM says", [
            called[event, "__kvm_vcpu_run"] for event in ("func", "func_ret")], [runs] * 2)
    checks.equals("it leaves no tracer", trace.read(out / "current_tracer"), ["nop"])


ANDROID = PRELUDE + r"""cd "$HYP"
echo 0 >tracing_on
for file in events/*/*/enable; do echo 0 >"$file"; done
echo 4096 >buffer_size_kb
for event in hyp_enter hyp_exit; do echo 1 >events/hypervisor/$event/enable; done
echo 0 >trace
for cpu in 0 1; do cat per_cpu/cpu$cpu/trace_pipe >/out/pipe.$cpu & done
echo 1 >tracing_on; guest --hvc 32 --mmio 32 --wfi 4 --cpu 1 >/out/guest
taskset 1 sh -c "echo 7 >write_event"; echo 0 >tracing_on
# A reader that has read something ends when it has read all.
wait
# All events
echo 1 >events/enable; echo 1 >tracing_on; guest --hvc 32 --cpu 1
echo 7 >write_event; echo 0 >tracing_on
grep -v '^#' trace >/out/trace; fileop drain trace_pipe | grep -v LOST >/out/trace_pipe
"""
SEEN = {"hyp_enter", "host_hcall", "guest_exit", "hyp_printk", "selftest"}


@pytest.mark.fast
@pytest.mark.seconds(10)
def test_android(vm, checks, selftest):
    """The tracer of Android's virtualization tests finds the events by its pattern, trace.EVENT."""
    out = vm.ok("its steps in a VM", ANDROID, files=selftest(), timeout=120).out
    for cpu in CPUS:
        checks.equals(f"each event of CPU {cpu}'s trace_pipe, by turns", [
            fact for fact in trace.facts("trace", out / f"pipe.{cpu}") or ["no events"]
            if not fact.startswith(f"count {cpu} ")], [])
    checks.equals("each exit of the guest",
                  sum("hyp_enter reason=guest" in line for line in trace.read(out / "pipe.1")),
                  trace.guest_line((out / "guest").read_text(encoding="utf-8"), "exits"))
    for name in "trace", "trace_pipe":
        found = [trace.EVENT.match(line) for line in trace.read(out / name)]
        checks(f"each line of {name} is an event, and all are there",
               found and all(found) and not SEEN - {each[3] for each in found}, found)


ADDED = """\
HYP_EVENT(added, HE_PROTO(u64 id, const char *text, const unsigned long *bits),
	HE_STRUCT(he_field(s32, sign) he_array(u16, values, 3) he_string(text, text)
		  he_bitmask(bits, 70) he_string(again, text)),
	HE_ASSIGN(__entry->sign = id & 1 ? -1 : 1; __entry->values[0] = id;
		  __entry->values[1] = id + 1; __entry->values[2] = 0xffff; __assign_str(text);
		  __assign_bitmask(bits, bits, 70); __assign_str(again);),
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
# All is at once where events are seen.
WRITTEN = PRELUDE + r"""cp -R usr /; cd "$HYP"
EVENT=events/hypervisor/added
WRITE="for id in 1 2 3 62; do echo \$id >$HYP/write_event; done"
record() { echo 1 >tracing_on; eval "$WRITE"; echo 0 >tracing_on; fileop drain trace_pipe >"$1"; }
echo hypervisor:selftest >set_event
grep hypervisor:added available_events >/out/available
cp $EVENT/format $EVENT/enable /out; cp ../events/hypervisor/added/format /out/format.host
record /out/off; echo hypervisor:added >set_event; record /out/on
echo 'sign < 0' >$EVENT/filter; record /out/filtered
for field in values text bits; do fileop write $EVENT/filter "$field == 1"; done >/out/refused
echo 0 >$EVENT/filter; record /out/again
# A recorder of trace-cmd that has not begun when the command ends records nothing.
cat >/tmp/write <<END
. $DIR/until.sh
record() { [ "\$(ls -l /proc/[0-9]*/fd | grep -c 'hypervisor/per_cpu/.*/trace_pipe_raw')" -ge 2 ]; }
until_true 20 record
$WRITE
END
cd /tmp; trace-cmd record -B hypervisor -C boot -e hypervisor:added sh write
trace-cmd report >/out/report 2>/out/errors
"""


def added_lines(values="{{{:#x},{:#x},0xffff}}"):
    """What is shown of the numbers 1, 2, 3 and 62. A text is cut."""
    cut = "0123456789" * 12 + "0123456"
    return [f"sign={-1 if number & 1 else 1} values={values.format(number, number + 1)} "
            f"text={text} bits=00000000,{number:08x},{number % 16:x}0000000,00000005 "
            f"again={text}".rstrip()
            for number, text in ((1, "odd"), (2, cut), (3, ""), (62, cut))]


@pytest.mark.seconds(200)
def test_added(kernel, vm, checks, lay_out):
    """An event is one entry in the event list and one call; then it is wherever events are seen."""
    tree.make()
    path, mark = "arch/arm64/kvm/hyp/nvhe/trace_hcall.c", "\t\ttrace_selftest(id);\n\t}\n"
    text = (BUILD / "tree" / path).read_text(encoding="utf-8")
    assert mark in text
    with tree.edited({**tree.more_events(ADDED), path: text.replace(mark, mark + CALL)}):
        kernel("event", targets=["Image"])
    out = vm.ok("the machine ends well", WRITTEN, config="event", timeout=120,
                files=lay_out(clients.trace_cmd, "bookworm")).out
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
