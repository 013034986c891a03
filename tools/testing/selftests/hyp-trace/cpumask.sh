#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tracing_cpumask chooses the CPUs that write events, also while tracing, and of CPUs that come
# back. It takes and shows what the host's does.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

HOST=$TRACEFS/instances/hyp-trace-cpumask
MASK=$HYP/tracing_cpumask
LAST=$((CPUS - 1))
ALL=$(cat "$MASK" 2>/dev/null)
ONLINE=/sys/devices/system/cpu/cpu$LAST/online

masks() {
	cat "$1"
	for mask in x "" 0 1 -1 1,0 "1 1" 00000000,00000001 ffffffff,ffffffff 2; do
		fileop write "$1" "$mask"
		cat "$1"
	done
}

test_masks() {
	mkdir "$HOST"
	is "all CPUs are chosen at first" "$ALL" "$(cat "$HOST/tracing_cpumask")"
	masks "$HOST/tracing_cpumask" >expected
	masks "$MASK" >found
	none "takes and shows masks as the host's" diff expected found
	is "a read that is too short, as the host's" "$(head -c 1 "$MASK" 2>&1 | sed 's/.*: //')" \
		"$(head -c 1 "$HOST/tracing_cpumask" 2>&1 | sed 's/.*: //')"
	rmdir "$HOST"
}

# set_cpus CPU...: these, and no others
set_cpus() {
	mask=0
	for cpu; do
		mask=$((mask | 1 << cpu))
	done
	printf '%x\n' "$mask" >"$MASK"
}

# written_by CPU: the numbers of its events, from 1 on
written_by() {
	sed -n "s/^\[$(printf %03d "$1")\] .*selftest id=//p" "$HYP/trace" |
		awk -v cpu="$1" '{ print $1 - 1000000000 * cpu }' | xargs
}

write_both() {
	emit_on "$LAST" 1 "$1"
	emit_on 0 1 "$1"
}

# With one CPU, what the last CPU writes counts, and nothing is chosen but all or none.
test_cpus() {
	reset_numbers 8
	set_cpus
	echo 1 >"$HYP/tracing_on"
	write_both 1
	set_cpus "$LAST"
	write_both 2
	set_cpus
	write_both 3
	set_cpus 0 "$LAST"
	write_both 4
	echo 0 >"$HYP/tracing_on"
	set_cpus 0
	if [ "$LAST" = 0 ]; then
		is "the events of the CPU while it was chosen" "$(written_by 0)" "2 2 4 4"
		ktap_test_skip "no other CPU"
		return
	fi
	is "the events of a CPU while it was chosen" "$(written_by "$LAST")" "2 4"
	is "the events of the other CPU" "$(written_by 0)" 4
}

off_and_on() {
	echo 0 >"$ONLINE"
	echo 1 >"$ONLINE"
}

test_hotplug() {
	if [ ! -w "$ONLINE" ] || [ "$LAST" = 0 ]; then
		for name in 1 2 3; do
			ktap_test_skip "$name: no CPU can be taken offline"
		done
		return
	fi
	reset_numbers 8
	set_cpus 0
	echo 1 >"$HYP/tracing_on"
	off_and_on
	write_both 1
	is "a CPU that comes back and is not chosen" "$(written_by "$LAST")" ""
	echo 0 >"$ONLINE"
	set_cpus 0 "$LAST"
	echo 1 >"$ONLINE"
	write_both 2
	is "one that is chosen while it is offline" "$(written_by "$LAST")" 2
	echo 0 >"$ONLINE"
	set_cpus 0
	echo 1 >"$ONLINE"
	write_both 3
	is "one that is excluded while it is offline" "$(written_by "$LAST")" 2
	echo 0 >"$HYP/tracing_on"
}

plan 8 write_event
test_masks
test_cpus
test_hotplug
echo "$ALL" >"$MASK"
ktap_finished
