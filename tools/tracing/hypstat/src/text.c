// SPDX-License-Identifier: GPL-2.0
/* A report for people */
#include <stdio.h>
#include <trace-seq.h>

#include "output.h"

static double us(u64 ns)
{
	return ns / 1e3;
}

static double share(const struct summary *summary, u64 total)
{
	u64 time = summary_span(summary) * summary->nr_cpus;

	return time ? 100. * total / time : 0;
}

static void print_hist(const struct summary *summary, const struct hist *hist)
{
	static const unsigned int permilles[] = { 500, 900, 990, 999 };
	unsigned int i;

	printf(" %9llu %12.1f %6.2f %9.2f", (unsigned long long)hist->count, us(hist->total),
	       share(summary, hist->total), us(hist_mean(hist)));
	for (i = 0; i < sizeof(permilles) / sizeof(*permilles); i++)
		printf(" %9.2f", us(hist_percentile(hist, permilles[i])));
	printf(" %9.2f", us(hist->max));
}

static void print_section(const struct summary *summary, enum section_id id)
{
	const struct table *table = &summary->tables[id];
	const struct section *section = &sections[id];
	unsigned int i;

	if (!table->nr)
		return;
	printf("\n%-34s %9s %12s %6s %9s %9s %9s %9s %9s %9s%s\n", section->title, "COUNT",
	       "TOTAL us", "TIME%", "MEAN us", "P50 us", "P90 us", "P99 us", "P99.9 us", "MAX us",
	       section->has_guest ? "    GUEST us" : section->has_self ? "     SELF us" : "");
	for (i = 0; i < table->nr; i++) {
		printf("%-34s", table->rows[i]->name);
		print_hist(summary, &table->rows[i]->hist);
		if (section->has_guest)
			printf(" %11.1f", us(table->rows[i]->guest));
		if (section->has_self)
			printf(" %11.1f", us(table->rows[i]->self));
		putchar('\n');
	}
}

static void print_head(const struct summary *summary)
{
	printf("%s: %.3f s on %u CPU%s, %llu events of the hypervisor\n", summary->file,
	       summary_span(summary) / 1e9, summary->nr_cpus, summary->nr_cpus == 1 ? "" : "s",
	       (unsigned long long)summary->stays.nr_events);
	printf("at EL2: %llu stays, %.1f us, %.2f %% of the CPUs' time\n",
	       (unsigned long long)summary->all.count, us(summary->all.total),
	       share(summary, summary->all.total));
}

static void print_lost(const char *whose, u64 count, u64 unknown)
{
	printf("events lost%s: %llu", whose, (unsigned long long)count);
	if (unknown)
		printf(", and %llu times an unknown number", (unsigned long long)unknown);
	putchar('\n');
}

static void print_losses(const struct losses *losses)
{
	putchar('\n');
	print_lost("", losses->hyp, losses->hyp_unknown);
	if (losses->host || losses->host_unknown)
		print_lost(" of the host", losses->host, losses->host_unknown);
	printf("stays dropped, as events in them were lost: %llu\n",
	       (unsigned long long)losses->dropped);
	printf("stays cut by the begin or end of the recording: %llu\n",
	       (unsigned long long)losses->partial);
	if (losses->unpaired)
		printf("hyp_enter or hyp_exit without the other, as with a filter: %llu\n",
		       (unsigned long long)losses->unpaired);
	if (losses->corrupt)
		printf("corrupted events: %llu\n", (unsigned long long)losses->corrupt);
}

static void print_what(const struct summary *summary, const struct stay *stay)
{
	char text[ROW_NAME];

	printf("reason %s", reason_name(summary, stay->reason, text, sizeof(text)));
	if (stay->hcall != NO_HCALL)
		printf(", %s", hcall_name(summary, stay->hcall, text, sizeof(text)));
	if (stay->exited)
		printf(", exit %s", exit_name(summary, stay, text, sizeof(text)));
	if (stay->guest.known)
		printf(", guest %s", guest_name(&stay->guest, text, sizeof(text)));
	putchar('\n');
}

static void print_before(const struct summary *summary, const struct stay *stay)
{
	char text[ROW_NAME];

	printf("     before: task %s", owner_name(summary, &stay->owner, text, sizeof(text)));
	printf(", guest %s", guest_name(&stay->last_guest, text, sizeof(text)));
	printf(", hypercall %s\n", stay->last_hcall == NO_HCALL ? "none" :
	       hcall_name(summary, stay->last_hcall, text, sizeof(text)));
}

static void print_inside(const struct summary *summary, const struct stay *stay,
			 struct trace_seq *seq)
{
	unsigned int i;

	for (i = 0; i < stay->nr_events && i < STAY_EVENTS; i++) {
		inside_text(summary, stay, &stay->events[i], seq);
		printf("     %+9.2f us  %s\n", us(stay->events[i].ts - stay->begin), seq->buffer);
	}
	if (stay->nr_events > STAY_EVENTS)
		printf("     and %u events more\n", stay->nr_events - STAY_EVENTS);
}

static void print_functions(const struct summary *summary, const struct stay *stay)
{
	const struct part *part = stay->functions;
	char text[ROW_NAME];
	unsigned int i;

	for (i = 0; i < stay->nr_functions; i++, part++)
		printf("     %9.2f us  in %s\n", us(part->self),
		       events_function(&summary->events, part->ip, text, sizeof(text)));
}

static void print_stay(const struct summary *summary, const struct stay *stay)
{
	struct trace_seq seq;

	printf("%9.2f us  CPU %d, at %.9f s, ", us(stay_length(stay)), stay->cpu,
	       stay->begin / 1e9);
	print_what(summary, stay);
	print_before(summary, stay);
	trace_seq_init(&seq);
	print_inside(summary, stay, &seq);
	trace_seq_destroy(&seq);
	print_functions(summary, stay);
}

static void print_longest(const struct summary *summary)
{
	const struct longest *longest = &summary->longest;
	unsigned int i;

	printf("\nTHE LONGEST STAYS AT EL2\n");
	for (i = 0; i < longest->nr; i++) {
		printf("%2u. ", i + 1);
		print_stay(summary, &longest->stays[i]);
	}
}

/**
 * text_print_last - print the stay that has ended the recording
 * @summary: the report, with a limit
 */
void text_print_last(const struct summary *summary)
{
	printf("%s: the last stay that took longer than %.0f us\n", summary->file,
	       us(summary->limit));
	if (summary->last.cpu < 0)
		printf("    is not there as a whole\n");
	else
		print_stay(summary, &summary->last);
}

/**
 * text_print - print a report
 * @summary: the report, sorted
 */
void text_print(const struct summary *summary)
{
	int i;

	print_head(summary);
	for (i = 0; i < NR_SECTIONS; i++)
		print_section(summary, i);
	print_losses(&summary->stays.losses);
	print_longest(summary);
}
