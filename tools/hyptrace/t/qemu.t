#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Which QEMU runs the VMs. QEMU, apt and the other suite are played.
. "$(dirname "$0")/tap.sh"

repo=$tmp/repo
scratch_repo "$repo"
mkdir -p "$tmp/bin" "$tmp/root/usr/lib"

# program FILE COMMANDS
program() {
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

# The machine's QEMU has one version, apt's another.
machine() {
	program "$tmp/bin/qemu-system-aarch64" "[ \$1 != --version ] || {
		echo 'QEMU emulator version $1 (Debian 1:$1+dfsg-7)'; exit; }
		echo the machine has: \"\$@\""
	program "$tmp/bin/apt-cache" "echo '  Candidate: 1:$2+dfsg-7+deb12u18+b3'"
}

runs() {
	PATH=$tmp/bin:$PATH exits 0 "$repo/tools/hyptrace/qemu" -smp 2 && says "$1" "$tmp/out"
}

newer() {
	machine 8.1.0 7.2 && runs "the machine has: -smp 2"
}

from_apt() {
	machine 7.2.9 10.0.2 && runs "the machine has: -smp 2" && says "qemu-system-arm" "$tmp/installed"
}

older() {
	machine 7.2.9 7.2 && runs "Debian 13's" && says "$tmp/root/usr/bin/qemu-system-aarch64" "$tmp/out" &&
		says "-smp 2" "$tmp/out" && says "using Debian 13's"
}

not_there() {
	program "$repo/tools/hyptrace/suite" "exit 1"
	machine 7.2.9 7.2 && runs "the machine has: -smp 2" && says "using this machine's QEMU"
}

program "$repo/tools/hyptrace/deps" "[ \$1 != qemu ] || echo qemu-system-arm >$tmp/installed"
program "$repo/tools/hyptrace/suite" "echo $tmp/root"
program "$tmp/root/usr/lib/ld-linux-machine.so.2" "echo Debian 13\\'s: \"\$@\""
ok "the machine's, if it is new enough" newer
ok "the one that apt installs, if that is" from_apt
ok "else Debian 13's, which is said" older
ok "the machine's where that can't be had, with a warning" not_there
plan
