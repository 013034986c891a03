// SPDX-License-Identifier: GPL-2.0
/*
 * Looking at a remote writer's events without consuming them
 *
 * Included by ring_buffer.c after ring_buffer_reader_page.c; see
 * ring_buffer_reader.c. An iterator
 * shows what was in the ring of a CPU when it was started: from the event that
 * a consuming reader would get next to the last one written by then.
 *
 * It goes from position to position, and copies each page whole. The writer
 * does not wait for it and may take a page that is looked at; so may a
 * consuming reader give one back. Then
 *
 *	wanted	 the page at iter->pos is in its slot, or is the reader's
 *	copied	 ... and still was when the copy was done, by (G): the events
 *		 are shown from the copy, whatever becomes of the page
 *	gone	 else; the iterator goes on at the oldest page there is. The
 *		 numbers of the events tell how many were missed; those that a
 *		 consuming reader took meanwhile are not lost
 *
 * Locking: struct rb_reader, and with it what an iterator knows of the ring
 * (@list, @pos, @taken), is covered by cpu_buffer->reader_lock. The rest is its
 * owner's.
 */

/**
 * struct ring_buffer_reader_iter - a look at the ring of one CPU
 * @cpu_buffer:	the CPU's
 * @list:	in rb_reader.iters
 * @nr_resets:	rb_reader.nr_resets at the start; the events are gone if it changed
 * @pos:	position of the page to copy next
 * @last_pos:	position of the last page to copy
 * @taken:	events to be shown, from @pos on, that a consuming reader took
 * @number:	of the event shown, or to be shown next
 * @end:	number of the event not to be shown any more
 * @lost:	events missing before that one; ULONG_MAX when nobody knows
 * @ts:		its time
 * @offset:	where it is in @page, bytes
 * @length:	bytes it has there; 0 while it is not looked up
 * @page:	the copy, as far as it was written
 */
struct ring_buffer_reader_iter {
	struct ring_buffer_per_cpu	*cpu_buffer;
	struct list_head		list;
	unsigned int			nr_resets;
	u64				pos;
	u64				last_pos;
	u64				taken;
	u64				number;
	u64				end;
	unsigned long			lost;
	u64				ts;
	unsigned int			offset;
	unsigned int			length;
	struct ring_buffer_writer_page	*page;
};

/* A consuming reader gives its page back: what it had is out of reach. */
static void rb_iters_taken(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;
	u64 nr = cpu_buffer->read - reader->read;
	u64 first = reader->read + reader->overrun;
	struct ring_buffer_reader_iter *iter;

	lockdep_assert_held(&cpu_buffer->reader_lock);

	if (reader->pos == RB_READER_NOWHERE)
		return;

	list_for_each_entry(iter, &reader->iters, list) {
		if (iter->pos <= reader->pos && first < iter->end)
			iter->taken += min(nr, iter->end - first);
	}
}

/* How many events are on the reader's page, which is complete. */
static u64 rb_iter_reader_events(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct buffer_page *bpage = cpu_buffer->reader_page;
	unsigned int offset = 0;

	if (cpu_buffer->reader->pos == RB_READER_NOWHERE)
		return 0;

	return rb_writer_count_events((void *)bpage->page, rb_writer_commit(bpage), &offset);
}

/* The position of the oldest page from iter->pos on, and its first event's number. */
static bool rb_iter_oldest(struct ring_buffer_reader_iter *iter, u64 *pos, u64 *number)
{
	struct rb_reader *reader = iter->cpu_buffer->reader;
	struct rb_writer_state state;

	*number = reader->read + reader->overrun;
	*pos = reader->pos;
	if (reader->pos != RB_READER_NOWHERE && iter->pos <= reader->pos)
		return true;

	if (!rb_writer_get_state(iter->cpu_buffer, &state))
		return false;

	*number = reader->read + rb_iter_reader_events(iter->cpu_buffer) + state.overrun;
	*pos = state.oldest;
	return true;
}

/* The page at iter->pos is gone: go to one that is there. False if not now. */
static bool rb_iter_skip(struct ring_buffer_reader_iter *iter)
{
	u64 pos, number;

	if (!rb_iter_oldest(iter, &pos, &number))
		return false;

	number = min(number, iter->end);
	iter->lost += number - iter->number - iter->taken;
	iter->taken = 0;
	iter->number = number;
	iter->pos = pos;
	return true;
}

/* Copy a page, as far as it is written. False if the writer took it meanwhile. */
static bool rb_iter_copy(struct ring_buffer_reader_iter *iter, struct buffer_page *bpage)
{
	struct rb_reader *reader = iter->cpu_buffer->reader;
	struct ring_buffer_writer_page *page = (void *)bpage->page;
	unsigned int commit = rb_writer_commit(bpage);

	iter->page->time_stamp = READ_ONCE(page->time_stamp);
	iter->page->commit = commit;
	/* The writer may take the page: then this is told by next. */
	data_race(memcpy(iter->page->data, page->data, commit));
	smp_rmb();						/* (G) */

	return iter->pos == reader->pos ||
	       READ_ONCE(reader->meta->next) < iter->pos + reader->nr_slots;
}

/* The page at iter->pos; NULL if that is gone. */
static struct buffer_page *rb_iter_find(struct ring_buffer_reader_iter *iter)
{
	struct ring_buffer_per_cpu *cpu_buffer = iter->cpu_buffer;
	struct rb_reader *reader = cpu_buffer->reader;
	u64 tail = smp_load_acquire(&reader->meta->tail);	/* (B) */

	if (iter->pos == reader->pos)
		return cpu_buffer->reader_page;
	if (iter->pos < rb_writer_oldest(reader, tail))
		return NULL;
	return *rb_writer_slot(reader, iter->pos);
}

static bool rb_iter_at_end(struct ring_buffer_reader_iter *iter)
{
	struct rb_reader *reader = iter->cpu_buffer->reader;

	/* A tail that went back is not the writer's doing; it bounds this all the same. */
	return iter->number >= iter->end || iter->pos > iter->last_pos ||
	       iter->pos > READ_ONCE(reader->meta->tail) || iter->nr_resets != reader->nr_resets;
}

enum rb_iter_result { RB_ITER_END, RB_ITER_COPIED, RB_ITER_BUSY };

/* Copy the next page, unless the writer is faster, or just going to another. */
static enum rb_iter_result rb_iter_try_page(struct ring_buffer_reader_iter *iter)
{
	struct buffer_page *bpage;
	int i;

	lockdep_assert_held(&iter->cpu_buffer->reader_lock);

	for (i = 0; i < RB_READER_TRIES; i++) {
		if (rb_iter_at_end(iter))
			return RB_ITER_END;

		bpage = rb_iter_find(iter);
		if (bpage && rb_iter_copy(iter, bpage)) {
			iter->ts = iter->page->time_stamp;
			iter->offset = 0;
			iter->pos++;
			return RB_ITER_COPIED;
		}
		if (!rb_iter_skip(iter))
			cpu_relax();
	}

	return RB_ITER_BUSY;
}

/* Copy the next page. False at the end. */
static bool rb_iter_next_page(struct ring_buffer_reader_iter *iter)
{
	raw_spinlock_t *lock = &iter->cpu_buffer->reader_lock;
	enum rb_iter_result result;
	unsigned long flags;
	int i;

	for (i = 0; i < RB_READER_ROUNDS; i++) {
		raw_spin_lock_irqsave(lock, flags);
		result = rb_iter_try_page(iter);
		raw_spin_unlock_irqrestore(lock, flags);
		if (result != RB_ITER_BUSY)
			return result == RB_ITER_COPIED;
		fsleep(RB_READER_ROUND_US);
	}

	/* The writer stopped on its way, and nobody can tell how many. */
	iter->lost = ULONG_MAX;
	iter->end = 0;
	return false;
}

/* Look up the event at iter->offset. False at the page's end. */
static bool rb_iter_next_on_page(struct ring_buffer_reader_iter *iter)
{
	iter->length = rb_writer_find_event(iter->page, iter->page->commit, &iter->offset,
					    &iter->ts);
	return iter->length;
}

/**
 * ring_buffer_reader_iter_peek - the event to be shown next
 * @iter:	the iterator
 * @ts:		its time
 *
 * Context: process context, may sleep; @iter is used by nobody else.
 * Return: the event, until ring_buffer_reader_iter_advance(); NULL at the end.
 */
struct ring_buffer_event *
ring_buffer_reader_iter_peek(struct ring_buffer_reader_iter *iter, u64 *ts)
{
	while (!iter->length) {
		if (iter->number >= iter->end)
			return NULL;
		if (!rb_iter_next_on_page(iter) && !rb_iter_next_page(iter))
			return NULL;
	}

	*ts = iter->ts;
	return (struct ring_buffer_event *)&iter->page->data[iter->offset];
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
	if (!iter->length)
		return;

	iter->offset += iter->length;
	iter->length = 0;
	iter->number++;
}

/* Up to where to look; false if the writer is just going to another page. */
static bool rb_iter_try_end(struct ring_buffer_reader_iter *iter)
{
	struct rb_reader *reader = iter->cpu_buffer->reader;
	struct rb_writer_state state;

	if (rb_writer_wait_state(iter->cpu_buffer, &state)) {
		iter->end = state.entries;
		iter->last_pos = state.tail;
		return true;
	}

	/* Perhaps without the page that it is leaving */
	iter->end = smp_load_acquire(&reader->meta->meta.entries);	/* (N) */
	iter->last_pos = smp_load_acquire(&reader->meta->tail);		/* (B) */
	return false;
}

/* Start where a consuming reader is. False if this was not the time for that. */
static bool rb_iter_try_start(struct ring_buffer_reader_iter *iter)
{
	struct ring_buffer_per_cpu *cpu_buffer = iter->cpu_buffer;
	struct rb_reader *reader = cpu_buffer->reader;
	struct buffer_page *page = cpu_buffer->reader_page;
	bool done;

	lockdep_assert_held(&cpu_buffer->reader_lock);

	done = rb_iter_try_end(iter);
	iter->nr_resets = reader->nr_resets;
	iter->pos = reader->pos + 1;
	iter->number = cpu_buffer->read + reader->overrun;
	iter->page->commit = 0;
	iter->offset = 0;

	/* Events lost before its page that it was not told of yet. */
	iter->lost = cpu_buffer->lost_events;

	if (reader->pos != RB_READER_NOWHERE && page->read < rb_writer_commit(page)) {
		rb_iter_copy(iter, page);
		iter->ts = page->read ? cpu_buffer->read_stamp : iter->page->time_stamp;
		iter->offset = page->read;
	}

	return done;
}

static void rb_iter_start(struct ring_buffer_reader_iter *iter)
{
	raw_spinlock_t *lock = &iter->cpu_buffer->reader_lock;
	unsigned long flags;
	bool done;
	int i;

	for (i = 0; i < RB_READER_ROUNDS; i++) {
		raw_spin_lock_irqsave(lock, flags);
		done = rb_iter_try_start(iter);
		if (done || i == RB_READER_ROUNDS - 1)
			list_add(&iter->list, &iter->cpu_buffer->reader->iters);
		raw_spin_unlock_irqrestore(lock, flags);
		if (done)
			return;
		fsleep(RB_READER_ROUND_US);
	}
}

/**
 * ring_buffer_reader_iter_start - look at the events of a CPU
 * @buffer:	a buffer from ring_buffer_reader(), which stays while it is looked at
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

	if (!cpumask_test_cpu(cpu, buffer->cpumask))
		return ERR_PTR(-EINVAL);

	iter = kzalloc(sizeof(*iter), GFP_KERNEL_ACCOUNT);
	if (!iter)
		return ERR_PTR(-ENOMEM);

	iter->page = (void *)__get_free_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!iter->page) {
		kfree(iter);
		return ERR_PTR(-ENOMEM);
	}

	iter->cpu_buffer = buffer->buffers[cpu];
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
	unsigned long flags;

	if (IS_ERR_OR_NULL(iter))
		return;

	raw_spin_lock_irqsave(&iter->cpu_buffer->reader_lock, flags);
	list_del(&iter->list);
	raw_spin_unlock_irqrestore(&iter->cpu_buffer->reader_lock, flags);

	free_page((unsigned long)iter->page);
	kfree(iter);
}
