// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: taking events by the page
 *
 * A page is judged as programs read it: by the format alone, with a reader of
 * its own.
 */
#include <linux/random.h>

#include "test.h"

#define RING_TEST_LOST_EVENTS	BIT(31)
#define RING_TEST_LOST_STORED	BIT(30)
#define RING_TEST_COMMIT	GENMASK(26, 0)

/* What was lost before the page: reported, or to be seen from its first event. */
static void ring_test_page_lost(struct kunit *test, struct ring_test *t,
				struct ring_buffer_writer_page *page)
{
	unsigned int bytes = page->commit & RING_TEST_COMMIT;
	bool room = sizeof(*page) + bytes + sizeof(unsigned long) <= PAGE_SIZE;
	unsigned long lost;

	KUNIT_EXPECT_EQ(test, !!(page->commit & RING_TEST_LOST_STORED),
			page->commit & RING_TEST_LOST_EVENTS && room);
	if (!(page->commit & RING_TEST_LOST_EVENTS))
		return;

	/* An event has its number in its first word, behind the header and a long one's length. */
	lost = *(u32 *)&page->data[*(u32 *)page->data & 31 ? 4 : 8] - t->seen;
	if (page->commit & RING_TEST_LOST_STORED)
		memcpy(&lost, &page->data[bytes], sizeof(lost));

	KUNIT_EXPECT_GT(test, lost, 0);
	t->seen += lost;
	t->lost += lost;
}

/* The event at @offset: checks its number and its time, returns its length. */
static unsigned int ring_test_page_event(struct kunit *test, struct ring_test *t,
					 struct ring_buffer_writer_page *page,
					 unsigned int offset, u64 *ts)
{
	u32 *word = (u32 *)&page->data[offset];
	u32 type = *word & 31, delta = *word >> 5;

	*ts += delta;
	if (type == RB_WRITER_TIME_EXTEND) {
		*ts += (u64)word[1] << RB_WRITER_TS_SHIFT;
		return 8;
	}

	KUNIT_ASSERT_LT(test, t->seen, t->max_events);
	KUNIT_EXPECT_EQ(test, (u32)t->seen, type ? word[1] : word[2]);
	KUNIT_EXPECT_EQ(test, t->events[t->seen].ts, *ts);
	t->events[t->seen++].taken = true;
	return type ? 4 + type * 4 : 4 + word[1];
}

/* Take a page, and judge it. Returns what ring_buffer_reader_read_page() did. */
static int ring_test_take(struct kunit *test, struct ring_test *t, size_t len, bool full)
{
	struct ring_buffer_writer_page *page = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned int offset = 0, bytes, used;
	int ret;
	u64 ts;

	cond_resched();
	KUNIT_ASSERT_NOT_NULL(test, page);
	memset(page, 0xa5, PAGE_SIZE);
	ret = ring_buffer_reader_read_page(t->buffer, RING_TEST_CPU, page, len, full);
	if (ret)
		goto out;

	bytes = page->commit & RING_TEST_COMMIT;
	used = bytes + (page->commit & RING_TEST_LOST_STORED ? sizeof(unsigned long) : 0);
	KUNIT_ASSERT_GT(test, bytes, 0);
	KUNIT_ASSERT_LE(test, sizeof(*page) + bytes, len);
	KUNIT_EXPECT_NULL(test, memchr_inv(&page->data[used], 0, PAGE_SIZE - sizeof(*page) - used));

	ring_test_page_lost(test, t, page);
	for (ts = page->time_stamp; offset < bytes;)
		offset += ring_test_page_event(test, t, page, offset, &ts);
	KUNIT_EXPECT_EQ(test, offset, bytes);
out:
	kunit_kfree(test, page);
	return ret;
}

static void ring_test_fill(struct kunit *test, struct ring_test *t, u32 *seed, unsigned int nr)
{
	while (nr--) {
		*seed = next_pseudo_random32(*seed);
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 4 + (*seed >> 8) % 40 * 4,
							*seed % 9 ? *seed % 1000 : 1ULL << 33));
	}
}

/* All there is, with laps: once each, in order, at its time, or reported lost */
void ring_test_page_all(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 5);
	unsigned int round;
	u32 seed = 1;

	ring_test_keep(test, t, 40 * PAGE_SIZE / 8);
	KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_take(test, t, PAGE_SIZE, false));
	for (round = 0; round < 30; round++) {
		ring_test_fill(test, t, &seed, round % 10 * PAGE_SIZE / 64);
		while (!ring_test_take(test, t, PAGE_SIZE, false))
			;
		ring_test_balance(test, t);
	}
	KUNIT_EXPECT_GT(test, t->lost, 0);
}

/* With little room: what fits, wholly, and the rest later */
void ring_test_page_short(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	size_t len, least;
	u32 seed = 2;

	ring_test_keep(test, t, 4 * PAGE_SIZE);
	for (len = 0; len < PAGE_SIZE; len += 4) {
		least = t->written;
		ring_test_fill(test, t, &seed, 2);
		while (!ring_test_take(test, t, len, false))
			;
		/* 16 for the page, 8 for an extend, 4 for the header, 160 at most for the event */
		if (len >= 188)
			KUNIT_EXPECT_EQ(test, t->written, t->seen);
		else if (len < 24)
			KUNIT_EXPECT_LE(test, t->seen, least);
		while (!ring_test_take(test, t, PAGE_SIZE, false))
			;
	}
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 160, 1));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, ring_test_take(test, t, 160, false));
	KUNIT_EXPECT_EQ(test, 0, ring_test_take(test, t, PAGE_SIZE, false));
	ring_test_balance(test, t);
}

/* Who wants whole pages does not get the one that is being written. */
void ring_test_page_full(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 6);
	unsigned int i;

	ring_test_keep(test, t, 100);
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_take(test, t, PAGE_SIZE, true));

	/* Nor the rest of the page being written, once the reader has that page */
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_take(test, t, PAGE_SIZE, true));

	ring_test_write_pages(test, t, 3);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, 0, ring_test_take(test, t, PAGE_SIZE, true));
	KUNIT_EXPECT_EQ(test, 4, t->seen);
	KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_take(test, t, PAGE_SIZE, true));

	/* What was read of it in part is whole when the writer has left it. */
	KUNIT_EXPECT_EQ(test, 0, ring_test_take(test, t, PAGE_SIZE, false));
	KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_take(test, t, PAGE_SIZE, false));
	ring_test_balance(test, t);
}

/* No room for the count: that some were lost is reported all the same. */
void ring_test_page_brim(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);

	ring_test_keep(test, t, 100);
	ring_test_write_pages(test, t, 10);
	while (!ring_test_take(test, t, PAGE_SIZE, false))
		;
	KUNIT_EXPECT_GT(test, t->lost, 0);
	ring_test_balance(test, t);
}

/* Beside a reader that reads event by event, and a task that clears */
void ring_test_page_mixed(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 5);
	unsigned int round, i;
	u32 seed = 3;

	ring_test_keep(test, t, 40 * PAGE_SIZE / 8);
	for (round = 0; round < 60; round++) {
		ring_test_fill(test, t, &seed, seed % (PAGE_SIZE / 16));
		for (i = seed % 50; i--;)
			ring_test_read(test, t, NULL);
		ring_test_take(test, t, PAGE_SIZE - seed % PAGE_SIZE / 2, seed & 1);
		ring_test_check_stats(test, t);
		if (!(round % 20)) {
			ring_test_clear(test, t);
			KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_take(test, t, PAGE_SIZE, false));
		}
	}
	while (!ring_test_take(test, t, PAGE_SIZE, false))
		;
	ring_test_balance(test, t);
}

static void ring_test_corrupt(struct ring_test *t, bool commit)
{
	unsigned int i;

	for (i = 0; i < t->desc.nr_pages; i++) {
		struct ring_buffer_writer_page *page = t->desc.pages[i];

		get_random_bytes(page->data, PAGE_SIZE - sizeof(*page));
		if (commit)
			page->commit = get_random_long();
	}
}

/* Take what there is, of so many pages. Returns how many were full of sound events. */
static unsigned int ring_test_take_any(struct kunit *test, struct ring_test *t, void *data)
{
	struct ring_buffer_writer_page *page = data;
	unsigned int i, bytes, full = 0;
	int ret;

	for (i = 0; i < 2 * t->desc.nr_pages; i++) {
		ret = ring_buffer_reader_read_page(t->buffer, RING_TEST_CPU, page, PAGE_SIZE,
						   false);
		if (ret) {
			KUNIT_EXPECT_EQ(test, -EAGAIN, ret);
			continue;
		}
		bytes = page->commit & RING_TEST_COMMIT;
		KUNIT_ASSERT_LE(test, bytes, PAGE_SIZE - sizeof(*page));
		full += bytes >= RING_TEST_MAX_SIZE;
	}

	return full;
}

/* Whatever is on the pages, what is taken fits, and sound pages are found behind it. */
void ring_test_page_corrupt(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 5);
	void *page = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned int round;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (round = 0; round < RING_TEST_ROUNDS(200); round++) {
		cond_resched();
		ring_test_write_pages(test, t, 3);
		ring_test_corrupt(t, round & 1);
		ring_test_take_any(test, t, page);
	}

	ring_test_write_pages(test, t, 10);
	KUNIT_EXPECT_GE(test, ring_test_take_any(test, t, page), 3);
	ring_test_clear(test, t);
	ring_test_keep(test, t, 10);
	ring_test_write_pages(test, t, 2);
	KUNIT_EXPECT_EQ(test, 0, ring_test_take(test, t, PAGE_SIZE, false));
	KUNIT_EXPECT_EQ(test, 0, ring_test_take(test, t, PAGE_SIZE, false));
	ring_test_balance(test, t);
}

/* An event that says it is longer than what is committed is none; the next one is. */
void ring_test_page_cut(struct kunit *test)
{
	static const struct {
		unsigned int	size;
		unsigned int	word;	/* of the event, which has its length */
		unsigned int	more;
	} cases[] = {
		{ .size = 12, .word = 0, .more = 1 },
		{ .size = 200, .word = 1, .more = 4 },
		{ .size = 200, .word = 1, .more = 2000 },
	};
	struct ring_buffer_writer_page *page = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ring_test *t = ring_test_make(test, 4);
		struct ring_buffer_writer_page *first = t->desc.pages[0];

		KUNIT_ASSERT_TRUE(test, ring_test_write(t, cases[i].size, 1));
		((u32 *)first->data)[cases[i].word] += cases[i].more;
		KUNIT_EXPECT_EQ(test, -EAGAIN,
				ring_buffer_reader_read_page(t->buffer, RING_TEST_CPU, page,
							     PAGE_SIZE, false));
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
		KUNIT_EXPECT_EQ(test, 0,
				ring_buffer_reader_read_page(t->buffer, RING_TEST_CPU, page,
							     PAGE_SIZE, false));
		KUNIT_EXPECT_EQ(test, 16, page->commit);
		KUNIT_EXPECT_EQ(test, 1, *(u32 *)&page->data[4]);
	}
}
