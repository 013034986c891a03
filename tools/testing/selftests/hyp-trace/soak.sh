#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Writers and readers of all kinds on all CPUs at once, while tracing goes on and off,
# events are cleared, sizes change and CPUs come and go: see soak.c. Each event is read
# or reported lost. Then each page is the host's again and good for another buffer.
#
# HYP_TRACE_SOAK=seconds        how long (10)
# HYP_TRACE_SOAK_SEED=number    repeats a plan
# HYP_TRACE_SOAK_KB=number      largest buffer tried, for all CPUs (32768)
# HYP_TRACE_SOAK_LOADS=number   how often a small one is loaded (216)
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"

LARGEST=${HYP_TRACE_SOAK_KB:-32768}
LOADS=${HYP_TRACE_SOAK_LOADS:-216}

# What differs by less, KiB, is other users', or KASAN's quarantine; the latter
# grows while many files are opened.
NOISE=8192

size() {
	cat "$HYP/buffer_size_kb"
}

# load_once: the buffer is loaded, and given back.
load_once() {
	echo 1 >"$HYP/tracing_on" && echo 0 >"$HYP/tracing_on" && echo >"$HYP/trace"
}

# fits KIB: the buffer can have that size for all CPUs.
fits() {
	echo $(($1 / CPUS)) >"$HYP/buffer_size_kb" && load_once
} 2>/dev/null

# The largest size that fits, but for some steps.
largest() {
	kb=$(awk '$1 == "MemAvailable:" { print int($2 * 15 / 16) }' /proc/meminfo)
	[ "$kb" -lt "$LARGEST" ] || kb=$LARGEST
	while [ "$kb" -gt 1024 ] && ! fits "$kb"; do
		kb=$((kb * 15 / 16))
	done
	echo "$kb"
}

# lost_less NAME BEFORE KIB: than that of what was free before.
lost_less() {
	now=$(free_kb)
	ktap_print_msg "free: before $2 kB, now $now kB"
	holds "$1" $(($2 - now)) -lt "$3"
}

# The smallest buffer is loaded so many times in a row, or says so.
load_batch() {
	times=0
	while [ "$times" -lt "$1" ]; do
		load_once || echo "not loaded"
		times=$((times + 1))
	done
}

# After each of ten batches: pages that are not free.
BATCHES=10
pages_taken() {
	for _ in $(seq $BATCHES); do
		load_batch "$BATCH" >&2
		memory | awk '{ print -$2 / $1 }'
	done
}

# How many more there are from one batch to the next: the median of that between any two.
median_slope() {
	awk '
		{
			for (n = 1; n < NR; n++)
				print ($1 - taken[n]) / (NR - n)
			taken[NR] = $1
		}' | sort -g | awk '{ slope[NR] = $1 }
		END { print NR ? int(slope[int((NR + 1) / 2)]) : "nothing was measured" }'
}

test_rounds() {
	kb=$(largest)
	before=$(free_kb)
	soak --seconds "${HYP_TRACE_SOAK:-10}" \
		${HYP_TRACE_SOAK_SEED:+--seed "$HYP_TRACE_SOAK_SEED"}
	is "every event is read or reported lost" $? 0
	is "the buffer is unloaded" "$(size | cut -d ' ' -f 2)" "(unloaded)"
	lost_less "no memory is lost" "$before" "$NOISE"
	ktap_print_msg "the largest buffer that fits: $kb KiB"
	fits $((kb * 15 / 16)) && fits $((kb * 15 / 16))
	is "a buffer as large as before fits, again and again" $? 0
}

# Others take and return memory meanwhile, some tens of pages. A page lost by each load is a
# slope that they do not have.
test_loads() {
	reset_to 1
	BATCH=$(((LOADS + BATCHES - 1) / BATCHES))
	pages_taken >taken 2>failed
	none "a small buffer is loaded many times" cat failed
	slope=$(median_slope <taken)
	ktap_print_msg "pages lost in each $BATCH loads: $slope, of" \
		"$(awk 'NR > 1 { print $1 - last } { last = $1 }' taken | xargs)"
	holds "no page is leaked" "$slope" -lt $((BATCH / 2))
}

plan 6
test_rounds
test_loads
ktap_finished
