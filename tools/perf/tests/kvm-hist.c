// SPDX-License-Identifier: GPL-2.0
/* Percentiles and histograms of struct kvm_hist, beside the times themselves */
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "debug.h"
#include "kvm-hist.h"
#include "tests.h"

#define NR_TIMES	20000

static u64 times[NR_TIMES];

static int compare(const void *a, const void *b)
{
	const u64 *one = a, *two = b;

	return *one < *two ? -1 : *one > *two;
}

/* Times of all magnitudes up to 64 bits, or up to so many */
static void fill_times(unsigned int bits)
{
	u64 seed = 1;
	unsigned int i;

	for (i = 0; i < NR_TIMES; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		times[i] = (seed ^ seed >> 29) >> (64 - bits + (seed >> 33) % bits);
	}
}

static struct kvm_hist *hist_of(unsigned int first, unsigned int end)
{
	struct kvm_hist *hist = kvm_hist__new();

	for (; hist && first < end; first++) {
		if (kvm_hist__update(hist, times[first])) {
			kvm_hist__delete(hist);
			return NULL;
		}
	}
	return hist;
}

/* At most 1 % off */
static bool is_near(u64 found, u64 time)
{
	u64 off = found > time ? found - time : time - found;

	return off <= time / 100;
}

static u64 exact(unsigned int nr, unsigned int permille)
{
	return times[(nr * permille + 999) / 1000 - 1];
}

static int check_percentiles(const struct kvm_hist *hist, unsigned int nr)
{
	unsigned int permille;

	qsort(times, nr, sizeof(*times), compare);
	for (permille = 1; permille <= 1000; permille++)
		TEST_ASSERT_VAL("at most 1 % off", is_near(kvm_hist__permille(hist, permille),
							   exact(nr, permille)));
	return TEST_OK;
}

static int test__error(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const unsigned int numbers[] = { 1, 2, 3, 10, 99, 100, 101, 999, NR_TIMES };
	static const unsigned int all_bits[] = { 6, 7, 8, 20, 40, 63 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (j = 0; j < ARRAY_SIZE(all_bits); j++) {
			struct kvm_hist *hist;
			int err;

			fill_times(all_bits[j]);
			hist = hist_of(0, numbers[i]);
			TEST_ASSERT_VAL("memory", hist);
			err = check_percentiles(hist, numbers[i]);
			kvm_hist__delete(hist);
			if (err)
				return err;
		}
	}
	return TEST_OK;
}

static int test__exact(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_hist *hist;
	unsigned int i;

	for (i = 0; i < 100; i++)
		times[i] = i + 1;
	hist = hist_of(0, 100);
	TEST_ASSERT_VAL("memory", hist);
	TEST_ASSERT_EQUAL("p50", (int)kvm_hist__permille(hist, 500), 50);
	TEST_ASSERT_EQUAL("p90", (int)kvm_hist__permille(hist, 900), 90);
	TEST_ASSERT_EQUAL("p99", (int)kvm_hist__permille(hist, 990), 99);
	TEST_ASSERT_EQUAL("p99.9", (int)kvm_hist__permille(hist, 999), 100);
	TEST_ASSERT_EQUAL("the least", (int)kvm_hist__permille(hist, 0), 1);
	kvm_hist__clear(hist);
	TEST_ASSERT_EQUAL("none", (int)kvm_hist__permille(hist, 500), 0);
	TEST_ASSERT_VAL("the largest", !kvm_hist__update(hist, ~0ULL) &&
			is_near(kvm_hist__permille(hist, 500), ~0ULL));
	kvm_hist__delete(hist);
	return TEST_OK;
}

static int test__sum(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_hist *all, *part;
	int err;

	fill_times(30);
	all = hist_of(0, NR_TIMES / 3);
	part = hist_of(NR_TIMES / 3, NR_TIMES);
	TEST_ASSERT_VAL("memory", all && part && !kvm_hist__add(all, part));
	TEST_ASSERT_EQUAL("all of them", (int)all->nr, NR_TIMES);
	err = check_percentiles(all, NR_TIMES);
	kvm_hist__delete(all);
	kvm_hist__delete(part);
	return err;
}

static u64 count(u64 first, u64 last)
{
	u64 nr = 0;
	unsigned int i;

	for (i = 0; i < NR_TIMES; i++)
		nr += times[i] >= first && times[i] <= last;
	return nr;
}

static int test__log2(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_hist *hist;
	unsigned int bit;

	fill_times(63);
	hist = hist_of(0, NR_TIMES);
	TEST_ASSERT_VAL("memory", hist);
	for (bit = 0; bit < 64; bit++) {
		u64 first = bit ? 1ULL << bit : 0;

		TEST_ASSERT_VAL("from a power of two to the next", kvm_hist__log2(hist, bit) ==
				count(first, (1ULL << bit) - 1 + (1ULL << bit)));
	}
	kvm_hist__delete(hist);
	return TEST_OK;
}

static int test__graph(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const char expected[] =
		"#             DURATION            |      COUNT | GRAPH      "
		"                                    |\n"
		"         2.048us -        4.096us |          3 | ###########"
		"#######################             |\n"
		"         4.096us -        8.192us |          0 |            "
		"                                    |\n"
		"         8.192us -       16.384us |          1 | ###########"
		"                                    |\n";
	struct kvm_hist *hist;
	char *text = NULL;
	size_t size;
	FILE *fp;
	bool same;

	times[0] = 2048;
	times[1] = 3000;
	times[2] = 4095;
	times[3] = 16383;
	hist = hist_of(0, 4);
	fp = open_memstream(&text, &size);
	TEST_ASSERT_VAL("memory", hist && fp);
	kvm_hist__fprintf(hist, fp);
	fclose(fp);
	same = !strcmp(text, expected);
	if (!same)
		pr_debug("%s", text);
	free(text);
	kvm_hist__delete(hist);
	TEST_ASSERT_VAL("a row for each power of two", same);
	return TEST_OK;
}

static struct test_case tests__kvm_hist[] = {
	TEST_CASE("percentiles are at most 1 % off", error),
	TEST_CASE("percentiles of small times are exact", exact),
	TEST_CASE("percentiles of a sum", sum),
	TEST_CASE("counts between powers of two", log2),
	TEST_CASE("a histogram as text", graph),
	{ .name = NULL, }
};

struct test_suite suite__kvm_hist = {
	.desc = "KVM: how long events took",
	.test_cases = tests__kvm_hist,
};
