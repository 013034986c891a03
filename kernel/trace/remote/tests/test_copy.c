// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: copies of a ring
 *
 * A copy shows what an iterator over the ring shows at that moment, and stays as it is.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/prandom.h>

#include "test.h"

#define COPY_TEST_STEPS		2000
#define COPY_TEST_MAX_EVENTS	2000

/* An event as it is shown: its number, its time, and what is missing before it */
struct copy_test_event {
	u32		number;
	u64		ts;
	unsigned long	lost;
};

/**
 * struct copy_test_events - the events that a buffer shows
 * @events:	the events, then what is missing at the end
 * @nr:		how many events
 */
struct copy_test_events {
	struct copy_test_event	events[COPY_TEST_MAX_EVENTS + 1];
	unsigned int		nr;
};

static void copy_test_free(void *copy)
{
	ring_buffer_reader_copy_free(copy);
}

static struct ring_buffer_reader_copy *copy_test_make(struct kunit *test, struct ring_test *t)
{
	struct ring_buffer_reader_copy *copy;

	copy = ring_buffer_reader_copy_alloc(t->buffer, t->writer.clock);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, copy);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, copy_test_free, copy));
	return copy;
}

static void copy_test_take(struct kunit *test, struct ring_buffer_reader_copy *copy,
			   struct ring_test *t)
{
	KUNIT_ASSERT_EQ(test, 0, ring_buffer_reader_copy_take(copy, t->buffer,
							      RING_BUFFER_ALL_CPUS));
}

static struct copy_test_events *copy_test_events(struct kunit *test)
{
	struct copy_test_events *events = kunit_kzalloc(test, sizeof(*events), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, events);
	return events;
}

static void copy_test_show(struct kunit *test, struct trace_buffer *buffer,
			   struct copy_test_events *shown)
{
	struct ring_buffer_reader_iter *iter = ring_buffer_reader_iter_start(buffer, RING_TEST_CPU);
	struct ring_buffer_event *event;
	struct copy_test_event *to;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, iter);
	memset(shown, 0, sizeof(*shown));
	do {
		to = &shown->events[shown->nr];
		event = ring_buffer_reader_iter_peek(iter, &to->ts);
		to->lost = ring_buffer_reader_iter_lost(iter);
		if (event)
			to->number = *(u32 *)ring_buffer_event_data(event);
		ring_buffer_reader_iter_advance(iter);
	} while (event && ++shown->nr < COPY_TEST_MAX_EVENTS);
	ring_buffer_reader_iter_finish(iter);
}

static void copy_test_expect_counters(struct kunit *test, struct trace_buffer *ring,
				      struct trace_buffer *copy)
{
	struct ring_buffer_reader_stats a, b;

	ring_buffer_reader_get_stats(ring, RING_TEST_CPU, &a);
	ring_buffer_reader_get_stats(copy, RING_TEST_CPU, &b);
	KUNIT_EXPECT_EQ(test, a.entries, b.entries);
	KUNIT_EXPECT_EQ(test, a.overrun, b.overrun);
	KUNIT_EXPECT_EQ(test, a.read, b.read);
	KUNIT_EXPECT_EQ(test, a.bytes, b.bytes);
	KUNIT_EXPECT_EQ(test, a.dropped, b.dropped);
}

/**
 * struct copy_test - a ring, its copy, and what they show
 * @t:		the ring
 * @copy:	the copy
 * @ring:	what @t showed when the copy was taken
 * @shown:	what the copy shows
 */
struct copy_test {
	struct ring_test		*t;
	struct ring_buffer_reader_copy	*copy;
	struct copy_test_events		*ring;
	struct copy_test_events		*shown;
};

static void copy_test_init(struct kunit *test, struct copy_test *c, unsigned int nr_pages)
{
	c->t = ring_test_make(test, nr_pages);
	c->copy = copy_test_make(test, c->t);
	c->ring = copy_test_events(test);
	c->shown = copy_test_events(test);
}

static void copy_test_expect_same(struct kunit *test, struct copy_test *c)
{
	copy_test_show(test, ring_buffer_reader_copy_buffer(c->copy), c->shown);
	KUNIT_ASSERT_EQ(test, c->ring->nr, c->shown->nr);
	KUNIT_ASSERT_MEMEQ(test, c->ring->events, c->shown->events,
			   (c->ring->nr + 1) * sizeof(*c->ring->events));
}

static void copy_test_check(struct kunit *test, struct copy_test *c)
{
	copy_test_take(test, c->copy, c->t);
	copy_test_show(test, c->t->buffer, c->ring);
	copy_test_expect_counters(test, c->t->buffer, ring_buffer_reader_copy_buffer(c->copy));
	copy_test_expect_same(test, c);
}

/* A copy of a ring in each state: random writes and reads, also of both kinds of full rings */
void ring_test_copy_random(struct kunit *test)
{
	struct rnd_state rnd;
	struct copy_test c;
	u32 op, step;

	copy_test_init(test, &c, 6);
	prandom_seed_state(&rnd, 31);
	for (step = 0; step < COPY_TEST_STEPS; step++) {
		op = prandom_u32_state(&rnd) % 1000;
		if (op < 5)
			ring_test_clear(test, c.t);
		else if (op < 20)
			trace_ring_set_overwrite(&c.t->ring, op % 2);
		else if (op < 200)
			ring_test_read(test, c.t, NULL);
		else if (op < 400)
			copy_test_check(test, &c);
		else
			ring_test_write(c.t, 4 + op % (PAGE_SIZE / 8) * 4, op % 7);
	}
}

/* A copy stays while the ring is overwritten, read and cleared, until another one is taken. */
void ring_test_copy_stays(struct kunit *test)
{
	struct copy_test c;

	copy_test_init(test, &c, 5);
	ring_test_write_pages(test, c.t, 9);
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, c.t, NULL));
	copy_test_check(test, &c);
	KUNIT_EXPECT_EQ(test, 3, c.shown->nr);

	ring_test_write_pages(test, c.t, 9);
	copy_test_expect_same(test, &c);
	ring_test_read_all(test, c.t);
	copy_test_expect_same(test, &c);
	ring_test_clear(test, c.t);
	copy_test_expect_same(test, &c);
	copy_test_check(test, &c);
	KUNIT_EXPECT_EQ(test, 0, c.shown->nr);
}

/* An iterator over a copy ends when that is cleared or taken again, and a new one shows the new. */
void ring_test_copy_cleared(struct kunit *test)
{
	struct ring_buffer_reader_iter *iter;
	struct copy_test c;
	u64 ts;

	copy_test_init(test, &c, 5);
	ring_test_write_pages(test, c.t, 4);
	copy_test_check(test, &c);
	iter = ring_buffer_reader_iter_start(ring_buffer_reader_copy_buffer(c.copy),
					     RING_TEST_CPU);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, iter);
	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_reader_iter_peek(iter, &ts));
	copy_test_take(test, c.copy, c.t);
	ring_buffer_reader_iter_advance(iter);
	KUNIT_EXPECT_NULL(test, ring_buffer_reader_iter_peek(iter, &ts));
	ring_buffer_reader_iter_finish(iter);
	copy_test_expect_same(test, &c);

	ring_buffer_reader_copy_clear(c.copy, RING_TEST_CPU);
	copy_test_show(test, ring_buffer_reader_copy_buffer(c.copy), c.shown);
	KUNIT_EXPECT_EQ(test, 0, c.shown->nr);
	KUNIT_EXPECT_EQ(test, 0, c.shown->events[0].lost);
}

/* A copy is for rings that are no larger. */
void ring_test_copy_fits(struct kunit *test)
{
	struct ring_test *small = ring_test_make(test, 4), *large = ring_test_make(test, 5);
	struct ring_buffer_reader_copy *copy = copy_test_make(test, large);
	struct copy_test c = { .t = small, .copy = copy };

	KUNIT_EXPECT_TRUE(test, ring_buffer_reader_copy_fits(copy, small->buffer, RING_TEST_CPU));
	c.ring = copy_test_events(test);
	c.shown = copy_test_events(test);
	ring_test_write_pages(test, small, 7);
	copy_test_check(test, &c);

	c.copy = copy_test_make(test, small);
	ring_test_write_pages(test, large, 7);
	KUNIT_EXPECT_FALSE(test, ring_buffer_reader_copy_fits(c.copy, large->buffer,
							      RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_reader_copy_take(c.copy, large->buffer,
							      RING_TEST_CPU));
	copy_test_show(test, ring_buffer_reader_copy_buffer(c.copy), c.shown);
	KUNIT_EXPECT_EQ(test, 0, c.shown->nr);
}

/* Of a ring that is written meanwhile: no gap but the one before the first event */
void ring_test_copy_race(struct kunit *test)
{
	struct task_struct *writer;
	unsigned int i, round;
	struct copy_test c;
	u64 written;

	copy_test_init(test, &c, 33);
	writer = kthread_run(ring_test_keep_writing, c.t, "copy_test");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, writer);
	for (round = 0; round < 300; round++) {
		written = smp_load_acquire(&c.t->written); /* ring_test_write() */
		copy_test_take(test, c.copy, c.t);
		copy_test_show(test, ring_buffer_reader_copy_buffer(c.copy), c.shown);
		for (i = 1; i < c.shown->nr; i++) {
			KUNIT_EXPECT_EQ(test, c.shown->events[0].number + i,
					c.shown->events[i].number);
			KUNIT_EXPECT_EQ(test, 0, c.shown->events[i].lost);
		}
		if (!written)
			continue;
		KUNIT_EXPECT_GT(test, c.shown->nr, 0);
		KUNIT_EXPECT_EQ(test, c.shown->events[0].number, c.shown->events[0].lost);
		KUNIT_EXPECT_GE(test, c.shown->events[0].number + c.shown->nr, written);
	}
	kthread_stop(writer);
}
