#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat records two VMs, whose vCPUs have run before and, but for one, never return to user
# space. Then perf's own shell test. Runs in a VM.
. "${0%/*}/lib.sh"

# The vCPUs have different numbers of everything: the n-th has n times as many.
guest four vcpus=4 hvc=100 sysreg=50 mmio=7
guest two vcpus=2 hvc=1000 sysreg=500
both="four two" four=$(cat four.pid) two=$(cat two.pid)
vm=$(sed -n 's/^vm=\([^ ]*\) .*/\1/p' two.out | head -n 1)

without_debugfs() {
	umount /sys/kernel/debug
	"$@"
	mount -t debugfs debugfs /sys/kernel/debug
}

hidden() {
	for tracepoint in load put sched_in sched_out; do
		"$@" "/sys/kernel/tracing/events/kvm/kvm_vcpu_$tracepoint"
	done
}

without_tracepoints() {
	hidden mount -t tmpfs tmpfs
	"$@"
	hidden umount
}

# live NAME HYPERCALLS OPTION...: until so many are shown, and two displays more.
live() {
	name=$1 hypercalls=$2
	shift 2
	mkfifo "$name.keys"
	perf kvm stat live "$@" -d 1 --per-vcpu <>"$name.keys" >"$name" 2>&1 &
	live=$!
	until_done displayed "$name" 1
	rounds four two
	until_done shown
	until_done displayed "$name" $(($(grep -c 'Analyze events' "$name") + 2))
	kill -TERM "$live"
	wait "$live" || :
	said "$name" cat "$name"
	keep "$name" four two
}

displayed() {
	[ "$(grep -cs 'Analyze events' "$1")" -ge "$2" ]
}

shown() {
	[ "$(awk '$1 == "HVC64" { n += $2 } END { print n + 0 }' "$name")" -ge "$hypercalls" ]
}

record main "$both" -a
cp main "$out/data"
report main --per-vcpu
said main.dump sh -c 'perf report -D -i main 2>&1 | sed /PERF_RECORD_SAMPLE/q'
# Where there is no terminal, no option is needed for the text.
said main.vcpus perf kvm stat report -i main --per-vcpu
said main.plain perf kvm stat report -i main
report main.all
report main.trap --per-vcpu --event=trap
report main.mmio --per-vcpu --event=mmio
report main.vcpu1 --vcpu 1
report main.vcpu1-two --vcpu 1 --vm "$vm"
report main.of-two --vm "${vm%-*}"
report main.of-four -p "$four"
for key in sample time max_t min_t mean_t nothing; do
	report "main.key-$key" -k "$key"
done
report main.bad-event --event=nothing
report main.bad-vcpu --vcpu=-2
report missing

# Live mode takes timerfd_create(), which the kernel for x86-64 lacks.
if [ "$(uname -m)" != x86_64 ]; then
	live live 4000 -a
	live live-two 3000 -p "$two"
fi
record one "$both" -p "$four"
report one --per-vcpu
report one.mmio --per-vcpu --event=mmio
# Not even what debugfs has
without_debugfs record alone "$both" -p "$two"
without_debugfs record no-debugfs "$both" -a
without_tracepoints record no-tracepoints "$both" -a
without_debugfs without_tracepoints record neither "$both" -a
record losses "$both" -a -m 1
for recording in alone no-debugfs no-tracepoints neither losses; do
	report "$recording" --per-vcpu
done
report neither.vcpu0 --vcpu 0
report neither.all
end four two
cd /test
said shell perf test -v "perf kvm stat"
finished
