// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer, consuming readers in turn, non-consuming readers, and a reader of the meta
 * page, all at once. An event's number says which events must have been lost.
 *
 *	race_test [seed]
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <asm/barrier.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <shim.h>

#include "expect.h"
#include "observer.h"
#include "random.h"

/**
 * struct race - a race
 * @nr_pages:	of the ring
 * @size:	the smallest event
 * @sizes:	how many sizes there are, a word apart
 * @pause:	a thread gives up its CPU at one step out of so many; or never
 * @readers:	how many there are
 * @observers:	how many only look
 */
struct race {
	u32	nr_pages;
	u32	size;
	u32	sizes;
	u32	pause;
	u32	readers;
	u32	observers;
};

/* Events of a race, so many in all programs together */
#define EVENTS	(100000ULL * TEST_LOAD)

#define MAX_READERS	2
#define MAX_OBSERVERS	2

static u64 seed = 1;
static const struct race *race;
static u64 nr_events;
static struct fixture f;
static struct reader reader;
static pthread_mutex_t reader_lock = PTHREAD_MUTEX_INITIALIZER;
static u64 expected;
static u64 nr_read;
static u64 nr_lost;
static u64 bytes_read;
static u64 bytes_written;
static u32 *nr_read_before;	/* each event up to @expected */
static u64 nr_looks;
static u64 nr_unknown;
static bool broken;
static bool written;

static void pause_step(const void *addr)
{
	static __thread u64 rnd;

	if (!rnd)
		rnd = random_seed(seed + (uintptr_t)&rnd);
	if (!random_below(&rnd, race->pause))
		sched_yield();
}

static void relax(void)
{
	sched_yield();
}

static const struct shim pausing = { .step = pause_step, .relax = relax };
static const struct shim running = { .relax = relax };

static u32 race_size(u64 number)
{
	return race->size + number % race->sizes * 4;
}

static void *race_write(void *unused)
{
	u64 number;

	for (number = 0; number < nr_events; number++) {
		fixture_write(&f, race_size(number), number, number);
		bytes_written += page_event_size(race_size(number));
	}

	__atomic_store_n(&written, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Each event is the next one, but for those that were reported lost before it. */
static bool race_check(const struct event *event)
{
	u64 number = payload_number(event);

	if (number != expected + reader.lost || number != event->time ||
	    !payload_matches(event, race_size(number), number))
		return false;

	while (expected <= number)
		nr_read_before[expected++] = nr_read;
	nr_read++;
	bytes_read += page_event_size(race_size(number));
	nr_lost += reader.lost;
	reader.lost = 0;
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

static u64 race_read_before(u64 number)
{
	return number < expected ? nr_read_before[number] : nr_read;
}

/* What was skipped was lost, or a reader took it. */
static bool race_skipped(struct observer *o, u64 from, u64 to)
{
	u64 lost = o->lost;

	o->lost = 0;
	return to >= from && to - from == lost + race_read_before(to) - race_read_before(from);
}

/* The next event; false at the end. */
static bool race_look(struct observer *o, u64 *next)
{
	struct event event;
	int ret = observer_next(o, &event);
	u64 number = o->number - 1;

	if (!ret && o->lost == OBSERVER_UNKNOWN)
		nr_unknown++;
	else if (!ret)
		/* The reader may be further than what was counted, when the writer left a page. */
		broken |= !race_skipped(o, *next, max(o->number, o->end));
	else if (ret < 0 || event.time != number || !race_skipped(o, *next, number) ||
		 !payload_matches(&event, race_size(number), number))
		broken = true;

	*next = o->number;
	return ret && !broken;
}

static void race_look_once(void)
{
	struct observer o;
	bool more = true;
	u64 next;

	pthread_mutex_lock(&reader_lock);
	observer_start(&o, &reader);
	next = o.number - o.lost;
	nr_looks++;
	pthread_mutex_unlock(&reader_lock);

	while (more) {
		pthread_mutex_lock(&reader_lock);
		more = race_look(&o, &next);
		if (!more)
			observer_finish(&o);
		pthread_mutex_unlock(&reader_lock);
	}
}

static void *race_observe(void *unused)
{
	bool last, stop;

	do {
		last = __atomic_load_n(&written, __ATOMIC_ACQUIRE);
		race_look_once();
		pthread_mutex_lock(&reader_lock);
		stop = broken;
		pthread_mutex_unlock(&reader_lock);
	} while (!last && !stop);

	return NULL;
}

/* The counters only grow, and events are written before they are overwritten. */
static void *race_watch(void *failed)
{
	struct ring_buffer_writer_meta *meta = f.meta;
	u64 entries = 0, overrun = 0, tail = 0, next = 0, before;

	while (!__atomic_load_n(&written, __ATOMIC_ACQUIRE)) {
		before = overrun;
		overrun = READ_ONCE(meta->meta.overrun);
		*(bool *)failed |= overrun < before;
		before = tail;
		/* Pairs with the writer's going to a page: what was before is counted. */
		tail = smp_load_acquire(&meta->tail);
		*(bool *)failed |= tail < before;
		before = next;
		/* Reported before it is the tail, so that it is no less. */
		next = READ_ONCE(meta->next);
		*(bool *)failed |= next < before || next < tail;
		before = entries;
		/* Loaded after the tail, so that it is no less: each page has an event. */
		entries = READ_ONCE(meta->meta.entries);
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
	nr_read_before = calloc(nr_events, sizeof(*nr_read_before));
	expected = 0;
	nr_read = 0;
	nr_lost = 0;
	bytes_read = 0;
	bytes_written = 0;
	nr_looks = 0;
	nr_unknown = 0;
	broken = false;
	written = false;
	shim = r->pause ? &pausing : &running;
}

static void race_run(void)
{
	pthread_t writer, watcher, readers[MAX_READERS], observers[MAX_OBSERVERS];
	bool failed = false;
	u32 i;

	pthread_create(&watcher, NULL, race_watch, &failed);
	for (i = 0; i < race->readers; i++)
		pthread_create(&readers[i], NULL, race_read, NULL);
	for (i = 0; i < race->observers; i++)
		pthread_create(&observers[i], NULL, race_observe, NULL);
	pthread_create(&writer, NULL, race_write, NULL);

	pthread_join(writer, NULL);
	for (i = 0; i < race->readers; i++)
		pthread_join(readers[i], NULL);
	for (i = 0; i < race->observers; i++)
		pthread_join(observers[i], NULL);
	pthread_join(watcher, NULL);
	CHECK(!failed);
	shim = NULL;
}

/* All is read, or lost. */
static void check_read(void)
{
	CHECK(!reader.lost && expected == nr_events && nr_read + nr_lost == nr_events);
	expect_all_counters(&f, (struct counters){
		.entries	= nr_events,
		.overrun	= nr_lost,
		.tail		= f.ring.tail,
		.bytes		= bytes_written - trace_ring_used(&f.ring),
		.overrun_bytes	= bytes_written - bytes_read,
	});
}

static void check_race(const struct race *r)
{
	race_init(r);
	tap_at("%u pages, events of %u", r->nr_pages, r->size);
	race_run();
	CHECK(!broken);
	if (r->readers)
		check_read();
	tap_note("%u pages: %llu written, %llu read, %llu lost; %llu looks, %llu in vain",
		 r->nr_pages, nr_events, nr_read, nr_lost, nr_looks, nr_unknown);
	free(nr_read_before);
	fixture_free(&f);
}

/* Many events a page, so that reader and writer meet on pages. */
static void test_small(void)
{
	check_race(&(struct race){ 3, NUMBERED, 6, 0, 1, 0 });
	check_race(&(struct race){ 3, NUMBERED, 6, 300, 1, 0 });
	check_race(&(struct race){ 17, NUMBERED, 30, 0, 1, 0 });
}

/* An event a page or nearly, so that they meet at the swap. */
static void test_large(void)
{
	check_race(&(struct race){ 3, EVENT_MAX / 2, 8, 0, 1, 0 });
	check_race(&(struct race){ 3, EVENT_MAX - 12, 4, 20, 1, 0 });
	check_race(&(struct race){ 4, EVENT_MAX - 12, 4, 7, 1, 0 });
	check_race(&(struct race){ 5, EVENT_MAX / 2, 8, 50, 1, 0 });
}

/* The readers' lock orders them, whichever CPU they are on. */
static void test_readers(void)
{
	check_race(&(struct race){ 3, NUMBERED, 6, 100, 2, 0 });
	check_race(&(struct race){ 4, EVENT_MAX - 12, 4, 30, 2, 0 });
}

/* No reader consumes: each snapshot is what the writer has left of the ring. */
static void test_observers(void)
{
	check_race(&(struct race){ 3, NUMBERED, 6, 0, 0, 1 });
	check_race(&(struct race){ 4, EVENT_MAX - 12, 4, 30, 0, 2 });
	check_race(&(struct race){ 17, NUMBERED, 30, 300, 0, 2 });
}

/* What readers take under the eyes of others is not lost. */
static void test_both(void)
{
	check_race(&(struct race){ 3, EVENT_MAX / 2, 8, 50, 1, 1 });
	check_race(&(struct race){ 17, NUMBERED, 30, 100, 2, 2 });
}

static const struct tap_test tests[] = {
	{ "small events are read once or reported lost, in place", test_small },
	{ "large events are read once or reported lost, in place", test_large },
	{ "readers may take turns", test_readers },
	{ "non-consuming readers see each event once, or its loss in its place", test_observers },
	{ "... while others read", test_both },
};

int main(int argc, char **argv)
{
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);

	return tap_run(tests, ARRAY_SIZE(tests));
}
