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
 */
#ifndef __HYPTRACE_MACHINE_H
#define __HYPTRACE_MACHINE_H

void machine_run(void (*first)(void), void (*second)(void));

#endif /* __HYPTRACE_MACHINE_H */
