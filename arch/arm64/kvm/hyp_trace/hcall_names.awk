# SPDX-License-Identifier: GPL-2.0-only
# Reads asm/kvm_asm.h, and makes a list of the host's hypercalls by name, for
# __print_symbolic(), and what checks each number. Hypercalls that depend on an option are last.

/^enum __kvm_host_smccc_func {/ {
	reading = 1
	names[nr++] = "__kvm_hyp_init"	# its number is a macro
	next
}

reading && /^};/ { exit }

reading && $1 == "#ifdef" { option = $2 }
reading && $1 == "#endif" { option = "" }

reading && match($1, /^__KVM_HOST_SMCCC_FUNC_/) {
	sub(/^__KVM_HOST_SMCCC_FUNC_/, "", $1)
	sub(/,$/, "", $1)
	if (option)
		options[nr] = option
	names[nr++] = $1
}

# The macro with the name of a hypercall that may be missing
function optional(i) { return "HYP_HCALL_NAME_" i }

function check(i) { printf "static_assert(__KVM_HOST_SMCCC_FUNC_%s == %d);\n", names[i], i }

function entry(i) { return sprintf("{ %d, \"%s\" }", i, names[i]) }

END {
	print "/* Made of asm/kvm_asm.h by hyp_hcall_names.awk. */"
	for (i = 0; i < nr; i++) {
		if (!(i in options)) {
			check(i)
			continue
		}
		printf "#ifdef %s\n#define %s , %s\n", options[i], optional(i), entry(i)
		check(i)
		printf "#else\n#define %s\n#endif\n", optional(i)
	}
	printf "#define HYP_HCALL_NAMES"
	for (i = 0; i < nr; i++)
		printf "%s\\\n\t%s", i && !(i in options) ? ", " : " ",
			i in options ? optional(i) : entry(i)
	print ""
}
