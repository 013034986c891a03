// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: consuming events by the page
 *
 * The tests parse a page as programs do, by its format alone.
 */
#include <linux/random.h>

#include "test.h"

#define RING_TEST_LOST_EVENTS	BIT(31)
#define RING_TEST_LOST_STORED	BIT(30)
#define RING_TEST_COMMIT	GENMASK(26, 0)

/* The number of events lost before the page: reported, or derived from its first event */
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

	/* The first word after the header, or after a long event's length, is the number. */
	lost = *(u32 *)&page->data[*(u32 *)page->data & 31 ? 4 : 8] - t->seen;
	if (page->commit & RING_TEST_LOST_STORED)
		memcpy(&lost, &page->data[bytes], sizeof(lost));

	KUNIT_EXPECT_GT(test, lost, 0);
	t->seen += lost;
	t->lost += lost;
}

/* Check number and time of the event at @offset. Returns its length. */
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
	t->events[t->seen++].consumed = true;
	return type ? 4 + type * 4 : 4 + word[1];
}

/* Consume a page and check it. Returns the result of ring_buffer_reader_read_page(). */
static int ring_test_consume_page(struct kunit *test, struct ring_test *t, size_t len, bool full)
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

/* Each event is read once, in order, with its time, or is reported lost. */
void ring_test_page_all(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 5);
	unsigned int round;
	u32 seed = 1;

	ring_test_keep(test, t, 40 * PAGE_SIZE / 8);
	KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_consume_page(test, t, PAGE_SIZE, false));
	for (round = 0; round < 30; round++) {
		ring_test_fill(test, t, &seed, round % 10 * PAGE_SIZE / 64);
		while (!ring_test_consume_page(test, t, PAGE_SIZE, false))
			;
		ring_test_balance(test, t);
	}
	KUNIT_EXPECT_GT(test, t->lost, 0);
}

/* A small buffer gets the whole events that fit, and later reads get the rest. */
void ring_test_page_short(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);
	size_t len, least;
	u32 seed = 2;

	ring_test_keep(test, t, 4 * PAGE_SIZE);
	for (len = 0; len < PAGE_SIZE; len += 4) {
		least = t->written;
		ring_test_fill(test, t, &seed, 2);
		while (!ring_test_consume_page(test, t, len, false))
			;
		/* 16 for the page, 8 for an extend, 4 for the header, 160 at most for the event */
		if (len >= 188)
			KUNIT_EXPECT_EQ(test, t->written, t->seen);
		else if (len < 24)
			KUNIT_EXPECT_LE(test, t->seen, least);
		while (!ring_test_consume_page(test, t, PAGE_SIZE, false))
			;
	}
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 160, 1));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, ring_test_consume_page(test, t, 160, false));
	KUNIT_EXPECT_EQ(test, 0, ring_test_consume_page(test, t, PAGE_SIZE, false));
	ring_test_balance(test, t);
}

/* A reader of whole pages does not get the page that is being written. */
void ring_test_page_full(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 6);
	unsigned int i;

	ring_test_keep(test, t, 100);
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_consume_page(test, t, PAGE_SIZE, true));

	/* It does not get the rest of that page either, once the reader has the page. */
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	KUNIT_EXPECT_TRUE(test, ring_test_read(test, t, NULL));
	KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_consume_page(test, t, PAGE_SIZE, true));

	ring_test_write_pages(test, t, 3);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, 0, ring_test_consume_page(test, t, PAGE_SIZE, true));
	KUNIT_EXPECT_EQ(test, 4, t->seen);
	KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_consume_page(test, t, PAGE_SIZE, true));

	/* A page that was read in part is complete when the writer has left it. */
	KUNIT_EXPECT_EQ(test, 0, ring_test_consume_page(test, t, PAGE_SIZE, false));
	KUNIT_EXPECT_EQ(test, -EAGAIN, ring_test_consume_page(test, t, PAGE_SIZE, false));
	ring_test_balance(test, t);
}

/* Without room for the count, a flag still reports that events were lost. */
void ring_test_page_brim(struct kunit *test)
{
	struct ring_test *t = ring_test_make(test, 4);

	ring_test_keep(test, t, 100);
	ring_test_write_pages(test, t, 10);
	while (!ring_test_consume_page(test, t, PAGE_SIZE, false))
		;
	KUNIT_EXPECT_GT(test, t->lost, 0);
	ring_test_balance(test, t);
}

/* Reads by the page, reads of single events and resets, mixed */
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
		ring_test_consume_page(test, t, PAGE_SIZE - seed % PAGE_SIZE / 2, seed & 1);
		ring_test_check_stats(test, t);
		if (!(round % 20)) {
			ring_test_clear(test, t);
			KUNIT_EXPECT_EQ(test, -EAGAIN,
					ring_test_consume_page(test, t, PAGE_SIZE, false));
		}
	}
	while (!ring_test_consume_page(test, t, PAGE_SIZE, false))
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

/* Consume up to @nr pages. Returns the number of pages full of valid events. */
static unsigned int ring_test_consume_corrupt(struct kunit *test, struct ring_test *t, void *data)
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

/* Events of corrupted pages fit into a page, and the valid pages behind them are found. */
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
		ring_test_consume_corrupt(test, t, page);
	}

	ring_test_write_pages(test, t, 10);
	KUNIT_EXPECT_GE(test, ring_test_consume_corrupt(test, t, page), 3);
	ring_test_clear(test, t);
	ring_test_keep(test, t, 10);
	ring_test_write_pages(test, t, 2);
	KUNIT_EXPECT_EQ(test, 0, ring_test_consume_page(test, t, PAGE_SIZE, false));
	KUNIT_EXPECT_EQ(test, 0, ring_test_consume_page(test, t, PAGE_SIZE, false));
	ring_test_balance(test, t);
}

/* An event that is longer than the committed data is skipped. */
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
