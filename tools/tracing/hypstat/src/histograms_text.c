// SPDX-License-Identifier: GPL-2.0
/* Histograms for people */
#include <string.h>

#include "histograms.h"

#define BAR	40	/* characters, of the largest bucket */

/**
 * histograms_time - the text of a time
 * @histograms: how it is shown
 * @ns: the time
 * @text: where it is written, with room for TIME_TEXT characters
 *
 * Return: @text.
 */
const char *histograms_time(const struct histograms *histograms, u64 ns, char *text)
{
	static const char * const units[] = { "ns", "us", "ms", "s" };
	double value = ns;
	unsigned int unit = 0;

	while (!histograms->nano && value >= 1000 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(text, TIME_TEXT, "%.*f %s", unit ? 3 : 0, value, units[unit]);
	return text;
}

/**
 * histograms_bound - the text of a bucket's upper bound
 * @histograms: how it is shown
 * @bucket: the bucket
 * @text: where it is written, with room for TIME_TEXT characters
 *
 * Return: @text, which is empty for the last bucket.
 */
const char *histograms_bound(const struct histograms *histograms, unsigned int bucket, char *text)
{
	if (bucket < LOGHIST_BUCKETS - 1)
		return histograms_time(histograms, loghist_bound(bucket), text);
	*text = '\0';
	return text;
}

static void print_bar(u64 count, u64 of)
{
	static const char bar[BAR + 1] = "########################################";
	int length = (double)count / of * BAR + 0.5;

	if (!length && count)
		length = 1;
	printf(" |%-*.*s|\n", BAR, length, bar);
}

static void print_buckets(const struct histograms *histograms, const struct loghist *hist)
{
	char from[TIME_TEXT], to[TIME_TEXT];
	unsigned int i;

	for (i = 0; i < LOGHIST_BUCKETS; i++) {
		if (!hist->buckets[i] && !histograms->with_zeros)
			continue;
		printf("%16s .. %-14s %10llu", histograms_time(histograms, loghist_low(i), from),
		       histograms_bound(histograms, i, to), (unsigned long long)hist->buckets[i]);
		print_bar(hist->buckets[i], loghist_most(hist));
	}
}

static void print_row(const struct histograms *histograms, const struct entry *row)
{
	const struct loghist *hist = &row->hist;
	char text[TIME_TEXT];

	printf("\n%s: %llu, total %s", row->name, (unsigned long long)hist->count,
	       histograms_time(histograms, hist->total, text));
	if (hist->count)
		printf(", mean %s", histograms_time(histograms, loghist_mean(hist), text));
	if (loghist_has_buckets(hist)) {
		printf(", p99 <= %s",
		       histograms_time(histograms, loghist_percentile(hist, 990), text));
		printf(", longest* %s", histograms_time(histograms, hist->max, text));
	}
	putchar('\n');
	if (loghist_has_buckets(hist))
		print_buckets(histograms, hist);
}

static void print_rows(const struct histograms *histograms, struct account *rows)
{
	unsigned int i;

	view_sort(rows, parse_sort("time"));
	for (i = 0; i < rows->nr; i++)
		print_row(histograms, &rows->entries[i]);
}

static void print_head(const struct histograms *histograms, const struct account *account)
{
	char text[TIME_TEXT];

	if (account->cpu != NO_CPU)
		printf("CPU %d, ", account->cpu);
	else
		printf("%u CPU%s, ", account->nr_cpus, account->nr_cpus == 1 ? "" : "s");
	if (histograms->elapsed)
		printf("%s: ", histograms_time(histograms, histograms->elapsed, text));
	else
		printf("since the last reset: ");
	printf("stays at EL2 by %s\n", histograms->view->name);
}

static void print_account(const struct histograms *histograms, const struct account *account)
{
	static struct account rows;

	print_head(histograms, account);
	view_select(histograms->view, account, histograms->reason, &rows);
	print_rows(histograms, &rows);
	view_gaps(account, histograms->reason, &rows);
	if (rows.nr)
		printf("\nnot at EL2:\n");
	print_rows(histograms, &rows);
}

/**
 * histograms_text - print histograms with bars
 * @histograms: them
 */
void histograms_text(const struct histograms *histograms)
{
	unsigned int i;

	for (i = 0; i < histograms->nr; i++) {
		print_account(histograms, &histograms->accounts[i]);
		printf("\n");
	}
	printf("*: since the last reset. p99 is a bound: a power of two, within a factor of two\n");
}
