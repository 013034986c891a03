#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tracing goes on until the machine is reset, or until another kernel is started
# without a reset; and that one can trace again.
. "$(dirname "$0")/script.sh"

cat >>"$tmp/prelude" <<'END'
cd "$HYP"

# As Debian has it, with its libraries
kexec() {
	/test/root/aarch64-linux-gnu/ld-linux-aarch64.so.1 \
		--library-path /test/root/aarch64-linux-gnu /test/root/kexec "$@"
}

# Everything is traced, written and read, to the end. (No guest runs then: in plain nVHE
# mode KVM itself complains that there is no EL2 for it any more.)
trace_all() {
	echo 4096 >buffer_size_kb
	echo 1 >events/enable
	echo 1 >tracing_on
	guest
	[ "$(grep -c 'hyp_exit reason=guest' trace)" -gt 0 ]
	for reader in 1 2; do
		(while :; do cat trace_pipe; cat trace; done) >/dev/null 2>&1 &
	done
	(while :; do echo 1 >write_event; echo 1 >tracing_on; done) >/dev/null 2>&1 &
	(while :; do echo 0 >tracing_on; echo >trace; done) >/dev/null 2>&1 &
}
END

reboots_traced() {
	reboots "$@" <<-'END'
		trace_all
		echo "it reboots"
		reboot -f
	END
}

# In plain nVHE mode tracing ends before the machine does: readers get ENODEV then, those
# that wait and those that come, whether the buffer was given back by then or not.
readers_end() {
	dies MODE=nvhe "$@" <<-'END' || return
		insmod "$DIR/modules/hyp_late.ko"
		tracing_is_over() {
			dmesg | grep -q 'hyp_late: tracing has ended'
		}
		# say NAME COMMAND...: what becomes of it, in the kernel's log
		say() {
			name=$1
			shift
			echo "seen: $name: $("$@" 2>&1)" >/dev/kmsg
		}
		# begin NAME COMMAND...: a reader that waits until tracing ends
		begin() {
			name=$1
			shift
			"$@" >"/tmp/$name" 2>&1 &
			echo $! >"/tmp/$name.pid"
			until_true 10 has_opened $!
		}
		has_opened() {
			ls -l "/proc/$1/fd" | grep -q trace_pipe
		}
		# So large that no reader of pages returns for an event
		echo 256 >buffer_size_kb
		echo hypervisor:selftest >set_event
		# One that waits for the first event, and has one before it ends
		begin waiting cat trace_pipe
		echo 1 >tracing_on
		taskset 1 sh -c 'echo 1 >write_event'
		until_true 10 grep -q 'id=1$' /tmp/waiting
		begin stream fileop stream trace_pipe
		begin poll fileop poll per_cpu/cpu0/trace_pipe_raw 20000
		begin epoll fileop epoll per_cpu/cpu0/trace_pipe 20000
		begin mapped mmap block per_cpu/cpu0/trace_pipe_raw
		begin mapped_poll mmap follow per_cpu/cpu0/trace_pipe_raw
		(
			until_true 20 tracing_is_over
			ended() {
				[ ! -e "/proc/$(cat "/tmp/$1.pid")/status" ]
			}
			for name in waiting stream poll epoll mapped mapped_poll; do
				until_true 10 ended $name
				say $name tail -n 1 /tmp/$name
			done
			say pipe timeout $((5 * HYP_TRACE_SCALE / 100)) cat trace_pipe
			say nonblock fileop read trace_pipe
			say raw timeout $((5 * HYP_TRACE_SCALE / 100)) cat per_cpu/cpu0/trace_pipe_raw
			say tracing_on fileop write tracing_on 1
			echo 1 >/sys/module/hyp_late/parameters/done
		) &
		reboot -f
	END
	grep 'seen: ' "$tmp/console"
	while read -r line; do
		grep "seen: $line" "$tmp/console" || return
	done <<-'END'
		waiting: cat: read error: No such device
		stream: fileop: splice: No such device
		poll: fileop: per_cpu/cpu0/trace_pipe_raw: poll has 0x9
		epoll: ok
		mapped: ENODEV
		mapped_poll: mmap: .*: TRACE_MMAP_IOCTL_GET_READER: No such device
		pipe: cat: .*: No such device
		nonblock: ENODEV
		raw: cat: .*: No such device
		tracing_on: ENODEV
	END
}

# The next kernel is the same; its script is the second one.
kexec_files() {
	root=$("$TOOLS/suite" machine kexec kexec-tools) || return
	rm -rf "$tmp/files" "$tmp/stage"
	mkdir -p "$tmp/files/root" "$tmp/stage/test"
	cp -R "$BUILD/selftest/." "$tmp/stage/test"
	cp -R "$BUILD/selftest/." "$tmp/files"
	cp -RL "$root/usr/sbin/kexec" "$root/usr/lib/aarch64-linux-gnu" "$tmp/files/root"
	cp "$BUILD/kernel-default/arch/arm64/boot/Image" "$tmp/files/root"
	install -m 755 "$tmp/second" "$tmp/stage/test/script"
	(cat "$BUILD/rootfs.cpio" && cd "$tmp/stage" &&
		find test | cpio --quiet -o -H newc -R +0:+0) >"$tmp/files/root/initrd"
}

# With QEMU's GICv3 the next kernel hangs when it looks for its tables, whether anything is
# traced or not.
GIC2="-machine gic-version=2"

# kexecs MODE CPU: what the second kernel says comes after what the first one did.
kexecs() {
	script second <<-'END'
		trace_all
		echo 0 >tracing_on
		echo "the second kernel traces"
	END
	kexec_files && exits 0 runs MODE="$1" CPU="$2" MEM=2G QEMU_ARGS="$GIC2" \
		FILES="$tmp/files" CONSOLE="$tmp/console" TIMEOUT=90 <<-'END' || return
		kexec -s -l /test/root/Image --initrd=/test/root/initrd --reuse-cmdline
		trace_all
		echo "the first kernel traces"
		kexec -e
	END
	says "the first kernel traces" "$tmp/out" && says "the second kernel traces" "$tmp/out"
}

# pKVM's EL2 stays, and so kexec refuses, as it does without tracing; which goes on.
refuses() {
	: >"$tmp/second"
	kexec_files && exits 0 runs MEM=2G FILES="$tmp/files" <<-'END'
		trace_all
		if kexec -s -l /test/root/Image --initrd=/test/root/initrd --reuse-cmdline; then
			exit 1
		fi
		dmesg | grep "Can't kexec: CPUs are stuck in the kernel"
		guest
	END
}

ok "reboot, protected" reboots_traced MODE=protected
ok "reboot, protected, cortex-a72" reboots_traced MODE=protected CPU=cortex-a72 SMP=4
ok "reboot, nvhe" reboots_traced MODE=nvhe
ok "readers end before, nvhe" readers_end CPU=max
ok "readers end before, nvhe, cortex-a72" readers_end CPU=cortex-a72 SMP=1
ok "another kernel, nvhe" kexecs nvhe max
ok "another kernel, protected: refused" refuses
plan
