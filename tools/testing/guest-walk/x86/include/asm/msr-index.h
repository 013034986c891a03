/* SPDX-License-Identifier: GPL-2.0-only */
/* The bit of EFER that the walk reads */
#ifndef __GUEST_WALK_MSR_INDEX_H
#define __GUEST_WALK_MSR_INDEX_H

#define EFER_LMA		BIT_ULL(10)

#endif
