# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Events on all CPUs, each between two readings of the host's clock. Sourced with HYP set to
# the tracing directory and DIR to this one.

# brackets_start COUNT PAUSE: on each CPU, so many events with so many microseconds
# in between. A reader reads them as they come.
brackets_start() {
	cat "$HYP/trace_pipe" >trace &
	brackets_reader=$!
	echo 1 >"$HYP/tracing_on"
	brackets=
	rm -f bracket.*
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		: >"bracket.$cpu"
		bracket "$HYP/write_event" "$cpu" "$1" "$2" >"bracket.$cpu" &
		brackets="$brackets $!"
	done
}

# Until there are so many more events of each CPU: brackets_go_on COUNT.
brackets_go_on() {
	for file in bracket.*; do
		lines=$(($(wc -l <"$file") + $1))
		tries=200
		while [ "$(wc -l <"$file")" -lt "$lines" ]; do
			tries=$((tries - 1))
			[ "$tries" -gt 0 ] || return
			sleep 0.2
		done
	done
}

# Wait until all is written and read; brackets_stop does not wait for the former.
brackets_end() {
	# shellcheck disable=SC2086 # a list
	wait $brackets
	echo 0 >"$HYP/tracing_on"
	wait "$brackets_reader"
	cat bracket.* >brackets
}

brackets_stop() {
	# shellcheck disable=SC2086
	kill $brackets
	brackets_end
}

# What is wrong with the events' times; or, with -v margins=1, the margins.
brackets_judge() {
	awk "$@" -f "$DIR/stamp.awk" -f "$DIR/bracket.awk" brackets trace
}
