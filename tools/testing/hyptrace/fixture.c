// SPDX-License-Identifier: GPL-2.0-only
#include "fixture.h"
#include "machine.h"
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
	memset(memory, GARBAGE, min(size, GARBAGE_SIZE));
	return memory;
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

/*
 * Positions grow, the page is the one that is in the slot, and its events are all there.
 * The meta page says what was asked for.
 */
static bool fixture_is_swapped(struct fixture *f, u32 id)
{
	struct rb_reader *reader = f->reader;
	u64 pos = f->meta->reader, entries = f->meta->reader_entries;

	return f->meta->meta.reader.id == id && *rb_writer_slot(reader, pos) == reader->ids[id] &&
	       (reader->pos == RB_READER_NOWHERE || pos > reader->pos) &&
	       (!entries || entries == page_count((void *)f->pages[id]));
}

static int fixture_swap_reader(struct ring_buffer_writer *writer, int cpu)
{
	struct fixture *f = container_of(writer, struct fixture, writer);
	int id = trace_ring_swap_reader(&f->ring);

	CHECK(id < 0 || fixture_is_swapped(f, id));
	return id;
}

static int fixture_reset(struct ring_buffer_writer *writer, int cpu)
{
	struct fixture *f = container_of(writer, struct fixture, writer);

	trace_ring_reset(&f->ring);
	/* The machine is to know what was stored without saying so. */
	WRITE_ONCE(f->ring.overrun, f->ring.overrun);
	return 0;
}

static u64 fixture_clock(void)
{
	return 0;
}

/* The kernel has the pages at addresses that only the shims can use. */
static void fixture_init_reader(struct fixture *f)
{
	static const struct ring_buffer_writer_ops ops = {
		.swap_reader	= fixture_swap_reader,
		.reset		= fixture_reset,
	};
	u32 i;

	f->cpu.meta = shim_share(f->meta);
	f->cpu.pages = calloc(f->nr_pages, sizeof(*f->cpu.pages));
	f->cpu.nr_pages = f->nr_pages;
	for (i = 0; i < f->nr_pages; i++)
		f->cpu.pages[i] = shim_share(f->pages[i]);

	f->writer.ops = &ops;
	f->writer.clock = fixture_clock;
	f->writer.cpus = &f->cpu;
	f->buffer = ring_buffer_reader(&f->writer);
	f->reader = rb_reader_of(f->buffer, 0);
}

void fixture_init(struct fixture *f, u32 nr_pages)
{
	f->meta = fixture_memory(META_SIZE);
	f->dir = fixture_page();
	f->nr_pages = nr_pages;
	fixture_stop(f);
	CHECK(!trace_ring_start(&f->ring));
	fixture_init_reader(f);
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

	ring_buffer_reader_free(f->buffer);
	for (id = f->nr_pages; (memory = trace_ring_pop_page(&f->ring)); free(memory))
		CHECK(memory == f->pages[--id]);
	CHECK(!id);
	while ((memory = trace_ring_pop_leaf(&f->ring)))
		free(memory);

	free(f->pages);
	free(f->cpu.pages);
	free(f->dir);
	free(f->meta);
}

/* To the machine, before it runs: all that the writer and the reader share */
void fixture_expose(struct fixture *f)
{
	u32 i;

	machine_share(&f->ring, sizeof(f->ring));
	machine_share(f->meta, sizeof(*f->meta));
	for (i = 0; i < f->ring.nr_leaves; i++)
		machine_share(f->dir[i], PAGE_SIZE);
	for (i = 0; i < f->nr_pages; i++) {
		machine_share(f->pages[i], PAGE_SIZE);
		machine_watch(f->pages[i]->data, PAGE_CAPACITY);
	}
}

/* ... but for what a consuming reader does not use, and what a swap reports to it */
void fixture_hide_counters(struct fixture *f)
{
	struct ring_buffer_writer_meta *meta = f->meta;

	machine_private(&meta->next);
	machine_private(&meta->bytes);
	machine_private(&meta->overrun_bytes);
	machine_private(&meta->dropped);
	machine_private(&meta->meta.overrun);
	machine_private(&meta->meta.entries);
	machine_private(&meta->meta.reader.lost_events);
	machine_private(&meta->meta.reader.id);
	machine_private(&meta->reader);
	machine_private(&meta->reader_entries);
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
	const struct ring_buffer_writer_page *page = trace_ring_page(f->ring.commit);

	if (f->meta->tail < f->meta->base)
		return f->meta->meta.entries;
	return f->meta->meta.entries + page_count((const void *)page);
}

/* An event as the kernel shows it */
static void fixture_decode(struct ring_buffer_event *from, struct event *event)
{
	event->size = from->type_len ? from->type_len * sizeof(u32) : from->array[0] - sizeof(u32);
	event->data = (void *)&from->array[!from->type_len];
}

/* The next event of a cursor, good until the next call. The parser of pages finds it, too. */
bool fixture_next(struct ring_buffer_reader_cursor *cursor, struct event *event)
{
	struct ring_buffer_event *found = ring_buffer_reader_cursor_peek(cursor);
	const struct page *copy = (void *)cursor->reader->copy;
	u64 offset = cursor->offset, time = cursor->stamp;
	struct event parsed;

	if (!found)
		return false;

	fixture_decode(found, event);
	event->time = cursor->ts;
	event->lost = cursor->lost;
	CHECK(offset || page_starts_well(copy));
	CHECK(!page_event(copy, &offset, cursor->walk.commit, &time, &parsed));
	CHECK(event->data == parsed.data && event->size == parsed.size &&
	      event->time == parsed.time);
	ring_buffer_reader_cursor_advance(cursor);
	return true;
}

/* Consume the next event. */
bool fixture_read(struct fixture *f, struct event *event)
{
	struct ring_buffer_reader_cursor cursor;
	bool found;

	ring_buffer_reader_cursor_start(&cursor, f->buffer, 0);
	found = fixture_next(&cursor, event);
	ring_buffer_reader_cursor_finish(&cursor);
	return found;
}

/* The next event of an iterator. At its end, @event only says what was lost there. */
bool fixture_iterate(struct ring_buffer_reader_iter *iter, struct event *event)
{
	struct ring_buffer_event *found = ring_buffer_reader_iter_peek(iter, &event->time);

	event->lost = ring_buffer_reader_iter_lost(iter);
	if (found)
		fixture_decode(found, event);
	ring_buffer_reader_iter_advance(iter);
	return found;
}
