# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Programs of Debian 13's libtracefs for the VM; sourced after lib.sh, with $tmp set. The test
# is skipped where the library can't be had.

# shellcheck disable=SC2154 # the test's
if ! suite=$("$TOOLS/suite" trixie libtracefs libtracefs-dev libtraceevent-dev 2>"$tmp/reason"); then
	echo "1..0 # SKIP $(grep -v '^hyptrace: ' "$tmp/reason" | head -n 1)"
	exit 0
fi

case $(uname -m) in
aarch64) CC=gcc ;;
*) CC=aarch64-linux-gnu-gcc ;;
esac

# libtracefs_program NAME DIR: clients/NAME.c becomes DIR/NAME, beside usr/ with the libraries
# that it runs with. It is built with what the machine has.
libtracefs_program() {
	lib=$suite/usr/lib/aarch64-linux-gnu
	mkdir -p "$2/usr/lib"
	cp -R "$suite/usr/lib/ld-linux-aarch64.so.1" "$lib" "$2/usr/lib"
	rm -rf "$2/usr/lib/aarch64-linux-gnu/gconv"
	"$CC" -O2 -Wall -Werror -D_GNU_SOURCE -I"$suite/usr/include/tracefs" \
		-I"$suite/usr/include/traceevent" -o "$2/$1" "$TOOLS/clients/$1.c" \
		"$lib/libtracefs.so.1" "$lib/libtraceevent.so.1" -pthread -Wl,--allow-shlib-undefined
}
