// SPDX-License-Identifier: GPL-2.0-only
/*
 * Full load for soak: all CPUs write as fast as they can, and readers of one kind read
 *
 * A reader that gets no events for long starves, which is an error: it may lose events, but must
 * not depend on a pause of the writers. The readers of trace_pipe_raw are here; the other kinds
 * are those of soak_reader.c.
 */
#include <err.h>
#include <linux/trace_mmap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "raw_page.h"
#include "soak.h"

#define ENOUGH		3	/* writes and reads that each thread must make */
#define STARVES_MS	20000	/* without events for a reader while all CPUs write */
#define SPLICE_PAGES	4

/**
 * struct reader - a thread that reads
 * @reads:	number of reads that had events
 * @last:	time of the last one, ms
 * @longest:	longest time between two, ms
 */
static struct reader {
	unsigned long reads, last, longest;
} readers[MAX_CPUS];
static int nr_readers;

/* To be called after each read that had events */
void note_load_read(void)
{
	struct reader *reader = &readers[me->arg];
	unsigned long now = now_ms(), waited = now - load(&reader->last);

	if (waited > reader->longest)
		reader->longest = waited;
	store(&reader->last, now);
	store(&reader->reads, reader->reads + 1);
	if (plan.pause && running())
		rest(below(2 * plan.pause));
}

/*
 * The events of a page from @pos to @end. Lost events precede the first one. A full page has no
 * room for their number.
 */
static void take_page(struct session *s, const struct raw_page *page, unsigned int pos,
		      unsigned int end)
{
	unsigned int at, size = page_events_size(page);
	unsigned long id, lost = 0;
	uint64_t time = page->time;

	if (!pos && page->commit & LOST)
		lost = UNKNOWN;
	if (!pos && page->commit & LOST_STORED)
		memcpy(&lost, page->data + size, sizeof(lost));
	for (at = 0; at < size && at < end;
	     at += event_size((const uint32_t *)(page->data + at))) {
		const uint32_t *event = (const uint32_t *)(page->data + at);

		time = event_time(event, time);
		if (at < pos || !event_data(event))
			continue;
		memcpy(&id, event_data(event) + 8, sizeof(id));
		take_raw(s, id, time / 1000, lost);
		lost = 0;
	}
}

/* Until the stage ends, and then until there are no more events. */
static void follow_pages(struct session *s, bool (*take)(struct session *s))
{
	struct pollfd wait = { .fd = s->fd, .events = POLLIN };

	while (running()) {
		doing("take", me->file);
		if (take(s))
			note_load_read();
		else
			poll(&wait, 1, 50);
	}
	while (take(s))
		;
	close_file(s->fd);
}

static void begin_raw(struct session *s)
{
	char name[64];

	cpu_file(name, sizeof(name), me->arg, "trace_pipe_raw");
	begin_session(s, open_file(name, O_RDONLY | O_NONBLOCK), me->arg, true);
}

static bool take_read(struct session *s)
{
	uint64_t page[65536 / sizeof(uint64_t)];
	ssize_t size = raw_page_size();
	ssize_t ret = read(s->fd, page, size);

	if (ret == size)
		take_page(s, (struct raw_page *)page, 0, UINT_MAX);
	else if (ret >= 0 || (errno != EAGAIN && errno != EINTR))
		violation("read: %s", outcome(ret));
	return ret == size;
}

static void run_raw(void)
{
	struct session s;

	begin_raw(&s);
	follow_pages(&s, take_read);
}

static void take_spliced(struct session *s, int end, size_t size)
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
		take_page(s, (struct raw_page *)page, 0, UINT_MAX);
		have = 0;
	}
}

static __thread int ends[2];

/* splice() has whole pages only. When the writers are done, read() has the rest. */
static bool take_splice(struct session *s)
{
	ssize_t ret = splice(s->fd, NULL, ends[1], NULL, SPLICE_PAGES * raw_page_size(),
			     SPLICE_F_NONBLOCK);

	if (ret > 0)
		take_spliced(s, ends[0], ret);
	else if (!ret || (errno != EAGAIN && errno != EINTR))
		violation("splice: %s", outcome(ret));
	return ret > 0 || (!running() && take_read(s));
}

static void run_splice(void)
{
	struct session s;

	if (pipe(ends))
		violation("pipe: %s", strerrorname_np(errno));
	begin_raw(&s);
	follow_pages(&s, take_splice);
	close(ends[0]);
	close(ends[1]);
}

static __thread const struct trace_buffer_meta *meta;
static __thread const char *subbufs;
static __thread unsigned int reader_id, reader_pos;

static bool take_mapped(struct session *s)
{
	unsigned int id, pos = reader_pos;

	if (ioctl(s->fd, TRACE_MMAP_IOCTL_GET_READER)) {
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
	take_page(s, (const void *)(subbufs + (size_t)id * meta->subbuf_size), pos, reader_pos);
	return true;
}

static void run_map(void)
{
	size_t page = sysconf(_SC_PAGESIZE), size;
	struct session s;

	begin_raw(&s);
	meta = mmap(NULL, page, PROT_READ, MAP_SHARED, s.fd, 0);
	if (meta == MAP_FAILED)
		err(1, "mmap");
	size = (size_t)meta->subbuf_size * meta->nr_subbufs;
	subbufs = mmap(NULL, size, PROT_READ, MAP_SHARED, s.fd, meta->meta_page_size);
	if (subbufs == MAP_FAILED)
		err(1, "mmap of %zu", size);
	reader_id = meta->reader.id;
	reader_pos = meta->reader.read;
	follow_pages(&s, take_mapped);
	munmap((void *)subbufs, size);
	munmap((void *)meta, page);
}

static const struct load_kind kinds[] = {
	{ "none",	NULL,		.flags = ALONE },
	{ "trace",	run_cpu_trace,	.flags = ALONE },
	{ "pipe",	run_cpu_pipe,	.to_end = true },
	{ "all",	run_pipe,	.to_end = true, .for_all = true },
	{ "read",	run_raw,	.to_end = true },
	{ "splice",	run_splice },
	{ "map",	run_map,	.to_end = true },
};

/* NULL if there is no such kind */
const struct load_kind *find_load(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	return NULL;
}

void start_load(void)
{
	int i;

	nr_readers = !plan.load->run ? 0 : plan.load->for_all ? 1 : nr_cpus;
	for (i = 0; i < nr_readers; i++) {
		readers[i].last = now_ms();
		start(plan.load->name, plan.load->run, i, STOP);
	}
	for (i = 0; i < nr_writers; i++)
		start("writer", run_writer, i, SETTLE);
}

/* Did each thread write and read enough? Reports a reader that starves. */
static bool all_had_enough(void)
{
	unsigned long now = now_ms();
	bool enough = true;
	int i;

	for (i = 0; i < nr_writers; i++)
		enough &= load(&writers[i].ended) >= ENOUGH;
	for (i = 0; i < nr_readers; i++) {
		if (now > load(&readers[i].last) + STARVES_MS)
			violation("reader %d starves: %lu reads", i, load(&readers[i].reads));
		enough &= load(&readers[i].reads) >= ENOUGH;
	}
	return enough;
}

/* Until the time is over and each thread had enough */
void wait_load(void)
{
	unsigned long end = now_ms() + plan.ms;
	bool enough;

	while (!(enough = all_had_enough()) || now_ms() < end) {
		if (load(&violations) || writers_are_full())
			break;
		rest(20);
	}
	if (!enough && !load(&violations))
		violation("the writers wrote all that they may, and a reader read little");
}

unsigned long longest_wait(void)
{
	unsigned long longest = 0;
	int i;

	for (i = 0; i < nr_readers; i++) {
		if (readers[i].longest > longest)
			longest = readers[i].longest;
	}
	return longest;
}
