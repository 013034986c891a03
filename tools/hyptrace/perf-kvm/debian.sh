#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Debian's perf of 6.12 on a kernel with the new tracepoints: it works as before, with the two
# faults; its recordings are read without them. Runs in a VM.
# shellcheck disable=SC2016 # programs of awk
. "${0%/*}/lib.sh"
mkdir -p "/tmp/${0##*/}"
cd "/tmp/${0##*/}" || exit

cat >debian-perf <<'END2'
#!/bin/sh
lib=/test/debian/lib
exec $lib/ld-linux-aarch64.so.1 --library-path $lib /test/debian/perf "$@"
END2
chmod +x debian-perf

# Two vCPUs; user space takes 5 ms for each access of vCPU 0.
recorded() {
	guest "$1" 3 vcpus=2 hvc=100 sysreg=50 mmio=20 delay=5000 || return
	cat >go <<-END2
		. /test/perf-kvm/lib.sh
		fd_$1=3
		rounds 1 $1
	END2
	RECORDER=${2-} record "$1.data" -a sh ./go && end_guest "$1" 3
}

# by_debian FILE OPTION...: a report by Debian's perf
by_debian() {
	REPORTER=./debian-perf report "$@"
}

# All are vCPU 0's.
wrong_vcpu() {
	by_debian "$1" --vcpu 0 && holds '$2 == "HVC64"' '$3 == 300' &&
		by_debian "$1" --vcpu 1 && ! grep HVC64 report
}

# The time is the guest's before the access, which is short.
wrong_time() {
	by_debian "$1" && holds '$2 == "DABT_LOW"' '$3 == 20 && $7 < 5000'
}

mended() {
	report "$1" && holds '$2 == "HVC64"' '$3 + $4 == 300' &&
		holds '$2 == "DABT_LOW"' '$3 == 20 && $5 >= 5000'
}

# Debian's has nothing that tells the vCPU, and that is said.
old_vcpus() {
	mended old.data && report old.data --per-vcpu &&
		holds '$2 == "="' '$1 ~ /\/unknown$/' && grep 'VCPU is not known' report
}

new_vcpus() {
	mended new.data && report new.data --vcpu 1 && holds '$2 == "HVC64"' '$3 + $4 == 200'
}

ok "Debian's perf records" recorded old ./debian-perf
ok "Debian's report calls each thread vCPU 0" wrong_vcpu old.data
ok "Debian's report has the guest's time as that of an access" wrong_time old.data
ok "the same recording with the time of the accesses, the vCPU unknown" old_vcpus
ok "perf of the tree records" recorded new
ok "its report has both" new_vcpus
ok "of the same recording, Debian's report calls each thread vCPU 0" wrong_vcpu new.data
ok "of the same recording, Debian's report has the guest's time" wrong_time new.data
plan
