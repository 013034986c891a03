// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer that goes from page to page and a reader that swaps, in all interleavings
 * with a limited number of switches and stale loads.
 */
#include <errno.h>

#include "expect.h"
#include "explore.h"
#include "machine.h"

/**
 * struct interleaving - what is interleaved
 * @nr_pages:	of the ring
 * @size:	of events
 * @before:	events written before
 * @reads:	events of these read, so that the reader has a page
 * @writes:	events that the writer writes
 * @polls:	how often the reader looks for an event
 * @unusual:	switches and stale loads on a way, at most
 */
struct interleaving {
	u32	nr_pages;
	u32	size;
	u32	before;
	u32	reads;
	u32	writes;
	u32	polls;
	u32	unusual;
};

static const struct interleaving *interleaving;
static struct fixture f;
static struct reader reader;
static u64 written;
static u64 expected;
static u64 gaps;

static void interleave_write(u32 nr)
{
	while (nr--) {
		CHECK(fixture_write(&f, interleaving->size, written, written));
		written++;
	}
}

/* Each event is the next one, but for those that were reported lost before it. */
static int interleave_read(void)
{
	struct event event;
	int ret = reader_next(&reader, &event);

	if (ret != 1)
		return ret;

	CHECK(payload_matches(&event, interleaving->size, expected + reader.lost));
	CHECK(event.time == expected + reader.lost);
	expected += reader.lost + 1;
	gaps += reader.lost;
	reader.lost = 0;
	return ret;
}

static void writer_program(void)
{
	interleave_write(interleaving->writes);
}

static void reader_program(void)
{
	int ret;
	u32 i;

	for (i = 0; i < interleaving->polls && !tap_failed(); i++) {
		ret = interleave_read();
		CHECK(ret == 0 || ret == 1 || ret == -EAGAIN);
	}
}

static void interleave_init(void)
{
	u32 i;

	written = 0;
	expected = 0;
	gaps = 0;
	fixture_init(&f, interleaving->nr_pages);
	reader_init(&reader, &f);
	interleave_write(interleaving->before);
	for (i = 0; i < interleaving->reads; i++)
		CHECK(interleave_read() == 1);
}

static void interleave_once(void)
{
	interleave_init();
	reader_hide(&reader);
	machine_run(writer_program, reader_program);
	while (interleave_read() == 1)
		;
	CHECK(expected == written && !reader.lost);
	expect_all_counters(&f, (struct counters){
		.entries	= written,
		.overrun	= gaps,
		.tail		= f.ring.tail,
		.bytes		= written * page_event_size(interleaving->size) -
				  trace_ring_used(&f.ring),
		.overrun_bytes	= gaps * page_event_size(interleaving->size),
	});
	fixture_free(&f);
}

static void interleave_all(const struct interleaving *w)
{
	interleaving = w;
	explore_begin(w->unusual);
	do {
		tap_at("%u pages, %u before, %u read: way %llu", w->nr_pages, w->before,
		       w->reads, explore_ways());
		interleave_once();
	} while (!tap_failed() && explore_next());
	tap_note("%u pages, %u before, %u read: %llu ways", w->nr_pages, w->before,
		 w->reads, explore_ways());
}

/* Both are on the first page. */
static void test_page(void)
{
	interleave_all(&(struct interleaving){ 3, 40, 0, 0, 3, 3, 5 });
	interleave_all(&(struct interleaving){ 3, 40, 1, 1, 3, 3, 5 });
}

/* The writer leaves a page of two events while the reader reads it. */
static void test_leave(void)
{
	interleave_all(&(struct interleaving){ 3, PAGE_CAPACITY / 3, 1, 0, 3, 4, 4 });
	interleave_all(&(struct interleaving){ 3, PAGE_CAPACITY / 3, 2, 1, 3, 4, 4 });
	interleave_all(&(struct interleaving){ 4, PAGE_CAPACITY / 3, 3, 2, 4, 4, 3 });
}

/* The ring is full: the page that one overwrites is the one the other wants. */
static void test_full(void)
{
	interleave_all(&(struct interleaving){ 3, EVENT_MAX, 2, 0, 2, 2, 4 });
	interleave_all(&(struct interleaving){ 3, EVENT_MAX, 3, 1, 3, 2, 4 });
	interleave_all(&(struct interleaving){ 4, EVENT_MAX, 3, 0, 3, 3, 3 });
	interleave_all(&(struct interleaving){ 4, EVENT_MAX, 5, 1, 3, 3, 3 });
}

/* A lap and more, so that the reader is left behind while it swaps. */
static void test_lap(void)
{
	interleave_all(&(struct interleaving){ 3, EVENT_MAX, 2, 0, 4, 2, 3 });
	interleave_all(&(struct interleaving){ 4, EVENT_MAX, 4, 1, 5, 2, 3 });
}

static const struct tap_test tests[] = {
	{ "events that are read while the page is written", test_page },
	{ "a page that is read while the writer leaves it", test_leave },
	{ "a swap while the writer overwrites", test_full },
	{ "a swap while the writer laps the reader", test_lap },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
