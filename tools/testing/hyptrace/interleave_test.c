// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer that goes from page to page and resets the ring between its events, and a reader that
 * swaps. First all interleavings with a limited number of switches and stale loads, then every
 * interleaving of shorter programs on rings of two to four slots, with any number of switches.
 * There, loads first see the latest value; then they may see older ones, unless a barrier in the
 * source forbids that (machine.c).
 */
#include "expect.h"
#include "explore.h"
#include "machine.h"

/**
 * struct interleaving - what is interleaved
 * @nr_slots:	of the ring
 * @before:	events written before
 * @reads:	of these read, so that the reader has a page
 * @writes:	events that the writer writes
 * @resets:	before this one of them, from 1, the writer clears all; 0 for never
 * @polls:	how often the reader reads
 * @unusual:	switches and stale loads on a way, at most; 0 for any number
 * @size:	of events; 0 for those that are alone on a page
 * @keeps:	the ring keeps its oldest events
 */
struct interleaving {
	u32	nr_slots;
	u32	before;
	u32	reads;
	u32	writes;
	u32	resets;
	u32	polls;
	u32	unusual;
	u32	size;
	bool	keeps;
};

#define MAX_ERAS	2

static const struct interleaving *interleaving;
static struct fixture f;
static u64 era;			/* how many resets */
static u64 written;		/* since the last one */
static u64 dropped;		/* likewise */
static u64 expected[MAX_ERAS];	/* of each era, the number of the next event to read */
static u64 gaps[MAX_ERAS];	/* ... events that were reported lost */
static u64 base;		/* the first position since the last reset */

/* An event that is alone on its page has few words. */
static u32 event_size(void)
{
	return interleaving->size ?: PAGE_CAPACITY / 2;
}

/* An event has the era as well. */
static void interleave_write(void)
{
	if (fixture_write(&f, event_size(), written | era << 32, written))
		written++;
	else if (CHECK(interleaving->keeps))
		dropped++;
}

static void interleave_reset(void)
{
	CHECK(!ring_buffer_reader_reset(f.buffer, 0));
	written = 0;
	dropped = 0;
	era++;
	base = f.ring.tail + 1;
}

/* Each event of an era is the next one, but for those that were reported lost before it. */
static bool interleave_read(void)
{
	struct event event;
	u64 number, e;

	if (!fixture_read(&f, &event))
		return false;

	e = payload_number(&event) >> 32;
	number = (u32)payload_number(&event);
	CHECK(payload_matches(&event, event_size(), number | e << 32));
	CHECK(event.time == number || e);
	if (CHECK(e <= era && number == expected[e] + event.lost)) {
		expected[e] = number + 1;
		gaps[e] += event.lost;
	}
	return true;
}

static void writer_program(void)
{
	u32 i;

	for (i = 1; i <= interleaving->writes; i++) {
		if (i == interleaving->resets)
			interleave_reset();
		interleave_write();
	}
}

static void reader_program(void)
{
	u32 i;

	for (i = 0; i < interleaving->polls && !tap_failed(); i++)
		interleave_read();
}

static void interleave_init(void)
{
	u32 i;

	era = 0;
	written = 0;
	dropped = 0;
	memset(expected, 0, sizeof(expected));
	memset(gaps, 0, sizeof(gaps));
	base = 0;
	fixture_init(&f, interleaving->nr_slots + 1);
	trace_ring_set_overwrite(&f.ring, !interleaving->keeps);
	for (i = 0; i < interleaving->before; i++)
		interleave_write();
	for (i = 0; i < interleaving->reads; i++)
		CHECK(interleave_read());

	fixture_expose(&f);
	fixture_hide_counters(&f);
	if (interleaving->resets)
		machine_share(f.reader->lock, sizeof(*f.reader->lock));
}

/*
 * A ring that keeps its events drops none for which it has room: in the slots, and behind those
 * that were read before. No event is lost, and once all are read there is room for another one.
 */
static void interleave_check_kept(void)
{
	u64 room = interleaving->nr_slots + (era ? 0 : interleaving->reads);
	u64 written_once = written;

	CHECK(!gaps[era] && (!dropped || written >= room));
	interleave_write();
	CHECK(written == written_once + 1);
	CHECK(interleave_read() && expected[era] == written);
}

/* All is read or reported lost, and counted. */
static void interleave_check(void)
{
	u32 bytes = page_event_size(event_size());

	while (interleave_read())
		;
	CHECK(expected[era] == written && !f.reader->consumed.lost);
	if (interleaving->keeps)
		interleave_check_kept();
	expect_counters(&f, (struct counters){
		.entries	= written,
		.overrun	= gaps[era],
		.dropped	= dropped,
		.tail		= f.ring.tail,
	});
	CHECK(f.meta->overrun_bytes == gaps[era] * bytes && f.meta->base == base);
	CHECK(era || f.meta->bytes == written * bytes - trace_ring_used(&f.ring));
}

static bool interleave_once(bool latest)
{
	bool is_new = true;

	interleave_init();
	if (interleaving->unusual)
		machine_run(writer_program, reader_program);
	else
		is_new = machine_run_every(writer_program, reader_program, latest);
	if (is_new)
		interleave_check();
	fixture_free(&f);
	return is_new;
}

static u64 interleave_one(const struct interleaving *i, bool latest)
{
	u64 ways = 0;

	interleaving = i;
	explore_begin(i->unusual ?: UINT32_MAX);
	do {
		tap_at("%u slots, %u before, %u read, %u written, %u reads: way %llu", i->nr_slots,
		       i->before, i->reads, i->writes, i->polls, explore_ways());
		ways += interleave_once(latest);
	} while (!tap_failed() && explore_next());

	tap_note("%u slots, %u before, %u read, %u written%s, %u reads: %llu ways", i->nr_slots,
		 i->before, i->reads, i->writes, i->resets ? " around a reset" : "", i->polls,
		 ways);
	return ways;
}

static void interleave_all(const struct interleaving *all, u32 nr, bool latest)
{
	u64 ways = 0;
	u32 i;

	for (i = 0; i < nr && !tap_failed(); i++)
		ways += interleave_one(&all[i], latest);
	tap_note("%llu ways in all", ways);
}

/* Both are on the first page. */
static const struct interleaving page[] = {
	{ .nr_slots = 2, .writes = 3, .polls = 3, .unusual = 5, .size = NUMBERED },
	{ .nr_slots = 2, .before = 1, .reads = 1, .writes = 3, .polls = 3, .unusual = 5,
	  .size = NUMBERED },
};

/* The writer leaves a page of two events while the reader reads it. */
static const struct interleaving leave[] = {
	{ .nr_slots = 2, .before = 1, .writes = 3, .polls = 4, .unusual = 4,
	  .size = PAGE_CAPACITY / 3 },
	{ .nr_slots = 2, .before = 2, .reads = 1, .writes = 3, .polls = 4, .unusual = 4,
	  .size = PAGE_CAPACITY / 3 },
	{ .nr_slots = 3, .before = 3, .reads = 2, .writes = 4, .polls = 4, .unusual = 3,
	  .size = PAGE_CAPACITY / 3 },
};

/* The ring is full: the page that one overwrites is the one the other wants. */
static const struct interleaving full[] = {
	{ .nr_slots = 2, .before = 2, .writes = 2, .polls = 2, .unusual = 4 },
	{ .nr_slots = 2, .before = 3, .reads = 1, .writes = 3, .polls = 2, .unusual = 4 },
	{ .nr_slots = 3, .before = 3, .writes = 3, .polls = 3, .unusual = 3 },
	{ .nr_slots = 3, .before = 5, .reads = 1, .writes = 3, .polls = 3, .unusual = 3 },
};

/* A lap and more, so that the reader is left behind while it swaps. */
static const struct interleaving laps[] = {
	{ .nr_slots = 2, .before = 2, .writes = 4, .polls = 2, .unusual = 3 },
	{ .nr_slots = 3, .before = 4, .reads = 1, .writes = 5, .polls = 2, .unusual = 3 },
};

/* With a reader that has its page, and one that has none yet; full, and not */
static const struct interleaving swaps[] = {
	{ .nr_slots = 2, .writes = 3, .polls = 2 },
	{ .nr_slots = 2, .before = 2, .writes = 2, .polls = 2 },
	{ .nr_slots = 2, .before = 2, .writes = 3, .polls = 1 },
	{ .nr_slots = 2, .before = 3, .reads = 1, .writes = 2, .polls = 2 },
	{ .nr_slots = 3, .before = 3, .writes = 2, .polls = 2 },
	{ .nr_slots = 3, .before = 5, .reads = 1, .writes = 2, .polls = 2 },
	{ .nr_slots = 4, .before = 4, .writes = 2, .polls = 2 },
	{ .nr_slots = 4, .before = 7, .reads = 2, .writes = 2, .polls = 2 },
};

static const struct interleaving resets[] = {
	{ .nr_slots = 2, .before = 2, .writes = 2, .resets = 1, .polls = 2 },
	{ .nr_slots = 2, .before = 2, .writes = 3, .resets = 2, .polls = 2 },
	{ .nr_slots = 2, .before = 3, .reads = 1, .writes = 3, .resets = 2, .polls = 2 },
	{ .nr_slots = 3, .before = 3, .writes = 3, .resets = 2, .polls = 2 },
	{ .nr_slots = 3, .before = 4, .reads = 1, .writes = 3, .resets = 2, .polls = 2 },
	{ .nr_slots = 4, .before = 4, .writes = 3, .resets = 2, .polls = 2 },
	{ .nr_slots = 4, .before = 6, .reads = 2, .writes = 3, .resets = 2, .polls = 2 },
};

/* Fewer steps: each has as many outcomes as there are values to be seen. */
static const struct interleaving weak_swaps[] = {
	{ .nr_slots = 2, .before = 2, .writes = 1, .polls = 1 },
	{ .nr_slots = 2, .before = 3, .reads = 1, .writes = 1, .polls = 1 },
	{ .nr_slots = 3, .before = 3, .writes = 1, .polls = 1 },
	{ .nr_slots = 3, .before = 4, .reads = 1, .writes = 1, .polls = 1 },
	{ .nr_slots = 4, .before = 4, .writes = 1, .polls = 1 },
	{ .nr_slots = 4, .before = 5, .reads = 1, .writes = 1, .polls = 1 },
};

static const struct interleaving weak_resets[] = {
	{ .nr_slots = 2, .before = 2, .writes = 2, .resets = 1, .polls = 2 },
	{ .nr_slots = 2, .before = 2, .writes = 2, .resets = 2, .polls = 1 },
	{ .nr_slots = 3, .before = 3, .writes = 3, .resets = 1, .polls = 2 },
	{ .nr_slots = 4, .before = 4, .writes = 3, .resets = 1, .polls = 2 },
};

/* The ring is full when the writer begins, or becomes so. */
static const struct interleaving keeps[] = {
	{ .keeps = true, .nr_slots = 2, .before = 2, .writes = 3, .polls = 2 },
	{ .keeps = true, .nr_slots = 2, .before = 3, .reads = 1, .writes = 3, .polls = 2 },
	{ .keeps = true, .nr_slots = 3, .before = 2, .writes = 4, .polls = 2 },
	{ .keeps = true, .nr_slots = 3, .before = 4, .reads = 1, .writes = 3, .polls = 2 },
	{ .keeps = true, .nr_slots = 4, .before = 4, .writes = 3, .polls = 2 },
	{ .keeps = true, .nr_slots = 2, .before = 5, .writes = 3, .polls = 2,
	  .size = PAGE_CAPACITY / 3 },
	{ .keeps = true, .nr_slots = 2, .before = 2, .writes = 3, .resets = 2, .polls = 2 },
	{ .keeps = true, .nr_slots = 3, .before = 4, .reads = 1, .writes = 3, .resets = 2,
	  .polls = 2 },
};

static const struct interleaving weak_keeps[] = {
	{ .keeps = true, .nr_slots = 2, .before = 2, .writes = 2, .polls = 1 },
	{ .keeps = true, .nr_slots = 2, .before = 3, .reads = 1, .writes = 2, .polls = 1 },
	{ .keeps = true, .nr_slots = 3, .before = 3, .writes = 1, .polls = 2 },
	{ .keeps = true, .nr_slots = 3, .before = 4, .reads = 1, .writes = 1, .polls = 1 },
	{ .keeps = true, .nr_slots = 4, .before = 4, .writes = 2, .polls = 1 },
	{ .keeps = true, .nr_slots = 2, .before = 2, .writes = 2, .resets = 2, .polls = 1 },
};

static void test_page(void)
{
	interleave_all(page, ARRAY_SIZE(page), false);
}

static void test_leave(void)
{
	interleave_all(leave, ARRAY_SIZE(leave), false);
}

static void test_full(void)
{
	interleave_all(full, ARRAY_SIZE(full), false);
}

static void test_lap(void)
{
	interleave_all(laps, ARRAY_SIZE(laps), false);
}

static void test_swaps(void)
{
	interleave_all(swaps, ARRAY_SIZE(swaps), true);
}

static void test_resets(void)
{
	interleave_all(resets, ARRAY_SIZE(resets), true);
}

static void test_weak_swaps(void)
{
	interleave_all(weak_swaps, ARRAY_SIZE(weak_swaps), false);
}

static void test_weak_resets(void)
{
	interleave_all(weak_resets, ARRAY_SIZE(weak_resets), false);
}

static void test_keeps(void)
{
	interleave_all(keeps, ARRAY_SIZE(keeps), true);
}

static void test_weak_keeps(void)
{
	interleave_all(weak_keeps, ARRAY_SIZE(weak_keeps), false);
}

static const struct tap_test tests[] = {
	{ "events that are read while the page is written", test_page },
	{ "a page that is read while the writer leaves it", test_leave },
	{ "a swap while the writer overwrites", test_full },
	{ "a swap while the writer laps the reader", test_lap },
	{ "every interleaving of a writer and swaps", test_swaps },
	{ "every interleaving of a writer that resets, and swaps", test_resets },
	{ "every interleaving of a writer and swaps, memory being weak", test_weak_swaps },
	{ "every interleaving of a writer that resets, and swaps, memory being weak",
	  test_weak_resets },
	{ "every interleaving of a writer that keeps the oldest events, and swaps", test_keeps },
	{ "every interleaving of a writer that keeps the oldest, and swaps, memory being weak",
	  test_weak_keeps },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
