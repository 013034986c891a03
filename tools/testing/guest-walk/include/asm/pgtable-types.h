/* SPDX-License-Identifier: GPL-2.0-only */
/* The type of the kernel's PTE_* constants */
#ifndef __GUEST_WALK_PGTABLE_TYPES_H
#define __GUEST_WALK_PGTABLE_TYPES_H

#include <linux/types.h>

typedef u64 pteval_t;

#endif
