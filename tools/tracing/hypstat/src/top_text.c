// SPDX-License-Identifier: GPL-2.0
/* What hypstat top shows */
#include <stdio.h>
#include <time.h>

#include "top_text.h"

static const unsigned int permilles[] = { 500, 900, 990, 999 };

#define NR_PERMILLES	(sizeof(permilles) / sizeof(*permilles))

static void print_time(const struct top_round *round, u64 ns)
{
	if (round->nano)
		printf(" %10llu", (unsigned long long)ns);
	else
		printf(" %10.2f", ns / 1e3);
}

/* A bound has three digits more, so that it is not rounded. */
static void print_bound(const struct top_round *round, u64 ns)
{
	char text[32];

	if (round->nano)
		snprintf(text, sizeof(text), "<=%llu", (unsigned long long)ns);
	else
		snprintf(text, sizeof(text), "<=%.3f", ns / 1e3);
	printf(" %11s", text);
}

static double share(const struct top_round *round, u64 ns)
{
	return 100. * ns / (round->elapsed * (double)round->nr_cpus);
}

static void print_percentiles(const struct top_round *round, const struct loghist *hist)
{
	unsigned int i;

	for (i = 0; i < NR_PERMILLES; i++) {
		if (loghist_has_buckets(hist))
			print_bound(round, loghist_percentile(hist, permilles[i]));
		else
			printf(" %11s", "-");
	}
}

static void print_row(const struct top_round *round, const struct entry *entry)
{
	const struct loghist *hist = &entry->hist;

	printf("%-34s %10.1f %7.3f", entry->name, hist->count * 1e9 / round->elapsed,
	       share(round, hist->total));
	if (hist->count)
		print_time(round, loghist_mean(hist));
	else
		printf(" %10s", "-");
	if (round->view->guests) {
		printf(" %7.3f", share(round, entry->guest));
	} else {
		print_time(round, hist->max);
		print_percentiles(round, hist);
	}
	putchar('\n');
}

static void print_titles(const struct top_round *round)
{
	const char *unit = round->nano ? "ns" : "us";

	printf("\n%-34s %10s %7s    MEAN %s", round->view->title, "RATE/s", "TIME%", unit);
	if (round->view->guests)
		printf("  GUEST%%\n");
	else
		printf("    MAX* %s      P50 %s      P90 %s      P99 %s    P99.9 %s\n", unit, unit,
		       unit, unit, unit);
}

static void print_head(const struct top_round *round)
{
	time_t now = time(NULL);
	char clock[16];

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	printf("hypstat top, %s: %.3f s on %u CPU%s, at EL2: %.1f stays/s, %.3f %% of the time\n",
	       clock, round->elapsed / 1e9, round->nr_cpus, round->nr_cpus == 1 ? "" : "s",
	       round->total.count * 1e9 / round->elapsed, share(round, round->total.total));
}

static void print_gaps(const struct top_round *round)
{
	unsigned int i;

	if (round->gaps.nr)
		printf("not at EL2:");
	for (i = 0; i < round->gaps.nr; i++)
		printf("%s %s %.3f %%", i ? "," : "", round->gaps.entries[i].name,
		       share(round, round->gaps.entries[i].hist.total));
	if (round->gaps.nr)
		putchar('\n');
}

static void print_notes(const struct top_round *round)
{
	printf("\n");
	print_gaps(round);
	if (round->view->guests)
		return;
	printf("*: since the last reset. ");
	printf("Percentiles are bounds: powers of two, within a factor of two\n");
}

/**
 * top_text - print the figures of a round
 * @round: them
 */
void top_text(const struct top_round *round)
{
	unsigned int i;

	print_head(round);
	print_titles(round);
	for (i = 0; i < round->rows.nr; i++) {
		if (round->max_rows && i == round->max_rows)
			break;
		print_row(round, &round->rows.entries[i]);
	}
	if (i < round->rows.nr)
		printf("and %u more\n", round->rows.nr - i);
	print_notes(round);
}
