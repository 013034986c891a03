#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The tracer of Android's virtualization tests finds the events: its steps in a VM, and its pattern
# on what trace_pipe and trace show; t/panic.t compares the console with trace.
. "$(dirname "$0")/tap.sh"

OUT=$tmp/out

sessions() {
	"$TOOLS/selftest" &&
		mkdir -p "$tmp/files" && cp -R "$BUILD/selftest/." "$tmp/files" &&
		"$TOOLS/vm" SMP=2 SCRIPT="$TOOLS/clients/android-sessions" FILES="$tmp/files" \
			OUT="$OUT" TIMEOUT=120
}

android() {
	python3 "$TOOLS/clients/android.py" "$@"
}

# As many entries from the guest as it made exits.
guest_exits() {
	exits=$(sed -n 's/^vcpu=.* exits=\([0-9]*\).*/\1/p' "$OUT/guest")
	[ "$exits" -gt 0 ] && equals "$(grep -c 'hyp_enter reason=guest$' "$OUT/pipe.1")" "$exits"
}

ok "its steps in a VM" sessions
ok "each event of a CPU's trace_pipe, by turns" android whole "$OUT/pipe.0" "$OUT/pipe.1"
ok "each exit of the guest" guest_exits
ok "all events of trace" android lines "$OUT/trace" hyp_enter host_hcall guest_exit hyp_printk
ok "all events of trace_pipe" android lines "$OUT/trace_pipe" hyp_enter hyp_exit selftest
plan
