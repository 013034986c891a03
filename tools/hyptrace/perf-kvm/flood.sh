#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat, while softirqs take half of the vCPU's only CPU: their time is that of the exits by
# an interrupt, and none of it the guest's. Runs in a VM where an instruction takes a nanosecond.
# shellcheck disable=SC2016 # programs of awk
. "${0%/*}/lib.sh"
mkdir -p "/tmp/${0##*/}"
cd "/tmp/${0##*/}" || exit
BUSY=500	# microseconds that each softirq takes

# recorded NUMBER [COMMAND] [COMMAND]: the guest's round, and what is done before and after it
recorded() {
	cat >go <<-END2
		. /test/perf-kvm/lib.sh
		fd_busy=3
		${2:-:}
		rounds $1 busy
		${3:-:}
	END2
	record "data.$1" -a sh ./go
}

# The guest makes the same in both rounds.
both_recorded() {
	guest busy 3 vcpus=1 hvc=10000 sysreg=0 && recorded 1 &&
		recorded 2 "insmod /test/flood.ko busy_us=$BUSY" \
			'cat /sys/module/flood/parameters/in_guest >in_guest && rmmod flood' &&
		end_guest busy 3 && cat in_guest && [ "$(cat in_guest)" -ge 20 ]
}

guest_time() {
	report "data.$1" --per-vcpu && awk '$2 == "=" { print $5 }' facts
}

irq_time() {
	softirqs=$(($(cat in_guest) * BUSY)) && report data.2 --per-vcpu && cat report &&
		holds '$2 == "IRQ"' "\$3 >= $(cat in_guest) && \$8 >= $softirqs"
}

# An exit more takes the guest but a little time.
same_guest_time() {
	softirqs=$(($(cat in_guest) * BUSY)) && before=$(guest_time 1) && flooded=$(guest_time 2) &&
		echo "$before us, with $softirqs us of softirqs $flooded us" &&
		awk "BEGIN { exit !($before > 0 && $flooded - $before < $softirqs / 10) }"
}

ok "softirqs interrupt the guest" both_recorded
ok "exits by an interrupt take the time of softirqs" irq_time
ok "the guest does not" same_guest_time
plan
