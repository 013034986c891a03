#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A mapped trace_pipe_raw has each event once, with one mapping and with two, while CPUs
# write. Partial, writable and private mappings, a child, and a resize give the kernel's
# errors. A mapping keeps the buffer loaded.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

HOST=$TRACEFS/instances/hyp-trace-mmap
LAST=$((CPUS - 1))
RAW=per_cpu/cpu$LAST/trace_pipe_raw
RAW_BYTES=$((PAGE_BYTES + 16))
COUNT=$((4 * PER_PAGE + 10))	# some pages and a part of one
PAGES=16
LARGE=16384	# KiB
KB=$((PAGES * RAW_BYTES / 1024))

host_setup() {
	mkdir "$HOST"
	echo 0 >"$HOST/tracing_on"
	echo $KB >"$HOST/buffer_size_kb"
}

# on_host OPERATION: the same on a buffer of the host's, with as many events.
on_host() {
	echo >"$HOST/trace"
	echo 1 >"$HOST/tracing_on"
	emit "$HOST/trace_marker" "$LAST" 1 $COUNT >/dev/null
	echo 0 >"$HOST/tracing_on"
	mmap "$1" "$HOST/$RAW"
}

test_attempts() {
	host_setup
	reset_to $KB
	selftest_only
	write_numbers $COUNT
	mmap attempts "$HYP/$RAW" >found 2>&1
	on_host attempts >expected 2>&1
	rmdir "$HOST"
	none "allowed and refused operations, as on the host's" diff expected found
	for line in "write: EACCES" "write, opened to: EPERM" "private: EPERM" "execute: EPERM" \
		"one page too many: EINVAL" "beyond the end: EINVAL" "all in one: 0" \
		"munmap of a page within: EINVAL" "mprotect to write: EACCES" \
		"mremap to grow: EFAULT" "fork: Segmentation fault" "fork then: the same" \
		"a new size: EBUSY" "clear: 0" "left: 0" "the reader, not mapped: ENODEV" \
		"the reader, not mapped any more: ENODEV"; do
		is "$line" "$(grep -x "$line" found)" "$line"
	done
	is "the buffer is unloaded after that" "$(state)" "(unloaded)"
}

# meta NAME FILE
meta() {
	tr ' ' '\n' <"$2" | sed -n "s/^$1=//p"
}

test_meta() {
	host_setup
	reset_to $KB
	selftest_only
	write_numbers $COUNT
	mmap meta "$HYP/$RAW" >found
	on_host meta >expected
	rmdir "$HOST"
	is "the meta page's sizes are the host's" "$(sed -n 1p found)" "$(sed -n 1p expected)"
	is "the meta page has no flags" "$(meta flags found)" 0
	is "the meta page counts the events written" "$(meta entries found)" $COUNT
	is "the events of the first page are read" "$(meta read found)" "$PER_PAGE"
	is "none was lost" "$(meta overrun found)" 0
	is "none was lost before that page" "$(meta lost found)" 0

	reset_numbers 4
	write_numbers $((20 * PER_PAGE))
	overrun=$(stat_of "$LAST" overrun)
	mmap meta "$HYP/$RAW" >found
	is "lost events are counted, as in stats" "$(meta overrun found)" "$overrun"
	is "they were lost before the page that is mapped" "$(meta lost found)" "$overrun"
	is "lost and unread: as many as were written" "$(meta entries found)" $((20 * PER_PAGE))
}

mapped() {
	for cpu in $ALL_CPUS; do
		mmap read "$HYP/per_cpu/cpu$cpu/trace_pipe_raw"
	done
}

test_read() {
	reset_numbers $PAGES
	write_numbers $COUNT
	mapped >pipe
	none "each event once" inexact pipe $COUNT
	is "nothing is left for read()" "$(raw once "$HYP/$RAW" "$RAW_BYTES")" EAGAIN
	mapped >pipe
	is "nothing is left for a mapping" "$(cat pipe)" ""
	write_numbers $COUNT $((COUNT + 1))
	mapped >pipe
	none "each later event" inexact pipe $COUNT $((COUNT + 1))
}

# When the ring was overwritten: full pages report that events were lost, but not their
# number.
wrong() {
	judge pipe
	grep -E '^(malformed|backwards|wrong)' pipe.facts
	for cpu in $ALL_CPUS; do
		[ $(($(fact shown pipe "$cpu") + $(cat "overrun.$cpu"))) -eq $((20 * PER_PAGE)) ] ||
			echo "CPU $cpu: $(fact shown pipe "$cpu") and $(cat "overrun.$cpu") lost"
	done
}

test_lost() {
	reset_numbers 4
	write_numbers $((20 * PER_PAGE))
	for cpu in $ALL_CPUS; do
		stat_of "$cpu" overrun >"overrun.$cpu"
	done
	mapped >pipe
	none "lost events: each other event once" wrong
	is "lost events: each CPU reports them" \
		"$(grep -cE '^(uncounted|lost) ' pipe.facts)" "$CPUS"
}

# Mapped on all CPUs from here on, by processes that have no descriptor of it.
hold() {
	held=
	rm -f held.*
	for cpu in $ALL_CPUS; do
		mmap hold "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" >"held.$cpu" &
		held="$held $!"
	done
	until_true 10 all_held
}

all_held() {
	for cpu in $ALL_CPUS; do
		[ -s "held.$cpu" ] || return
	done
}

# shellcheck disable=SC2086 # a list
release() {
	kill $held
	wait $held 2>&-
}

read_raw() {
	for cpu in $ALL_CPUS; do
		raw read "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" "$RAW_BYTES"
	done
}

spliced() {
	for cpu in $ALL_CPUS; do
		raw splice "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" 2
	done
	read_raw
}

drained() {
	fileop drain "$HYP/trace_pipe"
}

shown() {
	cat "$HYP/trace"
}

# A mapping does not change other reads.
test_others() {
	for way in read_raw spliced drained mapped shown; do
		reset_numbers $PAGES
		hold
		write_numbers $COUNT
		$way >pipe
		none "while mapped, $way: each event once" inexact pipe $COUNT
		release
	done
}

test_holds() {
	reset_to "$LARGE"
	echo >"$HYP/trace"
	before=$(free_kb)
	hold
	in_use=$(free_kb)
	is "a mapping keeps the buffer loaded" "$(state)" "(loaded)"
	echo 1 >"$HYP/tracing_on"
	emit_all 100
	echo 0 >"$HYP/tracing_on"
	is "a mapping prevents a change of size" "$(fileop write "$HYP/buffer_size_kb" 64)" EBUSY
	is "a mapped buffer can be cleared" "$(fileop open "$HYP/trace" wt)" ok
	is "a mapped buffer stays loaded after a clear" "$(state)" "(loaded)"
	is "no events are left" "$(raw once "$HYP/$RAW" "$RAW_BYTES")" EAGAIN
	echo 1 >"$HYP/tracing_on"
	emit_all 100
	echo 0 >"$HYP/tracing_on"
	read_raw >pipe
	holds "later events come" "$(grep -c . pipe)" -ge $((CPUS * 100))
	release
	until_true 10 unloaded
	is "the buffer is unloaded after munmap()" "$(state)" "(unloaded)"
	after=$(free_kb)
	ktap_print_msg "KiB free: $before, mapped $in_use, then $after"
	# The kernel's sanitizers keep some of what was freed, and others free some.
	holds "the mapping used memory" "$((before - in_use))" -ge $((CPUS * LARGE / 2))
	holds "munmap() freed the memory" "$((before - after))" -lt 8000
	is "the size can be changed after munmap()" "$(fileop write "$HYP/buffer_size_kb" 64)" ok
}

unloaded() {
	[ "$(state)" = "(unloaded)" ]
}

test_waiting() {
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	echo 0 >"$HYP/buffer_percent"
	mmap block "$HYP/$RAW" >outcome &
	waiter=$!
	until_true 10 blocked $waiter
	emit_on "$LAST" 1
	wait $waiter
	is "TRACE_MMAP_IOCTL_GET_READER waits for an event" "$(cat outcome)" 0
}

# follow COMMAND...: what it prints of the CPU's events while they are written.
follow() {
	"$@" &
	reader=$!
	emit_on "$LAST" 5000
	kill $reader
	wait $reader
}

test_live() {
	reset_numbers 64
	echo 1 >"$HYP/tracing_on"
	follow mmap follow "$HYP/$RAW" >pipe
	none "mapped while CPUs write: each event once" inexact pipe 5000 1 "$LAST"
	reset_numbers 64
	echo 1 >"$HYP/tracing_on"
	raw follow-read "$HYP/$RAW" "$RAW_BYTES" >beside &
	other=$!
	follow mmap follow "$HYP/$RAW" >pipe
	kill $other
	wait $other
	ktap_print_msg "lines: $(wc -l <pipe) and $(wc -l <beside)"
	cat beside >>pipe
	none "with another reader: no event but those" strange
	echo 0 >"$HYP/tracing_on"
}

# Events that were not written, or are missing. As with the host's files, a mapping and a
# reader can both have the events of a page that they read at the same time.
strange() {
	awk -v cpu="$LAST" -v count=5000 '
		{ id = substr($4, 4) - cpu * 1000000000 }
		$3 != "selftest" || id < 1 || id > count { print "strange: " $0 }
		{ seen[id] }
		END {
			for (i = 1; i <= count; i++)
				if (!(i in seen))
					print i " is missing"
		}' pipe
}

plan 52 write_event
test_attempts
test_meta
test_read
test_lost
test_others
test_holds
test_waiting
test_live
ktap_finished
