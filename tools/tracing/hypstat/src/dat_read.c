// SPDX-License-Identifier: GPL-2.0
/*
 * Reads trace.dat by libtracecmd. A stay at EL2 is of one CPU, and so are the events of the host
 * that matter to it: one CPU is read after another, and its buffers are merged by time.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <trace-cmd.h>

#include "dat_read.h"
#include "utils.h"

#define MAX_CPUS	4096
#define RELEASE		(1024 * 1024)	/* bytes at once */

static void open_instances(struct dat *dat)
{
	int nr = tracecmd_buffer_instances(dat->file), i;

	for (i = 0; i < nr && dat->nr_buffers < DAT_BUFFERS; i++) {
		struct tracecmd_input *buffer = tracecmd_buffer_instance_handle(dat->file, i);

		if (buffer)
			dat->buffers[dat->nr_buffers++] = buffer;
	}
}

/**
 * dat_open - open a trace.dat
 * @dat: the file
 * @path: its path
 *
 * Return: whether libtracecmd can read it.
 */
bool dat_open(struct dat *dat, const char *path)
{
	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	dat->file = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!dat->file)
		return false;
	dat->tep = tracecmd_get_tep(dat->file);
	dat->nr_cpus = tep_get_cpus(dat->tep);
	if (dat->nr_cpus < 0 || dat->nr_cpus > MAX_CPUS)
		dat->nr_cpus = MAX_CPUS;
	dat->buffers[0] = dat->file;
	dat->nr_buffers = 1;
	open_instances(dat);
	return true;
}

/* A buffer of which a CPU is read */
struct reader {
	struct tracecmd_input	*buffer;
	struct tep_record	*next;
	char			*from;	/* where it is in memory since the last release() */
};

/*
 * libtracecmd maps all that a CPU has. What was read need not stay in memory. The kernel fetches
 * it again if anyone looks at it, whatever it is.
 */
static void release(struct reader *reader)
{
	char *to = (char *)((uintptr_t)reader->next->data & ~(uintptr_t)(RELEASE - 1));

	if (to == reader->from)
		return;
	if (to == reader->from + RELEASE)
		madvise(reader->from, RELEASE, MADV_PAGEOUT);
	reader->from = to;
}

static void read_next(struct reader *reader, int cpu)
{
	if (reader->next)
		tracecmd_free_record(reader->next);
	reader->next = tracecmd_read_data(reader->buffer, cpu);
	if (reader->next)
		release(reader);
}

/* Of records of the same time, the first buffer's comes first, which is the host's. */
static struct reader *earliest(struct reader *readers, unsigned int nr)
{
	struct reader *first = NULL, *reader;

	for (reader = readers; reader < readers + nr; reader++) {
		if (reader->next && (!first || reader->next->ts < first->next->ts))
			first = reader;
	}
	return first;
}

/**
 * dat_walk - read the records of a CPU, from all buffers, in the order of time
 * @dat: the file
 * @cpu: the CPU, which has not been read yet
 * @visitor: what is called for each of them
 */
void dat_walk(struct dat *dat, int cpu, const struct dat_visitor *visitor)
{
	struct reader readers[DAT_BUFFERS] = {}, *reader;
	unsigned int i;

	for (i = 0; i < dat->nr_buffers; i++) {
		readers[i].buffer = dat->buffers[i];
		read_next(&readers[i], cpu);
	}
	while ((reader = earliest(readers, dat->nr_buffers))) {
		if (reader->next->missed_events)
			visitor->lost(reader->next, visitor->arg);
		visitor->record(reader->next, visitor->arg);
		read_next(reader, cpu);
	}
}

/**
 * dat_close - close a trace.dat
 * @dat: the file
 */
void dat_close(struct dat *dat)
{
	while (dat->nr_buffers > 1)
		tracecmd_close(dat->buffers[--dat->nr_buffers]);
	tracecmd_close(dat->file);
}
