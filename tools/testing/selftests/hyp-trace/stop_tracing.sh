#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# After a stay that is longer than stop_tracing_us, no CPU writes an event, and that stay is the
# last one of its CPU. tracing_on reads 0 at once, and readers that wait come to the end. No
# maximum of accounting is lost. Tracing can be turned on again, also while CPUs stop it.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/account.sh
. "$DIR/account.sh"

STOP=$HYP/stop_tracing_us
CPU=$((CPUS - 1))
ONLINE=/sys/devices/system/cpu/cpu$CPU/online
NEVER=4294967295
# Each stay takes longer, and the time of events has this resolution.
SHORT=1

# taken VALUE ERROR: print it unless writing fails with the error
taken() {
	fileop write "$STOP" "$1" 2>&1 | grep -q "$2" || echo "'$1' is taken"
}

wrong_values_taken() {
	taken -1 EINVAL
	taken x EINVAL
	taken "" EINVAL
	taken 1.5 EINVAL
	taken 4294967296 ERANGE
	taken 18446744073709551616 ERANGE
	grep -vx 0 "$STOP"
}

# begin US: tracing and accounting on, an empty trace, and that threshold
begin() {
	echo 0 >"$STOP"
	reset_to 4096
	echo 1 >"$HYP/accounting"
	echo 1 >"$HYP/tracing_on"
	echo "$1" >"$STOP"
}

load() {
	emit_all 100
	guest --vcpus "$CPUS" >/dev/null
}

stopped() {
	[ "$(cat "$HYP/tracing_on")" = 0 ]
}

# entries: how many events the rings have. Nothing here asks whether EL2 has stopped.
entries() {
	cat "$HYP"/per_cpu/cpu*/stats | awk '/^entries:/ { n += $2 } END { print n + 0 }'
}

# written COMMAND...: how many events are written meanwhile
written() {
	before=$(entries)
	"$@"
	echo $(($(entries) - before))
}

test_files() {
	is "it is off" "$(cat "$STOP")" 0
	none "wrong values are refused" wrong_values_taken
	echo 20 >"$STOP"
	is "it shows what was written" "$(cat "$STOP")" 20
	echo "$SHORT" >"$STOP"
	echo 1 >"$HYP/tracing_on"
	load
	is "without accounting nothing stops tracing" "$(cat "$HYP/tracing_on")" 1
	echo 1 >"$HYP/accounting"
	load
	is "turning accounting on arms it" "$(cat "$HYP/tracing_on")" 0
	is "it still shows the threshold" "$(cat "$STOP")" "$SHORT"
	echo 0 >"$HYP/accounting"
	echo 1 >"$HYP/tracing_on"
	load
	is "turning accounting off disarms it" "$(cat "$HYP/tracing_on")" 1
}

test_never() {
	begin "$NEVER"
	load
	is "a stay that is not as long does not stop tracing" "$(cat "$HYP/tracing_on")" 1
	holds "... and events are written" "$(written load)" -ge $((100 * CPUS))
}

# ends: of each CPU its number, the time and the name of its last event, and how long its last stay
# took, us, if that event is the end of one
ends() {
	for cpu in $ALL_CPUS; do
		awk -v cpu="$cpu" '
			/^#/ { next }
			{ time = $2 + 0; name = $3; stay = 0 }
			name == "hyp_enter" { start = time }
			name == "hyp_exit" && start { stay = (time - start) * 1000000; start = 0 }
			END { if (name) printf "%d %.6f %s %.0f\n", cpu, time, name, stay }' \
			"$HYP/per_cpu/cpu$cpu/trace"
	done
}

# later FILE: how many events others wrote after the CPU that has stopped all, by FILE of ends: of
# those whose last event ends a stay, the one with the fewest
later() {
	while read -r cpu time name stay; do
		if [ "$name" != hyp_exit ] || [ "$stay" -lt "$SHORT" ]; then
			continue
		fi
		for other in $ALL_CPUS; do
			[ "$other" = "$cpu" ] || cat "$HYP/per_cpu/cpu$other/trace"
		done | awk -v time="$time" '!/^#/ && $2 + 0 > time { n++ } END { print n + 0 }'
	done <"$1" | sort -n | head -n 1
}

# Another CPU may write while the one that stops all does not run, as a virtual CPU may.
tidy() {
	begin "$NEVER"
	start_writers
	echo "$SHORT" >"$STOP"
	until_true 10 stopped
	stop_writers
	ends >last
	[ "$(later last)" -le $((2 * CPUS)) ] 2>&-
}

# It does not read tracing_on, and no reader polls.
test_stop() {
	begin "$SHORT"
	load
	is "no CPU writes any more" "$(written load)" 0
	is "and the host learns of it when it asks" "$(cat "$HYP/tracing_on")" 0
	is "no event was lost" "$(cat "$HYP"/per_cpu/cpu*/stats |
		awk '/overrun|dropped/ { n += $NF } END { print n + 0 }')" 0
	drain trace
	none "hyp_enter and hyp_exit alternate" unsound 'unpaired|misled' trace
	if until_true 1 tidy; then
		ktap_test_pass "a long stay is the last one of its CPU, and others stop then"
	else
		sed 's/^/# /' last
		ktap_test_fail "a long stay is the last one of its CPU, and others stop then"
	fi
}

# set_others STATE: all CPUs but the first go offline, or come back
set_others() {
	for other in $ALL_CPUS; do
		[ "$other" = 0 ] || echo "$1" >"/sys/devices/system/cpu/cpu$other/online"
	done
}

# The CPU that stops all is the only one.
test_alone() {
	set_others 0
	begin "$SHORT"
	emit_on 0 100
	ends | grep '^0 ' >last
	is "the last event of a CPU that is alone ends its long stay" \
		"$(awk -v us="$SHORT" '{ print $3, ($4 >= us) }' last)" "hyp_exit 1"
	set_others 1
}

test_readers() {
	begin "$NEVER"
	cat "$HYP/trace_pipe" >all &
	cat "$HYP/per_cpu/cpu0/trace_pipe" >one &
	readers=$(jobs -p | xargs)
	load
	echo "$SHORT" >"$STOP"
	# shellcheck disable=SC2086 # a list
	until_true 10 ended $readers
	holds "readers that wait come to the end" -z "$(jobs -p | xargs -I PID \
		sh -c 'kill -0 PID 2>&- && echo PID')"
	# shellcheck disable=SC2086 # a list
	kill $readers 2>&-
	wait
	is "tracing is off then" "$(cat "$HYP/tracing_on")" 0
	holds "they have read what there was" "$(wc -l <all)" -ge 100
}

# maxima FILE: each reason and its maximum
maxima() {
	awk 'match($0, /max_ns=[0-9]+/) { print $1, substr($0, RSTART + 7, RLENGTH - 7) }' "$1"
}

# lost_maxima BEFORE AFTER
lost_maxima() {
	awk 'NR == FNR { max[$1] = $2; next } { now[$1] = $2 }
		END { for (reason in max) if (now[reason] < max[reason])
			print reason, max[reason], now[reason] + 0 }' "$1" "$2"
}

test_maxima() {
	begin 0
	load
	echo 0 >"$HYP/tracing_on"
	maxima "$TOTAL" >before
	echo 1 >"$HYP/tracing_on"
	for us in $NEVER $((NEVER - 1)); do
		echo "$us" >"$STOP"
	done
	maxima "$TOTAL" >after
	none "no maximum is lost" lost_maxima before after
	echo 0 >"$HYP/tracing_on"
	echo 0 >"$HYP/accounting"
	echo 0 >"$TOTAL"
	none "a reset clears those that were kept, too" maxima "$TOTAL"
}

test_again() {
	begin "$SHORT"
	load
	echo "$NEVER" >"$STOP"
	echo 1 >"$HYP/tracing_on"
	is "tracing can be turned on again, at once" "$(cat "$HYP/tracing_on")" 1
	holds "... and CPUs write" "$(written load)" -ge $((100 * CPUS))
	echo "$SHORT" >"$STOP"
	load
	echo 1 >"$HYP/tracing_on"
	load
	is "turning it on arms it again" "$(cat "$HYP/tracing_on")" 0
	echo 0 >"$STOP"
	echo 1 >"$HYP/tracing_on"
	load
	is "0 turns it off" "$(cat "$HYP/tracing_on")" 1
}

come_and_write() {
	echo 1 >"$ONLINE"
	emit_on "$CPU" 100
}

test_hotplug() {
	if [ "$CPU" -eq 0 ] || ! echo 0 >"$ONLINE"; then
		for name in 1 2; do
			ktap_test_skip "$name: no CPU can be taken offline"
		done
		return
	fi
	begin "$SHORT"
	emit_on 0 100
	is "a CPU that comes back after the stop writes nothing" "$(written come_and_write)" 0
	echo "$NEVER" >"$STOP"
	echo 1 >"$HYP/tracing_on"
	holds "... but does when tracing is on again" "$(written emit_on "$CPU" 100)" -ge 100
}

# Tracing is turned on and off while CPUs stop it. At last it is turned on, and no old stop comes.
test_race() {
	begin "$NEVER"
	start_writers
	for round in $(seq 30); do
		echo $((SHORT + round % 3 * 20)) >"$STOP"
		echo 1 >"$HYP/tracing_on"
		[ $((round % 2)) -eq 0 ] || cat "$HYP/tracing_on" >/dev/null
		echo $((round % 5 / 4)) >"$HYP/tracing_on"
	done
	echo 0 >"$STOP"
	echo 1 >"$HYP/tracing_on"
	is "tracing is on after each race" "$(cat "$HYP/tracing_on")" 1
	stop_writers
	is "no old stop comes later" "$(cat "$HYP/tracing_on")" 1
	holds "CPUs write then" "$(written load)" -ge $((100 * CPUS))
}

[ -e "$STOP" ] || skip_all "no stop_tracing_us"
plan 29 write_event
trap 'echo 0 >"$STOP"; echo 0 >"$HYP/accounting"; reset_to "$DEFAULT_SIZE"; rm -rf "$TMP"' EXIT
test_files
test_never
test_stop
test_alone
test_readers
test_maxima
test_again
test_hotplug
test_race
ktap_finished
