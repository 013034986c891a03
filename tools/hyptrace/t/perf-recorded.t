#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat reports recordings of LoongArch and riscv, which are made up here: an exit takes from
# kvm_exit until the guest is entered again, and the guest has the rest.
. "$(dirname "$0")/tap.sh"

kvm=$TOOLS/perf-kvm

# report ARCH [OPTION]...: what standard input says is recorded, and reported to $tmp/report.
report() {
	python3 "$kvm/recording.py" "$1" "$tmp/data" || return
	shift
	"$BUILD/perf-host/perf" kvm stat report -f --stdio -i "$tmp/data" "$@" >"$tmp/report" 2>&1 &&
		return
	cat "$tmp/report"
	return 1
}

# facts ARCH: what facts.awk makes of the report
facts() {
	report "$1" && awk -f "$kvm/facts.awk" "$tmp/report" | LC_ALL=C sort >"$tmp/facts"
}

# The guest runs for 100, 100 and 60 us. Its exits take 7 and 40 us; the last one has not ended when
# the recording does.
riscv() {
	facts riscv <<-'END' || return
		1000 kvm_entry
		1100 kvm_exit scause=10
		1107 kvm_entry
		1207 kvm_exit scause=21
		1247 kvm_entry
		1307 kvm_exit scause=10
	END
	diff - "$tmp/facts" <<-'END'
		all/all = 2 47 260
		all/all LOAD_GUEST_PAGE_FAULT 1 0 40 40 40 40
		all/all SUPERVISOR_SYSCALL 1 1 7 7 7 7
	END
}

# The kernel handles two of the exits: kvm_reenter alone ends them.
loongarch() {
	facts loongarch <<-'END' || return
		1000 kvm_enter
		1050 kvm_exit reason=23
		1055 kvm_reenter
		1155 kvm_exit reason=22
		1156 kvm_exit_gspr inst_word=0x06488000
		1200 kvm_reenter
		1500 kvm_exit reason=15
		1580 kvm_enter
		1600 kvm_exit reason=23
	END
	diff - "$tmp/facts" <<-'END'
		all/all = 3 130 470
		all/all FPU 1 0 80 80 80 80
		all/all Hypercall 1 1 5 5 5 5
		all/all Idle 1 0 45 45 45 45
	END
}

# kvm_reenter names the vCPU, as kvm_enter does.
vcpus() {
	report loongarch --per-vcpu <<-'END' && says 'VCPU 3, thread 1000' "$tmp/report"
		1000 kvm_reenter vcpu_id=3
		1100 kvm_exit vcpu_id=3 reason=23
		1110 kvm_reenter vcpu_id=3
	END
}

ok "perf of this machine is built" "$TOOLS/perf" FOR=host
ok "exits of riscv take from kvm_exit to kvm_entry" riscv
ok "LoongArch's guest runs after kvm_reenter" loongarch
ok "kvm_reenter names LoongArch's vCPU" vcpus
plan
