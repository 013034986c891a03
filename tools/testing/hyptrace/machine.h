/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine of two CPUs and weak memory, in one thread.
 *
 * Each CPU is a coroutine, and may be switched at each access to shared
 * memory. A load may see an older value than the latest, unless the CPU knows
 * better: each value stored with release carries all that its CPU knew, and a
 * load with acquire that sees it learns that. This is C11's model but for
 * loads that see stores of the future; as there, an exchange sees the latest.
 * So what works here does not lean on a barrier that is not in the source.
 *
 * The barriers between stores and between loads are the kernel's, no more: a
 * value stored after smp_wmb() carries what its CPU had stored before, and
 * smp_rmb() learns what the values carried that its CPU loaded before.
 *
 * Memory that a program writes without saying so can be watched: a change
 * counts as stored at some time since the CPU's access before. And what only
 * one CPU uses can be marked as private: it makes no difference to the other.
 *
 * machine_run() may be switched at each access, and is for so many switches as
 * explore_begin() allows. machine_run_every() leaves out what makes no difference, and
 * so comes to an end with any number of them.
 */
#ifndef __HYPTRACE_MACHINE_H
#define __HYPTRACE_MACHINE_H

#include <linux/types.h>

void machine_watch(void *memory, u32 size);
void machine_private(const void *addr);
void machine_run(void (*first)(void), void (*second)(void));
bool machine_run_every(void (*first)(void), void (*second)(void), bool latest);
void machine_lock(void);
void machine_unlock(void);

#endif /* __HYPTRACE_MACHINE_H */
