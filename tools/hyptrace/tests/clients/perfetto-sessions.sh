#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the VM: recordings with Perfetto, each of which ends up as /out/NAME, with what was written
# meanwhile in NAME.written: a line for each CPU, how many numbered events.
set -ex
. ./perfetto.sh
cd /tmp
start_traced
start_probes
HYP=/sys/kernel/tracing/hypervisor

# write_numbers NAME CPU...: one CPU after the other.
write_numbers() {
	name=$1
	shift
	for cpu; do
		echo "$cpu $(emit $HYP/write_event "$cpu" $((cpu * 1000000000 + 1)) 3000)"
	done >>"/out/$name.written"
}

# record NAME ARGUMENT...: before there is a load, and until after it.
record() {
	name=$1
	shift
	begin "/out/$name" "$@"
	guest --hvc 32
	write_numbers "$name" 0 1
	end
}

configure 2048 100 '*' >config
configure 16 60000 selftest >small
{ cat config && configure_host kvm/kvm_entry kvm/kvm_exit 'sched/*'; } >both

perfetto --version
record first --txt -c config
record second --txt -c config
record shortcut --time 60s hypervisor
record both --txt -c both

# While guests come and go
: >load
while [ -e load ]; do
	guest --hvc 32
done >guests &
load=$!
until_true 20 test -s guests
begin /out/load --txt -c both
write_numbers load 0 1
end
rm load
wait $load

# The CPU is off when it begins and again when it ends, and on in between.
online=/sys/devices/system/cpu/cpu1/online
echo 0 >$online
begin /out/hotplug --txt -c config
write_numbers hotplug 0
echo 1 >$online
write_numbers hotplug 1
echo 0 >$online
end
echo 1 >$online

# The reader of the buffers is killed: the files stay as the reader left them.
begin /out/killed --txt -c config
guest --hvc 32
kill -9 "$probes"
end
cp $HYP/tracing_on /out/killed.on
start_probes
record after --txt -c config
record small --txt -c small
