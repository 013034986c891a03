// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events one by one: their header, sizes, times, and where a page ends.
 */
#include "expect.h"

#define EXTEND	0x8000000ULL	/* 1 << 27, the first delta that needs a time extend */

/* As a page dumps: the compiler lays out the fields, not the writer. */
static u32 header_word(u32 type_len, u32 time_delta)
{
	struct { u32 type_len:5, time_delta:27; } header = { type_len, time_delta };
	u32 word;

	memcpy(&word, &header, sizeof(word));
	return word;
}

static void test_header(void)
{
	static const u32 deltas[] = { 0, 1, 0x5555555, EXTEND / 2, EXTEND - 1 };
	u32 type, i;

	for (type = 0; type < 32; type++)
		for (i = 0; i < ARRAY_SIZE(deltas); i++)
			CHECK(rb_writer_header(type, deltas[i]) == header_word(type, deltas[i]));

	CHECK(RB_WRITER_TIME_EXTEND == 30);
	CHECK(RB_WRITER_MAX_SHORT == 112);
	CHECK(RB_WRITER_TS_MASK + 1 == EXTEND);
}

static void test_layout(void)
{
	CHECK(sizeof(struct ring_buffer_writer_page) == sizeof(struct page));
	CHECK(offsetof(struct ring_buffer_writer_page, time_stamp) == 0);
	CHECK(offsetof(struct ring_buffer_writer_page, commit) == 8);
	CHECK(offsetof(struct ring_buffer_writer_page, data) == 16);
	CHECK(offsetof(struct ring_buffer_writer_meta, meta) == 0);
	CHECK(sizeof(struct ring_buffer_writer_meta) <= PAGE_SIZE);
	CHECK(sizeof(struct trace_ring) <= PAGE_SIZE);
}

/* What a 6.12 kernel would have written, word for word */
static void test_words(void)
{
	struct fixture f;
	u32 *words;

	fixture_init(&f, RB_WRITER_MIN_PAGES);
	fixture_write(&f, 8, 0, 1000);
	fixture_write(&f, 1, 1, 1007);
	fixture_write(&f, 113, 2, 1007 + 3 * EXTEND + 9);

	words = (u32 *)f.pages[0]->data;
	CHECK(f.pages[0]->time_stamp == 1000);
	CHECK(f.pages[0]->commit == 12 + 8 + 8 + 8 + 116);
	CHECK(words[0] == header_word(2, 0));
	CHECK(words[3] == header_word(1, 7));
	CHECK(words[5] == header_word(30, 9) && words[6] == 3);
	CHECK(words[7] == header_word(0, 0) && words[8] == 120);
	fixture_free(&f);
}

static void check_size(u32 size)
{
	struct fixture f;

	tap_at("size %u", size);
	fixture_init(&f, RB_WRITER_MIN_PAGES);

	CHECK(fixture_write(&f, size, 0x1122334455667788, 50));
	CHECK(fixture_used(&f, 0) == page_event_size(size));
	CHECK(fixture_write(&f, 4, 1, 51));
	expect_event(&f, size, 0x1122334455667788, 50, 0);
	expect_event(&f, 4, 1, 51, 0);
	expect_nothing(&f);
	expect_counters(&f, (struct counters){ .entries = 2, .tail = size > EVENT_MAX - 8 });
	fixture_free(&f);
}

static void test_sizes(void)
{
	u32 size;

	for (size = 0; size <= EVENT_MAX; size++) {
		if (size == 600 && EVENT_MAX > 1200)
			size = EVENT_MAX - 600;
		check_size(size);
	}
}

/* A refused event is counted, and is all that is counted. */
static void test_too_big(void)
{
	static const u32 sizes[] = { EVENT_MAX + 1, EVENT_MAX + 4, PAGE_SIZE, INT_MAX,
				     UINT_MAX - 3, UINT_MAX - 2, UINT_MAX };
	struct fixture f;
	u32 i;

	fixture_init(&f, RB_WRITER_MIN_PAGES);
	fixture_write(&f, 12, 0, 100);

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		CHECK(!fixture_abandon(&f, sizes[i], 200 * EXTEND));
	trace_ring_drop(&f.ring);

	fixture_write(&f, 12, 1, 103);
	expect_counters(&f, (struct counters){ .entries = 2, .dropped = i + 1 });
	expect_event(&f, 12, 0, 100, 0);
	expect_event(&f, 12, 1, 103, 0);
	expect_nothing(&f);
	fixture_free(&f);
}

static void test_memory(void)
{
	struct trace_ring_event event;
	struct fixture f;
	u32 size;
	u8 *data;

	fixture_init(&f, RB_WRITER_MIN_PAGES);
	for (size = 0; size <= 200; size++) {
		CHECK(trace_ring_reserve(&f.ring, size, size * EXTEND, &event));
		data = event.data;
		CHECK((uintptr_t)data % 4 == 0);
		CHECK(data >= trace_ring_page(f.ring.commit)->data);
		CHECK(data + size <= (u8 *)trace_ring_page(f.ring.commit) + PAGE_SIZE);
		trace_ring_commit(&f.ring, &event);
	}
	fixture_free(&f);
}

static const u64 deltas[] = {
	0, 1, EXTEND - 1, EXTEND, EXTEND + 1, 2 * EXTEND - 1, 2 * EXTEND,
	(1ULL << 32) - 1, 1ULL << 32, (1ULL << 45) + 12345, (1ULL << 59) - 1,
};

static void check_delta(u64 delta)
{
	struct fixture f;

	tap_at("delta %#llx", delta);
	fixture_init(&f, RB_WRITER_MIN_PAGES);

	fixture_write(&f, 16, 0, 777);
	fixture_write(&f, 16, 1, 777 + delta);
	fixture_write(&f, 16, 2, 777 + delta + 5);
	CHECK(fixture_used(&f, 0) == 3 * 20 + (delta < EXTEND ? 0 : 8));

	expect_event(&f, 16, 0, 777, 0);
	expect_event(&f, 16, 1, 777 + delta, 0);
	expect_event(&f, 16, 2, 777 + delta + 5, 0);
	fixture_free(&f);
}

static void test_deltas(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(deltas); i++)
		check_delta(deltas[i]);
}

/* A page begins with its own time, however long ago the event before was. */
static void test_page_time(void)
{
	struct fixture f;
	u32 i;

	fixture_init(&f, ARRAY_SIZE(deltas) + 2);
	for (i = 0; i < ARRAY_SIZE(deltas); i++) {
		fixture_write(&f, EVENT_MAX, i, deltas[i]);
		CHECK(f.pages[i]->time_stamp == deltas[i]);
		CHECK(fixture_used(&f, i) == PAGE_CAPACITY);
	}
	for (i = 0; i < ARRAY_SIZE(deltas); i++)
		expect_event(&f, EVENT_MAX, i, deltas[i], 0);
	fixture_free(&f);
}

/* A delta that is too long for a time extend begins a page as well. */
static void test_longest_delta(void)
{
	static const u64 times[] = { 5, 5 + (1ULL << 59), ~0ULL };
	struct fixture f;
	u32 i;

	fixture_init(&f, 4);
	for (i = 0; i < ARRAY_SIZE(times); i++)
		fixture_write(&f, 16, i, times[i]);
	expect_counters(&f, (struct counters){ .entries = 3, .tail = 2 });
	for (i = 0; i < ARRAY_SIZE(times); i++)
		expect_event(&f, 16, i, times[i], 0);
	fixture_free(&f);
}

/* Time that goes backwards is taken for no time at all. */
static void test_backwards(void)
{
	struct fixture f;

	fixture_init(&f, 4);
	fixture_write(&f, 4, 0, 10 * EXTEND);
	fixture_write(&f, 4, 1, 10 * EXTEND - 1);
	fixture_write(&f, 4, 2, 0);
	fixture_write(&f, EVENT_MAX, 3, 1);
	fixture_write(&f, EVENT_MAX, 4, 10 * EXTEND + 1);

	expect_event(&f, 4, 0, 10 * EXTEND, 0);
	expect_event(&f, 4, 1, 10 * EXTEND, 0);
	expect_event(&f, 4, 2, 10 * EXTEND, 0);
	expect_event(&f, EVENT_MAX, 3, 10 * EXTEND, 0);
	expect_event(&f, EVENT_MAX, 4, 10 * EXTEND + 1, 0);
	fixture_free(&f);
}

/* Begun and not committed: neither its data, its time nor its count remain. */
static void test_abandoned(void)
{
	struct fixture f;

	fixture_init(&f, RB_WRITER_MIN_PAGES);
	CHECK(fixture_abandon(&f, 40, 9 * EXTEND));
	expect_nothing(&f);
	fixture_write(&f, 4, 0, 100);
	CHECK(fixture_abandon(&f, 40, 9 * EXTEND));
	CHECK(fixture_abandon(&f, 80, 18 * EXTEND));
	expect_counters(&f, (struct counters){ .entries = 1 });
	expect_event(&f, 4, 0, 100, 0);
	expect_nothing(&f);

	fixture_write(&f, 8, 1, 101);
	expect_event(&f, 8, 1, 101, 0);
	expect_nothing(&f);
	CHECK(fixture_used(&f, 0) == 8 + 12);
	fixture_free(&f);
}

/* The page is begun for an event that never comes; the next one gets it. */
static void test_abandoned_page(void)
{
	struct fixture f;
	int i;

	fixture_init(&f, RB_WRITER_MIN_PAGES);
	fixture_write_pages(&f, 0, 1);
	for (i = 1; i < 9; i++)
		CHECK(fixture_abandon(&f, EVENT_MAX, i * EXTEND));
	expect_counters(&f, (struct counters){ .entries = 1, .tail = 1 });
	expect_pages(&f, 0, 1, 0);
	expect_nothing(&f);

	fixture_write_pages(&f, 1, 1);
	expect_pages(&f, 1, 1, 0);
	expect_counters(&f, (struct counters){ .entries = 2, .tail = 1 });
	fixture_free(&f);
}

/* A large event on a new ring fits, whatever the time is. */
static void test_first_large(void)
{
	struct fixture f;

	fixture_init(&f, RB_WRITER_MIN_PAGES);
	fixture_write(&f, EVENT_MAX, 0, 5 * EXTEND);
	expect_counters(&f, (struct counters){ .entries = 1 });
	expect_event(&f, EVENT_MAX, 0, 5 * EXTEND, 0);
	fixture_free(&f);
}

/* The fast path fails for this event, and has changed nothing. */
static bool refuses(struct fixture *f, u32 size, u64 time)
{
	static u8 before[PAGE_SIZE];
	struct trace_ring ring = f->ring;
	struct trace_ring_event event;

	memcpy(before, trace_ring_page(f->ring.commit), PAGE_SIZE);
	if (trace_ring_try_reserve(&f->ring, size, time, &event))
		return false;

	CHECK(!memcmp(&ring, &f->ring, sizeof(ring)));
	CHECK(!memcmp(before, trace_ring_page(f->ring.commit), PAGE_SIZE));
	return true;
}

static bool takes(struct fixture *f, u32 size, u64 time)
{
	struct trace_ring_event event;

	if (!trace_ring_try_reserve(&f->ring, size, time, &event))
		return false;

	payload_fill(event.data, size, time);
	trace_ring_commit(&f->ring, &event);
	return true;
}

static void write_slow_path(struct fixture *f, u32 size, u64 time)
{
	struct trace_ring_event event;

	if (!CHECK(trace_ring_reserve(&f->ring, size, time, &event)))
		return;
	payload_fill(event.data, size, time);
	trace_ring_commit(&f->ring, &event);
}

/* A page is begun on the slow path, and then filled on the fast path. */
static void check_fast_path(u32 size)
{
	struct fixture f;
	u64 time, events = 1;

	fixture_init(&f, RB_WRITER_MIN_PAGES);
	CHECK(refuses(&f, size, 0));
	write_slow_path(&f, size, 0);
	for (; fixture_used(&f, 0) + page_event_size(size) <= PAGE_CAPACITY; events++)
		if (!CHECK(takes(&f, size, events)))
			break;

	CHECK(refuses(&f, size, events));
	expect_counters(&f, (struct counters){ .entries = events });
	for (time = 0; time < events; time++)
		expect_event(&f, size, time, time, 0);
	expect_nothing(&f);
	fixture_free(&f);
}

static void test_fast_path(void)
{
	u32 size;

	for (size = 4; size <= RB_WRITER_MAX_SHORT; size += 4)
		check_fast_path(size);
}

static void test_short_time(void)
{
	struct fixture f;

	fixture_init(&f, RB_WRITER_MIN_PAGES);
	write_slow_path(&f, 4, 1000);
	CHECK(refuses(&f, 4, 999));
	CHECK(refuses(&f, 4, 0));
	CHECK(takes(&f, 4, 1000));
	CHECK(refuses(&f, 4, 1000 + EXTEND));
	CHECK(refuses(&f, 4, 1000 + (1ULL << 32)));
	CHECK(refuses(&f, 4, 1000 + (1ULL << 63)));
	CHECK(takes(&f, 4, 1000 + EXTEND - 1));
	CHECK(takes(&f, 4, 1000 + 2 * (EXTEND - 1)));

	trace_ring_reset(&f.ring);
	CHECK(refuses(&f, 4, 1000 + 2 * (EXTEND - 1)));
	write_slow_path(&f, 4, 0);
	CHECK(refuses(&f, 4, 0));
	CHECK(takes(&f, 4, 1000 + 2 * (EXTEND - 1)));
	fixture_free(&f);
}

static const struct tap_test tests[] = {
	{ "the header word is the kernel's bit field", test_header },
	{ "pages and meta page have the kernel's layout", test_layout },
	{ "a short, a long and a late event, word for word", test_words },
	{ "events of all sizes are read as written", test_sizes },
	{ "an event larger than a page is dropped and counted", test_too_big },
	{ "events get aligned memory within the page", test_memory },
	{ "a delta of 27 bits fits, a larger one is extended", test_deltas },
	{ "a page begins with its own time, never an extend", test_page_time },
	{ "a delta of more than 59 bits begins a page", test_longest_delta },
	{ "time that goes backwards stands still", test_backwards },
	{ "an event that is not committed never was", test_abandoned },
	{ "nor does it leave an empty page behind", test_abandoned_page },
	{ "the first event of a ring may fill a page", test_first_large },
	{ "the fast path fills a page after its first event, and no more", test_fast_path },
	{ "it is for deltas of 27 bits, and no others", test_short_time },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
