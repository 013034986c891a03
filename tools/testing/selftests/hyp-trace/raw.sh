#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# trace_pipe_raw has each event once: read in pieces of 100 bytes to a million, spliced
# by one page to sixteen, to full, short and closed pipes, and while CPUs write and
# other readers read. Lost events are reported exactly. Invalid addresses and sizes give
# the kernel's errors.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

HOST=$TRACEFS/instances/hyp-trace-raw
LAST=$((CPUS - 1))
RAW=per_cpu/cpu$LAST/trace_pipe_raw
RAW_BYTES=$((PAGE_BYTES + 16))
COUNT=$((4 * PER_PAGE + 10))	# some pages and a part of one
SHORT=150

# Every CPU's, by that operation.
raw_all() {
	for cpu in $ALL_CPUS; do
		raw "$1" "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" "$2" "${3-16}"
	done
}

# A splice takes whole pages alone: read() has the rest.
splice_all() {
	raw_all splice "$1" "$2"
	raw_all read "$RAW_BYTES"
}

# Pages that are read in pieces: each is read to its end, and has no more events than its
# first piece. On large pages all events of a ring would take minutes.
SOME=1000

# In pieces of that size, with the end of the ring's first page among them; then the rest.
read_all() {
	[ "$PER_PAGE" -lt $SOME ] || raw_all some $((RAW_BYTES * 7 / 8)) 1
	raw_all some "$1" $SOME
	raw_all read "$RAW_BYTES"
}

# By a read of three pages to memory that ends within the third one; then the rest.
half_all() {
	raw_all half-fault $((RAW_BYTES * 5 / 2)) >halves
	grep selftest halves
}

# reads HOW [ARGUMENT]...: what is wrong with all that was read.
reads() {
	reset_numbers 16
	write_numbers $COUNT
	"$@" >pipe
	inexact pipe $COUNT
}

# whole_pages RESULT: of a read, without what is particular to this machine.
whole_pages() {
	case $1 in
	"" | *[!0-9]*) echo "not a number: '$1'" ;;
	0) echo none ;;
	*) echo "$(($1 % RAW_BYTES)) bytes more than whole pages" ;;
	esac
}

test_sizes() {
	for size in "$RAW_BYTES" 100 44 1000 $((RAW_BYTES - 1)); do
		none "each event once, read $size bytes at a time" reads read_all "$size"
	done
	for pages in 1 3 16; do
		none "each event once, spliced $pages pages at a time" reads splice_all $pages 16
	done
	none "each event once, spliced to a pipe of 2 pages" reads splice_all 16 2
	none "each event once, read to memory that ends within the third page" reads half_all
	holds "that read has more than two pages" \
		"$(grep -v : halves | sort -n | head -n 1)" -gt $((2 * RAW_BYTES))
	is "nothing is left" "$(raw once "$HYP/$RAW" "$RAW_BYTES")" EAGAIN
	write_numbers $COUNT
	is "a larger read returns more pages" \
		"$(raw once "$HYP/$RAW" $((3 * RAW_BYTES + 5)))" $((3 * RAW_BYTES))
	is "a larger read returns whole pages" \
		"$(whole_pages "$(raw once "$HYP/$RAW" 10000000)")" "0 bytes more than whole pages"
	is "the page being written is left" "$(raw once "$HYP/$RAW" 10000000)" "$RAW_BYTES"
}

# An operation, its argument, what comes of it - `page' is a page's bytes - and
# whether all events are there then, for the same reader or the next.
TABLE='
once		0		0		all
once		1		0		all
once		16		0		all
once		20		0		all
once		page		page		less
fault		page		EFAULT		all
half-fault	1000		*		all
bytes		0		0		all
bytes		100		EINVAL		all
bytes		page		page		less
offset		100		EINVAL		all
offset		page		EINVAL		all
full		page		EAGAIN		all
closed		page		EPIPE		all
killed		page		Broken_pipe	all
not-a-pipe	page		EINVAL		all
fcntl		page		page		less
block		page		page		less
splice-block	page		page		less
ioctl		0		0		all
ioctl		0x1234		ENOTTY		all
ioctl		0x5220		ENODEV		all
'

# judged EXPECTED PART DIRECTORY FILE OPERATION ARGUMENT: yes, or what it was, with
# events to read, and how many of them there were, then and in the end.
judged() {
	echo >"$3/trace"
	echo 1 >"$3/tracing_on"
	emit "$3/$4" "$LAST" $((LAST * 1000000000 + 1)) $COUNT >/dev/null
	echo 0 >"$3/tracing_on"
	raw "$5" "$3/$RAW" "$6" >said
	raw read "$3/$RAW" "$RAW_BYTES" >rest

	what=$(grep -v selftest said | sed "s/ /_/; s/^$RAW_BYTES\$/page/")
	there=$(cat said rest | grep -c selftest)
	part=less
	[ "$there" -lt $COUNT ] || part=all
	# shellcheck disable=SC2254 # it may be a pattern
	case $what,$part in
	$1,"$2") echo yes ;;
	*) echo "$what, $there events of $COUNT" ;;
	esac
}

test_outcomes() {
	mkdir "$HOST"
	echo $((16 * RAW_BYTES / 1024)) >"$HOST/buffer_size_kb"
	reset_numbers 16
	echo "$TABLE" | grep . >table
	while read -r operation argument want part; do
		name="$operation $argument: $want, $part"
		[ "$argument" != page ] || argument=$RAW_BYTES
		found=$(judged "$want" "$part" "$HYP" write_event "$operation" "$argument")
		host=$(judged "$want" "$part" "$HOST" trace_marker "$operation" "$argument")
		is "$name, as the host's" "$found; $host" "yes; yes"
	done <table
	for tracing in "$HYP" "$HOST"; do
		echo >"$tracing/trace"
		echo 1 >"$tracing/tracing_on"
		raw woken "$tracing/$RAW" 0
		echo 0 >"$tracing/tracing_on"
	done >outcome
	is "ioctl 0 wakes a waiting reader, as the host's" "$(xargs <outcome)" "woken woken"
	rmdir "$HOST"
}

# A process waits for the first event of a file, which comes once it does.
waits_for_event() {
	"$@" >outcome &
	waiter=$!
	until_true 10 blocked $waiter
	emit_on "$LAST" $((2 * PER_PAGE))
	wait $waiter
	cat outcome
}

test_waiting() {
	for way in poll select epoll; do
		reset_numbers 8
		echo 1 >"$HYP/tracing_on"
		echo 0 >"$HYP/buffer_percent"
		is "$way: waits for an event" "$(fileop $way "$HYP/$RAW" $SHORT)" timeout
		is "$way: ends at the first event" \
			"$(waits_for_event fileop $way "$HYP/$RAW" 20000)" ok
		echo 100 >"$HYP/buffer_percent"
		is "$way: waits for buffer_percent" \
			"$(fileop $way "$HYP/$RAW" $SHORT)" timeout
		echo 0 >"$HYP/tracing_on"
		is "$way: waits when no more events come" \
			"$(fileop $way "$HYP/$RAW" $SHORT)" timeout
	done
	# A splice that is woken by less than a page has nothing, as with the host's.
	for way in "block 0" "splice-block 10"; do
		reset_numbers 8
		echo 1 >"$HYP/tracing_on"
		echo "${way#* }" >"$HYP/buffer_percent"
		is "${way% *}: ends at the first event" \
			"$(waits_for_event raw "${way% *}" "$HYP/$RAW" "$RAW_BYTES")" "$RAW_BYTES"
	done
}

# Events for some pages that have room for the number of events lost before them. That
# depends on the page's size. Without room, pauses make it: longer deltas take more bytes.
SLOWLY=$((PER_PAGE * 3 / 4))
write_slowly() {
	echo 1 >"$HYP/tracing_on"
	if [ $((PAGE_BYTES % EVENT_BYTES)) -ge 8 ]; then
		emit_on "$LAST" $((10 * SLOWLY))
	else
		for round in 0 1 2 3 4 5 6 7 8 9; do
			emit_on "$LAST" $SLOWLY $((round * SLOWLY + 1))
			sleep 0.15
		done
	fi
	echo 0 >"$HYP/tracing_on"
}

# On a slow machine a page may have one more of these times, and no room then: another try.
lost_counted() {
	for _ in 1 2 3 4 5; do
		reset_numbers 4
		write_slowly
		raw "$1" "$HYP/$RAW" "$2" >pipe
		raw read "$HYP/$RAW" "$RAW_BYTES" >>pipe
		inexact pipe $((10 * SLOWLY)) 1 "$LAST" >wrong
		grep -q '^uncounted' wrong || break
	done
	cat wrong
}

test_lost() {
	none "read() reports lost events exactly" lost_counted read "$RAW_BYTES"
	holds "read(): events were lost" "$(fact lost pipe)" -gt 0
	none "splice() reports lost events exactly" lost_counted splice 16
	holds "splice(): events were lost" "$(fact lost pipe)" -gt 0
}

# Full pages report that events were lost, without the number, which the kernel's
# counters have.
uneven() {
	for cpu in $BUSY_CPUS; do
		judge pipe."$cpu"
		grep -E '^(malformed|backwards|wrong)' pipe."$cpu".facts
		shown=$(fact shown pipe."$cpu")
		counted="$(stat_of "$cpu" "read events") $(stat_of "$cpu" entries)"
		lost=$(stat_of "$cpu" overrun)
		if [ "$counted $((shown + lost))" != "$shown 0 $(cat "written.$cpu")" ]; then
			echo "CPU $cpu: $shown shown, $counted, $lost lost"
		fi
	done
}

# readers_ended READER...: wait for them; print what did not end as a reader does.
readers_ended() {
	for reader; do
		wait "$reader" || echo "a reader ended with status $?"
	done
}

race_faults() {
	cat failures
	uneven
}

# A reader that the writers are faster than.
test_race() {
	for way in "follow-read $RAW_BYTES" "follow-splice 4"; do
		reset_numbers 3
		echo 1 >"$HYP/tracing_on"
		exec 3<"$HYP/trace_pipe"	# so that the counters stay
		start_writers
		readers=
		for cpu in $BUSY_CPUS; do
			# shellcheck disable=SC2086 # two words
			raw ${way% *} "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" ${way#* } >"pipe.$cpu" &
			readers="$readers $!"
		done
		until_true 10 overrun
		stop_writers
		echo 0 >"$HYP/tracing_on"
		# shellcheck disable=SC2086 # a list
		kill $readers
		# shellcheck disable=SC2086
		readers_ended $readers >failures
		for cpu in $BUSY_CPUS; do
			[ -s "pipe.$cpu" ] || echo "CPU $cpu: its reader had nothing" >>failures
			raw read "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" "$RAW_BYTES" >>"pipe.$cpu"
		done
		none "${way% *} while CPUs write: each event is read or reported lost" race_faults
		name="${way% *} while CPUs write: a gap is reported"
		if [ "$(overwritten)" -gt 0 ]; then
			holds "$name" "$(cat pipe.*.facts | grep -cE '^(uncounted|lost)')" -gt 0
		else
			ktap_test_skip "$name: the readers were faster"
		fi
		exec 3<&-
	done
}

# More than a page of each was overwritten, of small pages twenty; or so much was read that
# the readers seem to be faster.
LAPPED=$((20 * (PER_PAGE < 256 ? PER_PAGE : 256)))
ENOUGH=$((50 * LAPPED))
overrun() {
	for cpu in $BUSY_CPUS; do
		[ "$(stat_of "$cpu" overrun)" -gt $LAPPED ] ||
			[ "$(stat_of "$cpu" "read events")" -gt $ENOUGH ] || return
	done
}

overwritten() {
	for cpu in $BUSY_CPUS; do
		stat_of "$cpu" overrun
	done | awk '{ n += $1 } END { print n + 0 }'
}

# Readers of each kind at once share the events.
test_shared() {
	reset_numbers 64
	echo 1 >"$HYP/tracing_on"
	cat "$HYP/trace_pipe" >shared.text &
	text=$!
	readers=
	for cpu in $ALL_CPUS; do
		for way in "follow-read $RAW_BYTES" "follow-read 100" "follow-splice 4"; do
			# shellcheck disable=SC2086 # two words
			raw ${way% *} "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" ${way#* } \
				>"shared.$cpu.${way#* }" &
			readers="$readers $!"
		done
	done
	emit_all 2000
	# shellcheck disable=SC2086 # a list
	kill $readers
	# shellcheck disable=SC2086
	readers_ended $readers >failures
	until_true 20 all_lines
	kill $text
	wait $text 2>&-
	echo 0 >"$HYP/tracing_on"
	ktap_print_msg "lines: $(wc -l shared.* | awk '{ print $1 }' | xargs)"
	cat shared.* >pipe
	none "read, splice and trace_pipe at once: each event once" shared_faults
}

shared_faults() {
	cat failures
	not_once pipe 2000
}

all_lines() {
	[ "$(cat shared.* | wc -l)" -ge $((2000 * CPUS)) ]
}

plan 61 write_event
test_sizes
test_outcomes
test_waiting
test_lost
test_race
test_shared
ktap_finished
