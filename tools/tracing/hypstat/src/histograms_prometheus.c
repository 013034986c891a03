// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms as metrics for node exporter's textfile collector: in seconds, and without time
 * stamps, which the collector refuses. Each bucket is written, also an empty one, so that a
 * histogram has the same ones all the time.
 */
#include <string.h>

#include "escape.h"
#include "histograms.h"

/**
 * struct family - metrics of one name
 * @name: it, without its unit
 * @label: what its members differ by
 * @help: what they are
 * @gaps: they are of the times that are not EL2's
 * @longest: the longest time in place of the histogram
 */
struct family {
	const char	*name;
	const char	*label;
	const char	*help;
	bool		gaps;
	bool		longest;
};

static const struct family families[] = {
	{ "stay", "reason", "Time at EL2, a stay each time." },
	{ "stay_longest", "reason", "The longest stay at EL2 since the last reset.",
	  .longest = true },
	{ "gap", "in", "Time that a CPU left to a guest, to firmware, or to idle.", .gaps = true },
	{ "gap_longest", "in", "The longest of these times since the last reset.",
	  .gaps = true, .longest = true },
};

static void open_labels(const struct family *family, const char *suffix,
			const struct account *account, const struct entry *entry)
{
	printf("hypstat_%s_seconds%s{", family->name, suffix);
	if (account->cpu != NO_CPU)
		printf("cpu=\"%d\",", account->cpu);
	printf("%s=", family->label);
	escape_label(entry->name + (family->gaps ? strlen(GAP) : 0));
}

static void print_seconds(u64 ns)
{
	printf("} %.9f\n", ns / 1e9);
}

static void print_histogram(const struct family *family, const struct account *account,
			    const struct entry *entry)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < LOGHIST_BUCKETS; i++) {
		sum += entry->hist.buckets[i];
		open_labels(family, "_bucket", account, entry);
		if (i < LOGHIST_BUCKETS - 1)
			printf(",le=\"%.10g\"} ", loghist_bound(i) / 1e9);
		else
			printf(",le=\"+Inf\"} ");
		printf("%llu\n", (unsigned long long)sum);
	}
	open_labels(family, "_sum", account, entry);
	print_seconds(entry->hist.total);
	open_labels(family, "_count", account, entry);
	printf("} %llu\n", (unsigned long long)sum);
}

static void print_entry(const struct family *family, const struct account *account,
			const struct entry *entry)
{
	if (!family->longest) {
		print_histogram(family, account, entry);
		return;
	}
	open_labels(family, "", account, entry);
	print_seconds(entry->hist.max);
}

static void print_family(const struct family *family, const struct histograms *histograms)
{
	unsigned int i, j;

	printf("# HELP hypstat_%s_seconds %s\n", family->name, family->help);
	printf("# TYPE hypstat_%s_seconds %s\n", family->name,
	       family->longest ? "gauge" : "histogram");
	for (i = 0; i < histograms->nr; i++) {
		const struct account *account = &histograms->accounts[i];

		for (j = 0; j < account->nr; j++) {
			const struct entry *entry = &account->entries[j];

			if (entry_is_gap(entry) == family->gaps &&
			    entry_matches(entry, histograms->reason))
				print_entry(family, account, entry);
		}
	}
}

/**
 * histograms_prometheus - print histograms as Prometheus' metrics
 * @histograms: them
 */
void histograms_prometheus(const struct histograms *histograms)
{
	unsigned int i;

	printf("# HELP hypstat_accounting_enabled Whether EL2 counts.\n");
	printf("# TYPE hypstat_accounting_enabled gauge\n");
	printf("hypstat_accounting_enabled %d\n", histograms->accounts[0].on);
	for (i = 0; i < sizeof(families) / sizeof(*families); i++)
		print_family(&families[i], histograms);
}
