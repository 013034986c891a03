// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: iterators, which show what is in a ring and consume nothing
 *
 * What they show and report lost is compared with what was written, what is
 * still there, and what a consuming reader took.
 */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "test.h"

void ring_test_iter_all(struct kunit *test)
{
	unsigned int i, nr, per_page = PAGE_SIZE / 16 - 1;
	struct ring_test *t;

	for (nr = 0; nr < 7 * per_page; nr += per_page / 2) {
		t = ring_test_make(test, 4);
		ring_test_keep(test, t, nr + 1);
		for (i = 0; i < nr; i++)
			KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 3));
		KUNIT_EXPECT_GE(test, ring_test_look(test, t), min(nr, 2 * per_page));
		ring_test_read_all(test, t);
	}
}

void ring_test_iter_refused(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, RB_WRITER_MIN_PAGES);
	struct ring_buffer_reader_iter *iter;

	iter = ring_buffer_reader_iter_start(t->buffer, RING_TEST_CPU + 1);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(iter));
	ring_buffer_reader_iter_finish(iter);
	ring_buffer_reader_iter_finish(NULL);
}

/* From the shortest ring to one whose entries take several leaves */
void ring_test_iter_sizes(struct kunit *test)
{
	static const unsigned int sizes[] = { 3, 4, 5, 100, 171, 172, 512, 1001 };
	struct ring_test *t;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		t = ring_test_make(test, sizes[i]);
		ring_test_keep(test, t, 3 * sizes[i]);
		ring_test_write_pages(test, t, sizes[i] - 1);
		KUNIT_EXPECT_EQ(test, sizes[i] - 1, ring_test_look(test, t));
		ring_test_write_pages(test, t, sizes[i] + 1);
		KUNIT_EXPECT_EQ(test, sizes[i] - 1, ring_test_look(test, t));
		ring_test_read_all(test, t);
	}
}

/* Events that are written after the start are not shown, not even those on the same page. */
void ring_test_iter_later(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	struct ring_look look;
	unsigned int i;

	ring_test_keep(test, t, 32);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	ring_look_begin(test, &look, t);
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	KUNIT_EXPECT_EQ(test, 3, ring_look_all(test, &look));
	ring_look_end(&look);
	ring_test_read_all(test, t);
}

/* Wherever in the ring the writer and the reader are */
void ring_test_iter_positions(struct kunit *test)
{
	unsigned int i, reads, writes;
	struct ring_test *t;

	for (writes = 1; writes < 16; writes++) {
		for (reads = 0; reads <= min(writes, 5U); reads++) {
			t = ring_test_make(test, 6);
			ring_test_keep(test, t, 32);
			ring_test_write_pages(test, t, writes);
			for (i = 0; i < reads; i++)
				KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
			ring_test_look(test, t);
			ring_test_write_pages(test, t, 3);
			ring_test_look(test, t);
			ring_test_read_all(test, t);
		}
	}
}

/* A ring whose positions are about to need more than 32 bits */
void ring_test_iter_far(struct kunit *test)
{
	u64 tail = (1ULL << 32) - 4;
	struct ring_test *t = ring_test_make(test, 5);
	unsigned int i;

	for (i = 0; i < 4; i++)
		t->ring.dir[0][i].slot = (tail + i) << 32 | i;
	t->ring.tail = tail;
	t->ring.head = tail;
	t->desc.meta->tail = tail;
	t->desc.meta->next = tail;

	ring_test_keep(test, t, 32);
	for (i = 0; i < 3; i++) {
		ring_test_write_pages(test, t, 3);
		ring_test_look(test, t);
	}
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	ring_test_write_pages(test, t, 3);
	KUNIT_EXPECT_EQ(test, 4, ring_test_look(test, t));
	ring_test_read_all(test, t);
}

/* What the reader has not read of its page, be that complete or not */
void ring_test_iter_reader(struct kunit *test)
{
	unsigned int reads, laps, i;
	struct ring_test *t;

	for (reads = 1; reads <= 5; reads++) {
		for (laps = 0; laps < 3; laps++) {
			t = ring_test_make(test, 4);
			ring_test_keep(test, t, 32);
			for (i = 0; i < 5; i++)
				KUNIT_ASSERT_TRUE(test, ring_test_write(t, 700, 10));
			for (i = 0; i < reads; i++)
				KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));

			KUNIT_EXPECT_EQ(test, 5 - reads, ring_test_look(test, t));
			ring_test_write_pages(test, t, 3 * laps);
			KUNIT_EXPECT_EQ(test, 5 - reads + min(3, 3 * laps),
					ring_test_look(test, t));
			ring_test_read_all(test, t);
		}
	}
}

/* A reader that has a page, and losses before it that are not reported yet */
void ring_test_iter_unreported(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	struct ring_look look;
	u64 ts;

	ring_test_keep(test, t, 32);
	ring_test_write_pages(test, t, 8);
	KUNIT_EXPECT_NOT_NULL(test, ring_test_peek(t, &ts, NULL));
	KUNIT_EXPECT_EQ(test, 3, ring_test_look(test, t));

	/* Nor was it when its page went on being its page. */
	ring_test_write_pages(test, t, 8);
	ring_look_begin(test, &look, t);
	KUNIT_EXPECT_EQ(test, 5, look.lost);
	KUNIT_EXPECT_EQ(test, 4, ring_look_all(test, &look));
	ring_look_end(&look);
	ring_test_read_all(test, t);
}

/* Each length that the format encodes in another way, and each time delta */
void ring_test_iter_formats(struct kunit *test)
{
	static const u64 deltas[] = {
		0, 1, RB_WRITER_TS_MASK, RB_WRITER_TS_MASK + 1, 1ULL << 40, (1ULL << 59) - 1,
		1ULL << 59,
	};
	struct ring_test *t = ring_test_make(test, 30);
	struct ring_buffer_reader_iter *iter;
	struct ring_buffer_event *event;
	unsigned int size, i;
	u64 ts;

	ring_test_keep(test, t, 1000);
	for (i = 0; i < ARRAY_SIZE(deltas); i++) {
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, RING_TEST_MAX_SIZE - 4 * i, deltas[i]));
		for (size = 4; size < 200; size += 4)
			KUNIT_ASSERT_TRUE(test, ring_test_write(t, size,
								size == 64 ? deltas[i] : 1));
	}
	KUNIT_EXPECT_EQ(test, t->written, ring_test_look(test, t));

	iter = ring_buffer_reader_iter_start(t->buffer, RING_TEST_CPU);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, iter);
	for (i = 0; i < ARRAY_SIZE(deltas); i++) {
		event = ring_buffer_reader_iter_peek(iter, &ts);
		KUNIT_ASSERT_NOT_NULL(test, event);
		KUNIT_EXPECT_EQ(test, RING_TEST_MAX_SIZE - 4 * i, ring_buffer_event_length(event));
		ring_buffer_reader_iter_advance(iter);
		for (size = 4; size < 200; size += 4) {
			event = ring_buffer_reader_iter_peek(iter, &ts);
			KUNIT_ASSERT_NOT_NULL(test, event);
			KUNIT_EXPECT_EQ(test, size, ring_buffer_event_length(event));
			ring_buffer_reader_iter_advance(iter);
		}
	}
	ring_buffer_reader_iter_finish(iter);
	ring_test_read_all(test, t);
}

/* The writer goes on: what it overwrites is lost where it was, or at the end. */
void ring_test_iter_lapped(struct kunit *test)
{
	unsigned int shown, more;
	struct ring_look look;
	struct ring_test *t;

	for (shown = 0; shown <= 4; shown++) {
		for (more = 0; more < 12; more++) {
			t = ring_test_make(test, 6);
			ring_test_keep(test, t, 32);
			ring_test_write_pages(test, t, 7);

			ring_look_begin(test, &look, t);
			while (look.next < 2 + shown)
				KUNIT_EXPECT_TRUE(test, ring_look_on(test, &look));
			ring_test_write_pages(test, t, more);
			ring_look_all(test, &look);
			KUNIT_EXPECT_EQ(test, 7, look.next);
			ring_look_end(&look);
			ring_test_read_all(test, t);
		}
	}
}

/* A reader consumes what was still to be shown: out of reach, but not lost */
void ring_test_iter_taken(struct kunit *test)
{
	unsigned int shown, reads, more;
	struct ring_look looks[2];
	struct ring_test *t;

	for (shown = 0; shown <= 5; shown++) {
		for (reads = 0; reads <= 5; reads++) {
			for (more = 0; more < 8; more++) {
				t = ring_test_make(test, 6);
				ring_test_keep(test, t, 32);
				ring_test_write_pages(test, t, 5);

				ring_look_begin(test, &looks[0], t);
				ring_look_begin(test, &looks[1], t);
				while (looks[0].next < shown)
					ring_look_on(test, &looks[0]);
				while (t->seen < reads)
					ring_test_read(test, t, NULL);
				ring_test_write_pages(test, t, more);
				ring_look_all(test, &looks[0]);
				ring_test_read(test, t, NULL);
				ring_look_all(test, &looks[1]);
				ring_look_end(&looks[0]);
				ring_look_end(&looks[1]);
				ring_test_read_all(test, t);
			}
		}
	}
}

/* What was copied is shown; then it is over, and nothing is reported lost. */
void ring_test_iter_reset(struct kunit *test)
{
	unsigned int shown, i;
	struct ring_look look;
	struct ring_test *t;

	for (shown = 0; shown <= 10; shown++) {
		t = ring_test_make(test, 4);
		ring_test_keep(test, t, 32);
		for (i = 0; i < 12; i++)
			KUNIT_ASSERT_TRUE(test, ring_test_write(t, 700, 1));
		ring_look_begin(test, &look, t);
		for (i = 0; i < shown; i++)
			ring_look_on(test, &look);

		/* All but what is copied is as if it had been taken. */
		for (i = look.copied; i < look.end; i++)
			t->events[i] = (struct ring_test_event){ .taken = true };
		look.end = look.copied;
		ring_test_clear(test, t);
		KUNIT_EXPECT_EQ(test, 0, ring_test_look(test, t));
		ring_look_all(test, &look);
		ring_look_end(&look);

		ring_test_write_pages(test, t, 5);
		KUNIT_EXPECT_EQ(test, 3, ring_test_look(test, t));
		ring_test_read_all(test, t);
	}
}

/* The same when there are events again by then, and some of them are read */
void ring_test_iter_reset_written(struct kunit *test)
{
	struct ring_test *t, before;
	unsigned int shown, more;
	struct ring_look look;

	for (shown = 0; shown < 4; shown++) {
		for (more = 0; more < 12; more++) {
			t = ring_test_make(test, 6);
			ring_test_keep(test, t, 32);
			ring_test_write_pages(test, t, 4);
			ring_look_begin(test, &look, t);
			while (look.next < shown)
				KUNIT_EXPECT_TRUE(test, ring_look_on(test, &look));

			/* What was copied stays as it was; the ring gets other events. */
			before = *t;
			look.t = &before;
			look.end = shown;
			ring_test_clear(test, t);
			ring_test_keep(test, t, 32);
			ring_test_write_pages(test, t, more);
			ring_test_read(test, t, NULL);
			KUNIT_EXPECT_EQ(test, 0, ring_look_all(test, &look));
			ring_look_end(&look);
			ring_test_read_all(test, t);
		}
	}
}

static int ring_test_go_on(void *data)
{
	struct ring_test *t = data;

	msleep(20);
	WRITE_ONCE(t->desc.meta->next, t->ring.tail);
	return 0;
}

/* A writer that has announced a page and does not come there: reported when it goes on, ... */
void ring_test_iter_stopped(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	struct task_struct *task;
	struct ring_look look;
	u64 ts;

	ring_test_keep(test, t, 32);
	ring_test_write_pages(test, t, 7);
	ring_look_begin(test, &look, t);
	t->desc.meta->next++;
	task = kthread_run(ring_test_go_on, t, "ring_test_go_on");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, 3, ring_look_all(test, &look));
	ring_look_end(&look);

	/* ... and given up if it never does. */
	ring_look_begin(test, &look, t);
	t->desc.meta->next++;
	KUNIT_EXPECT_NULL(test, ring_buffer_reader_iter_peek(look.iter, &ts));
	KUNIT_EXPECT_EQ(test, ULONG_MAX, ring_buffer_reader_iter_lost(look.iter));
	ring_buffer_reader_iter_advance(look.iter);
	KUNIT_EXPECT_NULL(test, ring_buffer_reader_iter_peek(look.iter, &ts));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_reader_iter_lost(look.iter));
	ring_look_end(&look);
	t->desc.meta->next--;
	ring_test_read_all(test, t);
}
