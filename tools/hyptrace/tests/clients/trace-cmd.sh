#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the VM: trace-cmd records the hypervisor, in each way that it has. Of each session /out has a
# directory: what trace-cmd said, report and its errors, and what the files of the hypervisor have.
# shellcheck disable=SC2086 # words
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
export HYP PORT=12345
B="-B hypervisor"
ALL="$B -C boot -e hypervisor" NUMBERS="$B -C boot -e hypervisor:selftest"

# session NAME
session() {
	reset
	out=/out/$1
	mkdir "$out"
}

# tc ARGUMENT...: what it says goes to said.
tc() {
	trace-cmd "$@" >>"$out/said" 2>&1
}

# report [FILE]
report() {
	# shellcheck disable=SC2094 # -i FILE is read
	trace-cmd report -i "${1:-trace.dat}" >"$out/report" 2>"$out/errors"
	state >"$out/state"
}

# recorded NAME ARGUMENT...: a session of one command
recorded() {
	session "$1"
	shift
	tc record "$@"
	report
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

# The listener has put together what it was sent.
arrived() {
	[ -e "$(echo net.*.dat)" ] && [ ! -e "$(echo net.*.cpu0)" ] && [ ! -e "$(echo net.*.cpu1)" ]
}

trace-cmd --version 2>&1 | sed -n 's/^ *trace-cmd version/# trace-cmd/p'
recorded record $ALL ./run_guest
[ -d "$TRACEFS/instances/hypervisor" ] || echo "no directory is left" >>"$out/errors"
recorded "record, with the host's events" -C boot -e sched -e kvm $ALL ./run_guest
recorded "record, one event" $ALL:hyp_enter ./run_guest
recorded "record, numbers" $NUMBERS ./write_numbers 1000
recorded "record --nosplice" $NUMBERS --nosplice ./write_numbers 1000
recorded "record, events lost" $NUMBERS -b 8 ./write_numbers 10000

# Without a command, trace-cmd records until a signal ends it.
session "record, interrupted"
trace-cmd record $ALL >recorder 2>&1 &
until_true 20 grep -q 1 "$HYP/tracing_on"
./run_guest >"$out/said"
kill -INT $!
wait $!
report

session extract
tc start $ALL
trace-cmd stat $B >"$out/stat.on" 2>&1
./run_guest >>"$out/said"
tc stop $B
trace-cmd stat $B >"$out/stat.off" 2>&1
trace-cmd show $B >"$out/show"
trace-cmd show $B -c 0 >"$out/show.0"
tc extract $B
report

session pipe
tc start $NUMBERS
trace-cmd show $B -p >"$out/report" &
pid=$!
./write_numbers 1000 >/dev/null
tc stop $B
until_true 20 ended $pid || kill $pid

session reset
tc start $ALL
./run_guest >/dev/null
tc reset $B
for file in events/enable tracing_on trace trace_clock; do
	cp "$HYP/$file" "$out"
done

session list
trace-cmd list -e '^hypervisor:' >"$out/events"
trace-cmd list -e '^hypervisor:' -F >"$out/formats"
trace-cmd list -B >"$out/buffers"
cp "$HYP/available_events" "$out"
cat "$HYP"/events/hypervisor/*/format >"$out/format"

# Who listens wants to know by which name it was called.
mkdir -p /etc
echo 127.0.0.1 localhost >/etc/hosts
echo hosts: files >/etc/nsswitch.conf
trace-cmd listen -p $PORT -d "$TMP" -o net >listener 2>&1 &
listener=$!
until_true 20 grep -qi ":$(printf %04x $PORT) " /proc/net/tcp
for option in "" " -t"; do
	session "record -N$option"
	tc record -N 127.0.0.1:$PORT $option $ALL ./run_guest
	until_true 20 arrived || cat listener >>"$out/said"
	report net.*.dat
	rm -f net.*.dat
done
kill $listener

# All its processes; it has read some by then.
session killed
rm -f trace.dat*
setsid trace-cmd record $NUMBERS -b 64 ./write_numbers 100000000 >/dev/null 2>&1 &
until_true 20 test -s trace.dat.hypervisor.cpu0
kill -9 -$!
until_true 20 ended $!
wc -c <trace.dat.hypervisor.cpu0 >"$out/read"
cp "$HYP/tracing_on" "$out"
recorded "after a killed one" $NUMBERS -b 1024 ./write_numbers 1000
