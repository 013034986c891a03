#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# EL2 counts its stays by their reason: as many as a lossless trace has, as KVM's own statistics
# and as the guest itself, also while a small ring overflows. The times agree with the trace.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/account.sh
. "$DIR/account.sh"

CPU=$((CPUS - 1))
WRITTEN=$((60 * PAGE_KB))
ONLINE=/sys/devices/system/cpu/cpu$CPU/online

# in_hist FILE REASON: how many stays the histograms have
in_hist() {
	awk -v reason="^($2)\$" '
		$1 ~ reason && sub(/.* hist=/, "") {
			for (i = split($0, buckets, ","); i; i--) {
				split(buckets[i], bucket, ":")
				n += bucket[2]
			}
		}
		END { print n + 0 }' "$1"
}

# Lines that do not look as they should, and maxima that are not in the last bucket
malformed() {
	sed 1d "$1" | grep -vE '^in:[a-z]+ count=[0-9]+ total_ns=[0-9]+$' |
		grep -vE "^[a-zA-Z_:0-9]+( (count|total_ns|max_ns)=[0-9]+){3}( hist=[0-9:,]+)?$"
	awk '
		match($0, /max_ns=[0-9]+/) {
			max = substr($0, RSTART + 7, RLENGTH - 7) + 0
			n = split($0, buckets, /[ =,]/)
			split(buckets[n], last, ":")
			for (high = 1; last[1]; last[1]--)
				high *= 2
			if (/hist=/ && (max + 1 < int(high / 2) || max > high && high < 2147483648))
				print "not in the last bucket: " $0
		}' "$1"
}

# refused FILE VALUE: print it unless writing fails with EINVAL
taken() {
	fileop write "$HYP/$1" "$2" 2>&1 | grep -q EINVAL || echo "$1 takes $2"
}

wrong_values_taken() {
	taken accounting 2
	taken accounting x
	taken accounting_total 1
	taken per_cpu/cpu0/accounting -1
	grep -vx 0 "$HYP/accounting"
}

run_guest() {
	guest --vcpus "$CPUS" >guests
}

# All CPUs write numbers, more than a small ring has room for, and a guest runs.
load() {
	emit_all "$WRITTEN"
	run_guest
}

# differ FILE: what a trace and the account do not have alike
differ() {
	echo "write_event $(number account hcall:__hyp_trace_write_event)" >found
	echo "write_event $(grep -c ": selftest id=" trace)" >expected
	echo "run $(number account hcall:__kvm_vcpu_run)" >>found
	echo "run $(count trace hyp_exit guest)" >>expected
	echo "guest $(number account 'guest:.*')" >>found
	echo "guest $(count trace hyp_enter guest)" >>expected
	echo "in:guest $(number account in:guest)" >>found
	echo "in:guest $(count trace hyp_exit guest)" >>expected
	diff expected found
}

# stay_times: the time of the stays that are behind a guest's exit, us, of a trace
stay_times() {
	awk '
		match($0, /^\[[0-9]+\]/) { cpu = substr($0, RSTART, RLENGTH) }
		{ time = $2 + 0 }
		/ hyp_enter reason=guest / { since[cpu] = time }
		/ hyp_exit / && cpu in since { sum += time - since[cpu]; delete since[cpu] }
		END { printf "%d\n", sum * 1000000 }' "$1"
}

# off_by: by how many hundredths of a us a stay the trace and the account differ
off_by() {
	echo $((($(counted total_ns account 'guest:.*') / 1000 - $(stay_times trace)) * 100 /
		$(number account 'guest:.*')))
}

test_files() {
	holds "accounting is off" "$(cat "$HYP/accounting")" = 0
	none "wrong values are refused" wrong_values_taken
	counting nothing true
	is "the head says how many CPUs there are, and that it is off" "$(head -n 1 nothing)" \
		"# version=1 cpus=$(find "$HYP/per_cpu" -name 'cpu*' | wc -l) on=0"
	run_guest
	cat "$TOTAL" >later
	none "nothing is counted while it is off" diff nothing later
}

test_trace() {
	reset_to 4096
	echo 1 >"$EVENTS/guest_exit/enable"
	counting account record trace load
	none "each line is as described" malformed account
	is "the trace has lost no event" "$(lost trace)" 0
	none "the account has as many stays as the trace" differ
	is "it has as many exits as KVM" "$(number account 'guest:.*')" "$(exits guests)"
	is "and as many HVCs as the guest made" "$(number account guest:HVC64)" \
		"$(value hvc <guests)"
	is "the histograms have each stay" "$(in_hist account '.*')" \
		"$(number account '[a-hj-z].*')"
	off=$(off_by)
	holds "times are those of the trace" "${off#-}" -lt 20
}

# not_summed: reasons whose counts are not the sum of all CPUs', or whose times are not, but for
# what is cut off to a ns
not_summed() {
	awk -F '[ =]' '
		/^#/ { next }
		FILENAME ~ /per_cpu/ { n[$1] += $3; ns[$1] += $5; next }
		n[$1] != $3 || ns[$1] > $5 || ns[$1] < $5 - 100' \
		"$HYP"/per_cpu/cpu*/accounting "$TOTAL"
}

test_overflow() {
	reset_to 4
	counting account record trace load
	holds "the ring has overflowed" "$(lost trace)" -gt 0
	is "the account is exact all the same" "$(number account 'guest:.*')" "$(exits guests)"
	is "for hypercalls, too" "$(number account hcall:__hyp_trace_write_event)" \
		$((WRITTEN * CPUS))
	none "the total is the sum of the CPUs" not_summed
}

# not_reset FILE: how often guests have run, by a file that was reset
not_reset() {
	number "$1" 'guest:.*|hcall:__kvm_vcpu_run|in:guest' | grep -vx 0
}

run_on_two() {
	guest --cpu 0 >>guests
	guest --cpu "$CPU" >>guests
}

reset_one() {
	run_on_two
	echo 0 >"$HYP/per_cpu/cpu$CPU/accounting"
}

reset_all() {
	run_on_two
	: >"$TOTAL"
}

test_reset() {
	reset
	counting account reset_one
	none "a CPU's file resets it" not_reset "$HYP/per_cpu/cpu$CPU/accounting"
	[ "$CPU" -eq 0 ] || holds "... and no other one" "$(number account 'guest:.*')" -gt 0
	[ "$CPU" -gt 0 ] || ktap_test_skip "there is one CPU"
	counting account reset_all
	none "truncating the file of all CPUs resets them" not_reset account
	holds "no time is negative" "$(awk '/=-|=[0-9]{17}/' account | wc -l)" = 0
}

# While the CPU is offline, accounting is turned on; it comes, runs a guest, and goes.
come_and_go() {
	echo 1 >"$ONLINE"
	guest --cpu "$CPU" >guests
	echo 0 >"$ONLINE"
}

test_hotplug() {
	if [ "$CPU" -eq 0 ] || ! echo 0 >"$ONLINE"; then
		for name in 1 2 3; do
			ktap_test_skip "$name: no CPU can be taken offline"
		done
		return
	fi
	counting account come_and_go
	is "a CPU that was offline is counted" "$(number account 'guest:.*')" "$(exits guests)"
	case $(kvm_mode) in
	protected) is "so is how it came and went, but no time before" \
		"$(for reason in cpu_entry psci:CPU_OFF in:idle; do
			number account "$reason"; done | xargs)" "1 1 0" ;;
	*) is "no PSCI call passes EL2" "$(number account 'psci:.*|cpu_entry|in:idle')" 0 ;;
	esac
	echo 0 >"$TOTAL"
	none "a CPU that is offline is reset" not_reset "$HYP/per_cpu/cpu$CPU/accounting"
	echo 1 >"$ONLINE"
}

plan 22 accounting
trap 'echo 0 >"$HYP/accounting"; reset_to "$DEFAULT_SIZE"; rm -rf "$TMP"' EXIT
test_files
test_trace
test_overflow
test_reset
test_hotplug
ktap_finished
