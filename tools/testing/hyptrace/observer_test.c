// SPDX-License-Identifier: GPL-2.0-only
/*
 * A non-consuming reader: the events that it shows, those that it reports lost and
 * where, while the writer overtakes it or stops.
 */
#include <string.h>

#include <linux/minmax.h>
#include <shim.h>

#include "expect.h"
#include "observer.h"

/* The next event shown is this one, and @lost are reported missing before it. */
static void expect_shown(struct observer *o, u32 size, u64 number, u64 lost)
{
	struct event event;

	if (!CHECK(observer_next(o, &event) == 1))
		return;

	CHECK(payload_matches(&event, size, number) && event.time == number);
	CHECK(o->lost == lost);
	o->lost = 0;
}

static void expect_all_shown(struct observer *o, u32 per_page, u64 first, u64 end, u64 lost)
{
	u64 number;

	for (number = first; number < end; number++)
		expect_shown(o, fixture_share(per_page), number, number == first ? lost : 0);
}

static void expect_end(struct observer *o, u64 lost)
{
	struct event event;

	CHECK(observer_next(o, &event) == 0 && observer_next(o, &event) == 0);
	CHECK(o->lost == lost);
	o->lost = 0;
}

/* What @kept pages of @nr events hold, behind what was reported lost */
static void check_look(struct reader *reader, u32 per_page, u64 first, u64 nr, u64 lost)
{
	struct observer o;
	u32 i;

	for (i = 0; i < 2; i++) {
		observer_start(&o, reader);
		expect_all_shown(&o, per_page, first, nr, lost);
		expect_end(&o, first < nr ? 0 : lost);
		observer_finish(&o);
	}
}

/* No event was consumed. */
static void check_laps(u32 nr_pages, u32 per_page, u64 nr)
{
	u64 tail = nr ? (nr - 1) / per_page : 0, kept = min(tail, nr_pages - 2ULL);
	u64 lost = (tail - kept) * per_page;
	struct reader reader;
	struct fixture f;

	tap_at("%u pages of %u events, %llu written", nr_pages, per_page, nr);
	fixture_init(&f, nr_pages);
	reader_init(&reader, &f);
	fixture_write_shares(&f, per_page, 0, nr);
	check_look(&reader, per_page, lost, nr, lost);
	expect_all_counters(&f, (struct counters){
		.entries	= nr,
		.overrun	= lost,
		.tail		= tail,
		.bytes		= tail * fixture_used(&f, f.ring.page_id ? 0 : 1),
		.overrun_bytes	= (tail - kept) * fixture_used(&f, f.ring.page_id ? 0 : 1),
	});
	fixture_free(&f);
}

static void test_laps(void)
{
	static const u32 pages[] = { 3, 4, 7 }, shares[] = { 1, 2, 3, 5 };
	u32 i, j;
	u64 nr;

	for (i = 0; i < ARRAY_SIZE(pages); i++)
		for (j = 0; j < ARRAY_SIZE(shares); j++)
			for (nr = 0; nr <= 4 * pages[i] * shares[j]; nr++)
				check_laps(pages[i], shares[j], nr);
}

/* The reader has read @read of three events of page 0, and stays there. */
static void check_reader(u32 read, u64 more)
{
	u64 tail = (more + 2) / 3, lost = tail > 3 ? (tail - 3) * 3 : 0;
	struct reader reader;
	struct observer o;
	struct fixture f;

	tap_at("%u read, %llu more", read, more);
	fixture_init(&f, 4);
	reader_init(&reader, &f);
	fixture_write_shares(&f, 3, 0, 3);
	expect_shares(&reader, 3, 0, read, 0);
	fixture_write_shares(&f, 3, 3, more);

	observer_start(&o, &reader);
	expect_all_shown(&o, 3, read, 3, 0);
	expect_all_shown(&o, 3, 3 + lost, 3 + more, lost);
	expect_end(&o, 0);
	observer_finish(&o);

	/* The consuming reader has the same number. */
	expect_shares(&reader, 3, read, 3, 0);
	expect_shares(&reader, 3, 3 + lost, 3 + more, lost);
	expect_nothing(&reader);
	fixture_free(&f);
}

static void test_reader(void)
{
	u64 more;
	u32 read;

	for (read = 1; read <= 3; read++)
		for (more = 0; more < 40; more++)
			check_reader(read, more);
}

/* A reader that has a page, and losses before it that are not reported yet */
static void test_reported(void)
{
	struct reader reader;
	struct fixture f;

	fixture_init(&f, 3);
	reader_init(&reader, &f);
	fixture_write_pages(&f, 0, 7);
	CHECK(!reader_swap(&reader));
	check_look(&reader, 1, 5, 7, 5);
	expect_pages(&reader, 5, 2, 5);
	check_look(&reader, 1, 7, 7, 0);
	fixture_free(&f);
}

/* Of @nr events @shown are shown when @more are written. */
static void check_overtaken(u64 nr, u64 shown, u64 more)
{
	u64 kept = 3 * 2, last = (nr + more - 1) / 2 * 2;
	u64 first = nr > kept ? (nr - 1) / 2 * 2 + 2 - kept : 0, page = first + (shown + 1) / 2 * 2;
	u64 oldest = last + 2 > kept ? last + 2 - kept : 0;
	u64 next = shown ? max(page, oldest) : max(first, oldest);
	struct reader reader;
	struct observer o;
	struct fixture f;

	tap_at("%llu written, %llu shown, %llu more", nr, shown, more);
	fixture_init(&f, 4);
	reader_init(&reader, &f);
	fixture_write_shares(&f, 2, 0, nr);
	observer_start(&o, &reader);
	expect_all_shown(&o, 2, first, first + shown, first);
	fixture_write_shares(&f, 2, nr, more);

	/* The rest of its copy, a gap, and what is left of what there was */
	if (shown)
		expect_all_shown(&o, 2, first + shown, min(page, nr), 0);
	else
		page = 0;
	if (next < nr)
		expect_all_shown(&o, 2, next, nr, next - page);
	expect_end(&o, next < nr || page >= nr ? 0 : nr - page);
	observer_finish(&o);
	fixture_free(&f);
}

static void test_overtaken(void)
{
	u64 nr, shown, more;

	for (nr = 1; nr < 12; nr++)
		for (shown = 0; shown <= min(nr, 5ULL); shown++)
			for (more = 0; more < 16; more++)
				check_overtaken(nr, shown, more);
}

/* The reader takes @read of six pages after @shown of them were shown. */
static void check_taken(u64 shown, u64 read, u64 more)
{
	u64 next = max(shown, read), lost = more > next ? min(more, 6ULL) - next : 0;
	struct reader reader;
	struct observer o;
	struct fixture f;

	tap_at("%llu shown, %llu read, %llu more", shown, read, more);
	fixture_init(&f, 7);
	reader_init(&reader, &f);
	fixture_write_pages(&f, 0, 6);
	observer_start(&o, &reader);
	expect_all_shown(&o, 1, 0, shown, 0);
	expect_pages(&reader, 0, read, 0);
	fixture_write_pages(&f, 6, more);

	/* The reader's page stays, whatever the writer does. */
	if (read > shown)
		expect_all_shown(&o, 1, read - 1, read, 0);
	expect_all_shown(&o, 1, next + lost, 6, lost);
	expect_end(&o, next + lost < 6 ? 0 : lost);
	observer_finish(&o);
	fixture_free(&f);
}

static void test_taken(void)
{
	u64 shown, read, more;

	for (shown = 0; shown <= 6; shown++)
		for (read = 0; read <= 6; read++)
			for (more = 0; more < 10; more++)
				check_taken(shown, read, more);
}

/* All but what was copied is cleared, and that is not lost. */
static void test_reset(void)
{
	struct reader reader;
	struct observer o;
	struct fixture f;
	u64 shown;

	for (shown = 0; shown < 6; shown++) {
		tap_at("%llu shown", shown);
		fixture_init(&f, 4);
		reader_init(&reader, &f);
		fixture_write_shares(&f, 2, 0, 6);
		observer_start(&o, &reader);
		expect_all_shown(&o, 2, 0, shown, 0);
		trace_ring_reset(&f.ring);
		reader_reset(&reader);
		check_look(&reader, 2, 0, 0, 0);
		fixture_write_shares(&f, 2, 6, 4);
		expect_all_shown(&o, 2, shown, (shown + 1) / 2 * 2, 0);
		expect_end(&o, 0);
		observer_finish(&o);
		check_look(&reader, 2, 6, 10, 0);
		fixture_free(&f);
	}
}

/* To look leaves no trace, whatever is there. */
static void test_no_trace(void)
{
	struct ring_buffer_writer_meta meta;
	struct reader reader, reader_before;
	struct trace_ring ring;
	struct fixture f;

	fixture_init(&f, 4);
	reader_init(&reader, &f);
	fixture_write_pages(&f, 0, 6);
	expect_pages(&reader, 3, 1, 3);
	fixture_write_pages(&f, 6, 3);
	ring = f.ring;
	meta = *f.meta;
	reader_before = reader;

	check_look(&reader, 1, 6, 9, 2);
	CHECK(!memcmp(&ring, &f.ring, sizeof(ring)));
	CHECK(!memcmp(&meta, f.meta, sizeof(meta)));
	CHECK(!memcmp(&reader, &reader_before, sizeof(reader)));
	fixture_free(&f);
}

/* An observer that looks while the writer stays where it is */
static struct reader *watched;
static u64 watched_nr;
static u32 watch_after;
static u32 watches;
static u32 unknowns;

static void watch(void)
{
	bool stopped = watched->f->meta->next != watched->f->meta->tail;
	u64 expected = 0, end = watched->f->meta->meta.entries;
	struct ring_state state;
	struct observer o;
	struct event event;

	if (observer_look(watched, &state))
		end = state.entries;
	observer_start(&o, watched);
	while (observer_next(&o, &event) == 1) {
		expected += o.lost;
		CHECK(payload_matches(&event, EVENT_MAX, expected) && event.time == expected);
		expected++;
		o.lost = 0;
	}
	if (o.lost == OBSERVER_UNKNOWN) {
		CHECK(stopped);
		unknowns++;
	} else {
		CHECK(expected + o.lost == end);
	}
	observer_finish(&o);
}

static void watch_step(const void *addr)
{
	const struct shim *saved = shim;

	if (watches++ != watch_after)
		return;
	shim = NULL;
	watch();
	shim = saved;
}

static const struct shim watching = { .step = watch_step };

/* At each access of a writer that crosses pages: right, or not known how many */
static void test_stopped(void)
{
	struct reader reader;
	struct fixture f;

	watched = &reader;
	unknowns = 0;
	for (watched_nr = 0; watched_nr < 6; watched_nr++) {
		watch_after = 0;
		do {
			tap_at("%llu written, access %u", watched_nr, watch_after);
			fixture_init(&f, 3);
			reader_init(&reader, &f);
			fixture_write_pages(&f, 0, watched_nr);
			watches = 0;
			shim = &watching;
			fixture_write_pages(&f, watched_nr, 1);
			shim = NULL;
			fixture_free(&f);
		} while (watches > watch_after++ && !tap_failed());
	}
	CHECK(unknowns);
}

static const struct tap_test tests[] = {
	{ "all that is in a ring is shown, and again, losses first", test_laps },
	{ "what the reader has not read of its page is shown", test_reader },
	{ "losses that are not reported yet are reported", test_reported },
	{ "what is overwritten meanwhile is reported lost where it was", test_overtaken },
	{ "what the reader takes meanwhile is not lost", test_taken },
	{ "a reset is the end of it", test_reset },
	{ "to look leaves no trace", test_no_trace },
	{ "while the writer stops anywhere, nothing wrong is shown", test_stopped },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
