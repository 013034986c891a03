// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include <asm/barrier.h>
#include <linux/compiler.h>

#include "machine.h"
#include "observer.h"

void reader_init(struct reader *reader, struct fixture *f)
{
	u32 slot;

	memset(reader, 0, sizeof(*reader));
	reader->f = f;
	reader->id = f->nr_pages - 1;
	for (slot = 0; slot < f->nr_pages - 1; slot++)
		f->slots[slot] = slot;
}

static struct ring_buffer_writer_page *reader_page(const struct reader *reader)
{
	return reader->f->pages[reader->id];
}

/* How many events its page holds from @offset on */
static u64 reader_events_from(const struct reader *reader, u64 offset, u64 commit)
{
	const struct page *page = (void *)reader_page(reader);
	struct event event;
	u64 nr, time;

	for (nr = 0; offset < commit; nr++)
		if (page_event(page, &offset, commit, &time, &event))
			break;
	return nr;
}

/* How many events there are on its page, which the writer has left */
u64 reader_events(const struct reader *reader)
{
	u64 commit = smp_load_acquire(&reader_page(reader)->commit);	/* (A) */

	return reader->has_page ? reader_events_from(reader, 0, commit) : 0;
}

/* ... on the page with @id, which is to be its own. */
static u64 reader_counted(const struct reader *reader, u32 id)
{
	struct ring_buffer_writer_page *page = reader->f->pages[id];

	return page_count((void *)page, smp_load_acquire(&page->commit));	/* (A) */
}

/*
 * What the meta page reports must be what was asked for; positions grow; and a
 * page is where the one stood that was given for it.
 */
static int reader_take(struct reader *reader, u32 id)
{
	struct ring_buffer_writer_meta *meta = reader->f->meta;
	u64 position = READ_ONCE(meta->reader);
	u32 *slot = &reader->f->slots[position % (reader->f->nr_pages - 1)];

	if (READ_ONCE(meta->meta.reader.id) != id || *slot != id)
		return -EPROTO;
	if (reader->has_position && position <= reader->position)
		return -EPROTO;

	if (READ_ONCE(meta->reader_entries) &&
	    READ_ONCE(meta->reader_entries) != reader_counted(reader, id))
		return -EPROTO;

	*slot = reader->id;
	reader->id = id;
	reader->position = position;
	reader->has_position = true;
	reader->has_page = true;
	reader->offset = 0;
	reader->lost += READ_ONCE(meta->meta.reader.lost_events);
	reader->overrun += READ_ONCE(meta->meta.reader.lost_events);
	reader->number += READ_ONCE(meta->meta.reader.lost_events);
	reader->first = reader->number;
	return 0;
}

int reader_swap(struct reader *reader)
{
	u64 unread = reader_events_from(reader, reader->offset, reader_page(reader)->commit);
	int id = trace_ring_swap_reader(&reader->f->ring);

	if (id < 0)
		return id;

	/* They are gone as if they had been read. */
	reader->number += unread;
	observers_taken(reader);
	return reader_take(reader, id);
}

/*
 * Loaded before the page's commit, so that the commit is the last if true. After a reset
 * a swap can be as quick as to give the page that the writer is about to report here.
 */
static bool reader_left_behind(struct reader *reader)
{
	u64 tail = smp_load_acquire(&reader->f->meta->tail);	/* (B) */

	return !reader->has_position || tail > reader->position;
}

/*
 * The writer has left this page for good: to see that without any barrier of
 * the page's own is what the order of the tail is for.
 */
static bool reader_is_final(struct reader *reader, u64 commit)
{
	struct ring_buffer_writer_page *page = reader_page(reader);

	return READ_ONCE(page->commit) == commit && page->commit == commit;
}

/**
 * reader_next - read an event
 * @reader:	the reader
 * @event:	the event, good until the next call
 *
 * Return: 1; 0 when there is none, now; an errno of the swap, of which
 * -EAGAIN is worth another call; -EBADMSG or -EPROTO when the writer is wrong.
 */
int reader_next(struct reader *reader, struct event *event)
{
	for (;;) {
		struct ring_buffer_writer_page *page = reader_page(reader);
		bool left_behind = reader_left_behind(reader);
		u64 commit = smp_load_acquire(&page->commit);	/* (A) */
		int err;

		if (left_behind && !reader_is_final(reader, commit))
			return -EPROTO;
		if (!reader->offset)
			reader->time = page_time((void *)page);
		if (reader->offset < commit) {
			reader->number++;
			err = page_event((void *)page, &reader->offset, commit,
					 &reader->time, event);
			return err ?: 1;
		}
		if (!left_behind)
			return 0;

		err = reader_swap(reader);
		if (err)
			return err;
	}
}

/* What the host does on its side when the ring is reset */
void reader_reset(struct reader *reader)
{
	reader->offset = reader_page(reader)->commit;
	reader->has_page = false;
	reader->lost = 0;
	reader->first = 0;
	reader->number = 0;
	reader->overrun = 0;
	observers_reset(reader);
}

/* What the writer reports and this reader does not use, and the other way round */
void reader_hide(const struct reader *reader)
{
	struct ring_buffer_writer_meta *meta = reader->f->meta;

	machine_private(&meta->next);
	machine_private(&meta->bytes);
	machine_private(&meta->overrun_bytes);
	machine_private(&meta->meta.overrun);
	machine_private(&meta->meta.entries);
	machine_private(&meta->meta.reader.lost_events);
	machine_private(&meta->meta.reader.id);
	machine_private(&meta->reader);
	machine_private(&meta->reader_entries);
}
