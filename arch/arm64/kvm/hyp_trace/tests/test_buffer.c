// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the pages that are donated to EL2, each behind a page that no function reads past
 *
 * The source is included, since what is tested is static there, and so its functions have
 * other names here. Nothing is donated.
 */
#include <kunit/test.h>

#define hyp_trace_load_ring	buffer_test_load_ring
#define hyp_trace_unload_ring	buffer_test_unload_ring
#include "../ring.c"

#define BUFFER_TEST_MAX		(3 * HYP_TRACE_MAX_BLOCK)

static void buffer_test_free(void *data)
{
	hyp_trace_free_private(data);
}

static struct hyp_trace_ring *buffer_test_ring(struct kunit *test, unsigned int nr)
{
	struct hyp_trace_ring *ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ring);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, buffer_test_free, ring));
	ring->nr_private = nr;
	return ring;
}

static bool buffer_test_is_private(struct hyp_trace_ring *ring, void *page)
{
	unsigned int i;

	for (i = 0; i < ring->nr_private; i++) {
		if (ring->dir[i] == page)
			return true;
	}

	return false;
}

/* Returns how many blocks there are. */
static unsigned int buffer_test_blocks(struct kunit *test, struct hyp_trace_ring *ring)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ring->nr_private; i++) {
		void *before = ring->dir[i] - PAGE_SIZE;

		nr += !!ring->guards[i];
		if (!ring->guards[i]) {
			KUNIT_ASSERT_GT(test, i, 0);
			KUNIT_ASSERT_PTR_EQ(test, ring->dir[i - 1], before);
			continue;
		}

		KUNIT_ASSERT_PTR_EQ(test, ring->guards[i], before);
		KUNIT_ASSERT_FALSE(test, buffer_test_is_private(ring, before));
		/* Ours, to be freed: by itself, as all of them are */
		KUNIT_ASSERT_EQ(test, 1, page_count(virt_to_page(before)));
	}

	return nr;
}

/* As a ring has them, from the smallest on; and more than there is a block for. */
static void buffer_test_guards(struct kunit *test)
{
	static const unsigned int nrs[] = { 2, 3, 4, 5, 8, 63, 64, HYP_TRACE_MAX_BLOCK };
	struct hyp_trace_ring *ring;
	int i;

	for (i = 0; i < ARRAY_SIZE(nrs); i++) {
		if (nrs[i] > si_mem_available() / 4)
			continue;
		ring = buffer_test_ring(test, nrs[i]);
		KUNIT_ASSERT_EQ(test, 0, hyp_trace_alloc_private(ring, 0));
		/* In a machine that has just come up, the small ones are in one block */
		if (nrs[i] <= 8)
			KUNIT_EXPECT_EQ(test, 1, buffer_test_blocks(test, ring));
		else
			KUNIT_EXPECT_GE(test, buffer_test_blocks(test, ring), 1);
	}

	if (si_mem_available() / 4 < BUFFER_TEST_MAX)
		return;
	ring = buffer_test_ring(test, BUFFER_TEST_MAX);
	KUNIT_ASSERT_EQ(test, 0, hyp_trace_alloc_private(ring, 0));
	KUNIT_EXPECT_GE(test, buffer_test_blocks(test, ring), 3);
}

/* As when memory is in pieces: blocks of any size, down to one page. */
static void buffer_test_pieces(struct kunit *test)
{
	struct hyp_trace_ring *ring = buffer_test_ring(test, 1 + 2 + 3 + 4 + 5 + 6 + 7);
	unsigned int i, nr;

	ring->dir = kvcalloc(ring->nr_private, sizeof(*ring->dir), GFP_KERNEL);
	ring->guards = kvcalloc(ring->nr_private, sizeof(*ring->guards), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring->dir);
	KUNIT_ASSERT_NOT_NULL(test, ring->guards);

	for (i = 0, nr = 1; i < ring->nr_private; i += nr++)
		KUNIT_ASSERT_EQ(test, nr, hyp_trace_alloc_private_block(ring, i, nr, 0));
	KUNIT_EXPECT_EQ(test, 7, buffer_test_blocks(test, ring));
}

/* Pages at consecutive addresses, each of which is freed by itself */
static void buffer_test_run(struct kunit *test, unsigned int nr)
{
	void *pages[3 * HYP_TRACE_HCALL_PAGES] = {};
	unsigned int n = hyp_trace_alloc_run(pages, nr, 0), i;

	KUNIT_ASSERT_TRUE(test, is_power_of_2(n));
	KUNIT_ASSERT_LE(test, n, min_t(unsigned int, nr, HYP_TRACE_HCALL_PAGES));
	KUNIT_EXPECT_EQ(test, n, hyp_trace_run_length(pages, n));
	KUNIT_EXPECT_NULL(test, pages[n]);
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, 1, page_count(virt_to_page(pages[i])));
		KUNIT_EXPECT_NULL(test, memchr_inv(pages[i], 0, PAGE_SIZE));
		hyp_trace_free_page(pages[i]);
	}
}

static void buffer_test_runs(struct kunit *test)
{
	unsigned int nr;

	for (nr = 1; nr <= 2 * HYP_TRACE_HCALL_PAGES; nr++)
		buffer_test_run(test, nr);
}

/* As many as a hypercall adds, and no page that does not follow the one before */
static void buffer_test_run_length(struct kunit *test)
{
	void *pages[2 * HYP_TRACE_HCALL_PAGES];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pages); i++)
		pages[i] = (void *)((100 + i) * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, HYP_TRACE_HCALL_PAGES,
			hyp_trace_run_length(pages, ARRAY_SIZE(pages)));
	for (i = 1; i < HYP_TRACE_HCALL_PAGES; i++)
		KUNIT_EXPECT_EQ(test, i, hyp_trace_run_length(pages, i));

	pages[3] += PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, 3, hyp_trace_run_length(pages, ARRAY_SIZE(pages)));
	swap(pages[0], pages[1]);
	KUNIT_EXPECT_EQ(test, 1, hyp_trace_run_length(pages, ARRAY_SIZE(pages)));
}

static struct kunit_case buffer_test_cases[] = {
	KUNIT_CASE(buffer_test_runs),
	KUNIT_CASE(buffer_test_run_length),
	KUNIT_CASE(buffer_test_guards),
	KUNIT_CASE(buffer_test_pieces),
	{ }
};

static struct kunit_suite buffer_test_suite = {
	.name		= "hyp_trace_buffer",
	.test_cases	= buffer_test_cases,
};

kunit_test_suite(buffer_test_suite);
