#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The shell sessions in the user's guide and in the README: run in a VM, each command prints
# what the document shows, numbers aside. A session after a comment `.. boot: PARAMETERS'
# runs in a VM of its own.
#
# SECONDS_OF_TIMEOUT=n   how long a command under `timeout' runs (3)
. "$(dirname "$0")/tap.sh"

: "${SECONDS_OF_TIMEOUT:=3}"
DIED=125

# extract NAME DOCUMENT
extract() {
	mkdir -p "$tmp/$1" "$tmp/$1.out"
	awk -v dir="$tmp/$1" -f "$TOOLS/docs.d/sessions.awk" "$2"
	[ -e "$tmp/$1/01.session" ]
}

# in_vm NAME KEEP SESSION...
in_vm() {
	document=$1 keep=$2
	shift 2
	rm -rf "$tmp/files"
	mkdir "$tmp/files"
	cp -R "$BUILD/selftest/hyp-trace" "$tmp/files"
	printf 'TIMEOUT=%s KEEP=%s\n' "$SECONDS_OF_TIMEOUT" "$keep" >"$tmp/files/session.env"
	for session; do
		cp "$tmp/$document/$session.session" "$tmp/files"
	done
	"$TOOLS/vm" SCRIPT="$TOOLS/docs.d/run" FILES="$tmp/files" OUT="$tmp/$document.out" \
		CMDLINE="$cmdline" CONSOLE="$tmp/console" TIMEOUT=240
}

sessions() {
	for session in "$tmp/$1"/*.session; do
		session=${session##*/}
		echo "${session%.session}"
	done
}

run_together() {
	cmdline=
	# shellcheck disable=SC2046 # a list
	in_vm "$1" "" $(for session in $(sessions "$1"); do
		[ -e "$tmp/$1/$session.boot" ] || echo "$session"
	done)
}

# With what was asked for at boot; a session may end in a crash.
run_booted() {
	cmdline=$(cat "$tmp/$1/$2.boot")
	in_vm "$1" 1 "$2" >"$tmp/printed" && rc=0 || rc=$?
	cat "$tmp/printed" "$tmp/console" >"$tmp/$1.out/$2.out"
	[ "$rc" = 0 ] || [ "$rc" = "$DIED" ]
}

# What commands print, without numbers, and white space that depends on them.
printed() {
	tr -d '\r' <"$1" | sed -E '
		/^# (tracer: |entries-)/!{ /^# [a-z]|^> |^(\.\.\.)?$/d; }
		s/0x[0-9a-f]+/N/g; s/[0-9]+/N/g; s/[ \t]+/ /g; s/^ //'
}

# Each line that the document shows is printed, and no error that it does not show.
as_shown() {
	printed "$tmp/$1/$2.session" >"$tmp/shown"
	printed "$tmp/$1.out/$2.out" >"$tmp/seen"
	! grep -vxF -f "$tmp/seen" "$tmp/shown" &&
		! grep -vxF -f "$tmp/shown" "$tmp/seen" | grep -E '^[a-z]+: ' &&
		{ [ -s "$tmp/shown" ] || [ ! -s "$tmp/seen" ]; }
}

# test_document NAME DOCUMENT
test_document() {
	ok "${2#"$ROOT/"} has sessions" extract "$1" "$2"
	ok "... which run" run_together "$1"
	for session in $(sessions "$1"); do
		title=$(grep -m 1 -vE '^# (cd|echo [01] > tracing_on$)' "$tmp/$1/$session.session")
		[ ! -e "$tmp/$1/$session.boot" ] ||
			ok "... with $(cat "$tmp/$1/$session.boot")" run_booted "$1" "$session"
		ok "... prints what is shown: ${title#??}" as_shown "$1" "$session"
	done
}

"$TOOLS/tree" >&2
"$TOOLS/selftest"
test_document guide "$ROOT/Documentation/trace/hypervisor-tracing.rst"
test_document readme "$ROOT/README.md"
plan
