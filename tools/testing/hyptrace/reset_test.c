// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reset in each state of a ring, and the events after it.
 */
#include "expect.h"

#define EXTEND	0x8000000ULL

/* A ring of PAGES pages that reach() brings into a state */
#define PAGES	5

/**
 * struct state - a state to reset
 * @name:	of the state
 * @events:	how many are written, each a page
 * @reads:	how many of them are read
 * @abandon:	whether an event is begun after that, and left
 */
struct state {
	const char	*name;
	u64		events;
	u64		reads;
	bool		abandon;
};

static const struct state states[] = {
	{ "empty", 0, 0, false },
	{ "empty, abandoned event", 0, 0, true },
	{ "one page", 1, 0, false },
	{ "one page, read", 1, 1, false },
	{ "half full", 3, 0, false },
	{ "half full, half read", 3, 1, false },
	{ "half full, read", 3, 3, false },
	{ "half full, abandoned event", 3, 2, true },
	{ "full", 4, 0, false },
	{ "full, one read", 4, 1, false },
	{ "overwritten", 7, 0, false },
	{ "overwritten, one read", 7, 1, false },
	{ "overwritten, read", 7, 4, false },
	{ "many laps", 41, 0, false },
	{ "many laps, read, abandoned event", 41, 4, true },
};

static void reach(const struct state *state, struct fixture *f)
{
	u64 lost = state->events > PAGES - 1 ? state->events - (PAGES - 1) : 0;

	fixture_init(f, PAGES);
	fixture_write_pages(f, 0, state->events);
	CHECK(!fixture_abandon(f, PAGE_SIZE, 0));
	if (state->reads)
		expect_pages(f, lost, state->reads, lost);
	if (state->abandon)
		CHECK(fixture_abandon(f, EVENT_MAX, 1000));
}

static void reset(struct fixture *f, u32 times)
{
	u64 tail = f->meta->tail;

	while (times--)
		CHECK(!ring_buffer_reader_reset(f->buffer, 0));
	expect_counters(f, (struct counters){ .tail = tail });
	CHECK(!f->meta->meta.reader.lost_events);
	expect_no_data(f);
}

/* As a new ring, but for the time and for where it begins */
static void check_after(struct fixture *f, u64 nr)
{
	u64 lost = nr > PAGES - 1 ? nr - (PAGES - 1) : 0, tail = f->meta->tail;

	fixture_write_pages(f, 100, nr);
	expect_counters(f, (struct counters){ .entries = nr, .overrun = lost, .tail = tail + nr });
	if (nr)
		expect_pages(f, 100 + lost, nr - lost, lost);
	expect_no_data(f);
}

static void check_state(const struct state *state, u32 times, u64 after)
{
	struct fixture f;

	tap_at("%s, %u resets, %llu events after", state->name, times, after);
	reach(state, &f);
	reset(&f, times);
	check_after(&f, after);
	fixture_free(&f);
}

static void test_states(void)
{
	u64 after;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		for (after = 0; after < 4 * PAGES; after++)
			check_state(&states[i], 1, after);
}

static void test_twice(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		check_state(&states[i], 2, 1);
		check_state(&states[i], 3, 3 * PAGES);
	}
}

/* Reset, write some, reset: the second begins where the first left the ring. */
static void test_between(void)
{
	struct fixture f;
	u64 between;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		for (between = 0; between < 3 * PAGES; between++) {
			tap_at("%s, %llu events between", states[i].name, between);
			reach(&states[i], &f);
			reset(&f, 1);
			fixture_write_pages(&f, 50, between);
			reset(&f, 1);
			check_after(&f, 2 * PAGES);
			fixture_free(&f);
		}
	}
}

/* The writer leaves a page half written, and the reader there if it was. */
static void check_half_page(u32 reads)
{
	struct fixture f;
	u32 i;

	tap_at("%u read", reads);
	fixture_init(&f, PAGES);
	fixture_write(&f, 8, 0, 10);
	fixture_write(&f, 8, 1, 11);
	for (i = 0; i < reads; i++)
		expect_event(&f, 8, i, 10 + i, 0);

	reset(&f, 1);
	fixture_write(&f, 8, 2, 12);
	CHECK(fixture_used(&f, 0) == 2 * 12);
	CHECK(fixture_used(&f, 1) == 12);
	expect_event(&f, 8, 2, 12, 0);
	expect_nothing(&f);
	expect_counters(&f, (struct counters){ .entries = 1, .tail = 1 });
	fixture_free(&f);
}

static void test_half_page(void)
{
	u32 reads;

	for (reads = 0; reads <= 2; reads++)
		check_half_page(reads);
}

/* Events refused after a reset are counted from 0. */
static void test_dropped(void)
{
	struct fixture f;

	fixture_init(&f, PAGES);
	trace_ring_drop(&f.ring);
	trace_ring_drop(&f.ring);
	trace_ring_reset(&f.ring);
	trace_ring_drop(&f.ring);
	expect_counters(&f, (struct counters){ .dropped = 1 });
	fixture_free(&f);
}

static void test_time(void)
{
	struct fixture f;

	fixture_init(&f, PAGES);
	fixture_write(&f, 4, 0, 3 * EXTEND);
	reset(&f, 1);
	fixture_write(&f, 4, 1, 2 * EXTEND);
	fixture_write(&f, 4, 2, 5 * EXTEND);
	expect_event(&f, 4, 1, 3 * EXTEND, 0);
	expect_event(&f, 4, 2, 5 * EXTEND, 0);
	fixture_free(&f);
}

static const struct tap_test tests[] = {
	{ "a reset ring is empty, and works as a new one", test_states },
	{ "resets in a row are as one", test_twice },
	{ "resets with events between them", test_between },
	{ "the page being written is left as it is", test_half_page },
	{ "refused events are counted from 0", test_dropped },
	{ "time does not go backwards over a reset", test_time },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
