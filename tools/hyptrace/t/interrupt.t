#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# An interrupt, or a signal that ends the driver: nothing that it began goes on, no lock is
# held, the tree is whole.
# shellcheck disable=SC2016 # for the shell of a program
. "$(dirname "$0")/tap.sh"

repo=$tmp/repo
scratch_repo "$repo"
: >"$repo/tools/hyptrace/deps"
printf '#!/bin/sh\n' >"$repo/tools/hyptrace/deps"
chmod +x "$repo/tools/hyptrace/deps"

# program NAME: a script of the driver with the text on standard input.
program() {
	{
		printf '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n'
		cat
	} >"$repo/tools/hyptrace/$1"
	chmod +x "$repo/tools/hyptrace/$1"
}

# What runs of the scratch repository: it is in its environment.
running() {
	grep -lsxz "MARK=$tmp" /proc/[0-9]*/environ | while read -r file; do
		grep -qs '^State:.Z' "${file%environ}status" || echo "${file%/environ}"
	done
}

none_runs() {
	for pid in $(running); do
		tr '\0' ' ' <"$pid/cmdline"
		echo
	done | grep . || return 0
	return 1
}

# Poll: until_true COMMAND...
until_true() {
	for _ in $(seq "$(scaled 300)"); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "not in 30 s: $*"
	return 1
}

ready() {
	[ -e "$tmp/ready" ]
}

# interrupted SIGNAL COMMAND...: in a group of its own, whose processes get the signal, as
# from a terminal or from timeout. env has it that the interrupt is not ignored.
interrupted() {
	rm -f "$tmp/ready"
	signal=$1
	shift
	MARK=$tmp setsid env --default-signal=INT "$@" >"$tmp/out" 2>&1 &
	until_true ready || { cat "$tmp/out"; return 1; }
	kill -s "$signal" -- "-$!"
	until_true none_runs
}

lock_is_free() {
	flock -n "$repo/build/.lock-$1" true
}

program background <<END
lock things
work() {
	touch $tmp/ready
	sh -c 'sleep 1000; :'
}
result=\$(with_progress "\$BUILD/log" "a function, lines" work)
END

# Also the function that with_progress puts in the background of a command substitution
of_function() {
	interrupted "$1" "$repo/tools/hyptrace/background" && lock_is_free things
}

# A program of the driver, in the background, that takes its time to end
program cleans <<END
trap 'sleep 1; touch $tmp/cleaned-later' EXIT
sleep 1000 &
touch $tmp/ready
wait
END

program waits <<END
lock things
"\$TOOLS/cleans" &
wait
END

of_time_to_end() {
	rm -f "$tmp/cleaned-later"
	interrupted "$1" "$repo/tools/hyptrace/waits" && lock_is_free things && [ -e "$tmp/cleaned-later" ]
}

program tested <<END
lock others
trap 'touch $tmp/cleaned' EXIT
sh -c 'trap "" TERM; sleep 1000; :' &
timeout 1000 sh -c 'sleep 1000; :' &
touch $tmp/ready
wait
END

of_check() {
	{
		printf 'fast 9 beside %s\n' ./tools/hyptrace/tested
		seq 2 "$(nproc)" | sed 's/.*/fast 9 beside sleep 1000; :/'
		seq 8 | sed "s,.*,fast 1 beside touch $tmp/queued; sleep 1000,"
	} >"$repo/tools/hyptrace/tests"
	rm -f "$tmp/cleaned" "$tmp/queued"
	interrupted "$1" "$repo/tools/hyptrace/check" && lock_is_free others &&
		says "interrupted" "$tmp/out" && [ -e "$tmp/cleaned" ] && [ ! -e "$tmp/queued" ]
}

# event-kernel edits files of the tree while it builds.
FILES="arch/arm64/include/asm/kvm_hypevents.h arch/arm64/kvm/hyp/nvhe/trace_hcall.c"
lay_tree() {
	for file in $FILES; do
		mkdir -p "$repo/build/tree/${file%/*}"
		cp "$ROOT/$file" "$repo/build/tree/$file"
	done
	echo "HYP_EVENT()" >"$tmp/entry"
}

program kernel <<END
! cmp -s "\$BUILD/tree/${FILES%% *}" "$ROOT/${FILES%% *}" || exit
sleep 1000 &
touch $tmp/ready
wait
END

of_edited() {
	lay_tree
	interrupted "$1" "$repo/tools/hyptrace/event-kernel" "$tmp/entry" || return
	for file in $FILES; do
		cmp "$ROOT/$file" "$repo/build/tree/$file" || return
	done
	[ -z "$(find "$repo/build" -maxdepth 1 -name 'event-*')" ]
}

for signal in INT TERM; do
	ok "a function in the background ends with SIG$signal" of_function "$signal"
	ok "what ends with SIG$signal has time to clean up" of_time_to_end "$signal"
	ok "make check ends with SIG$signal, with its tests" of_check "$signal"
	ok "the tree is as it was after SIG$signal" of_edited "$signal"
done
plan
