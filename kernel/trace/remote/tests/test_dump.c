// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: a dump of the last events, which takes no locks
 *
 * It must show the same events as an iterator, from some event on.
 */
#include <linux/kthread.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "test.h"

/* More events than any ring here has */
#define RING_DUMP_ALL	UINT_MAX

/* Number of pages that a dump reads at most */
#define RING_DUMP_PAGES	4

static unsigned int ring_dump_count(struct ring_test *t, unsigned int max)
{
	struct ring_buffer_reader_dump dump;
	unsigned int nr = 0;

	ring_buffer_reader_dump_start(&dump, t->buffer, RING_TEST_CPU, max);
	while (ring_buffer_reader_dump_next(&dump))
		nr++;
	return nr;
}

/* The event of the dump is the iterator's. */
static void ring_dump_compare(struct kunit *test, struct ring_buffer_reader_dump *dump,
			      struct ring_buffer_reader_iter *iter)
{
	static u8 data[PAGE_SIZE];
	struct ring_buffer_event *event;
	u64 ts = 0;

	event = ring_buffer_reader_iter_peek(iter, &ts);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, ts, dump->ts);
	KUNIT_EXPECT_FALSE(test, dump->lost);
	KUNIT_ASSERT_EQ(test, ring_buffer_event_length(event),
			ring_buffer_reader_dump_copy(dump, data, sizeof(data)));
	KUNIT_EXPECT_MEMEQ(test, ring_buffer_event_data(event), data,
			   ring_buffer_event_length(event));
}

static struct ring_buffer_reader_iter *ring_dump_iter(struct kunit *test, struct ring_test *t)
{
	struct ring_buffer_reader_iter *iter;

	iter = ring_buffer_reader_iter_start(t->buffer, RING_TEST_CPU);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, iter);
	return iter;
}

/* Number of events that an iterator shows */
static unsigned int ring_dump_there(struct kunit *test, struct ring_test *t)
{
	struct ring_buffer_reader_iter *iter = ring_dump_iter(test, t);
	unsigned int nr = 0;
	u64 ts;

	while (ring_buffer_reader_iter_peek(iter, &ts)) {
		ring_buffer_reader_iter_advance(iter);
		nr++;
	}
	ring_buffer_reader_iter_finish(iter);
	return nr;
}

/* Check the last @max events, or those of the last pages; with @all, these must be all. */
static void ring_dump_check(struct kunit *test, struct ring_test *t, unsigned int max, bool all)
{
	unsigned int there = ring_dump_there(test, t);
	unsigned int nr = ring_dump_count(t, max);
	struct ring_buffer_reader_iter *iter;
	struct ring_buffer_reader_dump dump;
	unsigned int skip;
	u64 ts;

	KUNIT_ASSERT_LE(test, nr, min(there, max));
	if (all)
		KUNIT_EXPECT_EQ(test, min(there, max), nr);

	iter = ring_dump_iter(test, t);
	for (skip = there - nr; skip; skip--) {
		KUNIT_ASSERT_NOT_NULL(test, ring_buffer_reader_iter_peek(iter, &ts));
		ring_buffer_reader_iter_advance(iter);
	}

	ring_buffer_reader_dump_start(&dump, t->buffer, RING_TEST_CPU, max);
	while (ring_buffer_reader_dump_next(&dump)) {
		cond_resched();
		ring_dump_compare(test, &dump, iter);
		ring_buffer_reader_iter_advance(iter);
	}
	KUNIT_EXPECT_NULL(test, ring_buffer_reader_iter_peek(iter, &ts));
	ring_buffer_reader_iter_finish(iter);
}

void ring_test_dump_empty(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, RB_WRITER_MIN_PAGES);

	ring_dump_check(test, t, RING_DUMP_ALL, true);

	/* All events of a page were read; then an event is cleared. */
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	ring_dump_check(test, t, RING_DUMP_ALL, true);
	ring_test_read_all(test, t);
	ring_dump_check(test, t, RING_DUMP_ALL, true);
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	ring_test_clear(test, t);
	ring_dump_check(test, t, RING_DUMP_ALL, true);
	KUNIT_EXPECT_EQ(test, 0, ring_dump_count(t, RING_DUMP_ALL));
}

/* Different limits and event formats, from an empty ring to one that was overwritten twice */
void ring_test_dump_all(struct kunit *test)
{
	static const u64 deltas[] = { 0, 1, RB_WRITER_TS_MASK, RB_WRITER_TS_MASK + 1, 1ULL << 40 };
	struct ring_test *t = ring_test_make(test, RING_DUMP_PAGES);
	unsigned int i, nr = 12 * PAGE_SIZE / 64;

	for (i = 0; i < nr; i++) {
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 4 + i % 50 * 4,
							deltas[i % ARRAY_SIZE(deltas)]));
		if (i % (nr / 40))
			continue;
		ring_dump_check(test, t, RING_DUMP_ALL, true);
		ring_dump_check(test, t, i % 200, true);
	}
	KUNIT_EXPECT_GT(test, t->ring.tail, 2 * t->ring.nr_slots);
}

/* A reader's page that is read in part, with lost events after it */
void ring_test_dump_reader(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, RING_DUMP_PAGES + 1);
	unsigned int i, round;

	for (round = 0; round < 12; round++) {
		for (i = 0; i < round * PAGE_SIZE / 64; i++)
			KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
		for (i = 0; i < 10 + round * 5; i++) {
			if (ring_test_read(test, t, NULL))
				ring_dump_check(test, t, 100, true);
		}
		ring_dump_check(test, t, RING_DUMP_ALL, false);
	}
	ring_test_read_all(test, t);
	KUNIT_EXPECT_EQ(test, 0, ring_dump_count(t, RING_DUMP_ALL));
}

/* Of large events, only those on the last pages are dumped. */
void ring_test_dump_large(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 3 * RING_DUMP_PAGES);

	ring_test_write_pages(test, t, 2 * RING_DUMP_PAGES);
	ring_dump_check(test, t, RING_DUMP_ALL, false);
	KUNIT_EXPECT_EQ(test, RING_DUMP_PAGES, ring_dump_count(t, RING_DUMP_ALL));

	ring_test_write_pages(test, t, 3 * RING_DUMP_PAGES);
	ring_dump_check(test, t, RING_DUMP_ALL, false);
	KUNIT_EXPECT_EQ(test, RING_DUMP_PAGES, ring_dump_count(t, RING_DUMP_ALL));
}

/* The writer stopped after it had announced another page. */
void ring_test_dump_stopped(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, RB_WRITER_MIN_PAGES);
	struct ring_buffer_reader_dump dump;
	u8 data[4];

	ring_test_write_pages(test, t, 4);
	KUNIT_EXPECT_EQ(test, 2, ring_dump_count(t, RING_DUMP_ALL));
	ring_buffer_reader_dump_start(&dump, t->buffer, RING_TEST_CPU, RING_DUMP_ALL);
	KUNIT_ASSERT_TRUE(test, ring_buffer_reader_dump_next(&dump));
	WRITE_ONCE(t->desc.meta->next, t->ring.tail + 1);

	/* The writer reuses the older page while the dump reads it. */
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_reader_dump_copy(&dump, data, sizeof(data)));
	KUNIT_EXPECT_TRUE(test, dump.lost);
	KUNIT_ASSERT_TRUE(test, ring_buffer_reader_dump_next(&dump));
	KUNIT_EXPECT_EQ(test, sizeof(data),
			ring_buffer_reader_dump_copy(&dump, data, sizeof(data)));
	KUNIT_EXPECT_EQ(test, t->written - 1, *(u32 *)data);
	KUNIT_EXPECT_FALSE(test, ring_buffer_reader_dump_next(&dump));
	KUNIT_EXPECT_EQ(test, 1, ring_dump_count(t, RING_DUMP_ALL));
}

/* Corrupt a page in one of many ways: an event at its start and one at its end */
static void ring_dump_corrupt(struct ring_buffer_writer_page *page, unsigned int i)
{
	static const u32 types[] = { 0, 1, 28, 29, RB_WRITER_TIME_EXTEND, 31 };
	static const u32 lengths[] = { 0, 3, 116, 117, PAGE_SIZE, U32_MAX - 3, U32_MAX };
	unsigned int end = PAGE_SIZE - sizeof(*page) - 8 * (i % 4 + 1);

	page->commit = i & 1 ? ULONG_MAX : PAGE_SIZE - sizeof(*page) - i % 9;
	*(u32 *)&page->data[0] = rb_writer_header(0, 1);
	*(u32 *)&page->data[4] = i & 2 ? end - 4 : lengths[i % ARRAY_SIZE(lengths)];
	*(u32 *)&page->data[end] = rb_writer_header(types[i % ARRAY_SIZE(types)], 1);
	*(u32 *)&page->data[end + 4] = lengths[i % ARRAY_SIZE(lengths)];
}

/* With corrupted pages and a corrupted meta page, a dump ends and stays within a page. */
void ring_test_dump_invalid(struct kunit *test)
{
	static const u64 tails[] = { 0, 1, 5, U64_MAX - 1, U64_MAX };
	struct ring_test *t = ring_test_make(test, RB_WRITER_MIN_PAGES);
	struct ring_buffer_reader_dump dump;
	unsigned int i, id, nr, all = 0;
	u8 data[64];

	ring_test_write_pages(test, t, 4);
	ring_test_read(test, t, NULL);
	for (i = 0; i < 9 * 7 * 6 * 5; i++) {
		for (id = 0; id < t->desc.nr_pages; id++)
			ring_dump_corrupt(t->desc.pages[id], i);
		WRITE_ONCE(t->desc.meta->tail, tails[i % ARRAY_SIZE(tails)]);

		ring_buffer_reader_dump_start(&dump, t->buffer, RING_TEST_CPU, RING_DUMP_ALL);
		for (nr = 0; ring_buffer_reader_dump_next(&dump); nr++) {
			KUNIT_ASSERT_LE(test, dump.walk.offset + dump.walk.length,
					RING_TEST_MAX_SIZE + 8);
			KUNIT_ASSERT_LE(test, ring_buffer_reader_dump_copy(&dump, data,
									   sizeof(data)),
					min(dump.walk.length, sizeof(data)));
		}
		KUNIT_ASSERT_LE(test, nr, RING_DUMP_PAGES * PAGE_SIZE / 8);
		all += nr;
	}
	KUNIT_EXPECT_GT(test, all, 0);
}

/* Number of events that fill a page or half of it: the same bytes for each page size */
#define RING_DUMP_LARGE		(RING_TEST_RACE_EVENTS / (PAGE_SIZE / SZ_4K))

/**
 * struct ring_dump_race - a writer and a concurrent dump
 * @t:		the ring
 * @size:	of the smallest event
 * @nr_events:	number of events to write
 * @data:	buffer for the largest event
 */
struct ring_dump_race {
	struct ring_test	*t;
	unsigned int		size;
	unsigned int		nr_events;
	u32			*data;
};

static int ring_dump_write(void *data)
{
	struct ring_dump_race *race = data;
	struct ring_test *t = race->t;

	while (t->written < race->nr_events && !kthread_should_stop()) {
		ring_test_write(t, race->size + t->written % 10 * 4, 1);
		if (!(t->written % 100))
			cond_resched();
	}

	return ring_test_stay();
}

/* All words of the event have the number of its first word. */
static void ring_dump_check_event(struct kunit *test, struct ring_dump_race *race,
				  unsigned int length, u64 ts)
{
	u32 number = race->data[0];
	unsigned int i;

	KUNIT_EXPECT_EQ(test, race->size + number % 10 * 4, length);
	KUNIT_EXPECT_EQ(test, number + 2, ts);
	for (i = 1; i < length / sizeof(*race->data); i++) {
		if (race->data[i] != number)
			KUNIT_FAIL(test, "word %u of event %u is %u", i, number, race->data[i]);
	}
}

/* Each event is valid and later than the one before. Returns the number of events. */
static unsigned int ring_dump_check_events(struct kunit *test, struct ring_dump_race *race)
{
	struct ring_buffer_reader_dump dump;
	unsigned int length, nr = 0;
	u32 next = 0;

	ring_buffer_reader_dump_start(&dump, race->t->buffer, RING_TEST_CPU, 128);
	while (ring_buffer_reader_dump_next(&dump)) {
		length = ring_buffer_reader_dump_copy(&dump, race->data, PAGE_SIZE);
		if (!length)
			continue;

		ring_dump_check_event(test, race, length, dump.ts);
		KUNIT_EXPECT_GE(test, race->data[0], next);
		next = race->data[0] + 1;
		nr++;
	}

	return nr;
}

static void ring_dump_race(struct kunit *test, unsigned int nr_pages, unsigned int size,
			   unsigned int nr_events)
{
	struct ring_dump_race race = {
		.t		= ring_test_make(test, nr_pages),
		.size		= size,
		.nr_events	= nr_events,
		.data		= kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL),
	};
	unsigned long deadline = jiffies + 60 * HZ;
	struct task_struct *writer;
	u64 dumps = 0, nr = 0;

	KUNIT_ASSERT_NOT_NULL(test, race.data);
	writer = kthread_run(ring_dump_write, &race, "ring_dump");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, writer);
	while (READ_ONCE(race.t->written) < nr_events && time_before(jiffies, deadline)) {
		nr += ring_dump_check_events(test, &race);
		dumps++;
		cond_resched();
	}

	kthread_stop(writer);
	KUNIT_EXPECT_EQ(test, nr_events, race.t->written);
	KUNIT_EXPECT_GT(test, ring_dump_check_events(test, &race), 0);
	KUNIT_EXPECT_EQ(test, nr_events - 1, race.data[0]);
	kunit_info(test, "%llu dumps of %llu events in all", dumps, nr);
}

/* The writer does not wait: with few pages, it soon overwrites the page being dumped. */
void ring_test_dump_race(struct kunit *test)
{
	ring_dump_race(test, RB_WRITER_MIN_PAGES + 1, 12, RING_TEST_RACE_EVENTS);
	ring_dump_race(test, RB_WRITER_MIN_PAGES, PAGE_SIZE / 2 - 100, RING_DUMP_LARGE);
	ring_dump_race(test, RB_WRITER_MIN_PAGES, RING_TEST_MAX_SIZE - 36, RING_DUMP_LARGE);
}
