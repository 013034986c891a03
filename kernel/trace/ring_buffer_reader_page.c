// SPDX-License-Identifier: GPL-2.0
/*
 * Consuming a remote writer's events by the page
 *
 * The reader validates events before it consumes them, since the pages are shared. What is
 * not an event ends a page. If a page is consumed as a whole after the writer has left it,
 * the writer's count of its events is used, and user space validates the events. A reader
 * gets a page in one of two ways:
 *
 *	copied	 by ring_buffer_reader_read_page(). The page itself stays shared with the
 *		 writer. To replace it would cost far more than the copy
 *	mapped	 by ring_buffer_map(), see ring_buffer_reader.c. User space sees the writer's
 *		 pages, and a meta page of the kernel's instead of the writer's
 *
 * Locking: rb_reader.lock.
 */
#include "ring_buffer_reader_internal.h"

/*
 * All @commit bytes of the reader's page, if they fit in @len bytes and the writer has
 * counted their events.
 */
static bool rb_reader_get_whole(struct rb_reader *reader, unsigned int commit, unsigned int len,
				struct rb_batch *batch)
{
	u64 nr = reader->entries;

	if (reader->consumed.offset || commit > len || !nr || nr > commit / RB_WRITER_MIN_EVENT)
		return false;

	/* The next page has a time of its own. */
	*batch = (struct rb_batch) {
		.bytes	= commit,
		.nr	= nr,
		.stamp	= reader->consumed.stamp,
	};
	return true;
}

/* The next events of the reader's page, up to @commit, that fit in @len bytes */
void rb_reader_get_batch(struct rb_reader *reader, unsigned int commit, unsigned int len,
			 struct rb_batch *batch)
{
	unsigned int offset = reader->consumed.offset;
	struct ring_buffer_reader_walk walk;

	if (rb_reader_get_whole(reader, commit, len, batch))
		return;

	*batch = (struct rb_batch) { .stamp = reader->consumed.stamp };
	rb_walk_start(&walk, rb_reader_page(reader), commit, offset, batch->stamp);

	while (rb_walk_next(&walk)) {
		if (walk.offset + walk.length - offset > len)
			return;

		batch->stamp = walk.ts;
		batch->bytes = walk.offset + walk.length - offset;
		batch->nr++;
	}

	batch->corrupt = commit - offset - batch->bytes;
}

/* Consume events. */
void rb_reader_consume(struct rb_reader *reader, const struct rb_batch *batch)
{
	struct rb_reader_consumed *consumed = &reader->consumed;

	lockdep_assert_held(reader->lock);

	consumed->offset += batch->bytes + batch->corrupt;
	consumed->bytes += batch->bytes;
	consumed->nr += batch->nr;
	consumed->stamp = batch->stamp;
	rb_reader_publish(reader);
}

/*
 * Write behind the @bytes of events on a page that @lost events are missing before them, if
 * there is room. Returns the page's commit word.
 */
unsigned long rb_page_set_lost(void *data, unsigned int bytes, unsigned long lost)
{
	struct ring_buffer_writer_page *page = data;
	unsigned long commit = bytes | RB_WRITER_MISSED_EVENTS;

	if (!lost)
		return bytes;
	if (RB_WRITER_PAGE_DATA - bytes < sizeof(lost))
		return commit;

	memcpy(&page->data[bytes], &lost, sizeof(lost));
	return commit | RB_WRITER_MISSED_STORED;
}

/*
 * Whether the writer has left the page to read next. If not, a reader of whole pages leaves
 * it where it is, since the writer has not counted its events.
 */
static bool rb_reader_next_is_complete(struct rb_reader *reader)
{
	u64 tail = smp_load_acquire(&reader->meta->tail);	/* (B) */

	if (reader->consumed.offset < rb_writer_commit(rb_reader_page(reader)))
		return tail != reader->pos;
	return rb_writer_oldest(reader, tail) < tail;
}

/* ring_buffer_reader_read_page(), with the lock. Returns the bytes of @copy that are used. */
static int rb_reader_copy_page(struct rb_reader *reader, struct ring_buffer_writer_page *copy,
			       unsigned int len, bool full)
{
	struct rb_reader_consumed *consumed = &reader->consumed;
	struct ring_buffer_writer_page *page;
	struct rb_batch batch;
	unsigned int commit;

	lockdep_assert_held(reader->lock);

	if (full && !rb_reader_next_is_complete(reader))
		return -EAGAIN;

	page = rb_reader_next_page(reader, &commit);
	if (!page)
		return -EAGAIN;

	rb_reader_get_batch(reader, commit, len, &batch);
	if (!batch.bytes) {
		rb_reader_consume(reader, &batch);
		return batch.corrupt ? -EAGAIN : -EMSGSIZE;
	}

	copy->time_stamp = consumed->stamp;
	memcpy(copy->data, &page->data[consumed->offset], batch.bytes);
	copy->commit = rb_page_set_lost(copy, batch.bytes, consumed->lost);
	consumed->lost = 0;
	rb_reader_consume(reader, &batch);

	return batch.bytes + (copy->commit & RB_WRITER_MISSED_STORED ? sizeof(unsigned long) : 0);
}

/**
 * ring_buffer_reader_read_page - consume events, as a page in the kernel's format
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	the CPU
 * @data:	a page to copy the events to. The rest of it is zeroed
 * @len:	bytes of it that may be used
 * @full:	only a page that the writer has left, not the page being written
 *
 * The page's commit word says whether events were lost before these. The number of lost
 * events is behind the events if there is room, as in ring_buffer_read_page().
 *
 * Context: any but NMI.
 * Return: 0; -EAGAIN when there is no page now; -EMSGSIZE when not even the
 * next event fits in @len; -ENODEV when @cpu has no ring.
 */
int ring_buffer_reader_read_page(struct trace_buffer *buffer, int cpu, void *data, size_t len,
				 bool full)
{
	struct ring_buffer_writer_page *copy = data;
	struct rb_reader *reader;
	unsigned long flags;
	int used;

	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return -ENODEV;

	reader = rb_reader_of(buffer, cpu);
	if (len <= sizeof(*copy))
		return -EMSGSIZE;

	len = min_t(size_t, len, PAGE_SIZE) - sizeof(*copy);

	raw_spin_lock_irqsave(reader->lock, flags);
	used = rb_reader_copy_page(reader, copy, len, full);
	raw_spin_unlock_irqrestore(reader->lock, flags);
	if (used < 0)
		return used;

	memset(&copy->data[used], 0, RB_WRITER_PAGE_DATA - used);
	return 0;
}
