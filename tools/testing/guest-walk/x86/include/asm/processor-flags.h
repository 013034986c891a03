/* SPDX-License-Identifier: GPL-2.0-only */
/* The bits of CR0 and CR4 that the walk reads */
#ifndef __GUEST_WALK_PROCESSOR_FLAGS_H
#define __GUEST_WALK_PROCESSOR_FLAGS_H

#define X86_CR0_PG		BIT_ULL(31)
#define X86_CR4_PSE		BIT_ULL(4)
#define X86_CR4_PAE		BIT_ULL(5)
#define X86_CR4_LA57		BIT_ULL(12)

#endif
