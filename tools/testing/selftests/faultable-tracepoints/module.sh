#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A module's probe of sys_enter reads a string that is not in memory: the page comes from
# userfaultfd after a while, from the swap area, or from a file. A probe that reads as it
# has to where it may not fault gets nothing.
# shellcheck source=tools/testing/selftests/faultable-tracepoints/lib.sh
. "$(dirname "$0")/lib.sh"

# reads KIND TEXT: the probe has read the text.
reads() {
	watched page "$1" "$DELAY_MS" >out && says text "$2" && says result ${#2}
}

fails() {
	watched page "$1" "$DELAY_MS" >out && says text "" && says result -14
}

page_said() {
	grep -q "$1" out || { sed 's/^/# /' out && return 1; }
}

# The handler was asked once, and openat() took as long as it let the page wait.
asked_once() {
	page_said faults=1 && [ "$(sed 's/.*ms=\([0-9]*\).*/\1/' out)" -ge "$DELAY_MS" ]
}

swap_on
ok "the module registers its probe" load
ok "reads a page that comes later" reads missing /page/missing
ok "the system call finds the page that the probe has got" asked_once
ok "the system call fails as without a probe" page_said openat=ENOENT
ok "reads a string that continues on such a page" reads across /page/across
ok "which is asked for once" asked_once
ok "reads a page that is swapped out" reads swapped /page/swapped
ok "reads a file that is not in memory" reads file /page/file
ok "reads memory that was never touched" reads hole ""
ok "gets EFAULT where there is no memory" fails unmapped
ok "the system call gets it too" page_said openat=EFAULT

echo 1 >"$PROBE/nofault"
for kind in missing across swapped file; do
	ok "without faults: gets nothing: $kind" fails $kind
	ok "without faults: the system call reads it: $kind" page_said openat=ENOENT
done
ok "the module unloads" unload
finish
