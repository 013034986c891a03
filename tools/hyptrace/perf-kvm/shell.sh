#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf's own shell test of perf kvm stat, as `perf test` finds and runs it. Runs in a VM.
. "${0%/*}/lib.sh"
cd "$DIR" || exit
PATH=$DIR:$PATH

perf_test() {
	perf test -v "perf kvm stat" >/tmp/log 2>&1
	cat /tmp/log
	grep ': perf kvm stat *: Ok$' /tmp/log
}

ok "perf test 'perf kvm stat'" perf_test
plan
