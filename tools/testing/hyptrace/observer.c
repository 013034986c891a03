// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include <asm/barrier.h>
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "observer.h"

/* Words of a page with @commit bytes of events */
#define PAGE_WORDS(commit)	((sizeof(struct page) + (commit)) / sizeof(u32))

static u32 reader_nr_slots(const struct reader *reader)
{
	return reader->f->nr_pages - 1;
}

/* The page at @position, which is not before the oldest one. */
static u32 observer_page(const struct reader *reader, u64 position)
{
	if (reader->has_page && position == reader->position)
		return reader->id;
	return reader->f->slots[position % reader_nr_slots(reader)];
}

static u64 observer_oldest(const struct reader *reader, u64 tail)
{
	u32 nr_slots = reader_nr_slots(reader);
	u64 lap = tail >= nr_slots ? tail - nr_slots + 1 : 0;
	u64 after = reader->has_page ? reader->position + 1 : 0;

	return min(max3(lap, after, READ_ONCE(reader->f->meta->base)), tail + 1);
}

/* The page being written; NULL if its events are cleared. */
static struct ring_buffer_writer_page *observer_tail_page(const struct reader *reader, u64 tail)
{
	struct fixture *f = reader->f;

	return tail < READ_ONCE(f->meta->base) ? NULL : f->pages[observer_page(reader, tail)];
}

/* False while the writer goes from page to page: then look again. */
bool observer_look(struct reader *reader, struct ring_state *state)
{
	struct ring_buffer_writer_meta *meta = reader->f->meta;
	struct ring_buffer_writer_page *page;
	u64 commit;

	state->tail = smp_load_acquire(&meta->tail);		/* (B) */
	state->oldest = observer_oldest(reader, state->tail);
	state->entries = READ_ONCE(meta->meta.entries);
	state->overrun = READ_ONCE(meta->meta.overrun);
	state->bytes = READ_ONCE(meta->bytes) - READ_ONCE(meta->overrun_bytes);

	page = observer_tail_page(reader, state->tail);
	if (page) {
		commit = smp_load_acquire(&page->commit);	/* (A) */
		state->bytes += commit;
		state->entries += page_count((void *)page, commit);
	}

	smp_rmb();						/* (G) */
	return READ_ONCE(meta->next) == state->tail;
}

/* The reader gives its page back: what it read there is out of reach. */
void observers_taken(struct reader *reader)
{
	u64 nr = reader->number - reader->first;
	struct observer *o;

	for (o = reader->observers; reader->has_page && o; o = o->next)
		if (o->position <= reader->position && reader->first < o->end)
			o->taken += min(nr, o->end - reader->first);
}

void observers_reset(struct reader *reader)
{
	struct observer *o;

	for (o = reader->observers; o; o = o->next)
		o->stopped = true;
}

/* The oldest position that can be shown, and the number of its first event */
static bool observer_find_oldest(struct observer *o, u64 *position, u64 *number)
{
	struct reader *reader = o->reader;
	struct ring_state state;

	*position = reader->position;
	*number = reader->first;
	if (reader->has_page && o->position <= reader->position)
		return true;

	if (!observer_look(reader, &state))
		return false;

	/* The reader's page and all before it, but for what was overwritten */
	*position = state.oldest;
	*number = reader->first - reader->overrun + reader_events(reader) + state.overrun;
	return true;
}

/* The page is gone: go to one that is there. False if that can't be said now. */
static bool observer_skip(struct observer *o)
{
	u64 position, number;

	if (!observer_find_oldest(o, &position, &number))
		return false;

	number = min(number, o->end);
	o->lost += number - o->number - o->taken;
	o->taken = 0;
	o->number = number;
	o->position = position;
	return true;
}

/*
 * Copy a page, as far as it is written. The writer may overwrite it meanwhile,
 * which the thread sanitizer need not report: false if it may have.
 */
static SHIM_UNSANITIZED bool observer_copy(struct observer *o, u32 id)
{
	struct reader *reader = o->reader;
	struct ring_buffer_writer_page *page = reader->f->pages[id];
	const u32 *words = (const u32 *)page;
	u64 commit = smp_load_acquire(&page->commit);		/* (A) */
	u32 i;

	o->copy.page.commit = commit < PAGE_CAPACITY ? commit : PAGE_CAPACITY;
	o->copy.page.time_stamp = READ_ONCE(page->time_stamp);
	for (i = sizeof(*page) / sizeof(u32); i < PAGE_WORDS(o->copy.page.commit); i++)
		o->copy.words[i] = READ_ONCE(words[i]);
	smp_rmb();						/* (G) */

	return id == reader->id ||
	       READ_ONCE(reader->f->meta->next) < o->position + reader_nr_slots(reader);
}

static bool observer_has_page(struct observer *o)
{
	u64 tail = smp_load_acquire(&o->reader->f->meta->tail);	/* (B) */

	return (o->reader->has_page && o->position == o->reader->position) ||
	       o->position >= observer_oldest(o->reader, tail);
}

static bool observer_at_end(const struct observer *o)
{
	return o->stopped || o->number >= o->end || o->position > o->last;
}

static bool observer_next_page(struct observer *o)
{
	u32 i;

	for (i = 0; i < OBSERVER_TRIES; i++) {
		if (observer_at_end(o))
			return false;
		if (observer_has_page(o) &&
		    observer_copy(o, observer_page(o->reader, o->position))) {
			o->time = o->copy.page.time_stamp;
			o->offset = 0;
			o->position++;
			return true;
		}
		if (!observer_skip(o))
			shim_relax();
	}

	o->lost = OBSERVER_UNKNOWN;
	o->stopped = true;
	return false;
}

static void observer_find_end(struct observer *o)
{
	struct ring_buffer_writer_meta *meta = o->reader->f->meta;
	struct ring_state state;
	u32 i;

	for (i = 0; i < OBSERVER_TRIES; i++) {
		if (observer_look(o->reader, &state)) {
			o->end = state.entries;
			o->last = state.tail;
			return;
		}
		shim_relax();
	}

	/* Perhaps without the page that the writer is leaving */
	o->end = smp_load_acquire(&meta->meta.entries);		/* all before tail */
	o->last = smp_load_acquire(&meta->tail);		/* (B) */
}

/**
 * observer_start - begin to look, at what a reader would get from now on
 * @o:		the observer
 * @reader:	the reader
 */
void observer_start(struct observer *o, struct reader *reader)
{
	memset(o, 0, sizeof(*o));
	o->reader = reader;
	observer_find_end(o);
	o->number = reader->number;
	o->lost = reader->lost;

	if (reader->has_page) {
		o->position = reader->position + 1;
		observer_copy(o, reader->id);
		o->offset = reader->offset;
		o->time = reader->offset ? reader->time : o->copy.page.time_stamp;
	}

	o->next = reader->observers;
	reader->observers = o;
}

/**
 * observer_next - the next event
 * @o:		the observer
 * @event:	the event, good until the next call
 *
 * Return: 1; 0 at the end; -EBADMSG when the event is none. What is missing
 * before the event, or at the end, is added to @o->lost.
 */
int observer_next(struct observer *o, struct event *event)
{
	int err;

	while (o->number < o->end) {
		if (o->offset < o->copy.page.commit) {
			o->number++;
			err = page_event(&o->copy.page, &o->offset, o->copy.page.commit,
					 &o->time, event);
			return err ?: 1;
		}
		if (!observer_next_page(o))
			break;
	}

	return 0;
}

void observer_finish(struct observer *o)
{
	struct observer **link = &o->reader->observers;

	while (*link != o)
		link = &(*link)->next;
	*link = o->next;
}
