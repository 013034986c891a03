// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the ring that EL2 writes, read by the host's ring buffer
 *
 * Both are the real ones: the writer's source is included, and run here on
 * the kernel's own CPUs.
 */
#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "hyp/nvhe/trace_ring.c"

#define TEST_CPU	0

/**
 * struct ring_test - a ring of its own, on @TEST_CPU as far as anybody knows
 * @writer:	describes it to the reader
 * @desc:	its pages
 * @ring:	the writer
 * @lock:	held around a swap, as EL2 does
 * @buffer:	the reader
 * @ts:		time of the next event
 * @written:	events written so far; the next one's number
 * @seen:	number of the next event to be read
 * @lost:	events told lost
 */
struct ring_test {
	struct ring_buffer_writer	writer;
	struct ring_buffer_writer_cpu	desc;
	struct trace_ring		ring;
	spinlock_t			lock;	/* around a swap */
	struct trace_buffer		*buffer;
	u64				ts;
	u64				written;
	u64				seen;
	u64				lost;
};

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

static struct ring_test *ring_test_make(struct kunit *test, unsigned int nr_pages)
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
	t->writer.cpumask = cpumask_of(TEST_CPU);
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

/* Write the next event: its number, in as many words as @size has. */
static bool ring_test_write(struct ring_test *t, unsigned int size, u64 delta)
{
	u32 *data = trace_ring_reserve(&t->ring, size, t->ts + delta);
	unsigned int i;

	if (!data)
		return false;

	for (i = 0; i < size / sizeof(*data); i++)
		data[i] = t->written;
	t->ts += delta;
	t->written++;
	trace_ring_commit(&t->ring);
	return true;
}

/* Read the next event; what is skipped must be what is told lost. */
static bool ring_test_read(struct kunit *test, struct ring_test *t, u64 *ts)
{
	struct ring_buffer_event *event;
	unsigned long lost = 0;

	event = ring_buffer_consume(t->buffer, TEST_CPU, ts, &lost);
	if (!event)
		return false;

	t->seen += lost;
	t->lost += lost;
	KUNIT_EXPECT_EQ(test, (u32)t->seen, *(u32 *)ring_buffer_event_data(event));
	t->seen++;
	return true;
}

static void ring_test_balance(struct kunit *test, struct ring_test *t)
{
	ring_buffer_poll_writer(t->buffer, TEST_CPU);
	KUNIT_EXPECT_EQ(test, t->written, t->seen);
	KUNIT_EXPECT_EQ(test, t->lost, ring_buffer_overrun_cpu(t->buffer, TEST_CPU));
	KUNIT_EXPECT_EQ(test, t->written - t->lost,
			ring_buffer_read_events_cpu(t->buffer, TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_entries_cpu(t->buffer, TEST_CPU));
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(t->buffer));
}

static void ring_test_empty(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, RB_WRITER_MIN_PAGES);

	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(t->buffer));
	KUNIT_EXPECT_FALSE(test, ring_test_read(test, t, NULL));
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

/* Each length that the format tells in another way, and each time delta. */
static void ring_test_formats(struct kunit *test)
{
	static const u64 deltas[] = { 0, 1, RB_WRITER_TS_MASK, RB_WRITER_TS_MASK + 1, 1ULL << 40 };
	struct ring_test *t = ring_test_make(test, 4);
	struct ring_buffer_event *event;
	unsigned int size, i;
	u64 ts;

	for (i = 0; i < ARRAY_SIZE(deltas); i++) {
		for (size = 4; size < 200; size += 4) {
			KUNIT_ASSERT_TRUE(test, ring_test_write(t, size, deltas[i]));
			event = ring_buffer_peek(t->buffer, TEST_CPU, &ts, NULL);
			KUNIT_ASSERT_NOT_NULL(test, event);
			KUNIT_EXPECT_EQ(test, size, ring_buffer_event_length(event));
			KUNIT_EXPECT_EQ(test, t->ts, ts);
			KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
		}
	}
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

		KUNIT_EXPECT_EQ(test, 0, ring_buffer_reader_reset(t->buffer, TEST_CPU));
		KUNIT_EXPECT_TRUE(test, ring_buffer_empty(t->buffer));
		KUNIT_EXPECT_FALSE(test, ring_test_read(test, t, NULL));

		t->written = 0;
		t->seen = 0;
		t->lost = 0;
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
		KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
		ring_test_balance(test, t);
	}
}

static void ring_test_dropped(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);

	KUNIT_EXPECT_TRUE(test, ring_test_write(t, TRACE_MAX_DATA, 1));
	KUNIT_EXPECT_FALSE(test, ring_test_write(t, TRACE_MAX_DATA + 1, 1));
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	ring_test_balance(test, t);
	KUNIT_EXPECT_EQ(test, 1, ring_buffer_dropped_events_cpu(t->buffer, TEST_CPU));
}

static bool ring_test_never(void *unused)
{
	return false;
}

static int ring_test_wait_thread(void *data)
{
	struct ring_test *t = data;

	return ring_buffer_wait(t->buffer, TEST_CPU, 0, ring_test_never, NULL);
}

/* A reader that waits is woken by whoever polls. */
static void ring_test_wake(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	unsigned long deadline = jiffies + 10 * HZ;
	struct task_struct *task;

	task = kthread_run(ring_test_wait_thread, t, "ring_test_wait");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);

	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	while (!READ_ONCE(task->exit_state) && time_before(jiffies, deadline)) {
		ring_buffer_poll_writer(t->buffer, TEST_CPU);
		cond_resched();
	}

	KUNIT_EXPECT_NE(test, 0, READ_ONCE(task->exit_state));
	put_task_struct(task);
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	ring_test_balance(test, t);
}

#define RING_TEST_EVENTS	200000

static int ring_test_race_thread(void *data)
{
	struct ring_test *t = data;

	while (t->written < RING_TEST_EVENTS) {
		ring_test_write(t, 12 + t->written % 40, t->written % 7);
		if (!(t->written % 1000))
			cond_resched();
	}

	/* Stay, for kthread_stop(). */
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* The writer does not wait: every event is read in its place, or told lost. */
static void ring_test_race(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, RB_WRITER_MIN_PAGES + 1);
	unsigned long deadline = jiffies + 60 * HZ;
	struct task_struct *task;

	task = kthread_run(ring_test_race_thread, t, "ring_test_race");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);

	while (t->seen < RING_TEST_EVENTS && time_before(jiffies, deadline)) {
		if (!ring_test_read(test, t, NULL))
			cond_resched();
	}

	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, RING_TEST_EVENTS, t->seen);
	kunit_info(test, "%llu of %llu lost", t->lost, t->written);
	ring_test_balance(test, t);
}

static struct kunit_case ring_test_cases[] = {
	KUNIT_CASE(ring_test_empty),
	KUNIT_CASE(ring_test_too_short),
	KUNIT_CASE(ring_test_formats),
	KUNIT_CASE(ring_test_follow),
	KUNIT_CASE(ring_test_overwrite),
	KUNIT_CASE(ring_test_reset),
	KUNIT_CASE(ring_test_dropped),
	KUNIT_CASE(ring_test_wake),
	KUNIT_CASE(ring_test_race),
	{ }
};

static struct kunit_suite ring_test_suite = {
	.name		= "hyp_trace_ring",
	.test_cases	= ring_test_cases,
};

kunit_test_suite(ring_test_suite);

MODULE_DESCRIPTION("KUnit test of the hypervisor's trace rings");
MODULE_LICENSE("GPL");
