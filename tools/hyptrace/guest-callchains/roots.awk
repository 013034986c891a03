# SPDX-License-Identifier: GPL-2.0
# Reads folded chains of a Linux guest, each with how often it was seen. Of those of its
# kernel at least 95 % must begin where the kernel is entered, or a thread begins.

function is_root(function_name) {
	return function_name ~ /^(el[01][th]_(64|32)_(sync|irq|fiq|error)|ret_from_fork)$/ ||
	       function_name ~ /^(__primary_switched|__secondary_switched|primary_entry)$/ ||
	       function_name ~ /^(start_kernel|init_el1|__pi_.*|vectors)$/ ||
	       function_name ~ /^(entry_SYSCALL_64.*|asm_.*|ret_from_fork_asm)$/ ||
	       function_name ~ /^(common_startup_64|secondary_startup_64.*|startup_64.*|x86_64_start_.*)$/
}

{
	count = $NF
	sub(/ [0-9]+$/, "")
	all += count
	split($0, chain, ";")
	if (chain[1] == "[unknown]") {
		unknown += count
	} else {
		kernel += count
		if (is_root(chain[1]))
			rooted += count
		else
			other[chain[1]] += count
	}
}

END {
	printf "%d samples of the guest: %d of its kernel, %d of these from a root (%.1f %%), %d of its user space\n",
		all, kernel, rooted, kernel ? rooted * 100 / kernel : 0, unknown
	for (name in other)
		printf "  %d from %s\n", other[name], name
	exit kernel < 100 || rooted < kernel * 0.95
}
