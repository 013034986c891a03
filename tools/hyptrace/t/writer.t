#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The ring writer in user space, under sanitizers, from build/tree.
. "$(dirname "$0")/../lib.sh"

need check
"$TOOLS/tree" >&2
exec make -s -C "$BUILD/tree/tools/testing/hyptrace" check O="$BUILD/hyptrace-tests"
