#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The verifier of BPF accepts and rejects what it did before the topic faultable-tracepoints:
# test_verifier of the kernel's own selftests passes on x86-64, where it runs programs by the
# JIT. A sleepable program at the raw tracepoint sched_switch, which it rejects, is among them.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/kbuild.sh"

need kernel x86vm
"$TOOLS/tree" >&2
from=$BUILD/tree/tools/testing/selftests/bpf
out=$BUILD/selftest-bpf

# make_x86 ARGUMENT...
make_x86() {
	source_make x86_64 -s "$@" >"$out.log" 2>&1 || {
		grep -E 'error|\*\*\*' "$out.log"
		return 1
	}
}

# The program alone: what clang compiles for BPF is for other tests.
build() {
	mkdir -p "$out" "$tmp/files"
	make_x86 -C "$from" "OUTPUT=$out" LDLIBS="-static -lelf -lz -lrt -lpthread" \
		"$out/test_verifier" && cp "$out/test_verifier" "$tmp/files"
}

# The module whose functions its programs call
build_module() {
	cp -R "$from/bpf_testmod" "$from/bpf_experimental.h" "$tmp" &&
		make_x86 -C "$BUILD/tree" "O=$BUILD/kernel-x86" "M=$tmp/bpf_testmod" modules &&
		cp "$tmp/bpf_testmod/bpf_testmod.ko" "$tmp/files"
}

run() {
	printf '#!/bin/sh\n./test_verifier\n' >"$tmp/script"
	CONFIG=x86 "$TOOLS/vm" SCRIPT="$tmp/script" FILES="$tmp/files" TIMEOUT=900 \
		>"$tmp/results" 2>"$tmp/err" || {
		cat "$tmp/err"
		grep FAIL "$tmp/results"
		return 1
	}
}

# accepted or rejected, as the test has it
passed() {
	grep -q "^#[0-9]*/p $1 OK\$" "$tmp/results" || { grep "$1" "$tmp/results" && return 1; }
}

none_fails() {
	tail -n 1 "$tmp/results"
	tail -n 1 "$tmp/results" | grep -qE '^Summary: [0-9]{3,} PASSED, [0-9]+ SKIPPED, 0 FAILED$'
}

ok "test_verifier builds" build
ok "its module builds" build_module
ok "it runs in the VM" run
ok "each of its tests passes or is skipped" none_fails
ok "a sleepable program is rejected at a raw tracepoint" passed "sleepable raw tracepoint reject"
ok "one is accepted at a function's entry" passed "sleepable fentry accept"
grep Summary "$tmp/results" | sed 's/^/# /'
plan
