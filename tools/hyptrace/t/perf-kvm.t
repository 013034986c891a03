#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf kvm stat of the topic perf-kvm-stat: its counts are KVM's own and its times those of
# the machine, in each mode of KVM; Debian's perf has the faults that the topic mends, and
# works with it; perf works in Debian's user space; no tracepoint that exists has changed.
# t/bench.t has what the new ones cost.
# CONFIG=x86 boots a kernel for x86-64, on QEMU's emulation of AMD's SVM: counts of each vCPU.
. "$(dirname "$0")/ktap.sh"
. "$TOOLS/t/program.sh"
. "$TOOLS/source.sh"
. "$TOOLS/kbuild.sh"

: "${CONFIG:=default}"
assign CONFIG "$@"
export CONFIG
COUNTED="-icount shift=0,sleep=off -rtc clock=vm"
kvm=$TOOLS/perf-kvm
built=$BUILD/perf/perf
user_arch=arm64
trap 'put_back; rm -rf "$tmp" "$BUILD/kernel-event"' EXIT

vm_script <<'END2'
for test in $(cat /test/list); do
	run "/test/perf-kvm/$test"
done
END2

# files TEST...: lay out what the VM needs.
files() {
	rm -rf "$tmp/files"
	mkdir "$tmp/files"
	cp -R "$kvm" "$built" "$TOOLS/t/in-vm.sh" "$tmp/files"
	mkdir -p "$tmp/files/tests/shell"
	cp "$BUILD/tree/tools/perf/tests/shell/kvm_stat.sh" "$tmp/files/tests/shell"
	echo "$@" >"$tmp/files/list"
}

# A module that keeps a CPU busy with softirqs
flood() {
	rsync -a "$kvm/flood/" "$tmp/flood" &&
		source_make arm64 -s -C "$BUILD/tree" "O=$BUILD/kernel-default" "M=$tmp/flood" modules
}

# vm_out FORM [VARIABLE=value]...: what it leaves is in $tmp/out.
vm_out() {
	vm "$@" OUT="$tmp/out" TIMEOUT=900
}

# Nothing but the kernel is needed, so that any arm64 system will do.
runs_anywhere() {
	readelf -l "$BUILD/perf/perf" >"$tmp/elf" && ! grep INTERP "$tmp/elf" &&
		readelf -h "$BUILD/perf/perf" | grep AArch64
}

# Even where somebody has plugins of libtraceevent: this one would end perf.
loads_nothing() {
	mkdir -p "$tmp/plugins"
	echo '__attribute__((constructor)) static void loaded(void) { __builtin_trap(); }' |
		gcc -shared -fPIC -nostdlib -x c -o "$tmp/plugins/plugin_trap.so" - || return
	TRACEEVENT_PLUGIN_DIR=$tmp/plugins "$BUILD/perf-host/perf" kvm stat report -f --stdio \
		-i "$tmp/out/data.arm64" >"$tmp/here" 2>&1 && grep HVC64 "$tmp/here"
}

# The header has no number that another perf may use for something else.
known_features() {
	python3 "$kvm/headers.py" known "$tmp/out/data.arm64" "$tmp/known"
}

# Feature 32, which later perfs have, is not taken for one of ours.
later_features() {
	python3 "$kvm/headers.py" later "$tmp/out/data.arm64" "$tmp/later" &&
		"$BUILD/perf-host/perf" report -f --header-only -I -i "$tmp/later" >"$tmp/here" 2>&1 &&
		! grep 'VM 77-5' "$tmp/here" &&
		"$BUILD/perf-host/perf" kvm stat report -f --stdio -i "$tmp/later" >"$tmp/here" 2>&1 &&
		grep HVC64 "$tmp/here"
}

# Two numbers whose sum is less than each
wrapped_feature() {
	python3 "$kvm/headers.py" wrapped "$tmp/out/data.arm64" "$tmp/wrapped" || return
	"$BUILD/perf-host/perf" kvm stat report -f --stdio -i "$tmp/wrapped" >"$tmp/here" 2>&1
	cat "$tmp/here"
	grep 'The recording is truncated: its .* should end at 0xffffffffffffffff' "$tmp/here"
}

# The exception classes that the kernel has are those that perf has a name for.
class_names() {
	sed -n 's/^#define ESR_ELx_EC_\([A-Za-z0-9_]*\)[ \t]*UL(\(0x[0-9A-Fa-f]*\)).*/\1 \2/p' \
		"$BUILD/tree/arch/arm64/include/asm/esr.h" >"$tmp/kernel-classes"
	file=$BUILD/tree/tools/perf/arch/arm64/util/arm64_exception_types.h
	sed -n 's/^#define ESR_ELx_EC_\([A-Za-z0-9_]*\)[ \t]*(\(0x[0-9A-Fa-f]*\)).*/\1 \2/p' "$file" \
		>"$tmp/perf-classes"
	[ "$(wc -l <"$tmp/kernel-classes")" -gt 40 ] &&
		diff -i "$tmp/kernel-classes" "$tmp/perf-classes" || return
	grep -o 'ECN([A-Za-z0-9_]*)' "$file" | sed 's/ECN(\(.*\))/\1/; /^x$/d' | LC_ALL=C sort \
		>"$tmp/named"
	sed 's/ .*//; /^MAX$/d' "$tmp/kernel-classes" | LC_ALL=C sort | diff - "$tmp/named"
}

# perf's own test of which thread runs which vCPU needs no KVM. By its number: a name would have
# to be that of each part, too.
map_test() {
	number=$("$BUILD/perf-host/perf" test list 2>&1 | sed -n 's/^ *\([0-9]*\): KVM: which .*/\1/p')
	"$BUILD/perf-host/perf" test "$number" >"$tmp/map" 2>&1
	cat "$tmp/map"
	[ "$(grep -c '^ *[0-9]*\.[0-9]*: .*: Ok$' "$tmp/map")" = \
		"$(grep -c '^	TEST_CASE' "$BUILD/tree/tools/perf/tests/kvm-vcpus.c")" ]
}

# What arm64's perf reported in the VM, this machine's reports, too.
reported_here() {
	"$BUILD/perf-host/perf" kvm stat report -f --stdio --per-vcpu \
		-i "$tmp/out/data.arm64" >"$tmp/here" 2>&1
	grep HVC64 "$tmp/here" && diff "$tmp/here" "$tmp/out/report.arm64"
}

# The browser, in a terminal: it has each vCPU's exits together, and goes on until a key.
browsed_here() {
	mkfifo "$tmp/keys"
	TERM=xterm timeout "$(scaled 60)" script -qefc "$BUILD/perf-host/perf kvm stat report -f -i $tmp/out/data.arm64" \
		"$tmp/screen" <"$tmp/keys" >/dev/null 2>&1 &
	exec 5>"$tmp/keys"
	until grep -qs HVC64 "$tmp/screen" || ! kill -0 $!; do sleep 0.1; done
	(trap '' PIPE && printf q >&5) 2>/dev/null || :
	exec 5>&-
	wait $! && tr -d '\r' <"$tmp/screen" | tr '\033' '\n' | grep -E '(^|m) *HVC64 +4000 '
}

# The part of each architecture, by the command that has compiled this machine's, whose headers
# come first
arches_compile() {
	here=$(find "$BUILD/perf-host-build/arch" -name .kvm-stat.o.cmd)
	command=$(sed -n 's/^cmd_[^=]* := //p' "$here" |
		sed 's/ -Wp,-M[^ ]*//g; s/ -D"BUILD_STR[^"]*"[^ ]*//; s/ -c -o .*//')
	seen=0
	for file in "$BUILD"/tree/tools/perf/arch/*/util/kvm-stat.c; do
		arch=${file#"$BUILD/tree/tools/perf/arch/"}
		arch=${arch%%/*}
		seen=$((seen + 1))
		# shellcheck disable=SC2086 # a list
		(cd "$BUILD/tree/tools/perf" && $command "-I$BUILD/tree/tools/arch/$arch/include/uapi" \
			-fsyntax-only "arch/$arch/util/kvm-stat.c") || return
	done
	echo "$seen architectures" && [ "$seen" -ge 6 ]
}

# What `make run TOOL=perf-kvm` shows has the commands and the rows of the document.
rows() {
	sed 's/^ *//' "$1" | grep -oE '^# .*|^(HVC64|SYS64|0x[0-9a-f]+:[RW]) +[0-9]+'
}

documented() {
	"$TOOLS/clients/perf-kvm-demo" "$tmp/demo" && rows "$tmp/demo/session.txt" >"$tmp/shown" &&
		rows "$BUILD/tree/Documentation/virt/kvm/vcpu-tracepoints.rst" | diff - "$tmp/shown" &&
		[ "$(grep -c HVC64 "$tmp/shown")" = 3 ]
}

# Debian's perf with its libraries, for the VM that has none
debian_perf() {
	root=$("$TOOLS/suite" trixie linux-perf linux-perf 2>"$tmp/err") || return
	program "$root" usr/bin/perf "$tmp/files/debian"
}

# user_space SUITE NAME: Debian's with the plugins, trace-cmd and linux-perf, as a file for the VM
user_space() {
	root=$(ARCH=$user_arch "$TOOLS/suite" "$1" "$2" libtraceevent1-plugin trace-cmd linux-perf busybox-static \
		2>"$tmp/err") || return
	mkdir -p "$tmp/root"
	[ ! -d "$root/usr/lib64" ] || ln -sfn usr/lib64 "$tmp/root/lib64"
	tar -C "$root" --exclude=./usr/share --exclude='./usr/lib/python3*' --exclude=./var \
		--exclude=./lib64 -cf "$tmp/files/user.tar" . &&
		tar -C "$tmp/root" -rf "$tmp/files/user.tar" .
}

# The kernel without this topic: its patches are taken back from the tree, which is then as it
# was, to the date.
kernel_patches() {
	TOPIC=perf-kvm-stat
	series | sed "s,^,$PATCHES/," | grep /KVM- | tac
	TOPIC=
}

changed_files() {
	kernel_patches | xargs sed -n 's,^+++ b/,,p' | sort -u
}

put_back() {
	[ ! -d "$tmp/kept" ] || (cd "$tmp/kept" && find . -type f) | while read -r file; do
		cp -p "$tmp/kept/$file" "$BUILD/tree/$file"
	done
	rm -rf "$tmp/kept"
}

without_topic() {
	lock tree
	mkdir "$tmp/kept"
	changed_files | copy -t "$BUILD/tree" "$tmp/kept"
	kernel_patches | while read -r patch; do
		patch -R -p1 -s -d "$BUILD/tree" <"$patch" || exit
	done && "$TOOLS/kernel" CONFIG=event TARGETS=Image
	status=$?
	put_back
	return $status
}

# Text and fields of each event but the number, which depends on how many there are
formats() {
	(cd "$1" && find . -type f | sed 's,^\./,,' | LC_ALL=C sort)
}

formats_same() {
	formats "$tmp/with" >"$tmp/with.list"
	formats "$tmp/without" >"$tmp/without.list"
	[ "$(wc -l <"$tmp/without.list")" -gt 100 ] || return
	LC_ALL=C comm -13 "$tmp/without.list" "$tmp/with.list" | diff - "$tmp/new" || return
	while read -r event; do
		diff "$tmp/without/$event" "$tmp/with/$event" || return
	done <"$tmp/without.list"
}

# Each new tracepoint is a NOP while it is off, and nothing else is computed for it.
nops() {
	# shellcheck disable=SC2046 # a list
	python3 "$kvm/nops.py" "$BUILD/kernel-default/vmlinux" $(cat "$kvm/tracepoints") \
		>"$tmp/sites" && cat "$tmp/sites" &&
		awk '$2 < 1 || $2 != $3 || $4 != 0 { bad = 1 } END { exit bad || NR != 6 }' "$tmp/sites"
}

# in_user_space NAME [VARIABLE=value]...: in that of a newer C library than perf's, and in that of
# the same, whose libraries fit better, and so do more harm.
in_user_space() {
	name=$1
	shift
	for suite in trixie machine; do
		files user.sh
		if user_space "$suite" "$name"; then
			vm_out "in Debian, $suite" MEM=2G "$@"
		else
			skip "in Debian, $suite" "$(grep -v '^hyptrace: ' "$tmp/err" | head -n 1)"
		fi
	done
}

# x86's perf, which this machine's is, and a guest of x86
on_x86() {
	[ "$(uname -m)" = x86_64 ] || {
		echo "1..0 # SKIP perf of x86-64 is built on x86-64, this is $(uname -m)"
		exit
	}
	ok "perf of this machine is built" "$TOOLS/perf" FOR=host
	built=$BUILD/perf-host/perf
	files shell.sh exits.sh
	vm_out x86 MODE=none CPU=max,+svm,+npt
	user_arch=amd64
	in_user_space perf-user-x86 MODE=none CPU=max,+svm,+npt
	plan
	exit
}

[ "$CONFIG" != x86 ] || on_x86
ok "perf is built" "$TOOLS/perf"
ok "perf of this machine is built" "$TOOLS/perf" FOR=host
ok "which thread runs which vCPU" map_test
ok "it needs no library" runs_anywhere
ok "each exception class has a name" class_names
sed 's,^,kvm/,' "$kvm/tracepoints" >"$tmp/new"
ok "each new tracepoint is a NOP while off" nops

ok "make run TOOL=perf-kvm shows what the document does" documented

files shell.sh exits.sh changes.sh formats.sh
vm_out "protected" MODE=protected CPU=max
mv "$tmp/out/formats" "$tmp/with"
ok "no library is loaded" loads_nothing
ok "the recording has no feature of its own" known_features
ok "a later perf's feature is none of ours" later_features
ok "a feature that ends beyond all numbers" wrapped_feature
if [ "$(uname -m)" = aarch64 ]; then
	skip "a recording of arm64 is reported on x86" "this is arm64"
else
	ok "a recording of arm64 is reported on $(uname -m)" reported_here
	ok "and in the browser" browsed_here
	ok "the part of each architecture compiles" arches_compile
fi
files shell.sh exits.sh changes.sh
vm_out "nvhe" MODE=nvhe CPU=cortex-a72
vm_out "vhe" MODE=vhe CPU=max
ok "the module for softirqs is built" flood
files times.sh flood.sh
cp "$tmp/flood/flood.ko" "$tmp/files"
vm_out "times, protected" MODE=protected CPU=max SMP=1 QEMU_ARGS="$COUNTED"
vm_out "times, nvhe" MODE=nvhe CPU=cortex-a72 SMP=1 QEMU_ARGS="$COUNTED"
vm_out "times, vhe" MODE=vhe CPU=max SMP=1 QEMU_ARGS="$COUNTED"

files debian.sh
if debian_perf; then
	vm_out "Debian's perf" MODE=protected CPU=max
else
	skip "Debian's perf" "$(grep -v '^hyptrace: ' "$tmp/err" | head -n 1)"
fi

in_user_space perf-user MODE=protected CPU=max

ok "a kernel without the topic" without_topic
files unpatched.sh formats.sh
vm_out "without the topic" MODE=protected CPU=max CONFIG=event
mv "$tmp/out/formats" "$tmp/without"
ok "no event has changed, and six are new" formats_same
plan
