#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Triggers turn tracing off and on at the moment of the event, as often as their counts say, also
# if all CPUs have such events at the same time. Syntax, text and errors are those of the kernel's.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

TRIGGER=$EVENTS/selftest/trigger
HOST=$TRACEFS/instances/hyp-trace-triggers
HOST_TRIGGER=$HOST/events/$HOST_ID/trigger
# An event that comes with each selftest, after it
LATER=hyp_printk
[ "$REMOTE" = trace_remote_test ] && LATER=numbers

# clean: no triggers
clean() {
	for file in "$EVENTS"/*/trigger; do
		echo '!traceoff' >"$file"
	done
	rmdir "$HOST" 2>&-
}

# ids: of the selftests in the trace
ids() {
	sed -n 's/.*selftest id=//p' "$HYP/trace" | xargs
}

# begin TRIGGER...: tracing on, an empty trace, and the triggers of selftest
begin() {
	clean
	reset_to 1024
	only selftest
	for trigger; do
		echo "$trigger" >"$TRIGGER"
	done
	echo 1 >"$HYP/tracing_on"
}

# write_ids ID...
write_ids() {
	for id; do
		echo "$id" >"$HYP/write_event"
	done
}

# tried FILE TEXT: the outcome of writing it, and what the file has then, if it is changed
tried() {
	fileop write "$1" "$2" 2>&1
	grep -v '^#' "$1"
	echo '!traceoff' >"$1"
}

test_as_host() {
	mkdir "$HOST"
	echo 0 >"$HOST/tracing_on"
	is "without a trigger the file has the commands" "$(sed 's/ enable_hist.*//' "$TRIGGER")" \
		"$(printf '# Available triggers:\n# traceon traceoff')"
	as_the_kernels tried "$TRIGGER" "$HOST_TRIGGER" <<-END
		traceoff
		traceoff:3
		traceoff:0x10
		traceoff:0
		  traceoff  :5  if id == 3
		traceoff if id == 3
		traceoff:2 if id > 3 && common_pid != 1
		traceon
		!traceoff
		!traceon:3 if id == 3
		traceoff:
		traceoff:x
		traceoff:3x
		traceoff:99999999999999999999
		traceoff if
		traceoff id == 3
		traceoff:1 unless id == 3
		traceoff if no_such == 3
		traceoff if id ==
		trace_off
		!nothing
		nothing
	END
	is "what only the kernel has is refused" "$(for command in snapshot stacktrace \
		enable_event:sched:sched_switch; do
		fileop write "$TRIGGER" "$command"; done | sort | uniq -c | xargs)" "3 EINVAL"
	echo traceoff >"$TRIGGER"
	is "a second one is refused" "$(fileop write "$TRIGGER" traceon)" EEXIST
	is "... and changes nothing" "$(cat "$TRIGGER")" "traceoff:unlimited"
	echo '!traceon' >"$TRIGGER"
	holds "either name removes it" -z "$(grep -v '^#' "$TRIGGER")"
	echo >"$HYP/error_log"
	fileop write "$TRIGGER" "traceoff if no_such == 3" >outcome
	is "the log says why a filter is refused" "$(grep -c 'Field not found' "$HYP/error_log")" 1
	rmdir "$HOST"
}

test_off() {
	begin "traceoff if id == 5"
	write_ids 3 4 5 6 7
	is "the event that fires is the last one" "$(ids)" "3 4 5"
	is "tracing is off at once" "$(cat "$HYP/tracing_on")" 0
	is "the trigger stays" "$(cat "$TRIGGER")" "traceoff:unlimited if id == 5"
	begin "traceoff if id == 5"
	echo 0 >"$EVENTS/selftest/enable"
	echo 1 >"$EVENTS/$LATER/enable"
	write_ids 3 4 5 6 7
	is "an event that is not enabled fires, too" "$(cat "$HYP/tracing_on")" 0
	is "... and is not written" "$(grep -c "$LATER" "$HYP/trace") $(ids)" "2 "
	begin "traceoff if id == 5"
	echo "id != 5" >"$EVENTS/selftest/filter"
	write_ids 3 4 5 6 7
	is "an event that its filter refuses fires, too" "$(cat "$HYP/tracing_on"), $(ids)" "0, 3 4"
	begin
	write_ids 1 2
	is "without a trigger nothing stops" "$(cat "$HYP/tracing_on"), $(ids)" "1, 1 2"
}

test_count() {
	begin "traceoff:2 if id & 1"
	write_ids 1 2 3
	echo 1 >"$HYP/tracing_on"
	is "the file has what is left of the count" "$(cat "$TRIGGER")" "traceoff:count=1 if id & 1"
	write_ids 4 5 6
	echo 1 >"$HYP/tracing_on"
	write_ids 7 8
	is "it fires as often as the count says" "$(ids), $(cat "$TRIGGER")" \
		"1 4 5 7 8, traceoff:count=0 if id & 1"
}

test_on() {
	begin
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	echo "traceon:1 if id == 5" >"$TRIGGER"
	is "the buffer is loaded" "$(state) $(cat "$HYP/tracing_on")" "(loaded) 0"
	write_ids 3 4 5 6
	is "tracing is on at once" "$(cat "$HYP/tracing_on")" 1
	is "the event that fires is the first one" "$(ids)" "5 6"
	echo 0 >"$HYP/tracing_on"
	write_ids 5 6
	is "it turns tracing on as often as its count says" "$(ids) $(cat "$TRIGGER")" \
		"5 6 traceon:count=0 if id == 5"
	echo >"$HYP/trace"
	is "the buffer stays loaded" "$(state)" "(loaded)"
	echo '!traceon' >"$TRIGGER"
	is "until the trigger is removed" "$(state)" "(unloaded)"
}

test_window() {
	begin
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	echo "traceon if id == 3" >"$TRIGGER"
	echo 1 >"$EVENTS/$LATER/enable"
	echo traceoff:2 >"$EVENTS/$LATER/trigger"
	write_ids 1 2 3 4 3 3 5
	is "one event opens a window, another one closes it" \
		"$(ids), $(cat "$HYP/tracing_on")" "3 3 3 5, 1"
	is "... as often as its count says" "$(cat "$EVENTS/$LATER/trigger")" "traceoff:count=0"
}

has_tracing() {
	[ "$(cat "$HYP/tracing_on")" = "$1" ]
}

# No process reads tracing_on.
test_readers() {
	begin "traceoff if id == 9"
	cat "$HYP/trace_pipe" >all &
	reader=$!
	write_ids 1 2
	until_true 10 has_lines all 2
	write_ids 9
	until_true 10 ended "$reader"
	holds "a reader that waits comes to the end" -z "$(kill -0 "$reader" 2>&- && echo waits)"
	kill "$reader" 2>&-
	wait
	is "... and has read all" "$(sed -n 's/.*selftest id=//p' all | xargs)" "1 2 9"

	begin
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	echo "traceon if id == 5" >"$TRIGGER"
	cat "$HYP/trace_pipe" >all &
	reader=$!
	until_true 10 blocked "$reader"
	write_ids 4 5 6
	until_true 10 has_lines all 2
	is "a reader that waits reads what follows traceon" \
		"$(sed -n 's/.*selftest id=//p' all | xargs)" "5 6"
	kill "$reader"
	wait
}

# For all CPUs as much as there is: some remotes refuse that at once.
test_no_memory() {
	begin
	echo 0 >"$HYP/tracing_on"
	echo >"$HYP/trace"
	size=$(awk -v cpus="$CPUS" '$1 == "MemTotal:" { print int($2 / cpus) }' /proc/meminfo)
	expected=ENOMEM
	[ "$(fileop write "$HYP/buffer_size_kb" "$size")" = ok ] || expected=ok
	is "without memory for the buffer traceon is refused" \
		"$(fileop write "$TRIGGER" traceon)" "$expected"
	clean
	is "... and nothing is loaded" "$(state)" "(unloaded)"
}

# written: how many events have been
written() {
	cat "$HYP"/per_cpu/cpu*/stats |
		awk '/^(entries|overrun|read events):/ { n += $NF } END { print n }'
}

more_written() {
	[ "$(written)" -gt $(($1 + 1000)) ]
}

# storm COUNT: tracing is turned on as soon as it is off, COUNT times
storm() {
	for i in $(seq "$1"); do
		until_true 10 has_tracing 0 || echo "$i: tracing is not turned off"
		echo 1 >"$HYP/tracing_on"
	done
	until_true 10 more_written "$(written)" || echo "nothing is written any more"
	has_tracing 1 || echo "it fired more often"
}

test_storm() {
	begin
	start_writers
	echo traceoff:30 >"$TRIGGER"
	none "in a storm it fires as often as its count says" storm 30
	is "... and has counted each" "$(cat "$TRIGGER")" "traceoff:count=0"
	stop_writers
}

# Stays in a trace, by hyp_enter and the next hyp_exit of the CPU: us
stays() {
	awk '!/^#/ { match($0, /\[[0-9]+\]/); cpu = substr($0, RSTART, RLENGTH); time = $2 + 0 }
		$3 == "hyp_enter" { start[cpu] = time }
		$3 == "hyp_exit" { printf "%.0f\n", start[cpu] ? (time - start[cpu]) * 1000000 : -1
			start[cpu] = 0 }' "$HYP/trace"
}

# not_between MIN MAX: the stays that are not, us; times in the trace are rounded
not_between() {
	stays | awk -v min="$1" -v max="$2" '$1 < min - 1 || $1 > max + 1'
	[ "$(stays | wc -l)" -ge 3 ] || echo "too few stays"
}

# Stays differ, and the machine may be faster than it was: try more often.
enough_stays() {
	write_often
	[ "$(stays | wc -l)" -ge 3 ]
}

write_often() {
	for _ in $(seq 20); do
		write_ids 1 2 3 4 5 6 7 8 9 10
	done
}

test_length() {
	begin
	only hyp_enter hyp_exit
	# A filter makes stays longer.
	echo "stay_ns >= 0" >"$EVENTS/hyp_exit/filter"
	write_often
	stays | grep -v '^-' | sort -n >measured
	least=$(awk 'NR == 1 { print $1 + 1 }' measured)
	long=$(awk '{ us[NR] = $1 } END { print (us[int(NR / 2)] + 1) * 10 }' measured)
	for range in "stay_ns >= $((least * 1000));$least;1000000" \
		"stay_ns < $((long * 1000));0;$long"; do
		begin
		echo 0 >"$HYP/tracing_on"
		echo >"$HYP/trace"
		only hyp_enter hyp_exit
		echo "${range%%;*}" >"$EVENTS/hyp_exit/filter"
		echo 1 >"$HYP/tracing_on"
		until_true 20 enough_stays
		echo 0 >"$HYP/tracing_on"
		max=${range##*;}
		min=${range#*;}
		none "a filter knows the length of a stay: ${range%% [0-9]*}" \
			not_between "${min%;*}" "$max"
	done
	begin
	echo "traceoff if stay_ns > 3600000000000" >"$EVENTS/hyp_exit/trigger"
	write_ids 1 2 3
	is "no stay takes an hour" "$(cat "$HYP/tracing_on")" 1
	echo '!traceoff' >"$EVENTS/hyp_exit/trigger"
	echo "traceoff if reason == \"host\" && stay_ns > 1" >"$EVENTS/hyp_exit/trigger"
	write_ids 4 5
	is "a trigger knows the length" "$(cat "$HYP/tracing_on")" 0
	holds "it is no field" -z "$(grep stay_ns "$EVENTS/hyp_exit/format")"
	clean
}

LENGTH_TESTS=5
[ "$REMOTE" = hypervisor ] || LENGTH_TESTS=0
trap 'clean; reset_to "$DEFAULT_SIZE"; rm -rf "$TMP"' EXIT
plan $((52 + LENGTH_TESTS)) write_event
make_host_id
test_as_host
test_off
test_count
test_on
test_window
test_readers
test_no_memory
test_storm
[ "$LENGTH_TESTS" = 0 ] || test_length
ktap_finished
