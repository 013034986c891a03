// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host can write to the pages and the meta page. Whatever it writes there, the
 * ring's own state must not depend on it.
 */
#include "expect.h"
#include "random.h"

#define PAGES	4
#define STEPS	20000

static void corrupt(struct fixture *f, u64 *rnd)
{
	u32 id, i;

	for (i = 0; i < sizeof(*f->meta); i++)
		((u8 *)f->meta)[i] = random_next(rnd);
	for (id = 0; id < f->nr_pages; id++)
		for (i = 0; i < 64; i++)
			((u8 *)f->pages[id])[i] = random_next(rnd);
}

/* A ring without its pointers, which are never the same for two rings */
static struct trace_ring essence(const struct fixture *f)
{
	struct trace_ring ring;

	memcpy(&ring, &f->ring, sizeof(ring));
	ring.commit = NULL;
	ring.meta = NULL;
	ring.dir = NULL;
	return ring;
}

static void check_same(const struct fixture *f, const struct fixture *twin)
{
	struct trace_ring ring = essence(f), other = essence(twin);
	u32 i;

	CHECK(!memcmp(&ring, &other, sizeof(ring)));
	CHECK(trace_ring_page(f->ring.commit) == f->pages[f->ring.page_id]);
	for (i = 0; i < f->nr_pages; i++) {
		CHECK(f->dir[0][i].slot == twin->dir[0][i].slot);
		CHECK(f->dir[0][i].nr_events == twin->dir[0][i].nr_events);
		CHECK(f->dir[0][i].page == f->pages[i]);
	}
}

static void step(struct fixture *f, u32 op, u32 size, u64 time)
{
	if (op < 6)
		fixture_write(f, size, 0, time);
	else if (op < 7)
		fixture_abandon(f, size, time);
	else if (op < 9)
		trace_ring_swap_reader(&f->ring);
	else if (time % 8 == 0)
		trace_ring_reset(&f->ring);
}

static void test_corrupt(void)
{
	struct fixture f, twin;
	u64 rnd = random_seed(1), time = 0;
	u32 i, op, size;

	fixture_init(&f, PAGES);
	fixture_init(&twin, PAGES);
	for (i = 0; i < STEPS && !tap_failed(); i++) {
		op = random_below(&rnd, 10);
		size = random_below(&rnd, EVENT_MAX + 2);
		time += random_next(&rnd) >> random_below(&rnd, 64) >> 14;
		corrupt(&f, &rnd);
		step(&f, op, size, time);
		step(&twin, op, size, time);
		tap_at("step %u", i);
		check_same(&f, &twin);
	}
	fixture_free(&f);
	fixture_free(&twin);
}

/* On corrupted pages and a corrupted meta page a ring begins where it does otherwise. */
static void test_start(void)
{
	struct fixture f;
	u64 rnd = random_seed(2);

	fixture_init(&f, PAGES);
	corrupt(&f, &rnd);
	CHECK(!trace_ring_start(&f.ring));
	fixture_write_pages(&f, 0, 1);
	CHECK(f.pages[0]->commit == PAGE_CAPACITY && f.pages[0]->time_stamp == 0);
	fixture_free(&f);
}

static const struct tap_test tests[] = {
	{ "nothing is read back from shared memory", test_corrupt },
	{ "a ring starts on corrupted pages", test_start },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
