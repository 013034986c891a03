#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# EL2's object code, by gcc and clang, with -O2 and -Os. An event that is off costs one
# instruction, whatever the compiler inlines. The next predicate of a filter is selected, not
# branched to: a CPU can't mispredict it. Without CONFIG_KVM_HYP_TRACING no function is longer than
# in the source.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"
. "$TOOLS/kbuild.sh"

need kernel clang
"$TOOLS/tree" >&2
dir=arch/arm64/kvm/hyp/nvhe
size="CC_OPTIMIZE_FOR_SIZE=y CC_OPTIMIZE_FOR_PERFORMANCE=n"
off="KVM_HYP_TRACING=n KVM_HYP_TRACING_DUMP=n KVM_HYP_TRACING_SELFTEST=n
	KVM_HYP_TRACING_KUNIT_TEST=n"
cross=$(cross_for arm64)

disassemble() {
	"${cross}objdump" -dr --no-addresses --no-show-raw-insn "$1"
}

# object NAME CONFIG OPTIONS: EL2's object, as $tmp/NAME.o, and linked as $tmp/NAME
object() {
	rm -f "$BUILD/kernel-$2/$dir/kvm_nvhe.o"
	exits 0 "$TOOLS/kernel" CONFIG="$2" OPTIONS="$3" TARGETS="$dir/" &&
		mv "$BUILD/kernel-$2/$dir/kvm_nvhe.o" "$tmp/$1.o" &&
		"${cross}ld" --no-warn-rwx-segments --unresolved-symbols=ignore-all \
			-T "$TOOLS/bench.d/el2.lds" -o "$tmp/$1" "$tmp/$1.o"
}

gcc_object() {
	object "$1" lint "$2"
}

clang_object() {
	LLVM=1 object "$1" clang "$2"
}

off_costs_nothing() {
	python3 "$TOOLS/bench.d/sites.py" "$tmp/$1" && python3 "$TOOLS/bench.d/sites.py" "$tmp/$1" |
		grep -x 'el2_event_off_insns 1 insns'
}

# The number of the next predicate comes of a csel or csinc, and is then compared with the
# number of predicates: of what objdump prints.
selected() {
	awk '
		/^[0-9a-f]* *<.*>:$/ { inside = /el2_filter_match>:$/ }
		!inside { next }
		$1 == "cmp" && before == "cs" && (index($0, reg ",") || index($0, ", " reg)) { found = 1 }
		{ before = $1 ~ /^cs(el|inc)$/ ? "cs" : ""; reg = substr($2, 1, length($2) - 1) }
		END { exit !found }' "$1"
}

filter_selects() {
	disassemble "$tmp/$1.o" >"$tmp/code"
	selected "$tmp/code"
}

# filter INSTRUCTION...: a filter's end
filter() {
	{
		echo "<el2_filter_match>:"
		printf '\t%s\n' "$@"
	} >"$tmp/code"
}

# Where a branch leads past another number, none is selected.
branches_found() {
	filter "csinc w5, w0, w5, eq" "cmp w9, w5" && selected "$tmp/code" &&
		filter "csinc w6, w0, w6, eq" "add w5, w5, #0x1" "cmp w9, w5" &&
		! selected "$tmp/code"
}

# lengths OBJECT: of each function how many instructions it has, but for those that the patches
# change on purpose: the result of FFA_VERSION is cleared, a call that is passed on leaves by one
# way, and a trapped access to a system register has a case of its own.
lengths() {
	disassemble "$1" | awk -v file=EL2 -f "$TOOLS/t/functions.awk" | awk '
		$2 !~ /^__kvm_nvhe_(kvm_host_ffa_handler|handle_trap)$/ {
			relocations = gsub(/; ?R_AARCH64_/, "")
			print $2, gsub(/;/, "") - relocations
		}'
}

# EL2's object of the source without any patch
plain_object() {
	plain_tree "$tmp/tree" &&
		source_make arm64 -s -C "$tmp/tree" O="$tmp/kernel" \
			KCONFIG_ALLCONFIG="$ROOT/kernel/configs/hyptrace.config" allnoconfig &&
		source_make arm64 -s -j"$(nproc)" -C "$tmp/tree" O="$tmp/kernel" "$dir/" &&
		mv "$tmp/kernel/$dir/kvm_nvhe.o" "$tmp/plain.o"
}

no_longer() {
	lengths "$tmp/plain.o" >"$tmp/was"
	lengths "$tmp/without.o" >"$tmp/is"
	awk '
		FNR == NR { was[$1] = $2; next }
		{ seen++ }
		!($1 in was) || $2 > was[$1] { print $1 ": was " was[$1] ", is " $2; longer++ }
		END { print seen " functions"; exit longer > 0 || seen < 200 }' "$tmp/was" "$tmp/is"
}

ok "a branch in place of a selection is found" branches_found
for built in "gcc -O2" "gcc -Os" "clang -O2" "clang -Os"; do
	compiler=${built% *} object=$compiler${built#* } options=
	[ "${built#* }" = -O2 ] || options=$size
	ok "EL2's object, by $built" "${compiler}_object" "$object" "$options"
	ok "$built: an event that is off costs one instruction" off_costs_nothing "$object"
	ok "$built: the next predicate of a filter is selected" filter_selects "$object"
done
ok "EL2's object without tracing" gcc_object without "$off"
ok "EL2's object of the source as it came" plain_object
ok "without tracing no function of EL2 is longer than in the source" no_longer
rm -rf "$BUILD/kernel-clang"
plan
