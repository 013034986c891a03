/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The writer of a ring of trace pages: see kernel/trace/trace_ring.c.
 */
#ifndef _LINUX_TRACE_RING_H
#define _LINUX_TRACE_RING_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/ring_buffer_writer.h>

#include <asm/page.h>

/* How often a swap tries, if the writer overwrites the page meanwhile */
#define TRACE_RING_SWAP_TRIES	8

/**
 * struct trace_ring_entry - slot number i, and page number i
 * @slot:	id of the page in the slot, and the position it is for: TRACE_SLOT()
 * @page:	the page with this id
 * @nr_events:	events on that page when the writer left it
 * @nr_bytes:	bytes of those events
 */
struct trace_ring_entry {
	u64				slot;
	struct ring_buffer_writer_page	*page;
	u32				nr_events;
	u32				nr_bytes;
};

/* The entries of a ring are in leaf pages. One directory page has their addresses. */
#define TRACE_RING_LEAF_ENTRIES	(PAGE_SIZE / sizeof(struct trace_ring_entry))
#define TRACE_RING_DIR_ENTRIES	(PAGE_SIZE / sizeof(struct trace_ring_entry *))
#define TRACE_RING_MAX_PAGES	(TRACE_RING_DIR_ENTRIES * TRACE_RING_LEAF_ENTRIES)
#define TRACE_RING_LEAVES(nr)	(((nr) + TRACE_RING_LEAF_ENTRIES - 1) / \
				 TRACE_RING_LEAF_ENTRIES)

/* Bytes of events that fit on a page */
#define TRACE_RING_PAGE_DATA	(PAGE_SIZE - sizeof(struct ring_buffer_writer_page))

/* Bytes of data in the largest event, which has two words of header */
#define TRACE_RING_MAX_DATA	(TRACE_RING_PAGE_DATA - 2 * sizeof(u32))

/*
 * The number of bytes written, for an empty page. No event has room there, so that
 * trace_ring_try_reserve() need not check whether it writes the first event of a page.
 */
#define TRACE_RING_EMPTY	PAGE_SIZE

/**
 * struct trace_ring - the ring of one CPU
 * @commit:	that of the page being written, trace_ring_page()
 * @write:	bytes of the page that are written, or TRACE_RING_EMPTY
 * @time_stamp:	time of the last event, ns
 * @entries:	events written
 * @meta:	the meta page; the writer loads nothing of it but a task, trace_ring_task()
 * @page_entries: @entries when the page was begun
 * @page_id:	id of the page
 * @tail_slot:	@tail % @nr_slots
 * @tail:	position of the page
 * @dropped:	events that did not fit on a page, or for which the ring had no room
 * @overrun:	events overwritten before they were read
 * @bytes:	bytes of events on the pages that the writer has left
 * @overrun_bytes: bytes of those overwritten before they were read
 * @base:	events at positions before this one are cleared
 * @ended:	bytes of the page that are written, if no event may follow there, so that @write is
 *		TRACE_RING_PAGE_DATA; else 0
 * @overwrite:	unread events are overwritten; otherwise, new events are dropped
 * @head:	position after the reader's page
 * @reader_id:	id of the reader's page
 * @reader_overrun: @overrun at the last swap
 * @dir:	leaf pages of entries
 * @nr_leaves:	leaf pages added
 * @nr_pages:	pages added
 * @max_pages:	pages that the ring will have
 * @nr_slots:	@max_pages - 1
 *
 * @commit to @overwrite belong to the writer; the reader loads @tail and @overrun of them.
 * @head to @reader_overrun belong to the reader. @meta, and @dir to @nr_slots, are
 * constant after trace_ring_start(). What each event needs comes first, in pairs that one
 * instruction can load. The word that ends an event, @commit, has no offset to be added.
 */
struct trace_ring {
	unsigned long			*commit;
	unsigned long			write;
	u64				time_stamp;
	u64				entries;
	struct ring_buffer_writer_meta	*meta;

	u64				page_entries;
	u32				page_id;
	u32				tail_slot;
	u64				tail;
	u64				dropped;
	u64				overrun;
	u64				bytes;
	u64				overrun_bytes;
	u64				base;
	u32				ended;
	bool				overwrite;

	u64				head;
	u32				reader_id;
	u64				reader_overrun;

	struct trace_ring_entry		**dir;
	u32				nr_leaves;
	u32				nr_pages;
	u32				max_pages;
	u32				nr_slots;
};

/**
 * struct trace_ring_event - an event that is reserved and not yet committed
 * @data:	where to write the data, aligned to 4 bytes
 * @commit:	that of the event's page
 * @end:	bytes of the page that are written when the event is committed
 * @ts:		time of the event, ns
 * @entries:	events written when it is committed
 */
struct trace_ring_event {
	void				*data;
	unsigned long			*commit;
	unsigned long			end;
	u64				ts;
	u64				entries;
};

int trace_ring_init(struct trace_ring *ring, struct ring_buffer_writer_meta *meta,
		    struct trace_ring_entry **dir, unsigned long max_pages);
int trace_ring_add_leaf(struct trace_ring *ring, struct trace_ring_entry *leaf);
int trace_ring_add_pages(struct trace_ring *ring, void *pages, unsigned int nr);
void *trace_ring_pop_pages(struct trace_ring *ring, unsigned int max, unsigned int *nr);
struct trace_ring_entry *trace_ring_pop_leaf(struct trace_ring *ring);
int trace_ring_start(struct trace_ring *ring);

bool trace_ring_reserve(struct trace_ring *ring, unsigned int size, u64 ts,
			struct trace_ring_event *event);
void trace_ring_drop(struct trace_ring *ring);

int trace_ring_swap_reader(struct trace_ring *ring);
void trace_ring_reset(struct trace_ring *ring);
void trace_ring_set_overwrite(struct trace_ring *ring, bool overwrite);

/* trace_ring_add_pages() of one page */
static inline int trace_ring_add_page(struct trace_ring *ring, void *page)
{
	return trace_ring_add_pages(ring, page, 1);
}

/* trace_ring_pop_pages() of one page */
static inline void *trace_ring_pop_page(struct trace_ring *ring)
{
	unsigned int nr;

	return trace_ring_pop_pages(ring, 1, &nr);
}

/* The page of a commit word */
static inline struct ring_buffer_writer_page *trace_ring_page(unsigned long *commit)
{
	return (void *)commit - offsetof(struct ring_buffer_writer_page, commit);
}

/* Bytes of the current page that are written */
static inline unsigned long trace_ring_used(const struct trace_ring *ring)
{
	return ring->write == TRACE_RING_EMPTY ? 0 : ring->write;
}

/**
 * trace_ring_try_reserve_unless - begin an event, unless it is refused: the fast path
 * @ring:	the ring
 * @size:	bytes of data, a multiple of 4 from 4 to RB_WRITER_MAX_SHORT
 * @ts:		time of the event, ns
 * @refused:	not 0 if the event is refused: one branch is for all reasons to fail
 * @event:	for trace_ring_commit()
 *
 * It fails if the event is the first of a page, if time went backwards, or if the last
 * event is too long ago. The caller then calls trace_ring_reserve().
 *
 * Context: on the ring's CPU, as trace_ring_reserve().
 * Return: true; or false, and nothing has changed.
 */
static __always_inline bool
trace_ring_try_reserve_unless(struct trace_ring *ring, unsigned int size, u64 ts, u64 refused,
			      struct trace_ring_event *event)
{
	unsigned long *commit = ring->commit, write = ring->write;
	u64 delta = ts - ring->time_stamp, entries = ring->entries;
	void *at = (void *)commit + write;
	u32 *header;

	/* Keep the compiler from adding the offsets that load and store instructions have. */
	OPTIMIZER_HIDE_VAR(at);
	/* Load both words at once, and not one of them behind the branch. */
	OPTIMIZER_HIDE_VAR(entries);

	if (unlikely(delta >> RB_WRITER_TS_SHIFT | refused))
		return false;
	if (unlikely(write > TRACE_RING_PAGE_DATA - sizeof(*header) - size))
		return false;

	header = at + (offsetof(struct ring_buffer_writer_page, data) -
		       offsetof(struct ring_buffer_writer_page, commit));
	*header = rb_writer_header(size / sizeof(u32), delta);

	event->data = header + 1;
	event->commit = commit;
	event->end = write + sizeof(*header) + size;
	event->ts = ts;
	event->entries = entries + 1;
	return true;
}

/* trace_ring_try_reserve_unless() of an event that is not refused */
static __always_inline bool
trace_ring_try_reserve(struct trace_ring *ring, unsigned int size, u64 ts,
		       struct trace_ring_event *event)
{
	return trace_ring_try_reserve_unless(ring, size, ts, 0, event);
}

/**
 * trace_ring_task - the task that the kernel runs on the ring's CPU
 * @ring:	the ring
 *
 * For records that have a pid. The kernel may store anything there: that is a wrong pid, or an
 * event that is ignored.
 *
 * Context: on the ring's CPU.
 * Return: RB_WRITER_TASK(), which may have more bits.
 */
static __always_inline u64 trace_ring_task(const struct trace_ring *ring)
{
	return READ_ONCE(ring->meta->task);
}

/**
 * trace_ring_commit - end an event, and publish it
 * @ring:	the ring
 * @event:	from trace_ring_try_reserve() or trace_ring_reserve()
 *
 * Context: on the ring's CPU.
 */
static __always_inline void trace_ring_commit(struct trace_ring *ring,
					      const struct trace_ring_event *event)
{
	ring->time_stamp = event->ts;
	ring->entries = event->entries;
	ring->write = event->end;

	smp_store_release(event->commit, event->end);	/* (A) */
}

#endif /* _LINUX_TRACE_RING_H */
