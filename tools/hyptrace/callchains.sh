# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the VM: what is needed to boot Linux as a guest of Debian's QEMU and to record its call chains
# with perf kvm. Makes ./boot and guest.kallsyms.

case $(uname -m) in
aarch64)
	emulator="qemu-system-aarch64 -M virt,accel=kvm,gic-version=3 -cpu host" console=ttyAMA0
	rounds=8
	;;
x86_64)
	# QEMU offers a guest's guest no state of the FPU that Linux takes for sound.
	emulator="qemu-system-x86_64 -M pc,accel=kvm -cpu qemu64" console=ttyS0
	rounds=2
	;;
esac

# A user space of one program and one script, which works for some time
mkdir initrd initrd/bin initrd/dev initrd/proc
cp /bin/busybox initrd/bin
cat >initrd/init <<END
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs none /dev
/bin/busybox mount -t proc none /proc
exec >/dev/console
for _ in $(seq -s ' ' "$rounds"); do
	/bin/busybox cat /proc/kallsyms | /bin/busybox wc -l
	/bin/busybox dd if=/dev/zero of=/dev/null bs=4k count=2000 2>/dev/null
done
/bin/busybox poweroff -f
END
chmod 755 initrd/init
(cd initrd && find . | cpio -o -H newc) >initrd.cpio 2>/dev/null

cat >boot <<END
exec timeout -k 5 $((400 * HYP_TRACE_SCALE / 100)) $emulator \
	-m 128M -nodefaults -nic none -display none -no-reboot -kernel Image -initrd initrd.cpio \
	-append "console=$console quiet panic=-1" -serial file:/out/guest.console
END

cp -R usr /
[ -e /lib64 ] || ln -s usr/lib64 /lib64
# The guest has the host's kernel, and its addresses are not random.
echo 0 >/proc/sys/kernel/kptr_restrict
cp /proc/kallsyms guest.kallsyms

# Each chain in a line with how often it was seen: fold <chains
fold() {
	awk '
		NF { line = $2 (line ? ";" : "") line; next }
		line { n[line]++; line = "" }
		END { if (line) n[line]++; for (line in n) print line, n[line] }' | sort
}
