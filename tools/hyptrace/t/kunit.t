#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The KUnit tests of the rings, and of setting them up, in the VM: their results as ours.
# CONFIG=debug boots the debug kernel, CONFIG=kcsan the one that looks for data races.
. "$(dirname "$0")/ktap.sh"

cat >"$tmp/script" <<'END'
#!/bin/sh
cd /sys/kernel/debug/kunit
cat trace_remote_ring/results trace_remote_merge/results trace_remote_setup/results \
	trace_remote_api/results trace_remote_api_state/results \
	hyp_trace_setup/results hyp_trace_events/results hyp_trace_buffer/results \
	hyp_trace_retry/results
END

boot_kunit() {
	"$TOOLS/vm" CMDLINE=kunit.enable=1 SMP=2 SCRIPT="$tmp/script" TIMEOUT=600 >"$tmp/ktap"
}

ok "the VM ends well" boot_kunit
kunit_results "$tmp/ktap" "$ROOT/kernel/trace/remote/tests"/test*.c \
	"$ROOT/arch/arm64/kvm/hyp_trace/tests"/test*.c

# Functions that take a buffer or an iterator, without a case of the same name. The exceptions
# make a buffer, take none, or need a mapping of a process, as the kselftest's mmap.sh has it.
without_a_case() {
	grep -oE '\<ring_buffer_[a-z_]+\(' "$BUILD/tree/include/linux/ring_buffer.h" |
		sed 's/ring_buffer_\(.*\)(/\1/' | sort -u | while read -r name; do
			grep -q "KUNIT_CASE(api_test_$name)" \
				"$ROOT/kernel/trace/remote/tests/"test_api*.c || echo "$name"
		done |
		grep -vxE 'alloc|alloc_range|event_(data|length)|read_page_(data|size)|print_entry_header|map_dup'
}

all_have_a_case() {
	grep -q 'ring_buffer_consume(' "$BUILD/tree/include/linux/ring_buffer.h" || return
	without_a_case | tee "$tmp/without"
	[ ! -s "$tmp/without" ]
}

ok "each function of ring_buffer.h has a case" all_have_a_case
plan
