#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat in a user space of Debian's, which has libtraceevent's plugins, trace-cmd and
# linux-perf, of whichever release: perf loads nothing of that. Debian's perf reads what perf has
# recorded. Runs in a VM.
# shellcheck disable=SC2016 # programs of awk
. "${0%/*}/lib.sh"
root=/tmp/user
mkdir -p "$root" "/tmp/${0##*/}"
cd "/tmp/${0##*/}" || exit

unpacked() {
	tar -xf "$DIR/user.tar" -C "$root" && cp "$PERF" "$root/perf" || return
	mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/tmp"
	mount --bind /proc "$root/proc" && mount --bind /dev "$root/dev" &&
		mount --rbind /sys "$root/sys" || return
	printf 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$root/etc/passwd"
	echo 'passwd: compat' >"$root/etc/nsswitch.conf"
	set -- "$root"/usr/lib/*-linux-gnu/traceevent/plugins/plugin_*.so
	[ $# -gt 5 ] && [ -x "$root/usr/bin/trace-cmd" ] && [ -x "$root/usr/bin/perf" ]
}

# in_user PROGRAM [ARGUMENT]...: there, with what it says in the file said
in_user() {
	chroot "$root" "$@" >said 2>&1
	status=$?
	[ "$status" = 0 ] || echo "$1: status $status"
	[ "$status" = 0 ] || tail -n 20 said
	return "$status"
}

recorded() {
	guest some 3 vcpus=2 hvc=100 sysreg=50 || return
	in_user /perf kvm stat record -o /data -a /bin/busybox sh -c \
		': >/begun; until [ -e /over ]; do /bin/busybox sleep 0.05; done' &
	perf=$!
	until_done test -e "$root/begun"
	rounds 1 some
	: >"$root/over"
	wait $perf && end_guest some 3
}

# Debian 12's perf has no other report than text, and no option for that.
stdio_of() {
	chroot "$root" "$1" kvm stat report -h 2>&1 | grep -o -m 1 -- --stdio
}

# facts_of PERF: what that one reports there
facts_of() {
	# shellcheck disable=SC2046 # a word, or none
	in_user "$1" kvm -i /data stat report $(stdio_of "$1") && awk -f "$DIR/perf-kvm/facts.awk" said >facts &&
		holds "\$2 == \"$HYPERCALL\"" '$3 + $4 == 300'
}

# Whatever it does with a recording, Debian's does without a complaint.
debian_reads() {
	for command in "script -i /data" "report --stdio -I --header-only -i /data" \
		"inject -i /data -o /injected"; do
		# shellcheck disable=SC2086 # a list
		in_user /usr/bin/perf $command || return
		! grep -iE 'unknown feature|unsupported|invalid|incompatible|corrupt' said || return
	done
}

# A pipe ends with a number, too: that of the first feature that perf does not have.
piped() {
	in_user /bin/busybox sh -c '/perf kvm stat record -o - -a /bin/busybox true >/piped' || return
	in_user /usr/bin/perf report --stdio -i - <"$root/piped" && ! grep 'wrong feature' said
}

# perf loads no library to find a user, neither.
user() {
	in_user /perf record -q -u nobody -e dummy -o /user.data /bin/busybox true &&
		! grep 'Invalid User' said
}

# A perf before 6.3 reads no file of a later one, because attributes have grown since.
reads_files() {
	chroot "$root" /usr/bin/perf version |
		awk '{ split($3, v, "."); exit !(v[1] > 6 || (v[1] == 6 && v[2] >= 3)) }'
}

ok "Debian's user space, with plugins" unpacked
ok "perf records there" recorded
ok "perf reports there" facts_of /perf
ok "perf finds a user there" user
ok "Debian's perf reads it from a pipe" piped
if reads_files; then
	ok "Debian's perf reports the same recording" facts_of /usr/bin/perf
	ok "Debian's perf reads all of it" debian_reads
	ok "what Debian's perf has injected into, perf reports" \
		in_user /perf kvm -i /injected stat report --stdio
fi
plan
