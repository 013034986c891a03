#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace-cmd of each release of Debian that has one able to, in a VM: the results of
# clients/trace-cmd.sh as ours. If a release can't be had, it is skipped.
#
# FORM="trixie protected max"	that one alone
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"

tmp=$(mktemp -d "$BUILD/test-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
count=0 failed=0

# A form a line: the release, KVM's mode, the CPU.
forms() {
	echo bookworm protected max
	echo trixie protected max
	echo trixie nvhe cortex-a72
}

cat >"$tmp/script" <<'END'
#!/bin/sh
cp -R usr /
echo "# test trace-cmd.sh"
hyp-trace/trace-cmd.sh </dev/null
echo "# status $?"
END

# result VERDICT NAME
result() {
	count=$((count + 1))
	echo "$1 $count - $2"
}

# boot DIR SUITE MODE CPU
boot() {
	"$TOOLS/vm" "MODE=$3" "CPU=$4" SMP=2 SCRIPT="$tmp/script" FILES="$1/files" TIMEOUT=300 \
		>"$1/ktap" 2>"$1/err" && rc=0 || rc=$?
	awk -v form="$2, $3 $4" -v first="$((count + 1))" -f "$TOOLS/t/ktap.awk" "$1/ktap" \
		>"$1/tap" || failed=1
	cat "$1/tap"
	count=$((count + $(grep -cE '^(not )?ok ' "$1/tap")))
	if [ "$rc" = 0 ]; then
		result ok "$2, $3 $4: the VM ends well"
	else
		result "not ok" "$2, $3 $4: the VM ends with status $rc"
		failed=1
	fi
	sed 's/^/# /' "$1/err"
}

forms | grep -wF "${FORM:-}" >"$tmp/forms" || {
	echo "Bail out! no such form: $FORM"
	exit 1
}
while read -r suite mode cpu; do
	dir=$tmp/$suite-$mode
	mkdir "$dir"
	if "$TOOLS/clients/trace-cmd-files" "$suite" "$dir/files" 2>"$dir/err" </dev/null; then
		boot "$dir" "$suite" "$mode" "$cpu" </dev/null
	else
		result ok "trace-cmd of $suite # SKIP $(grep -v '^hyptrace: ' "$dir/err" | head -n 1)"
	fi
done <"$tmp/forms"
echo "1..$count"
exit "$failed"
