# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Wait with a deadline, for tests that run several programs at once.

# until_true SECONDS COMMAND...: wait for it to be so.
until_true() {
	tries=$(($1 * 20))
	shift
	while ! "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}
