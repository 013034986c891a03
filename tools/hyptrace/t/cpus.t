#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The memory of the buffer: of CPUs that have been up, and the system's. A CPU that comes up
# later gets a ring then. CONFIG=debug boots the debug kernel, which has memory cgroups.
#
# IMAGE=file	boots another kernel
: "${CONFIG:=default}"
export CONFIG
. "$(dirname "$0")/script.sh"

cat >>"$tmp/prelude" <<'END'
cd "$HYP"

# KiB that are free, those included that CPUs keep for themselves
free_kb() {
	awk '
		$1 == "MemTotal:" { total = $2 }
		$1 == "managed" { pages += $2 }
		$1 == "nr_free_pages" || $1 == "count:" { free += $2 } END { print int(free * (total / pages)) }' /proc/meminfo /proc/zoneinfo
}

# takes NAME FROM TO COMMAND...: the memory that it takes, in KiB
takes() {
	name=$1 from=$2 to=$3
	shift 3
	before=$(free_kb)
	"$@"
	taken=$((before - $(free_kb)))
	echo "$name: $taken KiB"
	[ "$taken" -ge "$from" ] && [ "$taken" -le "$to" ]
}

load() {
	echo 1 >tracing_on
}

unload() {
	echo 0 >tracing_on
	echo >trace
	grep '(unloaded)' buffer_size_kb
}

comes_up() {
	echo 1 >"/sys/devices/system/cpu/cpu$1/online"
}

# An event of that CPU comes, and can be read in each way.
traces() {
	taskset $((1 << $1)) sh -c "echo $2 >write_event"
	grep "^\[00$1\].*selftest id=$2\$" trace
	grep "selftest id=$2\$" "per_cpu/cpu$1/trace"
	grep "entries: [1-9]" "per_cpu/cpu$1/stats"
	fileop drain "per_cpu/cpu$1/trace_pipe" >/tmp/pipe
	grep "selftest id=$2\$" /tmp/pipe
}
END

# Of 8 CPUs one is up: one ring, of 16 MiB.
up_alone() {
	runs SMP=8 CMDLINE=maxcpus=1 "$@" <<-'END'
		echo 16384 >buffer_size_kb
		grep -x '131072 (unloaded)' buffer_total_size_kb
		takes "one CPU of 8" 16000 24000 load
		takes "given back" -24000 -16000 unload
	END
}

# The files of a CPU that was never up can be opened, and show that there is nothing.
never_up() {
	runs SMP=2 CMDLINE=maxcpus=1 "$@" <<-'END'
		exec 3<per_cpu/cpu1/trace_pipe_raw
		load
		cd per_cpu/cpu1
		[ "$(fileop read trace_pipe_raw)" = ENODEV ]
		timeout $((10 * HYP_TRACE_SCALE / 100)) cat trace_pipe_raw 2>&1 3<&- | grep 'No such device'
		timeout $((10 * HYP_TRACE_SCALE / 100)) cat trace_pipe 2>&1 3<&- | grep 'No such device'
		[ "$(fileop read trace_pipe)" = EAGAIN ]
		grep -x 'entries: 0' stats
		grep -x 'read events: 0' stats
		[ "$(grep -vc '^#' trace)" = 0 ]
		[ "$(fileop open trace wt)" = ok ]
		echo >trace
		cd "$HYP"
		echo >trace
		exec 3<&-
		traces 0 7
		unload
	END
}

# In plain nVHE mode it can come up later: it is traced from then on. Not under pKVM.
comes_later() {
	runs SMP=4 CMDLINE=maxcpus=1 MODE=nvhe "$@" <<-'END'
		echo 16384 >buffer_size_kb
		takes "one CPU" 16000 24000 load
		exec 3<trace_pipe
		takes "another one" 16000 24000 comes_up 1
		comes_up 3
		traces 1 11
		traces 3 33
		traces 0 10
		echo 0 >/sys/devices/system/cpu/cpu3/online
		echo 1 >/sys/devices/system/cpu/cpu3/online
		traces 3 34
		fileop drain - <&3 >/tmp/all
		exec 3<&-
		unload
		comes_up 2
		load
		for cpu in 0 1 2 3; do
			traces $cpu 5$cpu
		done
		echo 0 >/sys/devices/system/cpu/cpu2/online
		unload
		load
		comes_up 2
		traces 2 62
		unload
	END
}

# It comes up, and nothing else is wrong, when there is no memory for its ring.
no_memory() {
	runs SMP=2 MEM=256M CMDLINE=maxcpus=1 MODE=nvhe "$@" <<-'END'
		echo 65536 >buffer_size_kb
		echo 262144 >per_cpu/cpu1/buffer_size_kb
		load
		comes_up 1
		dmesg | grep 'trace_remote: hypervisor: CPU1 is not traced (-12)'
		taskset 2 sh -c 'echo 4 >write_event'
		traces 0 7
		[ "$(fileop read per_cpu/cpu1/trace_pipe_raw)" = ENODEV ]
		unload
		echo 1024 >buffer_size_kb
		load
		traces 1 8
		unload
	END
}

# A task in a small memory cgroup loads a large buffer.
small_cgroup() {
	runs "$@" <<-'END'
		mkdir -p /tmp/cgroup
		mount -t cgroup2 none /tmp/cgroup
		echo +memory >/tmp/cgroup/cgroup.subtree_control
		mkdir /tmp/cgroup/small
		echo 8M >/tmp/cgroup/small/memory.max
		echo 16384 >buffer_size_kb
		sh -c 'echo $$ >/tmp/cgroup/small/cgroup.procs; exec fileop write tracing_on 1' >/tmp/did
		grep -x ok /tmp/did
		traces 0 7
		unload
	END
}

if [ "$CONFIG" = debug ]; then
	ok "a small memory cgroup" small_cgroup
	plan
	exit
fi
ok "one CPU is up, protected" up_alone MODE=protected
ok "one CPU is up, nvhe" up_alone MODE=nvhe CPU=cortex-a72
ok "a CPU that was never up, protected" never_up MODE=protected CPU=cortex-a72
ok "a CPU that was never up, nvhe" never_up MODE=nvhe
ok "a CPU that comes later, max" comes_later CPU=max
ok "a CPU that comes later, cortex-a72" comes_later CPU=cortex-a72
ok "a CPU that there is no memory for" no_memory
plan
