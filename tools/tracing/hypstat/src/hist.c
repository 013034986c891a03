// SPDX-License-Identifier: GPL-2.0
/*
 * A histogram of times in constant memory. A bucket is at most 1/64 as wide as the values in it
 * are large, and stands for the value in its middle: a percentile is at most 0.8 % from the
 * value that has that rank.
 */
#include "hist.h"

/* The power of two of a bucket's width */
static unsigned int width_bits(unsigned int bucket)
{
	return bucket < HIST_SUB ? 0 : bucket / HIST_SUB - 1;
}

static unsigned int bucket_of(u64 value)
{
	unsigned int shift;

	if (value < HIST_SUB)
		return value;
	if (value >> HIST_BITS)
		return HIST_BUCKETS - 1;
	shift = 63 - __builtin_clzll(value) - HIST_SUB_BITS;
	return (shift << HIST_SUB_BITS) + (value >> shift);
}

static u64 middle_of(unsigned int bucket)
{
	unsigned int bits = width_bits(bucket);
	u64 low = bucket;

	if (bucket >= HIST_SUB)
		low = (u64)(bucket % HIST_SUB + HIST_SUB) << bits;
	return low + ((1ULL << bits) - 1) / 2;
}

/**
 * hist_add - count a time
 * @hist: the histogram
 * @value: the time in nanoseconds
 */
void hist_add(struct hist *hist, u64 value)
{
	hist->count++;
	hist->total += value;
	if (value > hist->max)
		hist->max = value;
	hist->buckets[bucket_of(value)]++;
}

/**
 * hist_mean - the mean of all times
 * @hist: the histogram
 *
 * Return: the mean in nanoseconds, 0 if there are none.
 */
u64 hist_mean(const struct hist *hist)
{
	return hist->count ? hist->total / hist->count : 0;
}

/**
 * hist_rank - how many times are not longer than a percentile
 * @count: how many times there are
 * @permille: the share; 999 is p99.9
 *
 * Return: the number, at least 1.
 */
u64 hist_rank(u64 count, unsigned int permille)
{
	u64 rank = count / 1000 * permille;

	rank += (count % 1000 * permille + 999) / 1000;
	return rank ?: 1;
}

/**
 * hist_percentile - the time that a share of all times does not exceed
 * @hist: the histogram
 * @permille: the share; 999 is p99.9
 *
 * Return: the time in nanoseconds, 0 if there are none.
 */
u64 hist_percentile(const struct hist *hist, unsigned int permille)
{
	u64 rank = hist_rank(hist->count, permille), seen = 0, middle;
	unsigned int bucket;

	for (bucket = 0; bucket < HIST_BUCKETS - 1; bucket++) {
		seen += hist->buckets[bucket];
		if (seen >= rank) {
			middle = middle_of(bucket);
			return middle < hist->max ? middle : hist->max;
		}
	}
	return hist->max;
}
