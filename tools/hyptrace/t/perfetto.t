#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Perfetto, as Debian has it, records the hypervisor: all events are there.
. "$(dirname "$0")/tap.sh"

SELFTESTS=$ROOT/tools/testing/selftests/hyp-trace
CLIENTS=$TOOLS/clients
OUT=$tmp/recordings

if ! "$CLIENTS/perfetto-files" "$tmp/files" 2>"$tmp/reason"; then
	echo "1..0 # SKIP $(grep -v '^hyptrace: ' "$tmp/reason" | head -n 1)"
	exit 0
fi

sessions() {
	"$TOOLS/vm" SMP=2 MEM=2G SCRIPT="$CLIENTS/perfetto-sessions" FILES="$tmp/files" \
		OUT="$OUT" TIMEOUT=300
}

# decode NAME: the recording as text, NAME.trace.
decode() {
	protoc --proto_path "$CLIENTS" --decode=Trace perfetto.proto \
		<"$OUT/$1" >"$OUT/$1.text" &&
		awk -f "$CLIENTS/perfetto.awk" "$OUT/$1.text" "$OUT/$1.text" >"$OUT/$1.trace" &&
		awk -f "$CLIENTS/perfetto-judge.awk" "$OUT/$1.trace" >"$OUT/$1.facts" &&
		cat "$OUT/$1.facts"
}

# Nothing of it is in the way of a client, or wrong with an event.
sound() {
	decode "$1" && ! grep '^wrong' "$OUT/$1.facts"
}

# fact NAME WHAT CPU
fact() {
	awk -v what="$2" -v cpu="$3" '$1 == what && $2 == cpu { print $3 }' "$OUT/$1.facts"
}

# Not fewer events of that CPU than the kernel says were read. (Perfetto may read on
# after it has asked for the counts.)
all_read() {
	[ "$(fact "$1" events "$2")" -ge "$(fact "$1" read_events "$2")" ]
}

# Each number that was written, in its order; that an event was lost is a fault.
numbers() {
	grep -E '^CPU:|: selftest ' "$OUT/$1.trace" >"$OUT/$1.numbers"
	awk -f "$SELFTESTS/stamp.awk" -f "$SELFTESTS/numbers.awk" "$OUT/$1.numbers" >"$tmp/facts"
	cat "$tmp/facts"
	! grep -E '^(malformed|backwards|wrong|uncounted|lost)' "$tmp/facts" &&
		sed -n 's/^shown //p' "$tmp/facts" | sort | diff - "$OUT/$1.written"
}

# None was lost, by the kernel's account.
none_lost() {
	while read -r cpu written; do
		[ "$(fact "$1" overrun "$cpu" | sort -u)" = 0 ] &&
			[ -z "$(fact "$1" marks "$cpu")" ] || return
	done <"$OUT/$1.written"
}

counted() {
	while read -r cpu written; do
		all_read "$1" "$cpu" || return
	done <"$OUT/$1.written"
}

# alone NAME TITLE: a recording of nothing but the hypervisor.
alone() {
	ok "$2: the recording is sound" sound "$1"
	ok "$2: it has each numbered event" numbers "$1"
	ok "$2: none was lost" none_lost "$1"
	ok "$2: it has all that were read" counted "$1"
}

# with_host NAME TITLE: with the counts of two buffers.
with_host() {
	ok "$2: the recording is sound" sound "$1"
	ok "$2: it has each numbered event" numbers "$1"
	ok "$2: none was lost" none_lost "$1"
	ok "$2: in the host's time" one_clock "$1"
}

# Guests ran, and what EL2 did for them is between the host's kvm_entry and the
# kvm_exit that follows, by the two clocks. (The two buffers are not read from
# the same moment to the same.)
one_clock() {
	grep -E ' (kvm|hyp)_(entry|exit|enter)( |$)' "$OUT/$1.trace" | sort -k 1,1 -k 2,2n -s |
		awk '
			$1 != cpu { cpu = $1; begun = inside = without = 0 }
			$3 == "kvm_entry" { inside = 1; stays = 0 }
			$3 == "hyp_enter" { begun = 1; stays++; short += without; without = 0 }
			$3 == "kvm_exit" && inside && begun { runs++; without += stays < 2 }
			$3 == "kvm_exit" { inside = 0 }
			END { print runs + 0 " runs, " short + 0 " without EL2"; exit !runs || short }'
}

# In a buffer of few pages that was not read meanwhile: those overwritten, then in
# order those that were read, then those that Perfetto left.
told() {
	while read -r cpu written; do
		lost=$(fact small overrun "$cpu")
		[ "$lost" -gt 0 ] && [ "$(fact small marks "$cpu")" = 1 ] &&
			all_read small "$cpu" && in_order "$cpu" "$lost" &&
			[ "$((lost + $(fact small events "$cpu") +
				$(fact small entries "$cpu")))" = "$written" ] || return
	done <"$OUT/small.written"
}

# in_order CPU LOST: the numbers that come after so many.
in_order() {
	awk -v cpu="[00$1]" -v before=$(($1 * 1000000000 + $2)) '
		$1 == cpu { id = substr($4, 4) + 0; wrong += id != before + 1; before = id }
		END { exit wrong }' "$OUT/small.trace"
}

# A client that was killed has not turned it off.
left_on() {
	[ "$(cat "$OUT/killed.on")" = 1 ]
}

ok "Perfetto records in a VM" sessions
alone first "instance hypervisor"
alone second "another session"
alone shortcut "perfetto hypervisor"
with_host both "with the host's events"
with_host load "begun and ended under load"
alone hotplug "a CPU goes off and on"
ok "killed, it leaves tracing on" left_on
alone after "after a killed one"
ok "events lost: the recording is sound" sound small
ok "events lost: marked, counted, and no others" told
plan
