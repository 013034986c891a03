# SPDX-License-Identifier: GPL-2.0
# Reads the KTAP of several tests, each between "# test NAME" and "# status N",
# and prints all their results as lines of one TAP, with the name of the `form`
# before them, numbered from `first`. A test that does not keep its plan, is
# skipped as a whole or ends with an error but without a failure has failed; so has one whose
# shell did not find a command.

function result(verdict, name) {
	printf "%s %d - %s: %s\n", verdict, first + results++, form, name
	if (verdict != "ok")
		failures++
}

function end(status) {
	if (plan != seen)
		result("not ok", test ": planned " plan " tests, ran " seen)
	else if (plan == 0)
		result("not ok", test ": was skipped")
	else if (status != 0 && !failures)
		result("not ok", test ": ended with status " status)
	all_failures += failures
	test = ""
}

$1 == "#" && $2 == "test" {
	test = $3
	plan = "no"
	seen = failures = 0
	next
}

$1 == "#" && $2 == "status" {
	end($3)
	next
}

/^1\.\./ {
	plan = substr($1, 4) + 0
	next
}

/^(not )?ok / {
	seen++
	verdict = $1 == "ok" ? "ok" : "not ok"
	sub(/^(not )?ok [0-9]+ (- )?/, "")
	result(verdict, test ": " $0)
	next
}

/^TAP version/ { next }

# Of busybox's shell, and of others
/: line [0-9]+: .*: not found$/ || /: command not found$/ {
	result("not ok", test ": " $0)
	next
}

{ print /^#/ ? $0 : "# " $0 }

END {
	if (test != "")
		result("not ok", test ": did not end")
	if (!results)
		result("not ok", "no test ran")
	exit failures || all_failures
}
