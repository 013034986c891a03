# SPDX-License-Identifier: GPL-2.0
# Sources: a line `LETTER FILE:FUNCTION` for each place whose comment has a letter of the
# table of memory orderings, "/* (A) */" or "/* (A), (B) */".

FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	function_name = ""
	in_comment = 0
}

# The line of a function's name begins at the margin, and does not end the statement.
/^[A-Za-z_].*\(/ && !/^(static_assert|DEFINE_|DECLARE_|EXPORT_)/ && !/;/ {
	function_name = $0
	sub(/\(.*/, "", function_name)
	sub(/.*[^A-Za-z0-9_]/, "", function_name)
}

/\/\*/ && !/\*\// { in_comment = 1 }
/\*\// && !/\/\*/ { in_comment = 0; next }
in_comment { next }

{
	rest = $0
	if (!sub(/.*\/\*/, "", rest) || rest !~ /^ \([A-Z]\)/)
		next
	while (match(rest, /\([A-Z]\)/)) {
		print substr(rest, RSTART + 1, 1), file ":" function_name
		rest = substr(rest, RSTART + RLENGTH)
	}
}
