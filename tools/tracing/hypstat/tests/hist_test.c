// SPDX-License-Identifier: GPL-2.0
/* Percentiles are compared with those of the sorted values. */
#include <string.h>

#include "../src/hist.h"
#include "tap.h"

#define VALUES		20000

static const unsigned int permilles[] = { 1, 500, 900, 990, 999, 1000 };
static u64 values[VALUES];
static struct hist hist;

static int compare(const void *left, const void *right)
{
	u64 a = *(u64 *)left, b = *(u64 *)right;

	return (a > b) - (a < b);
}

static u64 exact(unsigned int nr, unsigned int permille)
{
	unsigned int rank = (nr * (u64)permille + 999) / 1000;

	return values[rank ? rank - 1 : 0];
}

static bool is_near(u64 found, u64 value)
{
	u64 off = found > value ? found - value : value - found;

	return off * 100 <= value;
}

/* The values are numbers of up to so many bits, each number of bits as often as the others. */
static void fill(unsigned int nr, unsigned int bits, unsigned int seed)
{
	unsigned int i;

	srandom(seed);
	memset(&hist, 0, sizeof(hist));
	for (i = 0; i < nr; i++) {
		values[i] = (u64)random() << 31 ^ random();
		values[i] &= (1ULL << (random() % bits + 1)) - 1;
		hist_add(&hist, values[i]);
	}
	qsort(values, nr, sizeof(*values), compare);
}

static void check_percentiles(unsigned int nr, unsigned int bits)
{
	unsigned int i;
	u64 found;

	fill(nr, bits, nr + bits);
	for (i = 0; i < sizeof(permilles) / sizeof(*permilles); i++) {
		found = hist_percentile(&hist, permilles[i]);
		if (!ok(is_near(found, exact(nr, permilles[i])), "%u values of %u bits: p%g",
			nr, bits, permilles[i] / 10.))
			printf("# %llu, not %llu\n", (unsigned long long)found,
			       (unsigned long long)exact(nr, permilles[i]));
	}
}

/* Each width of a bucket, at its ends */
static void check_error(void)
{
	unsigned int bits, wrong = 0;
	long long step;

	for (bits = 0; bits < HIST_BITS; bits++) {
		for (step = -1; step <= 1; step++) {
			u64 value = (1ULL << bits) + step;

			memset(&hist, 0, sizeof(hist));
			hist_add(&hist, value);
			hist_add(&hist, ~0ULL >> 1);	/* the maximum is no bound then */
			wrong += !is_near(hist_percentile(&hist, 500), value);
		}
	}
	equals("the error is at most 1 % at each power of two", wrong, 0);
}

static void check_numbers(void)
{
	memset(&hist, 0, sizeof(hist));
	equals("no values: a percentile is 0", hist_percentile(&hist, 500), 0);
	equals("no values: the mean is 0", hist_mean(&hist), 0);
	hist_add(&hist, 10);
	hist_add(&hist, 1ULL << 50);
	equals("count", hist.count, 2);
	equals("total", hist.total, 10 + (1ULL << 50));
	equals("mean", hist_mean(&hist), (10 + (1ULL << 50)) / 2);
	equals("maximum, beyond the last bucket", hist.max, 1ULL << 50);
	equals("p50 is the first of two", hist_percentile(&hist, 500), 10);
	equals("p99 is the maximum then", hist_percentile(&hist, 990), 1ULL << 50);
}

int main(void)
{
	check_numbers();
	check_error();
	check_percentiles(1, 10);
	check_percentiles(999, 20);
	check_percentiles(1001, 39);
	check_percentiles(VALUES, 39);
	return tap_end();
}
