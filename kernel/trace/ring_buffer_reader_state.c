// SPDX-License-Identifier: GPL-2.0
/*
 * What a remote writer has written to a ring, and which page a reader reads next
 *
 * Pages have positions, which the writer counts. The meta page reports the position of the
 * page being written, tail. A page at an earlier position is complete. The page at position
 * p is in slot p % nr_slots, or is the reader's page.
 *
 * The reader asks the writer to swap the reader's page for the oldest one. Nothing else
 * moves a page to another slot, so the kernel always knows which page is where:
 * ring_buffer_reader_iter.c reads pages in place, and user space can map them.
 *
 * Events have numbers, from 0 after a reset: an event's number is how many events were
 * written before it. Each of these was consumed, was overwritten, or is in the ring.
 *
 * Locking: rb_reader.lock.
 *
 * The letters of memory orderings, (A) and so on, are explained in trace_ring.c.
 */
#include "ring_buffer_reader_internal.h"

/* Count the events of a page from @offset to @commit. Goes to the end of the last one. */
static u64 rb_writer_count_events(const struct ring_buffer_writer_page *page,
				  unsigned int commit, unsigned int *offset)
{
	struct ring_buffer_reader_walk walk;
	u64 nr = 0;

	rb_walk_start(&walk, page, commit, *offset, 0);
	while (rb_walk_next(&walk))
		nr++;
	*offset = walk.offset;
	return nr;
}

/* Count the events of a page that the writer has left. */
u64 rb_reader_count_page(const struct ring_buffer_writer_page *page)
{
	unsigned int offset = 0;

	return rb_writer_count_events(page, rb_writer_commit(page), &offset);
}

/* The position of the oldest page that is not the reader's, when @tail is being written. */
u64 rb_writer_oldest(struct rb_reader *reader, u64 tail)
{
	u64 lap = tail >= reader->nr_slots ? tail - reader->nr_slots + 1 : 0;

	/* After RB_READER_NOWHERE comes 0. If all was read, it is the next page. */
	return min(max3(lap, reader->pos + 1, READ_ONCE(reader->meta->base)), tail + 1);
}

/* The page being written; NULL if its events are cleared. */
static struct ring_buffer_writer_page *rb_writer_tail_page(struct rb_reader *reader, u64 tail)
{
	if (tail == reader->pos)
		return rb_reader_page(reader);
	if (tail < READ_ONCE(reader->meta->base))
		return NULL;
	return *rb_writer_slot(reader, tail);
}

/* Count the events on the page at @tail, from where they were counted last. */
static u64 rb_writer_count_tail(struct rb_reader *reader, u64 tail,
				const struct ring_buffer_writer_page *page, unsigned int commit)
{
	struct rb_reader_count *count = &reader->count;

	if (count->pos != tail || count->offset > commit)
		*count = (struct rb_reader_count) { .pos = tail };

	count->nr += rb_writer_count_events(page, commit, &count->offset);
	return count->nr;
}

/* Get the writer's state. False while the writer goes to its next page: then try again. */
bool rb_writer_get_state(struct rb_reader *reader, struct rb_writer_state *state)
{
	struct ring_buffer_writer_meta *meta = reader->meta;
	struct ring_buffer_writer_page *page;
	unsigned int commit;

	lockdep_assert_held(reader->lock);

	state->tail = smp_load_acquire(&meta->tail);		/* (B) */
	state->oldest = rb_writer_oldest(reader, state->tail);
	state->entries = READ_ONCE(meta->meta.entries);
	state->overrun = READ_ONCE(meta->meta.overrun);
	state->bytes = READ_ONCE(meta->bytes) - READ_ONCE(meta->overrun_bytes);

	page = rb_writer_tail_page(reader, state->tail);
	if (page) {
		commit = rb_writer_commit(page);
		state->bytes += commit;
		state->entries += rb_writer_count_tail(reader, state->tail, page, commit);
	}

	smp_rmb();						/* (G) */
	return READ_ONCE(meta->next) == state->tail;
}

/* As rb_writer_get_state(), with several tries. */
bool rb_writer_wait_state(struct rb_reader *reader, struct rb_writer_state *state)
{
	int i;

	for (i = 0; i < RB_READER_TRIES; i++) {
		if (rb_writer_get_state(reader, state))
			return true;
		cpu_relax();
	}

	return false;
}

static bool rb_reader_page_is_read(struct rb_reader *reader)
{
	return reader->consumed.offset >= rb_writer_commit(rb_reader_page(reader));
}

/* False if there are events to read. A page that was just begun may turn out to be empty. */
bool rb_reader_is_empty(struct rb_reader *reader)
{
	u64 tail = smp_load_acquire(&reader->meta->tail);	/* (B) */
	u64 oldest = rb_writer_oldest(reader, tail);
	struct ring_buffer_writer_page *page;

	if (!rb_reader_page_is_read(reader))
		return false;
	if (oldest != tail)
		return oldest > tail;

	page = rb_writer_tail_page(reader, tail);
	return !page || !rb_writer_commit(page);
}

/* The page of the event that is read next; NULL if there is none. */
struct ring_buffer_writer_page *rb_reader_oldest_page(struct rb_reader *reader)
{
	u64 tail;

	if (rb_reader_is_empty(reader))
		return NULL;
	if (!rb_reader_page_is_read(reader))
		return rb_reader_page(reader);

	tail = smp_load_acquire(&reader->meta->tail);		/* (B) */
	return *rb_writer_slot(reader, rb_writer_oldest(reader, tail));
}

/* The reader is about to swap its page: iterators can't reach its events any more. */
static void rb_reader_leave_page(struct rb_reader *reader)
{
	u64 nr = reader->consumed.nr - reader->read;
	u64 first = reader->read + reader->overrun;
	struct rb_reader_span *span;

	lockdep_assert_held(reader->lock);

	if (reader->pos == RB_READER_NOWHERE)
		return;

	list_for_each_entry(span, &reader->iters, list) {
		if (span->pos <= reader->pos && first < span->end)
			span->consumed += min(nr, span->end - first);
	}
}

/* The reader's page was swapped for the one in @slot, which is at @pos. */
static void rb_reader_set_page(struct rb_reader *reader, struct ring_buffer_writer_page **slot,
			       unsigned int id, u64 pos)
{
	unsigned long lost = READ_ONCE(reader->meta->meta.reader.lost_events);
	u64 tail;

	rb_reader_leave_page(reader);
	swap(*slot, reader->pages[reader->nr_slots]);

	reader->consumed.offset = 0;
	reader->consumed.lost += lost;
	reader->overrun += lost;
	reader->read = reader->consumed.nr;
	reader->entries = READ_ONCE(reader->meta->reader_entries);
	reader->pos = pos;
	rb_reader_publish_page(reader, id);

	tail = smp_load_acquire(&reader->meta->tail);		/* (B) */
	rb_reader_publish_tail(reader, tail, rb_writer_oldest(reader, tail));
}

/*
 * The slot of the page with @id, which should be at @pos. The meta page, from which @pos
 * is, may be corrupted. The kernel's own tables are right all the same.
 */
static struct ring_buffer_writer_page **rb_writer_find(struct rb_reader *reader, u64 pos,
						       unsigned int id)
{
	struct ring_buffer_writer_page **slot = rb_writer_slot(reader, pos);
	unsigned int i;

	/* The reader's page is one more than there are slots. */
	if (id > reader->nr_slots)
		return NULL;

	for (i = 0; *slot != reader->ids[id]; i++) {
		if (i == reader->nr_slots)
			return NULL;
		slot = &reader->pages[i];
	}

	return slot;
}

static void rb_reader_keep_copy(struct rb_reader *reader, struct rb_reader_kept *kept)
{
	struct ring_buffer_writer_page *page = rb_reader_page(reader);

	kept->page->time_stamp = READ_ONCE(page->time_stamp);
	kept->page->commit = rb_writer_commit(page);
	memcpy(kept->page->data, page->data, kept->page->commit);
	kept->number = reader->read + reader->overrun;
	kept->pos = reader->pos;
	kept->has_page = true;
}

/* The writer has left the reader's page. Keep a copy for followers that have not seen all of it. */
static void rb_reader_keep_page(struct rb_reader *reader)
{
	unsigned int commit = rb_writer_commit(rb_reader_page(reader));
	struct rb_reader_kept *kept;

	lockdep_assert_held(reader->lock);

	if (reader->pos == RB_READER_NOWHERE)
		return;

	list_for_each_entry(kept, &reader->followers, list) {
		if (kept->has_page || kept->wanted > reader->pos ||
		    (kept->wanted == reader->pos && kept->copied >= commit))
			continue;
		rb_reader_keep_copy(reader, kept);
	}
}

/* Swap the reader's page for the oldest one. False if there is none, or none yet. */
static bool rb_writer_swap(struct rb_reader *reader)
{
	struct ring_buffer_writer_page **slot;
	int id;
	u64 pos;

	lockdep_assert_held(reader->lock);

	rb_reader_keep_page(reader);
	id = reader->writer->ops->swap_reader(reader->writer, reader->cpu);	/* (D) */
	if (id < 0)
		return false;

	smp_wmb();						/* (S) */
	pos = READ_ONCE(reader->meta->reader);
	slot = rb_writer_find(reader, pos, id);
	if (!slot)
		return false;

	rb_reader_set_page(reader, slot, id, pos);
	return true;
}

/*
 * The page to consume next; NULL if all is consumed. *@commit is loaded once, since the
 * writer may change it: it is more than was consumed of the page.
 */
struct ring_buffer_writer_page *rb_reader_next_page(struct rb_reader *reader,
						    unsigned int *commit)
{
	u64 tail = smp_load_acquire(&reader->meta->tail);	/* (B) */

	*commit = rb_writer_commit(rb_reader_page(reader));
	if (reader->consumed.offset >= *commit) {
		if (tail == reader->pos || rb_reader_is_empty(reader))
			return NULL;
		if (!rb_writer_swap(reader))
			return NULL;
		*commit = rb_writer_commit(rb_reader_page(reader));
		if (!*commit)
			return NULL;
	}

	if (!reader->consumed.offset)
		reader->consumed.stamp = READ_ONCE(rb_reader_page(reader)->time_stamp);

	return rb_reader_page(reader);
}

/* The page at @pos; NULL if that is gone. */
struct ring_buffer_writer_page *rb_reader_page_at(struct rb_reader *reader, u64 pos)
{
	u64 tail = smp_load_acquire(&reader->meta->tail);	/* (B) */

	if (pos == reader->pos)
		return rb_reader_page(reader);
	if (pos < rb_writer_oldest(reader, tail))
		return NULL;
	return *rb_writer_slot(reader, pos);
}

/*
 * The oldest page that is there, from position @from on, and the number of its first event. False
 * while the writer goes to its next page: then try again.
 */
bool rb_reader_oldest_from(struct rb_reader *reader, u64 from, u64 *pos, u64 *number)
{
	struct rb_writer_state state;

	*number = reader->read + reader->overrun;
	*pos = reader->pos;
	if (reader->pos != RB_READER_NOWHERE && from <= reader->pos)
		return true;

	if (!rb_writer_get_state(reader, &state))
		return false;

	*number = reader->read + state.overrun;
	if (reader->pos != RB_READER_NOWHERE)
		*number += rb_reader_count_page(rb_reader_page(reader));
	*pos = state.oldest;
	return true;
}

/*
 * Copy @commit bytes of events of @page, the one at @pos. False if the writer has overwritten it
 * meanwhile.
 */
bool rb_reader_copy_page_at(struct rb_reader *reader, u64 pos,
			    const struct ring_buffer_writer_page *page, unsigned int commit,
			    struct ring_buffer_writer_page *to)
{
	to->time_stamp = READ_ONCE(page->time_stamp);
	to->commit = commit;
	/* If the writer overwrites the page, meta->next shows it. */
	data_race(memcpy(to->data, page->data, commit));
	smp_rmb();						/* (G) */

	return pos == reader->pos || READ_ONCE(reader->meta->next) < pos + reader->nr_slots;
}
