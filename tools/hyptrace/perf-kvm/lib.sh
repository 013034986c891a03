# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the tests of perf kvm stat in a VM share; sourced there.

DIR=/test
PERF=$DIR/perf
. "$DIR/in-vm.sh"

# What perf calls the exits of a hypercall and of an access to the device, and what it can report
# shellcheck disable=SC2034 # for the tests
case $(uname -m) in
x86_64) HYPERCALL=hypercall ACCESS=npf EVENTS="x86 has vmexit mmio ioport msr" ;;
*) HYPERCALL=HVC64 ACCESS=DABT_LOW EVENTS="arm64 has vmexit trap mmio" ;;
esac

has_made() {
	grep -qsx "round $2" "$1.out"
}

# guest NAME OPTION...: a VM that waits for its first round, which is NAME's in descriptor
# $fd_NAME.
guest() {
	guest=$1 fd=$2
	shift 2
	rm -f "$guest.fifo" "$guest.out"
	mkfifo "$guest.fifo"
	"$PERF" test -w kvm_exits "$@" <"$guest.fifo" >"$guest.out" 2>&1 &
	echo $! >"$guest.pid"
	eval "exec $fd>$guest.fifo"
	eval "fd_$guest=$fd"
	until_done has_made "$guest" 0
}

# The guest ends when its input does. Its other threads may end after the first one: wait for all,
# or the signal of its end may interrupt the opening of the next guest's fifo, and end the shell.
end_guest() {
	eval "exec $2>&-"
	pid=$(cat "$1.pid")
	until_done gone "$pid" || return
	wait "$pid" || :
}

# What each guest makes while it is recorded: rounds NUMBER NAME...
rounds() {
	number=$1
	shift
	for guest; do
		eval "echo >&\$fd_$guest"
	done
	for guest; do
		until_done has_made "$guest" "$number" || return
	done
}

# What the guests say of their last round
last_round() {
	for guest; do
		awk '/^vm=/ { lines = lines $0 "\n" } /^round/ { last = lines; lines = "" }
			END { printf "%s", last }' "$guest.out"
	done
}

# record FILE OPTION... -- COMMAND...: perf goes on for as long as the command.
record() {
	file=$1
	shift
	"${RECORDER:-$PERF}" kvm stat record -o "$file" "$@"
}

# report FILE OPTION...: the report, which perf writes to standard error, and its facts
report() {
	file=$1
	shift
	# shellcheck disable=SC2094 # two files
	"${REPORTER:-$PERF}" kvm -i "$file" stat report --stdio "$@" >report 2>&1
	status=$?
	[ "$status" = 0 ] || head -n 20 report
	awk -f "$DIR/perf-kvm/facts.awk" report >facts
	return "$status"
}

# same KIND [VARIABLE=value]: nothing differs from what the guests said.
same() {
	awk -v arch="$(uname -m)" -v kind="$1" -v "${2:-atmost=}" -f "$DIR/perf-kvm/counts.awk" expected facts >differ
	cat differ
	[ ! -s differ ]
}

# holds PATTERN CONDITION: of the facts that the pattern selects, and there are some, the
# condition is true; both are awk's.
holds() {
	awk "$1 { seen++; if (!($2)) { print; bad = 1 } }
		END { if (!seen) print \"there is none\"; exit bad || !seen }" facts
}
