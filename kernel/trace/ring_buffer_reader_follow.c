// SPDX-License-Identifier: GPL-2.0
/*
 * Following a remote writer's events, without consuming them
 *
 * A follower sees each event of a CPU's ring once, in the order of the writer, from when it was
 * started. As an iterator it copies pages and takes nothing away. But it has no end: it comes back
 * to the page being written, and goes on behind what it saw there.
 *
 * The page at follower->pos is
 *
 *	wanted	 if it is in its slot, or is the reader's: it is copied, and seen up to
 *		 follower->offset
 *	kept	 if the consuming reader gave it back before it was seen. The reader copies it for
 *		 the follower before it swaps it. A follower keeps one page, so a consuming
 *		 reader has it see that page before the next swap
 *	gone	 otherwise. The follower goes on at the oldest page there is. The numbers of the
 *		 events show how many it missed
 *
 * Locking: rb_reader.lock covers struct rb_reader, and of a follower what is kept. The rest is the
 * owner's.
 *
 * The letters of memory orderings, (B) and so on, are explained in trace_ring.c.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/slab.h>

#include "ring_buffer_reader_internal.h"

/**
 * struct ring_buffer_reader_follower - follows the ring of one CPU
 * @reader:	the CPU's
 * @kept:	a page that the consuming reader has given back
 * @nr_resets:	rb_reader.nr_resets when the page was copied. If that has changed the events are
 *		gone
 * @pos:	position of the page that it is on
 * @offset:	bytes of that page that it has gone past
 * @ts:		time of the last event there
 * @whole:	@page is a copy of all that the page has
 * @number:	number of the next event
 * @lost:	events missing before that one
 * @page:	a copy of the page, as far as it was written
 * @walk:	where the follower is on @page; @walk.length is 0 if it is at no event
 */
struct ring_buffer_reader_follower {
	struct rb_reader			*reader;
	struct rb_reader_kept			kept;
	unsigned int				nr_resets;
	u64					pos;
	unsigned int				offset;
	u64					ts;
	bool					whole;
	u64					number;
	unsigned long				lost;
	struct ring_buffer_writer_page		*page;
	struct ring_buffer_reader_walk		walk;
};

static void rb_follow_set_pos(struct ring_buffer_reader_follower *follower, u64 pos)
{
	follower->pos = pos;
	follower->offset = 0;
	follower->kept.wanted = pos;
	follower->kept.copied = 0;
}

/* The events were cleared: go on at the first page there is. Their numbers begin at 0. */
static void rb_follow_reset(struct ring_buffer_reader_follower *follower)
{
	follower->nr_resets = follower->reader->nr_resets;
	follower->number = 0;
	follower->lost = 0;
	follower->whole = false;
	follower->kept.has_page = false;
	rb_follow_set_pos(follower, 0);
}

enum rb_follow_result { RB_FOLLOW_NONE, RB_FOLLOW_COPIED, RB_FOLLOW_AGAIN };

/* The page at follower->pos is gone: go to one that is there. */
static enum rb_follow_result rb_follow_skip(struct ring_buffer_reader_follower *follower)
{
	struct rb_reader_kept *kept = &follower->kept;
	u64 pos, number;

	if (kept->has_page) {
		pos = kept->pos;
		number = kept->number;
	} else if (!rb_reader_oldest_from(follower->reader, follower->pos, &pos, &number)) {
		return RB_FOLLOW_NONE;
	}

	/* In a corrupted ring numbers may go back. */
	if (number > follower->number)
		follower->lost += number - follower->number;
	follower->number = number;
	rb_follow_set_pos(follower, pos);
	return RB_FOLLOW_AGAIN;
}

/* Begin to walk over what is on the copy and was not seen yet. */
static enum rb_follow_result rb_follow_walk(struct ring_buffer_reader_follower *follower,
					    unsigned int commit, bool whole)
{
	u64 ts = follower->offset ? follower->ts : follower->page->time_stamp;

	rb_walk_start(&follower->walk, follower->page, commit, follower->offset, ts);
	follower->whole = whole;
	follower->kept.wanted = follower->pos + whole;
	follower->kept.copied = whole ? 0 : commit;
	return RB_FOLLOW_COPIED;
}

/* The page at follower->pos: the one that was kept */
static enum rb_follow_result rb_follow_kept(struct ring_buffer_reader_follower *follower)
{
	struct rb_reader_kept *kept = &follower->kept;

	swap(follower->page, kept->page);
	kept->has_page = false;
	return rb_follow_walk(follower, follower->page->commit, true);
}

/* The page at follower->pos: one that is in the ring */
static enum rb_follow_result rb_follow_page(struct ring_buffer_reader_follower *follower)
{
	struct rb_reader *reader = follower->reader;
	u64 tail = smp_load_acquire(&reader->meta->tail);	/* (B) */
	bool whole = follower->pos < tail;
	struct ring_buffer_writer_page *page;
	unsigned int commit;

	if (follower->pos > tail)
		return RB_FOLLOW_NONE;

	page = rb_reader_page_at(reader, follower->pos);
	if (!page)
		return rb_follow_skip(follower);

	commit = rb_writer_commit(page);
	if (commit <= follower->offset && !whole)
		return RB_FOLLOW_NONE;
	commit = max(commit, follower->offset);
	if (!rb_reader_copy_page_at(reader, follower->pos, page, commit, follower->page))
		return rb_follow_skip(follower);

	return rb_follow_walk(follower, commit, whole);
}

/* Copy what there is to see. */
static enum rb_follow_result rb_follow_copy(struct ring_buffer_reader_follower *follower)
{
	enum rb_follow_result result = RB_FOLLOW_AGAIN;
	struct rb_reader *reader = follower->reader;
	int i;

	lockdep_assert_held(reader->lock);

	if (follower->nr_resets != reader->nr_resets)
		rb_follow_reset(follower);
	if (follower->whole) {
		follower->whole = false;
		rb_follow_set_pos(follower, follower->pos + 1);
	}

	for (i = 0; i < RB_READER_TRIES && result == RB_FOLLOW_AGAIN; i++) {
		if (follower->kept.has_page && follower->kept.pos == follower->pos)
			result = rb_follow_kept(follower);
		else
			result = rb_follow_page(follower);
	}

	return result;
}

/**
 * ring_buffer_reader_follow_page - go on at the next page, or with what was written meanwhile
 * @follower:	the follower, of which ring_buffer_reader_follow_next() has returned NULL
 *
 * Context: process context; the caller has @follower alone.
 * Return: whether there may be something to see; false if there is nothing now.
 */
bool ring_buffer_reader_follow_page(struct ring_buffer_reader_follower *follower)
{
	raw_spinlock_t *lock = follower->reader->lock;
	enum rb_follow_result result;
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	result = rb_follow_copy(follower);
	raw_spin_unlock_irqrestore(lock, flags);

	return result == RB_FOLLOW_COPIED;
}

/**
 * ring_buffer_reader_follow_next - the next event of the page
 * @follower:	the follower
 * @ts:		its time, ns
 * @lost:	how many events are missing before it
 *
 * Context: process context; the caller has @follower alone.
 * Return: the event, until the next call for @follower; NULL if ring_buffer_reader_follow_page()
 * has to be called first.
 */
struct ring_buffer_event *
ring_buffer_reader_follow_next(struct ring_buffer_reader_follower *follower, u64 *ts,
			       unsigned long *lost)
{
	struct ring_buffer_reader_walk *walk = &follower->walk;

	if (!walk->commit)
		return NULL;

	if (!rb_walk_next(walk)) {
		/* What is not an event ends a page. */
		follower->offset = walk->commit;
		walk->commit = 0;
		return NULL;
	}

	follower->ts = walk->ts;
	follower->number++;
	*ts = walk->ts;
	*lost = follower->lost;
	follower->lost = 0;
	return (struct ring_buffer_event *)&follower->page->data[walk->offset];
}

/**
 * ring_buffer_reader_follow_pages - how many pages a ring can have that were not seen yet
 * @follower:	the follower
 *
 * Return: the number of calls of ring_buffer_reader_follow_page() that see all that the ring has
 * at a moment.
 */
unsigned int ring_buffer_reader_follow_pages(const struct ring_buffer_reader_follower *follower)
{
	/* The slots, the reader's page, the one that is kept, and what is on @page */
	return follower->reader->nr_slots + 3;
}

/* Go behind what is written by now. False while the writer goes to its next page. */
static bool rb_follow_try_start(struct ring_buffer_reader_follower *follower)
{
	struct rb_reader *reader = follower->reader;
	struct ring_buffer_writer_page *page;
	struct rb_writer_state state;
	unsigned int seen = 0;
	bool done;

	lockdep_assert_held(reader->lock);

	done = rb_writer_wait_state(reader, &state);
	follower->nr_resets = reader->nr_resets;
	follower->number = state.entries;
	rb_follow_set_pos(follower, state.tail);

	page = rb_reader_page_at(reader, state.tail);
	if (page && reader->count.pos == state.tail)
		seen = reader->count.offset;
	if (!seen || !rb_reader_copy_page_at(reader, state.tail, page, seen, follower->page))
		return done;

	follower->offset = seen;
	follower->kept.copied = seen;
	rb_walk_start(&follower->walk, follower->page, seen, 0, follower->page->time_stamp);
	while (rb_walk_next(&follower->walk))
		;
	follower->ts = follower->walk.ts;
	follower->walk.commit = 0;
	return done;
}

/* As rb_follow_try_start(). If the writer stops between two pages, some may be reported lost. */
static void rb_follow_start(struct ring_buffer_reader_follower *follower)
{
	bool done = false;
	int i;

	for (i = 0; i < RB_READER_ROUNDS && !done; i++) {
		if (i)
			fsleep(RB_READER_ROUND_US);
		scoped_guard(raw_spinlock_irqsave, follower->reader->lock)
			done = rb_follow_try_start(follower);
	}
}

static void rb_follow_free(struct ring_buffer_reader_follower *follower)
{
	free_page((unsigned long)follower->page);
	free_page((unsigned long)follower->kept.page);
	kfree(follower);
}

static struct ring_buffer_reader_follower *rb_follow_alloc(void)
{
	struct ring_buffer_reader_follower *follower = kzalloc(sizeof(*follower), GFP_KERNEL);

	if (!follower)
		return NULL;

	follower->page = (void *)__get_free_page(GFP_KERNEL | __GFP_ZERO);
	follower->kept.page = (void *)__get_free_page(GFP_KERNEL | __GFP_ZERO);
	if (follower->page && follower->kept.page)
		return follower;

	rb_follow_free(follower);
	return NULL;
}

/**
 * ring_buffer_reader_follow_start - begin to follow the events of a CPU
 * @buffer:	a buffer from ring_buffer_reader(), which stays until
 *		ring_buffer_reader_follow_finish()
 * @cpu:	the CPU
 * @from_first:	from the first event of the ring on; else from the next one that is written
 *
 * Context: process context, may sleep.
 * Return: the follower, for ring_buffer_reader_follow_finish(); an ERR_PTR() of -EINVAL when
 * @buffer has no ring for @cpu, or of -ENOMEM.
 */
struct ring_buffer_reader_follower *
ring_buffer_reader_follow_start(struct trace_buffer *buffer, int cpu, bool from_first)
{
	struct ring_buffer_reader_follower *follower;

	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return ERR_PTR(-EINVAL);

	follower = rb_follow_alloc();
	if (!follower)
		return ERR_PTR(-ENOMEM);

	follower->reader = rb_reader_of(buffer, cpu);
	if (!from_first)
		rb_follow_start(follower);

	scoped_guard(raw_spinlock_irqsave, follower->reader->lock) {
		if (from_first)
			rb_follow_reset(follower);
		list_add(&follower->kept.list, &follower->reader->followers);
	}

	return follower;
}

/**
 * ring_buffer_reader_follow_finish - undo ring_buffer_reader_follow_start()
 * @follower:	the follower; an ERR_PTR() or NULL will do
 *
 * Context: process context.
 */
void ring_buffer_reader_follow_finish(struct ring_buffer_reader_follower *follower)
{
	if (IS_ERR_OR_NULL(follower))
		return;

	scoped_guard(raw_spinlock_irqsave, follower->reader->lock)
		list_del(&follower->kept.list);

	rb_follow_free(follower);
}
