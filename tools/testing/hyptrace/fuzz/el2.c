// SPDX-License-Identifier: GPL-2.0-only
/*
 * EL2's sources of tracing, as they are. Their memory is in a section of its own, so that
 * each input finds it as EL2 does when it boots.
 */
#pragma clang section bss = "el2_bss"
#include EL2_SOURCE
