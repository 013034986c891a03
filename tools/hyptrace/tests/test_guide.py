# SPDX-License-Identifier: GPL-2.0
"""What documents show and say is so in a VM: shell sessions print it, numbers aside; files are
there, or not."""

import re

import pytest

from hyptrace import documents, hypstat, machine, trace, vm as vms

SECONDS = machine.number("SECONDS_OF_TIMEOUT", 3)    # that a command under `timeout` runs


@pytest.mark.clients
@pytest.mark.seconds(45)
@pytest.mark.parametrize("document, config", [
    ("Documentation/trace/hypervisor-tracing.rst", "default"), ("README.md", "default"),
    ("Documentation/trace/hypervisor-histograms.rst", "default"),
    ("Documentation/trace/hypervisor-functions.rst", "functions")],
                         ids=["guide", "readme", "histograms", "functions"])
def test_guide(vm, checks, tmp_path, document, config):
    """One that is for a boot parameter has a VM of its own, and may end in a crash."""
    sessions = documents.sessions((machine.ROOT / document).read_text("utf-8"))
    plain = [session for session in sessions if not session.boot]
    hypstat.lay_out(tmp_path)
    checks(f"{document} has sessions", plain)
    out = vm.ok("... which run", documents.script(plain, SECONDS), files=tmp_path,
                config=config, timeout=240).out
    printed = [(session, trace.read(out / f"{n}")) for n, session in enumerate(plain, 1)]
    for session in sessions:
        if session.boot:
            result = vm(documents.script([session], SECONDS, keep=True), files=tmp_path,
                        config=config, cmdline=session.boot, timeout=240)
            checks(f"... with {session.boot}", result.status in (0, vms.DIED), result.errors)
            printed.append((session, (result.output + result.console).splitlines()))
    for session, found in printed:
        checks.equals(f"... prints what is shown: {session.title()}",
                      documents.differs(session, found), [])


COMPARED = "Documentation/trace/hypervisor-tracing-files.rst"
# Of an instance of the kernel's, and of the remote: all files, options, commands of triggers
LIST = r"""cd /sys/kernel/tracing
mkdir instances/other
list() {
	find "$1/" -type f | cut -d / -f "$2-" | grep -v ^options/ >/out/$3.Files
	{ sed 's/^no//' "$1/trace_options"; ls "$1/options"; } >/out/$3.Options
	sed -n 's/^# \(traceon .*\)/\1/p' "$1/events/$4/trigger" | tr ' ' '\n' >/out/$3.Commands
}
list instances/other 3 kernel kvm/kvm_exit
list hypervisor 2 remote hypervisor/hyp_exit
rmdir instances/other
"""
# A row of a table: the name; whether the kernel's instance has it, and the remote; remarks
ROW = re.compile(r"^``(\S+)`` +(yes|no|config) +(yes|no|config) *(.*)$", re.M)


def general(name):
    """A file's name as the document has it, of any CPU, group and event."""
    name = re.sub(r"\bcpu\d+/", "cpuN/", name)
    name = re.sub("^events/[^/]+/[^/]+/", "events/GROUP/EVENT/", name)
    return re.sub("^events/(?!GROUP/)[^/]+/", "events/GROUP/", name)


@pytest.mark.fast
@pytest.mark.seconds(5)
def test_compared_files(vm, checks):
    """A table has each file, option and command that an instance of the kernel's has, or the
    remote, and none that they lack, unless it needs another configuration; and says why not."""
    parts = re.split(r"^(.*)\n=+$", (machine.ROOT / COMPARED).read_text("utf-8"), flags=re.M)
    out = vm.ok("the machine ends well", LIST).out
    tables = {title: rows for title, text in zip(parts[1::2], parts[2::2])
              if (rows := ROW.findall(text))}
    assert len(tables) == 3
    for title, rows in tables.items():
        for owner, column in ("kernel", 1), ("remote", 2):
            optional = {row[0] for row in rows if row[column] == "config"}
            found = {*map(general, trace.read(out / f"{owner}.{title.split()[0]}"))} - optional
            checks.equals(f"{title}: what the {owner} has", sorted(found),
                          sorted(row[0] for row in rows if row[column] == "yes"))
        checks.equals(f"{title}: why the remote lacks them",
                      [row[0] for row in rows if row[2] == "no" and not row[3]], [])
