#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the VM: the steps of the tracer of Android's virtualization tests, to /out/pipe.CPU.
set -e
HYP=/sys/kernel/tracing/hypervisor
PATH=$PWD/hyp-trace:$PATH

echo 0 >$HYP/tracing_on
for file in "$HYP"/events/*/*/enable; do
	echo 0 >"$file"
done
echo 4096 >$HYP/buffer_size_kb
for event in hyp_enter hyp_exit; do
	echo 1 >$HYP/events/hypervisor/$event/enable
done
echo 0 >$HYP/trace
for cpu in 0 1; do
	cat $HYP/per_cpu/cpu$cpu/trace_pipe >/out/pipe.$cpu &
done
echo 1 >$HYP/tracing_on
guest --hvc 32 --mmio 32 --wfi 4 --cpu 1 >/out/guest
taskset 1 sh -c "echo 7 >$HYP/write_event"
echo 0 >$HYP/tracing_on
# A reader that has read something ends when it has read all.
wait

# All events
echo 1 >$HYP/events/enable
echo 1 >$HYP/tracing_on
guest --hvc 32 --cpu 1 >/dev/null
echo 7 >$HYP/write_event
echo 0 >$HYP/tracing_on
grep -v '^#' $HYP/trace >/out/trace
fileop drain $HYP/trace_pipe | grep -v LOST >/out/trace_pipe
