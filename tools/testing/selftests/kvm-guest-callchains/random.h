/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers that a seed repeats, and what is made of them */
#ifndef _KVM_GUEST_CALLCHAINS_RANDOM_H
#define _KVM_GUEST_CALLCHAINS_RANDOM_H

#include <stdint.h>

#include "run.h"

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

/* An entry of a guest's last table with these attributes, most often for a page of records */
static inline uint64_t random_entry(uint64_t attributes)
{
	switch (below(20)) {
	case 0:
		return 0;
	case 1:
		return next_random();
	case 2:
		return (MEMORY_IPA + MEMORY_SIZE + below(64) * 0x1000) | attributes;
	case 3:
		return (MEMORY_IPA - 0x1000) | attributes;
	case 4:
		return (MEMORY_IPA + below(MEMORY_SIZE / 0x1000) * 0x1000) | attributes;
	default:
		return (MEMORY_IPA + SCRATCH + below(16) * 0x1000) | attributes;
	}
}

#endif /* _KVM_GUEST_CALLCHAINS_RANDOM_H */
