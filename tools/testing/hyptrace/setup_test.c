// SPDX-License-Identifier: GPL-2.0-only
/*
 * Setting up a ring and taking it down: the number and the order of the pages.
 */
#include "expect.h"

static void test_numbers(void)
{
	static const unsigned long refused[] = { 0, 1, 2, TRACE_RING_MAX_PAGES + 1, UINT_MAX,
						 (1UL << 32) + 3, LONG_MAX, ULONG_MAX };
	struct trace_ring ring, before;
	u32 i;

	memset(&ring, 0x5a, sizeof(ring));
	before = ring;
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		CHECK(trace_ring_init(&ring, NULL, NULL, refused[i]) == -EINVAL);
		CHECK(!memcmp(&ring, &before, sizeof(ring)));
	}

	CHECK(!trace_ring_init(&ring, NULL, NULL, 3));
	CHECK(!trace_ring_init(&ring, NULL, NULL, TRACE_RING_MAX_PAGES));
	CHECK(ring.max_pages == TRACE_RING_MAX_PAGES);
	CHECK(ring.nr_slots == TRACE_RING_MAX_PAGES - 1);
}

/* Entries fill whole leaves, leaves fill the directory page. */
static void test_arithmetic(void)
{
	unsigned long entries = PAGE_SIZE / 24, leaves = PAGE_SIZE / 8;

	CHECK(sizeof(struct trace_ring_entry) == 24);
	CHECK(entries == TRACE_RING_LEAF_ENTRIES);
	CHECK(entries * leaves == TRACE_RING_MAX_PAGES);
	CHECK(TRACE_RING_MAX_PAGES < INT_MAX);
	CHECK(TRACE_RING_LEAVES(3) == 1);
	CHECK(TRACE_RING_LEAVES(entries) == 1);
	CHECK(TRACE_RING_LEAVES(entries + 1) == 2);
	CHECK(TRACE_RING_LEAVES(TRACE_RING_MAX_PAGES - entries) == leaves - 1);
	CHECK(TRACE_RING_LEAVES(TRACE_RING_MAX_PAGES) == leaves);
}

static void test_start(void)
{
	struct trace_ring_entry **dir = fixture_page(), *leaf = fixture_page();
	struct ring_buffer_writer_page *page = fixture_page();
	struct ring_buffer_writer_meta meta = {};
	struct trace_ring ring;

	CHECK(!trace_ring_init(&ring, &meta, dir, 3));
	CHECK(trace_ring_start(&ring) == -EINVAL);
	CHECK(trace_ring_add_page(&ring, page) == -ENOSPC);
	CHECK(!trace_ring_add_leaf(&ring, leaf));
	CHECK(trace_ring_add_leaf(&ring, leaf) == -ENOSPC);
	CHECK(!trace_ring_add_page(&ring, page));
	CHECK(!trace_ring_add_page(&ring, page));
	CHECK(trace_ring_start(&ring) == -EINVAL);
	CHECK(!trace_ring_add_page(&ring, page));
	CHECK(trace_ring_add_page(&ring, page) == -ENOSPC);
	CHECK(!trace_ring_start(&ring));
	CHECK(trace_ring_add_page(&ring, page) == -ENOSPC);
	CHECK(trace_ring_add_leaf(&ring, leaf) == -ENOSPC);

	free(page);
	free(leaf);
	free(dir);
}

static void test_meta(void)
{
	struct trace_buffer_meta *meta;
	struct fixture f;

	fixture_init(&f, 5);
	meta = &f.meta->meta;
	CHECK(meta->meta_page_size == PAGE_SIZE);
	CHECK(meta->meta_struct_len == sizeof(*meta));
	CHECK(meta->subbuf_size == PAGE_SIZE);
	CHECK(meta->nr_subbufs == 5);
	CHECK(meta->reader.id == 4);
	CHECK(!meta->reader.lost_events && !meta->reader.read && !meta->flags && !meta->read);
	expect_counters(&f, (struct counters){});
	fixture_free(&f);
}

/* A page is taken only when its leaf is there, and the last leaf is short. */
static void test_leaves(void)
{
	u32 entries = TRACE_RING_LEAF_ENTRIES, i;
	struct trace_ring_entry **dir = fixture_page(), *leaves[2];
	struct ring_buffer_writer_page *page = fixture_page();
	struct ring_buffer_writer_meta meta = {};
	struct trace_ring ring;

	leaves[0] = fixture_page();
	leaves[1] = fixture_page();
	CHECK(!trace_ring_init(&ring, &meta, dir, entries + 1));
	CHECK(!trace_ring_add_leaf(&ring, leaves[0]));
	for (i = 0; i < entries; i++)
		CHECK(!trace_ring_add_page(&ring, page));
	CHECK(trace_ring_add_page(&ring, page) == -ENOSPC);
	CHECK(trace_ring_start(&ring) == -EINVAL);
	CHECK(!trace_ring_add_leaf(&ring, leaves[1]));
	CHECK(trace_ring_add_leaf(&ring, leaves[1]) == -ENOSPC);
	CHECK(!trace_ring_add_page(&ring, page));
	CHECK(trace_ring_add_page(&ring, page) == -ENOSPC);
	CHECK(!trace_ring_start(&ring));

	for (i = 0; i <= entries; i++)
		CHECK(trace_ring_pop_page(&ring) == page);
	CHECK(trace_ring_pop_leaf(&ring) == leaves[1]);
	CHECK(trace_ring_pop_leaf(&ring) == leaves[0]);
	free(leaves[1]);
	free(leaves[0]);
	free(page);
	free(dir);
}

/* Pages at consecutive addresses are added and removed together, all or none. */
static void test_runs(void)
{
	struct trace_ring_entry **dir = fixture_page(), *leaf = fixture_page();
	struct ring_buffer_writer_meta meta = {};
	struct trace_ring ring, before;
	void *pages = fixture_pages(32);
	unsigned int nr;

	CHECK(!trace_ring_init(&ring, &meta, dir, 17));
	CHECK(!trace_ring_add_leaf(&ring, leaf));
	CHECK(!trace_ring_add_pages(&ring, pages, 8));
	CHECK(!trace_ring_add_pages(&ring, pages + 8 * PAGE_SIZE, 2));
	before = ring;
	CHECK(trace_ring_add_pages(&ring, pages + 10 * PAGE_SIZE, 8) == -ENOSPC);
	CHECK(trace_ring_add_pages(&ring, pages + 10 * PAGE_SIZE, UINT_MAX) == -ENOSPC);
	CHECK(!memcmp(&ring, &before, sizeof(ring)));
	CHECK(!trace_ring_add_pages(&ring, pages + 11 * PAGE_SIZE, 7));
	CHECK(!trace_ring_start(&ring));

	CHECK(trace_ring_pop_pages(&ring, 8, &nr) == pages + 11 * PAGE_SIZE && nr == 7);
	CHECK(trace_ring_pop_pages(&ring, 8, &nr) == pages + 2 * PAGE_SIZE && nr == 8);
	CHECK(trace_ring_pop_pages(&ring, 1, &nr) == pages + PAGE_SIZE && nr == 1);
	CHECK(!trace_ring_pop_leaf(&ring));
	CHECK(trace_ring_pop_pages(&ring, 8, &nr) == pages && nr == 1);
	CHECK(!trace_ring_pop_pages(&ring, 8, &nr) && !nr);
	CHECK(trace_ring_pop_leaf(&ring) == leaf);

	free(pages);
	free(leaf);
	free(dir);
}

static void check_pop(u32 nr_pages, u32 swaps)
{
	struct fixture f;
	void *leaf;
	u32 i;

	tap_at("%u pages, %u swaps", nr_pages, swaps);
	fixture_init(&f, nr_pages);
	fixture_write_pages(&f, 0, 3 * nr_pages);
	for (i = 0; i < swaps; i++)
		CHECK(trace_ring_swap_reader(&f.ring) >= 0);

	leaf = f.dir[0];
	CHECK(!trace_ring_pop_leaf(&f.ring));
	for (i = nr_pages; i--;) {
		CHECK(trace_ring_pop_page(&f.ring) == f.pages[i]);
		free(f.pages[i]);
	}
	CHECK(!trace_ring_pop_page(&f.ring));
	CHECK(trace_ring_start(&f.ring) == -EINVAL);
	CHECK(trace_ring_pop_leaf(&f.ring) == leaf);
	CHECK(!trace_ring_pop_leaf(&f.ring));
	CHECK(!trace_ring_pop_page(&f.ring));

	/* Set up anew, for fixture_free() */
	free(leaf);
	free(f.pages);
	fixture_stop(&f);
	fixture_free(&f);
}

/* Whatever the swaps did to the order in the ring */
static void test_pop(void)
{
	u32 swaps;

	for (swaps = 0; swaps < 7; swaps++)
		check_pop(3 + swaps, swaps);
}

/* The largest ring is too much memory but for the smallest pages. */
static void check_ring(u32 nr_pages)
{
	struct fixture f;
	u32 nr = 2 * nr_pages + 3, left = nr_pages - 1;

	tap_at("%u pages", nr_pages);
	fixture_init(&f, nr_pages);
	fixture_write_pages(&f, 0, nr);
	expect_pages(&f, nr - left, left, nr - left);
	fixture_write_pages(&f, nr, left);
	expect_pages(&f, nr, left, 0);
	expect_nothing(&f);
	fixture_free(&f);
}

static void test_sizes(void)
{
	u32 entries = TRACE_RING_LEAF_ENTRIES;

	check_ring(RB_WRITER_MIN_PAGES);
	check_ring(min(entries, 200U));
	check_ring(min(entries + 1, 201U));
	check_ring(min(2 * entries + 2, 341U));
	check_ring(min(TRACE_RING_MAX_PAGES, 1344UL));
}

static const struct tap_test tests[] = {
	{ "numbers of pages out of range are refused", test_numbers },
	{ "the largest ring fills its directory and leaves", test_arithmetic },
	{ "a ring starts with all its pages and no more", test_start },
	{ "the meta page describes the ring", test_meta },
	{ "consecutive pages are added and removed together", test_runs },
	{ "pages need their leaf", test_leaves },
	{ "pages come back in reverse, then leaves", test_pop },
	{ "rings of all sizes, of one leaf and more", test_sizes },
};

int main(void)
{
	return tap_run(tests, ARRAY_SIZE(tests));
}
