// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: a hostile writer, with random bytes on its pages and in its meta page
 *
 * Each read ends and touches nothing outside of the ring, which KASAN checks.
 */
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/trace_events.h>

#include "../remote.h"
#include "test.h"

static void ring_test_seed(struct kunit *test, struct rnd_state *rnd)
{
	u32 seed = get_random_u32();

	kunit_info(test, "seed %u", seed);
	prandom_seed_state(rnd, seed);
}

static u32 ring_test_below(struct rnd_state *rnd, u32 n)
{
	return prandom_u32_state(rnd) % n;
}

/* Fill each page with random bytes, or with a writer's events of which some bytes are changed. */
static void ring_test_corrupt(struct ring_test *t, struct rnd_state *rnd)
{
	struct ring_buffer_writer_page *page;
	u32 id, nr;

	for (id = 0; id < t->desc.nr_pages; id++) {
		page = t->desc.pages[id];
		if (ring_test_below(rnd, 2))
			prandom_bytes_state(rnd, page->data, PAGE_SIZE - sizeof(*page));
		for (nr = ring_test_below(rnd, 20); nr--;)
			page->data[ring_test_below(rnd, 256)] = prandom_u32_state(rnd);
		if (!ring_test_below(rnd, 4))
			page->commit = prandom_u32_state(rnd);
	}
}

/* Touch what a printer would, for the sanitizer. */
static bool ring_test_touch(struct ring_buffer_event *event)
{
	return memchr_inv(ring_buffer_event_data(event), 0, ring_buffer_event_length(event));
}

static void ring_test_check_corrupt(struct kunit *test, struct ring_test *t,
				    struct ring_buffer_event *event)
{
	KUNIT_ASSERT_LE(test, ring_buffer_event_length(event), RING_TEST_MAX_SIZE);
	t->ts += ring_test_touch(event);
}

/* Consume up to @nr events with a cursor. */
static void ring_test_pass_corrupt(struct kunit *test, struct ring_test *t, unsigned int nr)
{
	struct ring_buffer_reader_cursor cursor;
	struct ring_buffer_event *event;

	ring_buffer_reader_cursor_start(&cursor, t->buffer, RING_TEST_CPU);
	while (nr-- && (event = ring_buffer_reader_cursor_peek(&cursor))) {
		ring_test_check_corrupt(test, t, event);
		ring_buffer_reader_cursor_advance(&cursor);
	}
	ring_buffer_reader_cursor_finish(&cursor);
}

/* Consume all events; a page has no more than fit into it. */
static void ring_test_consume_corrupt(struct kunit *test, struct ring_test *t)
{
	unsigned int i, most = t->desc.nr_pages * PAGE_SIZE / 4;
	struct ring_buffer_event *event;
	unsigned long lost;
	u64 ts;

	for (i = 0; i < most; i++) {
		cond_resched();
		if (i % 64 == 5)
			ring_test_pass_corrupt(test, t, 64);
		event = ring_test_peek(t, &ts, &lost);
		if (event) {
			ring_test_check_corrupt(test, t, event);
		} else if (i % 8) {
			/* The next read continues after an invalid page. */
			continue;
		}
		ring_test_consume(t, &ts, &lost);
	}
}

/* Valid events after corrupted pages are found. */
void ring_test_corrupt_consumed(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 5);
	struct rnd_state rnd;
	unsigned int round, i;

	ring_test_seed(test, &rnd);
	for (round = 0; round < RING_TEST_ROUNDS(100); round++) {
		for (i = 0; i < 3 * PAGE_SIZE / 64; i++)
			ring_test_write(t, 4 + ring_test_below(&rnd, 40) * 4, 1);
		ring_test_corrupt(t, &rnd);
		ring_test_consume_corrupt(test, t);
	}

	ring_test_clear(test, t);
	ring_test_write_pages(test, t, 3);
	ring_test_read_all(test, t);
}

/* An event that is longer than what is committed, or is not whole words, ends the page. */
void ring_test_corrupt_cut(struct kunit *test)
{
	static const u32 lengths[] = { 0, 1, 3, 4, 112, 116, 117, 203, 205, 5000, U32_MAX };
	struct ring_buffer_event *event;
	struct ring_test *t;
	unsigned int i;
	u32 *words;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		t = ring_test_make(test, 4);
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 200, 1));
		words = (u32 *)((struct ring_buffer_writer_page *)t->desc.pages[0])->data;
		words[1] = lengths[i];
		event = ring_test_peek(t, NULL, NULL);
		KUNIT_EXPECT_NULL(test, event);
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
		ring_test_consume_corrupt(test, t);
		KUNIT_EXPECT_NULL(test, ring_test_peek(t, NULL, NULL));
	}
}

/* A plausible number, or a random one */
static u64 ring_test_corrupt_word(struct rnd_state *rnd)
{
	u64 any = (u64)prandom_u32_state(rnd) << 32 | prandom_u32_state(rnd);

	return ring_test_below(rnd, 2) ? (u64)ring_test_below(rnd, 12) - 2 :
					 any >> ring_test_below(rnd, 64);
}

static void ring_test_corrupt_meta_page(struct ring_test *t, struct rnd_state *rnd)
{
	u64 *words = (u64 *)t->desc.meta;
	u32 i;

	for (i = 0; i < sizeof(*t->desc.meta) / sizeof(*words); i++)
		if (!ring_test_below(rnd, 3))
			words[i] = ring_test_corrupt_word(rnd);
}

static void ring_test_dump_corrupt(struct ring_test *t)
{
	struct ring_buffer_reader_dump dump;
	u8 data[64];

	ring_buffer_reader_dump_start(&dump, t->buffer, RING_TEST_CPU, 128);
	while (ring_buffer_reader_dump_next(&dump))
		t->ts += ring_buffer_reader_dump_copy(&dump, data, sizeof(data));
}

/* Each kind of read with a corrupted meta page has no effect on later reads. */
void ring_test_corrupt_meta(struct kunit *test)
{
	void *page = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct ring_test *t = ring_test_make(test, 5);
	struct ring_buffer_writer_meta meta;
	struct rnd_state rnd;
	unsigned int round;

	KUNIT_ASSERT_NOT_NULL(test, page);
	ring_test_seed(test, &rnd);
	for (round = 0; round < 300; round++) {
		ring_test_write_pages(test, t, ring_test_below(&rnd, 4));
		meta = *t->desc.meta;
		ring_test_corrupt_meta_page(t, &rnd);
		ring_buffer_poll_writer(t->buffer, RING_TEST_CPU);
		ring_test_dump_corrupt(t);
		ring_buffer_reader_read_page(t->buffer, RING_TEST_CPU, page, PAGE_SIZE, round & 1);
		ring_test_consume(t, NULL, NULL);
		ring_buffer_nr_dirty_pages(t->buffer, RING_TEST_CPU);
		*t->desc.meta = meta;
		cond_resched();
	}

	/* The restored meta page may miss a swap; the reset updates it. */
	ring_test_clear(test, t);
	ring_test_write_pages(test, t, 3);
	ring_test_read_all(test, t);
}

/* A record of random bytes, at the end of its allocation */
static void *event_test_record(struct kunit *test, const struct trace_remote_desc *desc,
			       struct rnd_state *rnd, unsigned int size)
{
	u8 *record = kunit_kmalloc(test, size, GFP_KERNEL);
	unsigned int i, nr = ring_test_below(rnd, 2 * desc->nr_events), id = 0;

	KUNIT_ASSERT_NOT_NULL(test, record);
	prandom_bytes_state(rnd, record, size);
	/* Some small numbers, which may locate data behind the record */
	for (i = 0; i < size; i++)
		if (ring_test_below(rnd, 2))
			record[i] = i & 1 ? 0 : ring_test_below(rnd, size + 8);

	if (nr < desc->nr_events)
		id = trace_remote_event_id(&desc->events[nr]);
	else if (nr - desc->nr_events < NR_TRACE_REMOTE_TRACER_EVENTS)
		id = trace_remote_tracer_id(nr - desc->nr_events);
	if (id && size >= sizeof(struct trace_entry))
		((struct trace_entry *)record)->type = id;
	return record;
}

/**
 * event_test_print_corrupt - print records of any bytes as a remote's events, or of its tracers
 * @test:	the test
 * @events:	the events, which are registered
 * @nr:		how many
 */
void event_test_print_corrupt(struct kunit *test, struct trace_remote_event *events,
			      unsigned int nr)
{
	const struct trace_remote_desc desc = {
		.events = events, .nr_events = nr, .functions = &kunit_remote_functions,
	};
	struct trace_iterator *iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	struct trace_remote *remote = kunit_kzalloc(test, sizeof(*remote), GFP_KERNEL);
	struct rnd_state rnd;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, iter);
	KUNIT_ASSERT_NOT_NULL(test, remote);
	remote->desc = &desc;
	trace_remote_init_tracer_events(remote);
	ring_test_seed(test, &rnd);
	for (i = 0; i < 20000; i++) {
		trace_seq_init(&iter->seq);
		remote->tracer = ring_test_below(&rnd, NR_TRACE_REMOTE_TRACERS);
		iter->ts = (u64)prandom_u32_state(&rnd) << 32;
		iter->ent_size = 4 + ring_test_below(&rnd, 50) * 4;
		iter->ent = event_test_record(test, &desc, &rnd, iter->ent_size);
		trace_remote_record_event(remote, iter->ent, iter->ent_size);
		KUNIT_EXPECT_NE(test, TRACE_TYPE_UNHANDLED, trace_remote_print_event(remote, iter));
		KUNIT_ASSERT_GT(test, trace_seq_used(&iter->seq), 0);
		KUNIT_EXPECT_EQ(test, '\n', iter->seq.buffer[trace_seq_used(&iter->seq) - 1]);
		kunit_kfree(test, iter->ent);
		cond_resched();
	}
}

void event_test_corrupt_printed(struct kunit *test)
{
	kunit_remote_register(test);
	event_test_print_corrupt(test, kunit_remote_desc.events, kunit_remote_desc.nr_events);
}
