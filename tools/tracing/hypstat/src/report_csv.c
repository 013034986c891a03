// SPDX-License-Identifier: GPL-2.0
/* The tables of a report as comma-separated values (RFC 4180), with all times in nanoseconds */
#include <stdio.h>

#include "escape.h"
#include "output.h"

static void put_number(u64 value)
{
	printf(",%llu", (unsigned long long)value);
}

static void print_row(const char *table, const char *name, const struct hist *hist)
{
	printf("%s,", table);
	escape_csv(name);
	put_number(hist->count);
	put_number(hist->total);
	put_number(hist_mean(hist));
	put_number(hist_percentile(hist, 500));
	put_number(hist_percentile(hist, 900));
	put_number(hist_percentile(hist, 990));
	put_number(hist_percentile(hist, 999));
	put_number(hist->max);
}

static void print_section(const struct summary *summary, enum section_id id)
{
	const struct table *table = &summary->tables[id];
	unsigned int i;

	for (i = 0; i < table->nr; i++) {
		print_row(sections[id].name, table->rows[i]->name, &table->rows[i]->hist);
		if (sections[id].has_guest)
			put_number(table->rows[i]->guest);
		else
			putchar(',');
		if (sections[id].has_self)
			put_number(table->rows[i]->self);
		else
			putchar(',');
		putchar('\n');
	}
}

static void print_lost(const char *name, u64 count)
{
	printf("losses,%s,%llu,,,,,,,,,\n", name, (unsigned long long)count);
}

/**
 * csv_print - print a report as comma-separated values
 * @summary: the report, sorted
 */
void csv_print(const struct summary *summary)
{
	const struct losses *losses = &summary->stays.losses;
	int i;

	printf("table,name,count,total_ns,mean_ns,p50_ns,p90_ns,p99_ns,p999_ns,max_ns,");
	puts("guest_ns,self_ns");
	print_row("all", "", &summary->all);
	puts(",,");
	for (i = 0; i < NR_SECTIONS; i++)
		print_section(summary, i);
	print_lost("events", losses->hyp);
	print_lost("unknown", losses->hyp_unknown);
	print_lost("host_events", losses->host);
	print_lost("dropped_stays", losses->dropped);
	print_lost("partial_stays", losses->partial);
}
