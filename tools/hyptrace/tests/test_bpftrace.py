# SPDX-License-Identifier: GPL-2.0
"""Debian's bpftrace gets the hypervisor's records by the script that the documentation has."""

import re

import pytest

from hyptrace import clients, machine
from hyptrace.vm import PRELUDE

DOCUMENT = machine.ROOT / "Documentation/trace/hypervisor-histograms.rst"
# What bpftrace runs when it is attached. The kernel's own trace shows when records come.
COMMAND = PRELUDE + r"""T=/sys/kernel/tracing
echo hypervisor:hyp_enter >"$HYP/set_event"
echo hypervisor:hyp_exit >>"$HYP/set_event"
echo 1 >"$HYP/tracing_on"
echo 1 >$T/events/trace_remote/enable
shown() { echo 1 >"$HYP/write_event"; grep -q event=hyp_exit $T/trace; }
until_true 10 shown
for id in $(seq 100); do echo "$id" >"$HYP/write_event"; done
echo 0 >"$HYP/tracing_on"
# All records are shown before they are cleared.
echo >"$HYP/trace"
"""
# Without BTF, bpftrace compiles against headers.
SCRIPT = PRELUDE + r"""cp -R usr /
[ -e /lib/ld-linux-aarch64.so.1 ] || ln -s /usr/lib /lib
# shellcheck disable=SC2046 # two words
bpftrace -I /usr/include stays.bt $(cat "$HYP"/events/hypervisor/hyp_e[nx]*/id) \
	-c "/bin/sh $PWD/command"
"""


def script_of(text):
    """The script for bpftrace: the indented block that begins with a tracepoint."""
    block = re.search(r"^  tracepoint:(?:.*\n)(?:(?:  .*)?\n)+", text, re.M)[0]
    return re.sub("^  ", "", block, flags=re.M)


@pytest.mark.clients
@pytest.mark.seconds(120)
def test_bpftrace(vm, checks, tmp_path):
    """A histogram of stays at EL2"""
    clients.bpftrace(tmp_path)
    (tmp_path / "command").write_text(COMMAND, "utf-8")
    (tmp_path / "stays.bt").write_text(script_of(DOCUMENT.read_text("utf-8")), "utf-8")
    said = vm.ok("bpftrace runs", SCRIPT, files=tmp_path, mem="2G", timeout=300).output
    counts = [int(count) for count in re.findall(r"^\[.*\)\s+(\d+) \|", said, re.M)]
    checks("it prints a histogram", "@us:" in said and counts, said)
    checks("... with each stay", sum(counts) >= 100, said)
