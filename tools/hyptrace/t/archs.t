#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Compile what is not arm64's for other machines, with no warning by W=1: x86-64, with the test
# remote as a module and built in with its KUnit suites; 32-bit Arm, which has no remote tracing
# and no KVM; RISC-V.
#
# ARCHS=".."	these alone, of x86-m x86-y arm riscv
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"
. "$TOOLS/kbuild.sh"

: "${ARCHS:=x86-m x86-y arm riscv}"
assign ARCHS "$@"
need kernel archs
"$TOOLS/tree" >&2

# options: those of $machine, as NAME=value
options() {
	for option in BPF_SYSCALL BUG EXPERT FTRACE FTRACE_SYSCALLS HIST_TRIGGERS \
		KPROBES KPROBE_EVENTS KUNIT MMU MODULES NET PERF_EVENTS PRINTK SMP \
		TRACEPOINT_KUNIT_TEST TRACE_SYSCALLS_KUNIT_TEST UPROBE_EVENTS; do
		echo "$option=y"
	done
	case $machine in
	x86-m) echo 64BIT=y FUNCTION_TRACER=y TRACE_REMOTE_TEST=m TRACE_REMOTE_KUNIT_TEST=n ;;
	x86-y)
		echo 64BIT=y TRACE_REMOTE_TEST=y TRACE_REMOTE_KUNIT_TEST=y HYPERVISOR_GUEST=y \
			VIRTUALIZATION=y HIGH_RES_TIMERS=y KVM=y KVM_AMD=y KVM_INTEL=y
		;;
	arm) echo FUNCTION_TRACER=y ARCH_MULTIPLATFORM=y ARCH_MULTI_V7=y ARCH_VIRT=y ;;
	riscv) echo NONPORTABLE=y 64BIT=y VIRTUALIZATION=y KVM=y ;;
	esac | tr ' ' '\n'
}

# Options of ours that this machine must have got
wanted() {
	printf '%s=y\n' BPF_EVENTS FTRACE_SYSCALLS TRACEPOINT_KUNIT_TEST TRACE_SYSCALLS_KUNIT_TEST
	case $machine in
	x86-m) echo TRACE_REMOTE_TEST=m ;;
	x86-y) printf '%s=y\n' TRACE_REMOTE_TEST TRACE_REMOTE_KUNIT_TEST KVM_AMD KVM_INTEL ;;
	riscv) echo KVM=y ;;
	esac
}

# What is made: the directories of our files, and the call sites of system calls
targets() {
	echo fs/tracefs/ kernel/bpf/ kernel/events/ kernel/trace/ kernel/tracepoint.o \
		kernel/tracepoint_test.o net/bpf/test_run.o
	case $machine in
	arm) echo arch/arm/kernel/ptrace.o ;;
	riscv) echo kernel/entry/common.o arch/riscv/kvm/ ;;
	x86-m) echo arch/x86/events/core.o ;;
	x86-y) echo arch/x86/events/core.o arch/x86/kvm/ kernel/entry/common.o ;;
	esac
}

# Files of ours that the machine has no use for
not_for_it() {
	case $machine in
	x86-m) printf '%s\n' /remote/tests/test ^virt/kvm/ ^arch/x86/kvm/ ;;
	arm) printf '%s\n' /remote/ /ring_buffer_reader _remote.c /trace_ring.c ^virt/kvm/ ;;
	riscv) printf '%s\n' /remote/ /ring_buffer_reader _remote.c /trace_ring.c /trace_events_hist.c ;;
	esac
	# Dumps are for a remote that can panic; t/uml.t builds for UML.
	printf '%s\n' /trace_dumper.c /remote/dump.c ^arch/x86/um/
	grep -qx CONFIG_HAVE_KVM_GUEST_FRAMES=y "$out/.config" || echo /guest_frame.c
}

kbuild() {
	source_make "$arch" -C "$BUILD/tree" "O=$out" -j"$(nproc)" "$@" >"$out.log" 2>&1 || {
		grep -E -A 5 'error:|Error [0-9]' "$out.log" | head -n 30
		return 1
	}
}

configure() {
	rm -rf "$out"
	mkdir -p "$out"
	options | sed 's/^/CONFIG_/' >"$tmp/config"
	kbuild "KCONFIG_ALLCONFIG=$tmp/config" allnoconfig || return
	for option in $(wanted); do
		grep -x "CONFIG_$option" "$out/.config" || { echo "no $option"; return 1; }
	done
}

builds() {
	# shellcheck disable=SC2046 # a list
	kbuild W=1 $(targets) && ! our_warnings "$out.log"
}

all_compiled() {
	not_for_it >"$tmp/not"
	c_files | grep -v -f "$tmp/not" >"$tmp/for-it"
	not_compiled "$out" | grep -v -f "$tmp/not" >"$tmp/left" || :
	cat "$tmp/left"
	[ ! -s "$tmp/left" ] && [ "$(wc -l <"$tmp/for-it")" -ge 15 ]
}

# Where there is none, modpost stops.
licensed() {
	find "$out/kernel/trace" -name '*.mod' | sed 's/mod$/o/' >"$tmp/modules"
	xargs grep -L license= <"$tmp/modules" >"$tmp/unlicensed" || :
	cat "$tmp/unlicensed"
	says remote/tests/trace_remote_test.o "$tmp/modules" && [ ! -s "$tmp/unlicensed" ]
}

# A division that takes a function of libgcc's, which the kernel does not have
no_divisions() {
	! find "$out/kernel/trace" -name '*.o' -exec arm-linux-gnueabi-nm -uA {} + |
		grep -E '__aeabi_u?ldivmod'
}

for machine in $ARCHS; do
	case $machine in
	x86-*) arch=x86_64 c_arch=x86 ;;
	arm | riscv) arch=$machine c_arch=$machine ;;
	*) die "ARCHS: no machine $machine" ;;
	esac
	out=$BUILD/kernel-$machine
	ok "$machine: a configuration" configure
	ok "$machine: it builds without a warning" builds
	ok "$machine: each file is compiled" all_compiled
	case $machine in
	x86-m) ok "$machine: each module has a license" licensed ;;
	arm) ok "$machine: no division of libgcc's" no_divisions ;;
	esac
	rm -rf "$out"
done
plan
