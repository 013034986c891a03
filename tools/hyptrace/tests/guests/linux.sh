#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the VM: boot Linux as a guest of Debian's QEMU, with all traced and read as it comes. To /out:
# what the guest said on its console (guest.console), the trace and what was counted. The file limit
# has the seconds that it may take.
cp -R usr /
. ./traced.sh

# A user space of one program and one script
mkdir initrd initrd/bin initrd/dev initrd/proc
cp /bin/busybox initrd/bin
cat >initrd/init <<'END'
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs none /dev
/bin/busybox mount -t proc none /proc
exec >/dev/console
echo "the guest is up: $(/bin/busybox uname -sm), $(/bin/busybox nproc) CPUs"
/bin/busybox poweroff -f
END
chmod 755 initrd/init
(cd initrd && find . | cpio -o -H newc) >initrd.cpio 2>/dev/null

traced_start
cat "$HYP/trace_pipe" >/out/guest.trace &
reader=$!
timeout -k 5 "$(cat limit)" qemu-system-aarch64 -M virt,accel=kvm,gic-version=3 -cpu host \
	-smp 2 -m 128M -nodefaults -nic none -display none -no-reboot -kernel kvm/Image \
	-initrd initrd.cpio -append "console=ttyAMA0 quiet panic=-1" -serial file:/out/guest.console
status=$?
traced_stop
wait "$reader"
traced_count /out/guest
exit "$status"
