// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the ring that a remote writes, read by the kernel's ring buffer
 *
 * The writer is kernel/trace/trace_ring.c, which remotes are built from.
 */
#include <linux/kthread.h>
#include <linux/slab.h>

#include "test.h"

static int ring_test_swap(struct ring_buffer_writer *writer, int cpu)
{
	struct ring_test *t = container_of(writer, struct ring_test, writer);

	guard(spinlock_irqsave)(&t->lock);
	return trace_ring_swap_reader(&t->ring);
}

static int ring_test_do_reset(struct ring_buffer_writer *writer, int cpu)
{
	struct ring_test *t = container_of(writer, struct ring_test, writer);

	guard(spinlock_irqsave)(&t->lock);
	trace_ring_reset(&t->ring);
	return 0;
}

static const struct ring_buffer_writer_ops ring_test_ops = {
	.swap_reader	= ring_test_swap,
	.reset		= ring_test_do_reset,
};

static u64 ring_test_clock(void)
{
	return RING_TEST_CLOCK;
}

static void *ring_test_page(struct kunit *test)
{
	void *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	return page;
}

static void ring_test_free(void *buffer)
{
	ring_buffer_reader_free(buffer);
}

struct ring_test *ring_test_make(struct kunit *test, unsigned int nr_pages)
{
	struct ring_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, t);
	spin_lock_init(&t->lock);
	t->ts = 1;
	t->desc.meta = ring_test_page(test);
	t->desc.nr_pages = nr_pages;
	t->desc.pages = kunit_kcalloc(test, nr_pages, sizeof(void *), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->desc.pages);
	t->writer.ops = &ring_test_ops;
	t->writer.clock = ring_test_clock;
	t->writer.cpumask = cpumask_of(RING_TEST_CPU);
	t->writer.cpus = &t->desc;

	KUNIT_ASSERT_EQ(test, 0, trace_ring_init(&t->ring, t->desc.meta, ring_test_page(test),
						 nr_pages));
	for (i = 0; i < TRACE_RING_LEAVES(nr_pages); i++)
		KUNIT_ASSERT_EQ(test, 0, trace_ring_add_leaf(&t->ring, ring_test_page(test)));
	for (i = 0; i < nr_pages; i++) {
		t->desc.pages[i] = ring_test_page(test);
		KUNIT_ASSERT_EQ(test, 0, trace_ring_add_page(&t->ring, t->desc.pages[i]));
	}
	KUNIT_ASSERT_EQ(test, 0, trace_ring_start(&t->ring));

	t->buffer = ring_buffer_reader(&t->writer);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t->buffer);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, ring_test_free, t->buffer));
	return t;
}

static void ring_test_free_events(void *events)
{
	kvfree(events);
}

/* Keep what is written, @max_events between two resets. */
void ring_test_keep(struct kunit *test, struct ring_test *t, u64 max_events)
{
	t->events = kvcalloc(max_events, sizeof(*t->events), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->events);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, ring_test_free_events,
							   t->events));
	t->max_events = max_events;
}

static void ring_test_note(struct ring_test *t, u64 tail, u32 write)
{
	if (t->written >= t->max_events)
		return;

	t->events[t->written] = (struct ring_test_event) {
		.ts	= t->ts,
		.pos	= t->ring.tail,
		.bytes	= trace_ring_used(&t->ring) - (t->ring.tail == tail ? write : 0),
	};
}

static void ring_test_fill(struct ring_test *t, u32 *data, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size / sizeof(*data); i++)
		data[i] = t->written;
}

/* Every second event is written on the fast path, if that is possible. */
static bool ring_test_write_fast(struct ring_test *t, unsigned int size, u64 ts)
{
	struct trace_ring_event event;

	if (t->written % 2 || !size || size % sizeof(u32) || size > RB_WRITER_MAX_SHORT)
		return false;
	if (!trace_ring_try_reserve(&t->ring, size, ts, &event))
		return false;

	ring_test_fill(t, event.data, size);
	trace_ring_commit(&t->ring, &event);
	return true;
}

static bool ring_test_write_slow(struct ring_test *t, unsigned int size, u64 ts)
{
	struct trace_ring_event event;

	if (!trace_ring_reserve(&t->ring, size, ts, &event))
		return false;

	ring_test_fill(t, event.data, size);
	trace_ring_commit(&t->ring, &event);
	return true;
}

/* Write the next event: its number, in as many words as @size has. */
bool ring_test_write(struct ring_test *t, unsigned int size, u64 delta)
{
	u64 tail = t->ring.tail, ts = t->ts + delta;
	u32 write = trace_ring_used(&t->ring);

	if (!ring_test_write_fast(t, size, ts) && !ring_test_write_slow(t, size, ts))
		return false;

	t->ts = ts;
	ring_test_note(t, tail, write);
	/* A reader that sees the count can read the event: ring_race_snapshot() */
	smp_store_release(&t->written, t->written + 1);
	return true;
}

/* Events that fill a page each */
void ring_test_write_pages(struct kunit *test, struct ring_test *t, unsigned int nr)
{
	while (nr--)
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, RING_TEST_MAX_SIZE, 1));
}

/* A thread that writes until kthread_stop(); @data is the ring. */
int ring_test_keep_writing(void *data)
{
	struct ring_test *t = data;

	while (!kthread_should_stop()) {
		/* As at a remote, nothing interrupts a write. */
		scoped_guard(irqsave)
			ring_test_write(t, RING_TEST_MAX_SIZE / 2 - t->written % 10 * 4, 1);
		if (!(t->written % 100))
			cond_resched();
	}

	return 0;
}

/* The number of skipped events must be the number reported lost. */
static void ring_test_seen(struct kunit *test, struct ring_test *t,
			   struct ring_buffer_event *event, unsigned long lost)
{
	t->seen += lost;
	t->lost += lost;
	KUNIT_EXPECT_EQ(test, (u32)t->seen, *(u32 *)ring_buffer_event_data(event));
	if (t->seen < t->max_events)
		t->events[t->seen].consumed = true;
	t->seen++;
}

unsigned int ring_test_read_some(struct kunit *test, struct ring_test *t, unsigned int nr,
				 u64 *ts)
{
	struct ring_buffer_reader_cursor cursor;
	struct ring_buffer_event *event;
	unsigned int i;

	ring_buffer_reader_cursor_start(&cursor, t->buffer, RING_TEST_CPU);
	for (i = 0; i < nr && (event = ring_buffer_reader_cursor_peek(&cursor)); i++) {
		KUNIT_EXPECT_PTR_EQ(test, event, ring_buffer_reader_cursor_peek(&cursor));
		ring_test_seen(test, t, event, cursor.lost);
		if (ts)
			*ts = cursor.ts;
		ring_buffer_reader_cursor_advance(&cursor);
	}
	ring_buffer_reader_cursor_finish(&cursor);
	return i;
}

struct ring_buffer_event *ring_test_peek(struct ring_test *t, u64 *ts, unsigned long *lost)
{
	struct ring_buffer_reader_cursor cursor;
	struct ring_buffer_event *event;

	ring_buffer_reader_cursor_start(&cursor, t->buffer, RING_TEST_CPU);
	event = ring_buffer_reader_cursor_peek(&cursor);
	if (event && ts)
		*ts = cursor.ts;
	if (event && lost)
		*lost = cursor.lost;
	return event;
}

struct ring_buffer_event *ring_test_consume(struct ring_test *t, u64 *ts, unsigned long *lost)
{
	struct ring_buffer_reader_cursor cursor;
	struct ring_buffer_event *event;

	ring_buffer_reader_cursor_start(&cursor, t->buffer, RING_TEST_CPU);
	event = ring_buffer_reader_cursor_peek(&cursor);
	if (event) {
		if (ts)
			*ts = cursor.ts;
		if (lost)
			*lost = cursor.lost;
		ring_buffer_reader_cursor_advance(&cursor);
	}
	ring_buffer_reader_cursor_finish(&cursor);
	return event;
}

/* Read the next event, in turn by either of two ways. */
bool ring_test_read(struct kunit *test, struct ring_test *t, u64 *ts)
{
	struct ring_buffer_event *event;
	unsigned long lost = 0;

	cond_resched();
	if (t->seen % 2)
		return ring_test_read_some(test, t, 1, ts);

	event = ring_test_consume(t, ts, &lost);
	if (!event)
		return false;

	ring_test_seen(test, t, event, lost);
	return true;
}

void ring_test_clear(struct kunit *test, struct ring_test *t)
{
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_reader_reset(t->buffer, RING_TEST_CPU));
	t->written = 0;
	t->seen = 0;
	t->lost = 0;
}

bool ring_test_is_on_readers_page(struct ring_test *t, u64 number)
{
	return t->events[number].pos == t->ring.head - 1;
}

bool ring_test_is_there(struct ring_test *t, u64 number)
{
	struct trace_ring *ring = &t->ring;
	u64 lap = ring->tail >= ring->nr_slots ? ring->tail - ring->nr_slots + 1 : 0;

	return t->events[number].pos >= max(lap, ring->head) ||
	       ring_test_is_on_readers_page(t, number);
}

/* All events were read or lost, and the counters agree. */
void ring_test_balance(struct kunit *test, struct ring_test *t)
{
	struct ring_buffer_reader_stats stats;

	ring_buffer_reader_get_stats(t->buffer, RING_TEST_CPU, &stats);
	KUNIT_EXPECT_EQ(test, t->written, t->seen);
	KUNIT_EXPECT_EQ(test, t->lost, stats.overrun);
	KUNIT_EXPECT_EQ(test, t->written - t->lost, stats.read);
	KUNIT_EXPECT_EQ(test, 0, stats.entries);
	KUNIT_EXPECT_EQ(test, 0, stats.bytes);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(t->buffer));
}

/* Read all events that are left and check the counters. */
void ring_test_read_all(struct kunit *test, struct ring_test *t)
{
	while (ring_test_read(test, t, NULL))
		;
	ring_test_balance(test, t);
}

/* The end of a thread: kthread_stop() needs it to exist until it is called. */
int ring_test_stay(void)
{
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static void ring_test_empty(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, RB_WRITER_MIN_PAGES);

	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(t->buffer));
	KUNIT_EXPECT_FALSE(test, ring_test_read(test, t, NULL));
	KUNIT_EXPECT_EQ(test, (int)PAGE_SIZE, ring_buffer_subbuf_size_get(t->buffer));
	ring_test_balance(test, t);
}

static void ring_test_too_short(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, RB_WRITER_MIN_PAGES);
	struct trace_buffer *buffer;

	t->desc.nr_pages--;
	buffer = ring_buffer_reader(&t->writer);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(buffer));
	t->desc.nr_pages++;
}

/* Time deltas of each encoding, and at its limits */
static const u64 deltas[] = { 0, 1, RB_WRITER_TS_MASK, RB_WRITER_TS_MASK + 1, 1ULL << 40 };

/* Lengths and time deltas of each encoding */
static void ring_test_formats(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	struct ring_buffer_event *event;
	unsigned int size, i;
	u64 ts;

	for (i = 0; i < ARRAY_SIZE(deltas); i++) {
		for (size = 4; size < 200; size += 4) {
			KUNIT_ASSERT_TRUE(test, ring_test_write(t, size, deltas[i]));
			event = ring_test_peek(t, &ts, NULL);
			KUNIT_ASSERT_NOT_NULL(test, event);
			KUNIT_EXPECT_EQ(test, size, ring_buffer_event_length(event));
			KUNIT_EXPECT_EQ(test, t->ts, ts);
			KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
		}
	}
	ring_test_balance(test, t);
}

/* Reads of few and of many events, from one or several pages, of a ring that is overwritten */
static void ring_test_cursor(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 5);
	unsigned int i, nr, round;
	u64 ts;

	ring_test_keep(test, t, 100 * PAGE_SIZE / 16);
	for (round = 0; round < 100; round++) {
		nr = round % 8 ? round : PAGE_SIZE / 16;
		for (i = 0; i < nr; i++)
			KUNIT_ASSERT_TRUE(test, ring_test_write(t, 4 + (i + round) % 50 * 4,
								deltas[i % ARRAY_SIZE(deltas)]));
		if (ring_test_read_some(test, t, round * 7, &ts))
			KUNIT_EXPECT_EQ(test, t->events[t->seen - 1].ts, ts);
	}
	KUNIT_EXPECT_GT(test, t->lost, 0);
	ring_test_read_some(test, t, UINT_MAX, &ts);
	KUNIT_EXPECT_EQ(test, t->ts, ts);
	KUNIT_EXPECT_EQ(test, 0, ring_test_read_some(test, t, UINT_MAX, &ts));
	ring_test_balance(test, t);
}

static void ring_test_follow(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, RB_WRITER_MIN_PAGES);
	unsigned int i;
	u64 ts;

	for (i = 0; i < 10 * PAGE_SIZE / 16; i++) {
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 3));
		KUNIT_ASSERT_TRUE(test, ring_test_read(test, t, &ts));
		KUNIT_EXPECT_EQ(test, t->ts, ts);
		KUNIT_EXPECT_FALSE(test, ring_test_read(test, t, NULL));
	}
	KUNIT_EXPECT_EQ(test, 0, t->lost);
	ring_test_balance(test, t);
}

static void ring_test_overwrite(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 5);
	unsigned int i, round;

	for (round = 0; round < 4; round++) {
		for (i = 0; i < (round + 3) * PAGE_SIZE / 16; i++)
			KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
		for (i = 0; i < 10; i++)
			KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	}
	while (ring_test_read(test, t, NULL))
		;
	KUNIT_EXPECT_GT(test, t->lost, 0);
	ring_test_balance(test, t);
}

static void ring_test_reset(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	unsigned int i, round;

	for (round = 0; round < 8; round++) {
		for (i = 0; i < round * PAGE_SIZE / 32; i++)
			KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
		if (round & 1)
			ring_test_read(test, t, NULL);

		ring_test_clear(test, t);
		ring_test_balance(test, t);
		KUNIT_EXPECT_FALSE(test, ring_test_read(test, t, NULL));

		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
		KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
		ring_test_balance(test, t);
	}
}

static void ring_test_dropped(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);

	KUNIT_EXPECT_TRUE(test, ring_test_write(t, TRACE_RING_MAX_DATA, 1));
	KUNIT_EXPECT_FALSE(test, ring_test_write(t, TRACE_RING_MAX_DATA + 1, 1));
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	ring_test_balance(test, t);
	KUNIT_EXPECT_EQ(test, 1, ring_buffer_dropped_events_cpu(t->buffer, RING_TEST_CPU));
}

static struct kunit_case ring_test_cases[] = {
	KUNIT_CASE(ring_test_empty),
	KUNIT_CASE(ring_test_too_short),
	KUNIT_CASE(ring_test_formats),
	KUNIT_CASE(ring_test_cursor),
	KUNIT_CASE(ring_test_follow),
	KUNIT_CASE(ring_test_overwrite),
	KUNIT_CASE(ring_test_reset),
	KUNIT_CASE(ring_test_dropped),
	KUNIT_CASE(ring_test_iter_all),
	KUNIT_CASE(ring_test_iter_refused),
	KUNIT_CASE(ring_test_iter_sizes),
	KUNIT_CASE(ring_test_iter_later),
	KUNIT_CASE(ring_test_iter_positions),
	KUNIT_CASE(ring_test_iter_far),
	KUNIT_CASE(ring_test_iter_reader),
	KUNIT_CASE(ring_test_iter_unreported),
	KUNIT_CASE(ring_test_iter_formats),
	KUNIT_CASE(ring_test_iter_lapped),
	KUNIT_CASE(ring_test_iter_consumed),
	KUNIT_CASE(ring_test_iter_reset),
	KUNIT_CASE(ring_test_iter_reset_written),
	KUNIT_CASE(ring_test_iter_stopped),
	KUNIT_CASE(ring_test_iter_random),
	KUNIT_CASE_SLOW(ring_test_iter_corrupt),
	KUNIT_CASE(ring_test_copy_random),
	KUNIT_CASE(ring_test_copy_stays),
	KUNIT_CASE(ring_test_copy_cleared),
	KUNIT_CASE(ring_test_copy_fits),
	KUNIT_CASE_SLOW(ring_test_copy_race),
	KUNIT_CASE(ring_follow_comes),
	KUNIT_CASE(ring_follow_starts),
	KUNIT_CASE(ring_follow_overwritten),
	KUNIT_CASE(ring_follow_consumed),
	KUNIT_CASE(ring_follow_copied),
	KUNIT_CASE(ring_follow_several),
	KUNIT_CASE(ring_follow_synced),
	KUNIT_CASE(ring_follow_random),
	KUNIT_CASE_SLOW(ring_follow_race),
	KUNIT_CASE(ring_test_full_kept),
	KUNIT_CASE(ring_test_full_ended),
	KUNIT_CASE(ring_test_full_reset),
	KUNIT_CASE(ring_test_full_changed),
	KUNIT_CASE(ring_test_dump_empty),
	KUNIT_CASE(ring_test_dump_all),
	KUNIT_CASE(ring_test_dump_reader),
	KUNIT_CASE(ring_test_dump_large),
	KUNIT_CASE(ring_test_dump_stopped),
	KUNIT_CASE(ring_test_dump_invalid),
	KUNIT_CASE_SLOW(ring_test_dump_race),
	KUNIT_CASE(ring_test_page_all),
	KUNIT_CASE(ring_test_page_short),
	KUNIT_CASE(ring_test_page_full),
	KUNIT_CASE(ring_test_page_brim),
	KUNIT_CASE(ring_test_page_mixed),
	KUNIT_CASE(ring_test_page_corrupt),
	KUNIT_CASE(ring_test_page_cut),
	KUNIT_CASE(ring_test_corrupt_consumed),
	KUNIT_CASE(ring_test_corrupt_cut),
	KUNIT_CASE_SLOW(ring_test_corrupt_meta),
	KUNIT_CASE(event_test_corrupt_printed),
	KUNIT_CASE(filter_test_as_kernel),
	KUNIT_CASE(remote_test_layout),
	KUNIT_CASE(remote_test_record),
	KUNIT_CASE(remote_test_end),
	KUNIT_CASE(remote_test_hotplug),
	KUNIT_CASE_SLOW(remote_test_keep_stopped),
	KUNIT_CASE(remote_test_not_ready),
	KUNIT_CASE(remote_test_overwrite),
	KUNIT_CASE(remote_test_overwrite_refused),
	KUNIT_CASE(remote_test_stopped),
	KUNIT_CASE(remote_test_armed),
	KUNIT_CASE(remote_test_window),
	KUNIT_CASE(remote_test_trigger_refused),
	KUNIT_CASE(remote_test_group_busy),
	KUNIT_CASE(remote_test_functions),
	KUNIT_CASE(remote_test_functions_refused),
	KUNIT_CASE(remote_test_functions_list),
	KUNIT_CASE(remote_test_tracer),
	KUNIT_CASE(remote_test_tracer_events),
	KUNIT_CASE(remote_test_tracer_busy),
	KUNIT_CASE(remote_test_graph),
	KUNIT_CASE(remote_test_tracer_text),
	KUNIT_CASE(remote_test_leaf),
	KUNIT_CASE(remote_test_tasks),
	KUNIT_CASE(remote_test_ignored),
	KUNIT_CASE(remote_test_offline_task),
	KUNIT_CASE(remote_test_fork),
	KUNIT_CASE(remote_test_cpumask),
	KUNIT_CASE(remote_test_cpumask_refused),
	KUNIT_CASE(ring_test_stats),
	KUNIT_CASE(ring_test_stats_stopped),
	KUNIT_CASE(ring_test_dirty_pages),
	KUNIT_CASE(ring_test_poll),
	KUNIT_CASE(ring_test_wake),
	KUNIT_CASE(ring_test_wake_full),
	KUNIT_CASE(ring_test_wake_cond),
	KUNIT_CASE(ring_test_race),
	KUNIT_CASE_SLOW(ring_test_race_iter),
	KUNIT_CASE_SLOW(ring_test_race_both),
	KUNIT_CASE(ring_test_race_stats),
	{ }
};

static struct kunit_suite ring_test_suite = {
	.name		= "trace_remote_ring",
	.test_cases	= ring_test_cases,
};

kunit_test_suite(ring_test_suite);

MODULE_DESCRIPTION("KUnit test of the hypervisor's trace rings");
MODULE_LICENSE("GPL");
