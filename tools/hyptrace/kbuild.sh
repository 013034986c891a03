# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Shared by the scripts that build from a kernel source; sourced after lib.sh.

# ccache finds an object again only if the time stamp, user and host of the build are the same.
# The environment may set others.
export KBUILD_BUILD_TIMESTAMP="${KBUILD_BUILD_TIMESTAMP:-Wed Jan  1 00:00:00 UTC 2025}"
export KBUILD_BUILD_USER="${KBUILD_BUILD_USER:-hyptrace}"
export KBUILD_BUILD_HOST="${KBUILD_BUILD_HOST:-localhost}"
export KBUILD_BUILD_VERSION="${KBUILD_BUILD_VERSION:-1}"

# source_make ARCH ARGUMENT...: run make for ARCH. The makefiles would read the driver's variables
# as their own, so make does not get them.
source_make() (
	for_arch=$1
	shift
	unset ARCH CONFIG TARGETS SCRIPT FILES OUT CONSOLE MODE CPU SMP MEM IMAGE DEBUG CMDLINE TREE \
		TOPIC OPTIONS FLAVOUR LSMOD FOR KERNEL TIMEOUT
	exec make "ARCH=$for_arch" "CROSS_COMPILE=$(cross_for "$for_arch")" "$@"
)

# logged_build LOG WHAT COMMAND...: run the command and show its progress. If it fails, show the
# errors and exit.
logged_build() {
	with_progress "$@" || {
		grep -E -A 5 'error:|Error [0-9]|undefined|\*\*\*' "$1" | head -n 30 >&2
		die "the build failed: see ${1#"$ROOT/"}"
	}
}

# not_in_config FRAGMENT FILE: print the options that the fragment sets and the .config lacks or sets
# otherwise. The options in $UNKNOWN_OK are left out.
not_in_config() {
	sed -n 's/^# \(CONFIG_[A-Z0-9_a-z]*\) is not set$/\1=n/p; /^CONFIG_/p' "$1" |
		while IFS= read -r wanted; do
			name=${wanted%%=*}
			case " ${UNKNOWN_OK:-} " in
			*" ${name#CONFIG_} "* | *" $name "*) continue ;;
			esac
			got=$(grep "^$name=" "$2") || got=$name=n
			[ "$got" = "$wanted" ] || echo "$wanted is asked for, .config has $got"
		done
}
