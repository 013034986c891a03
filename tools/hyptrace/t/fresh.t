#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What is committed, on Debian machines with nothing but make and git, RELEASE=bookworm or
# trixie: `make run' as root and as a user with sudo, and each step on a machine of its
# own, so that it must know its packages itself.
. "$(dirname "$0")/tap.sh"

: "${RELEASE:=trixie}" "${STEPS:=clean root user kernel rootfs vm series check tree}"
made=$BUILD/fresh/$RELEASE/build

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

# fresh USER COMMAND...: its output is in $tmp/out and $tmp/err, and shows progress.
fresh() {
	"$TOOLS/fresh" "$RELEASE" "$@" >"$tmp/out" 2>"$tmp/err" || {
		echo "exit status $?"
		tail -n 30 "$tmp/out" "$tmp/err"
		return 1
	}
}

# remove NAME...: of what the machines before have made under build/.
remove() {
	for path; do
		$sudo rm -rf "${made:?}/$path"
	done
}

clean() {
	$sudo rm -rf "$BUILD/fresh/$RELEASE"
}

make_run() {
	fresh "$1" make run && says "guest exits, as KVM counted" "$tmp/out" &&
		says "events lost: 0" "$tmp/out"
}

# The kernel is there; what builds it, and what links it, is not.
by_user() {
	remove kernel-default/scripts kernel-default/vmlinux rootfs.cpio suite-machine-rootfs
	make_run user
}

# After the others: a source that is unpacked anew has all of the kernel made anew.
tree() {
	remove tree pristine .tree-source .tree-laid dl
	fresh root tools/hyptrace/tree && [ -e "$made/tree/Kbuild" ]
}

# All of the programs that kbuild makes for itself, the key that it makes, and the link
kernel() {
	remove kernel-default/scripts kernel-default/certs kernel-default/vmlinux \
		kernel-default/arch/arm64/boot
	fresh root tools/hyptrace/kernel && [ -e "$made/kernel-default/arch/arm64/boot/Image" ] &&
		[ -x "$made/kernel-default/scripts/sign-file" ]
}

rootfs() {
	remove rootfs.cpio suite-machine-rootfs
	fresh root tools/hyptrace/rootfs && [ -s "$made/rootfs.cpio" ]
}

vm() {
	# shellcheck disable=SC2016 # for the shell inside
	fresh root sh -c 'echo "uname -m" >/tmp/script && tools/hyptrace/vm SCRIPT=/tmp/script' &&
		says aarch64 "$tmp/out"
}

series() {
	remove series
	fresh root tools/hyptrace/series && [ -s "$made/series/hyp-trace/0000-cover-letter.patch" ]
}

# Those tests of `make check' that need no kernel.
check() {
	fresh root make check SET=fast \
		TESTS="shellcheck check deps tree series trace brackets summary numbers writer" &&
		grep -qE '^[1-9][0-9]* passed, 0 failed' "$tmp/out"
}

for step in $STEPS; do
	start=$(date +%s)
	case $step in
	clean) clean ;;
	root) ok "$RELEASE: make run, as root" make_run root ;;
	user) ok "$RELEASE: make run, as a user with sudo" by_user ;;
	tree | kernel | rootfs | vm | series | check) ok "$RELEASE: $step alone" "$step" ;;
	*) die "no step $step" ;;
	esac
	echo "# $step: $(($(date +%s) - start)) s"
done
plan
