#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat beside Debian's perf of 6.12, if that is here, or on a kernel without what it has
# new. User space takes 5 ms for each access of vCPU 0. Runs in a VM.
. "${0%/*}/lib.sh"

debian_perf() {
	lib=/test/debian/lib
	"$lib/ld-linux-aarch64.so.1" --library-path "$lib" /test/debian/perf "$@"
}

# reports RECORDING [SUFFIX]
reports() {
	report "$1.all${2-}"
	report "$1.vcpu0${2-}" --vcpu 0
	report "$1.vcpu1${2-}" --vcpu 1
}

guest some vcpus=2 hvc=100 sysreg=50 mmio=20 delay=5000
record new some -a
RECORDER=debian_perf
[ ! -e /test/debian ] || record old some -a
for recording in new old; do
	[ -e "$recording" ] || continue
	reports "$recording"
	report "$recording.mmio" --event=mmio
	report "$recording.trap" --event=trap
	report "$recording.vcpus" --per-vcpu
	[ ! -e /test/debian ] || (REPORTER=debian_perf && reports "$recording" .debian)
done
end some
finished
