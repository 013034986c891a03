// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a remote writer's events without consuming them
 *
 * An iterator shows what a CPU's ring had when the iterator was started: from the event
 * that a consuming reader would get next to the last one written by then.
 *
 * It goes from position to position, and copies each page whole. The writer does not wait
 * for an iterator and may overwrite the page. A consuming reader may swap it. So the page at
 * iter->span.pos is
 *
 *	wanted	 if it is in its slot, or is the reader's
 *	copied	 if it still was when the copy was done, by (G): the events are shown from
 *		 the copy, whatever happens to the page
 *	gone	 otherwise. The iterator goes on at the oldest page. The numbers of the
 *		 events show how many are missing. Those that a consuming reader has
 *		 consumed meanwhile are not lost
 *
 * Locking: rb_reader.lock covers struct rb_reader and what an iterator knows of the ring
 * (@span). The rest is the owner's.
 *
 * The letters of memory orderings, (B) and so on, are explained in trace_ring.c.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/slab.h>

#include "ring_buffer_reader_internal.h"

/**
 * struct ring_buffer_reader_iter - an iterator over the ring of one CPU
 * @reader:	the CPU's
 * @span:	what it has to show yet, for readers that consume events
 * @nr_resets:	rb_reader.nr_resets at the start. If that has changed the events are gone
 * @last_pos:	position of the last page to copy
 * @number:	of the event that is shown, or shown next
 * @lost:	events missing before that one; ULONG_MAX if the number is not known
 * @page:	a copy of a page, as far as it was written
 * @walk:	where the iterator is on @page; @walk.length is 0 if it is at no event
 */
struct ring_buffer_reader_iter {
	struct rb_reader			*reader;
	struct rb_reader_span			span;
	unsigned int				nr_resets;
	u64					last_pos;
	u64					number;
	unsigned long				lost;
	struct ring_buffer_writer_page		*page;
	struct ring_buffer_reader_walk		walk;
};

/* The page at iter->span.pos is gone: go to one that is there. False if not now. */
static bool rb_iter_skip(struct ring_buffer_reader_iter *iter)
{
	u64 pos, number;

	if (!rb_reader_oldest_from(iter->reader, iter->span.pos, &pos, &number))
		return false;

	number = min(number, iter->span.end);
	iter->lost += number - iter->number - iter->span.consumed;
	iter->span.consumed = 0;
	iter->number = number;
	iter->span.pos = pos;
	return true;
}

/* Copy a page, as far as it is written. False if the writer has overwritten it meanwhile. */
static bool rb_iter_copy(struct ring_buffer_reader_iter *iter,
			 const struct ring_buffer_writer_page *page)
{
	unsigned int commit = rb_writer_commit(page);
	bool copied = rb_reader_copy_page_at(iter->reader, iter->span.pos, page, commit,
					     iter->page);

	rb_walk_start(&iter->walk, iter->page, commit, 0, iter->page->time_stamp);
	return copied;
}

static bool rb_iter_at_end(struct ring_buffer_reader_iter *iter)
{
	struct rb_reader *reader = iter->reader;

	/* A correct writer's tail never goes back. A corrupted one bounds the loop, too. */
	return iter->number >= iter->span.end || iter->span.pos > iter->last_pos ||
	       iter->span.pos > READ_ONCE(reader->meta->tail) ||
	       iter->nr_resets != reader->nr_resets;
}

enum rb_iter_result { RB_ITER_END, RB_ITER_COPIED, RB_ITER_BUSY };

/* Copy the next page, unless the writer is faster or goes to its next page. */
static enum rb_iter_result rb_iter_try_page(struct ring_buffer_reader_iter *iter)
{
	struct ring_buffer_writer_page *page;
	int i;

	lockdep_assert_held(iter->reader->lock);

	for (i = 0; i < RB_READER_TRIES; i++) {
		if (rb_iter_at_end(iter))
			return RB_ITER_END;

		page = rb_reader_page_at(iter->reader, iter->span.pos);
		if (page && rb_iter_copy(iter, page)) {
			iter->span.pos++;
			return RB_ITER_COPIED;
		}
		iter->walk.commit = 0;
		if (!rb_iter_skip(iter))
			cpu_relax();
	}

	return RB_ITER_BUSY;
}

/* Copy the next page. False at the end. */
static bool rb_iter_next_page(struct ring_buffer_reader_iter *iter)
{
	enum rb_iter_result result;
	int i;

	for (i = 0; i < RB_READER_ROUNDS; i++) {
		scoped_guard(raw_spinlock_irqsave, iter->reader->lock)
			result = rb_iter_try_page(iter);
		if (result != RB_ITER_BUSY)
			return result == RB_ITER_COPIED;
		fsleep(RB_READER_ROUND_US);
	}

	/* The writer stopped between two pages. The number of lost events is not known. */
	iter->lost = ULONG_MAX;
	iter->span.end = 0;
	return false;
}

/**
 * ring_buffer_reader_iter_peek - the event to be shown next
 * @iter:	the iterator
 * @ts:		its time
 *
 * Context: process context, may sleep; the caller has @iter alone.
 * Return: the event, until ring_buffer_reader_iter_advance(); NULL at the end.
 */
struct ring_buffer_event *
ring_buffer_reader_iter_peek(struct ring_buffer_reader_iter *iter, u64 *ts)
{
	while (!iter->walk.length) {
		if (iter->number >= iter->span.end)
			return NULL;
		if (!rb_walk_next(&iter->walk) && !rb_iter_next_page(iter))
			return NULL;
	}

	*ts = iter->walk.ts;
	return (struct ring_buffer_event *)&iter->page->data[iter->walk.offset];
}

/**
 * ring_buffer_reader_iter_lost - events that are missing here
 * @iter:	the iterator, after ring_buffer_reader_iter_peek()
 *
 * Return: how many were lost before the event that was peeked at, or at the
 * end if there was none; ULONG_MAX for some, when they can't be counted.
 */
unsigned long ring_buffer_reader_iter_lost(struct ring_buffer_reader_iter *iter)
{
	return iter->lost;
}

/**
 * ring_buffer_reader_iter_advance - go past the event that was peeked at
 * @iter:	the iterator
 *
 * At the end, past what was lost there.
 *
 * Context: as ring_buffer_reader_iter_peek().
 */
void ring_buffer_reader_iter_advance(struct ring_buffer_reader_iter *iter)
{
	iter->lost = 0;
	if (!iter->walk.length)
		return;

	iter->walk.offset += iter->walk.length;
	iter->walk.length = 0;
	iter->number++;
}

/* Set the end. False if the writer is going to its next page. */
static bool rb_iter_try_end(struct ring_buffer_reader_iter *iter)
{
	struct rb_reader *reader = iter->reader;
	struct rb_writer_state state;

	if (rb_writer_wait_state(reader, &state)) {
		iter->span.end = state.entries;
		iter->last_pos = state.tail;
		return true;
	}

	/* This may not include the page that the writer is leaving. */
	iter->span.end = smp_load_acquire(&reader->meta->meta.entries);	/* (N) */
	iter->last_pos = smp_load_acquire(&reader->meta->tail);		/* (B) */
	return false;
}

/* Copy the rest of the reader's page. */
static void rb_iter_copy_rest(struct ring_buffer_reader_iter *iter)
{
	struct rb_reader *reader = iter->reader;
	unsigned int offset = reader->consumed.offset;

	if (reader->pos == RB_READER_NOWHERE || offset >= rb_writer_commit(rb_reader_page(reader)))
		return;

	rb_iter_copy(iter, rb_reader_page(reader));
	iter->walk.offset = offset;
	if (offset)
		iter->walk.ts = reader->consumed.stamp;
}

/* Start where a consuming reader is. False if the writer is going to its next page. */
static bool rb_iter_try_start(struct ring_buffer_reader_iter *iter)
{
	struct rb_reader *reader = iter->reader;
	bool done;

	lockdep_assert_held(reader->lock);

	done = rb_iter_try_end(iter);
	iter->nr_resets = reader->nr_resets;
	iter->span.pos = reader->pos + 1;
	iter->number = reader->consumed.nr + reader->overrun;

	/* Lost before the reader's page, and not reported yet. */
	iter->lost = reader->consumed.lost;

	rb_walk_start(&iter->walk, iter->page, 0, 0, 0);
	rb_iter_copy_rest(iter);
	return done;
}

static void rb_iter_start(struct ring_buffer_reader_iter *iter)
{
	bool done = false;
	int i;

	for (i = 0; i < RB_READER_ROUNDS && !done; i++) {
		if (i)
			fsleep(RB_READER_ROUND_US);
		scoped_guard(raw_spinlock_irqsave, iter->reader->lock) {
			done = rb_iter_try_start(iter);
			if (done || i == RB_READER_ROUNDS - 1)
				list_add(&iter->span.list, &iter->reader->iters);
		}
	}
}

/**
 * ring_buffer_reader_iter_start - begin to read events without consuming them
 * @buffer:	a buffer from ring_buffer_reader(), which stays until
 *		ring_buffer_reader_iter_finish()
 * @cpu:	the CPU
 *
 * Context: process context, may sleep.
 * Return: the iterator, for ring_buffer_reader_iter_finish(); an ERR_PTR() of
 * -EINVAL when @buffer has no ring for @cpu, or of -ENOMEM.
 */
struct ring_buffer_reader_iter *
ring_buffer_reader_iter_start(struct trace_buffer *buffer, int cpu)
{
	struct ring_buffer_reader_iter *iter;

	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return ERR_PTR(-EINVAL);

	iter = kzalloc(sizeof(*iter), GFP_KERNEL_ACCOUNT);
	if (!iter)
		return ERR_PTR(-ENOMEM);

	iter->page = (void *)__get_free_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!iter->page) {
		kfree(iter);
		return ERR_PTR(-ENOMEM);
	}

	iter->reader = rb_reader_of(buffer, cpu);
	rb_iter_start(iter);
	return iter;
}

/**
 * ring_buffer_reader_iter_finish - undo ring_buffer_reader_iter_start()
 * @iter:	the iterator; an ERR_PTR() or NULL will do
 *
 * Context: process context.
 */
void ring_buffer_reader_iter_finish(struct ring_buffer_reader_iter *iter)
{
	if (IS_ERR_OR_NULL(iter))
		return;

	scoped_guard(raw_spinlock_irqsave, iter->reader->lock)
		list_del(&iter->span.list);

	free_page((unsigned long)iter->page);
	kfree(iter);
}
