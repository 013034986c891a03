# SPDX-License-Identifier: GPL-2.0
"""Tracing from boot, as the kernel's command line says."""

import pytest

from hyptrace.vm import PRELUDE

SHELL = PRELUDE + r"""
cd /sys/kernel/tracing
# The file holds these lines, and no others: holds FILE LINE...
holds() { file=$1; shift; printf '%s\n' "$@" | diff - "$file"; }
# Lines of the kernel's log that are of tracing
logged() { dmesg | grep -v 'Kernel command line' | grep hyp_trace; }
logged_only() { logged | sed 's/.*hyp_trace: //' >/tmp/logged; holds /tmp/logged "$@"; }
"""

# All that is there of pKVM's finalisation and of the host's aborts before it: __pkvm_prot_finalize
# was called once on each CPU, after tracing began, and before there were files to turn it on.
ALL = "hyp_trace_event=*:* hyp_trace_buffer_size=4M"
EVERYTHING = r"""
diff hypervisor/set_event hypervisor/available_events
holds hypervisor/tracing_on 1
holds hypervisor/buffer_size_kb '4096 (loaded)'
awk -v cpus="$(nproc)" '
	/name=__hyp_trace_enable / && !n { begun++ }
	/name=__pkvm_prot_finalize invalid=0 ret=0$/ { n++; if (!seen[$1]++) on++ }
	END { exit !(begun == cpus && n == cpus && on == cpus) }' hypervisor/trace
grep 'host_mem_abort' hypervisor/trace >/tmp/aborts
off_by_less 0.02
# Nothing was lost, nor is now
sed -n 's,.*entries-written: \([0-9]*\)/\([0-9]*\) .*,[ \1 = \2 ],p' hypervisor/trace |
	grep '^\[ \([0-9]*\) = \1 ]'
[ -z "$(logged)" ]
# diff takes files of one inode number for one file, as tracefs may have it: it gets a copy. The
# records of hyp_printk have the number of the kernel's bprint.
format_of() { sed '/^name: hyp_printk$/,/^ID:/d' "$1"; }
for event in hypervisor/events/hypervisor/*/format; do
	format_of "$event" >/tmp/ours
	format_of "${event#hypervisor/}" | diff /tmp/ours -
done
guest
grep 'hyp_exit reason=guest' hypervisor/trace >/tmp/exits
echo 0 >hypervisor/tracing_on
echo >hypervisor/trace
holds hypervisor/buffer_size_kb '4096 (unloaded)'"""

CASES = {
    "all events, protected max": ({"cmdline": ALL}, EVERYTHING),
    "all events, protected cortex-a72":
        ({"cpu": "cortex-a72", "smp": 4, "cmdline": ALL}, EVERYTHING),
    "some events, nvhe max": ({"mode": "nvhe", "cmdline":
        "hyp_trace_event=host_hcall,nonsense,hypervisor:selftest,hyp_exit,,!hyp_exit "
        "hyp_trace_event=hypervisor:guest_enter,kvm:* hyp_trace_buffer_size=12"}, """
# The words of set_event, in order; what is wrong is reported, and the rest done
holds hypervisor/set_event hypervisor:host_hcall hypervisor:guest_enter hypervisor:selftest
holds hypervisor/tracing_on 1
# No less than a page
holds hypervisor/buffer_size_kb '4 (loaded)'
off_by_less 0.02
logged_only "Failed to enable trace event: nonsense" "Failed to enable trace event: kvm:*"
guest"""),
    "options": ({"cmdline":
        "hyp_trace_options=nooverwrite,nonsense,,record-cmd hyp_trace_buffer_size=4096 "
        "hyp_trace_event=hyp_enter,hyp_exit"}, """
holds hypervisor/trace_options noevent-fork nooverwrite record-cmd
logged_only "no such option: nonsense"
# The events of booting are kept: none was overwritten, and later ones are dropped.
[ "$(grep -l '^overrun: 0$' hypervisor/per_cpu/cpu*/stats | wc -l)" = "$(nproc)" ]
grep '^dropped events: [1-9]' hypervisor/per_cpu/cpu0/stats
echo 0 >hypervisor/tracing_on
grep ' hyp_enter ' hypervisor/trace | head -n 1 >/tmp/first
until=$(dmesg | sed -n 's/^\\[ *\\([0-9.]*\\)\\] Run .* as init process$/\\1/p')
awk -v until="$until" '{ exit !(until && $3 + 0 < until) }' /tmp/first
guest"""),
    "a size and an option alone": ({"cmdline":
        "hyp_trace_buffer_size=100K hyp_trace_options=nooverwrite"}, """
holds hypervisor/tracing_on 0
holds hypervisor/options/overwrite 0
holds hypervisor/buffer_size_kb '100 (unloaded)'
diff hypervisor/set_event hypervisor/available_events
[ -z "$(logged)" ]"""),
    "a wrong size, nvhe": ({"mode": "nvhe", "cmdline":
        "hyp_trace_buffer_size=4KiB hyp_trace_event=selftest"}, """
holds hypervisor/tracing_on 1
holds hypervisor/buffer_size_kb '1408 (loaded)'
holds hypervisor/set_event hypervisor:selftest
off_by_less 0.02
logged_only "no such buffer size: 4KiB"
guest"""),
    "locked down": ({"cmdline":
        "lockdown=confidentiality hyp_trace_event=*:* hyp_trace_buffer_size=200M"}, """
# Nothing is started that nobody could see.
[ ! -e hypervisor ]
logged | grep 'no tracing of the hypervisor'
awk '/^MemTotal/ { total = $2 } /^MemFree/ { exit $2 < total * 0.7 }' /proc/meminfo
guest"""),
    "vhe": ({"mode": "vhe", "cmdline": f"{ALL} hyp_trace_options=nooverwrite"}, """
# There is nothing to trace; the options are known all the same.
[ ! -e hypervisor ]
[ -z "$(logged)" ]
! dmesg | grep 'Unknown kernel command line'"""),
}


@pytest.mark.fast
@pytest.mark.seconds(4)
@pytest.mark.parametrize("name", CASES)
def test_boot(vm, selftest, name):
    """What the command line asks for is so when user space begins."""
    machine, script = CASES[name]
    vm.ok(name, SHELL + script, files=selftest(), timeout=120, **machine)
