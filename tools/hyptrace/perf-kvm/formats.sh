#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Leave the format of each event in /out/formats, without its number. Runs in a VM.
. "${0%/*}/lib.sh"
cd /tmp || exit

formats() {
	for file in /sys/kernel/tracing/events/*/*/format; do
		event=${file#/sys/kernel/tracing/events/}
		event=${event%/format}
		mkdir -p "/out/formats/${event%/*}"
		grep -v '^ID: ' "$file" >"/out/formats/$event" || return
	done
}

ok "formats of the events" formats
plan
