# SPDX-License-Identifier: GPL-2.0-only
# Reads asm/kvm_asm.h, and makes a list of the host's hypercalls by name, for
# __print_symbolic(), and what checks each number.

/^enum __kvm_host_smccc_func {/ {
	reading = 1
	names[nr++] = "__kvm_hyp_init"	# its number is a macro
	next
}

reading && /^};/ { exit }

reading && match($1, /^__KVM_HOST_SMCCC_FUNC_/) {
	sub(/^__KVM_HOST_SMCCC_FUNC_/, "", $1)
	sub(/,$/, "", $1)
	names[nr++] = $1
}

END {
	print "/* Made of asm/kvm_asm.h by hyp_hcall_names.awk. */"
	print "#define HYP_HCALL_NAMES \\"
	for (i = 0; i < nr; i++)
		printf "\t{ %d, \"%s\" }%s\n", i, names[i], i < nr - 1 ? ", \\" : ""
	for (i = 0; i < nr; i++)
		printf "static_assert(__KVM_HOST_SMCCC_FUNC_%s == %d);\n", names[i], i
}
