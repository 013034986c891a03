#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat, where what it records changes meanwhile, or is damaged afterwards. Runs in a VM.
. "${0%/*}/lib.sh"

# Two threads run vCPU 0 in turn: each goes on where the other has left the guest.
guest swap vcpus=2 hvc=20 sysreg=10 mmio=30 threads=2
record swap swap -a
report swap --per-vcpu
report swap.mmio --per-vcpu --event=mmio
end swap

# A vCPU runs when the recording begins, and debugfs is not there.
guest busy vcpus=2 hvc=10000 sysreg=0
umount /sys/kernel/debug
echo >busy.fifo
echo "until_done has_made busy 1" | record_while busy busy -a
mount -t debugfs debugfs /sys/kernel/debug
report busy --per-vcpu
end busy

# A vCPU that first runs when the recording has begun, as QEMU's vCPUs that are plugged in
guest plug vcpus=3 late=2 hvc=20 sysreg=10
record plug plug -a
report plug --per-vcpu
end plug

# A VM begins and ends, and another one ends, while both are recorded.
guest old vcpus=2 hvc=20
record_while ends "old new" -a <<-'END'
	rounds old
	guest new vcpus=1 hvc=40
	rounds new
	kill -KILL "$(cat old.pid)" "$(cat new.pid)"
END
wait
report ends --per-vcpu

# Not root, who alone can read debugfs
guest user vcpus=1 hvc=20
echo -1 >/proc/sys/kernel/perf_event_paranoid
mount -o remount,mode=755 /sys/kernel/tracing
chmod -R o+rX /sys/kernel/tracing/events
chmod o+r /sys/kernel/tracing/*
mkdir -p user /etc
chmod 777 user
cat >user/go <<-'END'
	echo ready >user/begun
	until [ -e over ]; do sleep 0.05; done
END
(
	until_done grep -qs ready user/begun
	rounds user
	: >over
) &
echo 'nobody:x:65534:65534::/:/bin/sh' >/etc/passwd
cp /test/perf perf-user
said user.recorded start-stop-daemon -S -c nobody -x "$PWD/perf-user" -- \
	kvm stat record -o user/data -a sh ./user/go
cp user.out "$out/user.user"
mv user/data user.data
said user perf kvm -i user.data stat report --stdio -f --per-vcpu
end user

# The end is missing.
report swap.whole
size=$(stat -c %s swap)
for part in 10 30 50 70 80 85 90 95 99; do
	head -c $((size * part / 100)) swap >"part$part"
	report "part$part"
done
: >empty
report empty
head -c 50 swap >short
report short

# perf was killed: what it has written has no header.
perf kvm stat record -o broken -a sleep 60 >/dev/null 2>&1 &
until_done test -s broken
kill -KILL $!
wait $! || :
report broken
finished
