# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Wait with a deadline, for tests that run several programs at once.

# Seconds on this machine: HYP_TRACE_SCALE is by how much it is slower than most, in percent.
scaled() {
	echo $(($1 * ${HYP_TRACE_SCALE:-100} / 100))
}

# until_true SECONDS COMMAND...: wait for it to be so.
until_true() {
	tries=$(($(scaled "$1") * 20))
	shift
	while ! "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}
