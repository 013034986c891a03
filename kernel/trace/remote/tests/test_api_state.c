// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the functions of ring_buffer.h that return counters and times, with a buffer that a
 * remote writer fills
 *
 * The other functions, and what a case checks, are in test_api.c.
 */
#include "test.h"

static void api_test_empty(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_FALSE(test, ring_buffer_empty(t->buffer));
	api_test_intact(test, t);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(t->buffer));
}

static void api_test_empty_cpu(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_FALSE(test, ring_buffer_empty_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(t->buffer, API_TEST_NO_RING));
	api_test_intact(test, t);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(t->buffer, RING_TEST_CPU));
}

/* That of the first event of the oldest page, the reader's or not */
static void api_test_oldest_event_ts(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	u64 first = t->ts - API_TEST_EVENTS + 1;

	KUNIT_EXPECT_EQ(test, first, ring_buffer_oldest_event_ts(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	KUNIT_EXPECT_EQ(test, first, ring_buffer_oldest_event_ts(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_oldest_event_ts(t->buffer, API_TEST_NO_RING));
	api_test_intact(test, t);
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_oldest_event_ts(t->buffer, RING_TEST_CPU));

	ring_test_write_pages(test, t, 2);
	KUNIT_EXPECT_EQ(test, t->ts - 1, ring_buffer_oldest_event_ts(t->buffer, RING_TEST_CPU));
}

/* Each event has a header of 4 bytes and 12 of data. */
static void api_test_bytes_cpu(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, API_TEST_EVENTS * 16,
			ring_buffer_bytes_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_bytes_cpu(t->buffer, API_TEST_NO_RING));
	api_test_intact(test, t);
}

static void api_test_entries(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, API_TEST_EVENTS, ring_buffer_entries(t->buffer));
	api_test_intact(test, t);
}

static void api_test_entries_cpu(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, API_TEST_EVENTS, ring_buffer_entries_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_entries_cpu(t->buffer, API_TEST_NO_RING));
	api_test_intact(test, t);
}

static void api_test_overruns(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_test_write_pages(test, t, API_TEST_PAGES - 1);
	ring_buffer_poll_writer(t->buffer, RING_TEST_CPU);
	KUNIT_EXPECT_EQ(test, API_TEST_EVENTS, ring_buffer_overruns(t->buffer));
	ring_test_read_all(test, t);
}

static void api_test_overrun_cpu(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_test_write_pages(test, t, API_TEST_PAGES - 1);
	ring_buffer_poll_writer(t->buffer, RING_TEST_CPU);
	KUNIT_EXPECT_EQ(test, API_TEST_EVENTS, ring_buffer_overrun_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_overrun_cpu(t->buffer, API_TEST_NO_RING));
	ring_test_read_all(test, t);
}

static void api_test_commit_overrun_cpu(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, 0, ring_buffer_commit_overrun_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_commit_overrun_cpu(t->buffer, API_TEST_NO_RING));
	api_test_intact(test, t);
}

static void api_test_dropped_events_cpu(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_FALSE(test, ring_test_write(t, RING_TEST_MAX_SIZE + 8, 1));
	ring_buffer_poll_writer(t->buffer, RING_TEST_CPU);
	KUNIT_EXPECT_EQ(test, 1, ring_buffer_dropped_events_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_dropped_events_cpu(t->buffer, API_TEST_NO_RING));
	api_test_intact(test, t);
}

static void api_test_read_events_cpu(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, 0, ring_buffer_read_events_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_read_events_cpu(t->buffer, API_TEST_NO_RING));
	api_test_intact(test, t);
	KUNIT_EXPECT_EQ(test, API_TEST_EVENTS,
			ring_buffer_read_events_cpu(t->buffer, RING_TEST_CPU));
}

/* The clock is the writer's. */
static void api_test_time_stamp(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, RING_TEST_CLOCK, ring_buffer_time_stamp(t->buffer));
	api_test_intact(test, t);
}

static u64 api_test_other_clock(void)
{
	return RING_TEST_CLOCK + 1;
}

static void api_test_set_clock(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_set_clock(t->buffer, api_test_other_clock);
	KUNIT_EXPECT_EQ(test, RING_TEST_CLOCK + 1, ring_buffer_time_stamp(t->buffer));
	api_test_intact(test, t);
}

static void api_test_normalize_time_stamp(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	u64 ts = 5;

	ring_buffer_normalize_time_stamp(t->buffer, RING_TEST_CPU, &ts);
	KUNIT_EXPECT_EQ(test, 5, ts);
	api_test_intact(test, t);
}

static void api_test_set_time_stamp_abs(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_set_time_stamp_abs(t->buffer, true);
	KUNIT_EXPECT_TRUE(test, ring_buffer_time_stamp_abs(t->buffer));
	api_test_intact(test, t);
}

static void api_test_time_stamp_abs(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_FALSE(test, ring_buffer_time_stamp_abs(t->buffer));
	api_test_intact(test, t);
}

static struct kunit_case api_state_test_cases[] = {
	KUNIT_CASE(api_test_empty),
	KUNIT_CASE(api_test_empty_cpu),
	KUNIT_CASE(api_test_oldest_event_ts),
	KUNIT_CASE(api_test_bytes_cpu),
	KUNIT_CASE(api_test_entries),
	KUNIT_CASE(api_test_entries_cpu),
	KUNIT_CASE(api_test_overruns),
	KUNIT_CASE(api_test_overrun_cpu),
	KUNIT_CASE(api_test_commit_overrun_cpu),
	KUNIT_CASE(api_test_dropped_events_cpu),
	KUNIT_CASE(api_test_read_events_cpu),
	KUNIT_CASE(api_test_time_stamp),
	KUNIT_CASE(api_test_set_clock),
	KUNIT_CASE(api_test_normalize_time_stamp),
	KUNIT_CASE(api_test_set_time_stamp_abs),
	KUNIT_CASE(api_test_time_stamp_abs),
	{ }
};

static struct kunit_suite api_state_test_suite = {
	.name		= "trace_remote_api_state",
	.test_cases	= api_state_test_cases,
};

kunit_test_suite(api_state_test_suite);
