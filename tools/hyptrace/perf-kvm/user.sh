#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat in a user space of Debian's, which has libtraceevent's plugins, trace-cmd and
# linux-perf, of whichever release; and what that perf makes of the recording. Runs in a VM.
. "${0%/*}/lib.sh"
root=/tmp/user

# in_user NAME PROGRAM [ARGUMENT]...: what it says there
in_user() {
	name=$1
	shift
	said "$name" chroot "$root" "$@"
}

mkdir "$root"
tar -xf /test/user.tar -C "$root"
cp /test/perf "$root/perf"
mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/tmp"
mount --bind /proc "$root/proc"
mount --bind /dev "$root/dev"
mount --rbind /sys "$root/sys"
printf 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$root/etc/passwd"
echo 'passwd: compat' >"$root/etc/nsswitch.conf"

guest some vcpus=2 hvc=100 sysreg=50
in_user recorded /perf kvm stat record -o /data -a /bin/busybox sh -c \
	': >/begun; until [ -e /over ]; do /bin/busybox sleep 0.05; done' &
perf=$!
until_done test -e "$root/begun"
rounds some
: >"$root/over"
wait $perf
end some

in_user report /perf kvm -i /data stat report --stdio
# perf loads no library to find a user, neither.
in_user user /perf record -q -u nobody -e dummy -o /user.data /bin/busybox true
# A pipe ends with a number, too: that of the first feature that perf does not have.
in_user piped /bin/busybox sh -c '/perf kvm stat record -o - -a /bin/busybox true >/piped'
in_user debian-piped /usr/bin/perf report --stdio -i - <"$root/piped"
in_user version /usr/bin/perf version
# Debian 12's perf has no other report than text, and no option for that.
stdio=$(chroot "$root" /usr/bin/perf kvm stat report -h 2>&1 | grep -o -m 1 -- --stdio) || :
# shellcheck disable=SC2086 # a word, or none
in_user debian-report /usr/bin/perf kvm -i /data stat report $stdio
in_user debian-script /usr/bin/perf script -i /data
in_user debian-header /usr/bin/perf report --stdio -I --header-only -i /data
in_user debian-inject /usr/bin/perf inject -i /data -o /injected
in_user injected /perf kvm -i /injected stat report --stdio
finished
