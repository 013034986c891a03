/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's ring of trace pages: see trace_ring.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_RING_H
#define __ARM64_KVM_HYP_NVHE_TRACE_RING_H

#include <linux/ring_buffer_writer.h>

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

/**
 * struct trace_ring - the ring of one CPU
 * @page:	the page being written
 * @page_id:	its id
 * @write:	bytes of it that are written
 * @end:	bytes of it that will be, once the open event is committed
 * @page_events: events on it
 * @time_stamp:	of the last event, ns
 * @open_stamp:	of the open event, ns
 * @entries:	events written
 * @dropped:	events refused
 * @tail:	position of @page
 * @tail_slot:	@tail % @nr_slots
 * @overrun:	events overwritten before they were read
 * @bytes:	bytes of events on the pages that the writer has left
 * @overrun_bytes: bytes of those overwritten before they were read
 * @base:	events at positions before this one are forgotten
 * @meta:	the meta page, never read
 * @head:	position after the reader's page
 * @reader_id:	id of the reader's page
 * @reader_overrun: @overrun at the last swap
 * @dir:	leaf pages of entries
 * @nr_leaves:	how many are there
 * @nr_pages:	pages that are there
 * @max_pages:	pages there will be
 * @nr_slots:	@max_pages but one
 *
 * From @page to @meta the writer's alone, but for @tail and @overrun, which
 * the reader loads; from @head on the reader's alone. The rest is constant
 * once trace_ring_start() has run.
 */
struct trace_ring {
	struct ring_buffer_writer_page	*page;
	u32				page_id;
	u32				write;
	u32				end;
	u32				page_events;
	u64				time_stamp;
	u64				open_stamp;
	u64				entries;
	u64				dropped;
	u64				tail;
	u32				tail_slot;
	u64				overrun;
	u64				bytes;
	u64				overrun_bytes;
	u64				base;
	struct ring_buffer_writer_meta	*meta;

	u64				head;
	u32				reader_id;
	u64				reader_overrun;

	struct trace_ring_entry		**dir;
	u32				nr_leaves;
	u32				nr_pages;
	u32				max_pages;
	u32				nr_slots;
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

#endif /* __ARM64_KVM_HYP_NVHE_TRACE_RING_H */
