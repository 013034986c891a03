#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace-cmd records the hypervisor, in each way that it has: its report has what
# EL2 wrote, and where that was lost, that it was. Runs in a VM, beside the
# kselftest's programs.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# shellcheck source=tools/testing/selftests/hyp-trace/numbers.sh
. "$DIR/numbers.sh"

PORT=12345
BOOT="-C boot"
export HYP

# tc ARGUMENT...: what it says goes to said.
tc() {
	trace-cmd "$@" >said 2>&1
}

# What a user is to see of a failure.
said() {
	ktap_print_msg "it exits with $?"
	sed 's/^/# /' said
	return 1
}

# What there is to record: on each CPU a guest; so many numbers on each at once.
cat >run_guest <<'END'
#!/bin/sh
exec guest --vcpus "$(nproc)" --cpu 0 --hvc 100 --mmio 50 --wfi 4
END
cat >write_numbers <<'END'
#!/bin/sh
for cpu in $(seq 0 $(($(nproc) - 1))); do
	emit "$HYP/write_event" "$cpu" $((cpu * 1000000000 + 1)) "$1" &
done
wait
END
chmod +x run_guest write_numbers

# report [FILE [BUFFER]]: the report, and the hypervisor's events in it, as trace
# has them. Those that come in pairs are in trace, what can be said of them in
# trace.facts.
report() {
	# shellcheck disable=SC2094 # -i FILE is read
	trace-cmd report -i "${1:-trace.dat}" >report 2>errors
	awk -v buffer="${2-hypervisor}" -f "$DIR/trace-cmd.awk" report >events
	grep -E ': hyp_(enter|exit) |^CPU:' events >trace
	facts trace
}

# What trace-cmd can't make sense of, or complains about.
strange() {
	cat errors
	awk '/^CPU:[0-9]+ \[LOST ([0-9]+ )?EVENTS\]$/ { next }
		/\[UNKNOWN EVENT|FAILED|FIND FIELD|INVALID|\?\?/ ||
		!/^\[[0-9]+\] [0-9]+\.[0-9]+: [a-z_]+( [a-z_0-9]+=[^ =]+)+$/
		{ events++ }
		END { if (!events) print "no events" }' events
}

# In time: all of a report, whichever the buffer.
late() {
	awk 'match($0, /\[[0-9]+\][^:]*:/) {
		n = split(substr($0, RSTART, RLENGTH - 1), word, " ")
		if (word[n] + 0 < before)
			print
		before = word[n] + 0
		events++
	}
	END { if (!events) print "no events" }' report
}

# What a recording of a guest's run lacks; the guest's line is in said.
lacking() {
	grep '^vcpu=' said >guests
	exits=$(exits guests)
	for event in hyp_enter hyp_exit; do
		seen=$(count trace $event guest)
		[ "$seen" = "$exits" ] || echo "$seen $event for $exits exits of the guest"
	done
	[ "$(lost trace)" = 0 ] || echo "$(lost trace) events lost"
	# A CPU begins with what was under way.
	for cpu in $ALL_CPUS; do
		[ "$(count trace hyp_exit host "$cpu")" -gt 0 ] || echo "nothing of CPU $cpu"
	done
	grep -E '^(unpaired|misled|backwards|unmerged)' trace.facts
}

# judge_guest NAME [FILE [BUFFER]]
judge_guest() {
	what=$1
	shift
	report "$@"
	none "$what: every event has its fields, and the columns before it" strange
	none "$what: what EL2 did for the guest, in its order" lacking
	none "$what: in order of time" late
	table "$what" "$(grep -c '^\[' events)" "$(lost trace)"
}

# table NAME READ LOST [WRITTEN]
table() {
	ktap_print_msg "table: $(trace-cmd --version 2>&1 | sed -n 's/^trace-cmd version \([0-9.]*\).*/\1/p') |" \
		"$1 | written ${4:-$(exits guests) exits and more} | read $2 | lost $3"
}

# judge_numbers NAME COUNT
judge_numbers() {
	report
	none "$1: every event has its fields, and the columns before it" strange
	none "$1: each number, once, in order" inexact events "$2"
	table "$1" "$(fact shown events)" "$(fact lost events)" $(($2 * CPUS))
}

test_guest() {
	reset
	# shellcheck disable=SC2086 # a list
	tc record -B hypervisor -e hypervisor $BOOT ./run_guest || said
	judge_guest "record"
	is "record: the buffer is given back" "$(state)" "(unloaded)"
	holds "record: the directory is still there" -d "$TRACEFS/instances/hypervisor"
}

# Without a command, until it is told to end.
test_interrupted() {
	reset
	# shellcheck disable=SC2086 # a list
	trace-cmd record -B hypervisor -e hypervisor $BOOT >recorder 2>&1 &
	until_true 20 grep -q 1 "$HYP/tracing_on"
	./run_guest >said
	kill -INT $!
	wait $!
	judge_guest "record, interrupted"
}

# Each run of a guest is between the host's kvm_entry and kvm_exit.
outside_runs() {
	awk -v host=1 -f "$DIR/trace-cmd.awk" report >host
	awk -f "$DIR/stamp.awk" -f "$DIR/clock.awk" host trace
}

# A guest's events name the vCPU and the VM of the thread that had KVM enter the guest, as the guest
# says, whose output is in said. The columns of the hypervisor's own events have no task: kernels of
# distributions have no PID_IN_CONTEXTIDR.
misattributed() {
	awk 'function number(name) {
			if (!match($0, " " name "=[0-9]+"))
				return ""
			return substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2)
		}
		function vcpu() { return number("vcpu") " " number("vm_pid") " " number("vm_fd") }
		FILENAME == "said" { $0 = " " $0; if (number("tid")) of[number("tid")] = vcpu(); next }
		{ task = $1; sub(/.*-/, "", task) }
		match($0, /\[[0-9]+\]/) { cpu = substr($0, RSTART, RLENGTH) }
		/: kvm_entry: / { entered[cpu] = of[task] }
		/: guest_(enter|exit): / { events++; if (vcpu() != entered[cpu]) print }
		END { if (!events) print "no events" }' said report
}

test_host() {
	reset
	# shellcheck disable=SC2086
	tc record $BOOT -e sched -e kvm -B hypervisor -e hypervisor $BOOT ./run_guest || said
	judge_guest "record, with the host's events"
	none "record, with the host's events: one clock" outside_runs
	none "record, with the host's events: whose they are" misattributed
}

test_one_event() {
	reset
	# shellcheck disable=SC2086
	tc record -B hypervisor -e hypervisor:hyp_enter $BOOT ./run_guest || said
	report
	none "record, one event: it has its fields" strange
	grep '^vcpu=' said >guests
	is "record, one event: one for each exit of the guest" "$(count trace hyp_enter guest)" \
		"$(exits guests)"
	is "record, one event: no other" "$(total trace hyp_exit)" 0
}

# test_numbers NAME [OPTION]...
test_numbers() {
	what=$1
	shift
	reset
	# shellcheck disable=SC2086
	tc record -B hypervisor -e hypervisor:selftest $BOOT "$@" ./write_numbers 1000 || said
	judge_numbers "$what" 1000
}

# What trace-cmd says that it lost, of a CPU: from the buffer's counters.
said_lost() {
	sed -n "s/^CPU $1: \([0-9]*\) events lost/\1/p" said | awk '{ n += $1 } END { print n + 0 }'
}

# Nothing is missing but where that is told, and in sum what trace-cmd says.
lost_otherwise() {
	judge events
	faults events | grep -v '^uncounted'
	for cpu in $ALL_CPUS; do
		sum=$(($(fact shown events "$cpu") + $(said_lost "$cpu")))
		[ "$sum" = "$1" ] || echo "CPU $cpu: $sum events, not $1"
		last=$(grep "^\[00$cpu\]" events | tail -n 1 | sed 's/.*id=//')
		[ "$last" = $((cpu * 1000000000 + $1)) ] || echo "CPU $cpu: ends with $last"
	done
}

test_lost() {
	reset
	# shellcheck disable=SC2086
	tc record -B hypervisor -e hypervisor:selftest $BOOT -b 8 ./write_numbers 10000 || said
	report
	none "events lost: every event has its fields" strange
	holds "events lost: some are" "$(said_lost 0)" -gt 0
	none "events lost: those, and they are told" lost_otherwise 10000
	table "record -b 8" "$(fact shown events)" $(($(said_lost 0) + $(said_lost 1))) \
		$((10000 * CPUS))
}

# by_cpu FILE: the events, without what is around them, CPU by CPU: where the times
# of two are the same, who prints them may choose.
by_cpu() {
	grep '^\[' "$1" | awk '{ $1 = $1; print }' | sort -s -k 1,1
}

# differs FILE FILE
differs() {
	by_cpu "$1" >"$1.cpus"
	by_cpu "$2" >"$2.cpus"
	diff "$1.cpus" "$2.cpus"
}

# stat_lacks WORD...
stat_lacks() {
	tc stat -B hypervisor || said
	for line; do
		grep -qx " *$line *" said || echo "no '$line'"
	done
}

test_extract() {
	reset
	# shellcheck disable=SC2086
	tc start -B hypervisor -e hypervisor $BOOT || said
	none "stat: while it is on" stat_lacks "Instance: hypervisor" "All enabled" "Clock: boot" \
		"Tracing is enabled"
	./run_guest >guests
	tc stop -B hypervisor || said
	none "stat: when it is off" stat_lacks "Instance: hypervisor" "Tracing is disabled"
	trace-cmd show -B hypervisor >shown
	trace-cmd show -B hypervisor -c 0 >shown.0
	tc extract -B hypervisor || said
	cp guests said
	judge_guest "start, stop, extract"
	none "report has the text of show" differs events shown
	grep -F '[000]' events >events.0
	none "report has the text of show -c" differs events.0 shown.0
	holds "which is something" "$(grep -c '^\[' shown.0)" -gt 0
	is "start, stop, extract: the buffer is given back" "$(state)" "(unloaded)"
}

test_pipe() {
	reset
	# shellcheck disable=SC2086
	tc start -B hypervisor -e hypervisor:selftest $BOOT || said
	trace-cmd show -B hypervisor -p >trace &
	pid=$!
	./write_numbers 1000 >/dev/null
	tc stop -B hypervisor || said
	until_true 20 ended $pid || kill $pid
	none "show -p: each number, once, in order" inexact trace 1000
	table "show -p" "$(fact shown trace)" "$(fact lost trace)" $((1000 * CPUS))
}

test_reset() {
	reset
	# shellcheck disable=SC2086
	tc start -B hypervisor -e hypervisor $BOOT || said
	./run_guest >guests
	tc reset -B hypervisor || said
	is "reset: no event is enabled" "$(cat "$HYP/events/enable")" 0
	is "reset: tracing is on, as in the host's" "$(cat "$HYP/tracing_on")" 1
	is "reset: no event is left" "$(grep -c '^\[' "$HYP/trace")" 0
	is "reset: the clock is its own" "$(cat "$HYP/trace_clock")" "[boot]"
}

listed_formats() {
	trace-cmd list -e '^hypervisor:' -F | grep 'field:.*offset' | sort
}

formats() {
	cat "$HYP"/events/hypervisor/*/format | grep 'field:.*offset' | sort
}

test_list() {
	reset
	is "list -e: the events" "$(trace-cmd list -e '^hypervisor:' | sort | xargs)" \
		"$(sort "$HYP/available_events" | xargs)"
	is "list -e -F: their fields" "$(listed_formats)" "$(formats)"
	is "list -B: the buffer" "$(trace-cmd list -B | grep -x hypervisor)" hypervisor
}

# Who listens wants to know by which name it was called.
test_net_setup() {
	mkdir -p /etc
	echo 127.0.0.1 localhost >/etc/hosts
	echo hosts: files >/etc/nsswitch.conf
	trace-cmd listen -p $PORT -d "$TMP" -o net >listener 2>&1 &
	listener=$!
	until_true 20 grep -qi ":$(printf %04x $PORT) " /proc/net/tcp
}

# The listener has put together what it was sent.
arrived() {
	[ -e "$(echo net.*.dat)" ] && [ ! -e "$(echo net.*.cpu0)" ] && [ ! -e "$(echo net.*.cpu1)" ]
}

# test_net NAME [OPTION]...
test_net() {
	what=$1
	shift
	reset
	# shellcheck disable=SC2086
	tc record -N 127.0.0.1:$PORT "$@" -B hypervisor -e hypervisor $BOOT ./run_guest || said
	until_true 20 arrived || sed 's/^/# /' listener
	judge_guest "$what" net.*.dat ""
	rm -f net.*.dat
}

has_begun() {
	[ -s trace.dat.hypervisor.cpu0 ]
}

# All its processes; it has read some by then.
test_killed() {
	reset
	rm -f trace.dat*
	# shellcheck disable=SC2086
	setsid trace-cmd record -B hypervisor -e hypervisor:selftest $BOOT -b 64 \
		./write_numbers 100000000 >/dev/null 2>&1 &
	victim=$!
	until_true 20 has_begun
	kill -9 -$victim
	until_true 20 ended $victim
	holds "killed: it had read" -s trace.dat.hypervisor.cpu0
	is "killed: it has left tracing on" "$(cat "$HYP/tracing_on")" 1
	# shellcheck disable=SC2086
	tc record -B hypervisor -e hypervisor:selftest $BOOT -b 1024 ./write_numbers 1000 || said
	judge_numbers "after a killed one" 1000
	is "after a killed one: the buffer is given back" "$(state)" "(unloaded)"
}

plan 51 write_event
ktap_print_msg "$(trace-cmd --version 2>&1 | grep 'trace-cmd version')"
test_guest
test_interrupted
test_host
test_one_event
test_numbers "record, numbers"
test_numbers "record --nosplice, numbers" --nosplice
test_lost
test_extract
test_pipe
test_reset
test_list
test_net_setup
test_net "record -N"
test_net "record -N -t" -t
kill "$listener"
test_killed
ktap_finished
