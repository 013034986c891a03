/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files share that read the rings of a remote writer
 *
 *	ring_buffer_reader_copy.c	copies rings aside
 *	ring_buffer_reader.c		buffers, CPUs, mappings, counters
 *	ring_buffer_reader_cursor.c	consumes events one by one
 *	ring_buffer_reader_page.c	consumes events by the page
 *	ring_buffer_reader_iter.c	reads events without consuming them
 *	ring_buffer_reader_follow.c	sees all events, without consuming them
 *	ring_buffer_reader_dump.c	reads the last events without a lock
 *	ring_buffer_reader_state.c	what the writer has written; the swap of pages
 *	ring_buffer_reader_base.c	the part of ring_buffer.c, which includes it
 *
 * A file calls only files that are below it in this list. All that the others than the last one
 * know of a CPU's ring is in struct rb_reader.
 *
 * The remote may corrupt the pages and the meta page at any time. rb_walk_next() is the only
 * code that decodes the events of a shared page. It reads each word once, then checks it.
 */
#ifndef __RING_BUFFER_READER_INTERNAL_H
#define __RING_BUFFER_READER_INTERNAL_H

#include <linux/align.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/ring_buffer.h>
#include <linux/spinlock.h>

#include "ring_buffer_reader.h"

/* The position of the reader's page before the first swap, and after a reset. */
#define RB_READER_NOWHERE	U64_MAX

/* How often a reader tries again while the writer goes to its next page */
#define RB_READER_TRIES		16

/* If the writer's CPU is a virtual one, it may not run just then. The reader waits. */
#define RB_READER_ROUNDS	RING_BUFFER_READER_ROUNDS
#define RB_READER_ROUND_US	100

/* The commit word of a page: RB_MISSED_EVENTS, RB_MISSED_STORED, and bytes in whole words */
#define RB_WRITER_MISSED_EVENTS	BIT(31)
#define RB_WRITER_MISSED_STORED	BIT(30)
#define RB_WRITER_COMMIT_MASK	GENMASK(29, 2)

/* Room for events on a page. The writer's pages are of order 0. */
#define RB_WRITER_PAGE_DATA	(PAGE_SIZE - sizeof(struct ring_buffer_writer_page))

/* The shortest event, and a time extend: a header and a word. */
#define RB_WRITER_MIN_EVENT	(2 * sizeof(u32))

struct ring_buffer_per_cpu;

/**
 * struct rb_reader_count - the events counted on the page being written
 * @pos:	its position
 * @offset:	bytes of it that are counted
 * @nr:		events in these bytes
 */
struct rb_reader_count {
	u64		pos;
	unsigned int	offset;
	u64		nr;
};

/**
 * struct rb_reader_consumed - what consuming readers have read
 * @nr:		events, since the last reset
 * @bytes:	bytes of these
 * @offset:	bytes of the reader's page
 * @stamp:	time of the last event; of the reader's page if @offset is 0
 * @lost:	events lost before the next one, and not reported yet
 */
struct rb_reader_consumed {
	unsigned long	nr;
	unsigned long	bytes;
	unsigned int	offset;
	u64		stamp;
	unsigned long	lost;
};

/**
 * struct rb_reader_span - the events that an iterator has to show yet
 * @list:	in rb_reader.iters
 * @pos:	position of the page that it copies next
 * @end:	number of the first event that is not to be shown
 * @consumed:	events from @pos on that were consumed meanwhile
 */
struct rb_reader_span {
	struct list_head	list;
	u64			pos;
	u64			end;
	u64			consumed;
};

/**
 * struct rb_reader_kept - a page that is kept for a follower
 * @list:	in rb_reader.followers
 * @wanted:	position of the first page that the follower has not seen as a whole
 * @copied:	bytes of that page that the follower has copied
 * @has_page:	there is one
 * @pos:	its position
 * @number:	the number of its first event
 * @page:	the copy
 */
struct rb_reader_kept {
	struct list_head		list;
	u64				wanted;
	unsigned int			copied;
	bool				has_page;
	u64				pos;
	u64				number;
	struct ring_buffer_writer_page	*page;
};

/**
 * struct rb_reader - the reader of a CPU's ring
 * @writer:	the remote writer
 * @meta:	the ring's meta page
 * @ids:	the ring's pages by their ids
 * @cpu_buffer:	the CPU's, which has copies of some counters
 * @cpu:	the CPU
 * @lock:	cpu_buffer->reader_lock. It covers all that follows
 * @pos:	position of the reader's page
 * @consumed:	what was consumed
 * @read:	@consumed.nr at the last swap
 * @overrun:	events overwritten before the reader's page
 * @entries:	events on the reader's page if the writer had left it at the swap; else 0
 * @count:	the events counted on the page being written
 * @iters:	iterators, struct rb_reader_span
 * @followers:	followers, struct rb_reader_kept
 * @nr_resets:	how often the ring was reset
 * @copy:	a page for the events of a cursor
 * @no_pages:	the list of pages that the kernel writes: it is empty
 * @nr_slots:	the ring's slots
 * @pages:	the pages in the slots, then the reader's page
 */
struct rb_reader {
	struct ring_buffer_writer		*writer;
	struct ring_buffer_writer_meta		*meta;
	void					**ids;
	struct ring_buffer_per_cpu		*cpu_buffer;
	int					cpu;
	raw_spinlock_t				*lock;
	u64					pos;
	struct rb_reader_consumed		consumed;
	u64					read;
	u64					overrun;
	u64					entries;
	struct rb_reader_count			count;
	struct list_head			iters;
	struct list_head			followers;
	unsigned int				nr_resets;
	struct ring_buffer_writer_page		*copy;
	struct list_head			no_pages;
	unsigned int				nr_slots;
	struct ring_buffer_writer_page		*pages[];
};

/**
 * struct rb_reader_ops - what ring_buffer.c asks of the reader, by the function that asks
 * @free:	ring_buffer_free()
 * @reset:	ring_buffer_reset() and similar ones
 * @is_empty:	ring_buffer_empty_cpu() and waiting
 * @oldest_ts:	ring_buffer_oldest_event_ts()
 * @setup_ids:	ring_buffer_map(), with rb_reader.lock held
 * @map_get_reader: ring_buffer_map_get_reader()
 */
struct rb_reader_ops {
	void (*free)(struct trace_buffer *buffer);
	void (*reset)(struct trace_buffer *buffer, const struct cpumask *cpus);
	bool (*is_empty)(struct rb_reader *reader);
	u64 (*oldest_ts)(struct rb_reader *reader);
	void (*setup_ids)(struct rb_reader *reader, unsigned long *subbuf_ids);
	void (*map_get_reader)(struct rb_reader *reader);
};

/**
 * struct rb_writer_state - what a writer reports, all of one time
 * @tail:	position of the page being written
 * @oldest:	position of the oldest page that is not the reader's
 * @entries:	events written
 * @overrun:	events overwritten
 * @bytes:	bytes of the events written and not overwritten
 */
struct rb_writer_state {
	u64		tail;
	u64		oldest;
	u64		entries;
	u64		overrun;
	u64		bytes;
};

/* ring_buffer_reader_base.c */
struct rb_reader *rb_reader_of(struct trace_buffer *buffer, int cpu);
void rb_reader_publish(struct rb_reader *reader);
void rb_reader_publish_page(struct rb_reader *reader, unsigned int id);
void rb_reader_publish_tail(struct rb_reader *reader, u64 tail, u64 oldest);
void rb_reader_publish_state(struct rb_reader *reader, const struct rb_writer_state *state);
void rb_reader_publish_map(struct rb_reader *reader, unsigned long lost);
void rb_reader_published(struct rb_reader *reader, struct ring_buffer_reader_stats *stats);
void rb_reader_wake(struct rb_reader *reader);
int rb_reader_attach(struct rb_reader *reader, struct trace_buffer *buffer);
struct rb_reader *rb_reader_detach(struct trace_buffer *buffer, int cpu);
struct trace_buffer *rb_reader_alloc_buffer(const struct ring_buffer_writer *writer,
					    const struct rb_reader_ops *ops);
void rb_reader_free_buffer(struct trace_buffer *buffer);

/* ring_buffer_reader_state.c */
u64 rb_writer_oldest(struct rb_reader *reader, u64 tail);
bool rb_writer_get_state(struct rb_reader *reader, struct rb_writer_state *state);
bool rb_writer_wait_state(struct rb_reader *reader, struct rb_writer_state *state);
bool rb_reader_is_empty(struct rb_reader *reader);
struct ring_buffer_writer_page *rb_reader_oldest_page(struct rb_reader *reader);
struct ring_buffer_writer_page *rb_reader_next_page(struct rb_reader *reader,
						    unsigned int *commit);
u64 rb_reader_count_page(const struct ring_buffer_writer_page *page);
struct ring_buffer_writer_page *rb_reader_page_at(struct rb_reader *reader, u64 pos);
bool rb_reader_oldest_from(struct rb_reader *reader, u64 from, u64 *pos, u64 *number);
bool rb_reader_copy_page_at(struct rb_reader *reader, u64 pos,
			    const struct ring_buffer_writer_page *page, unsigned int commit,
			    struct ring_buffer_writer_page *to);

/**
 * struct rb_batch - events of the reader's page that are consumed together
 * @bytes:	bytes of these
 * @corrupt:	bytes behind them that are not events, to the end of the page
 * @nr:		how many
 * @stamp:	time of the last one
 */
struct rb_batch {
	unsigned int	bytes;
	unsigned int	corrupt;
	unsigned int	nr;
	u64		stamp;
};

/* ring_buffer_reader_page.c */
void rb_reader_get_batch(struct rb_reader *reader, unsigned int commit, unsigned int len,
			 struct rb_batch *batch);
void rb_reader_consume(struct rb_reader *reader, const struct rb_batch *batch);
unsigned long rb_page_set_lost(void *data, unsigned int bytes, unsigned long lost);

/* The reader's page */
static inline struct ring_buffer_writer_page *rb_reader_page(struct rb_reader *reader)
{
	return reader->pages[reader->nr_slots];
}

/* The slot of @pos, which is not the reader's and not before the oldest one. */
static inline struct ring_buffer_writer_page **rb_writer_slot(struct rb_reader *reader, u64 pos)
{
	return &reader->pages[pos % reader->nr_slots];
}

/*
 * Bytes of events on a page: whole words, and no more than there is room for. The flags are
 * the reader's own, for programs that mapped the page.
 */
static inline unsigned int rb_writer_commit(const struct ring_buffer_writer_page *page)
{
	unsigned long commit = smp_load_acquire(&page->commit);		/* (A) */

	return min_t(unsigned long, commit & RB_WRITER_COMMIT_MASK, RB_WRITER_PAGE_DATA);
}

/* Begin to walk over the events of @page from @offset to @commit, after the time @ts. */
static inline void rb_walk_start(struct ring_buffer_reader_walk *walk,
				 const struct ring_buffer_writer_page *page, unsigned int commit,
				 unsigned int offset, u64 ts)
{
	*walk = (struct ring_buffer_reader_walk) {
		.page	= page,
		.commit	= commit,
		.offset	= offset,
		.ts	= ts,
	};
}

/* The length of an event of @type that has @left bytes at the most: false if it is wrong. */
static __always_inline bool rb_walk_set_length(struct ring_buffer_reader_walk *walk,
					       const u32 *words, u32 type, unsigned int left)
{
	unsigned int header = sizeof(u32);
	u32 length = type * sizeof(u32);

	if (unlikely(!type)) {
		length = READ_ONCE(words[1]);
		if (length <= RB_WRITER_MAX_SHORT + sizeof(u32) || length > left ||
		    !IS_ALIGNED(length, sizeof(u32)))
			return false;
		header += sizeof(u32);
	}

	length += sizeof(u32);
	if (length > left)
		return false;

	walk->length = length;
	walk->header = header;
	return true;
}

/*
 * Go to the next event, past the time extends before it. Returns false if there is none,
 * and where the words are not an event. Then @walk->offset is the end of the last event.
 * Each event and each time extend has two words or more, which bounds the loop.
 */
static __always_inline bool rb_walk_next(struct ring_buffer_reader_walk *walk)
{
	unsigned int offset = walk->offset + walk->length;
	u64 ts = walk->ts;
	const u32 *words;
	u32 word, type;

	walk->offset = offset;
	walk->length = 0;

	for (; offset + RB_WRITER_MIN_EVENT <= walk->commit; offset += RB_WRITER_MIN_EVENT) {
		words = (const u32 *)&walk->page->data[offset];
		word = READ_ONCE(words[0]);
		type = rb_writer_type(word);
		ts += rb_writer_delta(word);

		if (type == RB_WRITER_TIME_EXTEND) {
			ts += (u64)READ_ONCE(words[1]) << RB_WRITER_TS_SHIFT;
			continue;
		}
		if (type > RB_WRITER_MAX_SHORT / sizeof(u32) ||
		    !rb_walk_set_length(walk, words, type, walk->commit - offset))
			return false;

		walk->offset = offset;
		walk->ts = ts;
		return true;
	}

	return false;
}

#endif /* __RING_BUFFER_READER_INTERNAL_H */
