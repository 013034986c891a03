/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading the rings of a remote writer
 *
 * ring_buffer_reader() makes a trace buffer of the rings that a struct ring_buffer_writer
 * describes. What is on their pages is in include/linux/ring_buffer_writer.h. A CPU's events can
 * be read in these ways:
 *
 *	cursor		consumes events one by one
 *	read_page	consumes events by the page
 *	iter		reads events without consuming them
 *	follow		sees each event as it comes, without consuming it
 *	dump		reads the last events without a lock
 *
 * A copy is another buffer, with what the rings had at one moment. It is read by iter.
 */
#ifndef __RING_BUFFER_READER_H
#define __RING_BUFFER_READER_H

#include <linux/ring_buffer_writer.h>
#include <linux/types.h>

struct cpumask;
struct rb_reader;
struct ring_buffer_event;
struct ring_buffer_reader_copy;
struct ring_buffer_reader_follower;
struct ring_buffer_reader_iter;
struct ring_buffer_writer;
struct trace_buffer;

/**
 * struct ring_buffer_writer_ops - what a reader asks of the writer
 * @swap_reader: give back the reader's page of @cpu, which is wholly read,
 *		and take the oldest unread one; at least a release. Called with
 *		the CPU's reader lock held and interrupts off. Returns the id of the new
 *		reader's page; -ENODATA when there is none; -EAGAIN when the
 *		writer was too quick.
 * @reset:	clear all events of @cpu and zero its counters; same context.
 *		Called on @cpu itself, or on any CPU while @cpu is offline.
 *		Returns 0 or a negative errno.
 */
struct ring_buffer_writer_ops {
	int (*swap_reader)(struct ring_buffer_writer *writer, int cpu);
	int (*reset)(struct ring_buffer_writer *writer, int cpu);
};

/**
 * struct ring_buffer_writer - a remote writer
 * @ops:	what it can be asked to do
 * @clock:	the clock of its events, as the kernel reads it, ns
 * @cpumask:	the CPUs that have a ring at first, see ring_buffer_reader_add_cpu()
 * @cpus:	their rings, by CPU; nr_cpu_ids of them
 *
 * Must stay as it is until ring_buffer_reader_free(), but for CPUs that get a ring.
 */
struct ring_buffer_writer {
	const struct ring_buffer_writer_ops	*ops;
	u64					(*clock)(void);
	const struct cpumask			*cpumask;
	struct ring_buffer_writer_cpu		*cpus;
};

/**
 * struct ring_buffer_reader_stats - the counters of a CPU, all of one time
 * @entries:	events to be read
 * @overrun:	events overwritten before they were read
 * @read:	events read; with the above, all that were written
 * @bytes:	bytes of the events to be read
 * @dropped:	events the writer could not take
 */
struct ring_buffer_reader_stats {
	unsigned long	entries;
	unsigned long	overrun;
	unsigned long	read;
	unsigned long	bytes;
	unsigned long	dropped;
};

struct trace_buffer *ring_buffer_reader(struct ring_buffer_writer *writer);
void ring_buffer_reader_free(struct trace_buffer *buffer);
int ring_buffer_reader_add_cpu(struct trace_buffer *buffer, struct ring_buffer_writer *writer,
			       int cpu);
bool ring_buffer_reader_has_cpu(struct trace_buffer *buffer, int cpu);
bool ring_buffer_reader_has_waiters(struct trace_buffer *buffer);
int ring_buffer_reader_reset(struct trace_buffer *buffer, int cpu);
void ring_buffer_poll_writer(struct trace_buffer *buffer, int cpu);
void ring_buffer_reader_get_stats(struct trace_buffer *buffer, int cpu,
				  struct ring_buffer_reader_stats *stats);

/* How often a reader waits for a writer that is between two pages, 100 us each time */
#define RING_BUFFER_READER_ROUNDS	1000

void ring_buffer_reader_wait_stats(struct trace_buffer *buffer, int cpu, unsigned int *rounds,
				   struct ring_buffer_reader_stats *stats);
int ring_buffer_reader_read_page(struct trace_buffer *buffer, int cpu, void *data, size_t len,
				 bool full);

struct ring_buffer_reader_iter *
ring_buffer_reader_iter_start(struct trace_buffer *buffer, int cpu);
struct ring_buffer_event *
ring_buffer_reader_iter_peek(struct ring_buffer_reader_iter *iter, u64 *ts);
unsigned long ring_buffer_reader_iter_lost(struct ring_buffer_reader_iter *iter);
void ring_buffer_reader_iter_advance(struct ring_buffer_reader_iter *iter);
void ring_buffer_reader_iter_finish(struct ring_buffer_reader_iter *iter);

struct ring_buffer_reader_follower *
ring_buffer_reader_follow_start(struct trace_buffer *buffer, int cpu, bool from_first);
bool ring_buffer_reader_follow_page(struct ring_buffer_reader_follower *follower);
struct ring_buffer_event *
ring_buffer_reader_follow_next(struct ring_buffer_reader_follower *follower, u64 *ts,
			       unsigned long *lost);
unsigned int ring_buffer_reader_follow_pages(const struct ring_buffer_reader_follower *follower);
void ring_buffer_reader_follow_finish(struct ring_buffer_reader_follower *follower);

struct ring_buffer_reader_copy *
ring_buffer_reader_copy_alloc(struct trace_buffer *from, u64 (*clock)(void));
void ring_buffer_reader_copy_free(struct ring_buffer_reader_copy *copy);
struct trace_buffer *ring_buffer_reader_copy_buffer(struct ring_buffer_reader_copy *copy);
bool ring_buffer_reader_copy_fits(struct ring_buffer_reader_copy *copy, struct trace_buffer *from,
				  int cpu);
void ring_buffer_reader_copy_clear(struct ring_buffer_reader_copy *copy, int cpu);
int ring_buffer_reader_copy_take(struct ring_buffer_reader_copy *copy, struct trace_buffer *from,
				 int which);

/**
 * struct ring_buffer_reader_walk - the events of a page, one after the other
 * @page:	the page, or a copy of it
 * @commit:	bytes of events on it
 * @offset:	where the event is, bytes
 * @length:	bytes of the event with its header; 0 before the first and after the last one
 * @header:	bytes of its header
 * @ts:		its time, ns
 *
 * For the ring buffer's own files, see ring_buffer_reader_internal.h.
 */
struct ring_buffer_reader_walk {
	const struct ring_buffer_writer_page	*page;
	unsigned int				commit;
	unsigned int				offset;
	unsigned int				length;
	unsigned int				header;
	u64					ts;
};

/**
 * struct ring_buffer_reader_cursor - consumes the events of a CPU one by one
 * @event:	the event that it is at; NULL if the copy has no more events
 * @ts:		the event's time, ns
 * @lost:	events lost before it
 * @reader:	the CPU's. This and what follows belongs to ring_buffer_reader_cursor.c
 * @nr_resets:	rb_reader.nr_resets when the copy was made
 * @walk:	where it is in the copy; @walk.commit is 0 if there is none
 * @offset:	bytes of the copy that it went past
 * @stamp:	time of the last event that it went past, ns
 * @nr:		events that it went past and that are still in the ring
 */
struct ring_buffer_reader_cursor {
	struct ring_buffer_event	*event;
	u64				ts;
	unsigned long			lost;
	struct rb_reader		*reader;
	unsigned int			nr_resets;
	struct ring_buffer_reader_walk	walk;
	unsigned int			offset;
	u64				stamp;
	unsigned int			nr;
};

void ring_buffer_reader_cursor_start(struct ring_buffer_reader_cursor *cursor,
				     struct trace_buffer *buffer, int cpu);
struct ring_buffer_event *
ring_buffer_reader_cursor_peek(struct ring_buffer_reader_cursor *cursor);
bool ring_buffer_reader_cursor_advance(struct ring_buffer_reader_cursor *cursor);
void ring_buffer_reader_cursor_finish(struct ring_buffer_reader_cursor *cursor);

/**
 * struct ring_buffer_reader_dump - the last events of a CPU, one by one
 * @ts:		time of the event that it is at, ns
 * @lost:	events before that were overwritten meanwhile; for the caller to clear
 * @reader:	the CPU's. This and what follows belongs to ring_buffer_reader_dump.c
 * @pos:	positions of the pages to read
 * @nr_pages:	how many
 * @nr_opened:	how many of them it has begun
 * @oldest:	position of the oldest page that was not the reader's at the start
 * @left:	events to go to
 * @limit:	a writer that comes to that position may overwrite the page
 * @read:	bytes of the page that were consumed
 * @walk:	where it is on the page; @walk.page is NULL if it is on none
 */
struct ring_buffer_reader_dump {
	u64				ts;
	bool				lost;
	struct rb_reader		*reader;
	u64				pos[4];
	unsigned int			nr_pages;
	unsigned int			nr_opened;
	u64				oldest;
	unsigned int			left;
	u64				limit;
	unsigned int			read;
	struct ring_buffer_reader_walk	walk;
};

void ring_buffer_reader_dump_start(struct ring_buffer_reader_dump *dump,
				   struct trace_buffer *buffer, int cpu, unsigned int max);
bool ring_buffer_reader_dump_next(struct ring_buffer_reader_dump *dump);
unsigned int ring_buffer_reader_dump_copy(struct ring_buffer_reader_dump *dump, void *data,
					  unsigned int size);

#endif /* __RING_BUFFER_READER_H */
