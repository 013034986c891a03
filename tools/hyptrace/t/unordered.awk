# SPDX-License-Identifier: GPL-2.0
# Sources: barriers, acquires and releases that have no letter of the table of memory
# orderings, "/* (A) */", on their line or the next one.

FNR == 1 { waits = "" }

# Block comments
/^ ?\*|^\/\*/ { next }

/\/\* \([A-Z]\)/ { waits = ""; next }

waits { print waits; waits = "" }

/smp_(mb|rmb|wmb|load_acquire|store_release)\(|(atomic|xchg)[a-z0-9_]*_(acquire|release)\(/ {
	waits = FILENAME ":" FNR ":" $0
}
