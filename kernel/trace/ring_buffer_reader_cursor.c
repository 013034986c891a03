// SPDX-License-Identifier: GPL-2.0
/*
 * Consuming a remote writer's events one by one, without a lock for each
 *
 * A cursor walks over a copy of what the reader's page had. When the cursor needs more, and
 * when it finishes, it reports how far it went:
 *
 *	reader's page	| consumed | gone past | not read yet | written since |
 *	                   consumed.offset    cursor->offset
 *	                                                   cursor->walk.commit
 *
 * Locking: while a cursor exists, its owner makes sure that no other reader consumes the CPU's
 * events, and that they are not cleared. Otherwise events are read twice. The copy is made, and the
 * events are consumed, under rb_reader.lock.
 */
#include "ring_buffer_reader_internal.h"

/*
 * Consume the events that the cursor went past, and what follows up to @end and is not an
 * event; nothing if the events were cleared.
 */
static void rb_cursor_consume(struct ring_buffer_reader_cursor *cursor, unsigned int end)
{
	struct rb_reader *reader = cursor->reader;
	struct rb_batch batch;

	lockdep_assert_held(reader->lock);

	if (cursor->nr_resets != reader->nr_resets)
		return;

	batch = (struct rb_batch) {
		.bytes		= cursor->offset - reader->consumed.offset,
		.corrupt	= end - cursor->offset,
		.nr		= cursor->nr,
		.stamp		= cursor->stamp,
	};
	if (cursor->nr)
		reader->consumed.lost = 0;
	rb_reader_consume(reader, &batch);
	cursor->nr = 0;
}

/* Copy the rest of the reader's page, or the next one. False if there is nothing. */
static bool rb_cursor_copy(struct ring_buffer_reader_cursor *cursor)
{
	struct rb_reader *reader = cursor->reader;
	struct rb_reader_consumed *consumed = &reader->consumed;
	struct ring_buffer_writer_page *page;
	unsigned int commit;

	lockdep_assert_held(reader->lock);

	if (cursor->walk.commit) {
		rb_cursor_consume(cursor, cursor->walk.commit);
		cursor->walk.commit = 0;
	}

	page = rb_reader_next_page(reader, &commit);
	if (!page)
		return false;

	cursor->nr_resets = reader->nr_resets;
	cursor->offset = consumed->offset;
	cursor->stamp = consumed->stamp;
	cursor->lost = consumed->lost;
	rb_walk_start(&cursor->walk, reader->copy, commit, cursor->offset, cursor->stamp);

	memcpy(&reader->copy->data[cursor->offset], &page->data[cursor->offset],
	       commit - cursor->offset);
	return true;
}

static bool rb_cursor_refill(struct ring_buffer_reader_cursor *cursor)
{
	raw_spinlock_t *lock = cursor->reader->lock;
	unsigned long flags;
	bool ret;

	raw_spin_lock_irqsave(lock, flags);
	ret = rb_cursor_copy(cursor);
	raw_spin_unlock_irqrestore(lock, flags);

	return ret;
}

/* Go to the next event of the copy. */
static __always_inline bool rb_cursor_next(struct ring_buffer_reader_cursor *cursor)
{
	if (!rb_walk_next(&cursor->walk)) {
		cursor->event = NULL;
		return false;
	}

	cursor->event = (void *)&cursor->reader->copy->data[cursor->walk.offset];
	cursor->ts = cursor->walk.ts;
	return true;
}

/**
 * ring_buffer_reader_cursor_start - begin to consume events of a CPU
 * @cursor:	the cursor
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	a CPU that has a ring
 *
 * Context: any but NMI. Until ring_buffer_reader_cursor_finish() no other reader consumes
 * events of the CPU, and they are not cleared.
 */
void ring_buffer_reader_cursor_start(struct ring_buffer_reader_cursor *cursor,
				     struct trace_buffer *buffer, int cpu)
{
	*cursor = (struct ring_buffer_reader_cursor){ .reader = rb_reader_of(buffer, cpu) };
}

/**
 * ring_buffer_reader_cursor_peek - the next event
 * @cursor:	the cursor
 *
 * Then @cursor->ts is its time, and @cursor->lost the number of events lost before it.
 *
 * Context: as ring_buffer_reader_cursor_start().
 * Return: the event, until ring_buffer_reader_cursor_advance(); NULL when there is none now.
 */
struct ring_buffer_event *
ring_buffer_reader_cursor_peek(struct ring_buffer_reader_cursor *cursor)
{
	if (cursor->event)
		return cursor->event;

	/* A page without an event is consumed by the next call: each looks at one page. */
	if (rb_cursor_refill(cursor))
		rb_cursor_next(cursor);
	return cursor->event;
}

/**
 * ring_buffer_reader_cursor_advance - go past the event that was peeked at
 * @cursor:	the cursor
 *
 * Context: as ring_buffer_reader_cursor_start().
 * Return: whether the copy has another event, which the cursor is at then. If not,
 * ring_buffer_reader_cursor_peek() copies more.
 */
bool ring_buffer_reader_cursor_advance(struct ring_buffer_reader_cursor *cursor)
{
	cursor->offset = cursor->walk.offset + cursor->walk.length;
	cursor->stamp = cursor->ts;
	cursor->lost = 0;
	cursor->nr++;
	return rb_cursor_next(cursor);
}

/**
 * ring_buffer_reader_cursor_finish - consume the events that the cursor went past
 * @cursor:	the cursor
 *
 * Context: as ring_buffer_reader_cursor_start().
 */
void ring_buffer_reader_cursor_finish(struct ring_buffer_reader_cursor *cursor)
{
	raw_spinlock_t *lock = cursor->reader->lock;
	unsigned long flags;

	/* Without a copy nothing was read. */
	if (!cursor->walk.commit)
		return;

	raw_spin_lock_irqsave(lock, flags);
	rb_cursor_consume(cursor, cursor->offset);
	raw_spin_unlock_irqrestore(lock, flags);
}
