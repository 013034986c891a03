#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel without remote tracing pays nothing for it: the objects of kernel/trace and of
# tracefs are no larger than those of the source without the topic hyp-trace. What does not depend on
# words of 64 bits builds on a machine of 32. Both are looked at with one such kernel.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"
. "$TOOLS/kbuild.sh"

need kernel
PARTS="kernel/trace/ fs/tracefs/"

if ! gcc -m32 -x c -c -o "$tmp/probe.o" /dev/null 2>/dev/null; then
	skip "objects no larger than without the series" "no compiler for i386"
	plan
	exit
fi

cat >"$tmp/config" <<-'END'
	CONFIG_64BIT=n
	CONFIG_EXPERT=y
	CONFIG_SMP=y
	CONFIG_PRINTK=y
	CONFIG_BUG=y
	CONFIG_MODULES=y
	CONFIG_PERF_EVENTS=y
	CONFIG_FTRACE=y
	CONFIG_FUNCTION_TRACER=y
	CONFIG_FTRACE_SYSCALLS=y
	CONFIG_TRACER_SNAPSHOT=y
END

kbuild() {
	source_make i386 -s -j"$(nproc)" -C "$@"
}

# objects TREE DIRECTORY: build them there.
# shellcheck disable=SC2086 # a list
objects() {
	kbuild "$1" "O=$2" KCONFIG_ALLCONFIG="$tmp/config" allnoconfig &&
		grep -x CONFIG_FTRACE_SYSCALLS=y "$2/.config" &&
		! grep -E 'CONFIG_(RING_BUFFER_READER|TRACE_REMOTE_EVENTS|TRACE_DUMPERS)=y' "$2/.config" &&
		kbuild "$1" "O=$2" prepare &&
		kbuild "$1" "O=$2" $PARTS
}

# The source with the topic hyp-trace alone
hyp_trace_alone() {
	"$TOOLS/series" TOPIC=hyp-trace OUT="$tmp/mails" && cp -al "$tmp/plain" "$tmp/tree" || return
	find "$tmp/mails" -name '[0-9]*.patch' ! -name '0000-*' | LC_ALL=C sort >"$tmp/mail-list"
	while read -r mail; do
		patch -d "$tmp/tree" -p1 -s -F0 --no-backup-if-mismatch <"$mail" || return
	done <"$tmp/mail-list"
}

sizes() {
	(cd "$1" && find kernel/trace fs/tracefs -name '*.o' ! -name built-in.a | LC_ALL=C sort |
		xargs size | awk '{ print $1, $2, $3, $6 }')
}

no_larger() {
	sizes "$tmp/without" >"$tmp/was"
	sizes "$tmp/with" >"$tmp/is"
	awk '
		FNR == NR { text[$4] = $1; data[$4] = $2; bss[$4] = $3; next }
		{ seen++ }
		!($4 in text) || $1 > text[$4] || $2 > data[$4] || $3 > bss[$4] {
			print "was", text[$4], data[$4], bss[$4] ", is", $0
			larger++
		}
		END { exit larger || seen < 10 }' "$tmp/was" "$tmp/is"
}

# Nothing selects them there: as if something did.
remote_events() {
	kbuild "$tmp/tree" "O=$tmp/with" \
		KCFLAGS="-DCONFIG_TRACE_REMOTE_EVENTS=1 -DCONFIG_TRACE_DUMPERS=1 -Werror" \
		kernel/trace/trace.o kernel/trace/trace_events.o \
		kernel/trace/trace_events_filter.o kernel/trace/trace_dumper.o fs/tracefs/inode.o &&
		nm "$tmp/with/kernel/trace/trace_events.o" | grep trace_add_remote_event
}

ok "the source without the series" plain_tree "$tmp/plain"
ok "its objects build for 32 bits" objects "$tmp/plain" "$tmp/without"
ok "the source with hyp-trace alone" hyp_trace_alone
ok "with the series, they do" objects "$tmp/tree" "$tmp/with"
ok "none is larger than without it" no_larger
ok "remote events and dumpers build for 32 bits" remote_events
plan
