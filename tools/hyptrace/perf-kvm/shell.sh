#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf's own shell test of perf kvm stat, as one result. Runs in a VM.
# shellcheck source=tools/hyptrace/perf-kvm/lib.sh
. "${0%/*}/lib.sh"
cd /tmp || exit
PATH=$DIR:$PATH
ok "perf test kvm_stat" "$DIR/perf-kvm/kvm_stat.sh"
plan
