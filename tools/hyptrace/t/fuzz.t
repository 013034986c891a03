#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Fuzzers of what the host gives EL2: the sources of EL2's own, with libFuzzer and sanitizers
# in user space, from build/tree. At first the inputs in tools/testing/hyptrace/fuzz/seeds,
# then what chance makes of them. An input that one does not survive is kept in
# build/fuzz/crashes. Then what needs these sources too: CPUs that race, and a guest's registers.
#
#   SEED=n          chance's (a new one)
#   FUZZ_SECONDS=s  for each fuzzer so long, and go on with what was found before, in
#                   build/fuzz/corpus; else as many inputs as take some seconds
#   FUZZERS=".."    these alone, of hcall, filter, format, clock
. "$(dirname "$0")/tap.sh"

: "${FUZZERS:=hcall filter format clock}" "${FUZZ_SECONDS:=}"
: "${SEED:=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}"

need check fuzz
"$TOOLS/tree" >&2
from=$BUILD/tree/tools/testing/hyptrace
objects=$BUILD/hyptrace-tests
crashes=$BUILD/fuzz/crashes
mkdir -p "$crashes"

# How many inputs take some five seconds.
runs_of() {
	case $1 in
	hcall) echo 30000 ;;
	filter | clock) echo 100000 ;;
	*) echo 200000 ;;
	esac
}

# seeds FUZZER DIR: those written down, a file each.
seeds() {
	sed '/^#/d; /^$/d' "$from/fuzz/seeds/$1" | while read -r name bytes; do
		echo "$bytes" | tr -d ' ' | xxd -r -p >"$2/$name"
	done
}

# fuzz FUZZER OPTION...: what is said is in $tmp/FUZZER.log.
fuzz() {
	fuzzer=$1
	shift
	"$objects/fuzz/${fuzzer}_fuzz" "-seed=$SEED" "-timeout=$(scaled 10)" -rss_limit_mb=1500 \
		-print_final_stats=1 "-artifact_prefix=$crashes/$fuzzer-" "$@" \
		>"$tmp/$fuzzer.log" 2>&1 || {
		grep -vE '^#[0-9]|NEW_FUNC' "$tmp/$fuzzer.log"
		echo "SEED=$SEED; the input is kept: $objects/fuzz/${fuzzer}_fuzz FILE"
		return 1
	}
}

survives() {
	mkdir -p "$tmp/$1"
	seeds "$1" "$tmp/$1"
	if [ -z "$FUZZ_SECONDS" ]; then
		fuzz "$1" "-runs=$(runs_of "$1")" "$tmp/$1"
		return
	fi
	mkdir -p "$BUILD/fuzz/corpus/$1"
	fuzz "$1" "-max_total_time=$FUZZ_SECONDS" "$BUILD/fuzz/corpus/$1" "$tmp/$1"
}

# How many inputs there were, and branches and values of comparisons that these met.
told() {
	awk -v name="$1" '
		/ cov: [0-9]+ / { sub(/.* cov: /, ""); cov = $1; ft = $3 }
		/number_of_executed_units/ { print "# " name ": " $2 " inputs, " cov " edges, " ft " features" }' \
		"$tmp/$1.log"
}

# Hypercalls that EL2 handles, and the fuzzer does not make.
not_made() {
	grep -o 'handle___hyp_trace_[a-z_]*' "$ROOT/arch/arm64/kvm/hyp/nvhe/trace_hcall.c" | sort -u |
		while read -r handler; do
			grep -qw "$handler" "$from/fuzz/hcall_fuzz.c" || echo "$handler"
		done
}

all_made() {
	not_made >"$tmp/not_made"
	cat "$tmp/not_made"
	[ ! -s "$tmp/not_made" ]
}

# A CPU that waits for a lock that is never released waits for ever.
races() {
	TSAN_OPTIONS=halt_on_error=1 timeout "$(scaled 120)" "$objects/fuzz/race/park_race" >"$tmp/race" 2>&1 ||
		{ echo "status $?"; cat "$tmp/race"; return 1; }
}

# hcalls_in FILE: the names of hypercalls in it, as often as they are there.
hcalls_in() {
	grep -o '__KVM_HOST_SMCCC_FUNC_[a-z_0-9]*' "$1" | sort
}

# Hypercalls of which events.c does not say what they return, or says it twice.
unclear() {
	hcalls_in "$BUILD/tree/arch/arm64/include/asm/kvm_asm.h" | sort -u |
		grep -vx '__KVM_HOST_SMCCC_FUNC_' >"$tmp/hcalls"
	hcalls_in "$ROOT/arch/arm64/kvm/hyp/nvhe/events.c" | diff "$tmp/hcalls" -
}

# Events with a guest's registers that trace_vcpu.h does not write
unguarded() {
	! grep -rhE --include='*.c' 'trace_(vcpu_illegal_trap|guest_exit)\(' \
		"$BUILD/tree/arch/arm64/kvm/hyp/nvhe" | grep -v 'hyp_trace_'
}

private() {
	"$objects/fuzz/vcpu_test-0" && "$objects/fuzz/vcpu_test-1" && unguarded
}

built() {
	make -s -j"$(nproc)" -C "$from" fuzzers O="$objects"
}

echo "# SEED=$SEED"
ok "the fuzzers build" built
ok "each hypercall of tracing is made" all_made
ok "of each hypercall it is said whether the trace has what it returns" unclear
for fuzzer in $FUZZERS; do
	ok "$fuzzer: no input is its end" survives "$fuzzer"
	told "$fuzzer"
done
ok "a protected guest's registers are in no event" private
ok "a hypercall's result is shown only if there is one" "$objects/fuzz/result_test"
ok "CPUs that park race with others that change their rings" races
sed -n '/^# /p' "$tmp/race"
plan
