# SPDX-License-Identifier: GPL-2.0
# Reads KUnit's KTAP, on a console or not, and prints `ok NAME` or `not NAME` for each case. A
# suite that does not keep its plan is a case that is not ok; so is one that was skipped.

{ sub(/\r$/, ""); sub(/^\[ *[0-9.]*\] /, "") }

/^ +# Subtest: / {
	suite = $3
	planned = "no"
	seen = 0
}

/^    1\.\.[0-9]+$/ { planned = substr($1, 4) + 0 }

/^    (not )?ok [0-9]+ / {
	seen++
	verdict = $1
	skipped = /# SKIP/
	sub(/^ *(not )?ok [0-9]+ /, "")
	sub(/ *#.*/, "")
	print verdict (skipped ? "-skipped" : ""), $0
}

/^(not )?ok [0-9]+ / && suite != "" {
	if (planned != seen)
		print "not", suite ": planned " planned " cases, ran " seen
	suite = ""
}

END {
	if (suite != "")
		print "not", suite ": did not end"
}
