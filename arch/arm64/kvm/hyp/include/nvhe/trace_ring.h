/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's ring of trace pages: see trace_ring.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_RING_H
#define __ARM64_KVM_HYP_NVHE_TRACE_RING_H

#include <linux/compiler.h>
#include <linux/ring_buffer_writer.h>

#include <asm/barrier.h>
#include <asm/page.h>

/* How often a swap looks again when the writer overwrote what it was after. */
#define TRACE_RING_SWAP_TRIES	8

/**
 * struct trace_ring_entry - slot number i, and page number i
 * @slot:	which page is in the slot, and for which position: TRACE_SLOT()
 * @page:	the page with this id
 * @nr_events:	how many events that page held when the writer left it
 * @nr_bytes:	how many bytes they took
 */
struct trace_ring_entry {
	u64				slot;
	struct ring_buffer_writer_page	*page;
	u32				nr_events;
	u32				nr_bytes;
};

/* The entries of a ring fill leaf pages, named by one directory page. */
#define TRACE_RING_LEAF_ENTRIES	(PAGE_SIZE / sizeof(struct trace_ring_entry))
#define TRACE_RING_DIR_ENTRIES	(PAGE_SIZE / sizeof(struct trace_ring_entry *))
#define TRACE_RING_MAX_PAGES	(TRACE_RING_DIR_ENTRIES * TRACE_RING_LEAF_ENTRIES)
#define TRACE_RING_LEAVES(nr)	(((nr) + TRACE_RING_LEAF_ENTRIES - 1) / \
				 TRACE_RING_LEAF_ENTRIES)

/* Bytes of events a page has room for */
#define TRACE_PAGE_SIZE		(PAGE_SIZE - sizeof(struct ring_buffer_writer_page))

/*
 * In place of the bytes that are written, on a page without any: no event has room
 * there, so that trace_ring_open() need not ask whether it writes the first one.
 */
#define TRACE_RING_FRESH	PAGE_SIZE

/**
 * struct trace_ring - the ring of one CPU
 * @page:	the page being written
 * @meta:	the meta page, never read
 * @time_stamp:	of the last event, ns
 * @entries:	events written
 * @write:	bytes of @page that are written, or TRACE_RING_FRESH
 * @end:	bytes of it that will be, once the event of trace_ring_reserve() is committed
 * @open_stamp:	of that event, ns
 * @page_entries: @entries when @page was begun
 * @page_id:	id of @page
 * @tail_slot:	@tail % @nr_slots
 * @tail:	position of @page
 * @dropped:	events refused
 * @overrun:	events overwritten before they were read
 * @bytes:	bytes of events on the pages that the writer has left
 * @overrun_bytes: bytes of those overwritten before they were read
 * @base:	events at positions before this one are forgotten
 * @head:	position after the reader's page
 * @reader_id:	id of the reader's page
 * @reader_overrun: @overrun at the last swap
 * @dir:	leaf pages of entries
 * @nr_leaves:	how many are there
 * @nr_pages:	pages that are there
 * @max_pages:	pages there will be
 * @nr_slots:	@max_pages but one
 *
 * From @page to @base the writer's alone, but for @tail and @overrun, which
 * the reader loads; from @head on the reader's alone. @meta and the rest are constant
 * once trace_ring_start() has run. What each event needs comes first.
 */
struct trace_ring {
	struct ring_buffer_writer_page	*page;
	struct ring_buffer_writer_meta	*meta;
	u64				time_stamp;
	u64				entries;
	unsigned long			write;

	unsigned long			end;
	u64				open_stamp;
	u64				page_entries;
	u32				page_id;
	u32				tail_slot;
	u64				tail;
	u64				dropped;
	u64				overrun;
	u64				bytes;
	u64				overrun_bytes;
	u64				base;

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
 * struct trace_ring_event - an event between trace_ring_open() and trace_ring_close()
 * @data:	where to write the data, aligned to 4 bytes
 * @page:	the page it is on
 * @end:	bytes of that which are written, once the event is
 * @ts:		its time, ns
 * @entries:	events written, once this one is
 */
struct trace_ring_event {
	void				*data;
	struct ring_buffer_writer_page	*page;
	unsigned long			end;
	u64				ts;
	u64				entries;
};

int trace_ring_init(struct trace_ring *ring, struct ring_buffer_writer_meta *meta,
		    struct trace_ring_entry **dir, unsigned long max_pages);
int trace_ring_add_leaf(struct trace_ring *ring, struct trace_ring_entry *leaf);
int trace_ring_add_page(struct trace_ring *ring, struct ring_buffer_writer_page *page);
struct ring_buffer_writer_page *trace_ring_pop_page(struct trace_ring *ring);
struct trace_ring_entry *trace_ring_pop_leaf(struct trace_ring *ring);
int trace_ring_start(struct trace_ring *ring);

void *trace_ring_reserve(struct trace_ring *ring, unsigned int size, u64 ts);
void trace_ring_commit(struct trace_ring *ring);
void trace_ring_drop(struct trace_ring *ring);

int trace_ring_swap_reader(struct trace_ring *ring);
void trace_ring_reset(struct trace_ring *ring);

/* Bytes of the page being written that are */
static inline unsigned long trace_ring_used(const struct trace_ring *ring)
{
	return ring->write == TRACE_RING_FRESH ? 0 : ring->write;
}

/**
 * trace_ring_open - begin an event, if that is simple
 * @ring:	the ring
 * @size:	bytes of data, a multiple of 4 up to RB_WRITER_MAX_SHORT, and not 0
 * @ts:		its time, ns
 * @event:	for trace_ring_close()
 *
 * It is not simple when the event is the first of a page or of long ago, or time went
 * backwards: trace_ring_reserve() copes with that.
 *
 * Context: as trace_ring_reserve().
 * Return: whether it was; else nothing has changed.
 */
static __always_inline bool trace_ring_open(struct trace_ring *ring, unsigned int size, u64 ts,
					    struct trace_ring_event *event)
{
	struct ring_buffer_writer_page *page = ring->page;
	u64 delta = ts - ring->time_stamp, entries = ring->entries;
	unsigned long write = ring->write;
	void *at = (void *)page + write;
	u32 *header;

	if (unlikely(delta >> RB_WRITER_TS_SHIFT))
		return false;
	if (unlikely(write > TRACE_PAGE_SIZE - sizeof(*header) - size))
		return false;

	/* Or the compiler adds up what the instructions' offsets do as well. */
	OPTIMIZER_HIDE_VAR(at);
	header = at + offsetof(struct ring_buffer_writer_page, data);
	*header = rb_writer_header(size / sizeof(u32), delta);

	event->data = header + 1;
	event->page = page;
	event->end = write + sizeof(*header) + size;
	event->ts = ts;
	event->entries = entries + 1;
	return true;
}

/**
 * trace_ring_close - end an event: from now on the reader sees it
 * @ring:	the ring
 * @event:	from trace_ring_open()
 *
 * Context: on the ring's CPU.
 */
static __always_inline void trace_ring_close(struct trace_ring *ring,
					     const struct trace_ring_event *event)
{
	ring->time_stamp = event->ts;
	ring->entries = event->entries;
	ring->write = event->end;

	smp_store_release(&event->page->commit, event->end);	/* (A) */
}

#endif /* __ARM64_KVM_HYP_NVHE_TRACE_RING_H */
