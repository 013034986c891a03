/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_ASM_BARRIER_H
#define __HYPTRACE_ASM_BARRIER_H

#include <shim.h>

/* What these order is said where they are used. */
#define smp_load_acquire(p)		shim_load(p, ACQUIRE)
/* And so here. */
#define smp_store_release(p, value)	shim_store(p, value, RELEASE)

/* And here: all before it and all after it */
#define smp_mb()			shim_fence_full()

/* And here: loads before it and loads after it ... */
#define smp_rmb()			shim_fence_acquire()
/* ... and stores */
#define smp_wmb()			shim_fence_release()

#endif /* __HYPTRACE_ASM_BARRIER_H */
