// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer that goes from page to page, a consuming reader, a reset, and a non-consuming
 * reader, in all interleavings with a limited number of switches and stale loads. Each
 * word of a page is loaded and stored by itself.
 */
#include <string.h>

#include <asm/barrier.h>
#include <asm/cmpxchg.h>
#include <linux/minmax.h>

#include "expect.h"
#include "explore.h"
#include "machine.h"
#include "observer.h"

#define MAX_NUMBERS	32

/**
 * struct interleaving - what is interleaved
 * @nr_pages:	of the ring
 * @per_page:	events a page
 * @before:	events written before
 * @reads:	events of these read, so that there is a reader's page
 * @writes:	events that the writer writes
 * @takes:	events that the reader reads meanwhile, at most
 * @resets:	after so many of them the writer clears all; 0 for never
 * @unusual:	switches, stale loads and reads on a way, at most
 */
struct interleaving {
	u32	nr_pages;
	u32	per_page;
	u32	before;
	u32	reads;
	u32	writes;
	u32	takes;
	u32	resets;
	u32	unusual;
};

static const struct interleaving *interleaving;
static struct fixture f;
static struct reader reader;
static u64 lock;
static u64 written;		/* since the last reset */
static u64 era;			/* how many resets */
static u64 expected;		/* by the reader */
static bool is_taken[MAX_NUMBERS];
static u64 lost_until;		/* events before were reported lost */
static u64 nr_shown;

static u32 interleave_size(void)
{
	return min(PAGE_CAPACITY / interleaving->per_page - 4, EVENT_MAX);
}

/* An event has the era as well. */
static u64 interleave_payload(u64 number)
{
	return number | era << 32;
}

static void interleave_lock(void)
{
	u64 held = 0;

	while (!try_cmpxchg(&lock, &held, 1ULL)) {
		held = 0;
		shim_relax();
	}
}

static void interleave_unlock(void)
{
	/* What was done under the lock is seen under it. */
	smp_store_release(&lock, 0);
}

static void interleave_reset(void)
{
	interleave_lock();
	trace_ring_reset(&f.ring);
	/* The machine is to know what was stored without saying so. */
	WRITE_ONCE(f.ring.overrun, f.ring.overrun);
	reader_reset(&reader);
	memset(is_taken, 0, sizeof(is_taken));
	written = 0;
	expected = 0;
	era++;
	interleave_unlock();
}

static void interleave_write(u32 nr)
{
	while (nr--) {
		CHECK(fixture_write(&f, interleave_size(), interleave_payload(written), written));
		if (++written == interleaving->resets && !era)
			interleave_reset();
	}
}

/* Each event is the next one, but for those that were reported lost before it. */
static bool interleave_read(void)
{
	struct event event;
	u64 number;

	if (reader_next(&reader, &event) != 1)
		return false;

	number = reader.number - 1;
	CHECK(number == expected + reader.lost);
	CHECK(payload_matches(&event, interleave_size(), interleave_payload(number)));
	is_taken[number] = true;
	reader.lost = 0;
	expected = number + 1;
	return true;
}

/* How many events from @first on to @end the reader has not taken */
static u64 interleave_untaken(u64 first, u64 end)
{
	u64 nr = 0;

	for (; first < end && first < MAX_NUMBERS; first++)
		nr += !is_taken[first];
	return nr;
}

/* What was skipped was lost, or taken. */
static void interleave_check_lost(struct observer *o, u64 from, u64 to)
{
	CHECK(to >= from && o->lost == interleave_untaken(from, to));
	if (o->lost)
		lost_until = to;
	o->lost = 0;
}

static void interleave_take(u32 *takes)
{
	if (*takes && explore_choose(2)) {
		--*takes;
		interleave_read();
	}
}

/* The next event; false at the end. */
static bool interleave_look(struct observer *o, u64 look_era, u64 *next, u32 *takes)
{
	struct event event;
	int ret;

	interleave_lock();
	interleave_take(takes);
	ret = observer_next(o, &event);
	CHECK(ret >= 0 && o->lost != OBSERVER_UNKNOWN);
	if (ret > 0) {
		if (look_era == era)
			interleave_check_lost(o, *next, o->number - 1);
		*next = o->number;
		CHECK(payload_matches(&event, interleave_size(), (o->number - 1) | look_era << 32));
		nr_shown++;
	} else if (look_era == era) {
		interleave_check_lost(o, *next, max(o->number, o->end));
	}
	interleave_unlock();
	return ret > 0 && !tap_failed();
}

static void interleave_look_once(u32 *takes)
{
	u64 next, look_era;
	struct observer o;

	interleave_lock();
	observer_start(&o, &reader);
	next = o.number - o.lost;
	look_era = era;
	interleave_unlock();

	while (interleave_look(&o, look_era, &next, takes))
		;
	observer_finish(&o);
}

static void writer_program(void)
{
	interleave_write(interleaving->writes);
}

static void observer_program(void)
{
	u32 takes = interleaving->takes;

	interleave_look_once(&takes);
}

/* The counters belong to the tail, whatever the writer is at. */
static void state_program(void)
{
	u32 nr_slots = interleaving->nr_pages - 1, bytes = page_event_size(interleave_size()), i;
	struct ring_state state;
	u64 tail, lost;

	for (i = 0; i < 2; i++) {
		if (!observer_look(&reader, &state))
			continue;
		tail = state.tail;
		lost = tail >= nr_slots ? (tail - nr_slots + 1) * interleaving->per_page : 0;
		CHECK(state.overrun == lost);
		CHECK(state.entries >= tail * interleaving->per_page);
		CHECK(state.entries <= (tail + 1) * interleaving->per_page);
		CHECK(state.oldest == lost / interleaving->per_page);
		CHECK(state.bytes >= (tail * interleaving->per_page - lost) * bytes);
		CHECK(state.bytes <= ((tail + 1) * interleaving->per_page - lost) * bytes);
	}
}

static void interleave_init(void)
{
	u32 i;

	memset(is_taken, 0, sizeof(is_taken));
	lock = 0;
	written = 0;
	era = 0;
	expected = 0;
	lost_until = 0;
	nr_shown = 0;

	fixture_init(&f, interleaving->nr_pages);
	reader_init(&reader, &f);
	interleave_write(interleaving->before);
	for (i = 0; i < interleaving->reads; i++)
		CHECK(interleave_read());
	for (i = 0; i < interleaving->nr_pages; i++)
		machine_watch(f.pages[i]->data, PAGE_CAPACITY);
}

/* Now that all is quiet: all that there is can be seen, and none of it was reported lost. */
static void interleave_check_after(void)
{
	u64 unread = written - reader.number - (f.meta->meta.overrun - reader.overrun);
	u32 takes = 0;

	CHECK(interleaving->resets || lost_until <= f.meta->meta.overrun + reader.number);
	nr_shown = 0;
	interleave_look_once(&takes);
	CHECK(nr_shown == unread);
}

static void interleave_all(const struct interleaving *w, void (*program)(void))
{
	interleaving = w;
	explore_begin(w->unusual);
	do {
		tap_at("%u pages, %u before, %u read: way %llu", w->nr_pages, w->before,
		       w->reads, explore_ways());
		interleave_init();
		machine_run(writer_program, program);
		interleave_check_after();
		fixture_free(&f);
	} while (!tap_failed() && explore_next());
	tap_note("%u pages, %u before, %u read: %llu ways", w->nr_pages, w->before,
		 w->reads, explore_ways());
}

/* The page that is looked at is the one being written, then left. */
static void test_page(void)
{
	static const struct interleaving empty = {
		.nr_pages = 3, .per_page = 2, .writes = 3, .unusual = 4,
	}, half_read = {
		.nr_pages = 3, .per_page = 2, .before = 1, .reads = 1, .writes = 3, .unusual = 4,
	};

	interleave_all(&empty, observer_program);
	interleave_all(&half_read, observer_program);
}

/* The ring is full: the page that is looked at is the one that is overwritten. */
static void test_full(void)
{
	static const struct interleaving full = {
		.nr_pages = 3, .per_page = 1, .before = 2, .writes = 1, .unusual = 4,
	}, full_and_read = {
		.nr_pages = 3, .per_page = 1, .before = 3, .reads = 1, .writes = 3, .unusual = 3,
	}, more_pages = {
		.nr_pages = 4, .per_page = 2, .before = 6, .writes = 4, .unusual = 3,
	};

	interleave_all(&full, observer_program);
	interleave_all(&full_and_read, observer_program);
	interleave_all(&more_pages, observer_program);
}

/* A lap and more */
static void test_lap(void)
{
	static const struct interleaving lap = {
		.nr_pages = 3, .per_page = 1, .before = 2, .writes = 4, .unusual = 3,
	}, from_reader = {
		.nr_pages = 4, .per_page = 1, .before = 4, .reads = 1, .writes = 6, .unusual = 3,
	};

	interleave_all(&lap, observer_program);
	interleave_all(&from_reader, observer_program);
}

/* A reader that takes pages under the eyes of both */
static void test_take(void)
{
	static const struct interleaving full = {
		.nr_pages = 3, .per_page = 1, .before = 2, .writes = 2, .takes = 2, .unusual = 3,
	}, from_reader = {
		.nr_pages = 4, .per_page = 1, .before = 4, .reads = 1, .writes = 3, .takes = 3,
		.unusual = 3,
	};

	interleave_all(&full, observer_program);
	interleave_all(&from_reader, observer_program);
}

static void test_reset(void)
{
	static const struct interleaving large = {
		.nr_pages = 3, .per_page = 1, .before = 1, .writes = 4, .resets = 3, .unusual = 3,
	}, small = {
		.nr_pages = 3, .per_page = 2, .before = 3, .writes = 4, .takes = 2, .resets = 5,
		.unusual = 3,
	};

	interleave_all(&large, observer_program);
	interleave_all(&small, observer_program);
}

static void test_state(void)
{
	static const struct interleaving empty = {
		.nr_pages = 3, .per_page = 1, .writes = 3, .unusual = 3,
	}, full = {
		.nr_pages = 3, .per_page = 1, .before = 2, .writes = 2, .unusual = 4,
	}, more_pages = {
		.nr_pages = 4, .per_page = 2, .before = 5, .writes = 4, .unusual = 3,
	};

	interleave_all(&empty, state_program);
	interleave_all(&full, state_program);
	interleave_all(&more_pages, state_program);
}

static const struct tap_test tests[] = {
	{ "a look at a page while it is written", test_page },
	{ "a look at a page while it is overwritten", test_full },
	{ "a look while the writer laps", test_lap },
	{ "a look while a reader takes pages", test_take },
	{ "a snapshot while all is cleared", test_reset },
	{ "counters and tail agree", test_state },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
