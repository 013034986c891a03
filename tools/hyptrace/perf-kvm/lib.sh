# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the scripts share that use perf in a VM; sourced there. They leave what perf and the guests
# said in /out/SCRIPT, which Python judges on the host. A step that fails ends the script.
set -e
PATH=/test:$PATH
# What runs while perf records has it from the script.
[ -n "${out-}" ] || {
	out=${0##*/}
	export out=/out/"${out%.sh}"
	mkdir -p "$out" "/tmp/${0##*/}"
	cd "/tmp/${0##*/}"
}

# said NAME COMMAND...: what it says is in $out/NAME, and its exit status in the last line.
said() {
	to=$out/$1 status=0
	shift
	"$@" >"$to" 2>&1 || status=$?
	echo "status $status" >>"$to"
}

# until_done COMMAND...: within a minute or so, on a machine as fast as most.
until_done() {
	tries=0
	until "$@"; do
		[ $((tries += 1)) -lt $((12 * ${HYP_TRACE_SCALE:-100})) ] || return 1
		sleep 0.05
	done
}

has_made() {
	grep -qsx "round $2" "$1.out"
}

# guest NAME OPTION...: a VM that waits for its first round. It has both ends of its input.
guest() {
	guest=$1
	shift
	mkfifo "$guest.fifo"
	perf test -w kvm_exits "$@" <>"$guest.fifo" >"$guest.out" 2>&1 &
	echo $! >"$guest.pid"
	until_done has_made "$guest" 0
}

# rounds GUEST...: each makes its next one.
rounds() {
	for guest; do
		grep -c '^round' "$guest.out" >"$guest.next"
		echo >"$guest.fifo"
	done
	for guest; do
		until_done has_made "$guest" "$(cat "$guest.next")"
	done
}

# end GUEST...
end() {
	for guest; do
		kill "$(cat "$guest.pid")"
	done
	wait
}

# keep NAME GUEST...: what the guests have said so far
keep() {
	name=$1
	shift
	for guest; do
		cp "$guest.out" "$out/$name.$guest"
	done
}

# record_while RECORDING "GUEST..." OPTION...: perf records while the commands of standard input run.
record_while() {
	recording=$1 guests=$2
	shift 2
	{ echo '. /test/perf-kvm/lib.sh' && cat; } >go
	said "$recording.recorded" "${RECORDER:-perf}" kvm stat record -o "$recording" "$@" sh ./go
	# shellcheck disable=SC2086 # a list
	keep "$recording" $guests
}

# record RECORDING "GUEST..." OPTION...: a round of each guest
record() {
	echo "rounds $2" | record_while "$@"
}

# report RECORDING[.NAME] OPTION...
report() {
	report=$1
	shift
	said "$report" "${REPORTER:-perf}" kvm -i "${report%%.*}" stat report --stdio "$@"
}

finished() {
	printf 'ok 1 - each step is done\n1..1\n'
}
