#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh <seed, may be empty> <program>... - run test programs, each a subtest.

set -u

seed=$1
shift
failed=0
number=0

# The thread sanitizer of older compilers can't place its shadow when addresses
# are randomised widely.
fixed=
if setarch -R true 2>/dev/null; then
	fixed='setarch -R'
fi

# One report of a sanitizer is enough.
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"

run()
{
	case $1 in
	*/thread-*) $fixed "$1" ${seed:+"$seed"} ;;
	*) "$1" ${seed:+"$seed"} ;;
	esac
}

# Run a program, its output indented, with its exit status.
subtest()
{
	{ run "$1" 2>&1; echo "status $?"; } | {
		status=1
		while IFS= read -r line; do
			case $line in
			"status "*) status=${line#status } ;;
			*) printf '    %s\n' "$line" ;;
			esac
		done
		exit "$status"
	}
}

echo "TAP version 13"
echo "1..$#"
for program; do
	number=$((number + 1))
	name=$(basename "$(dirname "$program")") # the variant
	name="$name $(basename "$program")"
	echo "# Subtest: $name"
	if subtest "$program"; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		failed=$((failed + 1))
	fi
done

echo "# $((number - failed)) programs passed, $failed failed"
[ "$failed" -eq 0 ]
