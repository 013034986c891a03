// SPDX-License-Identifier: GPL-2.0
/*
 * Taking a remote writer's events one by one, without a lock for each
 *
 * Included by ring_buffer.c after ring_buffer_reader_page.c; see ring_buffer_reader.c. A
 * cursor goes over a copy of what there was on the reader's page; the ring is told how far
 * it went when it needs more, and in the end:
 *
 *	reader's page	| read before | gone past | to come | written since |
 *	                              bpage->read cursor->offset
 *	                                                    cursor->commit
 *
 * Events are validated in the copy, which nobody else writes.
 *
 * Locking: while there is a cursor nobody else takes events of the CPU or forgets them,
 * which is for its owner to see to; else those gone past are read twice. What the ring is
 * told, and the copy, is done under cpu_buffer->reader_lock.
 */

/* The events gone past are read. */
static void rb_cursor_take(struct ring_buffer_reader_cursor *cursor)
{
	struct ring_buffer_per_cpu *cpu_buffer = cursor->cpu_buffer;
	struct buffer_page *bpage = cpu_buffer->reader_page;

	lockdep_assert_held(&cpu_buffer->reader_lock);

	if (!cursor->nr || cursor->nr_resets != cpu_buffer->reader->nr_resets)
		return;

	cpu_buffer->read_bytes += cursor->offset - bpage->read;
	cpu_buffer->read += cursor->nr;
	cpu_buffer->read_stamp = cursor->stamp;
	cpu_buffer->lost_events = 0;
	bpage->read = cursor->offset;
	cursor->nr = 0;
}

/* All that was copied is gone past, but for what is no event. */
static void rb_cursor_end_page(struct ring_buffer_reader_cursor *cursor)
{
	struct ring_buffer_per_cpu *cpu_buffer = cursor->cpu_buffer;

	rb_cursor_take(cursor);
	if (cursor->nr_resets == cpu_buffer->reader->nr_resets)
		cpu_buffer->reader_page->read = max(cpu_buffer->reader_page->read, cursor->commit);
	cursor->commit = 0;
}

/* Copy what is left of the reader's page, or the next one. False when there is nothing. */
static bool rb_cursor_copy(struct ring_buffer_reader_cursor *cursor)
{
	struct ring_buffer_per_cpu *cpu_buffer = cursor->cpu_buffer;
	struct rb_reader *reader = cpu_buffer->reader;
	struct ring_buffer_writer_page *page;
	struct buffer_page *bpage;

	lockdep_assert_held(&cpu_buffer->reader_lock);

	if (cursor->commit)
		rb_cursor_end_page(cursor);

	bpage = rb_writer_get_reader_page(cpu_buffer);
	if (!bpage)
		return false;

	cursor->nr_resets = reader->nr_resets;
	cursor->commit = rb_writer_commit(bpage);
	cursor->offset = bpage->read;
	cursor->stamp = cpu_buffer->read_stamp;
	cursor->lost = cpu_buffer->lost_events;

	page = (void *)bpage->page;
	memcpy(&reader->copy->data[cursor->offset], &page->data[cursor->offset],
	       cursor->commit - cursor->offset);
	return true;
}

static bool rb_cursor_refill(struct ring_buffer_reader_cursor *cursor)
{
	struct ring_buffer_per_cpu *cpu_buffer = cursor->cpu_buffer;
	unsigned long flags;
	bool ret;

	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	ret = rb_cursor_copy(cursor);
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);

	return ret;
}

/* Look up the next event of the copy. What is before it is gone past with it, not before. */
static bool rb_cursor_find(struct ring_buffer_reader_cursor *cursor)
{
	struct ring_buffer_writer_page *copy = cursor->cpu_buffer->reader->copy;
	unsigned int offset = cursor->offset, length;
	u64 ts = cursor->stamp;

	length = rb_writer_find_event(copy, cursor->commit, &offset, &ts);
	if (!length)
		return false;

	cursor->event = (void *)&copy->data[offset];
	cursor->ts = ts;
	cursor->next = offset + length;
	return true;
}

/**
 * ring_buffer_reader_cursor_start - begin to take events of a CPU
 * @cursor:	what with
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	a CPU that has a ring
 *
 * Context: any but NMI. Until ring_buffer_reader_cursor_finish() the caller takes the
 * events of the CPU alone, and nobody forgets them.
 */
void ring_buffer_reader_cursor_start(struct ring_buffer_reader_cursor *cursor,
				     struct trace_buffer *buffer, int cpu)
{
	*cursor = (struct ring_buffer_reader_cursor){ .cpu_buffer = buffer->buffers[cpu] };
}

/**
 * ring_buffer_reader_cursor_peek - the next event
 * @cursor:	the cursor
 *
 * Its time is @cursor->ts then, and what was lost before it @cursor->lost.
 *
 * Context: as ring_buffer_reader_cursor_start().
 * Return: the event, until ring_buffer_reader_cursor_advance(); NULL when there is none now.
 */
struct ring_buffer_event *
ring_buffer_reader_cursor_peek(struct ring_buffer_reader_cursor *cursor)
{
	if (cursor->event || rb_cursor_find(cursor))
		return cursor->event;

	/* A page of what is no event is not waited for, nor gone past in a loop. */
	if (rb_cursor_refill(cursor))
		rb_cursor_find(cursor);
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
	cursor->event = NULL;
	cursor->offset = cursor->next;
	cursor->stamp = cursor->ts;
	cursor->lost = 0;
	cursor->nr++;
	return rb_cursor_find(cursor);
}

/**
 * ring_buffer_reader_cursor_finish - have taken the events that the cursor went past
 * @cursor:	the cursor
 *
 * Context: as ring_buffer_reader_cursor_start().
 */
void ring_buffer_reader_cursor_finish(struct ring_buffer_reader_cursor *cursor)
{
	struct ring_buffer_per_cpu *cpu_buffer = cursor->cpu_buffer;
	unsigned long flags;

	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	rb_cursor_take(cursor);
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);
}
