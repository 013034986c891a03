# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Numbered events: with `selftest` alone enabled, a CPU's events are the numbers written
# there, so that each event missing from a trace is known.
# Sourced after tracing.sh, by tests that plan() with write_event.

# How much of a ring's page an event takes.
EVENT_BYTES=20
# shellcheck disable=SC2034 # used by the tests
PER_PAGE=$((PAGE_BYTES / EVENT_BYTES))
ALL_CPUS=$(seq 0 $((CPUS - 1)) | xargs)
# CPUs whose writers do not pause. Readers need a CPU, too.
BUSY_CPUS=$(printf '%s\n' 0 $((CPUS - 1)) | uniq | xargs)

selftest_only() {
	echo 0 >"$HYP/events/enable"
	echo 1 >"$EVENTS/selftest/enable"
}

# reset_numbers PAGES: tracing off, selftest enabled and nothing else, the buffer
# empty and of so many pages a CPU.
reset_numbers() {
	reset_to $(($1 * PAGE_BYTES / 1024))
	selftest_only
}

# emit_on CPU COUNT [FROM]
emit_on() {
	emit "$HYP/write_event" "$1" $(($1 * 1000000000 + ${3:-1})) "$2" >/dev/null
}

# start_emits COUNT FROM CPU...: start to write on these CPUs. When a writer has ended,
# written.CPU has the number of its events. With $BURST, writers rest now and then.
# shellcheck disable=SC2086 # nothing, or a number
start_emits() {
	count=$1 from=$2 writers=
	shift 2
	for writer; do
		emit "$HYP/write_event" "$writer" $((writer * 1000000000 + from)) "$count" $BURST \
			>"written.$writer" &
		writers="$writers $!"
	done
}

# emit_all COUNT [FROM]: on all CPUs, to the end.
# shellcheck disable=SC2086 # lists
emit_all() {
	start_emits "$1" "${2:-1}" $ALL_CPUS
	wait $writers
}

# start_writers: on the busy CPUs, until stop_writers.
start_writers() {
	# shellcheck disable=SC2086 # a list
	start_emits 999999999 1 $BUSY_CPUS
	until_true 10 writing
}

# Each of them has begun.
writing() {
	for writer in $BUSY_CPUS; do
		[ "$(stat_of "$writer" entries)" -gt 0 ] || return
	done
}

# shellcheck disable=SC2086 # lists
stop_writers() {
	kill $writers
	wait $writers
}

# write_numbers COUNT [FROM]: on all CPUs, with tracing on and then off.
write_numbers() {
	echo 1 >"$HYP/tracing_on"
	emit_all "$@"
	echo 0 >"$HYP/tracing_on"
}

# stat_of CPU NAME: what per_cpu/cpuN/stats says of it.
stat_of() {
	sed -n "s/^$2: *//p" "$HYP/per_cpu/cpu$1/stats"
}

# judge FILE [FIRST]: checks a trace of numbers that begin with FIRST. FILE.facts has the
# results.
judge() {
	awk -v first="${2:-1}" -f "$DIR/stamp.awk" -f "$DIR/numbers.awk" "$1" >"$1.facts"
}

# fact NAME FILE [CPU]: of that CPU, or the sum over all of them.
fact() {
	awk -v name="$1" -v cpu="${3:-any}" '
		$1 == name && (cpu == "any" || $2 == cpu) { n += $3 }
		END { print n + 0 }' "$2.facts"
}

# The errors, except the order of CPUs: a reader that consumes while others write can't
# know which event comes next.
faults() {
	sed -nE '/^(malformed|backwards|wrong|uncounted)/p' "$1.facts"
}

# inexact FILE COUNT [FIRST [CPUS]]: prints the errors of a trace that must have, for each
# of these CPUs (default: all), COUNT numbers from FIRST on, shown or reported lost, and
# none for the others. COUNT can be `written`: the number that the writers have written.
inexact() {
	judge "$1" "${3:-1}"
	faults "$1"
	for which in ${4-$ALL_CPUS}; do
		case $2 in
		written) echo "want $which $(cat "written.$which")" ;;
		*) echo "want $which $2" ;;
		esac
	done | awk '
		$1 == "want" { want[$2] = $3; got[$2] }
		$1 == "shown" || $1 == "lost" { got[$2] += $3 }
		END {
			for (cpu in got)
				if (got[cpu] + 0 != want[cpu] + 0)
					print "CPU " cpu ": " got[cpu] + 0 " events, not " \
						want[cpu] + 0
		}' - "$1.facts" | sort
}

# not_once FILE COUNT: the events of COUNT a CPU that are not there once, whatever
# their order.
not_once() {
	awk -v count="$2" -v cpus="$CPUS" '
		/^\[[0-9]+\] +[0-9]+\.[0-9]+: selftest id=[0-9]+$/ {
			seen[substr($4, 4)]++
			next
		}
		{ print "unexpected: " $0 }
		END {
			for (cpu = 0; cpu < cpus; cpu++)
				for (i = 1; i <= count; i++) {
					id = cpu * 1000000000 + i
					if (seen[id] != 1)
						print id ": " seen[id] + 0 " times"
				}
		}' "$1"
}
