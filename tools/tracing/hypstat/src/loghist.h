/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_LOGHIST_H
#define HYPSTAT_LOGHIST_H

#include <stdbool.h>
#include <linux/types.h>

#define LOGHIST_BUCKETS	32

/**
 * struct loghist - a histogram of times in powers of two, as EL2 has it
 * @count: how many there are
 * @total: their sum in nanoseconds
 * @max: the longest since the last reset
 * @buckets: how many are in each bucket: [0, 1) ns, [1, 2) ns, [2, 4) ns, and so on; the last
 *	bucket has no upper bound. All are empty if it is only known how many times there are
 */
struct loghist {
	u64	count;
	u64	total;
	u64	max;
	u64	buckets[LOGHIST_BUCKETS];
};

/* The time in nanoseconds that is above all times of a bucket other than the last one */
static inline u64 loghist_bound(unsigned int bucket)
{
	return 1ULL << bucket;
}

/* The shortest time of a bucket */
static inline u64 loghist_low(unsigned int bucket)
{
	return bucket ? loghist_bound(bucket - 1) : 0;
}

void loghist_add(struct loghist *hist, const struct loghist *other);
bool loghist_since(struct loghist *hist, const struct loghist *before);
bool loghist_has_buckets(const struct loghist *hist);
bool loghist_is_whole(const struct loghist *hist);
u64 loghist_most(const struct loghist *hist);
u64 loghist_mean(const struct loghist *hist);
u64 loghist_percentile(const struct loghist *hist, unsigned int permille);

#endif
