#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The runner: what the guest's script says comes out, and how it ends is the
# exit status, whichever way that is.
# shellcheck disable=SC2016 # for the shell in the guest
. "$(dirname "$0")/tap.sh"

# vm STATUS SCRIPT-TEXT [VARIABLE=value]...
vm() {
	status=$1
	echo "$2" >"$tmp/script"
	shift 2
	exits "$status" "$TOOLS/vm" SCRIPT="$tmp/script" TIMEOUT=120 "$@"
}

exit_status() {
	vm 7 'echo hello; echo error >&2; exit 7' && printf 'hello\nerror\n' | cmp - "$tmp/out"
}

no_output() {
	vm 0 : && [ ! -s "$tmp/out" ]
}

large_output() {
	vm 0 'seq 200000' && seq 200000 | cmp - "$tmp/out"
}

left_behind() {
	vm 0 '(while :; do echo busy; done) & exit 0'
}

live() {
	echo 'echo first; while :; do sleep 1; done' >"$tmp/script"
	"$TOOLS/vm" SCRIPT="$tmp/script" TIMEOUT=120 >"$tmp/live" 2>/dev/null &
	for _ in $(seq "$(scaled 600)"); do
		! grep -q first "$tmp/live" || break
		sleep 0.1
	done
	kill $!
	wait $! || :
	grep -q first "$tmp/live"
}

hang() {
	vm 124 'echo begun; while :; do sleep 1; done' TIMEOUT=8 && says begun "$tmp/out" &&
		says "no end after $(scaled 8) s" && says "Run /init"
}

panics() {
	vm 125 'echo c >/proc/sysrq-trigger' CONSOLE="$tmp/console" && says "Kernel panic" &&
		says "sysrq triggered crash" && says "Booting Linux" "$tmp/console" &&
		says "sysrq triggered crash" "$tmp/console"
}

splat() {
	vm 125 "echo '$1' >/dev/kmsg; exit 0" && says "the kernel complained: " && says "$1"
}

# kcsan STATUS FUNCTION [CALLER]: a report of a race there, after one in our functions that tells
# of none. The other access is a timer's that interrupts one of our functions.
kcsan() {
	cat >"$tmp/report" <<-END
		BUG: KCSAN: data-race in hrtimer_active / $2
		read to 0xffff000001234567 of 8 bytes by interrupt on cpu 0:
		 hrtimer_active+0x7c/0x110
		 el1h_64_irq+0x64/0x68
		 rb_reader_update+0x10/0x20
		write to 0xffff000001234567 of 8 bytes by task 12 on cpu 1:
		 $2+0x10/0x200
		 ${3:-kthread}+0x100/0x120
		==================================================================
		 rb_reader_update+0x10/0x20
	END
	vm "$1" "while read -r line; do echo \"\$line\" >/dev/kmsg; done <<-'END'
		$(cat "$tmp/report")
	END
	exit 0"
}

# The script said nothing wrong, but it ended before it could say anything.
no_status() {
	vm 125 'poweroff -f' && says "ended without a status"
}

# The text of a status or a splat in the output decides nothing.
only_text() {
	vm 0 'echo 7; echo "Kernel panic - not syncing"; exit 0'
}

files() {
	mkdir -p "$tmp/files/sub"
	echo data >"$tmp/files/sub/data"
	vm 0 'cp -r sub /out && uname -m' FILES="$tmp/files" OUT="$tmp/received" &&
		says aarch64 "$tmp/out" && diff -r "$tmp/files" "$tmp/received"
}

# Time limits of the runner, of what runs in the guest, and of its kernel
slow() {
	SCALE=300 vm 124 'echo "$HYP_TRACE_SCALE"; cat /proc/cmdline; while :; do sleep 1; done' TIMEOUT=4 &&
		says "no end after 12 s" && says 300 "$tmp/out" &&
		says "rcupdate.rcu_cpu_stall_timeout=63 " "$tmp/out"
}

mode() {
	vm 0 'dmesg | grep "kvm \[1\]"' MODE="$1" CPU="$2" && says "$3" "$tmp/out"
}

variables() {
	vm 0 'nproc; cat /proc/cmdline; free -m; ls /sys/bus/virtio/devices' SMP=3 MEM=512M CMDLINE=one.two=3 \
		QEMU_ARGS="-device virtio-rng-device" || return
	says one.two=3 "$tmp/out" && says virtio1 "$tmp/out" && [ "$(head -n 1 "$tmp/out")" = 3 ] &&
		[ "$(awk '/^Mem/ { print ($2 < 512) }' "$tmp/out")" = 1 ]
}

own_image() {
	cp "$BUILD/kernel-default/arch/arm64/boot/Image" "$tmp/Image"
	vm 0 'uname -m' IMAGE="$tmp/Image" CONFIG=none && says aarch64 "$tmp/out"
}

# One that is built, and one that `make kernel TREE=` would have built
own_tree() {
	mkdir -p "$tmp/own/arch/arm64/boot"
	mv "$tmp/Image" "$tmp/own/arch/arm64/boot"
	vm 0 'uname -m' TREE="$tmp/own" && says aarch64 "$tmp/out" || return
	rm -r "$tmp/own/arch"
	refuses "make kernel TREE=" TREE="$tmp/own"
}

# gdb stops where EL2 begins a guest's run, and at a function of the host kernel.
debug() {
	cat >"$tmp/commands" <<-'END'
		break __kvm_nvhe_handle_trap
		break kernel_init
		continue
		info symbol $pc
		continue
		info symbol $pc
		delete
		detach
	END
	echo 'echo ran' >"$tmp/script"
	rm -f "$BUILD/gdb"
	"$TOOLS/vm" SCRIPT="$tmp/script" DEBUG=1 TIMEOUT=120 MODE="$1" CPU="$2" >"$tmp/live" 2>"$tmp/err" &
	for _ in $(seq "$(scaled 600)"); do
		! [ -S "$(sed -n 's/^target remote //p' "$BUILD/gdb" 2>/dev/null)" ] || break
		sleep 0.1
	done
	timeout "$(scaled 60)" gdb-multiarch -nx -batch -x "$BUILD/gdb" -x "$tmp/commands" >"$tmp/gdb" 2>&1
	wait $! || { cat "$tmp/err" "$tmp/gdb"; return 1; }
	says ran "$tmp/live" && says "__kvm_nvhe_handle_trap in section" "$tmp/gdb" &&
		says "kernel_init in section" "$tmp/gdb"
}

refuses() {
	text=$1
	shift
	exits 125 "$TOOLS/vm" "$@" && says "$text" && one_line
}

shells() {
	echo 'exit 7' >"$tmp/script"
	exits 2 make -C "$ROOT" vm SCRIPT="$tmp/script" && says "Error 7"
}

ok "the script's exit status and its output come out" exit_status
ok "make vm fails with it" shells
ok "no output" no_output
ok "large output is whole" large_output
ok "output comes as it is written" live
ok "what the script leaves running is no hindrance" left_behind
ok "a hang ends at TIMEOUT" hang
ok "a panic fails, and the console is there" panics
ok "a warning fails, whatever the script says" splat "WARNING: CPU: 0 PID: 1 at"
ok "so does an error of KASAN" splat "BUG: KASAN: use-after-free"
ok "a race of ours fails" kcsan 125 rb_reader_update
ok "and one in a static function that was made another" kcsan 125 trace_remote_open.constprop.0
ok "and one in a function that ours calls" kcsan 125 rb_move_tail hyp_trace_get
ok "a race of the kernel's own does not, nor one in an interrupt of ours" kcsan 0 rb_move_tail
ok "and a hypervisor's panic" splat "nVHE hyp panic at:"
ok "an end without a status fails" no_status
ok "the output's text decides nothing" only_text
ok "files go in and out" files
ok "SMP, MEM, CMDLINE and QEMU_ARGS arrive" variables
ok "on a slow machine all time limits are longer" slow
ok "protected, -cpu max" mode protected max "Protected hVHE mode"
ok "protected, cortex-a72" mode protected cortex-a72 "Protected nVHE mode"
ok "nvhe" mode nvhe max "Hyp nVHE mode"
ok "vhe" mode vhe max " VHE mode"
ok "none" mode none max "disabled"
ok "an Image of the user's own" own_image
ok "a tree of the user's own" own_tree
need debug
ok "gdb has the symbols of EL2, protected, -cpu max" debug protected max
ok "gdb has the symbols of EL2, nvhe, cortex-a72" debug nvhe cortex-a72
ok "vhe on a CPU without is refused" refuses "cortex-a72 has no VHE" MODE=vhe CPU=cortex-a72
ok "an unknown mode is refused" refuses "no mode hvhe" MODE=hvhe
ok "a script that is not there is refused" refuses "no script" SCRIPT="$tmp/none"
ok "a timeout that is no number is refused" refuses "TIMEOUT" TIMEOUT=soon
plan
