// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms of times whose buckets are powers of two. A percentile is the upper bound of a
 * bucket: the time that has this rank is shorter, but by less than a factor of two.
 */
#include "hist.h"
#include "loghist.h"

/**
 * loghist_add - add the times of another histogram
 * @hist: the histogram
 * @other: the other one
 */
void loghist_add(struct loghist *hist, const struct loghist *other)
{
	unsigned int i;

	hist->count += other->count;
	hist->total += other->total;
	if (other->max > hist->max)
		hist->max = other->max;
	for (i = 0; i < LOGHIST_BUCKETS; i++)
		hist->buckets[i] += other->buckets[i];
}

static bool subtract(u64 *value, u64 before)
{
	bool grew = *value >= before;

	*value -= before;
	return grew;
}

/**
 * loghist_since - remove the times that were there before
 * @hist: the histogram; its longest time stays, since that of a part is not known
 * @before: an earlier one of the same times
 *
 * A total includes what was under way. When accounting is turned off, that is dropped.
 *
 * Return: false if @hist lacks some of these times; it is unusable then.
 */
bool loghist_since(struct loghist *hist, const struct loghist *before)
{
	bool grew = hist->max >= before->max;
	unsigned int i;

	if (!subtract(&hist->total, before->total))
		hist->total = 0;
	grew &= subtract(&hist->count, before->count);
	for (i = 0; i < LOGHIST_BUCKETS; i++)
		grew &= subtract(&hist->buckets[i], before->buckets[i]);
	return grew;
}

/**
 * loghist_has_buckets - whether it is known how the times are distributed
 * @hist: the histogram
 *
 * Return: whether it is.
 */
bool loghist_has_buckets(const struct loghist *hist)
{
	return loghist_most(hist);
}

/**
 * loghist_is_whole - whether each time is in a bucket, if there are buckets
 * @hist: the histogram
 *
 * Return: whether the buckets have as many times as were counted.
 */
bool loghist_is_whole(const struct loghist *hist)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < LOGHIST_BUCKETS; i++)
		sum += hist->buckets[i];
	return !sum || sum == hist->count;
}

/**
 * loghist_most - how many times the largest bucket has
 * @hist: the histogram
 *
 * Return: the number.
 */
u64 loghist_most(const struct loghist *hist)
{
	u64 most = 0;
	unsigned int i;

	for (i = 0; i < LOGHIST_BUCKETS; i++) {
		if (hist->buckets[i] > most)
			most = hist->buckets[i];
	}
	return most;
}

/**
 * loghist_mean - the mean of all times
 * @hist: the histogram
 *
 * Return: the mean in nanoseconds, 0 if there are none.
 */
u64 loghist_mean(const struct loghist *hist)
{
	return hist->count ? hist->total / hist->count : 0;
}

/**
 * loghist_percentile - a bound that a share of all times does not exceed
 * @hist: the histogram
 * @permille: the share; 999 is p99.9
 *
 * Return: the upper bound of the percentile's bucket in nanoseconds, the longest time for the
 * last bucket, 0 if there are no buckets.
 */
u64 loghist_percentile(const struct loghist *hist, unsigned int permille)
{
	u64 rank = hist_rank(hist->count, permille), seen = 0;
	unsigned int bucket;

	if (!loghist_has_buckets(hist))
		return 0;
	for (bucket = 0; bucket < LOGHIST_BUCKETS - 1; bucket++) {
		seen += hist->buckets[bucket];
		if (seen >= rank)
			return loghist_bound(bucket);
	}
	return hist->max;
}
