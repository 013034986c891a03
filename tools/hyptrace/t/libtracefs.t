#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A program of Debian 13's libtracefs, clients/libtracefs.c, uses the instance in a VM by each
# function that applies to it: its results as ours.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"

tmp=$(mktemp -d "$BUILD/test-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
count=0 failed=0

# The same packages as for clients/mapped.c
if ! suite=$("$TOOLS/suite" trixie libtracefs libtracefs-dev libtraceevent-dev 2>"$tmp/reason"); then
	echo "1..0 # SKIP $(grep -v '^hyptrace: ' "$tmp/reason" | head -n 1)"
	exit 0
fi

case $(uname -m) in
aarch64) CC=gcc ;;
*) CC=aarch64-linux-gnu-gcc ;;
esac

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

# The program is built with what the machine has, and runs with Debian 13's.
build() {
	lib=$suite/usr/lib/aarch64-linux-gnu
	mkdir -p "$tmp/files/usr/lib"
	cp -R "$suite/usr/lib/ld-linux-aarch64.so.1" "$lib" "$tmp/files/usr/lib"
	rm -rf "$tmp/files/usr/lib/aarch64-linux-gnu/gconv"
	"$CC" -O2 -Wall -Werror -D_GNU_SOURCE -I"$suite/usr/include/tracefs" \
		-I"$suite/usr/include/traceevent" -o "$tmp/files/libtracefs" \
		"$TOOLS/clients/libtracefs.c" "$lib/libtracefs.so.1" "$lib/libtraceevent.so.1" \
		-pthread -Wl,--allow-shlib-undefined
}

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

if build >"$tmp/built" 2>&1; then
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
