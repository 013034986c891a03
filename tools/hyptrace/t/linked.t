#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Link and boot a kernel with options turned off, of ours: OFF="NAME...", or on: ON="NAME...".
# t/variants.t compiles them alone. Made of the default kernel, and removed.
. "$(dirname "$0")/script.sh"

: "${OFF:=}" "${ON:=}"
[ -n "$OFF$ON" ] || die 'OFF="NAME..." or ON="NAME..."'
out=$BUILD/kernel-lint
image=$out/arch/arm64/boot/Image

options() {
	for option in $OFF; do
		echo "$option=n"
	done
	for option in $ON; do
		echo "$option=y"
	done
}

links() {
	rm -f "$out/vmlinux" "$image"
	exits 0 "$TOOLS/kernel" CONFIG=lint OPTIONS="$(options)" TARGETS=Image &&
		[ -e "$image" ] && ! grep 'warning:' "$out.log"
}

# A guest runs, and is traced where there is tracing.
boots() {
	runs IMAGE="$image" "$@" <<-END
		off=" $OFF " on=" $ON "
		cd /sys/kernel/tracing
		if [ "\${off#* KVM_HYP_TRACING }" = "\$off" ]; then
			cd hypervisor
			echo 1 >tracing_on
			exits=\$(guest | sed 's/.* exits=\([0-9]*\) .*/\1/')
			echo 0 >tracing_on
			[ "\$(grep -c 'hyp_exit reason=guest' trace)" = "\$exits" ] || exit
			echo >trace
			echo "common_pid != 0" >events/hypervisor/guest_exit/filter
			echo 1 >tracing_on
			exits=\$(guest | sed 's/.* exits=\([0-9]*\) .*/\1/')
			echo 0 >tracing_on
			[ "\${on#* PID_IN_CONTEXTIDR }" != "\$on" ] || exits=0
			[ "\$(grep -c guest_exit trace)" = "\$exits" ]
		else
			[ ! -e hypervisor ]
			guest
		fi
	END
}

"$TOOLS/kernel" CONFIG=default >&2
rm -rf "$out"
cp -a "$BUILD/kernel-default" "$out"
ok "a kernel ${OFF:+without $OFF}${ON:+with $ON}" links
ok "it boots, protected" boots MODE=protected
ok "it boots, nvhe" boots MODE=nvhe CPU=cortex-a72
rm -rf "$out"
plan
