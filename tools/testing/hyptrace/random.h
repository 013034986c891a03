/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers from a seed: xorshift, the same everywhere.
 */
#ifndef __HYPTRACE_RANDOM_H
#define __HYPTRACE_RANDOM_H

static inline u64 random_seed(u64 seed)
{
	return (seed + 1) * 0x9e3779b97f4a7c15ULL;
}

static inline u64 random_next(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* One of 0 to @n - 1 */
static inline u64 random_below(u64 *state, u64 n)
{
	return (random_next(state) >> 11) % n;
}

#endif /* __HYPTRACE_RANDOM_H */
