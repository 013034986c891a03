#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kselftest in each form that KVM takes, and on one, two and four CPUs: the
# results of its tests as ours. CONFIG=debug boots the debug kernel.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"

tmp=$(mktemp -d "$BUILD/test-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
count=0 failed=0

# What runs in the VM: the tests that the form names, each with its status.
cat >"$tmp/script" <<'END'
#!/bin/sh
. ./form
for test in $tests; do
	echo "# test $test"
	"hyp-trace/$test" </dev/null
	echo "# status $?"
done
END

# Without a hypervisor at EL2 beside the host there is one thing to test.
tests_for() {
	case $1 in
	vhe | none) echo mode.sh ;;
	*) xargs <"$BUILD/selftest/tests" ;;
	esac
}

# boot MODE CPU SMP: the KTAP goes to $tmp/ktap.
boot() {
	rm -rf "$tmp/files"
	cp -R "$BUILD/selftest" "$tmp/files"
	echo "export KVM_MODE=$1 tests='$(tests_for "$1")'" >"$tmp/files/form"
	"$TOOLS/vm" "MODE=$1" "CPU=$2" "SMP=$3" SCRIPT="$tmp/script" FILES="$tmp/files" \
		>"$tmp/ktap" 2>"$tmp/err" && rc=0 || rc=$?
	sed 's/^/# /' "$tmp/err"
}

form() {
	name="$1 $2, $3 CPU$([ "$3" = 1 ] || echo s)"
	boot "$@"
	awk -v form="$name" -v first="$((count + 1))" -f "$TOOLS/t/ktap.awk" "$tmp/ktap" \
		>"$tmp/tap" || failed=1
	cat "$tmp/tap"
	count=$((count + 1 + $(grep -cE '^(not )?ok ' "$tmp/tap")))
	if [ "$rc" = 0 ]; then
		echo "ok $count - $name: the VM ends well"
	else
		echo "not ok $count - $name: the VM ends with status $rc"
		failed=1
	fi
}

"$TOOLS/selftest"
export TIMEOUT="${TIMEOUT:-600}"
form protected max 2
form protected cortex-a72 4
form nvhe max 1
form nvhe cortex-a72 2
form vhe max 2
form none max 1
echo "1..$count"
exit "$failed"
