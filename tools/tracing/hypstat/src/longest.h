/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_LONGEST_H
#define HYPSTAT_LONGEST_H

#include "stays.h"

#define LONGEST		10

/**
 * struct longest - the longest stays, the longest first
 * @stays: them
 * @nr: how many
 */
struct longest {
	struct stay	stays[LONGEST];
	unsigned int	nr;
};

void longest_add(struct longest *longest, const struct stay *stay);

static inline u64 stay_length(const struct stay *stay)
{
	return stay->end - stay->begin;
}

#endif
