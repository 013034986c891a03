#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Faultable tracepoints: the kselftest and the KUnit suite in the VM, their results as ours.
# CONFIG=debug boots the debug kernel, CONFIG=kcsan the one that looks for data races.
#
# TESTS=".."	those of the kselftest alone
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"

: "${CONFIG:=default}" "${TESTS:=}"
export CONFIG TIMEOUT="${TIMEOUT:-900}"
tmp=$(mktemp -d "$BUILD/test-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
SUITE=faultable-tracepoints
selftest=$BUILD/selftest-$SUITE

cat >"$tmp/script" <<'END'
#!/bin/sh
uptime() {
	cut -d . -f 1 /proc/uptime
}
run() {
	echo "# test $1"
	begin=$(uptime)
	"$@" </dev/null
	status=$?
	echo "# $1 took $(($(uptime) - begin)) s"
	echo "# status $status"
}
kunit() {
	sed -n 's/^    //p' /sys/kernel/debug/kunit/tracepoint/results
}
run kunit
for test in $(cat tests); do
	run "faultable-tracepoints/$test"
done
END

SUITE=$SUITE "$TOOLS/selftest"
cp -R "$selftest" "$tmp/files"
# shellcheck disable=SC2086 # a list
[ -z "$TESTS" ] || printf '%s\n' $TESTS >"$tmp/files/tests"
status=0
"$TOOLS/vm" MODE=none SMP=2 CMDLINE=kunit.enable=1 SCRIPT="$tmp/script" FILES="$tmp/files" \
	>"$tmp/ktap" 2>"$tmp/err" </dev/null || status=$?
sed 's/^/# /' "$tmp/err"
failed=0
awk -v form="$CONFIG" -v first=1 -f "$TOOLS/t/ktap.awk" "$tmp/ktap" >"$tmp/tap" || failed=1
cat "$tmp/tap"
count=$(($(grep -cE '^(not )?ok ' "$tmp/tap") + 1))
if [ "$status" = 0 ]; then
	echo "ok $count - the VM ends well"
else
	echo "not ok $count - the VM ends with status $status"
	failed=1
fi
echo "1..$count"
exit "$failed"
