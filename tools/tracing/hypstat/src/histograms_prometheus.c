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
 * @name: it
 * @type: what Prometheus makes of it
 * @help: what it is
 * @gaps: it is of the times that are not EL2's
 * @print: prints that of an entry
 */
struct family {
	const char	*name;
	const char	*type;
	const char	*help;
	bool		gaps;
	void		(*print)(const struct family *family, const struct account *account,
				 const struct entry *entry);
};

/* A name and the labels. What follows is another label, and the end. */
static void open_labels(const struct family *family, const char *suffix,
			const struct account *account, const struct entry *entry)
{
	printf("hypstat_%s%s{", family->name, suffix);
	if (account->cpu != NO_CPU)
		printf("cpu=\"%d\",", account->cpu);
	printf("%s=", family->gaps ? "in" : "reason");
	escape_label(entry->name + (family->gaps ? strlen(GAP) : 0));
}

static void print_number(u64 value)
{
	printf("} %llu\n", (unsigned long long)value);
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
			printf(",le=\"%.10g\"", loghist_bound(i) / 1e9);
		else
			printf(",le=\"+Inf\"");
		print_number(sum);
	}
	open_labels(family, "_sum", account, entry);
	print_seconds(entry->hist.total);
	open_labels(family, "_count", account, entry);
	print_number(sum);
}

static void print_longest(const struct family *family, const struct account *account,
			  const struct entry *entry)
{
	open_labels(family, "", account, entry);
	print_seconds(entry->hist.max);
}

static void print_total(const struct family *family, const struct account *account,
			const struct entry *entry)
{
	open_labels(family, "", account, entry);
	print_seconds(entry->hist.total);
}

static void print_count(const struct family *family, const struct account *account,
			const struct entry *entry)
{
	open_labels(family, "", account, entry);
	print_number(entry->hist.count);
}

static const struct family families[] = {
	{ "stay_seconds", "histogram", "Time at EL2, a stay each time.",
	  .print = print_histogram },
	{ "stay_longest_seconds", "gauge", "The longest stay at EL2 since the last reset.",
	  .print = print_longest },
	{ "gap_seconds_total", "counter", "Time that is not EL2's, but a guest's or firmware's.",
	  .gaps = true, .print = print_total },
	{ "gaps_total", "counter", "How often EL2 entered a guest, firmware, or idle.",
	  .gaps = true, .print = print_count },
};

static void print_family(const struct family *family, const struct histograms *histograms)
{
	unsigned int i, j;

	printf("# HELP hypstat_%s %s\n", family->name, family->help);
	printf("# TYPE hypstat_%s %s\n", family->name, family->type);
	for (i = 0; i < histograms->nr; i++) {
		const struct account *account = &histograms->accounts[i];

		for (j = 0; j < account->nr; j++) {
			const struct entry *entry = &account->entries[j];

			if (entry_is_gap(entry) == family->gaps &&
			    entry_matches(entry, histograms->reason))
				family->print(family, account, entry);
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
