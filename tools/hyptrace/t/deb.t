#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The packages of `make deb` on a Debian 13 machine: it boots from EFI firmware, and Debian's
# trace-cmd records the hypervisor while Debian's QEMU runs a guest with KVM. Takes hours.
#
# FLAVOUR=cloud-arm64
# LSMOD=file	with only these modules, in less time; installed/lsmod has those of this machine
. "$(dirname "$0")/tap.sh"

: "${FLAVOUR:=cloud-arm64}"
export FLAVOUR
disk=$BUILD/deb/machine/$FLAVOUR.img
said=$tmp/machine

build() {
	"$TOOLS/deb" >"$tmp/packages"
	cat "$tmp/packages"
	for package in "linux-image-[0-9.]*-hyptrace-$FLAVOUR" "linux-headers-[0-9.]*-hyptrace-$FLAVOUR" \
		hyptrace-tools; do
		grep -q "/$package.*\.deb$" "$tmp/packages" || return
	done
}

# To build a module there, kbuild runs these programs of the headers package.
headers() {
	dpkg-deb --fsys-tarfile "$(grep /linux-headers- "$tmp/packages")" |
		tar -x -C "$tmp" --wildcards '*/scripts/basic/fixdep' '*/scripts/mod/modpost'
	for program in basic/fixdep mod/modpost; do
		readelf -h "$tmp"/usr/src/linux-headers-*/scripts/$program | grep 'Machine: *AArch64' || return
	done
}

image() {
	# shellcheck disable=SC2046 # a list
	"$TOOLS/installed/image" "$disk" $(grep "/linux-image-\|/hyptrace-tools" "$tmp/packages")
}

boot() {
	"$TOOLS/installed/boot" "$disk" >"$said"
}

# answers COMMAND: what the machine said to it
answers() {
	command="# $1" awk '/^# / { on = $0 == ENVIRON["command"]; next } on' "$said"
}

# answer COMMAND REGEX: each line of it, and there is one
answer() {
	answers "$1" >"$tmp/answer"
	cat "$tmp/answer"
	grep -qE "$2" "$tmp/answer" && ! grep -qvE "$2" "$tmp/answer"
}

# An image, and no other kernel
installed() {
	answers 'dpkg -l "linux-image-*" hyptrace-tools trace-cmd qemu-system-arm | grep ^ii' >"$tmp/answer"
	cat "$tmp/answer"
	[ "$(grep -c '^ii  linux-image-' "$tmp/answer")" = 1 ] &&
		grep -q "^ii  linux-image-.*-hyptrace-$FLAVOUR" "$tmp/answer"
}

guest_ran() {
	cat "$said"
	tr -d '\r' <"$said" | grep -q "^the guest is up: .*-hyptrace-$FLAVOUR$"
}

# As many as a Linux that boots has at least
exits_recorded() {
	answers 'grep -c "hyp_enter:.*reason=guest" report' >"$tmp/answer"
	cat "$tmp/answer"
	[ "$(cat "$tmp/answer")" -gt 1000 ]
}

# As in its table: the name, and how many there were
perf_names_exits() {
	answers 'hyptrace-perf kvm stat report -i stat --stdio 2>&1' >"$tmp/answer"
	cat "$tmp/answer"
	grep -qE '^ *(DABT_LOW|WFx|SYS64|IRQ) +[1-9][0-9]* ' "$tmp/answer"
}

ok "make deb builds an image, headers and tools" build
ok "the headers have programs for arm64" headers
ok "they install on a Debian 13 arm64 machine" image
ok "it boots, and the test there comes to its end" boot
ok "the kernel is the package's" answer 'uname -srm' "^Linux 6\.12\.[0-9]+-hyptrace-$FLAVOUR aarch64$"
ok "and no other one is installed" installed
ok "EFI firmware booted it" answer 'ls -d /sys/firmware/efi' '^/sys/firmware/efi$'
ok "KVM is protected" answer "dmesg | grep -o 'kvm.* mode initialized.*'" 'Protected hVHE mode initialized'
ok "Debian's QEMU ran a guest with KVM" guest_ran
ok "trace-cmd recorded its exits" exits_recorded
ok "and knows all events" answer 'grep -c "UNKNOWN EVENT\|FAILED" report' '^0$|^exit status 1$'
ok "perf of the package names the exits" perf_names_exits
sed 's/^/# /' "$said"
plan
