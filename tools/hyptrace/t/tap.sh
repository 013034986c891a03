# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# TAP for the driver's tests
. "$(dirname "$0")/../lib.sh"

tmp=$(mktemp -d "$BUILD/test-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
tests=0 failures=0

# ok NAME COMMAND...: the command succeeds.
ok() {
	name=$1
	shift
	tests=$((tests + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $tests - $name"
	else
		echo "not ok $tests - $name"
		tail -n 30 "$tmp/said" | sed 's/^/# /'
		failures=$((failures + 1))
	fi
}

skip() {
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

# equals TEXT EXPECTED
equals() {
	[ "$1" = "$2" ] || {
		echo "found '$1', not '$2'"
		return 1
	}
}

# exits STATUS COMMAND...; what it said is in $tmp/out and $tmp/err.
exits() {
	want=$1 got=0
	shift
	"$@" >"$tmp/out" 2>"$tmp/err" || got=$?
	[ "$got" = "$want" ] || {
		echo "exit status $got, not $want"
		tail -n 20 "$tmp/out" "$tmp/err"
		return 1
	}
}

# The last command's error output, or another file, has the text.
says() {
	grep -qF -- "$1" "${2:-$tmp/err}" || {
		echo "no \"$1\" in:"
		cat "${2:-$tmp/err}"
		return 1
	}
}

one_line() {
	[ "$(grep -cv '^hyptrace: ' "$tmp/err")" = 1 ] || {
		cat "$tmp/err"
		return 1
	}
}

# A repository to play with: the driver's scripts, and nothing else yet.
scratch_repo() {
	mkdir -p "$1/tools" "$1/patches" "$1/build"
	cp -R "$TOOLS" "$1/tools/hyptrace"
}

# mini_topic REPO TOPIC PATCH...: a topic with a cover letter and that series.
mini_topic() {
	topic=$2 dir=$1/patches/$2
	mkdir -p "$dir"
	echo "$topic" >>"$1/patches/topics"
	printf 'The subject of %s\n\nThe text.\n' "$topic" >"$dir/cover-letter"
	shift 2
	printf '%s\n' "$@" >"$dir/series"
}

plan() {
	echo "1..$tests"
	[ "$failures" = 0 ]
}

# A source small enough to unpack in no time, as mini.tar.xz in a directory:
# mini_source DIRECTORY [VERSION]
mini_source() {
	mkdir -p "$1/linux-6.12.0/dir"
	printf 'kernelversion:\n\t@echo %s\n' "${2:-6.12.999}" >"$1/linux-6.12.0/Makefile"
	: >"$1/linux-6.12.0/Kbuild"
	seq 100 >"$1/linux-6.12.0/dir/numbers"
	echo text >"$1/linux-6.12.0/dir/other"
	tar -C "$1" -cJf "$1/mini.tar.xz" linux-6.12.0
}

# A mail that changes line $2 of dir/numbers to $3: mini_patch FILE LINE TEXT.
mini_patch() {
	cat <<-END >"$1"
		From: hyptrace <hyptrace@localhost>
		Date: Mon, 1 Jan 2024 00:00:00 +0000
		Subject: [PATCH] numbers: line $2 is $3

		It was not.

		Signed-off-by: hyptrace <hyptrace@localhost>
		---
		 dir/numbers | 2 +-

		diff --git a/dir/numbers b/dir/numbers
		--- a/dir/numbers
		+++ b/dir/numbers
		@@ -$(($2 - 3)),7 +$(($2 - 3)),7 @@
		 $(($2 - 3))
		 $(($2 - 2))
		 $(($2 - 1))
		-$2
		+$3
		 $(($2 + 1))
		 $(($2 + 2))
		 $(($2 + 3))
		--
		2.0

	END
}
