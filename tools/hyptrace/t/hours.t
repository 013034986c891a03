#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Hours of a trace: each event has its time to the microsecond, whatever time lies between
# it and the one before, by trace, trace_pipe and the ring's pages.
. "$(dirname "$0")/script.sh"

# Time is that of the instructions, and the next timer's at once when all CPUs wait.
export TIMEOUT=300 QEMU_ARGS="-icount shift=0,sleep=off -rtc clock=vm"

cat >>"$tmp/prelude" <<'END'
set +x
. "$DIR/brackets.sh"
cd /tmp

# How many events a CPU writes in a row, with how many microseconds in between: hardly
# any; with more than a record has room for, 2^27 ns; than a word, 2^32; hours. By then
# seven are over.
SCHEDULE="250,100 250,134218 250,4294968 100,100000000 7,3600000000 100,100"

# On each CPU, and after each part of the schedule: write_all [COMMAND]
write_all() {
	from=0
	for part in $SCHEDULE; do
		writers=
		for cpu in $(seq 0 $(($(nproc) - 1))); do
			bracket "$HYP/write_event" "$cpu" "${part%,*}" "${part#*,}" "$from" \
				>>"bracket.$cpu" &
			writers="$writers $!"
		done
		wait $writers
		from=$((from + ${part%,*}))
		eval "${1-}"
	done
	cat bracket.* >brackets
	[ "$(cut -d . -f 1 /proc/uptime)" -gt $((7 * 3600)) ]
}

# Tracing begins, with selftest alone and room for all.
begin() {
	echo 64 >"$HYP/buffer_size_kb"
	echo 0 >"$HYP/events/enable"
	echo 1 >"$HYP/events/hypervisor/selftest/enable"
	echo 1 >"$HYP/tracing_on"
}

# judge WHAT: nothing is wrong with the events' times in the file `trace`.
judge() {
	echo "# $1: $(brackets_judge -v margins=1)"
	brackets_judge >faults
	head -n 20 faults
	[ ! -s faults ]
}
END

# A reader comes now and then: as long as there is one the kernel looks for events, many
# times a second.
followed() {
	runs "$@" <<-'END'
		begin
		write_all 'fileop drain "$HYP/trace_pipe" >>trace'
		echo 0 >"$HYP/tracing_on"
		judge trace_pipe
	END
}

# The ring has them for hours; then they are read in each way.
kept() {
	runs "$@" <<-'END'
		begin
		write_all
		echo 0 >"$HYP/tracing_on"
		cat "$HYP/trace" >trace
		judge trace
		for cpu in $(seq 0 $(($(nproc) - 1))); do
			grep '^oldest event ts:  *[0-9]\.' "$HYP/per_cpu/cpu$cpu/stats"
			raw read "$HYP/per_cpu/cpu$cpu/trace_pipe_raw" 65552
		done | grep selftest >trace
		judge trace_pipe_raw
	END
}

ok "seven hours, followed, protected" followed MODE=protected
ok "seven hours, kept, nvhe" kept MODE=nvhe
plan
