#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the VM: each of the tests that the file `tests` names, without tracing and with all
# of it. To /out, for each: what it said (NAME.off, NAME.on), its exit status both times
# (NAME.status), and the trace with what was counted.
. ./traced.sh

# run NAME HOW
run() {
	timeout -k 5 $(($(cat limit) * HYP_TRACE_SCALE / 100)) "kvm/$1" </dev/null >"/out/$1.$2" 2>&1
	echo "$2 $?" >>"/out/$1.status"
}

hyp-trace/guest --hold
traced_setup 4096 || exit
while read -r name; do
	echo "# $name"
	run "$name" off
	traced_start
	run "$name" on
	traced_stop
	hyp-trace/fileop drain "$HYP/trace_pipe" >"/out/$name.trace"
	traced_count "/out/$name"
done <tests
