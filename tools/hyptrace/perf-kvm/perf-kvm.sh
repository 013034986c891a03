#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat records guests in a VM: perf-kvm.sh main STEP. Recordings, and what perf and the
# guests said, are left in /out, for Python to judge on the host. The steps are exits, changes,
# durations and some; one that fails ends it. While perf records, it runs another step of this
# script. Others source it.
set -e
PATH=/test:$PATH

# said NAME COMMAND...: what it says is in $out/NAME, and its exit status in the last line.
said() {
	to=$out/$1 status=0
	shift
	"$@" >"$to" 2>&1 || status=$?
	echo "status $status" >>"$to"
}

# until_done COMMAND...: within a minute or so, on a machine as fast as most.
until_done() {
	tries=0
	until "$@"; do
		[ $((tries += 1)) -lt $((12 * ${HYP_TRACE_SCALE:-100})) ] || return 1
		sleep 0.05
	done
}

# guest NAME OPTION...: a VM that waits for its first round. It has both ends of its input.
guest() {
	guest=$1
	shift
	mkfifo "$guest.fifo"
	perf test -w kvm_exits "$@" <>"$guest.fifo" >"$guest.out" 2>&1 &
	echo $! >"$guest.pid"
	until_done grep -qsx "round 0" "$guest.out"
}

# Each guest makes its next one.
rounds() {
	for fifo in *.fifo; do
		grep -c '^round' "${fifo%.fifo}.out" >"$fifo.next"
		echo >"$fifo"
	done
	for fifo in *.fifo; do
		until_done grep -qx "round $(cat "$fifo.next")" "${fifo%.fifo}.out"
	done
}

# The guests end.
end() {
	cat ./*.pid | xargs kill || :
	wait
	rm ./*.pid ./*.fifo ./*.out
}

# keep NAME: what the guests have said so far
keep() {
	for path in *.out; do
		cp "$path" "$out/$1.of-${path%.out}"
	done
}

# record STEP RECORDING OPTION...
record() {
	step=$1 name=$2
	shift 2
	# shellcheck disable=SC2086 # lists
	said "$name.recorded" ${RECORDER-perf} kvm stat record -o "$out/$name.data" "$@" "$0" $step
	keep "$name"
}

# live NAME EVENT NUMBER OPTION...: until so many of the event are shown, and two displays more.
live() {
	live=$1 event=$2 number=$3
	shift 3
	mkfifo "$live.keys"
	perf kvm stat live "$@" -d 1 --per-vcpu <>"$live.keys" >"$out/$live" 2>&1 &
	perf=$!
	until_done displayed 1
	rounds
	until_done shown
	until_done displayed $(($(grep -c 'Analyze events' "$out/$live") + 2))
	kill -TERM $perf
	wait $perf || :
	keep "$live"
}

displayed() {
	[ "$(grep -cs 'Analyze events' "$out/$live")" -ge "$1" ]
}

shown() {
	[ "$(awk -v event="$event" '$1 == event { n += $2 } END { print n + 0 }' "$out/$live")" \
		-ge "$number" ]
}

# Two VMs, whose vCPUs have run before and, but for one, never return to user space: the n-th has
# n times as many of everything. Then perf's own shell test.
exits() {
	guest four vcpus=4 hvc=100 sysreg=50 mmio=7
	guest two vcpus=2 hvc=1000 sysreg=500
	record rounds main -a
	said main.report perf kvm -i "$out/main.data" stat report --stdio --per-vcpu
	said x86.report perf kvm -i /test/x86.data stat report --stdio --per-vcpu
	live live $hypercall 4000 -a
	live live-two $hypercall 3000 -p "$(cat two.pid)" --percentiles
	live bpf $hypercall 4000 -ab
	live bpf-two $hypercall 3000 -b -p "$(cat two.pid)" --percentiles
	live bpf-mmio $write 4 -ab --event=mmio
	said bpf-duration perf kvm stat live -ab --duration=5
	record rounds one -p "$(cat four.pid)"
	record rounds losses -a -m 1
	umount /sys/kernel/debug
	record rounds alone -p "$(cat two.pid)"
	record rounds no-debugfs -a
	for tracepoint in /sys/kernel/tracing/events/kvm/kvm_vcpu_[lps]*; do
		mount -t tmpfs tmpfs "$tracepoint"
	done
	record rounds neither -a
	mount -t debugfs debugfs /sys/kernel/debug
	record rounds no-tracepoints -a
	umount /sys/kernel/tracing/events/kvm/kvm_vcpu_[lps]*
	end
	cd /test
	said shell perf test -v "perf kvm stat"
}

# What is recorded changes meanwhile.
changes() {
	# Two threads run vCPU 0 in turn: each goes on where the other has left the guest.
	guest swap vcpus=2 hvc=20 sysreg=10 mmio=30 threads=2
	record rounds swap -a
	live swap-bpf $hypercall 60 -ab
	live swap-mmio $write 15 -ab --event=mmio
	end
	# A vCPU runs when the recording begins, and debugfs is not there.
	guest busy vcpus=2 hvc=10000 sysreg=0
	umount /sys/kernel/debug
	echo >busy.fifo
	record "until_done grep -qx round.1 busy.out" busy -a
	mount -t debugfs debugfs /sys/kernel/debug
	end
	# A vCPU that first runs when the recording has begun, as QEMU's vCPUs that are plugged in
	guest plug vcpus=3 late=2 hvc=20 sysreg=10
	record rounds plug -a
	end
	guest old vcpus=2 hvc=20
	record begin_and_end ends -a
	end
	# perf is killed: what it has written has no header.
	perf kvm stat record -o "$out/broken.data" -a sleep 60 >/dev/null 2>&1 &
	until_done test -s "$out/broken.data"
	kill -KILL $!
	wait $! || :
	# Not root, who alone can read debugfs
	guest user vcpus=1 hvc=20
	echo -1 >/proc/sys/kernel/perf_event_paranoid
	mount -o remount,mode=755 /sys/kernel/tracing
	chmod -R o+rX /sys/kernel/tracing/events
	chmod o+r /sys/kernel/tracing/*
	mkdir -p /etc
	echo 'nobody:x:65534:65534::/:/bin/sh' >/etc/passwd
	chmod -R o+rwX . "$out"
	cp /test/perf perf-user
	RECORDER="start-stop-daemon -S -c nobody -x $PWD/perf-user --"
	record rounds user -a
}

# A VM begins, and it and another one end.
begin_and_end() {
	guest new vcpus=1 hvc=40
	rounds
	cat old.pid new.pid | xargs kill -KILL
}

# In a VM of one CPU where an instruction takes a nanosecond: user space takes 5 ms for each access
# to a device. A guest makes each access once before, unless it is late. Then softirqs take half of
# the CPU; that guest makes the same in both rounds.
durations() {
	for late in 0 1; do
		guest late$late vcpus=1 hvc=100 sysreg=50 mmio=100 delay=5000 late=$late
		record rounds late$late -a -e sched:sched_switch
		end
	done
	guest busy vcpus=1 hvc=10000 sysreg=0
	record rounds calm -a
	record flooded flooded -a
	end
	# Another thread never gives the CPU away.
	guest shared vcpus=1 hvc=10000 sysreg=0 mmio=20 delay=5000
	while :; do :; done &
	echo $! >other.pid
	record rounds shared -a -e sched:sched_switch
	record rounds process -p "$(cat shared.pid)"
	record rounds without -a --no-switch-events
	live shared-live $hypercall 10000 -a
	live process-live $hypercall 10000 -p "$(cat shared.pid)"
	live shared-bpf $hypercall 10000 -ab
	live process-bpf $hypercall 10000 -b -p "$(cat shared.pid)"
	end
}

flooded() {
	insmod /test/flood.ko
	rounds
	cat /sys/module/flood/parameters/in_guest >"$out/in_guest"
	rmmod flood
}

some() {
	guest some vcpus=2 hvc=100 sysreg=50 mmio=20 delay=5000
	record rounds some -a
}

# begin NAME: in a directory of its own
begin() {
	export out=/out/"$1"
	mkdir -p "$out" "/tmp/$1"
	cd "/tmp/$1"
}

finished() {
	printf 'ok 1 - each step is done\n1..1\n'
}

# How perf names what the guests do
# shellcheck disable=SC2034 # for the functions above
case $(uname -m) in
x86_64) hypercall=hypercall write=0xd0000:W ;;
*) hypercall=HVC64 write=0x10000000:W ;;
esac

main() {
	begin "$1"
	"$1"
	finished
}

"$@"
