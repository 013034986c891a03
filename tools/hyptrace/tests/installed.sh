#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A Debian 13 arm64 machine with the packages of `make deb', for test_deb.py, which calls it:
#
#   installed.sh setup ROOT PACKAGE...    mmdebstrap's hook: install the packages by dpkg
#   installed.sh disk ROOT DISK           make the disk that EFI firmware boots
#   installed.sh                          on the machine: answer to what a user types in there
#
# The kernel is a unified kernel image, which systemd-boot starts from the EFI system partition.
set -e

UNIT='[Service]
Type=oneshot
ExecStart=/usr/local/sbin/hyptrace-test
ExecStopPost=/usr/bin/systemctl poweroff --no-block
[Install]
WantedBy=multi-user.target'

setup() {
	root=$1
	shift
	mkdir -p "$root/efi" "$root/etc/kernel" "$root/packages"
	echo "root=PARTLABEL=root rw console=ttyAMA0 kvm-arm.mode=protected" >"$root/etc/kernel/cmdline"
	printf '%s\n' layout=uki uki_generator=ukify BOOT_ROOT=/efi >"$root/etc/kernel/install.conf"
	echo hyptrace >"$root/etc/hostname"
	echo "$UNIT" >"$root/etc/systemd/system/hyptrace-test.service"
	cp "$0" "$root/usr/local/sbin/hyptrace-test"
	cp "$@" "$root/packages"
	mount --bind "$root/efi" "$root/efi"    # bootctl asks for a file system of its own
	status=0    # The scripts of the packages make the initrd and the image.
	SYSTEMD_RELAX_ESP_CHECKS=1 chroot "$root" sh -ec 'systemd-machine-id-setup
		bootctl --quiet --esp-path=/efi --no-variables install
		dpkg --install /packages/*.deb
		systemctl enable hyptrace-test.service
		ls /efi/EFI/Linux/*.efi' || status=$?
	umount "$root/efi"
	rm -r "$root/packages"
	return "$status"
}

# Two partitions, filled without mounting them
disk() {
	esp=$2.esp fs=$2.fs
	mkfs.vfat -n ESP -C "$esp" 262144
	mcopy -s -i "$esp" "$1/efi"/* ::
	rm -rf "${1:?}/efi"/*
	mke2fs -q -t ext4 -d "$1" "$fs" 3072M
	truncate -s 3330M "$2"
	printf '%s\n' "label: gpt" "start=1MiB, size=256MiB, type=uefi, name=esp" \
		"size=3072MiB, type=linux, name=root" | sfdisk "$2"
	dd if="$esp" of="$2" bs=1M seek=1 conv=notrunc,sparse
	dd if="$fs" of="$2" bs=1M seek=257 conv=notrunc,sparse
	rm "$esp" "$fs"
}

# The guest: this kernel, and a program that says hello
make_guest() {
	mkdir -p initrd/bin
	cp /bin/busybox initrd/bin
	ln -s busybox initrd/bin/sh
	cat >initrd/init <<-'END'
		#!/bin/sh
		echo "the guest is up: $(busybox uname -r)"
		busybox poweroff -f
	END
	chmod +x initrd/init
	(cd initrd && find . | cpio --quiet -o -H newc) >initrd.img
	cat >run-guest <<-END
		#!/bin/sh
		exec qemu-system-aarch64 -accel kvm -cpu host -M virt,gic-version=host -m 512 -nographic \\
			-nodefaults -serial stdio -no-reboot -kernel /boot/vmlinuz-$(uname -r) -initrd initrd.img \\
			-append "console=ttyAMA0 quiet panic=-1" </dev/null
	END
	chmod +x run-guest
}

# What a user types in, and a recording of a guest that Debian's QEMU runs
answer() {
	cd /root
	make_guest
	while read -r line; do
		echo "# $line"
		HOME=/root sh -c "$line" </dev/null || echo "exit status $?"
	done <<-'END'
		uname -srm
		ls -d /sys/firmware/efi
		dpkg -l "linux-image-*" hyptrace-tools trace-cmd qemu-system-arm | grep ^ii
		dmesg | grep -o 'kvm.* mode initialized.*'
		trace-cmd record -C boot -e kvm_entry -B hypervisor -C boot -e hypervisor ./run-guest
		trace-cmd report >report 2>&1; wc -l <report
		grep -c "hyp_enter:.*reason=guest" report
		grep -A 12 -m 1 guest_enter: report
		grep -c "UNKNOWN EVENT\|FAILED" report
		hypstat report | head -n 2
		hypstat hist --by exit ./run-guest
		ls /usr/share/man/man1/hypstat*
		hyptrace-perf kvm stat record -o stat -a ./run-guest >/dev/null
		hyptrace-perf kvm stat report -i stat --stdio 2>&1
	END
	echo "# end"
}

case ${1:-} in
setup | disk) "$@" ;;
*) answer >/dev/virtio-ports/hyptrace.output 2>&1 ;;
esac
