// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: iterators, the non-consuming readers of a ring
 *
 * The events that they show and report lost are compared with those that were written, that are
 * still in the ring, and that a consuming reader has read.
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
		KUNIT_EXPECT_GE(test, ring_test_snapshot(test, t), min(nr, 2 * per_page));
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
		KUNIT_EXPECT_EQ(test, sizes[i] - 1, ring_test_snapshot(test, t));
		ring_test_write_pages(test, t, sizes[i] + 1);
		KUNIT_EXPECT_EQ(test, sizes[i] - 1, ring_test_snapshot(test, t));
		ring_test_read_all(test, t);
	}
}

/* Events that are written after the start are not shown, not even those on the same page. */
void ring_test_iter_later(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	struct ring_snapshot snap;
	unsigned int i;

	ring_test_keep(test, t, 32);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	ring_snapshot_start(test, &snap, t);
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	KUNIT_EXPECT_EQ(test, 3, ring_snapshot_read_all(test, &snap));
	ring_snapshot_finish(&snap);
	ring_test_read_all(test, t);
}

/* Each position of the writer and the reader in the ring */
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
			ring_test_snapshot(test, t);
			ring_test_write_pages(test, t, 3);
			ring_test_snapshot(test, t);
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
		ring_test_snapshot(test, t);
	}
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	ring_test_write_pages(test, t, 3);
	KUNIT_EXPECT_EQ(test, 4, ring_test_snapshot(test, t));
	ring_test_read_all(test, t);
}

/* The unread events of the reader's page, complete or not */
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

			KUNIT_EXPECT_EQ(test, 5 - reads, ring_test_snapshot(test, t));
			ring_test_write_pages(test, t, 3 * laps);
			KUNIT_EXPECT_EQ(test, 5 - reads + min(3, 3 * laps),
					ring_test_snapshot(test, t));
			ring_test_read_all(test, t);
		}
	}
}

/* A reader that has a page, with lost events before it that are not reported yet */
void ring_test_iter_unreported(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	struct ring_snapshot snap;
	u64 ts;

	ring_test_keep(test, t, 32);
	ring_test_write_pages(test, t, 8);
	KUNIT_EXPECT_NOT_NULL(test, ring_test_peek(t, &ts, NULL));
	KUNIT_EXPECT_EQ(test, 3, ring_test_snapshot(test, t));

	/* They are still unreported when the reader keeps its page. */
	ring_test_write_pages(test, t, 8);
	ring_snapshot_start(test, &snap, t);
	KUNIT_EXPECT_EQ(test, 5, snap.lost);
	KUNIT_EXPECT_EQ(test, 4, ring_snapshot_read_all(test, &snap));
	ring_snapshot_finish(&snap);
	ring_test_read_all(test, t);
}

/* Lengths and time deltas of each encoding */
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
	KUNIT_EXPECT_EQ(test, t->written, ring_test_snapshot(test, t));

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

/* Events that the writer overwrites are reported lost in their place, or at the end. */
void ring_test_iter_lapped(struct kunit *test)
{
	unsigned int shown, more;
	struct ring_snapshot snap;
	struct ring_test *t;

	for (shown = 0; shown <= 4; shown++) {
		for (more = 0; more < 12; more++) {
			t = ring_test_make(test, 6);
			ring_test_keep(test, t, 32);
			ring_test_write_pages(test, t, 7);

			ring_snapshot_start(test, &snap, t);
			while (snap.next < 2 + shown)
				KUNIT_EXPECT_TRUE(test, ring_snapshot_next(test, &snap));
			ring_test_write_pages(test, t, more);
			ring_snapshot_read_all(test, &snap);
			KUNIT_EXPECT_EQ(test, 7, snap.next);
			ring_snapshot_finish(&snap);
			ring_test_read_all(test, t);
		}
	}
}

/* Events that a reader consumes before they are shown are skipped, but not lost. */
void ring_test_iter_consumed(struct kunit *test)
{
	unsigned int shown, reads, more;
	struct ring_snapshot snaps[2];
	struct ring_test *t;

	for (shown = 0; shown <= 5; shown++) {
		for (reads = 0; reads <= 5; reads++) {
			for (more = 0; more < 8; more++) {
				t = ring_test_make(test, 6);
				ring_test_keep(test, t, 32);
				ring_test_write_pages(test, t, 5);

				ring_snapshot_start(test, &snaps[0], t);
				ring_snapshot_start(test, &snaps[1], t);
				while (snaps[0].next < shown)
					ring_snapshot_next(test, &snaps[0]);
				while (t->seen < reads)
					ring_test_read(test, t, NULL);
				ring_test_write_pages(test, t, more);
				ring_snapshot_read_all(test, &snaps[0]);
				ring_test_read(test, t, NULL);
				ring_snapshot_read_all(test, &snaps[1]);
				ring_snapshot_finish(&snaps[0]);
				ring_snapshot_finish(&snaps[1]);
				ring_test_read_all(test, t);
			}
		}
	}
}

/* After a reset, only the copied page is shown and nothing is reported lost. */
void ring_test_iter_reset(struct kunit *test)
{
	unsigned int shown, i;
	struct ring_snapshot snap;
	struct ring_test *t;

	for (shown = 0; shown <= 10; shown++) {
		t = ring_test_make(test, 4);
		ring_test_keep(test, t, 32);
		for (i = 0; i < 12; i++)
			KUNIT_ASSERT_TRUE(test, ring_test_write(t, 700, 1));
		ring_snapshot_start(test, &snap, t);
		for (i = 0; i < shown; i++)
			ring_snapshot_next(test, &snap);

		/* All events that are not copied count as consumed. */
		for (i = snap.copied; i < snap.end; i++)
			t->events[i] = (struct ring_test_event){ .consumed = true };
		snap.end = snap.copied;
		ring_test_clear(test, t);
		KUNIT_EXPECT_EQ(test, 0, ring_test_snapshot(test, t));
		ring_snapshot_read_all(test, &snap);
		ring_snapshot_finish(&snap);

		ring_test_write_pages(test, t, 5);
		KUNIT_EXPECT_EQ(test, 3, ring_test_snapshot(test, t));
		ring_test_read_all(test, t);
	}
}

/* A reset after which events are written, and one of them is read */
void ring_test_iter_reset_written(struct kunit *test)
{
	struct ring_test *t, before;
	unsigned int shown, more;
	struct ring_snapshot snap;

	for (shown = 0; shown < 4; shown++) {
		for (more = 0; more < 12; more++) {
			t = ring_test_make(test, 6);
			ring_test_keep(test, t, 32);
			ring_test_write_pages(test, t, 4);
			ring_snapshot_start(test, &snap, t);
			while (snap.next < shown)
				KUNIT_EXPECT_TRUE(test, ring_snapshot_next(test, &snap));

			/* The copied page keeps its events; the ring gets others. */
			before = *t;
			snap.t = &before;
			snap.end = shown;
			ring_test_clear(test, t);
			ring_test_keep(test, t, 32);
			ring_test_write_pages(test, t, more);
			ring_test_read(test, t, NULL);
			KUNIT_EXPECT_EQ(test, 0, ring_snapshot_read_all(test, &snap));
			ring_snapshot_finish(&snap);
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

/* A writer stops between two pages. The iterator waits for it, for a limited time. */
void ring_test_iter_stopped(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	struct task_struct *task;
	struct ring_snapshot snap;
	u64 ts;

	ring_test_keep(test, t, 32);
	ring_test_write_pages(test, t, 7);
	ring_snapshot_start(test, &snap, t);
	t->desc.meta->next++;
	task = kthread_run(ring_test_go_on, t, "ring_test_go_on");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, 3, ring_snapshot_read_all(test, &snap));
	ring_snapshot_finish(&snap);

	/* The writer does not continue: an unknown number of events is lost. */
	ring_snapshot_start(test, &snap, t);
	t->desc.meta->next++;
	KUNIT_EXPECT_NULL(test, ring_buffer_reader_iter_peek(snap.iter, &ts));
	KUNIT_EXPECT_EQ(test, ULONG_MAX, ring_buffer_reader_iter_lost(snap.iter));
	ring_buffer_reader_iter_advance(snap.iter);
	KUNIT_EXPECT_NULL(test, ring_buffer_reader_iter_peek(snap.iter, &ts));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_reader_iter_lost(snap.iter));
	ring_snapshot_finish(&snap);
	t->desc.meta->next--;
	ring_test_read_all(test, t);
}
