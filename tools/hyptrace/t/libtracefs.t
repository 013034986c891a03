#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A program of Debian 13's libtracefs, clients/libtracefs.c, uses the instance in a VM by each
# function that applies to it: its results as ours.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"

tmp=$(mktemp -d "$BUILD/test-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
count=0 failed=0

# shellcheck source=tools/hyptrace/t/libtracefs.sh
. "$TOOLS/t/libtracefs.sh"

# A form a line: KVM's mode, the CPU.
forms() {
	echo protected max
	echo nvhe cortex-a72
}

cat >"$tmp/script" <<'END'
#!/bin/sh
cp -R usr /
echo "# test libtracefs"
./libtracefs </dev/null
echo "# status $?"
END

# result VERDICT NAME
result() {
	count=$((count + 1))
	echo "$1 $count - $2"
}

# boot MODE CPU
boot() {
	"$TOOLS/vm" "MODE=$1" "CPU=$2" SMP=2 SCRIPT="$tmp/script" FILES="$tmp/files" TIMEOUT=120 \
		>"$tmp/ktap" 2>"$tmp/err" && rc=0 || rc=$?
	sed 's/^/# /' "$tmp/err"
	awk -v form="$1 $2" -v first="$((count + 1))" -f "$TOOLS/t/ktap.awk" "$tmp/ktap" \
		>"$tmp/tap" || failed=1
	cat "$tmp/tap"
	count=$((count + $(grep -cE '^(not )?ok ' "$tmp/tap")))
	if [ "$rc" = 0 ]; then
		result ok "$1 $2: the VM ends well"
	else
		result "not ok" "$1 $2: the VM ends with status $rc"
		failed=1
	fi
}

if libtracefs_program libtracefs "$tmp/files" >"$tmp/built" 2>&1; then
	result ok "a program of libtracefs"
else
	sed 's/^/# /' "$tmp/built"
	result "not ok" "a program of libtracefs"
	echo "1..$count"
	exit 1
fi
forms >"$tmp/forms"
while read -r mode cpu; do
	boot "$mode" "$cpu" </dev/null
done <"$tmp/forms"
echo "1..$count"
exit "$failed"
