#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the VM: each program in kvm/, without tracing and with all of it. To /out, for each: what it said
# (NAME.off, NAME.on), its exit status both times (NAME.status), the trace and what was counted.
# The file limit has the seconds that a program may take.
. ./traced.sh

# run NAME HOW
run() {
	timeout -k 5 "$(cat limit)" "kvm/$1" </dev/null >"/out/$1.$2" 2>&1
	echo "$2 $?" >>"/out/$1.status"
}

for name in kvm/*; do
	name=${name#*/}
	echo "# $name"
	run "$name" off
	traced_start
	run "$name" on
	traced_stop
	hyp-trace/fileop drain "$HYP/trace_pipe" >"/out/$name.trace"
	traced_count "/out/$name"
done
