// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: a ring's writer, its consuming reader and non-consuming readers, concurrently
 *
 * An event's number tells how many events must have been lost or read before it.
 */
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "test.h"

/**
 * struct ring_race - a ring and its concurrent users
 * @test:	the test
 * @t:		the ring
 * @size:	of the smallest event
 * @lock:	held to consume or to show an event, and to account for it
 * @read_before: number of events consumed before each event, by its number
 * @nr_read:	number of events consumed
 * @is_over:	all events are written
 */
struct ring_race {
	struct kunit		*test;
	struct ring_test	*t;
	unsigned int		size;
	struct mutex		lock;	/* orders both kinds of reads and their account */
	u32			*read_before;
	u32			nr_read;
	bool			is_over;
};

static struct ring_race *ring_race_make(struct kunit *test, unsigned int nr_pages,
					unsigned int size)
{
	struct ring_race *race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, race);
	mutex_init(&race->lock);
	race->test = test;
	race->t = ring_test_make(test, nr_pages);
	race->size = size;
	race->read_before = kunit_kcalloc(test, RING_TEST_RACE_EVENTS, sizeof(*race->read_before),
					  GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, race->read_before);
	return race;
}

static int ring_race_write(void *data)
{
	struct ring_race *race = data;
	struct ring_test *t = race->t;

	while (t->written < RING_TEST_RACE_EVENTS && !kthread_should_stop()) {
		/* As at a remote, nothing interrupts a write. */
		scoped_guard(irqsave)
			ring_test_write(t, race->size + t->written % 10 * 4, t->written % 7);
		if (!(t->written % 100))
			cond_resched();
	}

	smp_store_release(&race->is_over, true); /* after the last event */
	return ring_test_stay();
}

/* Read one event, if there is one. */
static bool ring_race_read_one(struct ring_race *race)
{
	u64 number, before = race->t->seen;

	guard(mutex)(&race->lock);
	if (!ring_test_read(race->test, race->t, NULL))
		return false;

	for (number = before; number < race->t->seen; number++)
		race->read_before[number] = race->nr_read;
	race->nr_read++;
	return true;
}

static int ring_race_read(void *data)
{
	struct ring_race *race = data;
	bool last;

	do {
		last = smp_load_acquire(&race->is_over); /* ring_race_write() */
		while (ring_race_read_one(race) && !kthread_should_stop())
			cond_resched();
		cond_resched();
	} while (!last && !kthread_should_stop());

	return ring_test_stay();
}

static u32 ring_race_read_before(struct ring_race *race, u64 number)
{
	return number < race->t->seen ? race->read_before[number] : race->nr_read;
}

/* All skipped events were lost or read. */
static void ring_race_skipped(struct ring_race *race, u64 from, u64 to, unsigned long lost)
{
	KUNIT_EXPECT_EQ(race->test, to - from, lost + ring_race_read_before(race, to) -
					       ring_race_read_before(race, from));
}

/* Check one event; @next is the least number that it may have. Returns false at the end. */
static bool ring_race_next(struct ring_race *race, struct ring_buffer_reader_iter *iter, u64 *next)
{
	struct ring_buffer_event *event;
	unsigned long lost;
	u64 ts, number;

	guard(mutex)(&race->lock);
	event = ring_buffer_reader_iter_peek(iter, &ts);
	lost = ring_buffer_reader_iter_lost(iter);
	KUNIT_EXPECT_NE(race->test, ULONG_MAX, lost);
	if (!event) {
		*next += lost;
		return false;
	}

	number = *(u32 *)ring_buffer_event_data(event);
	KUNIT_EXPECT_EQ(race->test, race->size + number % 10 * 4, ring_buffer_event_length(event));
	ring_race_skipped(race, *next, number, lost);
	*next = number + 1;
	ring_buffer_reader_iter_advance(iter);
	return true;
}

/* Check all events of a snapshot. Returns their number. */
static u64 ring_race_snapshot(struct ring_race *race)
{
	struct ring_buffer_reader_iter *iter;
	u64 next, end, nr = 0;

	scoped_guard(mutex, &race->lock) {
		next = race->t->seen;
		end = smp_load_acquire(&race->t->written);	/* ring_test_write() */
		iter = ring_buffer_reader_iter_start(race->t->buffer, RING_TEST_CPU);
	}
	KUNIT_ASSERT_NOT_ERR_OR_NULL(race->test, iter);

	while (ring_race_next(race, iter, &next)) {
		nr++;
		cond_resched();
	}

	/* Each event written before the start was shown, reported lost, or consumed meanwhile. */
	scoped_guard(mutex, &race->lock)
		KUNIT_EXPECT_GE(race->test, max(next, race->t->seen), end);
	ring_buffer_reader_iter_finish(iter);
	return nr;
}

static struct task_struct *ring_race_run(struct ring_race *race, int (*thread)(void *data))
{
	struct task_struct *task = kthread_run(thread, race, "ring_race");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(race->test, task);
	return task;
}

/* The writer does not wait: every event is read in its place, or reported lost. */
void ring_test_race(struct kunit *test)
{
	struct ring_race *race = ring_race_make(test, RB_WRITER_MIN_PAGES + 1, 12);
	struct task_struct *writer = ring_race_run(race, ring_race_write);
	unsigned long deadline = jiffies + 60 * HZ;
	struct ring_test *t = race->t;

	while (t->seen < RING_TEST_RACE_EVENTS && time_before(jiffies, deadline)) {
		if (!ring_race_read_one(race))
			cond_resched();
	}

	kthread_stop(writer);
	KUNIT_EXPECT_EQ(test, RING_TEST_RACE_EVENTS, t->seen);
	kunit_info(test, "%llu of %llu lost", t->lost, t->written);
	ring_test_balance(test, t);
}

static void ring_race_snapshots(struct ring_race *race)
{
	unsigned long deadline = jiffies + 60 * HZ;
	u64 nr = 0, snapshots = 0;

	while (!smp_load_acquire(&race->is_over) && /* ring_race_write() */
	       time_before(jiffies, deadline)) {
		nr += ring_race_snapshot(race);
		snapshots++;
		/* A snapshot without events does not yield the CPU to the writer. */
		cond_resched();
	}

	KUNIT_EXPECT_TRUE(race->test, race->is_over);
	nr += ring_race_snapshot(race);
	kunit_info(race->test, "%llu snapshots of %llu events in all", snapshots + 1, nr);
}

/* No reader consumes: each snapshot is what the writer has left of the ring. */
void ring_test_race_iter(struct kunit *test)
{
	static const unsigned int sizes[] = { 12, PAGE_SIZE / 2 - 100, RING_TEST_MAX_SIZE - 36 };
	struct task_struct *writer;
	struct ring_race *race;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		race = ring_race_make(test, RB_WRITER_MIN_PAGES + 3 * i, sizes[i]);
		writer = ring_race_run(race, ring_race_write);
		ring_race_snapshots(race);
		kthread_stop(writer);
		KUNIT_EXPECT_EQ(test, RING_TEST_RACE_EVENTS, race->t->written);
	}
}

/* Events that a reader consumes meanwhile are not lost. */
void ring_test_race_both(struct kunit *test)
{
	static const unsigned int sizes[] = { 12, RING_TEST_MAX_SIZE - 36 };
	struct task_struct *writer, *reader;
	struct ring_race *race;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		race = ring_race_make(test, 5 + 10 * i, sizes[i]);
		writer = ring_race_run(race, ring_race_write);
		reader = ring_race_run(race, ring_race_read);
		ring_race_snapshots(race);
		kthread_stop(writer);
		kthread_stop(reader);
		while (ring_race_read_one(race))
			;
		kunit_info(test, "%llu of %llu lost", race->t->lost, race->t->written);
		ring_test_balance(test, race->t);
	}
}

/* At each moment the counters of a ring agree with each other. */
static void ring_race_check_stats(struct ring_race *race)
{
	struct ring_buffer_reader_stats stats;
	struct ring_test *t = race->t;
	u64 before, after, nr;

	before = READ_ONCE(t->written);
	smp_rmb();	/* No counter is older than that. */
	ring_buffer_reader_get_stats(t->buffer, RING_TEST_CPU, &stats);
	smp_rmb();	/* Nor newer than this, but for the event being written. */
	after = READ_ONCE(t->written) + 1;

	nr = stats.entries + stats.overrun + stats.read;
	KUNIT_EXPECT_TRUE_MSG(race->test, nr >= before && nr <= after,
			      "%llu written, up to %llu: %lu to be read, %lu lost, %lu read",
			      before, after, stats.entries, stats.overrun, stats.read);
	KUNIT_EXPECT_LE(race->test, stats.bytes, t->desc.nr_pages * PAGE_SIZE);
	KUNIT_EXPECT_LE(race->test, stats.entries, t->desc.nr_pages * PAGE_SIZE / 8);
}

void ring_test_race_stats(struct kunit *test)
{
	struct ring_race *race = ring_race_make(test, 4, 12);
	struct task_struct *writer = ring_race_run(race, ring_race_write);
	struct task_struct *reader = ring_race_run(race, ring_race_read);
	unsigned long deadline = jiffies + 60 * HZ;

	do {
		ring_race_check_stats(race);
		cond_resched();
	} while (!READ_ONCE(race->is_over) && time_before(jiffies, deadline));

	kthread_stop(writer);
	kthread_stop(reader);
	KUNIT_EXPECT_TRUE(test, race->is_over);
	while (ring_race_read_one(race))
		;
	ring_test_balance(test, race->t);
}
