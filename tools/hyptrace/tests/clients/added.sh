#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the VM: the event that test_clients.py has added to the event list, wherever events are seen.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
EVENT=$HYP/events/hypervisor/added
WRITE="for id in 1 2 3 62; do echo \$id >$HYP/write_event; done"

reset
grep hypervisor:added "$HYP/available_events" >/out/available
cp "$EVENT/format" /out/format
cp "$TRACEFS/events/hypervisor/added/format" /out/format.host
cp "$EVENT/enable" /out/enable
record /out/off sh -c "$WRITE"
echo hypervisor:added >"$HYP/set_event"
record /out/on sh -c "$WRITE"
echo 'sign < 0' >"$EVENT/filter"
record /out/filtered sh -c "$WRITE"
for field in values text bits; do
	fileop write "$EVENT/filter" "$field == 1"
done >/out/refused
echo 0 >"$EVENT/filter"
record /out/again sh -c "$WRITE"
trace-cmd record -B hypervisor -C boot -e hypervisor:added sh -c "$WRITE" >/out/said 2>&1
# shellcheck disable=SC2094 # "report" is a word to trace-cmd
trace-cmd report >/out/report 2>/out/errors
