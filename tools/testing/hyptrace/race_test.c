// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer, consuming readers in turn, non-consuming readers, and a reader of the meta
 * page, all at once. An event's number says which events must have been lost.
 *
 *	race_test [seed]
 */
#include <pthread.h>
#include <sched.h>

#include "expect.h"
#include "random.h"

/**
 * struct race - a race
 * @nr_pages:	of the ring
 * @size:	the smallest event
 * @sizes:	how many sizes there are, a word apart
 * @pause:	a thread gives up its CPU at one step out of so many; or never
 * @readers:	how many consume events
 * @iters:	how many do not
 */
struct race {
	u32	nr_pages;
	u32	size;
	u32	sizes;
	u32	pause;
	u32	readers;
	u32	iters;
};

/* Events of a race, so many in all programs together */
#define EVENTS	(100000ULL * TEST_LOAD)

#define MAX_READERS	2
#define MAX_ITERS	2

static u64 seed = 1;
static const struct race *race;
static u64 nr_events;
static bool keeps;		/* the ring keeps its oldest events */
static struct fixture f;
/* Only its owner consumes events. What follows is the owner's. */
static pthread_mutex_t owner = PTHREAD_MUTEX_INITIALIZER;
static u64 expected;
static u64 nr_read;
static u64 nr_lost;
static u64 bytes_read;
static u64 bytes_written;
static u32 *nr_read_before;	/* each event up to @expected */
static u64 nr_snapshots;
static u64 nr_unknown;
static bool broken;
static u64 nr_written;
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
	u64 number = 0, i;

	for (i = 0; i < nr_events; i++) {
		if (!fixture_write(&f, race_size(number), number, number))
			continue;
		bytes_written += page_event_size(race_size(number++));
		__atomic_store_n(&nr_written, number, __ATOMIC_RELEASE);
	}

	__atomic_store_n(&written, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Each event is the next one, but for those that were reported lost before it. */
static bool race_check(const struct event *event)
{
	u64 number = payload_number(event);

	if (number != expected + event->lost || number != event->time ||
	    !payload_matches(event, race_size(number), number))
		return false;

	while (expected <= number)
		nr_read_before[expected++] = nr_read;
	nr_read++;
	bytes_read += page_event_size(race_size(number));
	nr_lost += event->lost;
	return true;
}

/* Read a few; true when there will be no more. */
static bool race_turn(void)
{
	bool last = __atomic_load_n(&written, __ATOMIC_ACQUIRE);
	struct ring_buffer_reader_cursor cursor;
	struct event event;
	bool found = true;
	int i;

	ring_buffer_reader_cursor_start(&cursor, f.buffer, 0);
	for (i = 0; i < 50 && found; i++) {
		found = fixture_next(&cursor, &event);
		if (found && !race_check(&event))
			__atomic_store_n(&broken, true, __ATOMIC_RELAXED);
	}
	ring_buffer_reader_cursor_finish(&cursor);

	return (!found && last) || __atomic_load_n(&broken, __ATOMIC_RELAXED);
}

static void *race_read(void *unused)
{
	bool done;

	do {
		pthread_mutex_lock(&owner);
		done = race_turn();
		pthread_mutex_unlock(&owner);
	} while (!done);

	return NULL;
}

/**
 * struct gap - events that an iterator has not shown
 * @from:	number of the first
 * @to:		... of the next one that was shown; at the end, of the last one that there may be
 * @at_least:	... of the last one that there is
 * @lost:	how many were reported lost: the others were consumed
 */
struct gap {
	u64	from;
	u64	to;
	u64	at_least;
	u64	lost;
};

/* The gaps of the iterators, which are the owner's */
static struct gap *gaps;
static u64 nr_gaps;

static void race_gap(u64 from, u64 at_least, u64 to, u64 lost)
{
	pthread_mutex_lock(&owner);
	if (!(nr_gaps & (nr_gaps + 1)))
		gaps = realloc(gaps, (2 * nr_gaps + 2) * sizeof(*gaps));
	gaps[nr_gaps++] = (struct gap){ from, to, at_least, lost };
	pthread_mutex_unlock(&owner);
}

static u64 race_read_before(u64 number)
{
	return number < expected ? nr_read_before[number] : nr_read;
}

/* How many events there are that were never consumed */
static u64 race_lost(u64 from, u64 to)
{
	return to - from - (race_read_before(to) - race_read_before(from));
}

/* What was skipped was lost, or it was consumed in the end. */
static bool race_gap_is_right(const struct gap *gap)
{
	return race_lost(gap->from, max(gap->from, gap->at_least)) <= gap->lost &&
	       gap->lost <= race_lost(gap->from, gap->to);
}

/* The next event; false at the end. */
static bool race_iterate(struct ring_buffer_reader_iter *iter, u64 *next, u64 before, u64 after)
{
	struct event event;
	u64 number;

	if (!fixture_iterate(iter, &event)) {
		if (event.lost == ULONG_MAX)
			__atomic_fetch_add(&nr_unknown, 1, __ATOMIC_RELAXED);
		else
			race_gap(*next, before, after, event.lost);
		return false;
	}

	number = payload_number(&event);
	if (number < *next || event.time != number ||
	    !payload_matches(&event, race_size(number), number))
		__atomic_store_n(&broken, true, __ATOMIC_RELAXED);
	if (number != *next || event.lost)
		race_gap(*next, number, number, event.lost);
	*next = number + 1;
	return true;
}

static void race_snapshot(void)
{
	u64 next, before = __atomic_load_n(&nr_written, __ATOMIC_ACQUIRE);
	struct ring_buffer_reader_iter *iter;

	pthread_mutex_lock(&owner);
	iter = ring_buffer_reader_iter_start(f.buffer, 0);
	next = expected;
	nr_snapshots++;
	pthread_mutex_unlock(&owner);

	while (race_iterate(iter, &next, before, nr_events))
		;
	ring_buffer_reader_iter_finish(iter);
}

static void *race_snapshots(void *unused)
{
	bool last;

	do {
		last = __atomic_load_n(&written, __ATOMIC_ACQUIRE);
		race_snapshot();
	} while (!last && !__atomic_load_n(&broken, __ATOMIC_RELAXED));

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
	trace_ring_set_overwrite(&f.ring, !keeps);
	nr_read_before = calloc(nr_events, sizeof(*nr_read_before));
	expected = 0;
	nr_read = 0;
	nr_lost = 0;
	bytes_read = 0;
	bytes_written = 0;
	nr_snapshots = 0;
	nr_gaps = 0;
	nr_written = 0;
	nr_unknown = 0;
	broken = false;
	written = false;
	shim = r->pause ? &pausing : &running;
}

static void race_run(void)
{
	pthread_t writer, watcher, readers[MAX_READERS], iters[MAX_ITERS];
	bool failed = false;
	u32 i;

	pthread_create(&watcher, NULL, race_watch, &failed);
	for (i = 0; i < race->readers; i++)
		pthread_create(&readers[i], NULL, race_read, NULL);
	for (i = 0; i < race->iters; i++)
		pthread_create(&iters[i], NULL, race_snapshots, NULL);
	pthread_create(&writer, NULL, race_write, NULL);

	pthread_join(writer, NULL);
	for (i = 0; i < race->readers; i++)
		pthread_join(readers[i], NULL);
	for (i = 0; i < race->iters; i++)
		pthread_join(iters[i], NULL);
	pthread_join(watcher, NULL);
	CHECK(!failed);
	shim = NULL;
}

/* All is read, or lost. */
static void check_read(void)
{
	CHECK(expected == nr_written && nr_read + nr_lost == nr_written);
	CHECK(!keeps || !nr_lost);
	expect_all_counters(&f, (struct counters){
		.entries	= nr_written,
		.overrun	= nr_lost,
		.dropped	= nr_events - nr_written,
		.tail		= f.ring.tail,
		.bytes		= bytes_written - (f.ring.ended ?: trace_ring_used(&f.ring)),
		.overrun_bytes	= bytes_written - bytes_read,
	});
}

static void check_race(const struct race *r)
{
	u64 i;

	race_init(r);
	tap_at("%u pages, events of %u", r->nr_pages, r->size);
	race_run();
	CHECK(!broken);
	for (i = 0; i < nr_gaps; i++)
		CHECK(race_gap_is_right(&gaps[i]));
	if (r->readers)
		check_read();
	tap_note("%u pages: %llu written, %llu read, %llu lost; %llu snapshots, %llu in vain",
		 r->nr_pages, nr_written, nr_read, nr_lost, nr_snapshots, nr_unknown);
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
static void test_snapshots(void)
{
	check_race(&(struct race){ 3, NUMBERED, 6, 0, 0, 1 });
	check_race(&(struct race){ 4, EVENT_MAX - 12, 4, 30, 0, 2 });
	check_race(&(struct race){ 17, NUMBERED, 30, 300, 0, 2 });
}

/* What readers consume meanwhile is not lost. */
static void test_both(void)
{
	check_race(&(struct race){ 3, EVENT_MAX / 2, 8, 50, 1, 1 });
	check_race(&(struct race){ 17, NUMBERED, 30, 100, 2, 2 });
}

/* The ring keeps its oldest events: each that is written is read, and the others are counted. */
static void test_keeps(void)
{
	keeps = true;
	check_race(&(struct race){ 3, NUMBERED, 6, 0, 1, 0 });
	check_race(&(struct race){ 4, EVENT_MAX - 12, 4, 30, 2, 0 });
	check_race(&(struct race){ 17, NUMBERED, 30, 100, 1, 1 });
	keeps = false;
}

static const struct tap_test tests[] = {
	{ "small events are read once or reported lost, in place", test_small },
	{ "large events are read once or reported lost, in place", test_large },
	{ "readers may take turns", test_readers },
	{ "non-consuming readers see each event once, or its loss in its place", test_snapshots },
	{ "... while others read", test_both },
	{ "a ring that keeps its oldest events loses none", test_keeps },
};

int main(int argc, char **argv)
{
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);

	return tap_run(tests, ARRAY_SIZE(tests));
}
