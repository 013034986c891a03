#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat's times, in a VM of one CPU where an instruction takes a nanosecond: user space takes
# 5 ms for each access to a device. Then softirqs take half of the CPU.
. "${0%/*}/lib.sh"

# A guest makes each access once before, unless it is late.
for late in 0 1; do
	guest late$late vcpus=1 hvc=100 sysreg=50 mmio=100 delay=5000 late=$late
	record late$late late$late -a
	report late$late --per-vcpu
	report late$late.mmio --per-vcpu --event=mmio
	report late$late.trap --per-vcpu --event=trap
	end late$late
done

# The guest makes the same in both rounds.
guest busy vcpus=1 hvc=10000 sysreg=0
record calm busy -a
record_while flooded busy -a <<-'END'
	insmod /test/flood.ko
	rounds busy
	cat /sys/module/flood/parameters/in_guest >"$out/in_guest"
	rmmod flood
END
report calm --per-vcpu
report flooded --per-vcpu
end busy
finished
