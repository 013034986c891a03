// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer, readers that take turns, and one who watches the meta page, all
 * at once. An event's number tells the readers what must have been lost.
 *
 *	race_test [seed]
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <asm/barrier.h>
#include <linux/compiler.h>
#include <shim.h>

#include "expect.h"
#include "random.h"

/**
 * struct race - a race
 * @nr_pages:	of the ring
 * @size:	the smallest event
 * @sizes:	how many sizes there are, a word apart
 * @pause:	a thread gives up its CPU at one step out of so many; or never
 * @readers:	how many there are
 */
struct race {
	u32	nr_pages;
	u32	size;
	u32	sizes;
	u32	pause;
	u32	readers;
};

/* Events of a race, so many in all programs together */
#define EVENTS	(100000ULL * TEST_LOAD)

#define MAX_READERS	2

static u64 seed = 1;
static const struct race *race;
static u64 nr_events;
static struct fixture f;
static struct reader reader;
static pthread_mutex_t reader_lock = PTHREAD_MUTEX_INITIALIZER;
static u64 expected;
static u64 nr_read;
static u64 nr_lost;
static bool broken;
static bool written;

static void pause_step(void)
{
	static __thread u64 rnd;

	if (!rnd)
		rnd = random_seed(seed + (uintptr_t)&rnd);
	if (!random_below(&rnd, race->pause))
		sched_yield();
}

static const struct shim pausing = { .step = pause_step };

static u32 race_size(u64 number)
{
	return race->size + number % race->sizes * 4;
}

static void *race_write(void *unused)
{
	u64 number;

	for (number = 0; number < nr_events; number++)
		fixture_write(&f, race_size(number), number, number);

	__atomic_store_n(&written, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Each event is the next one, but for those that were told lost before it. */
static bool race_check(const struct event *event)
{
	u64 number = payload_number(event);

	if (number != expected + reader.lost || number != event->time ||
	    !payload_matches(event, race_size(number), number))
		return false;

	nr_read++;
	nr_lost += reader.lost;
	reader.lost = 0;
	expected = number + 1;
	return true;
}

/* Read a few; true when there will be no more. */
static bool race_turn(void)
{
	bool last = __atomic_load_n(&written, __ATOMIC_ACQUIRE);
	struct event event;
	int ret, i;

	for (i = 0; i < 50; i++) {
		ret = reader_next(&reader, &event);
		if (!ret)
			return last;
		if (ret != -EAGAIN && (ret < 0 || !race_check(&event)))
			broken = true;
		if (broken)
			return true;
	}
	return false;
}

static void *race_read(void *unused)
{
	bool done;

	do {
		pthread_mutex_lock(&reader_lock);
		done = race_turn();
		pthread_mutex_unlock(&reader_lock);
	} while (!done);

	return NULL;
}

/* The counters only grow, and events are written before they are overwritten. */
static void *race_watch(void *failed)
{
	struct ring_buffer_writer_meta *meta = f.meta;
	u64 entries = 0, overrun = 0, tail = 0, before;

	while (!__atomic_load_n(&written, __ATOMIC_ACQUIRE)) {
		before = overrun;
		overrun = READ_ONCE(meta->meta.overrun);
		*(bool *)failed |= overrun < before;
		before = tail;
		/* Pairs with the writer's going to a page: what was before is counted. */
		tail = smp_load_acquire(&meta->tail);
		*(bool *)failed |= tail < before;
		before = entries;
		/* Loaded after the tail, so that it is no less. */
		entries = smp_load_acquire(&meta->meta.entries);
		*(bool *)failed |= entries < before || entries < tail;
		sched_yield();
	}
	return NULL;
}

static void race_init(const struct race *r)
{
	race = r;
	nr_events = EVENTS / (1 + r->size / 100);
	fixture_init(&f, r->nr_pages);
	reader_init(&reader, &f);
	expected = 0;
	nr_read = 0;
	nr_lost = 0;
	broken = false;
	written = false;
	shim = r->pause ? &pausing : NULL;
}

static void race_run(void)
{
	pthread_t writer, watcher, readers[MAX_READERS];
	bool failed = false;
	u32 i;

	pthread_create(&watcher, NULL, race_watch, &failed);
	for (i = 0; i < race->readers; i++)
		pthread_create(&readers[i], NULL, race_read, NULL);
	pthread_create(&writer, NULL, race_write, NULL);

	pthread_join(writer, NULL);
	for (i = 0; i < race->readers; i++)
		pthread_join(readers[i], NULL);
	pthread_join(watcher, NULL);
	CHECK(!failed);
	shim = NULL;
}

static void check_race(const struct race *r)
{
	race_init(r);
	tap_at("%u pages, events of %u", r->nr_pages, r->size);
	race_run();
	CHECK(!broken);
	CHECK(!reader.lost && expected == nr_events);
	CHECK(nr_read + nr_lost == nr_events);
	expect_counters(&f, (struct counters){ nr_events, nr_lost, 0, f.ring.tail });
	tap_note("%u pages: %llu written, %llu read, %llu lost", r->nr_pages, nr_events,
		 nr_read, nr_lost);
	fixture_free(&f);
}

/* Many events a page, so that reader and writer meet on pages. */
static void test_small(void)
{
	check_race(&(struct race){ 3, NUMBERED, 6, 0, 1 });
	check_race(&(struct race){ 3, NUMBERED, 6, 300, 1 });
	check_race(&(struct race){ 17, NUMBERED, 30, 0, 1 });
}

/* An event a page or nearly, so that they meet at the swap. */
static void test_large(void)
{
	check_race(&(struct race){ 3, EVENT_MAX / 2, 8, 0, 1 });
	check_race(&(struct race){ 3, EVENT_MAX - 12, 4, 20, 1 });
	check_race(&(struct race){ 4, EVENT_MAX - 12, 4, 7, 1 });
	check_race(&(struct race){ 5, EVENT_MAX / 2, 8, 50, 1 });
}

/* The readers' lock orders them, whichever CPU they are on. */
static void test_readers(void)
{
	check_race(&(struct race){ 3, NUMBERED, 6, 100, 2 });
	check_race(&(struct race){ 4, EVENT_MAX - 12, 4, 30, 2 });
}

static const struct tap_test tests[] = {
	{ "small events are read once or told lost, in place", test_small },
	{ "large events are read once or told lost, in place", test_large },
	{ "readers may take turns", test_readers },
};

int main(int argc, char **argv)
{
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);

	return tap_run(tests, ARRAY_SIZE(tests));
}
