// SPDX-License-Identifier: GPL-2.0
/* Percentiles of buckets are compared with those of the sorted values. */
#include <string.h>

#include "../src/loghist.h"
#include "tap.h"

#define VALUES		5000

static const unsigned int permilles[] = { 1, 500, 900, 990, 999, 1000 };
static u64 values[VALUES];
static struct loghist hist;

static int compare(const void *left, const void *right)
{
	u64 a = *(u64 *)left, b = *(u64 *)right;

	return (a > b) - (a < b);
}

static void count(u64 value)
{
	unsigned int bucket = value ? 64 - __builtin_clzll(value) : 0;

	if (bucket >= LOGHIST_BUCKETS)
		bucket = LOGHIST_BUCKETS - 1;
	hist.count++;
	hist.total += value;
	hist.buckets[bucket]++;
	if (value > hist.max)
		hist.max = value;
}

static void fill(unsigned int nr, unsigned int bits)
{
	unsigned int i;

	srandom(nr + bits);
	memset(&hist, 0, sizeof(hist));
	for (i = 0; i < nr; i++) {
		values[i] = (u64)random() << 31 ^ random();
		values[i] &= (1ULL << (random() % bits + 1)) - 1;
		count(values[i]);
	}
	qsort(values, nr, sizeof(*values), compare);
}

/* A bound is above the value, and at most twice as large. The last bucket's is the maximum. */
static bool is_bound(u64 found, u64 value)
{
	if (value >> (LOGHIST_BUCKETS - 2))
		return found == hist.max;
	return found > value && found <= (value ? 2 * value : 1);
}

static void check_percentiles(unsigned int nr, unsigned int bits)
{
	unsigned int i;

	fill(nr, bits);
	for (i = 0; i < sizeof(permilles) / sizeof(*permilles); i++) {
		u64 value = values[(nr * (u64)permilles[i] + 999) / 1000 - 1];
		u64 found = loghist_percentile(&hist, permilles[i]);

		if (!ok(is_bound(found, value), "%u values of %u bits: p%g", nr, bits,
			permilles[i] / 10.))
			printf("# %llu for %llu\n", (unsigned long long)found,
			       (unsigned long long)value);
	}
}

static void check_numbers(void)
{
	memset(&hist, 0, sizeof(hist));
	equals("no values: a percentile is 0", loghist_percentile(&hist, 500), 0);
	equals("no values: the mean is 0", loghist_mean(&hist), 0);
	equals("no values: no bucket has any", loghist_most(&hist), 0);
	count(0);
	count(6);
	count(7);
	equals("the mean", loghist_mean(&hist), 4);
	equals("the largest bucket", loghist_most(&hist), 2);
	ok(loghist_is_whole(&hist), "each value is in a bucket");
	hist.count++;
	ok(!loghist_is_whole(&hist), "one value is in none");
	memset(hist.buckets, 0, sizeof(hist.buckets));
	ok(loghist_is_whole(&hist), "values without buckets");
	equals("a percentile of these is 0", loghist_percentile(&hist, 500), 0);
	equals("the bounds of the first bucket", loghist_low(0) + loghist_bound(0), 1);
	equals("a bucket begins where the one before ends", loghist_low(9), loghist_bound(8));
}

static void check_since(void)
{
	struct loghist before, sum = {}, reset;

	fill(100, 20);
	before = hist;
	count(5);
	count(1 << 19);
	loghist_add(&sum, &before);
	loghist_add(&sum, &hist);
	equals("a sum has all", sum.count, 202);
	equals("the maximum of a sum", sum.max, hist.max);
	reset = before;
	reset.buckets[3]--;
	ok(loghist_since(&hist, &before), "two values more");
	equals("the count of these", hist.count, 2);
	equals("the total of these", hist.total, 5 + (1 << 19));
	equals("the first one's bucket", hist.buckets[3], 1);
	equals("the second one's bucket", hist.buckets[20], 1);
	ok(!loghist_since(&reset, &before), "a bucket that shrank is found");
}

int main(void)
{
	check_numbers();
	check_since();
	check_percentiles(1, 10);
	check_percentiles(999, 20);
	check_percentiles(1001, 36);
	check_percentiles(VALUES, 30);
	return tap_end();
}
