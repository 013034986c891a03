// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring of trace pages: one writer, which nothing interrupts, and one reader.
 *
 * This file knows nothing of the hypervisor: EL2 runs it, KUnit and the tests
 * in user space compile it as it is.
 *
 * Structure
 * ---------
 *
 * A ring of n slots holds n pages; one page more is the reader's. Positions
 * count the pages that the writer has begun; position p lives in slot p % n.
 * A slot is one word that names the page in it and the position that page is
 * for, so that a single compare-and-exchange moves both:
 *
 *	positions    tail-3   tail-2   tail-1    tail           reader's page
 *	            +--------+--------+--------+--------+        +--------+
 *	slots       |p-3, id1|p-2, id4|p-1, id2| p, id0 |        |  id3   |
 *	            +--------+--------+--------+--------+        +--------+
 *	             oldest                      written
 *
 * States of the slot of position p:
 *
 *	free	 holds p, and tail < p: the writer may have the page
 *	written	 holds p, and tail == p
 *	unread	 holds p, and tail > p
 *
 * The writer that leaves the page at tail looks at the slot of tail + 1:
 *
 *	free	 it takes the page; nobody else wants it
 *	unread	 it still holds tail + 1 - n, the oldest page: the writer
 *		 exchanges that for tail + 1 and counts the page's events as
 *		 overrun. If the exchange fails the reader was first, and has
 *		 left its own page there: free
 *
 * The reader exchanges the oldest slot, (p, id), for (p + n, its own page):
 * free, one lap on. It may do so while the writer is on that very page; the
 * writer then goes on there, and leaves it for position p + 1 as ever. Only
 * the writer overwriting p can make that exchange fail; the reader then looks
 * again, TRACE_RING_SWAP_TRIES times at most.
 *
 * Forgetting all events costs no loop either: a reset sets a position, base,
 * before which every slot counts as free.
 *
 * Ownership
 * ---------
 *
 * trace_ring_open(), _close(), _reserve(), _commit() and _drop() run on the ring's CPU and are
 * not interrupted. trace_ring_swap_reader() runs anywhere under the caller's
 * lock. The other functions run when neither can: the caller sees to it. The
 * entries and the ring itself are memory that only the writer's side can
 * write; the meta page and the pages may be scribbled over at any time by
 * whom they are shared with, so nothing is ever read back from them.
 *
 * Ordering
 * --------
 *
 * (A) commit:	writer stores the event, then page->commit with release. Reader
 *		loads page->commit with acquire, then reads the event.
 * (B) tail:	writer stores page->commit for the last time, then ring->tail
 *		(and meta->tail) with release. Reader loads tail with acquire;
 *		pages at earlier positions are complete.
 * (C) overrun:	writer exchanges the slot of p, then stores ring->overrun with
 *		release. Reader loads overrun with acquire, then exchanges the
 *		slot of h. Of the two exchanges of a slot but one can succeed;
 *		if the reader's does, h is not counted, nor is anything after
 *		it. And since h is the oldest position by a tail that was
 *		loaded before overrun, by (B) all before h is: exact.
 * (D) slot:	reader has read its page, then puts it into a slot by an
 *		exchange that is at least a release. Writer loads the slot with
 *		acquire, then overwrites the page.
 * (G) taken:	writer stores meta->next, then what concerns that position: the
 *		overrun, the page's commit and its events; smp_wmb() between.
 *		Who looks at a page without owning it reads that first, then
 *		loads meta->next; smp_rmb() between. If next has not come to
 *		the position that takes the page, what was read is what was
 *		written; and if it is tail, the counters belong to tail.
 *
 * By (G) the counters of the meta page belong to tail: of the page at tail they
 * know nothing, so that an event need not touch them. What is on it, who reads it
 * sees by its commit.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <asm/barrier.h>
#include <asm/cmpxchg.h>

#include <nvhe/trace_ring.h>

#define TRACE_SLOT(pos, id)	((u64)(u32)(pos) << 32 | (u32)(id))
#define TRACE_SLOT_POS(slot)	((u32)((slot) >> 32))
#define TRACE_SLOT_ID(slot)	((u32)(slot))

#define TRACE_ALIGN(size)	(((size) + 3U) & ~3U)
#define TRACE_MAX_DATA		(TRACE_PAGE_SIZE - 2 * sizeof(u32))
/* What a time extend can hold; past it, a new page is the way to tell time. */
#define TRACE_MAX_DELTA		((1ULL << (RB_WRITER_TS_SHIFT + 32)) - 1)

static struct trace_ring_entry *trace_ring_entry(struct trace_ring *ring, u32 i)
{
	return &ring->dir[i / TRACE_RING_LEAF_ENTRIES][i % TRACE_RING_LEAF_ENTRIES];
}

/**
 * trace_ring_init - begin to set up a ring
 * @ring:	the ring
 * @meta:	its meta page, zeroed
 * @dir:	a page to name the leaf pages in
 * @max_pages:	pages it will have, the reader's included
 *
 * Return: 0, or -EINVAL for a number of pages out of range.
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
	};

	return 0;
}

/**
 * trace_ring_add_leaf - give a ring a page for TRACE_RING_LEAF_ENTRIES entries
 * @ring:	the ring
 * @leaf:	the page
 *
 * Return: 0, or -ENOSPC when the ring needs no more of them.
 */
int trace_ring_add_leaf(struct trace_ring *ring, struct trace_ring_entry *leaf)
{
	if (ring->nr_leaves >= TRACE_RING_LEAVES(ring->max_pages))
		return -ENOSPC;

	ring->dir[ring->nr_leaves++] = leaf;
	return 0;
}

/**
 * trace_ring_add_page - give a ring its next page
 * @ring:	the ring
 * @page:	the page; its id is the number of pages added before
 *
 * Return: 0, or -ENOSPC when the ring has them all or its leaf is missing.
 */
int trace_ring_add_page(struct trace_ring *ring, struct ring_buffer_writer_page *page)
{
	u32 id = ring->nr_pages;

	if (id >= ring->max_pages || id / TRACE_RING_LEAF_ENTRIES >= ring->nr_leaves)
		return -ENOSPC;

	*trace_ring_entry(ring, id) = (struct trace_ring_entry) {
		.slot	= TRACE_SLOT(id, id),
		.page	= page,
	};
	ring->nr_pages++;
	return 0;
}

/**
 * trace_ring_pop_page - take back the page that was added last
 * @ring:	the ring, which can't be used any more
 *
 * Return: the page, or NULL when there is none left.
 */
struct ring_buffer_writer_page *trace_ring_pop_page(struct trace_ring *ring)
{
	if (!ring->nr_pages)
		return NULL;

	return trace_ring_entry(ring, --ring->nr_pages)->page;
}

/**
 * trace_ring_pop_leaf - take back the leaf that was added last
 * @ring:	the ring, without pages
 *
 * Return: the leaf, or NULL when there is none left or pages still need it.
 */
struct trace_ring_entry *trace_ring_pop_leaf(struct trace_ring *ring)
{
	if (!ring->nr_leaves || ring->nr_pages)
		return NULL;

	return ring->dir[--ring->nr_leaves];
}

static void trace_ring_fill_meta(struct trace_ring *ring)
{
	struct trace_buffer_meta *meta = &ring->meta->meta;

	meta->meta_page_size = PAGE_SIZE;
	meta->meta_struct_len = sizeof(*meta);
	meta->subbuf_size = PAGE_SIZE;
	meta->nr_subbufs = ring->max_pages;
	meta->reader.id = ring->reader_id;
}

/**
 * trace_ring_start - make a ring ready that has all its pages
 * @ring:	the ring
 *
 * The writer is on page 0, the last page is the reader's.
 *
 * Return: 0, or -EINVAL when pages are missing.
 */
int trace_ring_start(struct trace_ring *ring)
{
	if (ring->nr_pages != ring->max_pages)
		return -EINVAL;

	ring->reader_id = ring->nr_slots;
	ring->write = TRACE_RING_FRESH;
	ring->page = trace_ring_entry(ring, 0)->page;
	WRITE_ONCE(ring->page->commit, 0);
	trace_ring_fill_meta(ring);
	return 0;
}

/*
 * Take the page at @pos, the writer's next; see the states above. The slot
 * holds @pos (free), or @pos - nr_slots (free if that is before base, else
 * unread).
 */
static u32 trace_ring_take_slot(struct trace_ring *ring, u32 slot, u64 pos)
{
	struct trace_ring_entry *entry = trace_ring_entry(ring, slot);
	u64 old = smp_load_acquire(&entry->slot);	/* (D) */
	u32 id = TRACE_SLOT_ID(old);

	if (TRACE_SLOT_POS(old) == (u32)pos)
		return id;

	if (pos < ring->base + ring->nr_slots) {
		WRITE_ONCE(entry->slot, TRACE_SLOT(pos, id));
		return id;
	}

	/* If it fails the reader has been there, and does not come again. */
	if (!try_cmpxchg(&entry->slot, &old, TRACE_SLOT(pos, id)))
		return TRACE_SLOT_ID(smp_load_acquire(&entry->slot));	/* (D) */

	entry = trace_ring_entry(ring, id);
	ring->overrun_bytes += entry->nr_bytes;
	smp_store_release(&ring->overrun, ring->overrun + entry->nr_events);	/* (C) */
	WRITE_ONCE(ring->meta->meta.overrun, ring->overrun);
	WRITE_ONCE(ring->meta->overrun_bytes, ring->overrun_bytes);
	return id;
}

/* The page at tail is done: note what it holds. */
static void trace_ring_leave_page(struct trace_ring *ring)
{
	struct trace_ring_entry *entry = trace_ring_entry(ring, ring->page_id);

	entry->nr_events = ring->entries - ring->page_entries;
	entry->nr_bytes = entry->nr_events ? ring->write : 0;
	ring->bytes += entry->nr_bytes;
	WRITE_ONCE(ring->meta->bytes, ring->bytes);
	WRITE_ONCE(ring->meta->meta.entries, ring->entries);
}

static noinline void trace_ring_next_page(struct trace_ring *ring)
{
	u32 slot = ring->tail_slot + 1 < ring->nr_slots ? ring->tail_slot + 1 : 0;
	u64 pos = ring->tail + 1;

	WRITE_ONCE(ring->meta->next, pos);
	smp_wmb();					/* (G) */

	trace_ring_leave_page(ring);
	ring->page_id = trace_ring_take_slot(ring, slot, pos);
	ring->page = trace_ring_entry(ring, ring->page_id)->page;
	ring->write = TRACE_RING_FRESH;
	ring->page_entries = ring->entries;
	ring->tail_slot = slot;
	WRITE_ONCE(ring->page->commit, 0);

	smp_store_release(&ring->tail, pos);		/* (B) */
	smp_store_release(&ring->meta->tail, pos);	/* (B) */
}

static u32 *trace_ring_put(struct trace_ring *ring, u32 word)
{
	u32 *p = (u32 *)&ring->page->data[ring->end];

	*p = word;
	ring->end += sizeof(word);
	return p + 1;
}

/* Is there room for @need bytes, and a time extend if @delta takes one? */
static bool trace_ring_fits(struct trace_ring *ring, u32 need, u64 delta)
{
	if (delta > RB_WRITER_TS_MASK)
		need += 2 * sizeof(u32);

	return trace_ring_used(ring) + need <= TRACE_PAGE_SIZE && delta <= TRACE_MAX_DELTA;
}

/**
 * trace_ring_reserve - begin an event
 * @ring:	the ring
 * @size:	bytes of data
 * @ts:		its time, ns; taken for that of the event before if it is
 *		earlier, since time in a ring never goes backwards
 *
 * Context: on the ring's CPU. One event is open at a time; an event that is
 * begun and not committed is as if it had never been.
 * Return: where to write the data, aligned to 4 bytes; NULL when @size does
 * not fit on a page, and the event is counted as dropped.
 */
void *trace_ring_reserve(struct trace_ring *ring, unsigned int size, u64 ts)
{
	u32 words = TRACE_ALIGN(size) / sizeof(u32) + !size;
	u32 length = words * sizeof(u32);
	bool is_long = length > RB_WRITER_MAX_SHORT;
	u64 delta;
	u32 *data;

	if (size > TRACE_MAX_DATA) {
		trace_ring_drop(ring);
		return NULL;
	}

	ts = max(ts, ring->time_stamp);
	delta = trace_ring_used(ring) ? ts - ring->time_stamp : 0;

	if (!trace_ring_fits(ring, length + (1 + is_long) * sizeof(u32), delta)) {
		trace_ring_next_page(ring);
		delta = 0;
	}
	ring->end = trace_ring_used(ring);
	if (!ring->end)
		WRITE_ONCE(ring->page->time_stamp, ts);

	ring->open_stamp = ts;
	if (delta > RB_WRITER_TS_MASK) {
		trace_ring_put(ring, rb_writer_header(RB_WRITER_TIME_EXTEND,
						      delta & RB_WRITER_TS_MASK));
		trace_ring_put(ring, delta >> RB_WRITER_TS_SHIFT);
		delta = 0;
	}
	data = trace_ring_put(ring, rb_writer_header(is_long ? 0 : words, delta));
	if (is_long)
		data = trace_ring_put(ring, length + sizeof(u32));
	ring->end += length;

	return data;
}

/**
 * trace_ring_commit - end an event: from now on the reader sees it
 * @ring:	the ring
 *
 * Context: on the ring's CPU, after trace_ring_reserve() has given memory.
 */
void trace_ring_commit(struct trace_ring *ring)
{
	const struct trace_ring_event event = {
		.page	= ring->page,
		.end	= ring->end,
		.ts	= ring->open_stamp,
		.entries = ring->entries + 1,
	};

	trace_ring_close(ring, &event);
}

/**
 * trace_ring_drop - count an event that can't be written
 * @ring:	the ring
 *
 * Context: on the ring's CPU.
 */
void trace_ring_drop(struct trace_ring *ring)
{
	ring->dropped++;
	WRITE_ONCE(ring->meta->dropped, ring->dropped);
}

/* The oldest position that can still be read, by the tail given. */
static u64 trace_ring_oldest(struct trace_ring *ring, u64 tail)
{
	u64 oldest = tail >= ring->nr_slots ? tail - ring->nr_slots + 1 : 0;

	return max3(oldest, ring->head, ring->base);
}

/* @is_complete: by (B) what the writer noted of the page is final, too. */
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
 * Context: anywhere, serialised by the caller.
 * Return: the id of the reader's new page; -ENODATA when the writer has begun
 * none since the one the reader has; -EAGAIN when the writer overwrote each
 * page that was tried.
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

/**
 * trace_ring_reset - forget all events, those on the reader's page included
 * @ring:	the ring
 *
 * The next event begins a page. Time still does not go backwards.
 *
 * Context: on the ring's CPU or while that writes nothing; serialised with
 * trace_ring_swap_reader() by the caller.
 */
void trace_ring_reset(struct trace_ring *ring)
{
	struct ring_buffer_writer_meta *meta = ring->meta;

	ring->base = ring->tail + 1;
	ring->write = TRACE_PAGE_SIZE;
	ring->page_entries = 0;
	ring->entries = 0;
	ring->dropped = 0;
	ring->overrun = 0;
	ring->reader_overrun = 0;
	ring->bytes = 0;
	ring->overrun_bytes = 0;

	WRITE_ONCE(meta->base, ring->base);
	/* Where it is all along: for who may have scribbled over it. */
	WRITE_ONCE(meta->next, ring->tail);
	WRITE_ONCE(meta->tail, ring->tail);
	WRITE_ONCE(meta->dropped, 0);
	WRITE_ONCE(meta->bytes, 0);
	WRITE_ONCE(meta->overrun_bytes, 0);
	WRITE_ONCE(meta->meta.overrun, 0);
	WRITE_ONCE(meta->meta.reader.lost_events, 0);
	WRITE_ONCE(meta->meta.entries, 0);
}
