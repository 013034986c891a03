# SPDX-License-Identifier: GPL-2.0
"""Shell sessions of a document, to be run in a VM as a user would type them: literal or fenced
blocks that begin with a prompt, but not those marked ```console, which belong to other topics. A
comment `.. boot: PARAMETERS` before a session is the kernel's command line for it."""

import re
import shlex
import textwrap
from typing import NamedTuple

# A recording of minutes takes seconds here. A user types slower than a program starts: wait until
# the program sleeps, and for longer than it would for a lock.
PRELUDE = r"""PATH=$PWD/hyp-trace:$PATH
cp -R usr /
cd /sys/kernel/tracing/hypervisor || exit
timeout() {
	shift
	command timeout SECONDS "$@"
}
wait_for_job() {
	asleep=0
	for _ in $(seq 100); do
		grep -qs '^State:.S' "/proc/$1/status" && asleep=$((asleep + 1)) || asleep=0
		[ $asleep -lt 3 ] || break
		sleep 0.1
	done
}
type_in() {
	printf '%s\n' "$1" | sed '1s/^/# /; 2,$s/^/> /'
	eval "$1"
	case $1 in
	*'&') wait_for_job $! ;;
	esac
}
reset() {
	for trigger in events/hypervisor/*/trigger; do echo '!traceoff' >"$trigger"; done
	echo 0 >tracing_on
	echo >trace
	echo 1408 >buffer_size_kb
	echo 50 >buffer_percent
	echo 1 >events/enable
	for filter in events/hypervisor/*/filter; do echo 0 >"$filter"; done
	for option in noevent-fork norecord-cmd overwrite; do echo $option >trace_options; done
	: >set_event_pid
}
"""
HEADER = "# tracer: ", "# entries-in-buffer"     # the head of a trace, which is no command
# In order: a comment; a fenced block; what ends with :: and the indented lines behind it
BLOCK = re.compile(r"^\.\. boot: (?P<boot>.*)"
                   r"|^```(?P<kind>.*)\n(?P<fenced>(?:.*\n)*?)```"
                   r"|^.*::\n\n(?P<literal>(?:(?:  .*)?\n)+)", re.M)


class Session(NamedTuple):
    """The lines of a session, and what the kernel is booted with."""
    lines: list
    boot: str

    def commands(self):
        """What a user types; a command goes on in the lines that begin with "> "."""
        commands = []
        for line in self.lines:
            if line.startswith("> "):
                commands[-1] += "\n" + line[2:]
            elif re.match("# [a-z]", line) and not line.startswith(HEADER):
                commands.append(line[2:])
        return commands

    def title(self):
        """The first command that is not in each session."""
        return next((command.split("\n")[0] for command in self.commands()
                     if not re.match(r"cd|echo [01] > tracing_on$", command)), "")


def sessions(text):
    """The sessions of a document."""
    found, boot = [], ""
    for block in BLOCK.finditer(text):
        boot = block["boot"] or boot
        body = block["fenced"] or textwrap.dedent(block["literal"] or "")
        if body.startswith("# ") and not body.startswith(HEADER) and block["kind"] != "console":
            found.append(Session(body.splitlines(), boot))
            boot = ""
    return found


def typed(commands):
    return "".join(f"type_in {shlex.quote(command)}\n" for command in commands)


def script(some, seconds=3, keep=False):
    """What runs sessions in a VM with hypstat.lay_out()'s files, with their output in /out/1 .."""
    text = PRELUDE.replace("SECONDS", str(seconds))
    for number, session in enumerate(some, 1):
        text += ("" if keep else "reset\n") + \
            f"{{\n{typed(session.commands())}}} 2>&1 | tee /out/{number}\n"
    return text


def _printed(lines):
    """What commands print, without numbers, and white space that depends on them."""
    return {re.sub("[ \t]+", " ", re.sub("0x[0-9a-f]+|[0-9]+", "N", line)).rstrip(" \r")
            for line in lines
            if line.startswith(HEADER) or not re.match(r"# [a-z]|> |(\.\.\.)?$", line)}


def differs(session, printed):
    """What the document shows and was not printed, and errors that it does not show."""
    shown, seen = _printed(session.lines), _printed(printed)
    return sorted(shown - seen) + sorted(line for line in seen - shown if
                                         re.match("[a-z]+: ", line) or not shown)
