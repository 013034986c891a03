# SPDX-License-Identifier: GPL-2.0
# Extract the shell sessions of a document: literal blocks of reStructuredText or fenced
# blocks of Markdown that begin with a prompt. A block marked ```console belongs to a topic
# with tests of its own. Each goes to DIR/NN.session. A comment `.. boot: PARAMETERS' before a
# session is the kernel's command line for it, DIR/NN.boot.
#
# usage: awk -v dir=DIR -f sessions.awk DOCUMENT

function begin(margin) {
	indent = margin
	state = "first"
}

/^\.\. boot: / {
	boot = substr($0, length(".. boot: ") + 1)
}

state == "" && /::$/ {
	begin("  ")
	next
}

/^```/ {
	if (state == "" && /^```console/)
		state = "skip"
	else if (state == "")
		begin("")
	else
		state = ""
	next
}

state == "first" && $0 != "" {
	state = "skip"
	if (index($0, indent "# ") == 1) {
		state = "session"
		name = sprintf("%s/%02d", dir, ++sessions)
		if (boot != "")
			print boot >(name ".boot")
		boot = ""
	}
}

indent != "" && /^[^ ]/ {
	state = /::$/ ? "first" : ""
	next
}

state == "session" {
	print substr($0, length(indent) + 1) >(name ".session")
}
