// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random sequences of all operations on a ring, compared with a model.
 *
 *	model_test [seed]
 */
#include "model.h"
#include "random.h"

#define STEPS		MODEL_EVENTS
#define SEQUENCES	(10 + 20 * TEST_LOAD * 512 / PAGE_SIZE)
#define ITERS		2

/**
 * struct shown - a non-consuming reader, and the model's
 * @iter:	the one; NULL for none
 * @snapshot:	the other
 */
struct shown {
	struct ring_buffer_reader_iter	*iter;
	struct snapshot			snapshot;
};

static u64 seed = 1;
static u64 rnd;
static struct model model;
static struct fixture f;
static struct shown shown[ITERS];

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
	bool written = fixture_write(&f, size, number, time);

	if (CHECK(model_reserve(&model, size, &time) == written) && written)
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

static void do_keep(void)
{
	model.keeps = random_below(&rnd, 2);
	trace_ring_set_overwrite(&f.ring, !model.keeps);
}

static bool is_event(const struct event *event, u64 number)
{
	const struct written *written = &model.events[number];

	return payload_matches(event, written->size, number) && event->time == written->time;
}

/* Up to @max events with one cursor: false if there are fewer. */
static bool do_read(u64 max)
{
	struct ring_buffer_reader_cursor cursor;
	struct event event;
	bool found = true;
	u64 number;

	ring_buffer_reader_cursor_start(&cursor, f.buffer, 0);
	while (max-- && found) {
		found = fixture_next(&cursor, &event);
		if (!CHECK(found == !!model_next_page(&model, &number)) || !found)
			break;

		CHECK(is_event(&event, number));
		CHECK(event.lost == model.lost);
		model_consume(&model, 1);
	}
	ring_buffer_reader_cursor_finish(&cursor);
	return found && !tap_failed();
}

/* What the kernel says was lost before the @bytes of events on a page. The rest is zeroed. */
static void check_lost(const struct ring_buffer_writer_page *page, u64 bytes)
{
	static const u8 zeroes[PAGE_SIZE];
	u64 flags = 0, room = PAGE_CAPACITY - bytes;

	if (model.lost)
		flags = RB_WRITER_MISSED_EVENTS | (room < 8 ? 0 : RB_WRITER_MISSED_STORED);
	CHECK(page->commit == (bytes | flags));
	if (flags & RB_WRITER_MISSED_STORED) {
		CHECK(!memcmp(&page->data[bytes], &model.lost, sizeof(model.lost)));
		bytes += sizeof(model.lost);
	}
	CHECK(!memcmp(&page->data[bytes], zeroes, PAGE_CAPACITY - bytes));
}

/* The page has the next @nr events, or those of them that fit into @room bytes. */
static void check_page(const struct ring_buffer_writer_page *page, u64 first, u64 nr, u64 room)
{
	u64 bytes = page->commit & RB_WRITER_COMMIT_MASK, offset = 0, time = page->time_stamp, i;
	struct event event;

	for (i = 0; offset < bytes && i < nr; i++)
		if (!CHECK(!page_event((void *)page, &offset, bytes, &time, &event) &&
			   is_event(&event, first + i)))
			return;

	CHECK(i && offset == bytes && bytes <= room);
	CHECK(i == nr || bytes + model.events[first + i].bytes > room);
	check_lost(page, bytes);
	model_consume(&model, i);
}

/* A page of events, or a part of one */
static void do_read_page(void)
{
	static struct ring_buffer_writer_page *page;
	u64 room = random_below(&rnd, 4) ? PAGE_CAPACITY : random_below(&rnd, PAGE_CAPACITY);
	bool full = random_below(&rnd, 2);
	u64 first, nr;
	int ret;

	page = page ?: fixture_page();
	ret = ring_buffer_reader_read_page(f.buffer, 0, page, sizeof(*page) + room, full);
	if (!room) {
		CHECK(ret == -EMSGSIZE);
		return;
	}

	nr = full && !model_next_is_complete(&model) ? 0 : model_next_page(&model, &first);
	if (!nr)
		CHECK(ret == -EAGAIN);
	else if (model.events[first].bytes > room)
		CHECK(ret == -EMSGSIZE);
	else if (CHECK(!ret))
		check_page(page, first, nr, room);
}

static void begin_snapshot(struct shown *shown)
{
	shown->iter = ring_buffer_reader_iter_start(f.buffer, 0);
	model_snapshot(&model, &shown->snapshot);
}

static void end_snapshot(struct shown *shown)
{
	ring_buffer_reader_iter_finish(shown->iter);
	shown->iter = NULL;
}

/* False at the end, when what was lost there is reported. */
static bool show(struct shown *shown)
{
	struct event event;
	u64 number;
	bool is_there = model_show(&model, &shown->snapshot, &number);

	if (!CHECK(fixture_iterate(shown->iter, &event) == is_there))
		return false;

	CHECK(!is_there || is_event(&event, number));
	CHECK(event.lost == shown->snapshot.lost);
	shown->snapshot.lost = 0;
	return is_there;
}

/* Mostly an event more; now and then all there are, or no more of them. */
static void do_show(void)
{
	struct shown *some = &shown[random_below(&rnd, ITERS)];
	u64 nr = random_below(&rnd, 20) ? random_below(&rnd, 8) : STEPS;

	if (!some->iter)
		begin_snapshot(some);
	while (nr && show(some))
		nr--;
	if (nr || !random_below(&rnd, 100))
		end_snapshot(some);
}

static void end_snapshots(void)
{
	u32 i;

	for (i = 0; i < ITERS; i++)
		end_snapshot(&shown[i]);
}

/* An iterator shows what it has copied; then it is at its end. */
static void show_after_reset(struct shown *shown)
{
	if (!shown->iter)
		return;

	shown->snapshot.end = shown->snapshot.copied;
	while (show(shown))
		;
	end_snapshot(shown);
}

static void do_reset(void)
{
	u32 i;

	CHECK(!ring_buffer_reader_reset(f.buffer, 0));
	model_reset(&model);
	for (i = 0; i < ITERS; i++)
		show_after_reset(&shown[i]);
}

static void do_drain(void)
{
	do_read(U64_MAX);
	CHECK(model.counters.entries == model.read + f.meta->meta.overrun);
}

/* A sequence is fond of writing, or of reading. */
static void do_something(u32 writes)
{
	u32 op = random_below(&rnd, 1000);

	if (op < 5)
		do_reset();
	else if (op < 15)
		do_drain();
	else if (op < 20)
		do_keep();
	else if (op < 35)
		do_drop();
	else if (op < 70)
		do_abandon();
	else if (op < 200)
		do_show();
	else if (op < writes)
		do_write();
	else if (op % 8)
		do_read(1 + random_below(&rnd, 8) / 7 * random_below(&rnd, 20));
	else
		do_read_page();
}

static void check_state(void)
{
	const struct counters *counters = &model.counters;
	struct ring_buffer_reader_stats stats;

	expect_all_counters(&f, *counters);
	ring_buffer_reader_get_stats(f.buffer, 0, &stats);
	CHECK(stats.entries == counters->entries - counters->overrun - model.read);
	CHECK(stats.overrun == counters->overrun && stats.dropped == counters->dropped);
	CHECK(stats.read == model.read);
	CHECK(stats.bytes == counters->bytes - counters->overrun_bytes +
			     model.spans[counters->tail].bytes - model.bytes_read);
}

static void check_sequence(u64 sequence)
{
	u32 writes, step;

	rnd = random_seed(sequence);
	f.nr_pages = 3 + random_below(&rnd, random_below(&rnd, 2) ? 3 : 30);
	writes = 400 + random_below(&rnd, 600);
	model_init(&model, f.nr_pages);
	fixture_init(&f, f.nr_pages);

	for (step = 0; step < STEPS && !tap_failed(); step++) {
		tap_at("seed %llu, step %u", sequence, step);
		do_something(writes);
		check_state();
	}
	end_snapshots();
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
