#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Linux, as a guest of KVM's, boots and powers off with every event of the hypervisor on
# and read; the trace has each exit that KVM counted.
#
# FORMS="protected,cortex-a76 nvhe,max"    KVM's modes and CPUs; `all': each
# and what the runner takes: CONFIG SMP
. "$(dirname "$0")/tap.sh"

# In hVHE form 6.12's KVM shows a guest features of QEMU 10's newest CPU that then trap: init
# dies of SIGILL, without tracing too.
: "${FORMS:=protected,cortex-a76}" "${CONFIG:=default}" "${SMP:=2}"
assign "FORMS CONFIG SMP" "$@"
export CONFIG SMP
[ "$FORMS" != all ] || FORMS="protected,cortex-a76 protected,cortex-a72 nvhe,max"
limit=300

# The guest's kernel is the host's.
lay_out() {
	mkdir "$tmp/files"
	cp -R "$BUILD/selftest/." "$tmp/files"
	cp "$BUILD/kernel-$CONFIG/arch/arm64/boot/Image" "$tmp/files"
	cp "$TOOLS/guests/traced.sh" "$tmp/files"
	echo "$limit" >"$tmp/files/limit"
	"$TOOLS/guests/qemu-files" "$tmp/files"
}

# boot MODE CPU
boot() {
	"$TOOLS/vm" "MODE=$1" "CPU=$2" SCRIPT="$TOOLS/guests/linux.sh" FILES="$tmp/files" \
		OUT="$out" TIMEOUT=$((limit + 120))
}

# It came up, and went down itself.
is_up() {
	cat "$out/guest.console"
	tr -d '\r' <"$out/guest.console" | grep -qx 'the guest is up: Linux aarch64, 2 CPUs' &&
		grep -q 'reboot: Power down' "$out/guest.console"
}

"$TOOLS/selftest"
lay_out
for form in $FORMS; do
	mode=${form%%,*} cpu=${form#*,}
	out=$tmp/$mode-$cpu
	ok "$mode $cpu: the guest ends, and the VM, well" boot "$mode" "$cpu"
	ok "$mode $cpu: the guest is up" is_up
	ok "$mode $cpu: the trace adds up" "$TOOLS/guests/adds-up" "$out/guest"
	echo "# $(cat "$out/guest.runs") runs of the guest, $(wc -l <"$out/guest.trace") lines"
done
plan
