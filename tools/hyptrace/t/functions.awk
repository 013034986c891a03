# SPDX-License-Identifier: GPL-2.0
# What objdump -dr --no-addresses --no-show-raw-insn prints of an object, a function a line: its
# name and its instructions with their relocations. What is in a section of data, and where, is
# left out; so is the offset in a load, for that of the probes in struct tracepoint differs where
# the compiler has put the loop over the probes into the call site. A function that registers
# probes has offsets in an array of struct tracepoint, whose size differs.

function show() {
	if (code ~ / R_AARCH64_[A-Z0-9_]+ __tracepoints;/)
		gsub(/; add x[0-9]+, x[0-9]+, #0x[0-9a-f]+/, "; add N", code)
	if (name)
		print file, name, code
}

/^<.*>:$/ {
	show()
	name = substr($0, 2, length($0) - 3)
	code = ""
	next
}

name && NF {
	gsub(/[ \t]+/, " ")
	sub(/ R_AARCH64_[A-Z0-9_]+ \.(data|rodata|bss|text|init|exit)[^ ]*/, " DATA")
	if ($1 == "ldr")
		sub(/, #[0-9]+\]/, ", #N]")
	code = code ";" $0
}

END {
	show()
}
