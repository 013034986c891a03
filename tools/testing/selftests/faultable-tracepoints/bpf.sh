#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A sleepable BPF program at sys_enter reads a string that is not in memory; one that is not
# sleepable gets nothing. A link can be closed while its program sleeps. At a tracepoint in
# atomic context, a sleepable program is refused.
# shellcheck source=tools/testing/selftests/faultable-tracepoints/lib.sh
. "$(dirname "$0")/lib.sh"

# reads KIND [OPTION]...
reads() {
	kind=$1
	shift
	bpf "$@" page "$kind" "$DELAY_MS" >out && said "entered=2 result=0 text=/page/$kind"
}

# fails KIND [OPTION]...
fails() {
	kind=$1
	shift
	bpf "$@" page "$kind" "$DELAY_MS" >out && said "entered=2 result=-14 text="
}

said() {
	grep -qxF "$1" out || { sed 's/^/# /' out && return 1; }
}

# The module's probe comes first. While it sleeps, the link of a program that is not
# sleepable is closed, which happens as its owner dies. The call site has yet to call it.
closed_before_call() {
	load || return
	bpf -n sh -c "$WATCHED" "$PROBE/pid" page missing hold <fifo >out 3>&- &
	owner=$!
	until_true 10 sleeps && kill -9 "$owner" && remains 2 sleeps || return
	echo >fifo
	until_true 10 awake && unload
}

# refused STEP [OPTION]...
refused() {
	step=$1
	shift
	! bpf "$@" true >out 2>/dev/null && said "$step: EINVAL"
}

swap_on
for kind in missing swapped file; do
	ok "a sleepable program reads: $kind" reads $kind
	ok "a program that is not sleepable gets nothing: $kind" fails $kind -n
done
ok "a sleepable program gets EFAULT where there is no memory" fails unmapped
ok "a link is closed while its program sleeps" reads missing -c
ok "a link is closed while a probe before it sleeps" closed_before_call
ok "a map of programs refuses a sleepable program" refused "map of programs" -m
ok "a program that is not sleepable is put into one" fails missing -n -m
ok "a sleepable program is refused at sched_switch" refused attach -t sched_switch
if [ -e /sys/kernel/btf/vmlinux ]; then
	ok "tp_btf: a sleepable program reads" reads missing -b
	ok "tp_btf: its link is closed while it sleeps" reads missing -b -c
	ok "tp_btf: a program that is not sleepable gets nothing" fails missing -b -n
	ok "tp_btf: a map of programs refuses one" refused "map of programs" -b -m
	ok "tp_btf: one that is not sleepable is put into one" fails missing -b -n -m
	ok "tp_btf: a sleepable program is refused at sched_switch" refused load -b -t sched_switch
fi
finish
