#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The buffer can have any size, from 1 KiB to 200 MB, and each CPU its own. With each
# size, every event is in the buffer or counted as lost. A change while the buffer is
# loaded is refused. Closing free_buffer turns tracing off, clears all events, and
# unloads the buffer, which can be used again.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

LAST=$((CPUS - 1))
SIZE=$HYP/buffer_size_kb
SIZE_LAST=$HYP/per_cpu/cpu$LAST/buffer_size_kb
TOTAL=$HYP/buffer_total_size_kb
HOST=$TRACEFS/instances/hyp-trace-sizes

# A CPU that is possible counts, whether it has a ring or not.
POSSIBLE=$(find "$HYP/per_cpu" -name 'cpu*' 2>&- | wc -l)

# All small numbers of pages, and numbers close to what one and two pages of
# the hypervisor's own hold entries of 24 bytes for: 170 and 340, if pages have 4 KiB.
FULL=$((PAGE_KB * (PAGE_KB * 1024 / 24)))
SIZES="1 2 3 $(seq "$PAGE_KB" "$PAGE_KB" $((8 * PAGE_KB)) | xargs) 100 333 509 1408 4095 \
	$(seq $((FULL - 3 * PAGE_KB)) $((PAGE_KB / 2)) $((FULL + PAGE_KB)) | xargs) \
	$((2 * FULL - 3 * PAGE_KB)) $((2 * FULL - 2 * PAGE_KB))"

# What is wrong with a buffer of that size, and more events than small ones have room
# for.
wrong_at() {
	reset_to "$1"
	selftest_only
	[ "$(fileop write "$HYP/tracing_on" 1)" = ok ] || echo "can't be loaded"
	[ "$(cat "$SIZE")" = "$1 (loaded)" ] || echo "it is $(cat "$SIZE")"
	emit_all $((5 * PER_PAGE / 2))
	echo 0 >"$HYP/tracing_on"
	cat "$HYP/trace" >trace
	inexact trace $((5 * PER_PAGE / 2))
	echo >"$HYP/trace"
	[ "$(cat "$SIZE")" = "$1 (unloaded)" ] || echo "then it is $(cat "$SIZE")"
}

test_all() {
	most=$(awk '$1 == "MemAvailable:" { print int($2 / 2) }' /proc/meminfo)
	untried=
	for size in $SIZES; do
		if [ $((size * POSSIBLE)) -gt "$most" ]; then
			untried="$untried $size"
			continue
		fi
		wrong_at "$size" | sed "s/^/$size KiB: /"
	done >wrong
	[ -z "$untried" ] || ktap_print_msg "too large for this memory, in KiB:$untried"
	none "each size can be loaded, and has each event" cat wrong
}

# The smallest ring has room for at least as much as was asked for; and what
# leaves it is counted.
test_smallest() {
	reset_to 1
	selftest_only
	write_numbers $((50 * PER_PAGE))
	cat "$HYP/trace" >trace
	none "the smallest size: exact" inexact trace $((50 * PER_PAGE))
	holds "the smallest size: room for 1 KiB" \
		"$(fact shown trace 0)" -ge $((1024 / EVENT_BYTES))
}

sizes() {
	echo "$(cat "$SIZE"), CPU $LAST $(cat "$SIZE_LAST"), in all $(cat "$TOTAL")"
}

# While it is off, of the CPU that is changed and of all.
test_each() {
	reset_to 512
	is "a size for all CPUs" "$(sizes)" \
		"512 (unloaded), CPU $LAST 512 (unloaded), in all $((512 * POSSIBLE)) (unloaded)"
	is "a size for one CPU is accepted" "$(fileop write "$SIZE_LAST" 64)" ok
	top=X
	[ "$POSSIBLE" -gt 1 ] || top=64
	all=$((512 * (POSSIBLE - 1) + 64))
	is "a size for one CPU" "$(sizes)" \
		"$top (unloaded), CPU $LAST 64 (unloaded), in all $all (unloaded)"
	echo 1 >"$HYP/tracing_on"
	is "a size for one CPU, loaded" "$(sizes)" \
		"$top (loaded), CPU $LAST 64 (loaded), in all $all (loaded)"
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	echo 128 >"$SIZE"
	is "all CPUs again" "$(sizes)" \
		"128 (unloaded), CPU $LAST 128 (unloaded), in all $((128 * POSSIBLE)) (unloaded)"
}

# The first line as the host has it, whose sizes have no more to them.
host_sizes() {
	mkdir "$HOST"
	echo 512 >"$HOST/buffer_size_kb"
	echo 64 >"$HOST/per_cpu/cpu$LAST/buffer_size_kb"
	cat "$HOST/buffer_size_kb"
	rmdir "$HOST"
}

test_as_host() {
	[ "$POSSIBLE" -gt 1 ] || {
		ktap_test_skip "X as the host has it: there is one CPU"
		return
	}
	reset_to 512
	echo 64 >"$SIZE_LAST"
	is "X as the host has it" "$(cut -d ' ' -f 1 "$SIZE")" "$(host_sizes)"
}

# The CPU with the small ring loses events, and no other does.
test_effect() {
	reset_numbers 32
	echo 4 >"$SIZE_LAST"
	write_numbers $((20 * PER_PAGE))
	cat "$HYP/trace" >trace
	none "a small ring beside others: exact" inexact trace $((20 * PER_PAGE))
	holds "a small ring beside others: loses events" "$(fact lost trace "$LAST")" -gt 0
	is "a small ring beside others: the others lose none" "$(fact lost trace)" \
		"$(fact lost trace "$LAST")"
}

test_loaded() {
	reset_to 512
	echo 1 >"$HYP/tracing_on"
	is "EBUSY while tracing is on" "$(fileop write "$SIZE" 64)" EBUSY
	is "EBUSY for one CPU" "$(fileop write "$SIZE_LAST" 64)" EBUSY
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	exec 3<"$HYP/trace_pipe"
	is "EBUSY while there is a reader" "$(fileop write "$SIZE" 64)" EBUSY
	is "EBUSY for one CPU while there is a reader" "$(fileop write "$SIZE_LAST" 64)" EBUSY
	exec 3<&-
	is "EBUSY changes nothing" "$(sizes)" \
		"512 (unloaded), CPU $LAST 512 (unloaded), in all $((512 * POSSIBLE)) (unloaded)"
	is "a change after the reader has closed" "$(fileop write "$SIZE" 64)" ok
}

# 200 MB for all CPUs, of which events are on the first pages.
test_large() {
	if [ "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)" -lt 300000 ]; then
		for name in "can be loaded" "has each event" "is given back"; do
			ktap_test_skip "200 MB $name: there is too little memory"
		done
		return
	fi
	reset_to $((204800 / POSSIBLE))
	selftest_only
	is "200 MB can be loaded" "$(fileop write "$HYP/tracing_on" 1)" ok
	emit_all $((10 * PER_PAGE))
	echo 0 >"$HYP/tracing_on"
	cat "$HYP/trace" >trace
	none "200 MB has each event" inexact trace $((10 * PER_PAGE))
	echo >"$HYP/trace"
	is "200 MB is unloaded" "$(cat "$SIZE")" "$((204800 / POSSIBLE)) (unloaded)"
}

tracing() {
	echo "$(cat "$HYP/tracing_on") $(state), events: $(grep -c selftest "$HYP/trace")"
}

# As the host's, the file does nothing until it is closed.
test_freed() {
	reset_numbers 32
	echo 1 >"$HYP/tracing_on"
	emit_all 100
	exec 3>"$HYP/free_buffer"
	echo 1 >&3
	is "free_buffer is open" "$(tracing)" "1 (loaded), events: $((100 * CPUS))"
	exec 3>&-
	is "free_buffer is closed" "$(tracing)" "0 (unloaded), events: 0"
	is "free_buffer keeps the sizes" "$(cut -d ' ' -f 1 "$SIZE")" $((32 * PAGE_BYTES / 1024))

	echo 1 >"$HYP/tracing_on"
	exec 3<"$HYP/trace_pipe"
	emit_all 100
	is "free_buffer, with a reader" "$(fileop write "$HYP/free_buffer" 1)" ok
	is "what a reader has open stays loaded" "$(tracing)" "0 (loaded), events: 0"
	is "and has no events" "$(fileop drain "$HYP/trace_pipe")" ""
	exec 3<&-
	is "until it is closed" "$(tracing)" "0 (unloaded), events: 0"
	write_numbers 100
	is "then events are written again" "$(tracing)" "0 (loaded), events: $((100 * CPUS))"
}

plan 29 write_event
test_all
test_smallest
test_each
test_as_host
test_effect
test_loaded
test_freed
test_large
ktap_finished
