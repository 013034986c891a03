// SPDX-License-Identifier: GPL-2.0
/* Histograms as comma-separated values (RFC 4180), with all times in nanoseconds */
#include "escape.h"
#include "histograms.h"

static void put_number(u64 value)
{
	printf(",%llu", (unsigned long long)value);
}

static void print_head(void)
{
	unsigned int i;

	printf("cpu,name,count,total_ns,mean_ns,p50_bound_ns,p90_bound_ns,p99_bound_ns,");
	printf("p999_bound_ns,max_ns");
	for (i = 0; i < LOGHIST_BUCKETS - 1; i++)
		printf(",below_%llu", (unsigned long long)loghist_bound(i));
	printf(",above\n");
}

static void print_entry(const struct account *account, const struct entry *entry)
{
	const struct loghist *hist = &entry->hist;
	unsigned int i;

	if (account->cpu == NO_CPU)
		printf("all,");
	else
		printf("%d,", account->cpu);
	escape_csv(entry->name);
	put_number(hist->count);
	put_number(hist->total);
	put_number(loghist_mean(hist));
	put_number(loghist_percentile(hist, 500));
	put_number(loghist_percentile(hist, 900));
	put_number(loghist_percentile(hist, 990));
	put_number(loghist_percentile(hist, 999));
	put_number(hist->max);
	for (i = 0; i < LOGHIST_BUCKETS; i++)
		put_number(hist->buckets[i]);
	putchar('\n');
}

/**
 * histograms_csv - print histograms as comma-separated values
 * @histograms: them
 */
void histograms_csv(const struct histograms *histograms)
{
	unsigned int i, j;

	print_head();
	for (i = 0; i < histograms->nr; i++) {
		const struct account *account = &histograms->accounts[i];

		for (j = 0; j < account->nr; j++) {
			if (entry_matches(&account->entries[j], histograms->reason))
				print_entry(account, &account->entries[j]);
		}
	}
}
