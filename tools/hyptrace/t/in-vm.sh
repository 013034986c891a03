# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Results of a test that runs in a VM; sourced there.

tests=0

# ok NAME COMMAND...: a result, and what the command said if it is a failure
ok() {
	name=$1
	shift
	tests=$((tests + 1))
	if "$@" >said 2>&1; then
		echo "ok $tests - $name"
	else
		echo "not ok $tests - $name"
		tail -n 40 said | sed 's/^/# /'
	fi
}

plan() {
	echo "1..$tests"
}

# until_done COMMAND...: within a minute or so, on a machine as fast as most.
until_done() {
	tries=0
	until "$@"; do
		[ $((tries += 1)) -lt $((12 * ${HYP_TRACE_SCALE:-100})) ] || return 1
		sleep 0.05
	done
}

# Whether a process has ended
gone() {
	! [ -e "/proc/$1" ] || grep -q '^State:.*zombie' "/proc/$1/status"
}
