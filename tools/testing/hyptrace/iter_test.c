// SPDX-License-Identifier: GPL-2.0-only
/*
 * A non-consuming reader: the events that it shows, those that it reports lost and
 * where, while the writer overtakes it or stops.
 */
#include "expect.h"

/* The next event shown is this one, and @lost are reported missing before it. */
static void expect_shown(struct ring_buffer_reader_iter *iter, u32 size, u64 number, u64 lost)
{
	struct event event;

	if (!CHECK(fixture_iterate(iter, &event)))
		return;

	CHECK(payload_matches(&event, size, number) && event.time == number);
	CHECK(event.lost == lost);
}

static void expect_all_shown(struct ring_buffer_reader_iter *iter, u32 per_page, u64 first,
			     u64 end, u64 lost)
{
	u64 number;

	for (number = first; number < end; number++)
		expect_shown(iter, fixture_share(per_page), number, number == first ? lost : 0);
}

static void expect_end(struct ring_buffer_reader_iter *iter, u64 lost)
{
	struct event event;

	CHECK(!fixture_iterate(iter, &event) && event.lost == lost);
	CHECK(!fixture_iterate(iter, &event) && !event.lost);
}

/* What @kept pages of @nr events hold, behind what was reported lost */
static void check_snapshot(struct fixture *f, u32 per_page, u64 first, u64 nr, u64 lost)
{
	struct ring_buffer_reader_iter *iter;
	u32 i;

	for (i = 0; i < 2; i++) {
		iter = ring_buffer_reader_iter_start(f->buffer, 0);
		expect_all_shown(iter, per_page, first, nr, lost);
		expect_end(iter, first < nr ? 0 : lost);
		ring_buffer_reader_iter_finish(iter);
	}
}

/* No event was consumed. */
static void check_laps(u32 nr_pages, u32 per_page, u64 nr)
{
	u64 tail = nr ? (nr - 1) / per_page : 0, kept = min(tail, nr_pages - 2ULL);
	u64 lost = (tail - kept) * per_page;
	struct fixture f;

	tap_at("%u pages of %u events, %llu written", nr_pages, per_page, nr);
	fixture_init(&f, nr_pages);
	fixture_write_shares(&f, per_page, 0, nr);
	check_snapshot(&f, per_page, lost, nr, lost);
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

/* A snapshot has the rest of the page that the reader is in, and then what is not lost. */
static void check_reader(u32 read, u64 more)
{
	struct ring_buffer_reader_iter *iter;
	struct fixture f;
	u64 lost = expect_part(&f, read, more);

	iter = ring_buffer_reader_iter_start(f.buffer, 0);
	expect_all_shown(iter, 3, read, 3, 0);
	expect_all_shown(iter, 3, 3 + lost, 3 + more, lost);
	expect_end(iter, 0);
	ring_buffer_reader_iter_finish(iter);

	/* The consuming reader has the same number. */
	expect_shares(&f, 3, read, 3, 0);
	expect_shares(&f, 3, 3 + lost, 3 + more, lost);
	expect_nothing(&f);
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
	struct ring_buffer_reader_cursor cursor;
	struct fixture f;

	fixture_init(&f, 3);
	fixture_write_pages(&f, 0, 7);
	ring_buffer_reader_cursor_start(&cursor, f.buffer, 0);
	CHECK(ring_buffer_reader_cursor_peek(&cursor) && cursor.lost == 5);
	ring_buffer_reader_cursor_finish(&cursor);
	check_snapshot(&f, 1, 5, 7, 5);
	expect_pages(&f, 5, 2, 5);
	check_snapshot(&f, 1, 7, 7, 0);
	fixture_free(&f);
}

/* Of @nr events @shown are shown when @more are written. */
static void check_overtaken(u64 nr, u64 shown, u64 more)
{
	u64 kept = 3 * 2, last = (nr + more - 1) / 2 * 2;
	u64 first = nr > kept ? (nr - 1) / 2 * 2 + 2 - kept : 0, page = first + (shown + 1) / 2 * 2;
	u64 oldest = last + 2 > kept ? last + 2 - kept : 0;
	u64 next = shown ? max(page, oldest) : max(first, oldest);
	struct ring_buffer_reader_iter *iter;
	struct fixture f;

	tap_at("%llu written, %llu shown, %llu more", nr, shown, more);
	fixture_init(&f, 4);
	fixture_write_shares(&f, 2, 0, nr);
	iter = ring_buffer_reader_iter_start(f.buffer, 0);
	expect_all_shown(iter, 2, first, first + shown, first);
	fixture_write_shares(&f, 2, nr, more);

	/* The rest of its copy, a gap, and what is left of what there was */
	if (shown)
		expect_all_shown(iter, 2, first + shown, min(page, nr), 0);
	else
		page = 0;
	if (next < nr)
		expect_all_shown(iter, 2, next, nr, next - page);
	expect_end(iter, next < nr || page >= nr ? 0 : nr - page);
	ring_buffer_reader_iter_finish(iter);
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

/* The reader consumes @read of six pages after @shown of them were shown. */
static void check_consumed(u64 shown, u64 read, u64 more)
{
	u64 next = max(shown, read), lost = more > next ? min(more, 6ULL) - next : 0;
	struct ring_buffer_reader_iter *iter;
	struct fixture f;

	tap_at("%llu shown, %llu read, %llu more", shown, read, more);
	fixture_init(&f, 7);
	fixture_write_pages(&f, 0, 6);
	iter = ring_buffer_reader_iter_start(f.buffer, 0);
	expect_all_shown(iter, 1, 0, shown, 0);
	expect_pages(&f, 0, read, 0);
	fixture_write_pages(&f, 6, more);

	/* The reader's page stays, whatever the writer does. */
	if (read > shown)
		expect_all_shown(iter, 1, read - 1, read, 0);
	expect_all_shown(iter, 1, next + lost, 6, lost);
	expect_end(iter, next + lost < 6 ? 0 : lost);
	ring_buffer_reader_iter_finish(iter);
	fixture_free(&f);
}

static void test_consumed(void)
{
	u64 shown, read, more;

	for (shown = 0; shown <= 6; shown++)
		for (read = 0; read <= 6; read++)
			for (more = 0; more < 10; more++)
				check_consumed(shown, read, more);
}

/* All but what was copied is cleared, and that is not lost. */
static void test_reset(void)
{
	struct ring_buffer_reader_iter *iter;
	struct fixture f;
	u64 shown;

	for (shown = 0; shown < 6; shown++) {
		tap_at("%llu shown", shown);
		fixture_init(&f, 4);
		fixture_write_shares(&f, 2, 0, 6);
		iter = ring_buffer_reader_iter_start(f.buffer, 0);
		expect_all_shown(iter, 2, 0, shown, 0);
		CHECK(!ring_buffer_reader_reset(f.buffer, 0));
		check_snapshot(&f, 2, 0, 0, 0);
		fixture_write_shares(&f, 2, 6, 4);
		expect_all_shown(iter, 2, shown, (shown + 1) / 2 * 2, 0);
		expect_end(iter, 0);
		ring_buffer_reader_iter_finish(iter);
		check_snapshot(&f, 2, 6, 10, 0);
		fixture_free(&f);
	}
}

/* A snapshot leaves no trace, whatever is there. */
static void test_no_trace(void)
{
	struct ring_buffer_writer_meta meta;
	struct rb_reader *reader;
	struct trace_ring ring;
	struct fixture f;
	size_t size;

	fixture_init(&f, 4);
	size = struct_size(reader, pages, f.nr_pages);
	reader = malloc(size);
	fixture_write_pages(&f, 0, 6);
	expect_pages(&f, 3, 1, 3);
	fixture_write_pages(&f, 6, 3);
	/* The reader remembers what it has counted of the page being written. */
	check_snapshot(&f, 1, 6, 9, 2);
	ring = f.ring;
	meta = *f.meta;
	memcpy(reader, f.reader, size);

	check_snapshot(&f, 1, 6, 9, 2);
	CHECK(!memcmp(&ring, &f.ring, sizeof(ring)));
	CHECK(!memcmp(&meta, f.meta, sizeof(meta)));
	CHECK(!memcmp(reader, f.reader, size));
	free(reader);
	fixture_free(&f);
}

/* A snapshot while the writer stays where it is */
static struct fixture *stopped;
static u32 stop_after;
static u32 steps;
static u32 unknowns;

static void snapshot(void)
{
	bool between = stopped->meta->next != stopped->meta->tail;
	u64 expected = 0, end = stopped->meta->meta.entries;
	struct ring_buffer_reader_stats stats;
	struct ring_buffer_reader_iter *iter;
	struct event event;

	ring_buffer_reader_get_stats(stopped->buffer, 0, &stats);
	if (!between)
		end = stats.entries + stats.overrun;
	iter = ring_buffer_reader_iter_start(stopped->buffer, 0);
	while (fixture_iterate(iter, &event)) {
		expected += event.lost;
		CHECK(payload_matches(&event, EVENT_MAX, expected) && event.time == expected);
		expected++;
	}
	if (event.lost == ULONG_MAX) {
		CHECK(between);
		unknowns++;
	} else {
		CHECK(expected + event.lost == end);
	}
	ring_buffer_reader_iter_finish(iter);
}

static void stop_step(const void *addr)
{
	const struct shim *saved = shim;

	if (steps++ != stop_after)
		return;
	shim = NULL;
	snapshot();
	shim = saved;
}

static const struct shim stopping = { .step = stop_step };

/* At each access of a writer that crosses pages: right, or not known how many */
static void test_stopped(void)
{
	struct fixture f;
	u64 nr;

	stopped = &f;
	unknowns = 0;
	for (nr = 0; nr < 6; nr++) {
		stop_after = 0;
		do {
			tap_at("%llu written, access %u", nr, stop_after);
			fixture_init(&f, 3);
			fixture_write_pages(&f, 0, nr);
			steps = 0;
			shim = &stopping;
			fixture_write_pages(&f, nr, 1);
			shim = NULL;
			fixture_free(&f);
		} while (steps > stop_after++ && !tap_failed());
	}
	CHECK(unknowns);
}

static const struct tap_test tests[] = {
	{ "all that is in a ring is shown, and again, losses first", test_laps },
	{ "what the reader has not read of its page is shown", test_reader },
	{ "losses that are not reported yet are reported", test_reported },
	{ "what is overwritten meanwhile is reported lost where it was", test_overtaken },
	{ "what the reader consumes meanwhile is not lost", test_consumed },
	{ "a reset is the end of it", test_reset },
	{ "a snapshot leaves no trace", test_no_trace },
	{ "while the writer stops anywhere, nothing wrong is shown", test_stopped },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
