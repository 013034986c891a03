// SPDX-License-Identifier: GPL-2.0
/*
 * How long events took: percentiles and a histogram in constant memory
 *
 * Times below KVM_HIST_SUBS are counted one by one: they are octave 0. Each further octave
 * goes from a power of two to the next and has KVM_HIST_SUBS buckets of one width:
 *
 *	octave   0           1            2              3
 *	times    0 .. 63     64 .. 127    128 .. 255     256 .. 511     ...
 *	width    1           1            2              4
 *
 * A percentile is the middle of a bucket, so it is off by half of the width at most:
 * 1/128, or 0.8 %, of the time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/zalloc.h>
#include "kvm-hist.h"

const struct kvm_percentile kvm_percentiles[KVM_NR_PERCENTILES] = {
	{ "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p99.9", 999 },
};

/* The number of a percentile by its name, or -1 */
int kvm_percentile__find(const char *name)
{
	unsigned int i;

	for (i = 0; i < KVM_NR_PERCENTILES; i++) {
		if (!strcmp(name, kvm_percentiles[i].name))
			return i;
	}
	return -1;
}

struct kvm_hist *kvm_hist__new(void)
{
	return zalloc(sizeof(struct kvm_hist));
}

void kvm_hist__delete(struct kvm_hist *hist)
{
	unsigned int i;

	if (!hist)
		return;
	for (i = 0; i < KVM_HIST_OCTAVES; i++)
		free(hist->octaves[i]);
	free(hist);
}

/* Keep the memory: the same octaves will be used again. */
void kvm_hist__clear(struct kvm_hist *hist)
{
	unsigned int i;

	for (i = 0; i < KVM_HIST_OCTAVES; i++) {
		if (hist->octaves[i])
			memset(hist->octaves[i], 0, KVM_HIST_SUBS * sizeof(u64));
	}
	hist->nr = 0;
}

static unsigned int octave_of(u64 time)
{
	return time < KVM_HIST_SUBS ? 0 : ilog2(time) - KVM_HIST_SUB_BITS + 1;
}

/* The bits below a bucket's: those of its width */
static unsigned int shift_of(unsigned int octave)
{
	return octave ? octave - 1 : 0;
}

static u64 *findnew_octave(struct kvm_hist *hist, unsigned int octave)
{
	if (!hist->octaves[octave])
		hist->octaves[octave] = calloc(KVM_HIST_SUBS, sizeof(u64));
	return hist->octaves[octave];
}

/* Return: 0, or -ENOMEM. */
int kvm_hist__update(struct kvm_hist *hist, u64 time)
{
	unsigned int octave = octave_of(time);
	u64 *buckets = findnew_octave(hist, octave);

	if (!buckets)
		return -ENOMEM;
	buckets[(time >> shift_of(octave)) % KVM_HIST_SUBS]++;
	hist->nr++;
	return 0;
}

static int add_octave(struct kvm_hist *to, const struct kvm_hist *from, unsigned int octave)
{
	u64 *buckets = findnew_octave(to, octave);
	unsigned int i;

	if (!buckets)
		return -ENOMEM;
	for (i = 0; i < KVM_HIST_SUBS; i++)
		buckets[i] += from->octaves[octave][i];
	return 0;
}

/* Return: 0, or -ENOMEM: a part is missing then. */
int kvm_hist__add(struct kvm_hist *to, const struct kvm_hist *from)
{
	unsigned int i;

	for (i = 0; i < KVM_HIST_OCTAVES; i++) {
		if (from->octaves[i] && add_octave(to, from, i))
			return -ENOMEM;
	}
	to->nr += from->nr;
	return 0;
}

/* The time in the middle of a bucket, of those that it has */
static u64 middle_of(unsigned int octave, unsigned int bucket)
{
	unsigned int shift = shift_of(octave);
	u64 first = (u64)(octave ? KVM_HIST_SUBS + bucket : bucket) << shift;

	return first + ((1ULL << shift) - 1) / 2;
}

/* How many of the times are not longer than the percentile: at least one */
static u64 rank_of(u64 nr, unsigned int permille)
{
	u64 rank = nr / 1000 * permille + (nr % 1000 * permille + 999) / 1000;

	return rank ?: 1;
}

/**
 * kvm_hist__permille - a percentile
 * @hist:	the times
 * @permille:	so much of them are to be as long at most
 *
 * Return: the shortest time for which that is true, at most 0.8 % off; 0 if there is none.
 */
u64 kvm_hist__permille(const struct kvm_hist *hist, unsigned int permille)
{
	u64 rank = rank_of(hist->nr, permille), seen = 0;
	unsigned int i, bucket;

	for (i = 0; i < KVM_HIST_OCTAVES; i++) {
		for (bucket = 0; hist->octaves[i] && bucket < KVM_HIST_SUBS; bucket++) {
			seen += hist->octaves[i][bucket];
			if (seen >= rank)
				return middle_of(i, bucket);
		}
	}
	return 0;
}

static u64 sum_buckets(const u64 *buckets, unsigned int first, unsigned int end)
{
	u64 sum = 0;

	for (; buckets && first < end; first++)
		sum += buckets[first];
	return sum;
}

/* How many times are from that power of two to the next; 0 is one of those below 2. */
u64 kvm_hist__log2(const struct kvm_hist *hist, unsigned int bit)
{
	if (bit >= KVM_HIST_SUB_BITS)
		return sum_buckets(hist->octaves[bit - KVM_HIST_SUB_BITS + 1], 0, KVM_HIST_SUBS);
	return sum_buckets(hist->octaves[0], bit ? 1U << bit : 0, 2U << bit);
}

/* The powers of two of the shortest and the longest time */
static void find_ends(const struct kvm_hist *hist, unsigned int *first, unsigned int *last)
{
	*first = 0;
	while (*first < 63 && !kvm_hist__log2(hist, *first))
		++*first;
	*last = 63;
	while (*last > *first && !kvm_hist__log2(hist, *last))
		--*last;
}

static void fprintf_row(const struct kvm_hist *hist, unsigned int bit, FILE *fp)
{
	static const char bar[] = "##############################################";
	int room = sizeof(bar) - 1, len;
	u64 nr = kvm_hist__log2(hist, bit);

	len = (double)nr / hist->nr * room;
	fprintf(fp, "  %12.3fus - %12.3fus | %10llu | %.*s%*s |\n",
		bit ? (double)(1ULL << bit) / 1000 : 0., 2 * (double)(1ULL << bit) / 1000,
		(unsigned long long)nr, len, bar, room - len, "");
}

/* A row for each power of two from the shortest to the longest time, in nanoseconds */
void kvm_hist__fprintf(const struct kvm_hist *hist, FILE *fp)
{
	unsigned int bit, last;

	if (!hist->nr)
		return;
	find_ends(hist, &bit, &last);
	fprintf(fp, "# %31s | %10s | %-46s |\n", "DURATION           ", "COUNT", "GRAPH");
	for (; bit <= last; bit++)
		fprintf_row(hist, bit, fp);
}
