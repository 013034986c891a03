// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the snapshot of a ring that an iterator shows
 *
 * The expected events follow from the written events, from those that are still in the ring,
 * and from those that a consuming reader has read.
 */
#include "test.h"

/* The number of the first event from @number on that is on another page */
static u64 ring_snapshot_page_end(struct ring_snapshot *snap, u64 number)
{
	u64 pos = snap->t->events[number].pos;

	while (number < snap->end && snap->t->events[number].pos == pos)
		number++;
	return number;
}

/* The start copies the unread events of the reader's page. */
void ring_snapshot_start(struct kunit *test, struct ring_snapshot *snap, struct ring_test *t)
{
	u64 first = t->seen;

	*snap = (struct ring_snapshot) {
		.t	= t,
		.iter	= ring_buffer_reader_iter_start(t->buffer, RING_TEST_CPU),
		.next	= t->seen,
		.end	= t->written,
	};
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, snap->iter);

	while (first < snap->end && !ring_test_is_on_readers_page(t, first))
		first++;
	if (first == snap->end)
		return;

	snap->lost = first - t->seen;
	snap->next = first;
	snap->copied = ring_snapshot_page_end(snap, first);
}

void ring_snapshot_finish(struct ring_snapshot *snap)
{
	ring_buffer_reader_iter_finish(snap->iter);
	snap->iter = NULL;
}

/* Find the event that must be shown next. Returns false at the end. */
static bool ring_snapshot_find(struct ring_snapshot *snap)
{
	for (; snap->next < snap->end; snap->next++) {
		if (snap->next < snap->copied)
			return true;
		if (ring_test_is_there(snap->t, snap->next)) {
			snap->copied = ring_snapshot_page_end(snap, snap->next);
			return true;
		}
		snap->lost += !snap->t->events[snap->next].consumed;
	}

	return false;
}

/* Check the next event and advance. Returns false at the end. */
bool ring_snapshot_next(struct kunit *test, struct ring_snapshot *snap)
{
	struct ring_buffer_event *event;
	bool found = ring_snapshot_find(snap);
	u64 ts = 0;

	cond_resched();
	event = ring_buffer_reader_iter_peek(snap->iter, &ts);
	KUNIT_ASSERT_EQ_MSG(test, found, !!event, "event %llu of %llu", snap->next, snap->end);
	KUNIT_EXPECT_EQ(test, snap->lost, ring_buffer_reader_iter_lost(snap->iter));
	KUNIT_EXPECT_PTR_EQ(test, event, ring_buffer_reader_iter_peek(snap->iter, &ts));
	if (event) {
		KUNIT_EXPECT_EQ(test, (u32)snap->next, *(u32 *)ring_buffer_event_data(event));
		KUNIT_EXPECT_EQ(test, snap->t->events[snap->next].ts, ts);
		snap->next++;
	}

	ring_buffer_reader_iter_advance(snap->iter);
	snap->lost = 0;
	return event;
}

/* Check all remaining events. Returns their number. */
unsigned int ring_snapshot_read_all(struct kunit *test, struct ring_snapshot *snap)
{
	unsigned int nr = 0;

	while (ring_snapshot_next(test, snap))
		nr++;
	KUNIT_EXPECT_FALSE(test, ring_snapshot_next(test, snap));
	return nr;
}

/* Two snapshots have the same events. Returns their number. */
unsigned int ring_test_snapshot(struct kunit *test, struct ring_test *t)
{
	struct ring_snapshot snap;
	unsigned int nr;

	ring_snapshot_start(test, &snap, t);
	nr = ring_snapshot_read_all(test, &snap);
	ring_snapshot_finish(&snap);

	ring_snapshot_start(test, &snap, t);
	KUNIT_EXPECT_EQ(test, nr, ring_snapshot_read_all(test, &snap));
	ring_snapshot_finish(&snap);
	return nr;
}
