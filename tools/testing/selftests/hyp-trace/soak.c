// SPDX-License-Identifier: GPL-2.0-only
/*
 * soak - stress tests of all files at once, with an account of each event
 *
 * Writers on all CPUs, readers of every kind, and whatever can disturb them, in
 * rounds of a second or so. A round's plan (its disturbances, its readers, the
 * buffer's size) follows from the seed and the round's number alone, so that
 * `--seed S --round N` repeats it; how the threads then meet is up to the
 * machine. `--load KIND` is a round of full load, see soak_load.c.
 *
 * A writer writes the event selftest. The event's id consists of the round, the writer and a
 * sequence number. Readers check each event: consuming readers together read an id at most once,
 * in order, from the CPU that it was written on, and not from before a clear. At the end of a
 * round, the numbers of events written, read, reported lost and counted by stats must agree
 * exactly. Only a clear and the unloading of the buffer remove events without a report, and the
 * account of such a round allows for that.
 *
 * An error is printed with the round and the thread that found it. The exit status is 1 after an
 * error, and when a thread makes no progress.
 */
#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "argument.h"
#include "soak.h"

static struct {
	unsigned long	seconds, limit;
	long		round;		/* only that one; -1: all */
	long		only;		/* what rounds have; -1: as planned */
	unsigned long	ms, kb;		/* of a round of full load */
} option = { .seconds = 10, .limit = 60, .round = -1, .only = -1, .ms = 300, .kb = 16 };

unsigned long seed;
struct plan plan;
struct done done;
int nr_cpus;
static bool can_plug;

static const char * const names[] = {
	"switch", "clear", "noise", "hotplug", "roam", "unload", "alone"
};

/* The first rounds together have all disturbances, so that a short run has them. */
static const unsigned int first_rounds[] = {
	0, ALONE, SWITCH | CLEAR, HOTPLUG | NOISE, UNLOAD, ROAM, ALONE | SWITCH,
};

/* What the round has, as words. */
void show_flags(void)
{
	unsigned int i;

	if (plan.load) {
		printf(" %s%s", plan.load->name, plan.pause ? ", slow" : "");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (plan.flags & 1U << i)
			printf(" %s", names[i]);
	}
}

static unsigned int random_flags(void)
{
	static const unsigned int odds[ARRAY_SIZE(names)] = { 3, 4, 4, 3, 4, 6, 6 };
	unsigned int i, flags = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (one_in(odds[i]))
			flags |= 1U << i;
	}
	return flags;
}

/* Often one kind only, or none. In rounds with UNLOAD, no descriptor stays open. */
static unsigned int random_readers(void)
{
	if (plan.flags & UNLOAD)
		return 1U << below(NR_READERS) & ~READER_SHARED;
	if (one_in(3))
		return 1U << below(NR_READERS + 1) & ALL_READERS;
	return plan.nr ? below(ALL_READERS + 1) : ALL_READERS;
}

static void make_load_plan(void)
{
	unsigned int i;

	plan.flags = plan.load->flags;
	plan.ms = option.ms;
	for (i = 0; i < MAX_CPUS; i++)
		plan.kb[i] = option.kb;
}

static void make_plan(unsigned int nr)
{
	bool first = nr < ARRAY_SIZE(first_rounds);
	unsigned int i;

	me->random = mix(mix(seed) + nr);
	plan.nr = nr;
	plan.ms = 200 + below(first ? 800 : 1800);
	plan.flags = random_flags();
	if (first)
		plan.flags = first_rounds[nr];
	if (option.only >= 0)
		plan.flags = option.only;
	if (!can_plug)
		plan.flags &= ~HOTPLUG;

	plan.readers = plan.flags & ALONE ? 0 : random_readers();
	plan.kb[0] = random_kb();
	for (i = 1; i < MAX_CPUS; i++)
		plan.kb[i] = one_in(2) ? plan.kb[0] : random_kb();
}

static bool is_unloaded(void)
{
	char text[64];

	get("buffer_size_kb", text, sizeof(text));
	return strstr(text, " (unloaded)\n");
}

static void must_set_size(int cpu, unsigned long kb)
{
	int ret = set_size(cpu, kb);

	if (ret)
		violation("the size of CPU %d to %lu: %s", cpu, kb, strerrorname_np(ret));
}

/* The buffer is not loaded yet. The keeper opens trace_pipe, which keeps it loaded. */
static void prepare(struct session *keeper)
{
	int cpu;

	open_account();
	must_set_size(-1, plan.kb[0]);
	for (cpu = 1; cpu < nr_cpus; cpu++)
		must_set_size(cpu, plan.kb[cpu]);

	begin_session(keeper, -1, -1, true);
	if (!(plan.flags & UNLOAD))
		keeper->fd = open_file("trace_pipe", O_RDONLY | O_NONBLOCK);
	switch_tracing(true);
	set_stage(RUN);
}

static void start_readers(int shared)
{
	if (plan.readers & READER_BLOCKING)
		start("blocking", run_blocking, 0, STOP);
	if (plan.readers & READER_POLL)
		start("poll", run_poll, 0, STOP);
	if (plan.readers & READER_EPOLL)
		start("epoll", run_epoll, 0, STOP);
	if (plan.readers & READER_PER_CPU)
		start("per-cpu", run_per_cpu, 0, STOP);
	if (shared >= 0) {
		start("shared", run_shared, shared, STOP);
		start("shared", run_shared, shared, STOP);
	}
}

static void start_disturbers(void)
{
	if (plan.flags & UNLOAD)
		start("unloader", run_unloader, 0, SETTLE);
	else if (plan.flags & SWITCH)
		start("switcher", run_switcher, 0, SETTLE);
	if (plan.flags & CLEAR)
		start("clearer", run_clearer, 0, SETTLE);
	if (plan.flags & NOISE)
		start("noise", run_noise, 0, SETTLE);
	if (plan.flags & HOTPLUG)
		start("plugger", run_plugger, 0, SETTLE);
	if (plan.nr % 2)
		start("guests", run_guests, 0, SETTLE);
	if (plan.nr % 3 == 1)
		start("victims", run_victims, 0, SETTLE);
	start("resizer", run_resizer, 0, SETTLE);
	start("signaller", run_signaller, 0, SETTLE);
}

static void start_workers(int shared)
{
	int i, n;

	if (plan.load) {
		start_load();
		return;
	}
	for (i = 0; i < nr_writers; i++)
		start("writer", run_writer, i, SETTLE);
	for (i = 0, n = plan.flags & UNLOAD ? 1 : 1 + below(3); i < n; i++)
		start("tracer", run_tracer, i, STOP);
	start("file reader", run_file_reader, 0, STOP);
	start_readers(shared);
	start_disturbers();
}

static void wait_round(void)
{
	unsigned long end = now_ms() + plan.ms;

	if (plan.load) {
		wait_load();
		return;
	}
	while (now_ms() < end && !writers_are_full() && !load(&violations))
		rest(20);
}

/* A CPU with unread events; -1 if there is none */
static int undrained_cpu(void)
{
	struct stats stats;
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		get_stats(cpu, &stats);
		if (stats.entries)
			return cpu;
	}
	return -1;
}

/* Do the readers read all events, if they have the time? */
static bool readers_read_all(void)
{
	if (plan.load)
		return plan.load->to_end;
	return !(plan.flags & UNLOAD) && plan.readers & ~READER_PER_CPU;
}

/* Readers of all CPUs get the time to read all events: they must not sleep over one. */
static void settle(void)
{
	unsigned long end = now_ms() + option.limit * 1000;

	if (!readers_read_all())
		return;
	while (undrained_cpu() >= 0 && now_ms() < end)
		rest(5);
	if (undrained_cpu() >= 0)
		violation("there is to read of CPU %d, but readers %#x sleep", undrained_cpu(),
			  plan.readers);
}

static void drain(struct session *keeper)
{
	doing("drain", "trace_pipe");
	while (read_some(keeper, 16384) > 0)
		;
	if (is_torn(keeper))
		violation("trace_pipe ends amid a line");
}

/* With tracing off, no reader and no events, in any order, the buffer is unloaded. */
static void release(struct session *keeper)
{
	bool cleared = plan.flags & UNLOAD || one_in(2);
	struct stats stats;

	if (one_in(2))
		switch_tracing(false);
	if (keeper->fd >= 0)
		close_file(keeper->fd);
	if (load(&tracing) & TRACING_ON)
		switch_tracing(false);
	if (cleared)
		clear(-1);
	if (!is_unloaded())
		violation("the buffer is not given back");

	get_stats(random_cpu(), &stats);
	if (stats.entries || stats.bytes)
		violation("stats of an unloaded buffer have events to be read");
	if (cleared && (stats.overrun || stats.read))
		violation("stats are not 0 after a clear");
}

static void report(unsigned long ms)
{
	unsigned long lines = 0, reported = 0;
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		lines += accounts[cpu].lines;
		reported += accounts[cpu].reported;
	}
	printf("# round %u, %lu ms: %lu written, %lu read, %lu lost,", plan.nr, ms,
	       written(-1, false), lines, reported);
	show_flags();
	if (plan.load)
		printf(", the longest wait %lu ms", longest_wait());
	printf("\n");
	fflush(stdout);
}

static void run_round(unsigned int nr)
{
	unsigned long began = now_ms();
	struct session keeper;
	int shared = -1;

	if (plan.load)
		make_load_plan();
	else
		make_plan(nr);
	prepare(&keeper);
	if (plan.readers & READER_SHARED)
		shared = open_file("trace_pipe", O_RDONLY);
	start_workers(shared);
	wait_round();
	wait_workers(SETTLE);
	settle();
	wait_workers(STOP);
	join_workers();
	if (shared >= 0)
		close_file(shared);

	check_gaps();
	if (keeper.fd >= 0)
		drain(&keeper);
	check_account();
	release(&keeper);
	report(now_ms() - began);
}

#define ENOUGH_S	30

static void check_done(void)
{
	printf("# %lu events of writers read, %lu reported lost, %lu reads of files\n",
	       done.read, done.lost, done.file_reads);
	printf("# %lu traces, %lu gaps in them, %lu unknown\n", done.traces, done.gaps,
	       done.unknown);
	printf("# %lu clears, %lu switches, %lu unloads, %lu sizes set, %lu refused\n",
	       done.clears, done.switches, done.unloads, done.resized, done.busy);
	printf("# %lu CPUs plugged, %lu guests, %lu signals, %lu killed\n", done.plugged,
	       done.guests, done.signals, done.killed);
	if (!violations && (!done.read || !done.traces))
		violation("no event of a writer was read");
	/* A short run may lack some of the others. */
	if (violations || option.round >= 0 || option.only >= 0 || option.seconds < ENOUGH_S)
		return;
	if (!done.read || !done.lost || !done.traces || !done.gaps || !done.file_reads ||
	    !done.clears || !done.switches || !done.unloads || !done.busy || !done.guests ||
	    !done.signals || !done.killed || (can_plug && !done.plugged))
		violation("not all of this was done");
}

static void run_rounds(void)
{
	unsigned long end = now_ms() + option.seconds * 1000;
	unsigned int nr = option.round < 0 ? 0 : option.round;

	do {
		run_round(nr);
		if (option.round < 0)
			nr++;
	} while (!violations && (now_ms() < end || nr < ARRAY_SIZE(first_rounds)));
}

static void set_up(void)
{
	nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (nr_cpus > MAX_CPUS)
		nr_cpus = MAX_CPUS;
	can_plug = nr_cpus > 1 && !access("/sys/devices/system/cpu/cpu1/online", W_OK);
	init_workers(option.limit);
	printf("# seed %lu, %lu s, %d CPUs\n", seed, option.seconds, nr_cpus);
	fflush(stdout);

	must_put("tracing_on", "0");
	clear(-1);
	must_put("events/hypervisor/selftest/enable", "1");
	quieten();
	if (!is_unloaded())
		errx(1, "the buffer is in use");
}

static void usage(FILE *stream)
{
	unsigned int i;

	fprintf(stream,
		"Usage: soak [--seconds N] [--seed N] [--limit N] [--round N] [--only NAMES]\n"
		"       soak --load KIND [--ms N] [--pause MS] [--kb N]\n"
		"Use all files of " TRACEFS "/hypervisor at once, and check\n"
		"that no event is lost unreported. --limit: seconds for an operation of a thread;\n"
		"--round: repeat this one; --only: disturbances of a round, of");
	for (i = 0; i < ARRAY_SIZE(names); i++)
		fprintf(stream, " %s", names[i]);
	fprintf(stream, ",\nseparated by commas. guest must be in the PATH.\n"
		"--load: a round of full load, with a buffer of that size for each CPU and\n"
		"readers of this kind, which rest after each read: none, trace, pipe,\n"
		"all (trace_pipe of all CPUs), read, splice, map (trace_pipe_raw).\n");
}

static unsigned int parse_names(char *arg)
{
	unsigned int i, flags = 0;
	char *name;

	while ((name = strsep(&arg, ","))) {
		for (i = 0; i < ARRAY_SIZE(names) && strcmp(name, names[i]); i++)
			;
		if (*name && i == ARRAY_SIZE(names))
			errx(2, "%s: no such name", name);
		flags |= *name ? 1U << i : 0;
	}
	return flags;
}

/* Parses the argument of an option that is a number. False if the option is another one. */
static bool parse_number_option(int c)
{
	static const struct {
		int		c;
		unsigned long	*value, min, max;
	} numbers[] = {
		{ 't', &option.seconds, 0, INT_MAX },
		{ 's', &seed, 0, ULONG_MAX },
		{ 'l', &option.limit, 0, INT_MAX },
		{ 'm', &option.ms, 0, INT_MAX },
		{ 'p', &plan.pause, 0, INT_MAX },
		{ 'k', &option.kb, 1, INT_MAX },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].c == c) {
			*numbers[i].value = parse_number(optarg, numbers[i].min, numbers[i].max);
			return true;
		}
	}
	return false;
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds",	required_argument, NULL, 't' },
		{ "seed",	required_argument, NULL, 's' },
		{ "limit",	required_argument, NULL, 'l' },
		{ "round",	required_argument, NULL, 'r' },
		{ "only",	required_argument, NULL, 'o' },
		{ "load",	required_argument, NULL, 'L' },
		{ "ms",		required_argument, NULL, 'm' },
		{ "pause",	required_argument, NULL, 'p' },
		{ "kb",		required_argument, NULL, 'k' },
		{ }
	};
	int c;

	getrandom(&seed, sizeof(unsigned int), 0);
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (parse_number_option(c))
			continue;
		switch (c) {
		case 'r':
			option.round = parse_number(optarg, 0, USHRT_MAX);
			break;
		case 'o':
			option.only = parse_names(optarg);
			break;
		case 'L':
			plan.load = find_load(optarg);
			if (!plan.load)
				errx(2, "%s: no such kind", optarg);
			break;
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind != argc) {
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	parse_options(argc, argv);
	set_up();
	if (plan.load) {
		run_round(0);
	} else {
		run_rounds();
		check_done();
	}
	return !!violations;
}
