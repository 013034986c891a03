// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring on one CPU: the ends of pages, laps, overwriting, and the swap of the
 * reader's page.
 */
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
	struct fixture f;

	tap_at("%u left, event of %u, delta %#llx", slack, size, delta);
	fixture_init(&f, RB_WRITER_MIN_PAGES);
	fill_page(&f, slack);
	CHECK(fixture_write(&f, size, 1, delta));

	CHECK(f.meta->tail == (need > slack));
	CHECK(fixture_used(&f, 0) == PAGE_CAPACITY - slack + (need > slack ? 0 : need));
	if (need > slack)
		CHECK(fixture_used(&f, 1) == page_event_size(size));
	expect_event(&f, EVENT_MAX - slack, 0, 0, 0);
	expect_event(&f, size, 1, delta, 0);
	expect_nothing(&f);
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
	struct fixture f;

	tap_at("%u pages of %u events, %llu written", nr_pages, per_page, nr);
	fixture_init(&f, nr_pages);
	fixture_write_shares(&f, per_page, 0, nr);
	expect_counters(&f, (struct counters){ .entries = nr, .overrun = lost, .tail = tail });
	expect_shares(&f, per_page, lost, nr, lost);
	expect_nothing(&f);

	/* The reader is on the writer's page; it loses nothing after that. */
	fixture_write_shares(&f, per_page, nr, 1);
	expect_shares(&f, per_page, nr, nr + 1, 0);
	expect_nothing(&f);
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
	struct fixture f;
	u64 behind, i;

	for (behind = 0; behind < 4; behind++) {
		tap_at("%llu behind", behind);
		fixture_init(&f, 5);
			fixture_write_pages(&f, 0, behind);
		for (i = 0; i < 60; i++) {
			fixture_write_pages(&f, behind + i, 1);
			expect_pages(&f, i, 1, 0);
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
	struct fixture f;
	u64 lost = expect_part(&f, read, more);

	/* The reader has page 0, so that page 1 is the first to be lost. */
	expect_shares(&f, 3, read, 3, 0);
	expect_shares(&f, 3, 3 + lost, 3 + more, lost);
	expect_nothing(&f);
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
	struct fixture f;
	u64 number = 0, lap;

	fixture_init(&f, 3);
	for (lap = 3; lap < 30; lap++) {
		fixture_write_pages(&f, number, lap);
		number += lap;
		expect_pages(&f, number - 2, 2, lap - 2);
		expect_nothing(&f);
	}
	CHECK(f.meta->meta.overrun + 2 * (lap - 3) == f.ring.entries);
	fixture_free(&f);
}

/* The writer goes on where it is, and comes back to the ring as ever. */
static void test_swap_writers_page(void)
{
	struct fixture f;
	u64 lap;

	fixture_init(&f, 3);
	for (lap = 0; lap < 20; lap++) {
		fixture_write_shares(&f, 3, 3 * lap, 1);
		expect_shares(&f, 3, 3 * lap, 3 * lap + 1, 0);
		CHECK(f.meta->reader == lap && f.meta->tail == lap);
		CHECK(f.pages[f.meta->meta.reader.id] == trace_ring_page(f.ring.commit));
		CHECK(!f.meta->reader_entries);
		expect_no_data(&f);
		fixture_write_shares(&f, 3, 3 * lap + 1, 2);
		expect_no_data(&f);
		expect_shares(&f, 3, 3 * lap + 1, 3 * lap + 3, 0);
		expect_nothing(&f);
	}
	fixture_free(&f);
}

static void test_swap_empty(void)
{
	struct fixture f;

	fixture_init(&f, 3);
	expect_nothing(&f);
	CHECK(f.reader->pos == RB_READER_NOWHERE);

	fixture_write_pages(&f, 0, 2);
	expect_pages(&f, 0, 2, 0);
	expect_no_data(&f);
	expect_no_data(&f);
	fixture_write_pages(&f, 2, 1);
	expect_pages(&f, 2, 1, 0);
	fixture_free(&f);
}

/* The writer does not trust the reader: it gets the next page, and has not read its own. */
static void swap_unread(struct fixture *f, u64 first, bool is_complete)
{
	int id = trace_ring_swap_reader(&f->ring);
	u64 offset = 0, time = first, number;
	struct event event;

	if (!CHECK(id >= 0))
		return;

	CHECK(f->meta->reader_entries == (is_complete ? 3 : 0));
	for (number = first; number < first + 3; number++)
		CHECK(!page_event((void *)f->pages[id], &offset, PAGE_CAPACITY, &time, &event) &&
		      payload_matches(&event, fixture_share(3), number) && event.time == number);
}

static void test_swap_unread(void)
{
	struct fixture f;

	fixture_init(&f, 5);
	fixture_write_shares(&f, 3, 0, 12);
	swap_unread(&f, 0, true);
	swap_unread(&f, 3, true);
	swap_unread(&f, 6, true);
	swap_unread(&f, 9, false);
	expect_no_data(&f);
	CHECK(!f.meta->meta.overrun);
	fixture_free(&f);
}

/* Once the reader has the page of a ring without events, there is no other. */
static void test_swap_first(void)
{
	struct fixture f;

	fixture_init(&f, 3);
	CHECK(trace_ring_swap_reader(&f.ring) == 0 && f.meta->reader == 0);
	expect_no_data(&f);
	expect_no_data(&f);
	fixture_free(&f);
}

/* All pages, each once, are in the ring or the reader's, whatever was swapped. */
static void test_pages(void)
{
	u32 used[7] = {}, i;
	struct event event;
	struct fixture f;

	fixture_init(&f, ARRAY_SIZE(used));
	for (i = 0; i < 100; i++) {
		fixture_write_pages(&f, 3 * i, i % 10);
		if (i % 3)
			fixture_read(&f, &event);
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
	struct fixture f;

	fixture_init(&f, 5);
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
	expect_pages(&f, raced - 4, 4, raced - 4);
	expect_nothing(&f);
	fixture_free(&f);
}

/* Slots keep the low word of a position: its top bit, and its end. */
static void check_far(u32 nr_pages, u64 tail)
{
	u32 nr_slots = nr_pages - 1;
	u64 i, number = 0, lap = nr_slots + 2;
	struct fixture f;

	tail -= tail % nr_slots;
	tap_at("position %#llx", tail);
	fixture_init_at(&f, nr_pages, tail);
	for (i = 0; i < 10; i++) {
		fixture_write_pages(&f, number, lap);
		number += lap;
		expect_pages(&f, number - nr_slots, nr_slots, 2);
		expect_no_data(&f);
	}
	CHECK(f.meta->meta.overrun == 2 * i);

	CHECK(!ring_buffer_reader_reset(f.buffer, 0));
	expect_no_data(&f);
	fixture_write_pages(&f, number, lap);
	expect_pages(&f, number + 2, nr_slots, 2);
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
	{ "the reader may have a page without events, and no other", test_swap_first },
	{ "a page given back unread costs that page", test_swap_unread },
	{ "no page is lost or in two places", test_pages },
	{ "a swap that is overtaken time and again gives up", test_swap_again },
	{ "positions beyond 31 and 32 bits", test_far },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
