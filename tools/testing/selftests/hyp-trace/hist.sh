#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Histograms of a remote's events, by the kernel's engine: syntax, text and errors are those of the
# kernel's. Each event that is written is counted once, also if others consume or clear the events
# meanwhile, or is counted as lost. A synthetic event joins two events of the remote. What the
# kernel would take from its own task or CPU is refused. The tracepoint shows each record, too.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

TRIGGER=$EVENTS/selftest/trigger
HIST=$EVENTS/selftest/hist
JOINED=$TRACEFS/events/synthetic/remote_joined
HOST=$TRACEFS/instances/hyp-trace-hist
HOST_TRIGGER=$HOST/events/$HOST_ID/trigger
POINT=$HOST/events/trace_remote
COUNT=2000
LATER=hyp_printk
[ "$REMOTE" = trace_remote_test ] && LATER=numbers

# clean: no histograms; those that refer to variables of others go first
clean() {
	[ -d "$JOINED" ] && : >"$JOINED/trigger"
	for event in "$OTHER_EVENT" "$EVENT" "$LATER" selftest; do
		: >"$EVENTS/$event/trigger"
	done
	[ -d "$JOINED" ] && echo '!remote_joined' >>"$TRACEFS/synthetic_events"
	[ -d "$HOST" ] || return 0
	: >"$HOST_TRIGGER"
	rmdir "$HOST"
}

# begin PAGES COMMAND: rings of so many pages, and selftest alone with this histogram
begin() {
	clean
	reset_numbers "$1"
	echo "$2" >"$TRIGGER"
}

# sum_of NAME FILE: what the histograms of a file have of Hits, Dropped or Lost
sum_of() {
	sed -n "s/^ *$1: *//p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# of_cpu CPU FILE: hits of this key
of_cpu() {
	sed -n "s/^{ common_cpu: *$1 } hitcount: *//p" "$2"
}

# tried FILE COMMAND: the outcome of writing it, and what the file has then
tried() {
	fileop write "$1" "$2"
	grep -v '^#' "$1"
}

test_as_host() {
	clean
	mkdir "$HOST"
	echo 0 >"$HOST/tracing_on"
	is "without a histogram the file is empty" "$(cat "$HIST")" ""
	is "the trigger's file has the command" "$(cat "$TRIGGER")" \
		"$(printf '# Available triggers:\n# traceon traceoff enable_hist disable_hist hist')"
	as_the_kernels tried "$TRIGGER" "$HOST_TRIGGER" <<-END
		hist:keys=id
		hist:keys=id
		hist:keys=id:pause
		hist:keys=id:continue
		hist:keys=id:clear
		hist:keys=id,common_pid:vals=hitcount:sort=id.descending:size=256 if id > 3
		hist:name=some:keys=common_cpu
		!hist:keys=id
		!hist:keys=id,common_pid:vals=hitcount:sort=id.descending:size=256 if id > 3
		!hist:name=some:keys=common_cpu
		!hist:keys=common_pid
		hist:keys=common_timestamp.usecs:v=id
		!hist:keys=common_timestamp.usecs:v=id
		hist
		hist:
		hist:keys=
		hist:vals=hitcount
		hist:keys=no_such
		hist:keys=id:sort=no_such
		hist:keys=id if no_such == 3
		hist:keys=id if
		hist:keys=id.no_such
		hist:keys=id:size=3
		hist:keys=id:nonsense=1
		histo:keys=id
	END
	clean
}

# why COMMAND: the outcome, and the reason in the log
why() {
	: >"$HYP/error_log"
	fileop write "$TRIGGER" "$1"
	sed -n 's/.*: error: //p' "$HYP/error_log"
}

test_refused() {
	for command in keys=common_pid.execname keys=common_stacktrace keys=stacktrace \
		"keys=id:clock=mono" "keys=id:x=id:onmax(\$x).snapshot()" \
		"keys=id if comm == \"sh\"" "keys=id if cpu == 0"; do
		is "refused: $command" "$(why "hist:$command")" \
			"$(printf "EINVAL\nOnly the kernel's own events have this")"
	done
	is "refused: a match with an event of the kernel" \
		"$(why "hist:keys=id:x=id-\$y:onmatch(sched.sched_switch).trace(some,\$x)")" \
		"$(printf 'EINVAL\nOnly events of the same remote can be matched')"
	is "the log has the place" "$(why "hist:keys=no_such"; tail -n 2 "$HYP/error_log")" \
		"$(printf "EINVAL\nCouldn't find field\n  Command: hist:keys=no_such\n%22s" "^")"
	is "words in quotes are not what they say" "$(why 'hist:keys=id if id == "comm"')" \
		"$(printf 'EINVAL\n%s' "$(why 'hist:keys=id if id == "some"' | tail -n 1)")"
	is "nothing of that is set" "$(grep -v '^#' "$TRIGGER")" ""
}

test_counted() {
	begin 64 "hist:keys=common_cpu"
	write_numbers "$COUNT"
	cat "$HIST" >hist
	is "each event is counted" "$(sum_of Hits hist)" $((COUNT * CPUS))
	for cpu in $ALL_CPUS; do
		of_cpu "$cpu" hist
	done | uniq >cpus
	is "... with the CPU that wrote it" "$(cat cpus)" "$COUNT"
	is "... and none is lost" "$(sum_of Lost hist)" 0
	is "nothing is consumed" "$(grep -c selftest "$HYP/trace")" $((COUNT * CPUS))
	write_numbers 10
	is "it goes on when tracing does" "$(sum_of Hits "$HIST")" $(((COUNT + 10) * CPUS))
	fileop drain "$HYP/trace_pipe" >drained
	is "also after the rings were unloaded" "$(state)" "(unloaded)"
	write_numbers 10
	is "... and loaded again" "$(sum_of Hits "$HIST")" $(((COUNT + 20) * CPUS))
	: >"$TRIGGER"
	is "O_TRUNC takes it away" "$(grep -c '^hist' "$TRIGGER")" 0
	echo 'hist:keys=common_cpu' >"$TRIGGER"
	echo 'hist:keys=id if id & 1' >>"$TRIGGER"
	write_numbers 10
	is "of two each has its own" "$(sed -n 's/^ *Hits: //p' "$HIST" | xargs)" \
		"$((10 * CPUS)) $((5 * CPUS))"
	echo '!hist:keys=id if id & 1' >>"$TRIGGER"
	is "one is removed, the other stays" "$(sed -n 's/^ *Hits: //p' "$HIST" | xargs)" \
		"$((10 * CPUS))"
	begin 64 "hist:keys=common_timestamp"
	write_numbers 5
	sed -n 's/^{ common_timestamp: *\([0-9]*\) }.*/\1/p' "$HIST" |
		awk '{ printf "%.6f\n", int(($1 + 500) / 1000) / 1000000 }' | sort >of_hist
	sed -n 's/^\[[0-9]*\] *\([0-9.]*\): selftest.*/\1/p' "$HYP/trace" | sort >of_trace
	none "the times are those of the events" diff of_hist of_trace
	begin 64 "hist:keys=id:pause"
	write_numbers 10
	is "one that is paused counts nothing" "$(sum_of Hits "$HIST")" 0
}

# Events are counted before they are consumed, or cleared.
test_with_readers() {
	begin 8 "hist:keys=common_cpu"
	echo 1 >"$HYP/tracing_on"
	cat "$HYP/trace_pipe" >piped &
	reader=$!
	BURST=50 emit_all "$COUNT"
	echo 0 >"$HYP/tracing_on"
	wait "$reader"
	judge piped
	is "while trace_pipe is read, each event is counted or lost" \
		"$(($(sum_of Hits "$HIST") + $(sum_of Lost "$HIST")))" $((COUNT * CPUS))
	holds "... and at least those that were read" "$(sum_of Hits "$HIST")" -ge \
		"$(grep -c selftest piped)"

	begin 64 "hist:keys=common_cpu"
	echo 1 >"$HYP/tracing_on"
	emit_all "$COUNT"
	: >"$HYP/trace"
	echo 0 >"$HYP/tracing_on"
	is "those that are cleared were counted" "$(sum_of Hits "$HIST")" $((COUNT * CPUS))

	begin 64 "hist:keys=common_cpu"
	echo 1 >"$HYP/tracing_on"
	emit_all "$COUNT"
	for cpu in $ALL_CPUS; do
		fileop drain "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" >raw
	done
	emit_all "$COUNT"
	echo 0 >"$HYP/tracing_on"
	is "those of trace_pipe_raw were counted" "$(sum_of Hits "$HIST")" $((2 * COUNT * CPUS))
}

test_lost() {
	begin 3 "hist:keys=common_cpu"
	echo 1 >"$HYP/tracing_on"
	emit_all $((10 * COUNT))
	emit_all 1 $((10 * COUNT + 1))
	echo 0 >"$HYP/tracing_on"
	is "in a ring that is too small, each is counted or lost" \
		"$(($(sum_of Hits "$HIST") + $(sum_of Lost "$HIST")))" $(((10 * COUNT + 1) * CPUS))
	begin 3 "hist:keys=common_cpu"
	echo 0 >"$HYP/options/overwrite"
	write_numbers "$COUNT"
	is "what the ring drops is not counted" "$(sum_of Hits "$HIST")" \
		"$(grep -c selftest "$HYP/trace")"
	is "... and is not lost by the histogram" "$(sum_of Lost "$HIST")" 0
	echo 1 >"$HYP/options/overwrite"
}

# joining: the histogram that joins $OTHER_EVENT with $EVENT
joining() {
	join="remote_joined(\$lat)"
	echo "hist:keys=common_cpu:lat=common_timestamp-\$ts0:onmatch($REMOTE.$EVENT).$join"
}

# at_enter: histograms that keep the time of $EVENT, and join it with the next $OTHER_EVENT.
at_enter() {
	echo "remote_joined u64 lat" >>"$TRACEFS/synthetic_events"
	echo "hist:keys=lat.log2" >"$JOINED/trigger"
	echo 'hist:keys=common_cpu:ts0=common_timestamp' >"$EVENTS/$EVENT/trigger"
	joining >"$EVENTS/$OTHER_EVENT/trigger"
}

# pairs: $EVENT and the next $OTHER_EVENT of its CPU in the trace
pairs() {
	awk -v first="$EVENT" -v then="$OTHER_EVENT" '
		$3 == first { begun[$1] = 1 }
		$3 == then && begun[$1] { n++; begun[$1] = 0 }
		END { print n + 0 }' "$HYP/trace"
}

test_joined() {
	clean
	reset_to 4096
	only "$EVENT" "$OTHER_EVENT"
	at_enter
	is "a variable that is used stays" "$(: >"$EVENTS/$EVENT/trigger"
		grep -c '^hist' "$EVENTS/$EVENT/trigger")" 1
	write_numbers 100
	cat "$EVENTS/$OTHER_EVENT/hist" >hist
	is "a synthetic event joins two events of a CPU" "$(sum_of Hits "$JOINED/hist")" "$(pairs)"
	holds "... more than once" "$(pairs)" -ge 100
	mkdir "$HOST"
	is "the kernel's events can't match a remote's" \
		"$(fileop write "$HOST_TRIGGER" "$(joining)")" EINVAL
	clean
	is "all of that can be removed" "$(cat "$EVENTS"/*/hist)" ""
}

# An event that comes with each selftest, after it, starts and stops the histogram.
test_switched() {
	begin 64 "hist:keys=id:pause"
	echo 1 >"$EVENTS/$LATER/enable"
	echo "enable_hist:$REMOTE:selftest" >"$EVENTS/$LATER/trigger"
	write_on_one 5
	is "one event starts the histogram of another" "$(sum_of Hits "$HIST")" 4
	echo "disable_hist:$REMOTE:selftest" >"$EVENTS/$LATER/trigger"
	write_on_one 5
	is "... or stops it" "$(sum_of Hits "$HIST")" 5
	is "the trigger's file has it" "$(cat "$EVENTS/$LATER/trigger")" \
		"disable_hist:$REMOTE:selftest:unlimited"
	is "... and no other remote's" \
		"$(fileop write "$EVENTS/$LATER/trigger" "enable_hist:sched:sched_switch")" EINVAL
	echo "!disable_hist:$REMOTE:selftest" >"$EVENTS/$LATER/trigger"
}

# write_on_one COUNT: on CPU 0
write_on_one() {
	echo 1 >"$HYP/tracing_on"
	emit_on 0 "$1"
	echo 0 >"$HYP/tracing_on"
}

test_poll() {
	begin 64 "hist:keys=common_cpu"
	is "poll() waits for an event" "$(fileop poll "$HIST" 50)" timeout
	write_numbers 1
	is "... and returns when there is one" "$(fileop poll "$HIST" 10000)" ok
}

test_hotplug() {
	online=/sys/devices/system/cpu/cpu$((CPUS - 1))/online
	if ! can_go $((CPUS - 1)); then
		ktap_test_skip "CPUs go and come: there is no such CPU"
		return
	fi
	begin 64 "hist:keys=common_cpu"
	echo 1 >"$HYP/tracing_on"
	emit_all 100
	echo 0 >"$online"
	emit_on 0 100 101
	echo 1 >"$online"
	emit_all 100 201
	echo 0 >"$HYP/tracing_on"
	is "CPUs go and come" "$(sum_of Hits "$HIST")" $((200 * CPUS + 100))
}

# Several tasks read, set and remove histograms.
churn() {
	for _ in $(seq 30); do
		echo "hist:keys=$1" >>"$EVENTS/selftest/trigger"
		cat "$HIST"
		echo "!hist:keys=$1" >>"$EVENTS/selftest/trigger"
	done >/dev/null
}

test_users() {
	begin 16 "hist:keys=common_cpu"
	echo 1 >"$HYP/tracing_on"
	churn id &
	one=$!
	churn common_pid &
	other=$!
	emit_all "$COUNT"
	wait "$one" "$other"
	echo 0 >"$HYP/tracing_on"
	is "with several users, each event is counted or lost" \
		"$(($(sum_of Hits "$HIST") + $(sum_of Lost "$HIST")))" $((COUNT * CPUS))
}

# records: of selftests at the tracepoint
records() {
	grep -c "trace_remote_record: remote=$REMOTE .* event=selftest " "$HOST/trace"
}

test_tracepoint() {
	clean
	reset_numbers 64
	mkdir "$HOST"
	echo 8192 >"$HOST/buffer_size_kb"
	echo 1 >"$POINT/trace_remote_record/enable"
	# It takes effect in a work of the kernel.
	sync_point
	# The CPUs write at the same time. The kernel merges what is there: a record that one
	# writes while the kernel looks at the ring of another may come late.
	for _ in $(seq 10); do
		BURST=10 record_numbers
		in_order && break
	done
	is "the tracepoint shows each record" "$(records)" $((500 * CPUS))
	none "... by their times" sort -c -n stamps
	id=$(sed -n 's/^ID: //p' "$EVENTS/selftest/format")
	is "... with the event's id, and nothing lost" \
		"$(grep -c "lost=0 id=$id event=selftest" "$HOST/trace")" $((500 * CPUS))
	echo 0 >"$POINT/trace_remote_record/enable"
	clean
}

record_numbers() {
	echo >"$HOST/trace"
	write_numbers 500
	until_true 10 all_recorded
}

in_order() {
	sed -n 's/.*trace_remote_record: .* time=\([0-9]*\) .*/\1/p' "$HOST/trace" >stamps
	sort -c -n stamps 2>/dev/null
}

# Until the work has begun, records are missed.
sync_point() {
	for _ in $(seq 100); do
		write_numbers 1
		until_true 1 grep -q "event=selftest" "$HOST/trace" && return
	done
}

all_recorded() {
	[ "$(records)" -eq $((500 * CPUS)) ]
}

if [ -e "$TRIGGER" ] && [ ! -e "$HIST" ]; then
	ktap_print_header
	skip_all "no hist: CONFIG_HIST_TRIGGERS is off"
fi
trap 'clean; reset_to "$DEFAULT_SIZE"; rm -rf "$TMP"' EXIT
plan 73 write_event
make_host_id
test_as_host
test_refused
test_counted
test_with_readers
test_lost
test_joined
test_switched
test_poll
test_hotplug
test_users
test_tracepoint

ktap_finished
