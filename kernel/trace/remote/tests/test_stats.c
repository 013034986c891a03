// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the counters of a ring, and readers that wait for it to fill
 */
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/poll.h>
#include <linux/preempt.h>

#include "test.h"

/* Check the counters against the events written, read and overwritten. */
void ring_test_check_stats(struct kunit *test, struct ring_test *t)
{
	struct ring_buffer_reader_stats stats, expected = { .dropped = t->ring.dropped };
	u64 number;

	for (number = 0; number < t->written; number++) {
		if (t->events[number].consumed) {
			expected.read++;
		} else if (ring_test_is_there(t, number)) {
			expected.entries++;
			expected.bytes += t->events[number].bytes;
		} else {
			expected.overrun++;
		}
	}

	ring_buffer_reader_get_stats(t->buffer, RING_TEST_CPU, &stats);
	KUNIT_EXPECT_EQ(test, expected.entries, stats.entries);
	KUNIT_EXPECT_EQ(test, expected.overrun, stats.overrun);
	KUNIT_EXPECT_EQ(test, expected.read, stats.read);
	KUNIT_EXPECT_EQ(test, expected.bytes, stats.bytes);
	KUNIT_EXPECT_EQ(test, expected.dropped, stats.dropped);

	/* The counters of the ring buffer itself are the same. */
	KUNIT_EXPECT_EQ(test, expected.entries,
			ring_buffer_entries_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, expected.overrun,
			ring_buffer_overrun_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, expected.read,
			ring_buffer_read_events_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, expected.bytes, ring_buffer_bytes_cpu(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, expected.dropped,
			ring_buffer_dropped_events_cpu(t->buffer, RING_TEST_CPU));
}

/* After each event that is written or read, with time extends, drops, overwriting and resets */
void ring_test_stats(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	unsigned int i, round;

	ring_test_keep(test, t, 200);
	for (round = 0; round < 5; round++) {
		ring_test_check_stats(test, t);
		for (i = 0; i < 150; i++) {
			ring_test_write(t, 4 + i % 50 * 12, i % 7 ? 1 : 1ULL << 30);
			if (!(i % 40))
				trace_ring_drop(&t->ring);
			if (i % (round + 2) == 1 && i > 30)
				ring_test_read(test, t, NULL);
			ring_test_check_stats(test, t);
		}
		while (round % 2 && ring_test_read(test, t, NULL))
			ring_test_check_stats(test, t);
		ring_test_clear(test, t);
	}
	ring_test_check_stats(test, t);
}

/* A writer that stops between two pages leaves no counter below the number read. */
void ring_test_stats_stopped(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	struct ring_buffer_reader_stats stats;
	unsigned int i;

	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 700, 1));
	ring_buffer_reader_get_stats(t->buffer, RING_TEST_CPU, &stats);
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 700, 1));
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));

	/* The writer is between two pages. */
	t->desc.meta->next++;
	ring_test_balance(test, t);
	t->desc.meta->next--;

	/* The writer counts fewer events than were read. */
	t->desc.meta->meta.entries--;
	ring_buffer_reader_get_stats(t->buffer, RING_TEST_CPU, &stats);
	KUNIT_EXPECT_EQ(test, 0, stats.entries);
	KUNIT_EXPECT_EQ(test, 5, stats.read);
	t->desc.meta->meta.entries++;
	ring_test_balance(test, t);
}

static size_t ring_test_dirty(struct ring_test *t)
{
	ring_buffer_poll_writer(t->buffer, RING_TEST_CPU);
	return ring_buffer_nr_dirty_pages(t->buffer, RING_TEST_CPU);
}

/* Complete unread pages, without the reader's */
void ring_test_dirty_pages(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 6);
	unsigned int i;

	KUNIT_EXPECT_EQ(test, 0, ring_test_dirty(t));
	for (i = 0; i < 20; i++) {
		ring_test_write_pages(test, t, 1);
		KUNIT_EXPECT_EQ(test, min(i, 4U), ring_test_dirty(t));
	}
	for (i = 4; i--;) {
		KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
		KUNIT_EXPECT_EQ(test, i, ring_test_dirty(t));
	}
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	KUNIT_EXPECT_EQ(test, 0, ring_test_dirty(t));

	ring_test_write_pages(test, t, 3);
	KUNIT_EXPECT_EQ(test, 2, ring_test_dirty(t));
	ring_test_clear(test, t);
	KUNIT_EXPECT_EQ(test, 0, ring_test_dirty(t));
	ring_test_write_pages(test, t, 3);
	KUNIT_EXPECT_EQ(test, 2, ring_test_dirty(t));
}

static bool ring_test_readable(struct ring_test *t, int full)
{
	ring_buffer_poll_writer(t->buffer, RING_TEST_CPU);
	return ring_buffer_poll_wait(t->buffer, RING_TEST_CPU, NULL, NULL, full) & EPOLLIN;
}

/* With ten pages, the number of pages with events that wakes a waiter, without the reader's */
void ring_test_poll(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 11);
	unsigned int i;
	int full;

	for (i = 0; i <= 10; i++) {
		KUNIT_EXPECT_EQ(test, i > 0, ring_test_readable(t, 0));
		for (full = 10; full <= 100; full += 10)
			KUNIT_EXPECT_EQ_MSG(test, i && i * 10 >= full, ring_test_readable(t, full),
					    "%u pages, %d %%", i, full);
		ring_test_write_pages(test, t, 1);
	}

	/* One page was read: nine are left. */
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	KUNIT_EXPECT_TRUE(test, ring_test_readable(t, 90));
	KUNIT_EXPECT_FALSE(test, ring_test_readable(t, 91));

	/* The page being written does not count for a waiter for whole pages. */
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 8, 1));
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 8, 1));
	KUNIT_EXPECT_TRUE(test, ring_test_readable(t, 0));
	KUNIT_EXPECT_FALSE(test, ring_test_readable(t, 1));
}

/**
 * struct ring_test_waiter - a thread that waits for a ring
 * @t:		the ring
 * @full:	percentage of the ring to wait for
 * @cond:	condition that also ends the wait
 * @task:	the thread
 * @nr_calls:	number of calls of @cond
 * @done:	result of @cond
 * @probe:	interrupt work, see ring_test_wake_now()
 * @probed:	it has run
 */
struct ring_test_waiter {
	struct ring_test	*t;
	int			full;
	ring_buffer_cond_fn	cond;
	struct task_struct	*task;
	int			nr_calls;
	bool			done;
	struct irq_work		probe;
	bool			probed;
};

static bool ring_test_never(void *unused)
{
	return false;
}

static int ring_test_wait_thread(void *data)
{
	struct ring_test_waiter *waiter = data;

	return ring_buffer_wait(waiter->t->buffer, RING_TEST_CPU, waiter->full,
				waiter->cond ?: ring_test_never, waiter);
}

static void ring_test_wait(struct kunit *test, struct ring_test_waiter *waiter)
{
	waiter->task = kthread_run(ring_test_wait_thread, waiter, "ring_test_wait");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, waiter->task);
	get_task_struct(waiter->task);
}

/* Poll the writer until the thread has woken, for a limited time. */
static bool ring_test_woken(struct ring_test_waiter *waiter, unsigned long time)
{
	unsigned long deadline = jiffies + time;

	while (!READ_ONCE(waiter->task->exit_state) && time_before(jiffies, deadline)) {
		ring_buffer_poll_writer(waiter->t->buffer, RING_TEST_CPU);
		schedule_timeout_uninterruptible(1);
	}

	return READ_ONCE(waiter->task->exit_state);
}

/* A reader that waits is woken by a poll. */
void ring_test_wake(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	struct ring_test_waiter waiter = { .t = t };

	ring_test_wait(test, &waiter);
	KUNIT_EXPECT_FALSE(test, ring_test_woken(&waiter, HZ / 20));
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	KUNIT_EXPECT_TRUE(test, ring_test_woken(&waiter, 10 * HZ));
	put_task_struct(waiter.task);
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	ring_test_balance(test, t);
}

/* A reader that waits for half of the ring is woken when it is half full. */
void ring_test_wake_full(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 11);
	struct ring_test_waiter waiter = { .t = t, .full = 50 };

	ring_test_wait(test, &waiter);
	ring_test_write_pages(test, t, 4);
	KUNIT_EXPECT_FALSE(test, ring_test_woken(&waiter, HZ / 20));
	ring_test_write_pages(test, t, 1);
	KUNIT_EXPECT_TRUE(test, ring_test_woken(&waiter, 10 * HZ));
	put_task_struct(waiter.task);
}

static void ring_test_probe_run(struct irq_work *work)
{
	WRITE_ONCE(container_of(work, struct ring_test_waiter, probe)->probed, true);
}

/*
 * Wake the waiters and return when that is done. This must not sleep, since the caller is about
 * to. Interrupt work that is queued after the wake-up on the same CPU shows that it has run.
 */
static void ring_test_wake_now(struct ring_test_waiter *waiter)
{
	migrate_disable();
	ring_buffer_wake_waiters(waiter->t->buffer, RING_TEST_CPU);
	irq_work_queue(&waiter->probe);
	while (!READ_ONCE(waiter->probed))
		cpu_relax();
	migrate_enable();
}

/*
 * The two calls before the first sleep return false. The one after it also returns false, but
 * before it returns, @done is set and the waiters are woken.
 */
static bool ring_test_happens_meanwhile(void *data)
{
	struct ring_test_waiter *waiter = data;
	int nr = waiter->nr_calls + 1;
	bool was_done = READ_ONCE(waiter->done);

	if (nr == 3) {
		WRITE_ONCE(waiter->done, true);
		ring_test_wake_now(waiter);
	}
	WRITE_ONCE(waiter->nr_calls, nr);
	return was_done;
}

/* Wait until the thread is about to sleep, for a limited time. */
static bool ring_test_waits(struct ring_test_waiter *waiter)
{
	unsigned long deadline = jiffies + 10 * HZ;

	while (READ_ONCE(waiter->nr_calls) < 2 && time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);

	return READ_ONCE(waiter->nr_calls) == 2;
}

/*
 * No wake-up is lost between the check of the condition and the sleep, also not directly after
 * an earlier wake-up.
 */
void ring_test_wake_cond(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 11);
	struct ring_test_waiter waiter = {
		.t = t, .full = 50, .cond = ring_test_happens_meanwhile,
	};

	init_irq_work(&waiter.probe, ring_test_probe_run);
	ring_test_wait(test, &waiter);
	KUNIT_EXPECT_TRUE(test, ring_test_waits(&waiter));
	ring_buffer_wake_waiters(t->buffer, RING_TEST_CPU);
	KUNIT_EXPECT_TRUE(test, ring_test_woken(&waiter, 2 * HZ));
	KUNIT_EXPECT_EQ(test, 4, waiter.nr_calls);

	/* The thread must not outlive the ring, also if the test failed. */
	WRITE_ONCE(waiter.done, true);
	ring_buffer_wake_waiters(t->buffer, RING_TEST_CPU);
	KUNIT_EXPECT_TRUE(test, ring_test_woken(&waiter, 10 * HZ));
	put_task_struct(waiter.task);
}
