#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# KVM's own selftests of this kernel pass the same with every event of the hypervisor on,
# and each of these traces adds up.
#
# FORMS="protected,max nvhe,max"    KVM's modes and CPUs; `all': each
# ALL=1                             those that take long, too
# TESTS="hypercalls psci_test"      these alone
. "$(dirname "$0")/tap.sh"

: "${FORMS:=protected,max}" "${ALL:=}" "${TESTS:=}"
assign "FORMS ALL TESTS" "$@"
[ "$FORMS" != all ] || FORMS="protected,max protected,cortex-a72 nvhe,max"
limit=120
[ -z "$ALL" ] || limit=600

chosen() {
	if [ -n "$TESTS" ]; then
		echo "$TESTS" | xargs -n 1
	else
		sed 's/#.*//' "$TOOLS/guests/kvm-selftests.list" |
			awk -v all="$ALL" '$2 == "short" || ($2 == "long" && all) { print $1 }'
	fi
}

# What the script has in the VM.
lay_out() {
	mkdir "$tmp/files"
	cp -R "$BUILD/selftest/." "$tmp/files"
	chosen >"$tmp/files/tests"
	cp -R "$BUILD/kvm-selftests" "$tmp/files/kvm"
	cp "$TOOLS/guests/traced.sh" "$tmp/files"
	echo "$limit" >"$tmp/files/limit"
}

# boot MODE CPU: what is left of the tests goes to $out.
boot() {
	"$TOOLS/vm" "MODE=$1" "CPU=$2" SMP=2 MEM=4G SCRIPT="$TOOLS/guests/kvm-selftests.sh" \
		FILES="$tmp/files" OUT="$out" \
		TIMEOUT=$((120 + ($(wc -l <"$tmp/files/tests") * (ALL ? limit : 60))))
}

# tap FILE: the results, if it tells them, and nothing of times.
tap() {
	grep -E '^(ok|not ok|Bail out|[0-9]+\.\.)' "$1" || :
}

# same NAME: it passes without tracing, and then with.
same() {
	echo "off 0" >"$tmp/expected"
	echo "on 0" >>"$tmp/expected"
	diff "$tmp/expected" "$out/$1.status" || { tail -n 20 "$out/$1.off" "$out/$1.on"; return 1; }
	tap "$out/$1.off" >"$tmp/off"
	tap "$out/$1.on" | diff "$tmp/off" -
}

"$TOOLS/selftest"
"$TOOLS/guests/kvm-selftests"
lay_out
for form in $FORMS; do
	mode=${form%%,*} cpu=${form#*,}
	out=$tmp/$mode-$cpu
	ok "$mode $cpu: the VM ends well" boot "$mode" "$cpu"
	while read -r test; do
		ok "$mode $cpu: $test passes, and the same with all traced" same "$test"
		ok "$mode $cpu: $test: the trace adds up" "$TOOLS/guests/adds-up" "$out/$test"
	done <"$tmp/files/tests"
done
plan
