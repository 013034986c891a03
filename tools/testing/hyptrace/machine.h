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
 * The test says which memory both CPUs access. What only one CPU uses of that
 * can be marked as private: it makes no difference to the other. Memory that a
 * program writes without saying so can be watched: a change counts as stored at
 * some time since the CPU's access before.
 *
 * machine_run() may be switched at each access, and is for so many switches as
 * explore_begin() allows. machine_run_every() leaves out what makes no difference, and
 * so comes to an end with any number of them.
 */
#ifndef __HYPTRACE_MACHINE_H
#define __HYPTRACE_MACHINE_H

void machine_watch(void *memory, u32 size);
void machine_share(const void *memory, u32 size);
void machine_private(const void *addr);
void machine_run(void (*first)(void), void (*second)(void));
bool machine_run_every(void (*first)(void), void (*second)(void), bool latest);

#endif /* __HYPTRACE_MACHINE_H */
