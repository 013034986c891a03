#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# KVM's walks of a guest's tables, of arm64 and of x86, its reads of the frames of a stack, and
# which guests it refuses, in user space, under sanitizers, from build/tree. SEED=n chooses other random tables.
#
# MUTANTS=1	then each mistake of tools/hyptrace/guest-callchains/mutants, which they find
. "$(dirname "$0")/ktap.sh"

: "${SEED:=$$}" "${MUTANTS:=}"
need check
"$TOOLS/tree" >&2
from=$BUILD/tree/tools/testing/guest-walk
out=$BUILD/guest-walk

run() {
	echo "# test ${1##*/}"
	make -s -C "$1" check O="$out" SEED="$SEED" && echo "# status 0" || echo "# status 1"
}

# Not all of the load: a mistake is found early, or by the other tests.
found() {
	case $1 in
	arch/x86/*/guest_stack.c) dir=$from/x86-stack ;;
	arch/arm64/*/guest_stack.c) dir=$from/stack ;;
	arch/x86/*) dir=$from/x86 ;;
	virt/*) dir=$from/frame ;;
	*) dir=$from ;;
	esac
	sed "$2" "$ROOT/$1" >"$tmp/walk.c"
	! cmp -s "$ROOT/$1" "$tmp/walk.c" || {
		echo "$1 has no line for $2"
		return 1
	}
	! make -s -C "$dir" check O="$out/mutant" SEED="$SEED" LOAD=2 WALK="$tmp/walk.c" \
		>"$tmp/run" 2>&1 && grep -qE '^not ok|^Bail out|ERROR: |runtime error' "$tmp/run" && return
	tail -n 20 "$tmp/run"
	return 1
}

{ run "$from"; run "$from/x86"; run "$from/frame"; run "$from/stack"; run "$from/x86-stack"; } >"$tmp/ktap" 2>&1
results walk "$tmp/ktap"
if [ -n "$MUTANTS" ]; then
	grep -v '^#' "$TOOLS/guest-callchains/mutants" | sed 's/\t\t*/\t/g' >"$tmp/list"
	while IFS="$(printf '\t')" read -r file edit; do
		ok "found in $file: $edit" found "$file" "$edit" </dev/null
	done <"$tmp/list"
fi
plan
