/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_ASM_PAGE_H
#define __HYPTRACE_ASM_PAGE_H

/* The Makefile chooses: 12, 14 and 16 as arm64 does, 9 for pages that are soon full. */
#define PAGE_SIZE	(1UL << (PAGE_SHIFT))

#endif /* __HYPTRACE_ASM_PAGE_H */
