#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The counterpart of faultable.t: on a kernel without the topic faultable-tracepoints no tracer
# gets a string that is not in memory. And the kernel's own ftrace selftests have the same
# results with and without the topic.
. "$(dirname "$0")/tap.sh"

SUITE=faultable-tracepoints
SETS="00basic event filter instances trigger"

build_selftest() {
	SUITE=$SUITE CONFIG=plain TREE="$BUILD/tree-plain" "$TOOLS/selftest" && rm -rf "$tmp/files" &&
		cp -R "$BUILD/selftest-$SUITE" "$tmp/files" &&
		[ ! -e "$tmp/files/$SUITE/modules/faultable_atomic.ko" ]
}

# One line a tracer and kind of page: what it has seen.
cat >"$tmp/counterpart.sh" <<'END'
#!/bin/sh
. "$(dirname "$0")/lib.sh" >/dev/null
EVENT=$TRACEFS/events/syscalls/sys_enter_openat
swap_on
for kind in missing swapped file; do
	load
	watched page $kind 100 >out
	echo "module $kind $(parameter result) '$(parameter text)' $(cut -d ' ' -f 1 out)"
	unload
	echo 1 >"$EVENT/enable"
	page $kind 100 >/dev/null
	echo 0 >"$EVENT/enable"
	echo "ftrace $kind $(grep 'page-.*sys_openat' "$TRACEFS/trace" | tail -n 1 | sed 's/.*filename: [0-9a-f]*//')"
	echo "perf $kind $(event syscalls/sys_enter_openat __filename_val page $kind 100)"
	echo "sleepable $kind $(bpf page $kind 100 2>/dev/null)"
	echo "bpf $kind $(bpf -n page $kind 100 | tail -n 1)"
done
END
chmod +x "$tmp/counterpart.sh"

boot_plain() {
	cp "$tmp/counterpart.sh" "$tmp/files/$SUITE"
	printf '#!/bin/sh\nfaultable-tracepoints/counterpart.sh\n' >"$tmp/script"
	"$TOOLS/vm" CONFIG=plain MODE=none SCRIPT="$tmp/script" FILES="$tmp/files" >"$tmp/seen"
}

# gets TRACER LINE: so it is for each kind of page.
gets() {
	for kind in missing swapped file; do
		says "$1 $kind $2" "$tmp/seen" || return
	done
}

# ftracetest CONFIG: its results in $tmp/ftrace.CONFIG
ftracetest() {
	rm -rf "$tmp/ftrace"
	cp -R "$BUILD/tree/tools/testing/selftests/ftrace" "$tmp/ftrace"
	{
		echo '#!/bin/sh'
		echo "ln -sf /bin/true /bin/sudo"
		for set in $SETS; do
			echo "./ftracetest test.d/$set; echo set $set \$?"
		done
	} >"$tmp/ftrace-script"
	"$TOOLS/vm" CONFIG="$1" MODE=none SCRIPT="$tmp/ftrace-script" FILES="$tmp/ftrace" \
		>"$tmp/ftrace.$1"
}

ftrace_results() {
	sed 's/\x1b\[[0-9;]*m//g' "$tmp/ftrace.$1" | grep -aE '^\[[0-9]+\].*\[[A-Z]+\]$'
}

same_results() {
	ftrace_results plain >"$tmp/was"
	ftrace_results default >"$tmp/is"
	diff "$tmp/was" "$tmp/is" && [ "$(grep -c '\[PASS\]' "$tmp/is")" -ge 20 ]
}

# The functions of a kernel's objects, but for those that the topic changes: what it changes in
# its files and in inline functions of headers, what has the tracepoints of system calls, and
# the functions that go through the probes of a tracepoint.
code() {
	case $(uname -m) in
	aarch64) cross= ;;
	*) cross=aarch64-linux-gnu- ;;
	esac
	(cd "$BUILD/kernel-$1" && find block drivers fs init kernel lib mm security virt -name '*.o' \
		! -name built-in.a ! -name '*.mod.o' ! -path 'kernel/trace/*' ! -path 'kernel/bpf/*' \
		! -name 'tracepoint*.o' | LC_ALL=C sort | while read -r object; do
		"${cross}objdump" -dr --no-addresses --no-show-raw-insn "$object" |
			awk -v file="$object" -f "$TOOLS/t/functions.awk"
	done) | grep -v ' __traceiter_' >"$tmp/code.$1"
}

# With jump labels, each call site is named in a table.
sites() {
	find "$BUILD/kernel-default/kernel" "$BUILD/kernel-default/mm" "$BUILD/kernel-default/fs" \
		-name '*.o' -exec "${cross}objdump" -r -j __jump_table {} + 2>/dev/null |
		grep -c ' __tracepoint_'
}

same_code() {
	code plain && code default && diff "$tmp/code.plain" "$tmp/code.default" | cut -c 1-200 >"$tmp/differ"
	cat "$tmp/differ"
	[ ! -s "$tmp/differ" ] && [ "$(wc -l <"$tmp/code.default")" -ge 10000 ] && [ "$(sites)" -ge 100 ]
}

costs() {
	"$TOOLS/bench" ONLY=syscalls >"$tmp/costs"
}

costs_within() {
	awk -f "$TOOLS/bench.d/bounds.awk" "$TOOLS/bench.d/syscalls.bounds" "$BUILD/bench/results"
}

need kernel
ok "a kernel without the topic" "$TOOLS/plain-kernel"
ok "the code at the call sites of other tracepoints is the same" same_code
ok "the kselftest for it" build_selftest
ok "a VM runs its programs" boot_plain
ok "a module's probe gets nothing, the system call does" gets module "-14 '' openat=ENOENT"
ok "ftrace shows the address alone" gets ftrace ", flags: 0, mode: 0)"
ok "perf's event has no string" gets perf "syscalls/sys_enter_openat has no __filename_val"
ok "a sleepable BPF program is refused" gets sleepable "load: EINVAL"
ok "another BPF program gets nothing" gets bpf "entered=2 result=-14 text="
ok "ftrace's own selftests there" ftracetest plain
ok "ftrace's own selftests with the topic" ftracetest default
ok "they have the same results" same_results
ok "the costs of system calls are measured" costs
ok "... and within tools/hyptrace/bench.d/syscalls.bounds" costs_within
sed 's/^/# /' "$tmp/costs"
grep -c PASS "$tmp/is" | sed 's/^/# passed: /'
grep -v PASS "$tmp/is" | sed 's/^/# /'
plan
