#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The last events on the console, when the kernel panics and when the hypervisor
# does. That such a guest has no good end is what is wanted here.
. "$(dirname "$0")/script.sh"

cat >>"$tmp/prelude" <<'END'
set +x
cd "$HYP"

# Numbers, twelve times so many as are given, in turn on one CPU and on the other.
numbers() {
	for block in $(seq 0 11); do
		taskset $((1 + block % 2)) sh -c \
			"seq $((block * $1 + 1)) $((block * $1 + $1)) |
			while read -r id; do echo \$id >write_event; done"
	done
}

only_numbers() {
	echo hypervisor:selftest >set_event
	echo 1 >tracing_on
	numbers 40
}

crash() {
	echo "CPU=$1"
	grep ': ' trace || :
	taskset "$((1 << $1))" sh -c 'echo c >/proc/sysrq-trigger'
}
END

# panics [VARIABLE=value]...: the VM dies; the console's lines, without their times, are in
# $tmp/lines.
panics() {
	dies "$@" && sed 's/^\[ *[0-9]*\.[0-9]*\] //' "$tmp/console" >"$tmp/lines"
}

# What is on the console between the lines of dashes of the dump.
dumped() {
	awk '/^Dumping ftrace instance hypervisor buffer:$/ { n = 1; next }
		/^-----/ && n == 1 { n = 2; next }
		/^-----/ && n == 2 { exit }
		n == 2' "$tmp/lines"
}

# What trace had: the last 128 events of each CPU that the pattern is for.
last_of_trace() {
	awk -v cpus="$1" '
		$1 ~ cpus && /: / { line[++n] = $0; cpu[n] = $1; of[$1]++ }
		END { for (i = 1; i <= n; i++) if (of[cpu[i]]-- <= 128) print line[i] }' "$tmp/out"
}

# dumps NUMBER: it was that often, and the kernel panicked after it.
dumps() {
	[ "$(grep -c '^Dumping ftrace instance hypervisor buffer:$' "$tmp/lines")" = "$1" ] &&
		grep -A 100000 '^Dumping ftrace instance' "$tmp/lines" | says "$2" /dev/stdin
}

agree() {
	dumped >"$tmp/dumped"
	last_of_trace "$1" >"$tmp/wanted"
	[ "$(wc -l <"$tmp/wanted")" = "$2" ] && diff "$tmp/wanted" "$tmp/dumped"
}

# Those of all CPUs, and once: asked for again, there is nothing new.
kernel_panics() {
	panics MODE=protected CMDLINE="ftrace_dump_on_oops=0,hypervisor,hypervisor" <<-'END'
		only_numbers
		crash 0
	END
	agree '^\[00' 256 && tail -n 1 "$tmp/dumped" | says "selftest id=480" /dev/stdin &&
		dumps 2 "   (ftrace buffer empty)" && says "sysrq triggered crash" "$tmp/lines" &&
		! grep "not found" "$tmp/lines"
}

# Those of the CPU that panics, and not what was consumed before. (That a CPU's
# trace_pipe has come to the end shows when tracing is off.)
one_cpu() {
	panics MODE=nvhe CPU=cortex-a72 CMDLINE="ftrace_dump_on_oops=0,hypervisor=orig_cpu" <<-'END'
		only_numbers
		echo 0 >tracing_on
		head -n 200 per_cpu/cpu1/trace_pipe >/tmp/some
		crash 1
	END
	agree '^\[001' "$(grep -c '^\[001\]' "$tmp/out")" && [ -s "$tmp/dumped" ] && dumps 1 "$(
		tail -n 1 "$tmp/wanted")"
}

# A tick of the counter is as long as many events take.
same_time() {
	panics MODE=nvhe CPU=cortex-a72,cntfrq=100000 CMDLINE="ftrace_dump_on_oops=hypervisor" <<-'END'
		echo 1 >events/enable
		echo 1 >tracing_on
		numbers 5
		echo 0 >tracing_on
		crash 0
	END
	agree '^\[00' 256 && [ "$(awk '{ print $1, $2 }' "$tmp/dumped" | uniq -d | wc -l)" -gt 20 ]
}

no_events() {
	panics MODE=nvhe CMDLINE="ftrace_dump_on_oops=hypervisor" <<-'END'
		crash 0
	END
	dumps 1 "   (ftrace buffer empty)"
}

# The hypervisor panics: the host has read memory that is not its own. Nobody has
# asked for the events of that; with the option, they are printed once as well.
# EL2 still serves what the host touches on the way to its end.
hypervisor_panics() {
	panics MODE=protected "$@" <<-'END'
		echo hypervisor:host_mem_abort >set_event
		echo hypervisor:selftest >>set_event
		echo 1 >tracing_on
		numbers 5
		addr=$(dmesg | sed -n 's/^.*kvm.*Reserved .* MiB at 0x\([0-9a-f]*\)$/\1/p')
		echo "addr=0x$addr"
		dd if=/dev/mem bs=4096 skip=$((0x$addr / 4096)) count=1 of=/tmp/stolen
		echo "it has got $(wc -c </tmp/stolen) bytes"
	END
	says "addr=0x" "$tmp/out" && ! grep "it has got" "$tmp/out" || return
	dumped >"$tmp/dumped"
	dumps 1 "Kernel panic - not syncing: HYP panic" || return
	sed -n 's/.* selftest id=//p' "$tmp/dumped" >"$tmp/numbers"
	awk -v "$(sed -n 's/^addr=/addr=addr=/p' "$tmp/out")" '
		/ selftest id=60$/ { last = NR }
		/ host_mem_abort / && $NF == addr { at = NR }
		at && !/ host_mem_abort / { exit 1 }
		END { exit !(last && at > last) }' "$tmp/dumped" || {
		cat "$tmp/dumped"
		return 1
	}
	sort -c -n -u "$tmp/numbers" && sort -c -k 2 "$tmp/dumped"
}

ok "the kernel panics" kernel_panics
ok "the kernel panics, and one CPU's are wanted" one_cpu
ok "the kernel panics, and events have the same time" same_time
ok "the kernel panics, and there are no events" no_events
ok "the hypervisor panics, hVHE" hypervisor_panics CPU=max
ok "the hypervisor panics, nVHE" hypervisor_panics CPU=cortex-a72 \
	CMDLINE="ftrace_dump_on_oops=hypervisor"
plan
