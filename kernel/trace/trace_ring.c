// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer of a ring of trace pages
 *
 * A remote writes its events into such a ring, and the kernel reads them from there
 * (ring_buffer_reader_internal.h). A ring has one writer, which nothing interrupts, and one
 * consuming reader. This file does not depend on what the remote is: arm64's nVHE
 * hypervisor, KUnit and the tests in user space compile it as it is.
 *
 * Structure
 * ---------
 *
 * A ring of n slots holds n pages, and the reader has one page more. Positions
 * count the pages that the writer has begun. Position p uses slot p % n. A slot is
 * one word with the id of its page and the position that the page is for, so that
 * a single compare-and-exchange updates both:
 *
 *	positions    tail-3   tail-2   tail-1    tail           reader's page
 *	            +--------+--------+--------+--------+        +--------+
 *	slots       |p-3, id1|p-2, id4|p-1, id2| p, id0 |        |  id3   |
 *	            +--------+--------+--------+--------+        +--------+
 *	             oldest                      written
 *
 * States of the slot of position p:
 *
 *	free	 holds p, and tail < p: the writer may use the page
 *	written	 holds p, and tail == p
 *	unread	 holds p, and tail > p
 *
 * When the page at tail is full, the writer loads the slot of tail + 1:
 *
 *	free	 The writer uses the page. The reader does not touch the slot.
 *	unread	 The slot still holds tail + 1 - n, the oldest page. The writer
 *		 exchanges that for tail + 1 and counts the page's events as
 *		 overrun. If the exchange fails, the reader has swapped that slot
 *		 before, and the page in it is free.
 *
 * A ring can keep its oldest events instead: see trace_ring_set_overwrite(). The writer then
 * does not touch an unread slot. It drops the event, and ends the page at tail there: an event
 * that would still fit is dropped too. So all events before the first dropped one are kept, and
 * none that follow, until the reader has freed the slot.
 *
 * The reader exchanges the oldest slot, (p, id), for (p + n, its own page), which
 * is free for the next lap. It may do so while the writer is on that page. The
 * writer then stays there until the page is full, and goes to position p + 1 as
 * usual. The exchange fails only if the writer overwrites p. The reader then
 * retries, up to TRACE_RING_SWAP_TRIES times.
 *
 * A reset takes no loop: it sets a position, base, and slots of earlier positions
 * count as free.
 *
 * Ownership
 * ---------
 *
 * trace_ring_try_reserve(), _reserve(), _commit() and _drop() run on the ring's CPU
 * and are not interrupted. trace_ring_swap_reader() runs on any CPU under the
 * caller's lock. The caller calls the other functions only when neither can run.
 *
 * Only the writer's side can write to struct trace_ring and to the entries. The meta
 * page and the pages of events are shared, and the reader's side may corrupt them at
 * any time. So the writer never loads from them, but for trace_ring_task(), which no decision
 * of this file depends on.
 *
 * Memory ordering
 * ---------------
 *
 * All pairs of memory orderings between the writer of a ring and its readers. The remote
 * layer's are at the head of remote/instance.c, and EL2's at that of
 * arch/arm64/kvm/hyp/nvhe/trace.c. A pair has a letter, and each line of code that is part of it
 * has that letter as a comment, "(A)". Below the letter are the functions of the one side, then
 * after "with" those of the other side. Litmus tests are in tools/testing/hyptrace/litmus.
 *
 * (A) commit: A-commit
 *	trace_ring.h:trace_ring_commit
 *   with
 *	ring_buffer_reader_internal.h:rb_writer_commit
 *
 *	The writer stores the event, then page->commit with release. The reader loads
 *	page->commit with acquire, then the events that it covers.
 *
 * (B) tail: B-tail
 *	trace_ring.c:trace_ring_next_page
 *   with
 *	trace_ring.c:trace_ring_swap_reader
 *	ring_buffer_reader.c:rb_reader_page_is_complete
 *	ring_buffer_reader_dump.c:rb_dump_find_pages
 *	ring_buffer_reader_follow.c:rb_follow_page
 *	ring_buffer_reader_iter.c:rb_iter_try_end
 *	ring_buffer_reader_page.c:rb_reader_next_is_complete
 *	ring_buffer_reader_state.c:rb_reader_is_empty
 *	ring_buffer_reader_state.c:rb_reader_next_page
 *	ring_buffer_reader_state.c:rb_reader_oldest_page
 *	ring_buffer_reader_state.c:rb_reader_page_at
 *	ring_buffer_reader_state.c:rb_reader_set_page
 *	ring_buffer_reader_state.c:rb_writer_get_state
 *
 *	The writer stores page->commit for the last time, then ring->tail and meta->tail
 *	with release. The reader loads tail with acquire: pages at earlier positions are
 *	complete.
 *
 * (C) overrun: C-overrun
 *	trace_ring.c:trace_ring_claim_slot
 *   with
 *	trace_ring.c:trace_ring_swap_reader
 *
 *	The writer exchanges the slot of p, then stores ring->overrun with release. The
 *	reader loads overrun with acquire, then exchanges the slot of h. Only one of two
 *	exchanges of a slot succeeds. If the reader's does, neither h nor any later
 *	position is in overrun. All positions before h are, since h is the oldest one by a
 *	tail that was loaded before overrun (B). So overrun is exact.
 *
 * (D) slot: D-slot
 *	trace_ring.c:trace_ring_claim_slot
 *   with
 *	trace_ring.c:trace_ring_swap_reader
 *	ring_buffer_reader_state.c:rb_writer_swap
 *
 *	The reader reads its page, then ops->swap_reader() puts it into a slot, by an
 *	exchange that is at least a release. The writer loads the slot with acquire, then
 *	overwrites the page.
 *
 * (G) next: G-taken, G-counters
 *	trace_ring.c:trace_ring_next_page
 *   with
 *	ring_buffer_reader_dump.c:rb_dump_is_there
 *	ring_buffer_reader_state.c:rb_reader_copy_page_at
 *	ring_buffer_reader_state.c:rb_writer_get_state
 *
 *	The writer stores meta->next, then what belongs to that position: the overrun, the
 *	page's commit and its events; smp_wmb() between. A non-consuming reader reads those
 *	first, then loads meta->next; smp_rmb() between. If next is before the position
 *	that reuses the page, what the reader has copied is what the writer wrote. If next
 *	is tail, the counters belong to tail.
 *
 *	So the counters of the meta page do not include the page at tail, and an event need
 *	not update them. A reader counts the events of that page by its commit.
 *
 * (N) number of entries: N-entries
 *	trace_ring.c:trace_ring_next_page
 *   with
 *	ring_buffer_reader_iter.c:rb_iter_try_end
 *
 *	The writer stores meta->tail, then, when it leaves that page, meta->entries;
 *	smp_wmb() between. The reader loads entries with acquire, then tail: all entries
 *	are on pages up to tail.
 *
 * (S) swap: S-swap
 *	ring_buffer_reader_state.c:rb_writer_swap
 *   with
 *	ring_buffer_reader_dump.c:rb_dump_is_at
 *
 *	ops->swap_reader() stores meta->reader. The reader then changes its tables of
 *	pages; smp_wmb() between. The dumper, which takes no lock, loads a page from the
 *	tables, then meta->reader; smp_rmb() between. It notices if the page was swapped.
 *
 * (M) mask of CPUs: M-mask
 *	ring_buffer_reader_base.c:rb_reader_attach
 *   with
 *	ring_buffer_reader_base.c:ring_buffer_reader_has_cpu
 *
 *	The reader stores the pointer to a CPU's ring, then sets the CPU's bit; smp_wmb()
 *	between. Others test the bit, then load the pointer; smp_rmb() between.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/trace_ring.h>

#define TRACE_SLOT(pos, id)	((u64)(u32)(pos) << 32 | (u32)(id))
#define TRACE_SLOT_POS(slot)	((u32)((slot) >> 32))
#define TRACE_SLOT_ID(slot)	((u32)(slot))

#define TRACE_ALIGN(size)	(((size) + 3U) & ~3U)
/* The longest delta of a time extend. After a longer one the event begins a new page. */
#define TRACE_MAX_DELTA		((1ULL << (RB_WRITER_TS_SHIFT + 32)) - 1)

static struct trace_ring_entry *trace_ring_entry(struct trace_ring *ring, u32 i)
{
	return &ring->dir[i / TRACE_RING_LEAF_ENTRIES][i % TRACE_RING_LEAF_ENTRIES];
}

/**
 * trace_ring_init - begin to set up a ring
 * @ring:	the ring
 * @meta:	its meta page, zeroed
 * @dir:	a page for the addresses of the leaf pages
 * @max_pages:	pages that the ring will have, with the reader's
 *
 * Return: 0, or -EINVAL if @max_pages is out of range.
 */
int trace_ring_init(struct trace_ring *ring, struct ring_buffer_writer_meta *meta,
		    struct trace_ring_entry **dir, unsigned long max_pages)
{
	if (max_pages < RB_WRITER_MIN_PAGES || max_pages > TRACE_RING_MAX_PAGES)
		return -EINVAL;

	*ring = (struct trace_ring) {
		.meta		= meta,
		.dir		= dir,
		.max_pages	= max_pages,
		.nr_slots	= max_pages - 1,
		.overwrite	= true,
	};

	return 0;
}
EXPORT_SYMBOL_GPL(trace_ring_init);

/**
 * trace_ring_add_leaf - add a page for TRACE_RING_LEAF_ENTRIES entries
 * @ring:	the ring
 * @leaf:	the page
 *
 * Return: 0, or -ENOSPC if the ring has all its leaf pages.
 */
int trace_ring_add_leaf(struct trace_ring *ring, struct trace_ring_entry *leaf)
{
	if (ring->nr_leaves >= TRACE_RING_LEAVES(ring->max_pages))
		return -ENOSPC;

	ring->dir[ring->nr_leaves++] = leaf;
	return 0;
}
EXPORT_SYMBOL_GPL(trace_ring_add_leaf);

/* How many pages can be added before the ring is complete or needs a leaf page? */
static u32 trace_ring_room(const struct trace_ring *ring)
{
	return min_t(u64, ring->max_pages, (u64)ring->nr_leaves * TRACE_RING_LEAF_ENTRIES) -
	       ring->nr_pages;
}

/**
 * trace_ring_add_pages - add the next pages of events
 * @ring:	the ring
 * @pages:	the pages, at consecutive addresses; the id of the first one is the
 *		number of pages added before
 * @nr:		how many
 *
 * Return: 0; or -ENOSPC if the ring has less room, or a leaf page is missing. Then
 * nothing has changed.
 */
int trace_ring_add_pages(struct trace_ring *ring, void *pages, unsigned int nr)
{
	unsigned int i;

	if (nr > trace_ring_room(ring))
		return -ENOSPC;

	for (i = 0; i < nr; i++) {
		u32 id = ring->nr_pages++;

		*trace_ring_entry(ring, id) = (struct trace_ring_entry) {
			.slot	= TRACE_SLOT(id, id),
			.page	= pages + i * PAGE_SIZE,
		};
	}

	return 0;
}
EXPORT_SYMBOL_GPL(trace_ring_add_pages);

/* Is the page that was added last the one before @page? */
static bool trace_ring_has_page_before(struct trace_ring *ring, void *page)
{
	return ring->nr_pages &&
	       (void *)trace_ring_entry(ring, ring->nr_pages - 1)->page == page - PAGE_SIZE;
}

/**
 * trace_ring_pop_pages - remove pages that were added last
 * @ring:	the ring, which is not written or read any more
 * @max:	how many at the most, 1 or more
 * @nr:		how many were removed
 *
 * It removes pages as long as their addresses are consecutive.
 *
 * Return: the first of them; NULL if none is left.
 */
void *trace_ring_pop_pages(struct trace_ring *ring, unsigned int max, unsigned int *nr)
{
	void *page;

	*nr = 0;
	if (!ring->nr_pages)
		return NULL;

	page = trace_ring_entry(ring, --ring->nr_pages)->page;
	for (*nr = 1; *nr < max && trace_ring_has_page_before(ring, page); (*nr)++) {
		ring->nr_pages--;
		page -= PAGE_SIZE;
	}

	return page;
}
EXPORT_SYMBOL_GPL(trace_ring_pop_pages);

/**
 * trace_ring_pop_leaf - remove the leaf page that was added last
 * @ring:	the ring, without pages of events
 *
 * Return: the leaf page, or NULL if none is left or the ring still has pages.
 */
struct trace_ring_entry *trace_ring_pop_leaf(struct trace_ring *ring)
{
	if (!ring->nr_leaves || ring->nr_pages)
		return NULL;

	return ring->dir[--ring->nr_leaves];
}
EXPORT_SYMBOL_GPL(trace_ring_pop_leaf);

static void trace_ring_fill_meta(struct trace_ring *ring)
{
	struct trace_buffer_meta *meta = &ring->meta->meta;

	meta->meta_page_size = PAGE_SIZE;
	meta->meta_struct_len = sizeof(*meta);
	meta->subbuf_size = PAGE_SIZE;
	meta->nr_subbufs = ring->max_pages;
	meta->reader.id = ring->reader_id;
}

/* Write to an empty page. */
static void trace_ring_begin_page(struct trace_ring *ring, u32 id)
{
	ring->page_id = id;
	ring->commit = &trace_ring_entry(ring, id)->page->commit;
	ring->write = TRACE_RING_EMPTY;
	WRITE_ONCE(*ring->commit, 0);
}

/**
 * trace_ring_start - finish the setup of a ring that has all its pages
 * @ring:	the ring
 *
 * The writer begins on page 0. The last page is the reader's.
 *
 * Return: 0, or -EINVAL if pages are missing.
 */
int trace_ring_start(struct trace_ring *ring)
{
	if (ring->nr_pages != ring->max_pages)
		return -EINVAL;

	ring->reader_id = ring->nr_slots;
	trace_ring_begin_page(ring, 0);
	trace_ring_fill_meta(ring);
	return 0;
}
EXPORT_SYMBOL_GPL(trace_ring_start);

/*
 * Is the slot of @pos, the writer's next position, unread? It holds @pos (free), or
 * @pos - nr_slots (free if that is before base, else unread).
 */
static bool trace_ring_is_unread(const struct trace_ring *ring, u64 slot, u64 pos)
{
	return TRACE_SLOT_POS(slot) != (u32)pos && pos >= ring->base + ring->nr_slots;
}

/* Use the slot of @pos, the writer's next position; see the states above. */
static u32 trace_ring_claim_slot(struct trace_ring *ring, u32 slot, u64 pos)
{
	struct trace_ring_entry *entry = trace_ring_entry(ring, slot);
	u64 old = smp_load_acquire(&entry->slot);	/* (D) */
	u32 id = TRACE_SLOT_ID(old);

	if (TRACE_SLOT_POS(old) == (u32)pos)
		return id;

	if (!trace_ring_is_unread(ring, old, pos)) {
		WRITE_ONCE(entry->slot, TRACE_SLOT(pos, id));
		return id;
	}

	/* If this fails, the reader has swapped the slot. It does so once a lap. */
	if (!try_cmpxchg(&entry->slot, &old, TRACE_SLOT(pos, id)))
		return TRACE_SLOT_ID(smp_load_acquire(&entry->slot));	/* (D) */

	entry = trace_ring_entry(ring, id);
	ring->overrun_bytes += entry->nr_bytes;
	smp_store_release(&ring->overrun, ring->overrun + entry->nr_events);	/* (C) */
	WRITE_ONCE(ring->meta->meta.overrun, ring->overrun);
	WRITE_ONCE(ring->meta->overrun_bytes, ring->overrun_bytes);
	return id;
}

/* The page at tail is full: note how much it holds. */
static void trace_ring_finish_page(struct trace_ring *ring)
{
	struct trace_ring_entry *entry = trace_ring_entry(ring, ring->page_id);

	entry->nr_events = ring->entries - ring->page_entries;
	entry->nr_bytes = entry->nr_events ? ring->ended ?: ring->write : 0;
	ring->bytes += entry->nr_bytes;
	WRITE_ONCE(ring->meta->bytes, ring->bytes);
	WRITE_ONCE(ring->meta->meta.entries, ring->entries);
}

static u32 trace_ring_next_slot(const struct trace_ring *ring)
{
	return ring->tail_slot + 1 < ring->nr_slots ? ring->tail_slot + 1 : 0;
}

/*
 * Must the writer stay on its page, since it may not overwrite the next one? If so, no event
 * may follow on this page. A reader may free the slot at any time, but never the reverse.
 */
static bool trace_ring_is_full(struct trace_ring *ring)
{
	u64 slot;

	if (ring->overwrite)
		return false;

	slot = READ_ONCE(trace_ring_entry(ring, trace_ring_next_slot(ring))->slot);
	if (!trace_ring_is_unread(ring, slot, ring->tail + 1))
		return false;

	if (!ring->ended)
		ring->ended = ring->write;
	ring->write = TRACE_RING_PAGE_DATA;
	return true;
}

static noinline void trace_ring_next_page(struct trace_ring *ring)
{
	u32 slot = trace_ring_next_slot(ring);
	u64 pos = ring->tail + 1;

	WRITE_ONCE(ring->meta->next, pos);
	smp_wmb();					/* (G), (N) */

	trace_ring_finish_page(ring);
	trace_ring_begin_page(ring, trace_ring_claim_slot(ring, slot, pos));
	ring->ended = 0;
	ring->page_entries = ring->entries;
	ring->tail_slot = slot;

	smp_store_release(&ring->tail, pos);		/* (B) */
	smp_store_release(&ring->meta->tail, pos);	/* (B) */
}

static u32 *trace_ring_put(struct trace_ring_event *event, u32 word)
{
	u32 *p = (u32 *)&trace_ring_page(event->commit)->data[event->end];

	*p = word;
	event->end += sizeof(word);
	return p + 1;
}

/* Is there room for @need bytes, and for a time extend if @delta takes one? */
static bool trace_ring_fits(struct trace_ring *ring, u32 need, u64 delta)
{
	if (delta > RB_WRITER_TS_MASK)
		need += 2 * sizeof(u32);

	return trace_ring_used(ring) + need <= TRACE_RING_PAGE_DATA && delta <= TRACE_MAX_DELTA;
}

/* Begin @event on the current page. */
static void trace_ring_init_event(struct trace_ring *ring, u64 ts, struct trace_ring_event *event)
{
	*event = (struct trace_ring_event) {
		.commit	= ring->commit,
		.end	= trace_ring_used(ring),
		.ts	= ts,
		.entries = ring->entries + 1,
	};
	if (!event->end)
		WRITE_ONCE(trace_ring_page(ring->commit)->time_stamp, ts);
}

/**
 * trace_ring_reserve - begin an event: the slow path
 * @ring:	the ring
 * @size:	bytes of data
 * @ts:		time of the event, ns. If it is earlier than the last event's, the
 *		event gets that one's: time in a ring never goes backwards
 * @event:	for trace_ring_commit()
 *
 * One event at a time is reserved. An event that is reserved and not committed leaves
 * no trace.
 *
 * Context: on the ring's CPU.
 * Return: true, with @event->data aligned to 4 bytes; false if @size does not fit on a
 * page, or if the ring is full and keeps its oldest events. Then the event is counted as
 * dropped.
 */
bool trace_ring_reserve(struct trace_ring *ring, unsigned int size, u64 ts,
			struct trace_ring_event *event)
{
	u32 words = TRACE_ALIGN(size) / sizeof(u32) + !size;
	u32 length = words * sizeof(u32);
	bool is_long = length > RB_WRITER_MAX_SHORT;
	u64 delta;

	if (size > TRACE_RING_MAX_DATA) {
		trace_ring_drop(ring);
		return false;
	}

	ts = max(ts, ring->time_stamp);
	delta = trace_ring_used(ring) ? ts - ring->time_stamp : 0;

	if (!trace_ring_fits(ring, length + (1 + is_long) * sizeof(u32), delta)) {
		if (trace_ring_is_full(ring)) {
			trace_ring_drop(ring);
			return false;
		}
		trace_ring_next_page(ring);
		delta = 0;
	}

	trace_ring_init_event(ring, ts, event);
	if (delta > RB_WRITER_TS_MASK) {
		trace_ring_put(event, rb_writer_header(RB_WRITER_TIME_EXTEND,
						       delta & RB_WRITER_TS_MASK));
		trace_ring_put(event, delta >> RB_WRITER_TS_SHIFT);
		delta = 0;
	}
	event->data = trace_ring_put(event, rb_writer_header(is_long ? 0 : words, delta));
	if (is_long)
		event->data = trace_ring_put(event, length + sizeof(u32));
	event->end += length;

	return true;
}
EXPORT_SYMBOL_GPL(trace_ring_reserve);

/**
 * trace_ring_drop - count an event as dropped
 * @ring:	the ring
 *
 * Context: on the ring's CPU.
 */
void trace_ring_drop(struct trace_ring *ring)
{
	ring->dropped++;
	WRITE_ONCE(ring->meta->dropped, ring->dropped);
}
EXPORT_SYMBOL_GPL(trace_ring_drop);

/**
 * trace_ring_set_overwrite - what the writer does when all pages are unread
 * @ring:	the ring
 * @overwrite:	true: it overwrites the oldest events, as at first; false: it keeps them, and
 *		drops events
 *
 * Context: as trace_ring_reset().
 */
void trace_ring_set_overwrite(struct trace_ring *ring, bool overwrite)
{
	ring->overwrite = overwrite;
}
EXPORT_SYMBOL_GPL(trace_ring_set_overwrite);

/* The oldest position that can be read while the writer is at @tail. */
static u64 trace_ring_oldest(struct trace_ring *ring, u64 tail)
{
	u64 oldest = tail >= ring->nr_slots ? tail - ring->nr_slots + 1 : 0;

	return max3(oldest, ring->head, ring->base);
}

/* @is_complete: by (B) the entry of the page is final. */
static void trace_ring_set_reader(struct trace_ring *ring, u64 pos, u32 id, u64 overrun,
				  bool is_complete)
{
	struct ring_buffer_writer_meta *meta = ring->meta;

	WRITE_ONCE(meta->meta.reader.lost_events, overrun - ring->reader_overrun);
	WRITE_ONCE(meta->meta.reader.id, id);
	WRITE_ONCE(meta->reader, pos);
	WRITE_ONCE(meta->reader_entries, is_complete ? trace_ring_entry(ring, id)->nr_events : 0);

	ring->reader_overrun = overrun;
	ring->reader_id = id;
	ring->head = pos + 1;
}

/**
 * trace_ring_swap_reader - exchange the reader's page for the oldest one
 * @ring:	the ring
 *
 * The reader has read all of its page, and the writer is not on it.
 *
 * Context: on any CPU, serialised by the caller.
 * Return: the id of the reader's new page; -ENODATA if the writer has begun no page
 * after the reader's; -EAGAIN if the writer overwrote each page that was tried.
 */
int trace_ring_swap_reader(struct trace_ring *ring)
{
	int i;

	for (i = 0; i < TRACE_RING_SWAP_TRIES; i++) {
		u64 tail = smp_load_acquire(&ring->tail);	/* (B) */
		u64 overrun = smp_load_acquire(&ring->overrun);	/* (C) */
		u64 head = trace_ring_oldest(ring, tail);
		struct trace_ring_entry *entry;
		u64 old, new;

		if (head > tail)
			return -ENODATA;

		entry = trace_ring_entry(ring, head % ring->nr_slots);
		old = READ_ONCE(entry->slot);
		new = TRACE_SLOT(head + ring->nr_slots, ring->reader_id);
		if (TRACE_SLOT_POS(old) != (u32)head)
			continue;

		/* (C), (D) */
		if (!try_cmpxchg(&entry->slot, &old, new))
			continue;

		trace_ring_set_reader(ring, head, TRACE_SLOT_ID(old), overrun, head < tail);
		return TRACE_SLOT_ID(old);
	}

	return -EAGAIN;
}
EXPORT_SYMBOL_GPL(trace_ring_swap_reader);

/**
 * trace_ring_reset - clear a ring and the reader's page
 * @ring:	the ring
 *
 * The next event begins a page. Time does not go backwards after a reset either.
 *
 * Context: on the ring's CPU, or while that CPU writes nothing. The caller serialises
 * it with trace_ring_swap_reader().
 */
void trace_ring_reset(struct trace_ring *ring)
{
	struct ring_buffer_writer_meta *meta = ring->meta;

	ring->base = ring->tail + 1;
	ring->write = TRACE_RING_PAGE_DATA;
	ring->ended = 0;
	ring->page_entries = 0;
	ring->entries = 0;
	ring->dropped = 0;
	ring->overrun = 0;
	ring->reader_overrun = 0;
	ring->bytes = 0;
	ring->overrun_bytes = 0;

	WRITE_ONCE(meta->base, ring->base);
	/* Unchanged, but the reader's side may have corrupted them. */
	WRITE_ONCE(meta->next, ring->tail);
	WRITE_ONCE(meta->tail, ring->tail);
	WRITE_ONCE(meta->dropped, 0);
	WRITE_ONCE(meta->bytes, 0);
	WRITE_ONCE(meta->overrun_bytes, 0);
	WRITE_ONCE(meta->meta.overrun, 0);
	WRITE_ONCE(meta->meta.reader.lost_events, 0);
	WRITE_ONCE(meta->meta.entries, 0);
}
EXPORT_SYMBOL_GPL(trace_ring_reset);
