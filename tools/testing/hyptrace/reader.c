// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include <asm/barrier.h>
#include <linux/compiler.h>

#include "reader.h"

void reader_init(struct reader *reader, struct fixture *f)
{
	memset(reader, 0, sizeof(*reader));
	reader->f = f;
	reader->id = f->nr_pages - 1;
}

static struct ring_buffer_writer_page *reader_page(struct reader *reader)
{
	return reader->f->pages[reader->id];
}

/* What the meta page tells must be what was asked for, and positions grow. */
static int reader_take(struct reader *reader, u32 id)
{
	struct ring_buffer_writer_meta *meta = reader->f->meta;
	u64 position = READ_ONCE(meta->reader);

	if (READ_ONCE(meta->meta.reader.id) != id || id >= reader->f->nr_pages)
		return -EPROTO;
	if (reader->has_position && position <= reader->position)
		return -EPROTO;

	reader->id = id;
	reader->position = position;
	reader->has_position = true;
	reader->offset = 0;
	reader->lost += READ_ONCE(meta->meta.reader.lost_events);
	return 0;
}

int reader_swap(struct reader *reader)
{
	int id = trace_ring_swap_reader(&reader->f->ring);

	return id < 0 ? id : reader_take(reader, id);
}

/* Loaded before the page's commit, so that the commit is the last if true. */
static bool reader_left_behind(struct reader *reader)
{
	u64 tail = smp_load_acquire(&reader->f->meta->tail);	/* (B) */

	return !reader->has_position || tail != reader->position;
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
		if (reader->offset < commit) {
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
	reader->lost = 0;
}
