// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include <linux/minmax.h>

#include "fixture.h"
#include "tap.h"

/* What a page holds before it is used: the writer may rely on none of it. */
#define GARBAGE		0xa5
#define GARBAGE_SIZE	512UL

/* The meta page is one also where pages are too small for that. */
#define META_SIZE	max(PAGE_SIZE, 256UL)

static void *fixture_memory(size_t size)
{
	void *memory = aligned_alloc(size, size);

	if (!memory)
		abort();
	return memset(memory, GARBAGE, min(size, GARBAGE_SIZE));
}

/* @nr pages at consecutive addresses; a power of two */
void *fixture_pages(u32 nr)
{
	return fixture_memory(nr * PAGE_SIZE);
}

void *fixture_page(void)
{
	return fixture_pages(1);
}

static void fixture_add_leaves(struct fixture *f)
{
	u32 i;

	for (i = 0; i < TRACE_RING_LEAVES(f->nr_pages); i++)
		CHECK(!trace_ring_add_leaf(&f->ring, fixture_page()));
}

static void fixture_add_pages(struct fixture *f)
{
	u32 i;

	f->pages = calloc(f->nr_pages, sizeof(*f->pages));
	for (i = 0; i < f->nr_pages; i++) {
		f->pages[i] = fixture_page();
		CHECK(!trace_ring_add_page(&f->ring, f->pages[i]));
	}

	/* The host gives the reader an empty page. */
	f->pages[f->nr_pages - 1]->commit = 0;
}

/* All but trace_ring_start() */
void fixture_stop(struct fixture *f)
{
	memset(f->meta, 0, META_SIZE);
	CHECK(!trace_ring_init(&f->ring, f->meta, f->dir, f->nr_pages));
	fixture_add_leaves(f);
	fixture_add_pages(f);
}

void fixture_init(struct fixture *f, u32 nr_pages)
{
	f->meta = fixture_memory(META_SIZE);
	f->dir = fixture_page();
	f->slots = calloc(nr_pages, sizeof(*f->slots));
	f->nr_pages = nr_pages;
	fixture_stop(f);
	CHECK(!trace_ring_start(&f->ring));
}

/*
 * A ring that has been written and read for long: its writer begins the page
 * at @tail, a multiple of the slots, and all before has been read.
 */
void fixture_init_at(struct fixture *f, u32 nr_pages, u64 tail)
{
	u32 i, nr_slots = nr_pages - 1;

	fixture_init(f, nr_pages);
	CHECK(tail % nr_slots == 0);

	for (i = 0; i < nr_slots; i++)
		f->dir[i / TRACE_RING_LEAF_ENTRIES][i % TRACE_RING_LEAF_ENTRIES].slot =
			(u64)(u32)(tail + i) << 32 | i;
	f->ring.tail = tail;
	f->ring.head = tail;
	f->meta->tail = tail;
	f->meta->next = tail;
}

void fixture_free(struct fixture *f)
{
	void *memory;
	u32 id;

	for (id = f->nr_pages; (memory = trace_ring_pop_page(&f->ring)); free(memory))
		CHECK(memory == f->pages[--id]);
	CHECK(!id);
	while ((memory = trace_ring_pop_leaf(&f->ring)))
		free(memory);

	free(f->pages);
	free(f->slots);
	free(f->dir);
	free(f->meta);
}

static u8 payload_byte(u64 number, u32 i)
{
	return (number >> (8 * (i % 8))) + i / 8 * 37;
}

void payload_fill(void *data, u32 size, u64 number)
{
	u32 i;

	for (i = 0; i < size; i++)
		((u8 *)data)[i] = payload_byte(number, i);
}

bool payload_matches(const struct event *event, u32 size, u64 number)
{
	u32 i;

	if (event->size != page_stored_size(size))
		return false;

	for (i = 0; i < size; i++)
		if (event->data[i] != payload_byte(number, i))
			return false;
	return true;
}

/* The number of an event of NUMBERED bytes or more */
u64 payload_number(const struct event *event)
{
	u64 number = 0;
	u32 i;

	for (i = 0; i < NUMBERED && event->size >= NUMBERED; i++)
		number |= (u64)event->data[i] << (8 * i);
	return number;
}

/* Every second event is written as EL2 does: on the fast path, if that is possible. */
static bool fixture_write_fast(struct fixture *f, u32 size, u64 number, u64 time)
{
	struct trace_ring_event event;

	if (number % 2 || !size || size % sizeof(u32))
		return false;
	if (size > EVENT_MAX || size > RB_WRITER_MAX_SHORT)
		return false;
	if (!trace_ring_try_reserve(&f->ring, size, time, &event))
		return false;

	payload_fill(event.data, size, number);
	trace_ring_commit(&f->ring, &event);
	return true;
}

bool fixture_write(struct fixture *f, u32 size, u64 number, u64 time)
{
	struct trace_ring_event event;

	if (fixture_write_fast(f, size, number, time))
		return true;

	if (!trace_ring_reserve(&f->ring, size, time, &event))
		return false;

	payload_fill(event.data, size, number);
	trace_ring_commit(&f->ring, &event);
	return true;
}

/* Reserve an event and do not commit it. */
bool fixture_abandon(struct fixture *f, u32 size, u64 time)
{
	struct trace_ring_event event;

	if (!trace_ring_reserve(&f->ring, size, time, &event))
		return false;

	payload_fill(event.data, size, -1);
	return true;
}

/* Events that fill a page each; an event's number is its time as well. */
void fixture_write_pages(struct fixture *f, u64 first, u64 nr)
{
	u64 number;

	for (number = first; number < first + nr; number++)
		CHECK(fixture_write(f, EVENT_MAX, number, number));
}

/* The size of an event of which @per_page fill a page to the last byte */
u32 fixture_share(u32 per_page)
{
	return PAGE_CAPACITY / per_page / 4 * 4 - (PAGE_CAPACITY / per_page > 116 ? 8 : 4);
}

/* Events of that size; an event's number is its time as well. */
void fixture_write_shares(struct fixture *f, u32 per_page, u64 first, u64 nr)
{
	u64 number;

	for (number = first; number < first + nr; number++)
		CHECK(fixture_write(f, fixture_share(per_page), number, number));
}

/* How many bytes of the page are committed */
u64 fixture_used(const struct fixture *f, u32 id)
{
	return f->pages[id]->commit;
}

/* How many events were written: what is on the page being written is not in the meta page. */
u64 fixture_entries(const struct fixture *f)
{
	const struct ring_buffer_writer_page *page = f->ring.page;

	if (f->meta->tail < f->meta->base)
		return f->meta->meta.entries;
	return f->meta->meta.entries + page_count((const void *)page, page->commit);
}
