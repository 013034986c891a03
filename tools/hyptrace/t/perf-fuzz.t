#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A fuzzer of what perf kvm stat reads from a recording: perf's own sources, with libFuzzer and
# sanitizers, from build/tree. At first the inputs in tools/testing/perf-kvm/seeds, then what
# chance makes of them. An input that it does not survive is kept in build/fuzz/crashes.
#
#   SEED=n          chance's (a new one)
#   FUZZ_SECONDS=s  so long, and go on with what was found before, in build/fuzz/corpus; else as
#                   many inputs as take some seconds
. "$(dirname "$0")/tap.sh"

: "${FUZZ_SECONDS:=}" "${SEED:=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}"

need check fuzz
"$TOOLS/tree" >&2
from=$BUILD/tree/tools/testing/perf-kvm
objects=$BUILD/perf-fuzz
crashes=$BUILD/fuzz/crashes
mkdir -p "$crashes" "$tmp/seeds" "$BUILD/fuzz/corpus/records"

built() {
	make -s -C "$from" O="$objects"
}

# Those written down, a file each
seeds() {
	sed '/^#/d' "$from/seeds" | while read -r name bytes; do
		echo "$bytes" | xxd -r -p >"$tmp/seeds/$name"
	done
}

survives() {
	set -- -runs=60000 "$tmp/seeds"
	[ -z "$FUZZ_SECONDS" ] ||
		set -- "-max_total_time=$FUZZ_SECONDS" "$BUILD/fuzz/corpus/records" "$tmp/seeds"
	"$objects/records_fuzz" "-seed=$SEED" \
		"-timeout=$(scaled 10)" -rss_limit_mb=1500 -print_final_stats=1 "-artifact_prefix=$crashes/records-" "$@" >"$tmp/log" 2>&1 || {
		grep -vE '^#[0-9]|NEW_FUNC' "$tmp/log"
		echo "SEED=$SEED; the input is kept: $objects/records_fuzz FILE"
		return 1
	}
}

echo "# SEED=$SEED"
ok "the fuzzer builds" built
seeds
ok "no recording is perf's end" survives
awk '/ cov: [0-9]+ / { sub(/.* cov: /, ""); cov = $1 }
	/number_of_executed_units/ { print "# " $2 " inputs, " cov " edges" }' "$tmp/log"
plan
