// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: random operations on a ring, and random bytes in it
 */
#include <linux/prandom.h>

#include "test.h"

#define RING_TEST_STEPS		3000
#define RING_TEST_SNAPSHOTS	3

static u32 ring_test_below(struct rnd_state *rnd, u32 n)
{
	return prandom_u32_state(rnd) % n;
}

static void ring_test_any_write(struct ring_test *t, struct rnd_state *rnd)
{
	static const u64 deltas[] = { 0, 1, 4000, RB_WRITER_TS_MASK, 1ULL << 28, 1ULL << 45 };
	static const u32 sizes[] = { 12, 100, 300, RING_TEST_MAX_SIZE };
	u32 size = 4 + ring_test_below(rnd, sizes[ring_test_below(rnd, ARRAY_SIZE(sizes))]) / 4 * 4;

	ring_test_write(t, size, deltas[ring_test_below(rnd, ARRAY_SIZE(deltas))]);
}

static void ring_test_any_snapshot(struct kunit *test, struct ring_snapshot *snap,
				   struct ring_test *t, struct rnd_state *rnd)
{
	u32 nr = ring_test_below(rnd, 20) ? ring_test_below(rnd, 30) : U32_MAX;

	if (!snap->iter)
		ring_snapshot_start(test, snap, t);
	while (nr && ring_snapshot_next(test, snap))
		nr--;
	if (nr)
		ring_snapshot_finish(snap);
}

static void ring_test_any_reset(struct kunit *test, struct ring_snapshot *snaps,
				struct ring_test *t)
{
	unsigned int i;

	for (i = 0; i < RING_TEST_SNAPSHOTS; i++)
		if (snaps[i].iter)
			ring_snapshot_finish(&snaps[i]);
	ring_test_clear(test, t);
}

static void ring_test_any(struct kunit *test, struct ring_snapshot *snaps, struct ring_test *t,
			  struct rnd_state *rnd)
{
	u32 op = ring_test_below(rnd, 1000);

	if (op < 2)
		ring_test_any_reset(test, snaps, t);
	else if (op < 100)
		ring_test_any_snapshot(test, &snaps[ring_test_below(rnd, RING_TEST_SNAPSHOTS)], t,
				       rnd);
	else if (op < 300)
		ring_test_read(test, t, NULL);
	else
		ring_test_any_write(t, rnd);
}

/* Random operations in random order */
void ring_test_iter_random(struct kunit *test)
{
	struct ring_snapshot snaps[RING_TEST_SNAPSHOTS] = {};
	struct rnd_state rnd;
	struct ring_test *t;
	unsigned int i, seed;

	for (seed = 0; seed < 30; seed++) {
		prandom_seed_state(&rnd, seed);
		t = ring_test_make(test, RB_WRITER_MIN_PAGES + ring_test_below(&rnd, 10));
		ring_test_keep(test, t, RING_TEST_STEPS);
		for (i = 0; i < RING_TEST_STEPS; i++)
			ring_test_any(test, snaps, t, &rnd);
		cond_resched();
		for (i = 0; i < RING_TEST_SNAPSHOTS; i++)
			if (snaps[i].iter)
				ring_snapshot_finish(&snaps[i]);
		ring_test_snapshot(test, t);
		ring_test_read_all(test, t);
	}
}

/* Random bytes, or small numbers in some of the words */
static void ring_test_corrupt(void *memory, size_t size, struct rnd_state *rnd)
{
	size_t i;

	if (ring_test_below(rnd, 2)) {
		prandom_bytes_state(rnd, memory, size);
		return;
	}
	for (i = 0; i < size / sizeof(u64); i++)
		if (!ring_test_below(rnd, 3))
			((u64 *)memory)[i] = (u64)ring_test_below(rnd, 12) - 2;
}

/* An iterator of corrupted pages ends. */
static void ring_test_snapshot_corrupt(struct kunit *test, struct ring_test *t,
				       struct rnd_state *rnd)
{
	struct ring_buffer_reader_stats stats;
	struct ring_buffer_reader_iter *iter;
	struct ring_buffer_event *event;
	unsigned int nr = 0;
	u64 ts;

	ring_buffer_reader_get_stats(t->buffer, RING_TEST_CPU, &stats);
	iter = ring_buffer_reader_iter_start(t->buffer, RING_TEST_CPU);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, iter);
	while ((event = ring_buffer_reader_iter_peek(iter, &ts))) {
		KUNIT_ASSERT_LE(test, ring_buffer_event_length(event), RING_TEST_MAX_SIZE);
		/* Touch what a printer would, for the sanitizer. */
		t->ts ^= memchr_inv(ring_buffer_event_data(event), 0,
				    ring_buffer_event_length(event)) != NULL;
		ring_buffer_reader_iter_lost(iter);
		ring_buffer_reader_iter_advance(iter);
		cond_resched();
		if (!ring_test_below(rnd, 10))
			ring_test_corrupt(t->desc.pages[ring_test_below(rnd, t->desc.nr_pages)],
					  PAGE_SIZE, rnd);
		KUNIT_ASSERT_LT(test, nr++, t->desc.nr_pages * PAGE_SIZE / 8);
	}
	ring_buffer_reader_iter_finish(iter);
}

void ring_test_iter_corrupt(struct kunit *test)
{
	struct ring_buffer_writer_meta meta;
	struct ring_test *t = ring_test_make(test, 6);
	struct rnd_state rnd;
	unsigned int i, id;

	prandom_seed_state(&rnd, 1);
	ring_test_write_pages(test, t, 8);
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	meta = *t->desc.meta;

	for (i = 0; i < RING_TEST_ROUNDS(200); i++) {
		*t->desc.meta = meta;
		for (id = 0; id < t->desc.nr_pages; id++)
			ring_test_corrupt(t->desc.pages[id], PAGE_SIZE, &rnd);
		if (i % 10 == 0)
			ring_test_corrupt(t->desc.meta, offsetof(typeof(meta), task), &rnd);
		ring_test_snapshot_corrupt(test, t, &rnd);
	}
	*t->desc.meta = meta;
}
