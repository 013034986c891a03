// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random sequences of all operations on a ring, compared with a model.
 *
 *	model_test [seed]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "observer.h"
#include "random.h"

#define STEPS		MODEL_EVENTS
#define SEQUENCES	(10 + 20 * TEST_LOAD * 512 / PAGE_SIZE)
#define OBSERVERS	2

/**
 * struct look - an observer, and the model's
 * @observer:	the one
 * @onlooker:	the other
 * @is_on:	they look
 */
struct look {
	struct observer	observer;
	struct onlooker	onlooker;
	bool		is_on;
};

static u64 seed = 1;
static u64 rnd;
static struct model model;
static struct fixture f;
static struct reader reader;
static struct look looks[OBSERVERS];

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
	if (model_reserve(&model, size, &time))
		model_commit(&model, size, time);
}

static void do_abandon(void)
{
	u64 time = any_time();
	u32 size = any_size();
	bool reserved = fixture_abandon(&f, size, time);

	CHECK(reserved == model_reserve(&model, size, &time));
}

static void do_drop(void)
{
	trace_ring_drop(&f.ring);
	model.counters.dropped++;
}

static bool is_event(const struct event *event, u64 number)
{
	const struct written *written = &model.events[number];

	return payload_matches(event, written->size, number) && event->time == written->time;
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

	if (!model_read(&model, &number)) {
		CHECK(read_event(&event) == 0);
		return false;
	}
	if (!CHECK(read_event(&event) == 1))
		return false;

	CHECK(is_event(&event, number));
	CHECK(reader.lost == model.lost);
	reader.lost = 0;
	model.lost = 0;
	return true;
}

/* A host may give back a page it has not read. */
static void do_swap(void)
{
	CHECK(reader_swap(&reader) == (model_swap(&model) ? 0 : -ENODATA));
	CHECK(reader.lost == model.lost);
}

static void look_begin(struct look *look)
{
	observer_start(&look->observer, &reader);
	model_look(&model, &look->onlooker);
	look->is_on = true;
}

static void look_end(struct look *look)
{
	observer_finish(&look->observer);
	look->is_on = false;
}

/* False at the end, when what was lost there is reported. */
static bool look_on(struct look *look)
{
	struct event event;
	u64 number;
	bool is_event_there = model_show(&model, &look->onlooker, &number);

	if (!CHECK(observer_next(&look->observer, &event) == is_event_there))
		return false;

	CHECK(!is_event_there || is_event(&event, number));
	CHECK(look->observer.lost == look->onlooker.lost);
	look->observer.lost = 0;
	look->onlooker.lost = 0;
	return is_event_there;
}

/* Mostly an event more; now and then all there are, or no more of them. */
static void do_look(void)
{
	struct look *look = &looks[random_below(&rnd, OBSERVERS)];
	u64 nr = random_below(&rnd, 20) ? random_below(&rnd, 8) : STEPS;

	if (!look->is_on)
		look_begin(look);
	while (nr && look_on(look))
		nr--;
	if (nr || !random_below(&rnd, 100))
		look_end(look);
}

static void stop_looking(void)
{
	u32 i;

	for (i = 0; i < OBSERVERS; i++)
		if (looks[i].is_on)
			look_end(&looks[i]);
}

/* What an observer has copied it shows; then it is at its end. */
static void look_after_reset(struct look *look)
{
	if (!look->is_on)
		return;

	look->onlooker.end = look->onlooker.copied;
	while (look_on(look))
		;
	look_end(look);
}

static void do_reset(void)
{
	u32 i;

	trace_ring_reset(&f.ring);
	reader_reset(&reader);
	model_reset(&model);
	for (i = 0; i < OBSERVERS; i++)
		look_after_reset(&looks[i]);
}

static void do_drain(void)
{
	while (do_read() && !tap_failed())
		;
	CHECK(model.counters.entries == model.nr_taken + f.meta->meta.overrun);
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
	else if (op < 200)
		do_look();
	else if (op < writes)
		do_write();
	else
		do_read();
}

static void check_state(void)
{
	struct ring_state state;

	expect_all_counters(&f, model.counters);
	CHECK(observer_look(&reader, &state));
	CHECK(state.tail == model.counters.tail && state.overrun == model.counters.overrun);
	CHECK(state.bytes == model.counters.bytes - model.counters.overrun_bytes +
			     model.spans[model.counters.tail].bytes);
}

static void check_sequence(u64 sequence)
{
	u32 writes, step;

	rnd = random_seed(sequence);
	f.nr_pages = 3 + random_below(&rnd, random_below(&rnd, 2) ? 3 : 30);
	writes = 400 + random_below(&rnd, 600);
	model_init(&model, f.nr_pages);
	fixture_init(&f, f.nr_pages);
	reader_init(&reader, &f);

	for (step = 0; step < STEPS && !tap_failed(); step++) {
		tap_at("seed %llu, step %u", sequence, step);
		do_something(writes);
		check_state();
	}
	stop_looking();
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
