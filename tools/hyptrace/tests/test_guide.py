# SPDX-License-Identifier: GPL-2.0
"""Shell sessions in documents: in a VM, each prints what is shown, numbers aside."""

import pytest

from hyptrace import documents, hypstat, machine, trace, vm as vms

SECONDS = machine.number("SECONDS_OF_TIMEOUT", 3)    # that a command under `timeout` runs


@pytest.mark.clients
@pytest.mark.seconds(45)
@pytest.mark.parametrize("document", ["Documentation/trace/hypervisor-tracing.rst", "README.md"],
                         ids=["guide", "readme"])
def test_guide(vm, checks, tmp_path, document):
    """One that is for a boot parameter has a VM of its own, and may end in a crash."""
    sessions = documents.sessions((machine.ROOT / document).read_text("utf-8"))
    plain = [session for session in sessions if not session.boot]
    hypstat.lay_out(tmp_path)
    checks(f"{document} has sessions", plain)
    out = vm.ok("... which run", documents.script(plain, SECONDS), files=tmp_path,
                timeout=240).out
    printed = [(session, trace.read(out / f"{n}")) for n, session in enumerate(plain, 1)]
    for session in sessions:
        if session.boot:
            result = vm(documents.script([session], SECONDS, keep=True), files=tmp_path,
                        cmdline=session.boot, timeout=240)
            checks(f"... with {session.boot}", result.status in (0, vms.DIED), result.errors)
            printed.append((session, (result.output + result.console).splitlines()))
    for session, found in printed:
        checks.equals(f"... prints what is shown: {session.title()}",
                      documents.differs(session, found), [])
