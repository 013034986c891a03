#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# run.sh BUILD HYPSTAT TEST...: run tests, which print TAP, one after another, as one TAP stream
build=$1 hypstat=$2
shift 2
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
failed=0 n=0

echo "TAP version 13"
echo "1..$#"
for name; do
	n=$((n + 1))
	result=ok
	"$build/$name" "$work" "$hypstat" "$build/generate" >"$work/out" 2>"$work/err" </dev/null ||
		result="not ok"
	sed 's/^/    /' "$work/out"
	sed 's/^/    # /' "$work/err"
	[ "$result" = ok ] || failed=1
	echo "$result $n - $name"
done
exit $failed
