// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: a full ring that keeps its oldest events, and drops new ones
 */
#include "test.h"

#define FULL_TEST_PAGES		5
#define FULL_TEST_SLOTS		(FULL_TEST_PAGES - 1)

static struct ring_test *full_test_make(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, FULL_TEST_PAGES);

	trace_ring_set_overwrite(&t->ring, false);
	return t;
}

static void full_test_expect_dropped(struct kunit *test, struct ring_test *t, unsigned int size,
				     unsigned long dropped)
{
	struct ring_buffer_reader_stats stats;

	KUNIT_EXPECT_FALSE(test, ring_test_write(t, size, 1));
	ring_buffer_reader_get_stats(t->buffer, RING_TEST_CPU, &stats);
	KUNIT_EXPECT_EQ(test, dropped, stats.dropped);
	KUNIT_EXPECT_EQ(test, 0, stats.overrun);
	KUNIT_EXPECT_EQ(test, t->written, stats.entries + stats.read);
}

/* All pages are used, nothing is lost, and the reader makes room for as much as it has read. */
void ring_test_full_kept(struct kunit *test)
{
	struct ring_test *t = full_test_make(test);
	unsigned int i;

	ring_test_write_pages(test, t, FULL_TEST_SLOTS);
	for (i = 1; i <= 3; i++)
		full_test_expect_dropped(test, t, RING_TEST_MAX_SIZE, i);

	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	ring_test_write_pages(test, t, 1);
	full_test_expect_dropped(test, t, RING_TEST_MAX_SIZE, i);

	ring_test_read_all(test, t);
	KUNIT_EXPECT_EQ(test, 0, t->lost);
	ring_test_write_pages(test, t, FULL_TEST_SLOTS - 1);
	ring_test_read_all(test, t);
	KUNIT_EXPECT_EQ(test, 0, t->lost);
}

/* Once an event was dropped, no smaller one takes its place before the reader has made room. */
void ring_test_full_ended(struct kunit *test)
{
	struct ring_test *t = full_test_make(test);

	ring_test_write_pages(test, t, FULL_TEST_SLOTS - 1);
	KUNIT_EXPECT_TRUE(test, ring_test_write(t, 4, 1));
	full_test_expect_dropped(test, t, RING_TEST_MAX_SIZE, 1);
	full_test_expect_dropped(test, t, 4, 2);
	full_test_expect_dropped(test, t, 0, 3);

	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	KUNIT_EXPECT_TRUE(test, ring_test_write(t, 4, 1));
	ring_test_read_all(test, t);
	KUNIT_EXPECT_EQ(test, 0, t->lost);
}

/* A reset makes room, also where an event was dropped before; the ring still keeps events. */
void ring_test_full_reset(struct kunit *test)
{
	struct ring_test *t = full_test_make(test);

	ring_test_write_pages(test, t, FULL_TEST_SLOTS);
	full_test_expect_dropped(test, t, 4, 1);
	ring_test_clear(test, t);
	ring_test_write_pages(test, t, FULL_TEST_SLOTS);
	full_test_expect_dropped(test, t, 4, 1);
	ring_test_read_all(test, t);
	KUNIT_EXPECT_EQ(test, 0, t->lost);
}

/* The mode changes when the ring is full: then events are overwritten, and kept again. */
void ring_test_full_changed(struct kunit *test)
{
	struct ring_test *t = full_test_make(test);

	ring_test_write_pages(test, t, FULL_TEST_SLOTS);
	KUNIT_EXPECT_FALSE(test, ring_test_write(t, RING_TEST_MAX_SIZE, 1));
	trace_ring_set_overwrite(&t->ring, true);
	ring_test_write_pages(test, t, 2);
	trace_ring_set_overwrite(&t->ring, false);
	KUNIT_EXPECT_FALSE(test, ring_test_write(t, RING_TEST_MAX_SIZE, 1));

	ring_test_read_all(test, t);
	KUNIT_EXPECT_EQ(test, 2, t->lost);
}
