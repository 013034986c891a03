#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# KVM's walk of a guest's tables in user space, under sanitizers, from build/tree. SEED=n
# chooses other random tables.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"

need check
"$TOOLS/tree" >&2
exec make -s -C "$BUILD/tree/tools/testing/guest-walk" check O="$BUILD/guest-walk" SEED="${SEED:-$$}"
