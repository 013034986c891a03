# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the driver's scripts share; sourced by each of them.

set -eu

ROOT=$(cd "$(dirname "$0")" && while [ ! -e tools/hyptrace/lib.sh ]; do
	[ "$PWD" != / ] || exit 1; cd ..; done; pwd)
case $ROOT in
*[[:space:]:]*)
	echo "${0##*/}: kbuild takes no path with spaces or colons: move $ROOT" >&2
	exit 1
	;;
esac
BUILD=$ROOT/build
TOOLS=$ROOT/tools/hyptrace
mkdir -p "$BUILD"

# Debian's ccache stands for each compiler there. By its path rather than by a prefix in
# CC: the commands that kbuild records are the same with and without it. It needs a
# directory that it may write, its own default or CCACHE_DIR.
PATH=/usr/lib/ccache:$PATH
[ -n "${CCACHE_DIR:-}" ] || [ -w "${HOME:-/nonexistent}" ] || export CCACHE_DISABLE=1

# A make above us has variables and jobs for itself, not for the makes below.
unset MAKEFLAGS MAKEOVERRIDES MFLAGS MAKELEVEL

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# A line of progress, kept off standard output: that belongs to the result.
note() {
	echo "hyptrace: $*" >&2
}

# need GROUP...: install what a script needs, as tools/hyptrace/deps lists it.
need() {
	"$TOOLS/deps" "$@" || exit 1
}

# room MB WHAT: the file system of build/ has so much room.
room() {
	free=$(df -Pk "$BUILD" | awk 'NR == 2 { print int($4 / 1024) }')
	[ "$free" -ge "$1" ] || die "$2 needs $1 MB under build/, and there are $free MB"
}

# Before 8.1 QEMU did not lock the pages that it translates: code that one CPU changes
# while another one's thread translates it may run in its old form until the next change.
# Static branches, the trace events at EL2 among them, change code while all CPUs run.
QEMU_OLDEST=8.1

# qemu_is_new_enough VERSION
qemu_is_new_enough() {
	[ -n "$1" ] && dpkg --compare-versions "$1" ge "$QEMU_OLDEST"
}

# What apt would install, without the epoch.
qemu_offered() {
	apt-cache policy qemu-system-arm | sed -n 's/^  Candidate: \([0-9]*:\)*\([0-9][0-9.]*\).*/\2/p'
}

# What the kernel of a configuration is for, as kbuild names it: arch_of CONFIG
arch_of() {
	[ "$1" = x86 ] && echo x86_64 || echo arm64
}

# The prefix of the compiler for it on this machine: cross_for ARCH
cross_for() {
	case $1:$(uname -m) in
	arm64:aarch64 | x86_64:x86_64) ;;
	arm64:*) echo aarch64-linux-gnu- ;;
	x86_64:*) echo x86_64-linux-gnu- ;;
	arm:*) echo arm-linux-gnueabi- ;;
	riscv:*) echo riscv64-linux-gnu- ;;
	esac
}

# Where kbuild leaves what is booted: image_of ARCH
image_of() {
	[ "$1" = x86_64 ] && echo arch/x86/boot/bzImage || echo arch/arm64/boot/Image
}

# Arguments of the form VARIABLE=value stand for the environment's, as make
# takes them. assign "ALLOWED NAMES" "$@"
assign() {
	allowed=" $1 "
	shift
	for arg; do
		case $arg in
		*=*) ;;
		*) die "not VARIABLE=value: $arg" ;;
		esac
		case $allowed in
		*" ${arg%%=*} "*) eval "${arg%%=*}=\${arg#*=}" ;;
		*) die "no variable ${arg%%=*}: there are$allowed" ;;
		esac
	done
}

# What apt gave as the reason in its logs, in a line; that the lists could not
# be had comes before what followed from it. apt_says LOG...
apt_says() {
	grep -hs -e '^W: Failed' -e '^E: ' "$@" | head -n 1 | sed 's/^.: //' | grep . ||
		echo "apt has no such package"
}

# A time limit on this machine: seconds, and how much slower it is than most. `make check`
# finds that out; in percent.
scaled() {
	echo $(($1 * ${SCALE:-100} / 100))
}

# The lines of standard input that a list does not allow. Each line of the list
# is an extended regular expression, a tab and the reason; one without a reason
# is a finding itself. not_allowed LIST
not_allowed() {
	awk -F '\t' -v list="$1" '
		FILENAME != list { for (re in allowed) if ($0 ~ re) next; print; next }
		/^#/ || /^$/ { next }
		$2 == "" { print list ": no reason for " $0; exit }
		{ allowed[$1] }' "$1" -
}

# The processes that a process has begun, and that those have.
descendants() {
	# shellcheck disable=SC2013 # words, not lines
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		echo "$child"
		descendants "$child"
	done
}

# Whether a process runs: one that has ended stays until its parent asks.
is_alive() {
	grep -qs '^State:.[^ZX]' "/proc/$1/status"
}

# End what this shell has begun, also in the background, where an interrupt is ignored;
# then the shell. dash runs the trap of EXIT only if it exits by itself. What does not end
# in three seconds is killed, if we may.
interrupted() {
	trap '' INT TERM HUP
	read -r self _ </proc/self/stat
	begun=$(date +%s) took=0
	while [ "$took" -le 6 ]; do
		left=
		for pid in $(descendants "$self"); do
			! is_alive "$pid" || left="$left $pid"
		done
		[ -n "$left" ] || break
		took=$(($(date +%s) - begun))
		# shellcheck disable=SC2086 # a list
		kill -s "$([ "$took" -le 3 ] && echo TERM || echo KILL)" $left 2>/dev/null || :
		sleep 0.1
	done
	exit "$1"
}

# A subshell does not inherit it.
end_on_signal() {
	trap 'interrupted 130' INT
	trap 'interrupted 143' TERM HUP
}
end_on_signal

# Run a long command with its output in a log, and show that it advances:
# every few seconds, how many lines it has put out. with_progress LOG WHAT CMD...
with_progress() {
	progress_log=$1 what=$2
	shift 2
	end_on_signal
	"$@" >"$progress_log" 2>&1 &
	pid=$!
	beats=0
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		beats=$((beats + 1))
		[ $((beats % 25)) -ne 0 ] || note "$what: $(wc -l <"$progress_log")"
	done
	wait "$pid"
}

# Only one at a time may change what stands under build/ by that name; the lock
# goes with the shell that holds it.
lock() {
	exec 9>"$BUILD/.lock-$1"
	flock -n 9 || { note "waiting for another run that makes $1"; flock 9; }
}

# The mirror that the machine's apt has of its own release; of its archive of security
# updates by `mirror -security'.
mirror() {
	# shellcheck disable=SC1091 # not of ours
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")$1
	# shellcheck disable=SC2016 # apt's, not the shell's
	apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
		awk -v codename="$codename" '
			$1 == codename && $2 !~ /^cdrom:/ && !uri { uri = $2 }
			END { print uri }'
}
