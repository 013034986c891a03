# SPDX-License-Identifier: GPL-2.0
"""The KUnit tests of the rings, and of setting them up, in the VM."""

import re

import pytest

from hyptrace import ktap
from hyptrace.machine import BUILD, ROOT

REMOTE, LOCAL = ROOT / "kernel/trace/remote/tests", ROOT / "arch/arm64/kvm/hyp_trace/tests"
SUITES = ("trace_remote_ring trace_remote_merge trace_remote_setup trace_remote_api "
          "hyp_trace_setup hyp_trace_events hyp_trace_buffer hyp_trace_retry")
# Functions of ring_buffer.h that make a buffer, take none, or need a process' mapping (mmap.sh)
NO_CASE = set("""alloc alloc_range event_data event_length read_page_data read_page_size
    print_entry_header map_dup""".split())


@pytest.mark.parametrize("config, cpu", [
    pytest.param(config, cpu, marks=[getattr(pytest.mark, name), pytest.mark.seconds(seconds)])
    for name, config, cpu, seconds in (
        ("fast", "default", "max", 25), ("debug", "debug", "max", 190),
        ("pages", "16k", "max,lpa2=off", 25), ("pages", "64k", "max", 25),
        ("kcsan", "kcsan", "max", 200))])
def test_kunit(vm, checks, config, cpu):
    """Each case is a result."""
    result = vm(f"cd /sys/kernel/debug/kunit\nfor suite in {SUITES}; do cat $suite/results; done",
                config=config, cpu=cpu, cmdline="kunit.enable=1", timeout=600)
    checks("the VM ends well", result.status == 0, result.errors)
    checks.add(ktap.kunit(result.output, [*REMOTE.glob("test*.c"), *LOCAL.glob("test*.c")]))


@pytest.mark.fast
@pytest.mark.host
def test_each_function_is_called():
    """test_api.c calls each function of ring_buffer.h that takes a buffer or an iterator."""
    pattern = re.compile(r"\bring_buffer_([a-z_]+)\(")
    names = set(pattern.findall((BUILD / "tree/include/linux/ring_buffer.h").read_text("utf-8")))
    assert "consume" in names
    assert not names - NO_CASE - set(pattern.findall((REMOTE / "test_api.c").read_text("utf-8")))
