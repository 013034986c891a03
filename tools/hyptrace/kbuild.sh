# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the scripts share that build from a kernel source; sourced behind lib.sh.

# ccache compiles what it has not compiled before. For it to hit, each build has the same
# time stamp, user and host, unless the environment gives others.
export KBUILD_BUILD_TIMESTAMP="${KBUILD_BUILD_TIMESTAMP:-Wed Jan  1 00:00:00 UTC 2025}"
export KBUILD_BUILD_USER="${KBUILD_BUILD_USER:-hyptrace}"
export KBUILD_BUILD_HOST="${KBUILD_BUILD_HOST:-localhost}"
export KBUILD_BUILD_VERSION="${KBUILD_BUILD_VERSION:-1}"

# source_make ARCH ARGUMENT...: make for it, without the variables of the driver: the makefiles
# would take them for theirs.
source_make() (
	for_arch=$1
	shift
	unset ARCH CONFIG TARGETS SCRIPT FILES OUT CONSOLE MODE CPU SMP MEM IMAGE DEBUG CMDLINE TREE \
		TOPIC OPTIONS FLAVOUR LSMOD FOR KERNEL TIMEOUT
	exec make "ARCH=$for_arch" "CROSS_COMPILE=$(cross_for "$for_arch")" "$@"
)

# logged_build LOG WHAT COMMAND...: with its progress, and the errors if it fails
logged_build() {
	with_progress "$@" || {
		grep -E -A 5 'error:|Error [0-9]|undefined|\*\*\*' "$1" | head -n 30 >&2
		die "the build failed: see ${1#"$ROOT/"}"
	}
}

# not_in_config FRAGMENT FILE: the options that a fragment asks for and a .config has otherwise,
# but those that $UNKNOWN_OK names.
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
