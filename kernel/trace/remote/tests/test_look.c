// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: a look by an iterator, and what it must show
 *
 * That is worked out from what was written, what is still there, and what a
 * consuming reader took.
 */
#include "test.h"

/* The number of the first event from @number on that is on another page */
static u64 ring_look_page_end(struct ring_look *look, u64 number)
{
	u64 pos = look->t->events[number].pos;

	while (number < look->end && look->t->events[number].pos == pos)
		number++;
	return number;
}

/* What the reader has not read of its page is copied at once. */
void ring_look_begin(struct kunit *test, struct ring_look *look, struct ring_test *t)
{
	u64 first = t->seen;

	*look = (struct ring_look) {
		.t	= t,
		.iter	= ring_buffer_reader_iter_start(t->buffer, RING_TEST_CPU),
		.next	= t->seen,
		.end	= t->written,
	};
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, look->iter);

	while (first < look->end && !ring_test_is_on_readers_page(t, first))
		first++;
	if (first == look->end)
		return;

	look->lost = first - t->seen;
	look->next = first;
	look->copied = ring_look_page_end(look, first);
}

void ring_look_end(struct ring_look *look)
{
	ring_buffer_reader_iter_finish(look->iter);
	look->iter = NULL;
}

/* Go to the event that must be shown next. False at the end. */
static bool ring_look_find(struct ring_look *look)
{
	for (; look->next < look->end; look->next++) {
		if (look->next < look->copied)
			return true;
		if (ring_test_is_there(look->t, look->next)) {
			look->copied = ring_look_page_end(look, look->next);
			return true;
		}
		look->lost += !look->t->events[look->next].taken;
	}

	return false;
}

/* See the next event, if it is as it must be. False at the end. */
bool ring_look_on(struct kunit *test, struct ring_look *look)
{
	struct ring_buffer_event *event;
	bool found = ring_look_find(look);
	u64 ts = 0;

	cond_resched();
	event = ring_buffer_reader_iter_peek(look->iter, &ts);
	KUNIT_ASSERT_EQ_MSG(test, found, !!event, "event %llu of %llu", look->next, look->end);
	KUNIT_EXPECT_EQ(test, look->lost, ring_buffer_reader_iter_lost(look->iter));
	KUNIT_EXPECT_PTR_EQ(test, event, ring_buffer_reader_iter_peek(look->iter, &ts));
	if (event) {
		KUNIT_EXPECT_EQ(test, (u32)look->next, *(u32 *)ring_buffer_event_data(event));
		KUNIT_EXPECT_EQ(test, look->t->events[look->next].ts, ts);
		look->next++;
	}

	ring_buffer_reader_iter_advance(look->iter);
	look->lost = 0;
	return event;
}

/* See all there is to be seen; returns how many events that are. */
unsigned int ring_look_all(struct kunit *test, struct ring_look *look)
{
	unsigned int nr = 0;

	while (ring_look_on(test, look))
		nr++;
	KUNIT_EXPECT_FALSE(test, ring_look_on(test, look));
	return nr;
}

/* Twice the same; returns how many events. */
unsigned int ring_test_look(struct kunit *test, struct ring_test *t)
{
	struct ring_look look;
	unsigned int nr;

	ring_look_begin(test, &look, t);
	nr = ring_look_all(test, &look);
	ring_look_end(&look);

	ring_look_begin(test, &look, t);
	KUNIT_EXPECT_EQ(test, nr, ring_look_all(test, &look));
	ring_look_end(&look);
	return nr;
}
