#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Missing packages: installed, or the command to do so is named. The package
# tools are played: what matters is what is asked of them.
# shellcheck disable=SC2016 # for the played programs
. "$(dirname "$0")/tap.sh"

# play NAME SCRIPT: stand in for a program.
play() {
	mkdir -p "$tmp/bin"
	printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

# The scratch repository keeps the log of the played apt from the real one.
repo=$tmp/repo
scratch_repo "$repo"
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

# sudo asks at the terminal, before apt begins.
with_password() {
	play id 'echo 1000'
	play sudo "case \$1 in
		-n) [ -e $tmp/password ] ;;
		-v) echo asked >>$tmp/password; echo password >>$tmp/asked ;;
		*) exec \"\$@\" ;;
		esac"
	rm -f "$tmp/asked"
	for _ in first second; do
		PATH=$tmp/bin:$PATH exits 0 script -qefc "$repo/tools/hyptrace/deps vm qemu" /dev/null \
			</dev/null || return
	done
	[ "$(cut -d ' ' -f 1 "$tmp/asked" | xargs)" = "password install install" ] || {
		cat "$tmp/asked"
		return 1
	}
}

without_sudo() {
	play id 'echo 1000'
	play sudo 'exit 1'
	deps 1 && says "run as root: apt-get install cpio qemu-system-arm" &&
		one_line && [ ! -e "$tmp/asked" ]
}

# The lists could not be renewed: that is the cause, and not the package that they lack.
old_offline() {
	play id 'echo 0'
	play apt-get 'case $1 in
		update) echo "W: Failed to fetch the list" ;;
		*) echo "E: no package"; exit 100 ;;
		esac'
	deps 1 && says "can't install cpio qemu-system-arm: Failed to fetch the list"
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

# All that a target of the Makefile leads to, in one call of apt.
all_at_once() {
	play dpkg-query 'echo not-installed'
	play apt-cache 'echo "  Candidate: 1:10.0.2+dfsg-1"'
	play id 'echo 0'
	play apt-get "$ask"
	deps 0 "goals run" && [ "$(wc -l <"$tmp/asked")" = 1 ] || return
	for package in make git rsync gcc bison flex cpio qemu-system-arm ccache util-linux; do
		grep -qw -- "$package" "$tmp/asked" || { echo "no $package"; cat "$tmp/asked"; return 1; }
	done
	! grep -w clang "$tmp/asked" && deps 0 "goals bench" && says bsdextrautils "$tmp/asked" &&
		TOOL=perf-kvm deps 0 "goals run" && says "g++" "$tmp/asked" &&
		CONFIG=x86 deps 0 "goals vm" && says qemu-system-x86 "$tmp/asked" &&
		SET="fast,variants" deps 0 "goals check" && says " lld " "$tmp/asked" && says shellcheck "$tmp/asked" &&
		TESTS="boot compile.cl*" deps 0 "goals check" && says " lld " "$tmp/asked" &&
		SET=debug deps 0 "goals check" && says "g++" "$tmp/asked" &&
		deps 0 "goals check" && ! grep -e " lld " -e "g++" "$tmp/asked" &&
		deps 0 "goals perf" && says mmdebstrap "$tmp/asked" && says "g++" "$tmp/asked" &&
		deps 0 "goals help"
}

# The lists say which QEMU apt has. They are not there, though apt's directory was just changed.
lists_first() {
	aged 0
	play apt-cache "[ ! -e $tmp/updated ] || echo '  Candidate: 1:10.0.2+dfsg-1'"
	play apt-get "$ask; [ \$1 != update ] || touch $tmp/updated"
	rm -f "$tmp/updated"
	deps 0 "goals vm" && [ "$(cut -d ' ' -f 1 "$tmp/asked" | xargs)" = "update install" ] &&
		says qemu-system-arm "$tmp/asked"
}

old_qemu() {
	play apt-cache 'echo "  Candidate: 1:7.2+dfsg-7+deb12u18"'
	deps 0 "goals vm" && ! grep qemu "$tmp/asked"
}

with_proxy() {
	play id 'echo 1000'
	play sudo '[ "$1" = -n ] || exec env -i PATH="$PATH" "$@"'
	play apt-get "echo \"\$http_proxy \$HTTPS_PROXY\" >>$tmp/asked"
	http_proxy=http://a:1 HTTPS_PROXY=http://b:2 deps 0 && says "http://a:1 http://b:2" "$tmp/asked"
}

# One line for a machine of another kind, and for a path that kbuild does not take
no_apt() {
	mkdir -p "$tmp/none"
	for program in sh dirname mkdir env cat sed tr; do
		ln -sf "$(command -v "$program")" "$tmp/none"
	done
	PATH=$tmp/none exits 1 sh "$repo/tools/hyptrace/deps" goals run && says "Debian 12 or 13" &&
		says "podman run" && one_line
}

other_system() {
	printf '%s\n' "ID=$1" "PRETTY_NAME='$2'" >"$tmp/os-release"
	OS_RELEASE=$tmp/os-release deps 1 "goals run" && says "and this is $2: run it in a container" &&
		one_line && [ ! -e "$tmp/asked" ]
}

path_with_space() {
	mkdir -p "$tmp/a b"
	cp -R "$repo/tools" "$tmp/a b"
	exits 1 "$tmp/a b/tools/hyptrace/deps" goals run && says "no path with spaces" && one_line &&
		[ ! -e "$tmp/a b/build" ]
}

full_disk() {
	play df 'echo; echo "disk 9000000 8000000 1024000 90% /"'
	mkdir -p "$repo/patches"
	: >"$repo/source.tar"
	PATH=$tmp/bin:$PATH exits 1 "$repo/tools/hyptrace/tree" SOURCE="$repo/source.tar" &&
		says "needs 3000 MB under build/, and there are 1000 MB" && one_line
}

# installed_as ARCHITECTURE...: each package is, for these.
installed_as() {
	for arch; do
		echo "echo '$arch installed'"
	done >"$tmp/installed"
	play dpkg-query ". $tmp/installed"
}

another_machine() {
	play id 'echo 0'
	play dpkg 'echo amd64'
	play apt-get "$ask"
	installed_as armhf && deps 0 && says cpio "$tmp/asked" &&
		installed_as armhf amd64 && deps 0 && [ ! -e "$tmp/asked" ]
	got=$?
	rm "$tmp/bin/dpkg"
	return "$got"
}

complete() {
	installed_as all
	play apt-get 'exit 1'
	deps 0
}

ok "root installs what is missing" as_root
ok "sudo is used where there is one" with_sudo
ok "its password is asked for once" with_password
ok "without, the command to run is named" without_sudo
ok "what can't be installed is one clear line" offline
ok "lists that can't be renewed are named as the cause" old_offline
ok "lists that are missing or old are fetched once" old_lists
ok "lists older than a day are renewed" day_old
ok "younger ones are not" recent
ok "without a network the old ones are used, with a line that says so" still_offline
ok "a list that can't be renewed is named" partly_offline
ok "so are the old ones without sudo" not_root
ok "a target's packages are asked for at once" all_at_once
ok "behind the lists, where there are none" lists_first
ok "without a QEMU that is too old" old_qemu
ok "proxies reach apt through sudo" with_proxy
ok "a machine without apt is one line" no_apt
ok "so is Ubuntu" other_system ubuntu "Ubuntu 24.04 LTS"
ok "so is Fedora" other_system fedora "Fedora Linux 43"
ok "so is a path with a space" path_with_space
ok "a package of another architecture is missing, one of both is not" another_machine
ok "nothing missing, nothing done" complete
ok "a disk without room is one line" full_disk
plan
