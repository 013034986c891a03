# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2154 # tmp and tests are of tap.sh
# Results of tests that run in a machine of their own
. "$(dirname "$0")/tap.sh"

# vm_script: what that machine runs, from stdin, to $tmp/script. `run PROGRAM [ARGUMENT]...` in it
# is one test.
vm_script() {
	cat <<-'END' >"$tmp/script"
		#!/bin/sh
		uptime() {
			cut -d . -f 1 /proc/uptime
		}
		run() {
			echo "# test ${1##*/}"
			begin=$(uptime)
			"$@" </dev/null
			status=$?
			echo "# ${1##*/} took $(($(uptime) - begin)) s"
			echo "# status $status"
		}
	END
	cat >>"$tmp/script"
}

# results FORM FILE: what the tests printed are results of this one.
results() {
	awk -v form="$1" -v first="$((tests + 1))" -f "$TOOLS/t/ktap.awk" "$2" >"$tmp/tap" ||
		failures=$((failures + 1))
	cat "$tmp/tap"
	tests=$((tests + $(grep -cE '^(not )?ok ' "$tmp/tap")))
}

# kunit_results FILE SOURCE...: the cases of KUnit in its output; and the sources have no others.
kunit_results() {
	file=$1
	shift
	awk -f "$TOOLS/t/kunit.awk" "$file" >"$tmp/cases"
	while read -r verdict name; do
		ok "KUnit: $name" kunit_passed "$verdict" "$name" "$file"
	done <"$tmp/cases"
	ok "KUnit: all cases ran" [ "$(wc -l <"$tmp/cases")" = "$(cat "$@" | grep -c KUNIT_CASE)" ]
}

# The verdict; if it is not ok, what was said before it.
kunit_passed() {
	[ "$1" = ok ] || {
		grep -B 20 "not ok [0-9]* $2" "$3"
		return 1
	}
}

# boot DIR [VARIABLE=value]...: $tmp/script in a VM; DIR has what it printed, said and ended with.
boot() {
	dir=$1
	shift
	mkdir -p "$dir"
	"$TOOLS/vm" SCRIPT="$tmp/script" "$@" >"$dir/ktap" 2>"$dir/err" </dev/null &&
		echo 0 >"$dir/status" || echo $? >"$dir/status"
}

# report FORM DIR: what boot left there
report() {
	results "$1" "$2/ktap"
	ok "$1: the machine ends well" [ "$(cat "$2/status")" = 0 ]
	# Behind the line that it is the reason of
	sed 's/^/# /' "$2/err"
}

# vm FORM [VARIABLE=value]...: boot and report
vm() {
	form=$1
	shift
	boot "$tmp/vm" FILES="$tmp/files" "$@"
	report "$form" "$tmp/vm"
}
