/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_HIST_H
#define HYPSTAT_HIST_H

#include <linux/bits.h>
#include <linux/types.h>

/*
 * Each power of two from 2^HIST_SUB_BITS to 2^HIST_BITS nanoseconds, which are 18 minutes, has
 * 2^HIST_SUB_BITS buckets of the same width; what is smaller has a bucket for each value.
 */
#define HIST_SUB_BITS	6
#define HIST_SUB	BIT(HIST_SUB_BITS)
#define HIST_BITS	40
#define HIST_BUCKETS	((HIST_BITS - HIST_SUB_BITS + 1) * HIST_SUB)

/**
 * struct hist - a log-linear histogram of times
 * @count: how many there are
 * @total: their sum
 * @max: the longest
 * @buckets: how many are in each bucket
 */
struct hist {
	u64	count;
	u64	total;
	u64	max;
	u64	buckets[HIST_BUCKETS];
};

void hist_add(struct hist *hist, u64 value);
u64 hist_rank(u64 count, unsigned int permille);
u64 hist_mean(const struct hist *hist);
u64 hist_percentile(const struct hist *hist, unsigned int permille);

#endif
