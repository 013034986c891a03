/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All ways that two coroutines and a weak memory can take, by doing the same
 * again and again with other choices: depth first, and with no more than so
 * many choices other than the usual one (choice 0) on a way.
 */
#ifndef __HYPTRACE_EXPLORE_H
#define __HYPTRACE_EXPLORE_H

void explore_begin(u32 unusual);
u32 explore_choose(u32 nr);
u32 explore_at(void);
void explore_mark(u32 choice);
bool explore_is_marked(u32 choice);
bool explore_next(void);
u64 explore_ways(void);

#endif /* __HYPTRACE_EXPLORE_H */
