/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers that a seed repeats */
#ifndef _KVM_GUEST_CALLCHAINS_RANDOM_H
#define _KVM_GUEST_CALLCHAINS_RANDOM_H

#include <stdint.h>

static uint64_t random_state;

static inline void seed_random(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15UL | 1;
}

static inline uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static inline uint64_t below(uint64_t n)
{
	return (next_random() >> 11) % n;
}

#endif /* _KVM_GUEST_CALLCHAINS_RANDOM_H */
