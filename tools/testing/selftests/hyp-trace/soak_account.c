// SPDX-License-Identifier: GPL-2.0-only
/*
 * The account of a soak's round
 *
 * A writer notes for each of its ids whether it became an event. A consuming reader notes each
 * event that it read, and how many events were reported lost right before it. When all events
 * are read, both must agree with the kernel's counters: for each CPU, and for each gap if only
 * the CPU's writer has written events there.
 */
#include <stdio.h>
#include <string.h>

#include "soak.h"

#define MAX_GAPS	32768

struct writer writers[MAX_WRITERS];
int nr_writers;
struct account accounts[MAX_CPUS];

/* Seen by a reader that does not consume: after @from comes @to, so many are lost. */
static struct gap {
	int		cpu;
	unsigned int	from, to;
	unsigned long	reported;
} gaps[MAX_GAPS];
static unsigned int nr_gaps;

/* No event is removed without a report. */
bool is_counted(void)
{
	return !(plan.flags & (CLEAR | UNLOAD));
}

/* A CPU has the events of its writer only, in the order of their ids. */
bool is_orderly(void)
{
	return !(plan.flags & (NOISE | HOTPLUG | ROAM));
}

/* Each write is an event of that CPU, at all times. */
bool is_steady(void)
{
	return !(plan.flags & ~ALONE);
}

void open_account(void)
{
	int i;

	nr_writers = nr_cpus + !!(plan.flags & ROAM);
	for (i = 0; i < nr_writers; i++) {
		memset(&writers[i], 0, sizeof(writers[i]));
		writers[i].cpu = i < nr_cpus ? i : -1;
	}
	memset(accounts, 0, sizeof(accounts));
	nr_gaps = 0;
}

void note_fate(struct writer *writer, unsigned int seq, unsigned int fate)
{
	__atomic_fetch_or(&writer->fate[seq], fate, __ATOMIC_SEQ_CST);
}

void note_read(struct writer *writer, unsigned int seq, unsigned long reported)
{
	if (__atomic_fetch_or(&writer->fate[seq], READ, __ATOMIC_SEQ_CST) & READ)
		violation("event %u of writer %d is read twice", seq, (int)(writer - writers));
	if (reported)
		store(&writer->reported[seq], reported);
}

void note_gap(int cpu, unsigned int from, unsigned int to, unsigned long reported)
{
	unsigned int i = add(&nr_gaps, 1);

	if (i < MAX_GAPS)
		gaps[i] = (struct gap) { .cpu = cpu, .from = from, .to = to, .reported = reported };
}

/* What is written on the CPU so far, or is being written; -1: on all. */
unsigned long written(int cpu, bool begun)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < nr_writers; i++) {
		if (cpu < 0 || cpu == writers[i].cpu)
			sum += begun ? load(&writers[i].begun) : load(&writers[i].ended);
	}
	return sum;
}

/* How many ids, from @from and before @to, have any of the fates and none of the others. */
static unsigned long count(const struct writer *writer, unsigned int from, unsigned int to,
			   unsigned int any, unsigned int none)
{
	unsigned long n = 0;

	for (; from < to; from++)
		n += writer->fate[from] & any && !(writer->fate[from] & none);
	return n;
}

static unsigned long count_all(const struct writer *writer, unsigned int any, unsigned int none)
{
	return count(writer, 0, writer->begun, any, none);
}

/* The number reported lost must be the number of events among the ids that were not shown. */
static void check_gap(const char *who, const struct gap *gap, bool exactly)
{
	const struct writer *writer = &writers[gap->cpu];
	unsigned long most = count(writer, gap->from, gap->to, ON | UNSURE, 0);
	unsigned long least = exactly ? count(writer, gap->from, gap->to, ON, UNSURE | READ) : 0;

	if (gap->reported < least || gap->reported > most)
		violation("%s of CPU %d goes from %u to %u, reported %lu lost; %lu to %lu are", who,
			  gap->cpu, gap->from, gap->to, gap->reported, least, most);
}

/* Each event of a CPU was read, or reported lost right before the next one that was read. */
static void check_consumed(int cpu)
{
	const struct writer *writer = &writers[cpu];
	struct gap gap = { .cpu = cpu };

	for (; gap.to < writer->begun; gap.to++) {
		if (!(writer->fate[gap.to] & READ))
			continue;
		gap.reported = writer->reported[gap.to];
		check_gap("trace_pipe", &gap, is_counted());
		gap.from = gap.to + 1;
	}
	if (is_counted() && count(writer, gap.from, gap.to, ON, UNSURE))
		violation("CPU %d: no event from %u to %u was ever read", cpu, gap.from, gap.to);
}

/* At the start of a pass, earlier losses may have been reported already. */
void check_gaps(void)
{
	struct gap *gap;

	for (gap = gaps; gap < &gaps[nr_gaps] && gap < &gaps[MAX_GAPS]; gap++) {
		check_gap("trace", gap, is_counted() && (gap->from || plan.flags & ALONE));
		done.gaps++;
	}
}

static void check_off(void)
{
	unsigned long n;
	int i;

	for (i = 0; i < nr_writers; i++) {
		n = count_all(&writers[i], READ, ON | UNSURE);
		if (n)
			violation("%lu events of writer %d are from when tracing was off", n, i);
	}
}

/* All is read. The CPU's events, as the kernel has counted them. */
static unsigned long check_stats(int cpu)
{
	const struct account *account = &accounts[cpu];
	struct stats stats;

	get_stats(cpu, &stats);
	if (stats.entries || stats.bytes || stats.read != account->lines ||
	    stats.overrun != account->reported || stats.commit_overrun || stats.dropped)
		violation("CPU %d had %lu read, %lu lost; stats says %lu, %lu, and %lu %lu %lu %lu",
			  cpu, account->lines, account->reported, stats.read, stats.overrun,
			  stats.entries, stats.bytes, stats.commit_overrun, stats.dropped);
	return stats.overrun + stats.read;
}

static void check_total(const char *what, unsigned long total, unsigned long least,
			unsigned long most)
{
	if (total < least || (total > most && !(plan.flags & NOISE)))
		violation("%s: %lu events, %lu to %lu were written", what, total, least, most);
}

/* The writer's events are on its CPU, strays on any. */
static void check_totals(void)
{
	unsigned long total, sum = 0, strays = 0, least = 0, most = 0;
	char what[16];
	int i;

	for (i = 0; i < nr_writers; i++) {
		strays += count_all(&writers[i], STRAY, 0);
		least += count_all(&writers[i], ON, UNSURE);
		most += count_all(&writers[i], ON | UNSURE, 0);
	}
	for (i = 0; i < nr_cpus; i++) {
		total = check_stats(i);
		snprintf(what, sizeof(what), "CPU %d", i);
		check_total(what, total, count_all(&writers[i], ON, UNSURE | STRAY),
			    count_all(&writers[i], ON | UNSURE, STRAY) + strays);
		sum += total;
	}
	check_total("all CPUs", sum, least, most);
}

/* Called when all events are read and all other threads have ended. */
void check_account(void)
{
	int cpu;

	check_off();
	for (cpu = 0; cpu < nr_cpus && is_orderly(); cpu++)
		check_consumed(cpu);
	if (is_counted())
		check_totals();
}
