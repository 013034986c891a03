// SPDX-License-Identifier: GPL-2.0-only
/*
 * load - all CPUs write as fast as they can, and readers of one kind read
 *
 * The writer of each CPU numbers its events from 0, so that what is lacking is known to
 * the event: readers check each number against the one before and what was reported as
 * lost, and in the end the writers' numbers, the readers' and the kernel's counters have
 * to be the same. A reader that gets nothing for long starves, which is an error: it may
 * lose events, but not wait for the writers to pause.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <linux/trace_mmap.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "raw_page.h"
#include "soak.h"

#define ENOUGH		3	/* times that each got something done */
#define SPLICE_PAGES	4

/**
 * struct count - what is known of a CPU's events, or of one look at them
 * @next:	the number that comes next
 * @shown:	events seen
 * @lost:	events that were not
 */
struct count {
	unsigned long next, shown, lost;
};

/**
 * struct lines - a text of events, line by line
 * @counts:	of each CPU
 * @reported:	events reported lost, and none shown since, of each CPU
 * @line:	a part of a line, @len bytes
 * @len:	of @line
 */
struct lines {
	struct count	*counts;
	unsigned long	reported[MAX_CPUS];
	char		line[128];
	size_t		len;
};

/**
 * struct reader - a thread that reads
 * @takes:	how often it got something
 * @last:	when that was, ms
 * @longest:	ms it ever waited for it
 */
struct reader {
	unsigned long takes, last, longest;
};

static struct {
	unsigned long ms, limit, pause;
} option = { .ms = 300, .limit = 20 };

static unsigned long numbers[MAX_CPUS];
static struct count counts[MAX_CPUS];	/* of those who consume */
static struct reader readers[MAX_CPUS];
static int nr_readers;

/* What soak_worker.c says with what is wrong. */
struct plan plan;
struct done done;
unsigned long seed;
int nr_cpus;
static const char *kind_name = "";

void show_flags(void)
{
	printf(" %s%s", kind_name, option.pause ? ", slow" : "");
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		violation("CPU %d: %s", cpu, strerrorname_np(errno));
}

static void run_emitter(void)
{
	int fd = open_file("write_event", O_WRONLY);
	unsigned long *id = &numbers[me->arg];
	char text[24];
	int len;

	pin(me->arg);
	while (running()) {
		doing("write", "write_event");
		len = snprintf(text, sizeof(text), "%lu", *id);
		if (write(fd, text, len) != len) {
			violation("write_event: %s", strerrorname_np(errno));
			break;
		}
		store(id, *id + 1);
	}
	close_file(fd);
}

static void take_event(struct count *count, int cpu, unsigned long id, unsigned long reported)
{
	unsigned long gap = id - count->next;

	if (id < count->next || id > load(&numbers[cpu]))
		violation("CPU %d: event %lu where %lu comes next", cpu, id, count->next);
	else if (reported != UNKNOWN && reported != gap)
		violation("CPU %d: from %lu to %lu, %lu reported lost", cpu, count->next, id,
			  reported);
	count->lost += gap;
	count->shown++;
	count->next = id + 1;
}

/* "CPU:1 [LOST 2 EVENTS]", or without the number; else "[001]     1.000001: selftest id=2" */
static void take_line(struct lines *lines)
{
	unsigned int cpu = MAX_CPUS;
	unsigned long n = UNKNOWN;
	bool event;

	lines->line[lines->len] = '\0';
	if (lines->line[0] == '#')
		return;
	event = sscanf(lines->line, "[%u] %*u.%*u: selftest id=%lu", &cpu, &n) == 2;
	if (!event)
		sscanf(lines->line, "CPU:%u [LOST %lu EVENTS]", &cpu, &n);
	if (cpu >= MAX_CPUS || (!event && !strstr(lines->line, "EVENTS]"))) {
		violation("no line: %s", lines->line);
		return;
	}
	if (event)
		take_event(&lines->counts[cpu], cpu, n, lines->reported[cpu]);
	lines->reported[cpu] = event ? 0 : n;
}

static void take_text(struct lines *lines, const char *text, size_t size)
{
	for (; size--; text++) {
		if (*text != '\n' && lines->len < sizeof(lines->line) - 1) {
			lines->line[lines->len++] = *text;
			continue;
		}
		take_line(lines);
		lines->len = 0;
	}
}

/* The events from @pos to @end; that some were lost is said on the first ones. */
static void take_page(int cpu, const struct raw_page *page, unsigned int pos, unsigned int end)
{
	unsigned int at, size = page_events_size(page);
	unsigned long id, reported = 0;

	if (!pos && page->commit & LOST)
		reported = UNKNOWN;
	if (!pos && page->commit & LOST_STORED)
		memcpy(&reported, page->data + size, sizeof(reported));
	for (at = 0; at < size && at < end;
	     at += event_size((const uint32_t *)(page->data + at))) {
		const uint32_t *event = (const uint32_t *)(page->data + at);

		if (at < pos || (event[0] & 31) >= PADDING)
			continue;
		memcpy(&id, event + (event[0] & 31 ? 1 : 2) + 2, sizeof(id));
		take_event(&counts[cpu], cpu, id, reported);
		reported = 0;
	}
}

static void note_take(struct reader *reader)
{
	unsigned long now = now_ms(), waited = now - load(&reader->last);

	if (waited > reader->longest)
		reader->longest = waited;
	store(&reader->last, now);
	store(&reader->takes, reader->takes + 1);
	doing("take", me->file);
	if (option.pause && running())
		rest(below(2 * option.pause));
}

static int open_cpu(const char *file, int flags)
{
	char name[64];

	return open_file(cpu_file(name, sizeof(name), me->arg, file), O_RDONLY | flags);
}

/* All there is of a text. Whether there was something. */
static bool read_text(int fd, struct lines *lines, struct reader *reader)
{
	char text[4096];
	ssize_t ret;

	while ((ret = read(fd, text, sizeof(text))) > 0) {
		take_text(lines, text, ret);
		if (reader)
			note_take(reader);
	}
	return ret;
}

/* Blocks until something comes; tracing is off when the stage ends. */
static void run_text(int fd)
{
	struct lines lines = { .counts = counts };

	while (running())
		read_text(fd, &lines, &readers[me->arg]);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	read_text(fd, &lines, NULL);
	if (lines.len)
		violation("%s ends amid a line", me->file);
	close_file(fd);
}

static void run_pipe(void)
{
	run_text(open_cpu("trace_pipe", 0));
}

static void run_all(void)
{
	run_text(open_file("trace_pipe", O_RDONLY));
}

/* Looks take nothing away: each begins anew, with what was lost before it. */
static void run_trace(void)
{
	while (running()) {
		struct count look[MAX_CPUS] = { 0 };
		struct lines lines = { .counts = look };
		int fd = open_cpu("trace", 0);

		read_text(fd, &lines, NULL);
		close_file(fd);
		if (look[me->arg].shown)
			note_take(&readers[me->arg]);
	}
}

/* Until the stage ends, and then until there is no more. */
static void follow_pages(int fd, bool (*take)(int fd))
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	while (running()) {
		if (take(fd))
			note_take(&readers[me->arg]);
		else
			poll(&wait, 1, 50);
	}
	while (take(fd))
		;
	close_file(fd);
}

static bool take_read(int fd)
{
	uint64_t page[65536 / sizeof(uint64_t)];
	ssize_t size = raw_page_size();
	ssize_t ret = read(fd, page, size);

	if (ret == size)
		take_page(me->arg, (struct raw_page *)page, 0, UINT_MAX);
	else if (ret >= 0 || (errno != EAGAIN && errno != EINTR))
		violation("read: %s", outcome(ret));
	return ret == size;
}

static void run_read(void)
{
	follow_pages(open_cpu("trace_pipe_raw", O_NONBLOCK), take_read);
}

static void take_spliced(int end, size_t size)
{
	uint64_t page[65536 / sizeof(uint64_t)];
	size_t have = 0;
	ssize_t ret;

	for (; size; size -= ret) {
		ret = read(end, (char *)page + have, raw_page_size() - have);
		if (ret <= 0) {
			violation("pipe: %s", outcome(ret));
			return;
		}
		have += ret;
		if (have < raw_page_size())
			continue;
		take_page(me->arg, (struct raw_page *)page, 0, UINT_MAX);
		have = 0;
	}
}

static __thread int ends[2];

/* Whole pages alone; when the writers are done, what is left by read(). */
static bool take_splice(int fd)
{
	ssize_t ret = splice(fd, NULL, ends[1], NULL, SPLICE_PAGES * raw_page_size(),
			     SPLICE_F_NONBLOCK);

	if (ret > 0)
		take_spliced(ends[0], ret);
	else if (!ret || (errno != EAGAIN && errno != EINTR))
		violation("splice: %s", outcome(ret));
	return ret > 0 || (!running() && take_read(fd));
}

static void run_splice(void)
{
	if (pipe(ends))
		violation("pipe: %s", strerrorname_np(errno));
	follow_pages(open_cpu("trace_pipe_raw", O_NONBLOCK), take_splice);
	close(ends[0]);
	close(ends[1]);
}

static __thread const struct trace_buffer_meta *meta;
static __thread const char *subbufs;
static __thread unsigned int reader_id, reader_pos;

static bool take_mapped(int fd)
{
	unsigned int id, pos = reader_pos;

	if (ioctl(fd, TRACE_MMAP_IOCTL_GET_READER)) {
		if (errno != EINTR)
			violation("TRACE_MMAP_IOCTL_GET_READER: %s", strerrorname_np(errno));
		return false;
	}
	id = meta->reader.id;
	if (id != reader_id || meta->reader.read < pos)
		pos = 0;
	reader_id = id;
	reader_pos = meta->reader.read;
	if (pos == reader_pos)
		return false;
	take_page(me->arg, (const void *)(subbufs + (size_t)id * meta->subbuf_size), pos,
		  reader_pos);
	return true;
}

static void run_map(void)
{
	int fd = open_cpu("trace_pipe_raw", O_NONBLOCK);
	size_t page = sysconf(_SC_PAGESIZE), size;

	meta = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED)
		err(1, "mmap");
	size = (size_t)meta->subbuf_size * meta->nr_subbufs;
	subbufs = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, meta->meta_page_size);
	if (subbufs == MAP_FAILED)
		err(1, "mmap of %zu", size);
	reader_id = meta->reader.id;
	reader_pos = meta->reader.read;
	follow_pages(fd, take_mapped);
	munmap((void *)subbufs, size);
	munmap((void *)meta, page);
}

static const struct kind {
	const char *name;
	void (*run)(void);
	bool one;		/* for all CPUs */
} kinds[] = {
	{ "none" },
	{ "trace", run_trace },
	{ "pipe", run_pipe },
	{ "all", run_all, true },
	{ "read", run_read },
	{ "splice", run_splice },
	{ "map", run_map },
};

/* Each writer and each reader; a reader that waits for long is reported. */
static bool all_had_enough(void)
{
	unsigned long now = now_ms();
	bool enough = true;
	int i;

	for (i = 0; i < nr_cpus; i++)
		enough &= load(&numbers[i]) >= ENOUGH;
	for (i = 0; i < nr_readers; i++) {
		if (now > load(&readers[i].last) + option.limit * 1000)
			violation("reader %d starves: %lu takes", i, load(&readers[i].takes));
		enough &= load(&readers[i].takes) >= ENOUGH;
	}
	return enough;
}

static void start_all(const struct kind *kind)
{
	int i;

	nr_readers = !kind->run ? 0 : kind->one ? 1 : nr_cpus;
	for (i = 0; i < nr_readers; i++) {
		readers[i].last = now_ms();
		start(kind->name, kind->run, i, STOP);
	}
	for (i = 0; i < nr_cpus; i++)
		start("writer", run_emitter, i, SETTLE);
}

static void check_cpu(int cpu)
{
	struct count *count = &counts[cpu];
	struct stats stats;

	get_stats(cpu, &stats);
	if (count->next != numbers[cpu] || !numbers[cpu])
		violation("CPU %d: %lu written, read up to %lu", cpu, numbers[cpu], count->next);
	if (stats.entries || stats.read != count->shown || stats.overrun != count->lost ||
	    stats.dropped || stats.commit_overrun)
		violation("CPU %d: %lu read, %lu lost; stats says %lu, %lu, and %lu %lu %lu", cpu,
			  count->shown, count->lost, stats.read, stats.overrun, stats.entries,
			  stats.dropped, stats.commit_overrun);
}

static void report(void)
{
	unsigned long all = 0, shown = 0, lost = 0, longest = 0;
	int i;

	for (i = 0; i < nr_cpus; i++) {
		all += numbers[i];
		shown += counts[i].shown;
		lost += counts[i].lost;
		if (readers[i].longest > longest)
			longest = readers[i].longest;
	}
	printf("#");
	show_flags();
	printf(": %lu written, %lu read, %lu lost; the longest wait %lu ms\n", all, shown, lost,
	       longest);
}

/* The buffer is loaded as long as @keeper is open. Who looks leaves all to that. */
static void run_load(const struct kind *kind)
{
	struct lines lines = { .counts = counts };
	int keeper = open_file("trace_pipe", O_RDONLY | O_NONBLOCK);
	unsigned long end = now_ms() + option.ms;
	int cpu;

	must_put("tracing_on", "1");
	start_all(kind);
	while (!load(&violations) && (!all_had_enough() || now_ms() < end))
		rest(20);
	wait_workers(SETTLE);
	must_put("tracing_on", "0");
	wait_workers(STOP);
	join_workers();
	if (!kind->run || kind->run == run_trace)
		read_text(keeper, &lines, NULL);
	for (cpu = 0; cpu < nr_cpus && !violations; cpu++)
		check_cpu(cpu);
	close_file(keeper);
	report();
}

static const struct kind *find_kind(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	errx(2, "no kind %s", name);
}

static const struct kind *parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "ms",		required_argument, NULL, 'm' },
		{ "pause",	required_argument, NULL, 'p' },
		{ "limit",	required_argument, NULL, 'l' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'm')
			option.ms = strtoul(optarg, NULL, 0);
		else if (c == 'p')
			option.pause = strtoul(optarg, NULL, 0);
		else if (c == 'l')
			option.limit = strtoul(optarg, NULL, 0);
		else
			exit(2);
	}
	if (optind + 1 != argc)
		errx(2, "Usage: load [--ms N] [--pause MS] [--limit SECONDS] KIND\n"
		     "KIND of readers: none, trace, pipe, all (CPUs' trace_pipe), read, splice,\n"
		     "map. The buffer is to be empty, with selftest enabled and nothing else.");
	return find_kind(argv[optind]);
}

int main(int argc, char **argv)
{
	const struct kind *kind = parse_options(argc, argv);

	kind_name = kind->name;
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (nr_cpus > MAX_CPUS)
		nr_cpus = MAX_CPUS;
	init_workers(option.limit + 10);
	set_stage(RUN);
	run_load(kind);
	return !!violations;
}
