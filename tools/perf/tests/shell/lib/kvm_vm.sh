# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Record a VM that leaves the guest a known number of times, in $data/perf.data. It takes
# /dev/kvm, and arm64 or AMD's SVM. What its exits are called is in $hypercall, $access (to
# the device), $emulated (an instruction), $write and $read (of the device).

# shellcheck disable=SC2034 # as below
err=0
data=$(mktemp -d /tmp/perf_kvm_stat.XXXXXX)

trap 'rm -rf "$data"' EXIT
trap 'exit 1' TERM INT

skip()
{
	echo "$1 [Skipped]"
	exit 2
}

# within_a_minute COMMAND...: it succeeds at last.
within_a_minute()
{
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		sleep 0.1
	done
}

# wait_for_round NUMBER: the VM has made it.
wait_for_round()
{
	within_a_minute grep -qx "round $1" "$data/out"
}

# judge TEST: the last command, or condition, says whether $data/report is right.
# shellcheck disable=SC2034,SC2319 # those who source this exit with $err
judge()
{
	if [ $? -eq 0 ]; then
		echo "$1 [Success]"
	else
		echo "$1 [Failed]"
		cat "$data/report"
		err=1
	fi
}

# expect_number TEST EVENT FOUND EXPECTED
expect_number()
{
	[ "$3" = "$4" ] || echo "$1: $2 $3, not $4"
	[ "$3" = "$4" ]
	judge "$1"
}

# start_vm OPTION...
start_vm()
{
	mkfifo "$data/in"
	perf test -w kvm_exits vcpus=2 hvc=100 sysreg=50 mmio=7 "$@" \
		< "$data/in" > "$data/out" &
	exec 3> "$data/in"
	wait_for_round 0
}

# Only vCPU 0 returns to user space, 7 times; vCPU 1 does all else twice as often.
record()
{
	cat > "$data/round" <<-'SCRIPT'
		echo >&3
		until grep -qx "round 1" "$1"; do sleep 0.1; done
	SCRIPT
	perf kvm stat record -a -o "$data/perf.data" sh "$data/round" "$data/out" > "$data/log" 2>&1
}

# record_vm OPTION...: with these options of the VM
record_vm()
{
	[ -w /dev/kvm ] || skip "perf kvm stat: no /dev/kvm"
	start_vm "$@" || skip "perf kvm stat: no VM"
	record || skip "perf kvm stat: not allowed to record"
}

# shellcheck disable=SC2034 # for those who source this
case $(uname -m) in
aarch64) hypercall=HVC64 access=DABT_LOW emulated=SYS64 write=0x10000000:W read=0x10000008:R ;;
x86_64)
	grep -qw svm /proc/cpuinfo || skip "perf kvm stat: the guest is for AMD's SVM"
	hypercall=hypercall access=npf emulated=cpuid write=0xd0000:W read=0xd0008:R
	;;
*) skip "perf kvm stat: no guest for this architecture" ;;
esac
