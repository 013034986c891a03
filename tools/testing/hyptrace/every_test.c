// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every interleaving of a writer that goes from page to page, a reader that swaps, and a
 * reset, on rings of two to four slots, with any number of switches. First, loads see
 * the latest value; then they may see older ones, unless a barrier in the source forbids
 * that (machine.c). interleave_test.c has longer programs with fewer switches.
 *
 * The CPU of the writer resets the ring between its events, and not while the reader
 * reads. trace.c and the host's lock ensure this; the lock here stands for both.
 */
#include <errno.h>

#include "expect.h"
#include "explore.h"
#include "machine.h"

/**
 * struct every - what is interleaved
 * @nr_slots:	of the ring
 * @before:	events written before, a page each
 * @reads:	of these read, so that the reader has a page
 * @writes:	events that the writer writes
 * @resets:	before this one of them, from 1, the writer clears all; 0 for never
 * @polls:	how often the reader looks for an event
 */
struct every {
	u32	nr_slots;
	u32	before;
	u32	reads;
	u32	writes;
	u32	resets;
	u32	polls;
};

static const struct every *every;
static struct fixture f;
static struct reader reader;
static u64 written;	/* since the last reset, as all these */
static u64 expected;
static u64 gaps;
static u64 era;		/* how many resets */
static u64 base;	/* the first position since the last one */

/* An event has the era as well. */
static u64 every_payload(u64 number)
{
	return number | era << 32;
}

static void every_write(void)
{
	CHECK(fixture_write(&f, EVENT_MAX, every_payload(written), written));
	written++;
}

static void every_lock(void)
{
	if (every->resets)
		machine_lock();
}

static void every_unlock(void)
{
	if (every->resets)
		machine_unlock();
}

static void every_reset(void)
{
	every_lock();
	trace_ring_reset(&f.ring);
	/* The machine is to know what was stored without saying so. */
	WRITE_ONCE(f.ring.overrun, f.ring.overrun);
	reader_reset(&reader);
	written = 0;
	expected = 0;
	gaps = 0;
	era++;
	base = f.ring.tail + 1;
	every_unlock();
}

/* Each event is the next one, but for those that were reported lost before it. */
static int every_read(void)
{
	struct event event;
	int ret = reader_next(&reader, &event);

	if (ret != 1)
		return ret;

	CHECK(payload_matches(&event, EVENT_MAX, every_payload(expected + reader.lost)));
	expected += reader.lost + 1;
	gaps += reader.lost;
	reader.lost = 0;
	return ret;
}

static void writer_program(void)
{
	u32 i;

	for (i = 1; i <= every->writes; i++) {
		if (i == every->resets)
			every_reset();
		every_write();
	}
}

static void reader_program(void)
{
	int ret;
	u32 i;

	for (i = 0; i < every->polls && !tap_failed(); i++) {
		every_lock();
		ret = every_read();
		every_unlock();
		CHECK(ret == 0 || ret == 1 || ret == -EAGAIN || (era && ret == -ENODATA));
	}
}

static void every_init(void)
{
	u32 i;

	written = 0;
	expected = 0;
	gaps = 0;
	era = 0;
	base = 0;
	fixture_init(&f, every->nr_slots + 1);
	reader_init(&reader, &f);
	for (i = 0; i < every->before; i++)
		every_write();
	for (i = 0; i < every->reads; i++)
		CHECK(every_read() == 1);
}

/* All is read or reported lost, and counted. */
static void every_check(void)
{
	while (every_read() == 1)
		;
	CHECK(expected == written && !reader.lost);
	CHECK(fixture_entries(&f) == written);
	CHECK(f.meta->meta.overrun == gaps);
	CHECK(f.meta->overrun_bytes == gaps * page_event_size(EVENT_MAX));
	CHECK(f.meta->base == base);
}

static u64 every_way(const struct every *e, bool latest)
{
	u64 ways = 0;

	every = e;
	explore_begin(UINT32_MAX);
	do {
		tap_at("%u slots, %u before, %u read, %u written, %u reads: way %llu", e->nr_slots,
		       e->before, e->reads, e->writes, e->polls, explore_ways());
		every_init();
		reader_hide(&reader);
		ways += machine_run_every(writer_program, reader_program, latest);
		every_check();
		fixture_free(&f);
	} while (!tap_failed() && explore_next());

	tap_note("%u slots, %u before, %u read, %u written%s, %u reads: %llu ways", e->nr_slots,
		 e->before, e->reads, e->writes, e->resets ? " around a reset" : "", e->polls,
		 ways);
	return ways;
}

static void every_all(const struct every *e, u32 nr, bool latest)
{
	u64 ways = 0;
	u32 i;

	for (i = 0; i < nr && !tap_failed(); i++)
		ways += every_way(&e[i], latest);
	tap_note("%llu ways in all", ways);
}

/* With a reader that has its page, and one that has none yet; full, and not */
static const struct every swaps[] = {
	{ .nr_slots = 2, .writes = 3, .polls = 2 },
	{ .nr_slots = 2, .before = 2, .writes = 2, .polls = 2 },
	{ .nr_slots = 2, .before = 2, .writes = 3, .polls = 1 },
	{ .nr_slots = 2, .before = 3, .reads = 1, .writes = 2, .polls = 2 },
	{ .nr_slots = 3, .before = 3, .writes = 2, .polls = 2 },
	{ .nr_slots = 3, .before = 5, .reads = 1, .writes = 2, .polls = 2 },
	{ .nr_slots = 4, .before = 4, .writes = 2, .polls = 2 },
	{ .nr_slots = 4, .before = 7, .reads = 2, .writes = 2, .polls = 2 },
};

static const struct every resets[] = {
	{ .nr_slots = 2, .before = 2, .writes = 2, .resets = 1, .polls = 2 },
	{ .nr_slots = 2, .before = 2, .writes = 3, .resets = 2, .polls = 2 },
	{ .nr_slots = 2, .before = 3, .reads = 1, .writes = 3, .resets = 2, .polls = 2 },
	{ .nr_slots = 3, .before = 3, .writes = 3, .resets = 2, .polls = 2 },
	{ .nr_slots = 3, .before = 4, .reads = 1, .writes = 3, .resets = 2, .polls = 2 },
	{ .nr_slots = 4, .before = 4, .writes = 3, .resets = 2, .polls = 2 },
	{ .nr_slots = 4, .before = 6, .reads = 2, .writes = 3, .resets = 2, .polls = 2 },
};

/* Fewer steps: each has as many outcomes as there are values to be seen. */
static const struct every weak_swaps[] = {
	{ .nr_slots = 2, .before = 2, .writes = 1, .polls = 1 },
	{ .nr_slots = 2, .before = 3, .reads = 1, .writes = 1, .polls = 1 },
	{ .nr_slots = 3, .before = 3, .writes = 1, .polls = 1 },
	{ .nr_slots = 3, .before = 4, .reads = 1, .writes = 1, .polls = 1 },
	{ .nr_slots = 4, .before = 4, .writes = 1, .polls = 1 },
	{ .nr_slots = 4, .before = 5, .reads = 1, .writes = 1, .polls = 1 },
};

static const struct every weak_resets[] = {
	{ .nr_slots = 2, .before = 2, .writes = 2, .resets = 1, .polls = 2 },
	{ .nr_slots = 2, .before = 2, .writes = 2, .resets = 2, .polls = 1 },
	{ .nr_slots = 3, .before = 3, .writes = 3, .resets = 1, .polls = 2 },
	{ .nr_slots = 4, .before = 4, .writes = 3, .resets = 1, .polls = 2 },
};

static void test_swaps(void)
{
	every_all(swaps, ARRAY_SIZE(swaps), true);
}

static void test_resets(void)
{
	every_all(resets, ARRAY_SIZE(resets), true);
}

static void test_weak_swaps(void)
{
	every_all(weak_swaps, ARRAY_SIZE(weak_swaps), false);
}

static void test_weak_resets(void)
{
	every_all(weak_resets, ARRAY_SIZE(weak_resets), false);
}

static const struct tap_test tests[] = {
	{ "every interleaving of a writer and swaps", test_swaps },
	{ "every interleaving of a writer that resets, and swaps", test_resets },
	{ "every interleaving of a writer and swaps, memory being weak", test_weak_swaps },
	{ "every interleaving of a writer that resets, and swaps, memory being weak",
	  test_weak_resets },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
