#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Link and boot a kernel with options of ours turned off: OFF="NAME...". t/variants.t compiles
# them alone. Made of the default kernel, and removed.
. "$(dirname "$0")/script.sh"

: "${OFF:?OFF=\"NAME...\"}"
out=$BUILD/kernel-lint
image=$out/arch/arm64/boot/Image

links() {
	rm -f "$out/vmlinux" "$image"
	# shellcheck disable=SC2086 # a list
	exits 0 "$TOOLS/kernel" CONFIG=lint OPTIONS="$(printf '%s=n ' $OFF)" TARGETS=Image &&
		[ -e "$image" ] && ! grep 'warning:' "$out.log"
}

# A guest runs, and is traced where there is tracing.
boots() {
	runs IMAGE="$image" "$@" <<-END
		off=" $OFF "
		cd /sys/kernel/tracing
		if [ "\${off#* KVM_HYP_TRACING }" = "\$off" ]; then
			cd hypervisor
			echo 1 >tracing_on
			exits=\$(guest | sed 's/.* exits=\([0-9]*\) .*/\1/')
			echo 0 >tracing_on
			[ "\$(grep -c 'hyp_exit reason=guest' trace)" = "\$exits" ]
		else
			[ ! -e hypervisor ]
			guest
		fi
	END
}

"$TOOLS/kernel" CONFIG=default >&2
rm -rf "$out"
cp -a "$BUILD/kernel-default" "$out"
ok "a kernel without $OFF" links
ok "it boots, protected" boots MODE=protected
ok "it boots, nvhe" boots MODE=nvhe CPU=cortex-a72
rm -rf "$out"
plan
