#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A mistake of one line in the product does not go unnoticed: each of tools/hyptrace/mutants is
# made, and the test that is named there fails.
#
# MUTANTS="reset time"	these alone
# KIND=user|kernel	those that a test in user space finds, or one in the VM
. "$(dirname "$0")/tap.sh"

: "${MUTANTS:=}" "${KIND:=}"
need check
"$TOOLS/tree" >&2
lock tree
objects=$BUILD/mutants
out=$BUILD/kernel-mutant
edited=

# The tree is put back, and what was made of the file is made anew; see event-kernel.
put_back() {
	[ -n "$edited" ] || return 0
	cp -p "$tmp/original" "$BUILD/tree/$edited"
	rm -f "$out/${edited%.c}.o" "$out/${edited%.c}.nvhe.o"
	edited=
}

trap 'put_back; rm -rf "$tmp" "$out"' EXIT

mutate() {
	sed "$2" "$ROOT/$1" >"$tmp/${1##*/}"
	[ "$(diff "$ROOT/$1" "$tmp/${1##*/}" | grep -c '^>')" = 1 ] || {
		echo "$1 does not have one line for $2"
		return 1
	}
}

# fails RESULT COMMAND...: it does, by a test's result that is so called.
fails() {
	result=$1
	shift
	! "$@" >"$tmp/run" 2>&1 && grep -q "^ *not ok .*$result" "$tmp/run" && return
	tail -n 20 "$tmp/run"
	return 1
}

# The variable of tools/testing/hyptrace/Makefile that names the file
variable() {
	case $1 in
	*/trace_ring.c) echo RING ;;
	*/filter.c) echo FILTER ;;
	*/printk.c) echo PRINTK ;;
	esac
}

user_fails() {
	from=$BUILD/tree/tools/testing/hyptrace
	exits 0 make -s -C "$from" O="$objects" PROGRAMS="$objects/$2" \
		"$(variable "$1")=$tmp/${1##*/}" all || return
	fails "" "$objects/$2"
}

kernel_fails() {
	cp -p "$BUILD/tree/$1" "$tmp/original"
	edited=$1
	cp "$tmp/${1##*/}" "$BUILD/tree/$1"
	exits 0 "$TOOLS/kernel" CONFIG=mutant TARGETS=Image &&
		fails ": $2: " env TIMEOUT=200 CONFIG=mutant FORM="protected max 2" KSELFTESTS="$2" "$TOOLS/t/forms.t"
	got=$?
	put_back
	return "$got"
}

# found FILE EDIT TEST
found() {
	mutate "$1" "$2" || return
	case $3 in
	*/*) user_fails "$1" "$3" ;;
	*) kernel_fails "$1" "$3" ;;
	esac
}

kind_of() {
	case $1 in
	*/*) echo user ;;
	*) echo kernel ;;
	esac
}

rm -rf "$out"
grep -v '^#' "$TOOLS/mutants" | sed 's/\t\t*/\t/g' >"$tmp/list"
while IFS="$(printf '\t')" read -r mutant file edit test; do
	case " ${MUTANTS:-$mutant} " in
	*" $mutant "*) ;;
	*) continue ;;
	esac
	[ "${KIND:-$(kind_of "$test")}" = "$(kind_of "$test")" ] || continue
	ok "$test finds $mutant in $file" found "$file" "$edit" "$test" </dev/null
done <"$tmp/list"
plan
