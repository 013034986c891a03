#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The documentation: Sphinx and kernel-doc do not warn about it; it names all files, events,
# fields, hypercalls and tests, and none that do not exist. t/guide.t runs its sessions.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/source.sh"

need docs
"$TOOLS/tree" >&2
tree=$BUILD/tree
guide=$tree/Documentation/trace/hypervisor-tracing.rst
security=$tree/Documentation/trace/hypervisor-tracing-security.rst
design=$tree/Documentation/trace/hypervisor-tracing-design.rst
events=$tree/Documentation/trace/hypervisor-events.rst
selftests=$tree/tools/testing/selftests/hyp-trace
new_files >"$tmp/new"

# As `make SPHINXDIRS=$1 htmldocs` has it, but with nothing left in the tree.
sphinx() {
	mkdir -p "$tmp/${1##*/}"
	PYTHONDONTWRITEBYTECODE=1 BUILDDIR=$tmp sphinx-build -q -b html -c "$tree/Documentation" \
		-d "$tmp/${1##*/}/doctrees" -D version=6.12 -D release=6.12 \
		-D "kerneldoc_srctree=$tree" -D "kerneldoc_bin=$tree/scripts/kernel-doc" \
		"$tree/Documentation/$1" "$tmp/${1##*/}/html" >"$tmp/${1##*/}/sphinx" 2>&1 || {
		tail "$tmp/${1##*/}/sphinx"
		return 1
	}
}

# nothing COMMAND...: it prints nothing.
nothing() {
	"$@" >"$tmp/found" 2>&1 || :
	cat "$tmp/found"
	[ ! -s "$tmp/found" ]
}

# A warning names one of the documents, or the file that kernel-doc has read for it.
complaints() {
	cat "$tmp/trace/sphinx" "$tmp/kvm/sphinx" |
		grep -F -A 1 -e hypervisor-tracing -e hypervisor-events -f "$tmp/new"
}

# Documents in trace/ and virt/kvm/ that the index does not list.
unlisted() {
	grep -qx '   vcpu-tracepoints' "$tree/Documentation/virt/kvm/index.rst" || echo vcpu-tracepoints
	for document in "$guide" "$security" "$design" "$events"; do
		document=${document##*/}
		grep -qx "   ${document%.rst}" "$tree/Documentation/trace/index.rst" ||
			echo "${document%.rst}"
	done
}

# Functions of the header that the design does not describe.
undescribed() {
	sed '/^ \*/d' "$tree/include/linux/ring_buffer_writer.h" |
		grep -oE '\<(ring_buffer|rb)_[a-z_]+\(' | tr -d '(' | sort -u |
		while read -r function; do
			grep -q "id=\"c.$function\"" "$tmp/trace/html/hypervisor-tracing-design.html" || echo "$function()"
		done
}

# The terms that the guide explains, a line each, without the directory.
# shellcheck disable=SC2016 # literal text in RST
terms() {
	sed -n '/^``/p' "$guide" | tr ',' '\n' | sed -n 's/^ *``\(.*\/\)\{0,1\}\([a-z_]*\)``$/\2/p'
}

# Files of the instance that it does not explain.
unexplained() {
	terms >"$tmp/terms"
	sed -n 's/^\t{ "\([a-z_]*\)",[ \t]*\(TRACE_MODE\|0\).*/\1/p' \
		"$tree"/kernel/trace/remote/*.c | sort -u | grep -vxF -f "$tmp/terms"
}

catalogue() {
	sed -n 's/^HYP_EVENT[_A-Z]*(\([a-z_]*\)[,)].*/\1/p' \
		"$tree/arch/arm64/include/asm/kvm_hypevents.h" | grep -vx ename | sort
}

# The section of an event, without the headings.
section() {
	awk -v event="$1" '
		/^=+$/ { inside = before == event }
		inside && !/^=+$/ { print before }
		{ before = $0 }' "$events"
}

# Events that have no section, or whose section has no line of output, nor why there is
# none, or does not say what the host learns.
untold() {
	for event in $(catalogue); do
		section "$event" >"$tmp/section"
		grep -qE "^  \[[0-9]{3}\] +[0-9]+\.[0-9]{6}: $event |[Nn]o line of it" "$tmp/section" ||
			echo "$event: no line"
		grep -qE "learn[st]" "$tmp/section" || grep -q "for the same reason" "$tmp/section" ||
			echo "$event: what does the host learn?"
	done
}

# The fields of an event, one a line. Some events are made by a macro of the
# catalogue's own.
fields() {
	awk -v event="$1" '
		/^#define HYP_EVENT_/ { sub(/\(.*/, "", $2); entry = $2 }
		/^HYP_EVENT\(/ && !/\(ename/ { entry = $0; gsub(/.*\(|,.*/, "", entry) }
		match($0, /he_[a-z]+\(.*\)/) {
			field = substr($0, RSTART, RLENGTH)
			sub(field ~ /^he_(field|named|array)/ ? "^[^,]*, *" : "^[^(]*\\(", "", field)
			sub(/[^a-z_0-9].*/, "", field)
			list[entry] = list[entry] field "\n"
		}
		/^HYP_EVENT_.*\(/ {
			macro = name = $1
			sub(/\(.*/, "", macro)
			gsub(/.*\(|[,)].*/, "", name)
			list[name] = list[macro]
		}
		END { printf "%s", list[event] }' "$tree/arch/arm64/include/asm/kvm_hypevents.h"
}

# Fields that an event's section does not explain, nor leaves to another's.
unexplained_fields() {
	for event in $(catalogue); do
		section "$event" >"$tmp/section"
		fields "$event" >"$tmp/fields"
		[ -s "$tmp/fields" ] || echo "$event: no fields"
		! grep -qE "Fields (as|and)|for the same reason" "$tmp/section" || continue
		while read -r field; do
			grep -qE "^(\`\`[a-z_0-9]+\`\`, )*\`\`$field\`\`" "$tmp/section" ||
				echo "$event: $field"
		done <"$tmp/fields"
	done
}

# What the security tables give as checks, as: script, a part of what it prints.
# shellcheck disable=SC2016 # literal text in RST
checks() {
	sed -n 's/^ *\(- \)\{0,1\}| ``\([a-z_]*\.sh\)`` \([^(].*\)$/\2 \3/p' "$security"
}

unknown_checks() {
	checks | while read -r script check; do
		grep -qsF -- "$check" "$selftests/$script" || echo "no \"$check\" in $script"
	done
}

# Tests in C that the tables name, as: file, a part of it. Of KUnit's it is a case.
# shellcheck disable=SC2016 # literal text in RST
c_checks() {
	sed -n 's/^ *\(- \)\{0,1\}| ``\([a-z_/]*\.c\)`` \(.*\)$/\2 \3/p' "$security"
}

# is_case CASE FILE
is_case() {
	grep -qE "KUNIT_CASE(_SLOW)?\($1\)" "$2"
}

unknown_c_checks() {
	c_checks | while read -r file check; do
		case $file in
		hyp_trace/tests/test*)
			file=arch/arm64/kvm/$file
			is_case "$check" "$tree/$file" || echo "$check is no case"
			;;
		remote/tests/test*)
			file=kernel/trace/$file
			is_case "$check" "$tree/kernel/trace/remote/tests/test.c" || echo "$check is no case"
			;;
		*) file=tools/testing/hyptrace/$file ;;
		esac
		grep -qsF -- "$check" "$tree/$file" || echo "no \"$check\" in $file"
	done
}

# What the READMEs of the tests lack of the tests' own words.
not_of_the_tests() {
	"$TOOLS/docs.d/readmes" "$tmp/readmes"
	for directory in selftests/hyp-trace hyptrace; do
		diff "$tree/tools/testing/$directory/README.rst" \
			"$tmp/readmes/tools/testing/$directory/README.rst"
	done
}

# Tests whose purpose a README does not state: no line of text follows the name.
pointless() {
	for readme in "$selftests" "$tree/tools/testing/hyptrace"; do
		awk '/^``[^`]*``$/ { if (name) print name; name = $0; next }
			name && /^  [A-Za-z]/ { name = "" }
			END { if (name) print name }' "$readme/README.rst"
	done
}

# Hypercalls of tracing, with their arguments, as the table of what EL2 is given has them.
given() {
	awk '
		/^void handle___hyp_trace_/ {
			sub(/.*handle_/, "")
			sub(/\(.*/, "")
			line = "``" $0 "``:"
			comma = ""
		}
		/DECLARE_REG\(/ { split($0, part, /, */); line = line comma " ``" part[2] "``"; comma = "," }
		/^}/ { print line }' "$tree/arch/arm64/kvm/hyp/nvhe/trace_hcall.c"
}

not_in_the_table() {
	given | while IFS= read -r row; do
		grep -qxF -- "   * - $row" "$security" || echo "$row"
	done
}

# What a text has of paths: from the root, or of a source file in short.
paths() {
	grep -oE '(^|[^A-Za-z0-9_./])(arch|fs|include|kernel|patches|tools|Documentation)/[A-Za-z0-9_./-]*[A-Za-z0-9_]' "$1" |
		sed 's/^[^A-Za-z]//'
	grep -oE '[A-Za-z0-9_./-]*[A-Za-z0-9_]+\.[ch]\>' "$1"
}

# Those that lead nowhere.
astray() {
	kvm=$tree/arch/arm64/kvm
	paths "$1" | sort -u | while read -r path; do
		[ -e "$ROOT/$path" ] || [ -e "$tree/$path" ] || [ -e "$kvm/$path" ] ||
			[ -e "$kvm/hyp/$path" ] || [ -e "$kvm/hyp/include/$path" ] ||
			[ -e "$tree/arch/arm64/include/$path" ] || [ -e "$tree/kernel/trace/$path" ] ||
			[ -e "$tree/tools/testing/hyptrace/$path" ] ||
			[ -e "$tree/Documentation/trace/$path" ] ||
			[ -e "$tree/include/uapi/$path" ] ||
			echo "$path"
	done
}

kernel_doc() {
	(cd "$tree" && xargs perl scripts/kernel-doc -none -Wall)
}

kernel_doc_of_new() {
	grep '\.[ch]$' "$tmp/new" | kernel_doc
}

# Functions that the patches add to files of the kernel's, and describe.
added() {
	for patch in $(series); do
		awk '/^\+\+\+ / { file = substr($2, 3) }
			described && /^\+ \* [a-z_]+(\(\))? - / { sub(/\(\)/, "", $3); print file, $3 }
			{ described = /^\+\/\*\*$/ }' "$PATCHES/$patch"
	done
}

kernel_doc_of_added() {
	added | while read -r file function; do
		echo "$file" | kernel_doc 2>&1 | grep -w "$function"
	done
}

# The entry in the tree's MAINTAINERS is ours, and all that is new of hyp-trace is in it. What
# other topics add belongs to the entries of what they change.
entry() {
	sed -n '/^HYPERVISOR TRACING FOR ARM64 KVM$/,/^$/p' "$tree/MAINTAINERS" | sed '$d' |
		diff "$ROOT/MAINTAINERS" -
}

nobodys() {
	sed -n '/^F:\t/ { s///; s,/$,/*,; p; }' "$ROOT/MAINTAINERS" >"$tmp/patterns"
	TOPIC=hyp-trace new_files | while read -r file; do
		while read -r pattern; do
			# shellcheck disable=SC2254 # a pattern
			case $file in
			$pattern) continue 2 ;;
			esac
		done <"$tmp/patterns"
		echo "$file"
	done
}

short() {
	[ "$(wc -l <"$ROOT/README.md")" -le 150 ]
}

ok "Sphinx builds trace/" sphinx trace
ok "Sphinx builds virt/kvm/" sphinx virt/kvm
ok "it does not warn about our documents and their kernel-doc" nothing complaints
ok "the index lists them" nothing unlisted
ok "README.md has 150 lines at most" short
ok "each function of ring_buffer_writer.h is described" nothing undescribed
ok "each file is explained" nothing unexplained
ok "the catalogue has events" [ "$(catalogue | wc -l)" -ge 20 ]
ok "of each there is a line, and what the host learns" nothing untold
ok "each of their fields is explained" nothing unexplained_fields
ok "the security tables name checks" [ "$(checks | wc -l)" -ge 23 ]
ok "and those are in the kselftest" nothing unknown_checks
ok "the tables name tests in C" [ "$(c_checks | wc -l)" -ge 20 ]
ok "and those are there" nothing unknown_c_checks
ok "there are hypercalls with arguments" [ "$(given | grep -c ', ')" -ge 7 ]
ok "each is in the table of what EL2 is given" nothing not_in_the_table
ok "paths in the guide lead somewhere" nothing astray "$guide"
ok "and in the security document" nothing astray "$security"
ok "and in the design" nothing astray "$design"
ok "and in that of the events" nothing astray "$events"
ok "and in that of KVM's tracepoints" nothing astray \
	"$tree/Documentation/virt/kvm/vcpu-tracepoints.rst"
ok "and in README.md" nothing astray "$ROOT/README.md"
ok "the READMEs of the tests have the tests' own words" nothing not_of_the_tests
ok "each test says what it is for" nothing pointless
ok "the tests in them are many" [ "$(grep -c '\.sh``$' "$selftests/README.rst")" -ge 30 ]
ok "kernel-doc -Wall has nothing against new files" nothing kernel_doc_of_new
ok "patches add functions with kernel-doc" [ -n "$(added)" ]
ok "kernel-doc -Wall has nothing against those" nothing kernel_doc_of_added
ok "MAINTAINERS is what the series adds" entry
ok "each new file is in it" nothing nobodys
plan
