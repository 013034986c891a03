#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# KVM's statistics of each vCPU have its exits, its time at EL2 and in the guest: as many as a
# lossless trace has, those that EL2 handles itself, too. The times are those of accounting.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/account.sh
. "$DIR/account.sh"

DEBUG=/sys/kernel/debug/kvm
running=

# of_guests NAME: vCPUs and this of each
of_guests() {
	sed "s/.*vcpu=\([0-9]*\) .* $1=\([0-9]*\) .*/\1 \2/" guests | sort
}

# How often each vCPU has exited, by the trace
of_trace() {
	awk '/ hyp_enter reason=guest / { sub(/.* vcpu=/, ""); n[$1 + 0]++ }
		END { for (vcpu in n) print vcpu, n[vcpu] }' trace | sort
}

# off_by STATISTIC REASON: by how many ns the sums of both differ, in either direction
off_by() {
	off=$(($(value "$1" <guests) - $(counted total_ns account "$2")))
	echo "${off#-}"
}

# run_guest OPTIONS
# shellcheck disable=SC2086 # options
run_guest() {
	guest --vcpus "$CPUS" $1 >guests
}

# check_guest WHAT: what a guest's statistics are, by the trace, KVM and the account
check_guest() {
	is "$1: no event was lost" "$(lost trace)" 0
	of_guests hyp_exits >found
	of_trace >expected
	none "$1: as many exits of each vCPU as in the trace" diff expected found
	of_guests hyp_hist >found
	none "$1: the histogram has each exit" diff expected found
	holds "$1: the time at EL2 is the account's" \
		"$(off_by hyp_ns 'guest:.*|hcall:__kvm_vcpu_run')" -lt 100
	holds "$1: the time in the guest is the account's" "$(off_by guest_ns in:guest)" -lt 100
}

test_off() {
	run_guest ""
	is "nothing is counted while accounting is off" \
		"$(value hyp_exits <guests) $(value hyp_ns <guests)" "0 0"
}

test_exits() {
	reset_to 4096
	counting account record trace run_guest "--hvc 500"
	check_guest "exits to the host"
	is "they are those that KVM counts" "$(value hyp_exits <guests)" "$(exits guests)"
}

test_handled() {
	reset_to 4096
	counting account record trace run_guest "--fp --mmio 100"
	check_guest "exits that EL2 handles"
	holds "there are such" "$(value hyp_exits <guests)" -ge $(($(exits guests) + 100 * CPUS))
}

# statistic DIR NAME...: these numbers in a directory of debugfs
statistic() {
	dir=$1
	shift
	for name; do cat "$dir/$name"; done | xargs
}

some_exits() {
	vm=$(echo "$DEBUG/$running"-*)
	[ -e "$vm/vcpu1/hyp_exits" ] && [ "$(cat "$vm/vcpu1/hyp_exits")" -gt 100 ]
}

# sum NAME: of both vCPUs
sum() {
	echo $(($(cat "$vm/vcpu0/$1") + $(cat "$vm/vcpu1/$1")))
}

test_debugfs() {
	if [ ! -d "$DEBUG" ]; then
		for name in 1 2 3; do
			ktap_test_skip "$name: no debugfs"
		done
		return
	fi
	echo 1 >"$HYP/accounting"
	guest --vcpus 2 --wfi 1000000 >guests &
	running=$!
	until_true 10 some_exits
	holds "the vCPU's directory has its exits" $? -eq 0
	kill -STOP "$running"
	until_true 10 stands_still
	is "the VM's directory has the sum" "$(statistic "$vm" hyp_exits hyp_ns guest_ns)" \
		"$(sum hyp_exits) $(sum hyp_ns) $(sum guest_ns)"
	echo 0 >"$vm/hyp_exits"
	is "a write clears it" "$(cat "$vm/hyp_exits") $(sum hyp_exits)" "0 0"
	kill -KILL "$running"
	wait "$running" 2>/dev/null
	running=
}

# Both vCPUs have stopped.
stands_still() {
	[ "$(sum guest_ns)" = "$(sum guest_ns)" ] && ! grep -l '^State:.*[RS] ' \
		"/proc/$running"/task/*/status >/dev/null
}

plan $((1 + 6 + 6 + 3)) accounting
trap 'echo 0 >"$HYP/accounting"; kill $running 2>/dev/null; reset_to "$DEFAULT_SIZE"
	rm -rf "$TMP"' EXIT
test_off
test_exits
test_handled
test_debugfs
ktap_finished
