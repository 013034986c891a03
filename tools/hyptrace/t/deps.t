#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Missing packages: installed, or the command to do so is named. The package
# tools are played: what matters is what is asked of them.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"

# play NAME SCRIPT: stand in for a program.
play() {
	mkdir -p "$tmp/bin"
	printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

# The scratch repository keeps the log of the played apt from the real one.
scratch_repo "$tmp/repo"
deps() {
	rm -f "$tmp/asked"
	# shellcheck disable=SC2086 # a list of steps
	PATH=$tmp/bin:$PATH exits "$1" "$tmp/repo/tools/hyptrace/deps" ${2:-vm qemu} </dev/null
}

ask="echo \"\$*\" >>$tmp/asked"
play dpkg-query 'echo not-installed'
play apt-get "$ask"

as_root() {
	play id 'echo 0'
	deps 0 && says "install -y --no-install-recommends cpio qemu-system-arm" "$tmp/asked"
}

with_sudo() {
	play id 'echo 1000'
	play sudo "echo sudo >>$tmp/asked; [ \"\$1\" = -n ] || exec \"\$@\""
	deps 0 && says sudo "$tmp/asked" && says "install -y" "$tmp/asked"
}

without_sudo() {
	play id 'echo 1000'
	play sudo 'exit 1'
	deps 1 && says "run as root: apt-get install cpio qemu-system-arm" &&
		one_line && [ ! -e "$tmp/asked" ]
}

offline() {
	play id 'echo 0'
	play apt-get 'echo "W: Failed to fetch the list" >&2; echo "E: no package"; exit 100'
	deps 1 && says "can't install cpio qemu-system-arm: Failed to fetch the list" && one_line
}

old_lists() {
	play id 'echo 0'
	play apt-get "$ask; [ \$1 = update ] && touch $tmp/updated; [ -e $tmp/updated ]"
	deps 0 && says update "$tmp/asked" && [ "$(grep -c install "$tmp/asked")" = 2 ]
}

# aged DAYS: apt's lists are so old.
aged() {
	play id 'echo 0'
	play apt-config "echo \"lists='$tmp/lists/'\""
	mkdir -p "$tmp/lists/partial"
	touch -d "$1 days ago" "$tmp/lists" "$tmp/lists/partial"
	rm -f "$tmp/repo/build/.apt-tried"
}

day_old() {
	aged 2
	play apt-get "$ask"
	deps 0 refresh && says update "$tmp/asked"
}

recent() {
	aged 0
	play apt-get "$ask"
	deps 0 refresh && [ ! -e "$tmp/asked" ]
}

# The failure is named, and another attempt is not made at once.
still_offline() {
	aged 2
	play apt-get "$ask; echo 'E: no network'; exit 100"
	deps 0 refresh && says "can't fetch apt's lists: no network" && says "going on with them" &&
		deps 0 refresh && [ ! -e "$tmp/asked" ]
}

partly_offline() {
	aged 2
	play apt-get "echo 'W: Failed to fetch one list'"
	deps 0 refresh && says "not all renewed: Failed to fetch one list"
}

not_root() {
	aged 2
	play id 'echo 1000'
	play sudo 'exit 1'
	deps 0 refresh && says "run as root: apt-get update" && says "going on with them"
}

complete() {
	play dpkg-query 'echo installed'
	play apt-get 'exit 1'
	deps 0
}

ok "root installs what is missing" as_root
ok "sudo is used where there is one" with_sudo
ok "without, the command to run is named" without_sudo
ok "what can't be installed is one clear line" offline
ok "lists that are missing or old are fetched once" old_lists
ok "lists older than a day are renewed" day_old
ok "younger ones are not" recent
ok "without a network the old ones are used, with a line that says so" still_offline
ok "a list that can't be renewed is named" partly_offline
ok "so are the old ones without sudo" not_root
ok "nothing missing, nothing done" complete
plan
