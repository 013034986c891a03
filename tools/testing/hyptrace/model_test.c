// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random sequences of all that can be done to a ring, against a model: lists
 * of events, one for each position.
 *
 *	model_test [seed]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "random.h"

#define EXTEND		0x8000000ULL
#define STEPS		3000
#define SEQUENCES	(10 + 20 * TEST_LOAD * 512 / PAGE_SIZE)

/**
 * struct written - an event
 * @size:	of its data
 * @time:	when
 */
struct written {
	u32	size;
	u64	time;
};

/**
 * struct span - the events of one position
 * @first:	number of its first event
 * @nr:		how many
 */
struct span {
	u64	first;
	u64	nr;
};

/**
 * struct model - what a ring does, without rings
 * @nr_slots:	pages but one
 * @events:	all events ever written, by number
 * @spans:	all positions
 * @nr_events:	events ever written
 * @base:	the first position since the last reset
 * @used:	bytes used of the last page
 * @time:	of the last event
 * @counters:	as the meta page tells them
 * @next:	the first position the reader has not had
 * @index:	of the next event on the reader's page, by position @next - 1
 * @told:	overrun at the last swap
 * @lost:	events to be told lost before the next event
 * @nr_read:	events read since the reset
 * @nr_skipped:	events given back unread since the reset
 */
struct model {
	u32		nr_slots;
	struct written	events[STEPS];
	struct span	spans[STEPS + 1];
	u64		nr_events;
	u64		base;
	u64		used;
	u64		time;
	struct counters	counters;
	u64		next;
	u64		index;
	u64		told;
	u64		lost;
	u64		nr_read;
	u64		nr_skipped;
};

static u64 seed = 1;
static u64 rnd;
static struct model model;
static struct fixture f;
static struct reader reader;

static void model_init(u32 nr_pages)
{
	memset(&model, 0, sizeof(model));
	model.nr_slots = nr_pages - 1;
}

/* The writer begins the next page, and what was a lap ago is overwritten. */
static void model_cross(void)
{
	u64 tail = ++model.counters.tail, old = tail - model.nr_slots;

	if (tail >= model.nr_slots && old >= model.next && old >= model.base)
		model.counters.overrun += model.spans[old].nr;

	model.spans[tail] = (struct span){ .first = model.nr_events };
	model.used = 0;
}

/* How much of a page an event takes, put behind the last one */
static u64 model_need(u32 size, u64 time)
{
	u64 extend = model.used && time - model.time >= EXTEND ? 8 : 0;

	return page_event_size(size) + extend;
}

/* Where the event goes; false when it goes nowhere. */
static bool model_reserve(u32 size, u64 *time)
{
	if (size > EVENT_MAX) {
		model.counters.dropped++;
		return false;
	}

	*time = *time > model.time ? *time : model.time;
	if (model.counters.tail < model.base ||
	    model.used + model_need(size, *time) > PAGE_CAPACITY ||
	    (model.used && *time - model.time >= EXTEND << 32))
		model_cross();
	return true;
}

static void model_commit(u32 size, u64 time)
{
	model.used += model_need(size, time);
	model.time = time;
	model.events[model.nr_events++] = (struct written){ size, time };
	model.spans[model.counters.tail].nr++;
	model.counters.entries++;
}

/* Events still to come on the reader's page */
static u64 model_unread(void)
{
	if (!model.next || model.next - 1 < model.base)
		return 0;

	return model.spans[model.next - 1].nr - model.index;
}

static bool model_swap(void)
{
	u64 tail = model.counters.tail, oldest = model.next;

	if (tail >= model.nr_slots && oldest < tail - model.nr_slots + 1)
		oldest = tail - model.nr_slots + 1;
	if (oldest < model.base)
		oldest = model.base;
	if (oldest > tail)
		return false;

	model.nr_skipped += model_unread();
	model.lost += model.counters.overrun - model.told;
	model.told = model.counters.overrun;
	model.next = oldest + 1;
	model.index = 0;
	return true;
}

/* The next event's number, or false */
static bool model_read(u64 *number)
{
	while (!model_unread())
		if (!model_swap())
			return false;

	*number = model.spans[model.next - 1].first + model.index++;
	model.nr_read++;
	return true;
}

static void model_reset(void)
{
	model.base = model.counters.tail + 1;
	model.counters = (struct counters){ .tail = model.counters.tail };
	model.told = 0;
	model.lost = 0;
	model.nr_read = 0;
	model.nr_skipped = 0;
}

/* Mostly small; then whatever fits, and a little more. */
static u32 any_size(void)
{
	switch (random_below(&rnd, 8)) {
	case 0:
		return random_below(&rnd, EVENT_MAX + 8);
	case 1:
		return 100 + random_below(&rnd, 30);
	case 2:
		return EVENT_MAX - random_below(&rnd, 32);
	default:
		return random_below(&rnd, 40);
	}
}

/* Now and then about where an extend ends: time must last for a sequence. */
static u64 any_leap(void)
{
	return random_below(&rnd, 30) ? 0 : (EXTEND << 32) - 2 + random_below(&rnd, 4);
}

/* Close by; about where an extend begins; far; and in the past. */
static u64 any_time(void)
{
	switch (random_below(&rnd, 12)) {
	case 0:
		return model.time + EXTEND - 2 + random_below(&rnd, 4);
	case 1:
		return model.time + random_below(&rnd, 1ULL << 40);
	case 2:
		return model.time - random_below(&rnd, model.time + 1);
	case 3:
		return model.time + any_leap();
	default:
		return model.time + random_below(&rnd, 5000);
	}
}

static void do_write(void)
{
	u64 time = any_time(), number = model.nr_events;
	u32 size = any_size();

	CHECK(fixture_write(&f, size, number, time) == (size <= EVENT_MAX));
	if (model_reserve(size, &time))
		model_commit(size, time);
}

static void do_abandon(void)
{
	u64 time = any_time();
	u32 size = any_size();
	void *data = trace_ring_reserve(&f.ring, size, time);

	CHECK(!!data == model_reserve(size, &time));
	if (data)
		payload_fill(data, size, -1);
}

static void do_drop(void)
{
	trace_ring_drop(&f.ring);
	model.counters.dropped++;
}

/* After a reset the reader asks for a page when there may be none. */
static int read_event(struct event *event)
{
	int ret = reader_next(&reader, event);

	return ret == -ENODATA && reader.position < model.base ? 0 : ret;
}

static bool do_read(void)
{
	struct event event;
	u64 number;

	if (!model_read(&number)) {
		CHECK(read_event(&event) == 0);
		return false;
	}
	if (!CHECK(read_event(&event) == 1))
		return false;

	CHECK(payload_matches(&event, model.events[number].size, number));
	CHECK(event.time == model.events[number].time);
	CHECK(reader.lost == model.lost);
	reader.lost = 0;
	model.lost = 0;
	return true;
}

/* A host may give back a page it has not read. */
static void do_swap(void)
{
	CHECK(reader_swap(&reader) == (model_swap() ? 0 : -ENODATA));
	CHECK(reader.lost == model.lost);
}

static void do_reset(void)
{
	trace_ring_reset(&f.ring);
	reader_reset(&reader);
	model_reset();
}

static void do_drain(void)
{
	while (do_read() && !tap_failed())
		;
	CHECK(model.counters.entries ==
	      model.nr_read + model.nr_skipped + f.meta->meta.overrun);
}

/* A sequence is fond of writing, or of reading. */
static void do_something(u32 writes)
{
	u32 op = random_below(&rnd, 1000);

	if (op < 5)
		do_reset();
	else if (op < 15)
		do_drain();
	else if (op < 25)
		do_swap();
	else if (op < 35)
		do_drop();
	else if (op < 70)
		do_abandon();
	else if (op < writes)
		do_write();
	else
		do_read();
}

static void check_sequence(u64 sequence)
{
	u32 writes, step;

	rnd = random_seed(sequence);
	f.nr_pages = 3 + random_below(&rnd, random_below(&rnd, 2) ? 3 : 30);
	writes = 300 + random_below(&rnd, 700);
	model_init(f.nr_pages);
	fixture_init(&f, f.nr_pages);
	reader_init(&reader, &f);

	for (step = 0; step < STEPS && !tap_failed(); step++) {
		tap_at("seed %llu, step %u", sequence, step);
		do_something(writes);
		expect_counters(&f, model.counters);
	}
	do_drain();
	fixture_free(&f);
}

static void test_sequences(void)
{
	u64 i;

	tap_note("seeds %llu to %llu", seed, seed + SEQUENCES - 1);
	for (i = 0; i < SEQUENCES && !tap_failed(); i++)
		check_sequence(seed + i);
}

static const struct tap_test tests[] = {
	{ "random sequences agree with the model", test_sequences },
};

int main(int argc, char **argv)
{
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);

	return tap_run(tests, ARRAY_SIZE(tests));
}
