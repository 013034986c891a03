// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer that goes from page to page, a consuming reader, a reset, and a non-consuming
 * reader, in all interleavings with a limited number of switches and stale loads. Each
 * word of a page is loaded and stored by itself.
 */
#include "expect.h"
#include "explore.h"
#include "machine.h"

#define MAX_NUMBERS	32

/**
 * struct interleaving - what is interleaved
 * @nr_pages:	of the ring
 * @per_page:	events a page
 * @before:	events written before
 * @reads:	events of these read, so that there is a reader's page
 * @writes:	events that the writer writes
 * @reads_on:	events that the reader reads meanwhile, at most
 * @resets:	after so many of them the writer clears all; 0 for never
 * @unusual:	switches, stale loads and reads on a way, at most
 */
struct interleaving {
	u32	nr_pages;
	u32	per_page;
	u32	before;
	u32	reads;
	u32	writes;
	u32	reads_on;
	u32	resets;
	u32	unusual;
};

static const struct interleaving *interleaving;
static struct fixture f;
static u64 written;		/* since the last reset */
static u64 era;			/* how many resets */
static u64 expected;		/* by the reader */
static u64 lost_before;		/* ... before the events that it has read */
static u32 reads_on;
static bool is_consumed[MAX_NUMBERS];
static u64 lost_until;		/* events before were reported lost */
static u64 nr_shown;

static u32 interleave_size(void)
{
	return min(PAGE_CAPACITY / interleaving->per_page - 4, EVENT_MAX);
}

/* An event has the era as well. */
static u64 interleave_payload(u64 number)
{
	return number | era << 32;
}

static void interleave_reset(void)
{
	CHECK(!ring_buffer_reader_reset(f.buffer, 0));
	memset(is_consumed, 0, sizeof(is_consumed));
	written = 0;
	expected = 0;
	lost_before = 0;
	era++;
}

static void interleave_write(u32 nr)
{
	while (nr--) {
		CHECK(fixture_write(&f, interleave_size(), interleave_payload(written), written));
		if (++written == interleaving->resets && !era)
			interleave_reset();
	}
}

/* Each event is the next one, but for those that were reported lost before it. */
static bool interleave_read(void)
{
	struct event event;
	u64 number;

	if (!fixture_read(&f, &event))
		return false;

	number = payload_number(&event);
	CHECK(payload_matches(&event, interleave_size(), number));
	/* The events that a reset clears meanwhile were not consumed. */
	if (number >> 32 != era)
		return true;

	number = (u32)number;
	if (!CHECK(number == expected + event.lost && number < MAX_NUMBERS))
		return false;
	is_consumed[number] = true;
	lost_before += event.lost;
	expected = number + 1;
	return true;
}

/* How many events from @first on to @end were not consumed */
static u64 interleave_unread(u64 first, u64 end)
{
	u64 nr = 0;

	for (; first < end && first < MAX_NUMBERS; first++)
		nr += !is_consumed[first];
	return nr;
}

/* What was skipped was lost, or consumed. At the end, @to is the last event that there may be. */
static void interleave_check_lost(u64 lost, u64 from, u64 to, bool at_end)
{
	while (at_end && to > from && interleave_unread(from, to) > lost)
		to--;
	CHECK(to >= from && lost == interleave_unread(from, to));
	if (lost)
		lost_until = to;
}

/* The next event of the snapshot, which began in @shown_era; false at the end. */
static bool interleave_show(struct ring_buffer_reader_iter *iter, u64 shown_era, u64 *next)
{
	struct event event;
	u64 number;

	if (reads_on && explore_choose(2)) {
		reads_on--;
		interleave_read();
	}

	if (!fixture_iterate(iter, &event)) {
		CHECK(event.lost != ULONG_MAX);
		if (shown_era == era)
			interleave_check_lost(event.lost, *next, written + 1, true);
		return false;
	}

	number = payload_number(&event);
	CHECK(payload_matches(&event, interleave_size(), number) && number >> 32 == shown_era);
	number = (u32)number;
	if (shown_era == era)
		interleave_check_lost(event.lost, *next, number, false);
	*next = number + 1;
	nr_shown++;
	return !tap_failed();
}

static void interleave_snapshot(void)
{
	struct ring_buffer_reader_iter *iter = ring_buffer_reader_iter_start(f.buffer, 0);
	/* A reset waits for the lock, and so comes before the start or later than this. */
	u64 shown_era = era, next = expected;

	while (interleave_show(iter, shown_era, &next))
		;
	ring_buffer_reader_iter_finish(iter);
}

static void writer_program(void)
{
	interleave_write(interleaving->writes);
}

static void snapshot_program(void)
{
	reads_on = interleaving->reads_on;
	interleave_snapshot();
	reads_on = 0;
}

/* The counters belong to the tail, whatever the writer is at. */
static void state_program(void)
{
	u32 nr_slots = interleaving->nr_pages - 1, bytes = page_event_size(interleave_size()), i;
	struct rb_writer_state state;
	bool agree = false;
	u64 tail, lost;

	for (i = 0; i < 2; i++) {
		scoped_guard(raw_spinlock_irqsave, f.reader->lock)
			agree = rb_writer_get_state(f.reader, &state);
		if (!agree)
			continue;
		tail = state.tail;
		lost = tail >= nr_slots ? (tail - nr_slots + 1) * interleaving->per_page : 0;
		CHECK(state.overrun == lost);
		CHECK(state.entries >= tail * interleaving->per_page);
		CHECK(state.entries <= (tail + 1) * interleaving->per_page);
		CHECK(state.oldest == lost / interleaving->per_page);
		CHECK(state.bytes >= (tail * interleaving->per_page - lost) * bytes);
		CHECK(state.bytes <= ((tail + 1) * interleaving->per_page - lost) * bytes);
	}
}

static void interleave_init(void)
{
	u32 i;

	memset(is_consumed, 0, sizeof(is_consumed));
	written = 0;
	era = 0;
	expected = 0;
	lost_before = 0;
	lost_until = 0;
	nr_shown = 0;

	fixture_init(&f, interleaving->nr_pages);
	interleave_write(interleaving->before);
	for (i = 0; i < interleaving->reads; i++)
		CHECK(interleave_read());
	fixture_expose(&f);
	if (interleaving->resets)
		machine_share(f.reader->lock, sizeof(*f.reader->lock));
}

/* Now that all is quiet: all that there is can be seen, and none of it was reported lost. */
static void interleave_check_after(void)
{
	u64 overrun = f.meta->meta.overrun, unread = written - (expected - lost_before) - overrun;
	struct ring_buffer_reader_stats stats;

	CHECK(interleaving->resets || lost_until <= overrun + expected);
	ring_buffer_reader_get_stats(f.buffer, 0, &stats);
	CHECK(stats.entries == unread && stats.overrun == overrun);
	nr_shown = 0;
	interleave_snapshot();
	CHECK(nr_shown == unread);
}

static void interleave_all(const struct interleaving *w, void (*program)(void))
{
	interleaving = w;
	explore_begin(w->unusual);
	do {
		tap_at("%u pages, %u before, %u read: way %llu", w->nr_pages, w->before,
		       w->reads, explore_ways());
		interleave_init();
		machine_run(writer_program, program);
		interleave_check_after();
		fixture_free(&f);
	} while (!tap_failed() && explore_next());
	tap_note("%u pages, %u before, %u read: %llu ways", w->nr_pages, w->before,
		 w->reads, explore_ways());
}

/* The page that is copied is the one being written, then left. */
static void test_page(void)
{
	static const struct interleaving empty = {
		.nr_pages = 3, .per_page = 2, .writes = 3, .unusual = 4,
	}, half_read = {
		.nr_pages = 3, .per_page = 2, .before = 1, .reads = 1, .writes = 3, .unusual = 4,
	};

	interleave_all(&empty, snapshot_program);
	interleave_all(&half_read, snapshot_program);
}

/* The ring is full: the page that is copied is the one that is overwritten. */
static void test_full(void)
{
	static const struct interleaving full = {
		.nr_pages = 3, .per_page = 1, .before = 2, .writes = 1, .unusual = 4,
	}, full_and_read = {
		.nr_pages = 3, .per_page = 1, .before = 3, .reads = 1, .writes = 3, .unusual = 3,
	}, more_pages = {
		.nr_pages = 4, .per_page = 2, .before = 6, .writes = 4, .unusual = 3,
	};

	interleave_all(&full, snapshot_program);
	interleave_all(&full_and_read, snapshot_program);
	interleave_all(&more_pages, snapshot_program);
}

/* A lap and more */
static void test_lap(void)
{
	static const struct interleaving lap = {
		.nr_pages = 3, .per_page = 1, .before = 2, .writes = 4, .unusual = 3,
	}, from_reader = {
		.nr_pages = 4, .per_page = 1, .before = 4, .reads = 1, .writes = 6, .unusual = 3,
	};

	interleave_all(&lap, snapshot_program);
	interleave_all(&from_reader, snapshot_program);
}

/* A reader that consumes pages meanwhile */
static void test_consume(void)
{
	static const struct interleaving full = {
		.nr_pages = 3, .per_page = 1, .before = 2, .writes = 2, .reads_on = 2, .unusual = 3,
	}, from_reader = {
		.nr_pages = 4, .per_page = 1, .before = 4, .reads = 1, .writes = 3, .reads_on = 3,
		.unusual = 3,
	};

	interleave_all(&full, snapshot_program);
	interleave_all(&from_reader, snapshot_program);
}

static void test_reset(void)
{
	static const struct interleaving large = {
		.nr_pages = 3, .per_page = 1, .before = 1, .writes = 4, .resets = 3, .unusual = 3,
	}, small = {
		.nr_pages = 3, .per_page = 2, .before = 3, .writes = 4, .reads_on = 2, .resets = 5,
		.unusual = 3,
	};

	interleave_all(&large, snapshot_program);
	interleave_all(&small, snapshot_program);
}

static void test_state(void)
{
	static const struct interleaving empty = {
		.nr_pages = 3, .per_page = 1, .writes = 3, .unusual = 3,
	}, full = {
		.nr_pages = 3, .per_page = 1, .before = 2, .writes = 2, .unusual = 4,
	}, more_pages = {
		.nr_pages = 4, .per_page = 2, .before = 5, .writes = 4, .unusual = 3,
	};

	interleave_all(&empty, state_program);
	interleave_all(&full, state_program);
	interleave_all(&more_pages, state_program);
}

static const struct tap_test tests[] = {
	{ "a snapshot of a page while it is written", test_page },
	{ "a snapshot of a page while it is overwritten", test_full },
	{ "a snapshot while the writer laps", test_lap },
	{ "a snapshot while a reader consumes pages", test_consume },
	{ "a snapshot while all is cleared", test_reset },
	{ "counters and tail agree", test_state },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
