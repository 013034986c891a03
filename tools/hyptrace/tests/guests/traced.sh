# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the VM: trace real guests with every event, beside the host's own event for each exit that KVM
# counts. The scripts that run guests source it.

HYP=/sys/kernel/tracing/hypervisor
HOST=/sys/kernel/tracing/instances/guests

# counters DIRECTORY: all CPUs' counters, each with its CPU before it
counters() {
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		sed "s/^/$cpu /" "$1/per_cpu/cpu$cpu/stats"
	done
}

traced_start() {
	echo >"$HYP/trace"
	echo >"$HOST/trace"
	echo 1 >"$HOST/tracing_on"
	echo 1 >"$HYP/tracing_on"
}

traced_stop() {
	echo 0 >"$HYP/tracing_on"
	echo 0 >"$HOST/tracing_on"
}

# traced_count FILE: the counters when all is read, to FILE.stats, and how often KVM ran
# a guest, to FILE.runs.
traced_count() {
	counters "$HYP" >"$1.stats"
	counters "$HOST" | awk '
		/ (entries|overrun|dropped events): / { n += $NF }
		END { print n + 0 }' >"$1.runs"
}

hyp-trace/guest --hold
mkdir "$HOST" || exit
echo 1 >"$HOST/events/kvm/kvm_exit/enable"
echo 4096 >"$HYP/buffer_size_kb"
echo 1 >"$HYP/events/enable"
