#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A number written to write_event comes back as the event selftest with that id, from
# the CPU that wrote it, in order. Numbers of each base are accepted, other texts are
# not.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

WRITE_EVENT=$HYP/write_event

# comes_back TEXT: what write_event makes of it: the outcome, and ids.
comes_back() {
	echo >"$HYP/trace"
	fileop write "$WRITE_EVENT" "$1"
	sed -n 's/.*selftest id=//p' "$HYP/trace"
}

newline='
'

test_numbers() {
	reset_numbers 8
	echo 1 >"$HYP/tracing_on"
	while read -r text id; do
		is "$text" "$(comes_back "$text$newline" | xargs)" "ok $id"
	done <<-END
		0 0
		42 42
		0x2a 42
		052 42
		0x0123456789abcdef 81985529216486895
		9223372036854775808 9223372036854775808
		18446744073709551615 18446744073709551615
	END
	is "no newline" "$(comes_back 42 | xargs)" "ok 42"
}

test_refused() {
	while IFS=, read -r text outcome; do
		is "refused: '$text'" "$(comes_back "$text" | xargs)" "$outcome"
	done <<-END
		x,EINVAL
		-1,EINVAL
		1 2,EINVAL
		0x,EINVAL
		42x,EINVAL
		 ,EINVAL
		18446744073709551616,ERANGE
		99999999999999999999999999999999999999999999999999999,ERANGE
	END
	is "it can't be read" "$(fileop read "$WRITE_EVENT")" EINVAL
}

test_off() {
	reset_numbers 8
	is "with tracing off, no event is written" "$(comes_back 42 | xargs)" ok
	is "with tracing off, the buffer is not loaded" "$(state)" "(unloaded)"
	echo 1 >"$HYP/tracing_on"
	echo 0 >"$EVENTS/selftest/enable"
	is "with the event off nothing is written" "$(comes_back 42 | xargs)" ok
}

test_cpus() {
	reset_numbers 64
	write_numbers 1000
	cat "$HYP/trace" >trace
	none "each CPU has the events that were written on it" inexact trace 1000
	is "and all of them" "$(fact shown trace)" $((1000 * CPUS))
}

# Of the hypervisor, with all events on: a hypercall for each number, and the event in it.
outside() {
	awk '
		/hyp_enter reason=hvc / { in_call[$1] = 1 }
		/hyp_exit/ { in_call[$1] = 0 }
		/selftest/ {
			n++
			if (!in_call[$1])
				print
		}
		END { if (n != 100) print n + 0 " events" }' trace
}

test_call() {
	reset
	echo 1 >"$HYP/tracing_on"
	emit_on 0 100
	echo 0 >"$HYP/tracing_on"
	cat "$HYP/per_cpu/cpu0/trace" >trace
	none "each is in a hypercall of the host's" outside
}

plan $((22 + GUESTS)) write_event
test_numbers
test_refused
test_off
test_cpus
[ "$GUESTS" = 0 ] || test_call
ktap_finished
