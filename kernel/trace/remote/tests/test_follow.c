// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: followers, which see each event of a ring once
 *
 * An event is seen, or is counted as lost before the next one that is seen: the numbers show it.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/prandom.h>

#include "test.h"

#define FOLLOW_TEST_STEPS	5000

/**
 * struct follow_test - a ring and its follower
 * @t:		the ring
 * @follower:	the follower
 * @next:	number of the next event
 * @lost:	events that it has lost
 * @ts:		time of the last event
 */
struct follow_test {
	struct ring_test			*t;
	struct ring_buffer_reader_follower	*follower;
	u64					next;
	u64					lost;
	u64					ts;
};

static void follow_test_finish(void *follower)
{
	ring_buffer_reader_follow_finish(follower);
}

static void follow_test_start(struct kunit *test, struct follow_test *f, bool from_first)
{
	f->follower = ring_buffer_reader_follow_start(f->t->buffer, RING_TEST_CPU, from_first);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->follower);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, follow_test_finish, f->follower));
	f->next = from_first ? 0 : f->t->written;
	f->lost = 0;
	f->ts = 0;
}

static void follow_test_init(struct kunit *test, struct follow_test *f, unsigned int nr_pages)
{
	f->t = ring_test_make(test, nr_pages);
	follow_test_start(test, f, false);
}

/* See the rest of a page. Returns how many events. */
static unsigned int follow_test_see_page(struct kunit *test, struct follow_test *f)
{
	struct ring_buffer_event *event;
	unsigned int nr = 0;
	unsigned long lost;
	u32 number;
	u64 ts;

	while ((event = ring_buffer_reader_follow_next(f->follower, &ts, &lost))) {
		f->next += lost;
		f->lost += lost;
		number = *(u32 *)ring_buffer_event_data(event);
		KUNIT_EXPECT_EQ(test, (u32)f->next, number);
		KUNIT_EXPECT_GE(test, ts, f->ts);
		f->ts = ts;
		f->next = number + 1;
		nr++;
	}

	return nr;
}

/* See all there is. Returns how many events. */
static unsigned int follow_test_see(struct kunit *test, struct follow_test *f)
{
	unsigned int pages = ring_buffer_reader_follow_pages(f->follower);
	unsigned int nr = 0;

	do {
		nr += follow_test_see_page(test, f);
	} while (pages-- && ring_buffer_reader_follow_page(f->follower));

	return nr;
}

static void follow_test_clear(struct kunit *test, struct follow_test *f)
{
	ring_test_clear(test, f->t);
	f->next = 0;
	f->ts = 0;
}

/* Events are seen as they come: also some of a page, and then the others. */
void ring_follow_comes(struct kunit *test)
{
	struct follow_test f;
	unsigned int i;

	follow_test_init(test, &f, 4);
	KUNIT_EXPECT_EQ(test, 0, follow_test_see(test, &f));
	for (i = 0; i < 1000; i++) {
		KUNIT_ASSERT_TRUE(test, ring_test_write(f.t, 12 + i % 50 * 4, i % 9));
		KUNIT_EXPECT_EQ(test, 1, follow_test_see(test, &f));
		KUNIT_EXPECT_EQ(test, f.t->ts, f.ts);
		KUNIT_EXPECT_EQ(test, 0, follow_test_see(test, &f));
	}
	KUNIT_EXPECT_EQ(test, 0, f.lost);
}

/* From the first event on, or from the next one; that may be in the middle of a page. */
void ring_follow_starts(struct kunit *test)
{
	struct follow_test f = { .t = ring_test_make(test, 5) };
	unsigned int i;

	for (i = 0; i < 300; i++) {
		KUNIT_ASSERT_TRUE(test, ring_test_write(f.t, 12, 2));
		follow_test_start(test, &f, false);
		KUNIT_EXPECT_EQ(test, 0, follow_test_see(test, &f));
		KUNIT_ASSERT_TRUE(test, ring_test_write(f.t, 12, 2));
		KUNIT_EXPECT_EQ(test, 1, follow_test_see(test, &f));
		KUNIT_EXPECT_EQ(test, f.t->ts, f.ts);
	}

	follow_test_start(test, &f, true);
	KUNIT_EXPECT_EQ(test, f.t->written, follow_test_see(test, &f));
	KUNIT_EXPECT_EQ(test, 0, f.lost);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(ring_buffer_reader_follow_start(f.t->buffer, RING_TEST_CPU + 1,
								true)));
	ring_buffer_reader_follow_finish(NULL);
}

/* What was overwritten is counted, and the rest is seen. */
void ring_follow_overwritten(struct kunit *test)
{
	struct follow_test f;

	follow_test_init(test, &f, 5);
	ring_test_write_pages(test, f.t, 2);
	KUNIT_EXPECT_EQ(test, 2, follow_test_see(test, &f));
	ring_test_write_pages(test, f.t, 11);
	KUNIT_EXPECT_EQ(test, 4, follow_test_see(test, &f));
	KUNIT_EXPECT_EQ(test, 7, f.lost);
	KUNIT_EXPECT_EQ(test, f.t->written, f.next);
}

/* The page that a reader gives back is kept for the follower; a second one is lost. */
void ring_follow_consumed(struct kunit *test)
{
	struct follow_test f;
	unsigned int i;

	follow_test_init(test, &f, 6);
	ring_test_write_pages(test, f.t, 4);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_TRUE(test, ring_test_read(test, f.t, NULL));
	KUNIT_EXPECT_EQ(test, 4, follow_test_see(test, &f));
	KUNIT_EXPECT_EQ(test, 0, f.lost);

	ring_test_write_pages(test, f.t, 3);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_TRUE(test, ring_test_read(test, f.t, NULL));
	KUNIT_EXPECT_EQ(test, 2, follow_test_see(test, &f));
	KUNIT_EXPECT_EQ(test, 1, f.lost);
	KUNIT_EXPECT_EQ(test, f.t->written, f.next);
}

/* A page that the follower has copied needs not be kept: there is room for the next one. */
void ring_follow_copied(struct kunit *test)
{
	struct follow_test f;
	unsigned int i;

	follow_test_init(test, &f, 6);
	ring_test_write_pages(test, f.t, 3);
	KUNIT_EXPECT_TRUE(test, ring_buffer_reader_follow_page(f.follower));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, ring_test_read(test, f.t, NULL));
	KUNIT_EXPECT_EQ(test, 3, follow_test_see(test, &f));
	KUNIT_EXPECT_EQ(test, 0, f.lost);
}

/* Followers are independent of each other, and of those that have gone. */
void ring_follow_several(struct kunit *test)
{
	struct follow_test f[3];
	unsigned int i;

	follow_test_init(test, &f[0], 4);
	for (i = 1; i < ARRAY_SIZE(f); i++) {
		f[i].t = f[0].t;
		follow_test_start(test, &f[i], true);
	}
	kunit_release_action(test, follow_test_finish, f[1].follower);
	for (i = 0; i < 300; i++) {
		KUNIT_ASSERT_TRUE(test, ring_test_write(f[0].t, 400, 1));
		KUNIT_EXPECT_EQ(test, 1, follow_test_see(test, &f[0]));
		if (i % 30 == 29) {
			ring_test_read(test, f[0].t, NULL);
			follow_test_see(test, &f[2]);
			KUNIT_EXPECT_EQ(test, f[0].next, f[2].next);
		}
	}
	KUNIT_EXPECT_EQ(test, 0, f[0].lost);
}

/* A consuming reader that lets events be seen first takes none away. */
void ring_follow_synced(struct kunit *test)
{
	struct follow_test f;
	struct rnd_state rnd;
	u32 op, step, seen = 0;

	follow_test_init(test, &f, 8);
	prandom_seed_state(&rnd, 5);
	for (step = 0; step < FOLLOW_TEST_STEPS; step++) {
		op = prandom_u32_state(&rnd) % 100;
		if (op < 60) {
			ring_test_write(f.t, 12 + op * 8, op % 3);
			continue;
		}
		seen += follow_test_see(test, &f);
		if (op < 90)
			ring_test_read(test, f.t, NULL);
	}
	seen += follow_test_see(test, &f);
	KUNIT_EXPECT_EQ(test, seen, f.t->written);
	KUNIT_EXPECT_EQ(test, 0, f.lost);
}

/* In each state of a ring, in both modes, all events are seen or counted. */
void ring_follow_random(struct kunit *test)
{
	struct follow_test f;
	struct rnd_state rnd;
	u32 op, step;

	follow_test_init(test, &f, 5);
	prandom_seed_state(&rnd, 31);
	for (step = 0; step < FOLLOW_TEST_STEPS; step++) {
		op = prandom_u32_state(&rnd) % 1000;
		if (op < 5) {
			follow_test_clear(test, &f);
		} else if (op < 20) {
			trace_ring_set_overwrite(&f.t->ring, op % 2);
		} else if (op < 250) {
			ring_test_read(test, f.t, NULL);
		} else if (op < 350) {
			follow_test_see(test, &f);
			KUNIT_EXPECT_LE(test, f.next, f.t->written);
		} else {
			ring_test_write(f.t, 4 + op % (PAGE_SIZE / 8) * 4, op % 7);
		}
	}

	trace_ring_set_overwrite(&f.t->ring, true);
	ring_test_write_pages(test, f.t, 1);
	follow_test_see(test, &f);
	KUNIT_EXPECT_EQ(test, f.next, f.t->written);
}

/* While the ring is written: this thread consumes, too, with and without letting events be seen. */
void ring_follow_race(struct kunit *test)
{
	struct task_struct *writer;
	struct follow_test f;
	unsigned int i;

	follow_test_init(test, &f, 17);
	writer = kthread_run(ring_test_keep_writing, f.t, "follow_test");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, writer);
	for (i = 0; i < 3000; i++) {
		if (i % 8)
			follow_test_see(test, &f);
		ring_test_read(test, f.t, NULL);
		cond_resched();
	}
	kthread_stop(writer);

	ring_test_write_pages(test, f.t, 1);
	follow_test_see(test, &f);
	KUNIT_EXPECT_EQ(test, f.next, f.t->written);
}
