#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat records guests in a VM: perf-kvm.sh main exits|changes|durations|some. Recordings,
# and what perf and the guests said, are left in /out, for Python to judge on the host. A step that
# fails ends it. While perf records, it runs another step of this script. Others source it.
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

# rounds GUEST...: each makes its next one.
rounds() {
	for guest; do
		grep -c '^round' "$guest.out" >"$guest.next"
		echo >"$guest.fifo"
	done
	for guest; do
		until_done grep -qx "round $(cat "$guest.next")" "$guest.out"
	done
}

# end GUEST...
end() {
	for guest; do
		kill "$(cat "$guest.pid")"
	done
	wait
}

# keep NAME GUEST...: what the guests have said so far
keep() {
	kept=$1
	shift
	for guest; do
		cp "$guest.out" "$out/$kept.of-$guest"
	done
}

# record_while STEP RECORDING "GUEST..." OPTION...
record_while() {
	step=$1 name=$2 guests=$3
	shift 3
	# shellcheck disable=SC2086 # lists
	said "$name.recorded" ${RECORDER-perf} kvm stat record -o "$out/$name.data" "$@" "$0" $step
	# shellcheck disable=SC2086 # a list
	keep "$name" $guests
}

# record RECORDING "GUEST..." OPTION...: a round of each guest
record() {
	record_while "rounds $2" "$@"
}

# live NAME HYPERCALLS OPTION...: until so many are shown, and two displays more.
live() {
	live=$1 hypercalls=$2
	shift 2
	mkfifo "$live.keys"
	perf kvm stat live "$@" -d 1 --per-vcpu <>"$live.keys" >"$out/$live" 2>&1 &
	perf=$!
	until_done displayed 1
	rounds four two
	until_done shown
	until_done displayed $(($(grep -c 'Analyze events' "$out/$live") + 2))
	kill -TERM $perf
	wait $perf || :
	keep "$live" four two
}

displayed() {
	[ "$(grep -cs 'Analyze events' "$out/$live")" -ge "$1" ]
}

shown() {
	[ "$(awk '$1 == "HVC64" { n += $2 } END { print n + 0 }' "$out/$live")" -ge "$hypercalls" ]
}

# Two VMs, whose vCPUs have run before and, but for one, never return to user space: the n-th has
# n times as many of everything. Then perf's own shell test.
exits() {
	guest four vcpus=4 hvc=100 sysreg=50 mmio=7
	guest two vcpus=2 hvc=1000 sysreg=500
	both="four two"
	record main "$both" -a
	said main.report perf kvm -i "$out/main.data" stat report --stdio --per-vcpu
	# Live mode takes timerfd_create(), which the kernel for x86-64 lacks.
	if [ "$(uname -m)" != x86_64 ]; then
		live live 4000 -a
		live live-two 3000 -p "$(cat two.pid)"
	fi
	record one "$both" -p "$(cat four.pid)"
	record losses "$both" -a -m 1
	umount /sys/kernel/debug
	record alone "$both" -p "$(cat two.pid)"
	record no-debugfs "$both" -a
	for tracepoint in /sys/kernel/tracing/events/kvm/kvm_vcpu_[lps]*; do
		mount -t tmpfs tmpfs "$tracepoint"
	done
	record neither "$both" -a
	mount -t debugfs debugfs /sys/kernel/debug
	record no-tracepoints "$both" -a
	umount /sys/kernel/tracing/events/kvm/kvm_vcpu_[lps]*
	end four two
	cd /test
	said shell perf test -v "perf kvm stat"
}

# What is recorded changes meanwhile.
changes() {
	# Two threads run vCPU 0 in turn: each goes on where the other has left the guest.
	guest swap vcpus=2 hvc=20 sysreg=10 mmio=30 threads=2
	record swap swap -a
	end swap
	# A vCPU runs when the recording begins, and debugfs is not there.
	guest busy vcpus=2 hvc=10000 sysreg=0
	umount /sys/kernel/debug
	echo >busy.fifo
	record_while "until_done grep -qx round.1 busy.out" busy busy -a
	mount -t debugfs debugfs /sys/kernel/debug
	end busy
	# A vCPU that first runs when the recording has begun, as QEMU's vCPUs that are plugged in
	guest plug vcpus=3 late=2 hvc=20 sysreg=10
	record plug plug -a
	end plug
	guest old vcpus=2 hvc=20
	record_while begin_and_end ends "old new" -a
	wait
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
	chmod 777 . "$out" user.fifo
	cp /test/perf perf-user
	RECORDER="start-stop-daemon -S -c nobody -x $PWD/perf-user --"
	record user user -a
}

# A VM begins and ends, and another one ends.
begin_and_end() {
	rounds old
	guest new vcpus=1 hvc=40
	rounds new
	kill -KILL "$(cat old.pid)" "$(cat new.pid)"
}

# In a VM of one CPU where an instruction takes a nanosecond: user space takes 5 ms for each access
# to a device. A guest makes each access once before, unless it is late. Then softirqs take half of
# the CPU; that guest makes the same in both rounds.
durations() {
	for late in 0 1; do
		guest late$late vcpus=1 hvc=100 sysreg=50 mmio=100 delay=5000 late=$late
		record late$late late$late -a
		end late$late
	done
	guest busy vcpus=1 hvc=10000 sysreg=0
	record calm busy -a
	record_while flooded flooded busy -a
}

flooded() {
	insmod /test/flood.ko
	rounds busy
	cat /sys/module/flood/parameters/in_guest >"$out/in_guest"
	rmmod flood
}

some() {
	guest some vcpus=2 hvc=100 sysreg=50 mmio=20 delay=5000
	record some some -a
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

main() {
	begin "$1"
	"$1"
	finished
}

"$@"
