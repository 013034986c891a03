// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring on one CPU: the ends of pages, laps, overwriting, and the swap of the
 * reader's page.
 */
#include <errno.h>
#include <string.h>

#include <linux/minmax.h>
#include <shim.h>

#include "expect.h"

#define EXTEND	0x8000000ULL

/* Event 0 leaves just @slack bytes of a page. */
static void fill_page(struct fixture *f, u32 slack)
{
	CHECK(fixture_write(f, EVENT_MAX - slack, 0, 0));
	CHECK(fixture_used(f, 0) == PAGE_CAPACITY - slack);
}

static void check_slack(u32 slack, u32 size, u64 delta)
{
	u32 need = page_event_size(size) + (delta < EXTEND ? 0 : 8);
	struct reader reader;
	struct fixture f;

	tap_at("%u left, event of %u, delta %#llx", slack, size, delta);
	fixture_init(&f, RB_WRITER_MIN_PAGES);
	reader_init(&reader, &f);
	fill_page(&f, slack);
	CHECK(fixture_write(&f, size, 1, delta));

	CHECK(f.meta->tail == (need > slack));
	CHECK(fixture_used(&f, 0) == PAGE_CAPACITY - slack + (need > slack ? 0 : need));
	if (need > slack)
		CHECK(fixture_used(&f, 1) == page_event_size(size));
	expect_event(&reader, EVENT_MAX - slack, 0, 0, 0);
	expect_event(&reader, size, 1, delta, 0);
	expect_nothing(&reader);
	fixture_free(&f);
}

/* From no room at all to more than enough: short and long, with an extend and without. */
static void test_next_page(void)
{
	static const u32 sizes[] = { 0, 4, 5, 16, 108, 112, 113, 120 };
	u32 slack, i;

	for (slack = 0; slack <= 144; slack += 4) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			check_slack(slack, sizes[i], 1);
			check_slack(slack, sizes[i], EXTEND);
		}
	}
}

/* No reader consumes until @nr events are written. */
static void check_laps(u32 nr_pages, u32 per_page, u64 nr)
{
	u64 tail = (nr - 1) / per_page, kept = min(tail, nr_pages - 2ULL);
	u64 lost = (tail - kept) * per_page;
	struct reader reader;
	struct fixture f;

	tap_at("%u pages of %u events, %llu written", nr_pages, per_page, nr);
	fixture_init(&f, nr_pages);
	reader_init(&reader, &f);
	fixture_write_shares(&f, per_page, 0, nr);
	expect_counters(&f, (struct counters){ .entries = nr, .overrun = lost, .tail = tail });
	expect_shares(&reader, per_page, lost, nr, lost);
	expect_nothing(&reader);

	/* The reader is on the writer's page; it loses nothing after that. */
	fixture_write_shares(&f, per_page, nr, 1);
	expect_shares(&reader, per_page, nr, nr + 1, 0);
	expect_nothing(&reader);
	fixture_free(&f);
}

static void test_laps(void)
{
	static const u32 pages[] = { 3, 4, 7 }, shares[] = { 1, 2, 3, 5 };
	u32 i, j;
	u64 nr;

	for (i = 0; i < ARRAY_SIZE(pages); i++)
		for (j = 0; j < ARRAY_SIZE(shares); j++)
			for (nr = 1; nr <= 4 * pages[i] * shares[j]; nr++)
				check_laps(pages[i], shares[j], nr);
}

/* A reader that keeps up @behind events loses nothing, for lap after lap. */
static void test_in_step(void)
{
	struct reader reader;
	struct fixture f;
	u64 behind, i;

	for (behind = 0; behind < 4; behind++) {
		tap_at("%llu behind", behind);
		fixture_init(&f, 5);
		reader_init(&reader, &f);
		fixture_write_pages(&f, 0, behind);
		for (i = 0; i < 60; i++) {
			fixture_write_pages(&f, behind + i, 1);
			expect_pages(&reader, i, 1, 0);
		}
		expect_counters(&f, (struct counters){
			.entries	= behind + i,
			.tail		= behind + i - 1,
		});
		fixture_free(&f);
	}
}

/* The reader has read @read events of its page when the writer laps it. */
static void check_place(u32 read, u64 more)
{
	u64 tail = (more + 2) / 3, lost = tail > 3 ? (tail - 3) * 3 : 0;
	struct reader reader;
	struct fixture f;

	/* The reader has page 0, so that page 1 is the first to be lost. */
	tap_at("%u read, %llu more", read, more);
	fixture_init(&f, 4);
	reader_init(&reader, &f);
	fixture_write_shares(&f, 3, 0, 3);
	expect_shares(&reader, 3, 0, read, 0);
	fixture_write_shares(&f, 3, 3, more);

	expect_shares(&reader, 3, read, 3, 0);
	expect_shares(&reader, 3, 3 + lost, 3 + more, lost);
	expect_nothing(&reader);
	CHECK(f.meta->meta.overrun == lost);
	fixture_free(&f);
}

/* What is lost is lost between the reader's page and the next, and reported there. */
static void test_place(void)
{
	u64 more;
	u32 read;

	for (read = 1; read <= 3; read++)
		for (more = 3; more < 40; more++)
			check_place(read, more);
}

/* Losses of several swaps don't add up. */
static void test_losses(void)
{
	struct reader reader;
	struct fixture f;
	u64 number = 0, lap;

	fixture_init(&f, 3);
	reader_init(&reader, &f);
	for (lap = 3; lap < 30; lap++) {
		fixture_write_pages(&f, number, lap);
		number += lap;
		expect_pages(&reader, number - 2, 2, lap - 2);
		expect_nothing(&reader);
	}
	CHECK(f.meta->meta.overrun + 2 * (lap - 3) == f.ring.entries);
	fixture_free(&f);
}

/* The writer goes on where it is, and comes back to the ring as ever. */
static void test_swap_writers_page(void)
{
	struct reader reader;
	struct fixture f;
	u64 lap;

	fixture_init(&f, 3);
	reader_init(&reader, &f);
	for (lap = 0; lap < 20; lap++) {
		fixture_write_shares(&f, 3, 3 * lap, 1);
		expect_shares(&reader, 3, 3 * lap, 3 * lap + 1, 0);
		CHECK(f.meta->reader == lap && f.meta->tail == lap);
		CHECK(f.pages[f.meta->meta.reader.id] == f.ring.page);
		CHECK(!f.meta->reader_entries);
		expect_no_data(&reader);
		fixture_write_shares(&f, 3, 3 * lap + 1, 2);
		expect_no_data(&reader);
		expect_shares(&reader, 3, 3 * lap + 1, 3 * lap + 3, 0);
		expect_nothing(&reader);
	}
	fixture_free(&f);
}

static void test_swap_empty(void)
{
	struct reader reader;
	struct fixture f;

	fixture_init(&f, 3);
	reader_init(&reader, &f);
	expect_nothing(&reader);
	CHECK(reader.id == 0 && reader.position == 0);
	expect_no_data(&reader);
	expect_no_data(&reader);

	fixture_write_pages(&f, 0, 2);
	expect_pages(&reader, 0, 2, 0);
	expect_no_data(&reader);
	expect_no_data(&reader);
	fixture_write_pages(&f, 2, 1);
	expect_pages(&reader, 2, 1, 0);
	fixture_free(&f);
}

/* A reader that gives its page back unread loses its own events, no others. */
static void test_swap_unread(void)
{
	struct reader reader;
	struct fixture f;

	fixture_init(&f, 5);
	reader_init(&reader, &f);
	fixture_write_shares(&f, 3, 0, 12);
	expect_shares(&reader, 3, 0, 1, 0);
	CHECK(f.meta->reader_entries == 3);
	CHECK(!reader_swap(&reader));
	CHECK(!reader_swap(&reader));
	CHECK(f.meta->reader_entries == 3);
	expect_shares(&reader, 3, 6, 12, 0);
	CHECK(!f.meta->reader_entries);
	expect_no_data(&reader);
	CHECK(!f.meta->meta.overrun);
	fixture_free(&f);
}

/* All pages, each once, are in the ring or the reader's, whatever was swapped. */
static void test_pages(void)
{
	u32 used[7] = {}, i;
	struct reader reader;
	struct fixture f;

	fixture_init(&f, ARRAY_SIZE(used));
	reader_init(&reader, &f);
	for (i = 0; i < 100; i++) {
		fixture_write_pages(&f, 3 * i, i % 10);
		if (i % 3)
			reader_swap(&reader);
	}

	used[f.meta->meta.reader.id]++;
	for (i = 0; i < ARRAY_SIZE(used) - 1; i++)
		used[(u32)f.dir[0][i].slot]++;
	for (i = 0; i < ARRAY_SIZE(used); i++)
		CHECK(used[i] == 1);
	fixture_free(&f);
}

/* A writer that laps the reader at each step of its swap */
static struct fixture *racer;
static u64 raced;

static void race_step(const void *addr)
{
	const struct shim *saved = shim;

	shim = NULL;
	fixture_write_pages(racer, raced, 8);
	raced += 8;
	shim = saved;
}

static const struct shim race = { .step = race_step };

/* The swap gives up, and nothing is lost or reported twice. */
static void test_swap_again(void)
{
	struct ring_buffer_writer_meta before;
	struct reader reader;
	struct fixture f;

	fixture_init(&f, 5);
	reader_init(&reader, &f);
	fixture_write_pages(&f, 0, 5);
	raced = 5;
	racer = &f;
	before = *f.meta;

	shim = &race;
	CHECK(trace_ring_swap_reader(&f.ring) == -EAGAIN);
	shim = NULL;

	CHECK(!memcmp(&before.meta.reader, &f.meta->meta.reader, sizeof(before.meta.reader)));
	CHECK(before.reader == f.meta->reader);
	CHECK(raced <= 5 + 8 * 4 * TRACE_RING_SWAP_TRIES);
	expect_pages(&reader, raced - 4, 4, raced - 4);
	expect_nothing(&reader);
	fixture_free(&f);
}

/* Slots keep the low word of a position: its top bit, and its end. */
static void check_far(u32 nr_pages, u64 tail)
{
	u32 nr_slots = nr_pages - 1;
	u64 i, number = 0, lap = nr_slots + 2;
	struct reader reader;
	struct fixture f;

	tail -= tail % nr_slots;
	tap_at("position %#llx", tail);
	fixture_init_at(&f, nr_pages, tail);
	reader_init(&reader, &f);
	for (i = 0; i < 10; i++) {
		fixture_write_pages(&f, number, lap);
		number += lap;
		expect_pages(&reader, number - nr_slots, nr_slots, 2);
		expect_no_data(&reader);
	}
	CHECK(f.meta->meta.overrun == 2 * i);

	trace_ring_reset(&f.ring);
	reader_reset(&reader);
	expect_no_data(&reader);
	fixture_write_pages(&f, number, lap);
	expect_pages(&reader, number + 2, nr_slots, 2);
	fixture_free(&f);
}

static void test_far(void)
{
	u32 before;

	for (before = 0; before < 30; before += 3) {
		check_far(4, (1ULL << 31) - before);
		check_far(4, (1ULL << 32) - before);
		check_far(4, (3ULL << 31) - before);
		check_far(6, (1ULL << 40) - before);
	}
}

static const struct tap_test tests[] = {
	{ "an event goes to the next page when, and only when, it must", test_next_page },
	{ "the oldest pages are overwritten, counted and reported", test_laps },
	{ "a reader in step loses nothing", test_in_step },
	{ "losses are reported where they happened", test_place },
	{ "each loss is reported once", test_losses },
	{ "the reader may have the page that is being written", test_swap_writers_page },
	{ "there is no swap for a page that isn't there", test_swap_empty },
	{ "a page given back unread costs that page", test_swap_unread },
	{ "no page is lost or in two places", test_pages },
	{ "a swap that is overtaken time and again gives up", test_swap_again },
	{ "positions beyond 31 and 32 bits", test_far },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
