/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_ASM_BARRIER_H
#define __HYPTRACE_ASM_BARRIER_H

#include <shim.h>

/* What these order is said where they are used. */
#define smp_load_acquire(p)		shim_load(p, ACQUIRE)
/* And so here. */
#define smp_store_release(p, value)	shim_store(p, value, RELEASE)

#endif /* __HYPTRACE_ASM_BARRIER_H */
