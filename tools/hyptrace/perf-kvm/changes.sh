#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat, where what it records changes meanwhile, or is damaged afterwards: each vCPU has
# its own events, or they are of an unknown one, and what is wrong is said. Runs in a VM.
# shellcheck disable=SC2016 # programs of awk
. "${0%/*}/lib.sh"
mkdir -p "/tmp/${0##*/}"
cd "/tmp/${0##*/}" || exit

# changing COMMANDS: record all while they run.
changing() {
	{
		echo '. /test/perf-kvm/lib.sh'
		cat
	} >go
	record data -a sh ./go >recorded 2>&1 || { cat recorded; return 1; }
}

# Two threads run vCPU 0 in turn: each goes on where the other has left the guest.
exchanged() {
	guest swap 3 vcpus=2 hvc=20 sysreg=10 mmio=30 threads=2
	changing <<-'END2'
		fd_swap=3
		rounds 1 swap
	END2
	last_round swap >expected
	report data --per-vcpu && same vmexit && ! grep unknown report &&
		report data --per-vcpu --event=mmio && same mmio && end_guest swap 3
}

# A vCPU runs when the recording begins, and debugfs is not there: the first tracepoint that
# names it says whose all the exits before were.
running() {
	guest busy 3 vcpus=2 hvc=10000 sysreg=0
	umount /sys/kernel/debug
	echo >&3
	changing <<-'END2'
		until_done has_made busy 1
	END2
	status=$?
	mount -t debugfs debugfs /sys/kernel/debug
	last_round busy >expected
	[ $status = 0 ] && report data --per-vcpu && same vmexit atmost=1 && ! grep unknown report &&
		holds '$2 == "HVC64"' '$3 > 0' && end_guest busy 3
}

# A vCPU that first runs when the recording has begun, as QEMU's vCPUs that are plugged in
late() {
	guest plug 3 vcpus=3 late=2 hvc=20 sysreg=10
	changing <<-'END2'
		fd_plug=3
		rounds 1 plug
	END2
	last_round plug | sed '/vcpu=[12]/!d' >late
	last_round plug | sed '/vcpu=[12]/d' >expected
	cat late >>expected
	report data --per-vcpu && grep unknown report && return 1
	# What is mapped first has a fault more.
	awk '$2 != "IABT_LOW" && $2 != "IRQ" && $2 != "="' facts >traps
	awk '{ n[$1 " " $2] = $3 + $4 } END { for (i in n) print i, n[i] }' traps | sort >found
	sed -n 's/^vm=\([^ ]*\) vcpu=\([0-9]*\) .* hvc=\([0-9]*\) .*/\1\/\2 HVC64 \3/p' expected |
		sort >wanted
	grep HVC64 found | diff wanted - && end_guest plug 3
}

# A VM begins and ends, and another one ends, while both are recorded.
ends() {
	guest old 3 vcpus=2 hvc=20
	changing <<-'END2'
		fd_old=3
		rounds 1 old
		guest new 4 vcpus=1 hvc=40
		rounds 1 new
		kill -KILL "$(cat old.pid)" "$(cat new.pid)"
	END2
	exec 3>&-
	last_round old new >expected
	report data --per-vcpu && ! grep unknown report && [ "$(wc -l <expected)" = 3 ] &&
		sed -n 's/^vm=\([^ ]*\) vcpu=\([0-9]*\) .* hvc=\([0-9]*\) .*/\1\/\2 HVC64 \3/p' expected |
		sort >wanted &&
		awk '$2 == "HVC64" { print $1, $2, $3 + $4 }' facts | sort | diff wanted -
}

# Not root: the debugfs is not readable, and perf says so.
not_root() {
	guest user 3 vcpus=1 hvc=20
	echo -1 >/proc/sys/kernel/perf_event_paranoid
	mount -o remount,mode=755 /sys/kernel/tracing
	chmod -R o+rX /sys/kernel/tracing/events
	chmod o+r /sys/kernel/tracing/*
	mkdir -p user
	chmod 777 user
	cat >go <<-'END2'
		while ! [ -e over ]; do sleep 0.05; done
	END2
	(
		until_done grep -qs ready user/begun
		rounds 1 user
		: >over
	) &
	printf 'echo ready >user/begun\n' | cat - go >user/go
	mkdir -p /etc
	echo 'nobody:x:65534:65534::/:/bin/sh' >/etc/passwd
	cp "$PERF" perf-user
	start-stop-daemon -S -c nobody -x "$PWD/perf-user" -- kvm stat record -o user/data -a \
		sh ./user/go >recorded 2>&1
	cat recorded
	grep "Can't read kvm/ in debugfs: Permission denied" recorded || return
	report user/data -f --per-vcpu && end_guest user 3 && holds '$2 == "HVC64"' '$3 + $4 == 20'
}

# The end of a recording is missing, and that is said. What can be reported is.
truncated() {
	report data
	cp facts whole
	size=$(stat -c %s data) some=
	for part in 10 30 50 70 80 85 90 95 99; do
		head -c $((size * part / 100)) data >part.data
		report part.data
		status=$?
		echo "$part %: status $status"
		head -n 5 report
		grep 'The recording is truncated: its .* should end at' report || return
		[ "$status" = 0 ] || [ "$status" = 255 ] || return
		[ "$status" != 0 ] || diff facts whole || return
		[ "$status" != 0 ] || some=yes
		[ "$some" = yes ] || grep -q 'incompatible file format' report || return
	done
	: >empty
	report empty && return 1
	grep 'zero-sized data' report || return
	head -c 50 data >short
	report short && return 1
	grep 'incompatible file format' report && [ "$some" = yes ]
}

# perf was killed: what it has written has no header.
killed() {
	"$PERF" kvm stat record -o broken -a sleep 60 >/dev/null 2>&1 &
	perf=$!
	until_done test -s broken
	kill -KILL $perf
	wait $perf
	report broken && return 1
	grep -i 'was the .perf record. command properly terminated' report
}

ok "threads are exchanged" exchanged
ok "a vCPU that runs already" running
ok "a vCPU that begins to run" late
ok "VMs that begin and end" ends
ok "without root's rights" not_root
ok "a truncated recording" truncated
ok "a recording that was killed" killed
plan
