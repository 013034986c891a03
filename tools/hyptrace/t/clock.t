#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The hypervisor's clock where that takes a machine of its own: over minutes, in
# suspend-to-idle, and with a counter that can't be read as it is.
. "$(dirname "$0")/script.sh"

need check

# Time as the guest's instructions tell it, a nanosecond each, and at once the
# next timer's when all CPUs wait: minutes are over in seconds, and what lies
# between two readings of the clock does not depend on this machine.
COUNTED="-icount shift=0,sleep=off -rtc clock=vm"

export TIMEOUT=300

cat >>"$tmp/prelude" <<'END'
set +x
. "$DIR/brackets.sh"
cd /tmp

# slew PPM [TICK]: the host's clock runs that much faster; a tick is of 10000 us.
slew() {
	adjtimex -f "$(($1 * 65536))" -t "${2:-10000}" >/dev/null
}

# Suspend to idle for so many seconds. That the time is told to have been slept
# shows that the timekeeper was suspended, too. An alarm that is over on the way to
# sleep does not wake: then the count is not what it was, the machine stays awake, and
# the next alarm has more time.
nap() {
	slept=$(awk '{ n += $NF } END { print n }' /sys/kernel/debug/sleep_time)
	for more in 0 2 4 8 16 32; do
		count=$(cat /sys/power/wakeup_count)
		echo 0 >/sys/class/rtc/rtc0/wakealarm
		echo "+$(($1 + more))" >/sys/class/rtc/rtc0/wakealarm
		if echo "$count" >/sys/power/wakeup_count && echo freeze >/sys/power/state; then
			break
		fi
	done
	[ "$(awk '{ n += $NF } END { print n }' /sys/kernel/debug/sleep_time)" -gt "$slept" ]
}

# Nothing is wrong with the events' times.
judge() {
	brackets_judge -v margins=1
	brackets_judge >faults
	head -n 20 faults
	[ ! -s faults ]
}
END

# Two minutes, with the clock slewed as fast and as slow as it can be.
minutes() {
	runs QEMU_ARGS="$COUNTED" "$@" <<-'END'
		brackets_start 1000000 200000
		for rate in "500" "-500" "0 11000" "0 9000" "500 11000" "-500 9000" "0"; do
			slew $rate
			brackets_go_on 85
		done
		brackets_stop
		judge
	END
}

# device_tree CPU [OPTION]...: what QEMU makes for such a VM; it does not boot for
# that, and so it has no status.
device_tree() {
	: >"$tmp/script"
	for_cpu=$1
	shift
	rm -f "$tmp/dtb"
	"$TOOLS/vm" CPU="$for_cpu" SCRIPT="$tmp/script" QEMU_ARGS="$* -machine dumpdtb=$tmp/dtb" \
		>"$tmp/dumped" 2>&1 || :
	[ -s "$tmp/dtb" ]
}

# QEMU's CPUs have no idle state but WFI, and with that alone the timekeeper goes
# on. Its firmware has one; a CPU wakes from it by a GICv2 only.
GIC2="-machine gic-version=2"

idle_state() {
	set -- "$tmp/dtb" /cpus/idle-states/standby
	fdtput -p -t s "$@" compatible arm,idle-state
	fdtput -t s "$1" /cpus/idle-states entry-method psci
	fdtput -t i "$@" arm,psci-suspend-param 1
	for latency in entry-latency-us exit-latency-us min-residency-us; do
		fdtput -t i "$@" "$latency" 1
	done
	fdtput -t i "$@" phandle 4660
	for n in 0 1; do
		fdtput -t i "$1" "/cpus/cpu@$n" cpu-idle-states 4660
	done
}

# sleeps SECONDS MODE CPU [OPTION]...: three times so long, each at another rate.
sleeps() {
	seconds=$1 mode=$2 cpu=$3
	shift 3
	device_tree "$cpu" "$GIC2" && idle_state || return
	runs MODE="$mode" CPU="$cpu" QEMU_ARGS="$GIC2 -dtb $tmp/dtb $*" <<-END
		brackets_start 1000000 20000
		for ppm in 0 500 -500; do
			slew "\$ppm"
			brackets_go_on 10
			nap $seconds
			brackets_go_on 10
		done
		brackets_stop
		judge
	END
}

# A counter that is known to be read wrong now and then, and the clock is read
# with a workaround for that: EL2 has none. (The workaround looks for two equal
# readings in a row: a counter that is slow beside the CPU, as QEMU's newest one has not.)
unstable() {
	device_tree cortex-a76 && fdtput -t s "$tmp/dtb" /timer fsl,erratum-a008585 "" || return
	runs CPU=cortex-a76 QEMU_ARGS="-dtb $tmp/dtb $COUNTED" <<-'END'
		set -x
		dmesg | grep 'Enabling.*workaround for Freescale erratum a005858'
		[ "$(fileop write $HYP/tracing_on 1)" = ENODEV ]
		grep -x 0 $HYP/tracing_on
		grep '(unloaded)' $HYP/buffer_size_kb
		dmesg | grep 'no tracing with an unstable counter'
		guest
	END
}

# changes PPM [VARIABLE=value]...: the host's clock source becomes one that EL2 can't read
# and that is so much faster, and the counter again. Meanwhile times drift, but nothing
# hangs, no event is lost and no time goes backwards; from a second after the change back
# times are right. With the other one tracing can't be turned on.
changes() {
	ppm=$1
	shift
	runs "$@" <<-END
		SOURCE=/sys/devices/system/clocksource/clocksource0/current_clocksource
		use() {
			echo "\$1" >"\$SOURCE"
			grep -x "\$1" "\$SOURCE"
		}
		# off_by_less SECONDS: the hypervisor's clock than that
		off_by_less() {
			before=\$(cut -d ' ' -f 1 /proc/uptime)
			echo 77 >"\$HYP/write_event"
			after=\$(cut -d ' ' -f 1 /proc/uptime)
			sed -n 's/.*\] *\([0-9.]*\): selftest id=77\$/\1/p' "\$HYP/trace" |
				tail -n 1 | awk -v from="\$before" -v to="\$after" -v less="\$1" '
					{ found = \$1 > from - less && \$1 < to + less } END { exit !found }'
		}
		has_drifted() {
			! off_by_less 0.1
		}
		insmod /test/hyp-trace/modules/hyp_clocksource.ko ppm=$ppm
		counter=\$(cat "\$SOURCE")
		brackets_start 1000000 20000
		brackets_go_on 10
		use hyp_clocksource
		brackets_go_on 100
		until_true 10 sh -c 'dmesg | grep "the clock source has changed, times will drift"'
		use "\$counter"
		brackets_go_on 100
		brackets_stop
		# Times have drifted, or else this is no test
		brackets_judge >drifted
		[ -s drifted ]
		# Each event came, and in order
		for file in bracket.*; do
			cpu=\$(printf %03d "\${file#bracket.}")
			[ "\$(grep -c "^\[\$cpu\].*selftest" trace)" -ge "\$(wc -l <"\$file")" ]
		done
		[ "\$(grep -c LOST trace)" = 0 ]
		awk '/selftest/ { if (\$2 + 0 < last[\$1]) exit 1; last[\$1] = \$2 + 0 }' trace

		# From now on all is right
		echo >"\$HYP/trace"
		brackets_start 1000000 20000
		brackets_go_on 50
		brackets_stop
		judge

		use hyp_clocksource
		[ "\$(fileop write "\$HYP/tracing_on" 1)" = ENODEV ]
		use "\$counter"
		echo 1 >"\$HYP/tracing_on"
		off_by_less 0.02
		use hyp_clocksource
		until_true 60 has_drifted
		use "\$counter"
		until_true 10 off_by_less 0.02
		echo 0 >"\$HYP/tracing_on"
		guest
	END
}

ok "minutes, protected" minutes MODE=protected
ok "minutes, nvhe" minutes MODE=nvhe
ok "suspended for a second, protected" sleeps 1 protected max
ok "suspended for a second, nvhe" sleeps 1 nvhe cortex-a72
# shellcheck disable=SC2086 # a list
ok "suspended for a day, protected" sleeps 86400 protected max $COUNTED
ok "an unstable counter is refused" unstable
ok "the clock source changes to a faster one, protected" changes 40000 MODE=protected
ok "the clock source changes to a slower one, protected" changes -40000 CPU=cortex-a72
ok "the clock source changes to a faster one, nvhe" changes 40000 MODE=nvhe CPU=cortex-a72
plan
