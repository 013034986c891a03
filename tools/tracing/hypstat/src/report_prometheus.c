// SPDX-License-Identifier: GPL-2.0
/*
 * A report as metrics for node exporter's textfile collector: in seconds, and without time
 * stamps, which the collector refuses.
 */
#include <stdio.h>

#include "escape.h"
#include "output.h"

static void print_help(const char *metric, const char *suffix, const char *type, const char *help)
{
	printf("# HELP hypstat_%s%s_seconds %s\n", metric, suffix, help);
	printf("# TYPE hypstat_%s%s_seconds %s\n", metric, suffix, type);
}

/* The labels of a row; what follows is another label, and the end. */
static void open_labels(const struct section *section, const char *suffix, const struct row *row)
{
	printf("hypstat_%s%s{%s=", section->metric, suffix, section->metric);
	escape_label(row->name);
}

static void print_quantile(const struct section *section, const struct row *row,
			   unsigned int permille)
{
	open_labels(section, "_seconds", row);
	printf(",quantile=\"%g\"} %.9f\n", permille / 1e3,
	       hist_percentile(&row->hist, permille) / 1e9);
}

static void print_value(const struct section *section, const char *suffix, const struct row *row,
			u64 ns)
{
	open_labels(section, suffix, row);
	printf("} %.9f\n", ns / 1e9);
}

static void print_times(const struct section *section, const struct table *table)
{
	unsigned int i;

	print_help(section->metric, "", "summary", section->help);
	for (i = 0; i < table->nr; i++) {
		const struct row *row = table->rows[i];

		print_quantile(section, row, 500);
		print_quantile(section, row, 900);
		print_quantile(section, row, 990);
		print_quantile(section, row, 999);
		print_value(section, "_seconds_sum", row, row->hist.total);
		open_labels(section, "_seconds_count", row);
		printf("} %llu\n", (unsigned long long)row->hist.count);
	}
}

static void print_max(const struct section *section, const struct table *table)
{
	unsigned int i;

	print_help(section->metric, "_longest", "gauge", "The longest of these times.");
	for (i = 0; i < table->nr; i++)
		print_value(section, "_longest_seconds", table->rows[i], table->rows[i]->hist.max);
}

static void print_guest(const struct section *section, const struct table *table)
{
	unsigned int i;

	print_help(section->metric, "_guest", "gauge", "Time in the guest.");
	for (i = 0; i < table->nr; i++)
		print_value(section, "_guest_seconds", table->rows[i], table->rows[i]->guest);
}

static void print_self(const struct section *section, const struct table *table)
{
	unsigned int i;

	print_help(section->metric, "_self", "gauge", "Time in the function itself.");
	for (i = 0; i < table->nr; i++)
		print_value(section, "_self_seconds", table->rows[i], table->rows[i]->self);
}

static void print_section(const struct summary *summary, enum section_id id)
{
	const struct table *table = &summary->tables[id];

	if (!table->nr)
		return;
	print_times(&sections[id], table);
	print_max(&sections[id], table);
	if (sections[id].has_guest)
		print_guest(&sections[id], table);
	if (sections[id].has_self)
		print_self(&sections[id], table);
}

static void print_gauge(const char *name, const char *help, u64 value)
{
	printf("# HELP hypstat_%s %s\n# TYPE hypstat_%s gauge\nhypstat_%s %llu\n", name, help, name,
	       name, (unsigned long long)value);
}

/**
 * prometheus_print - print a report as Prometheus' metrics
 * @summary: the report, sorted
 */
void prometheus_print(const struct summary *summary)
{
	const struct losses *losses = &summary->stays.losses;
	int i;

	print_help("recording", "", "gauge", "Time from the first event to the last one.");
	printf("hypstat_recording_seconds %.9f\n", summary_span(summary) / 1e9);
	print_gauge("cpus", "CPUs with events of the hypervisor.", summary->nr_cpus);
	print_gauge("lost_events", "Events of the hypervisor that were lost.", losses->hyp);
	print_gauge("dropped_stays", "Stays at EL2 in which events were lost.", losses->dropped);
	for (i = 0; i < NR_SECTIONS; i++)
		print_section(summary, i);
}
