// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of reading the ring buffer of a remote while that writes
 *
 * The remote has a simple ring buffer for each CPU, and the test writes to that of one. It stops
 * the remote in the middle of a commit by taking back the last step, the count, and in others by
 * the state in which they leave the ring. It also writes while a page is read, and sets its clock
 * back.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/ring_buffer.h>
#include <linux/simple_ring_buffer.h>
#include <linux/slab.h>
#include <linux/trace_events.h>
#include <linux/trace_remote.h>

#define NR_PAGES	3
/* What an event takes: its header, its length, and a number */
#define EVENT_SIZE	(3 * sizeof(u32))
#define PAGE_EVENTS	((PAGE_SIZE - BUF_PAGE_HDR_SIZE) / EVENT_SIZE)
/* What the link to a page says of it, as simple_ring_buffer.c has it: the head, or soon no more */
#define LINK_HEAD	1UL
#define LINK_MOVING	2UL

struct writer {
	struct simple_rb_per_cpu ring;
	struct simple_buffer_page pages[NR_PAGES];
};

struct remote_test {
	struct trace_buffer_desc *desc;
	struct writer *writers;
	struct simple_rb_per_cpu *ring;		/* that to which the test writes */
	struct ring_buffer_remote remote;
	struct trace_buffer *buffer;
	struct buffer_data_read_page *page;
	int cpu;
	int swaps;
	bool refuses;				/* to swap */
	u32 written;
};

static int swap_page(unsigned int cpu, void *priv)
{
	struct remote_test *remote = priv;

	if (remote->refuses)
		return -EBUSY;
	remote->swaps++;
	return simple_ring_buffer_swap_reader_page(&remote->writers[cpu].ring);
}

/* The next number at a time, not committed */
static void reserve_at(struct kunit *test, u64 time)
{
	struct remote_test *remote = test->priv;
	u32 *number;

	number = simple_ring_buffer_reserve(remote->ring, sizeof(*number), time);
	KUNIT_ASSERT_NOT_NULL(test, number);
	*number = remote->written++;
}

/* The next number, not committed */
static void reserve_event(struct kunit *test)
{
	struct remote_test *remote = test->priv;

	reserve_at(test, remote->written + 1);
}

/* The next number, committed and counted */
static void write_event(struct kunit *test)
{
	struct remote_test *remote = test->priv;

	reserve_event(test);
	simple_ring_buffer_commit(remote->ring);
}

/* So many numbers at a time, committed and counted */
static void write_at(struct kunit *test, unsigned int nr, u64 time)
{
	struct remote_test *remote = test->priv;

	while (nr--) {
		reserve_at(test, time);
		simple_ring_buffer_commit(remote->ring);
	}
}

/* The same as write_event(), as others see it before it is counted */
static void write_uncounted(struct kunit *test)
{
	struct remote_test *remote = test->priv;

	write_event(test);
	remote->ring->meta->entries--;
}

static void count_event(struct kunit *test)
{
	struct remote_test *remote = test->priv;

	remote->ring->meta->entries++;
}

/* Read what is on the reader page: so many numbers from the first one on, and nothing else. */
static void read_events(struct kunit *test, u32 first, unsigned int nr)
{
	struct remote_test *remote = test->priv;
	struct buffer_data_page *data = ring_buffer_read_page_data(remote->page);
	int ret = ring_buffer_read_page(remote->buffer, remote->page, PAGE_SIZE, remote->cpu, 0);
	unsigned int i;
	u32 *event;

	if (!nr) {
		KUNIT_EXPECT_LT(test, ret, 0);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_EQ(test, local_read(&data->commit), nr * EVENT_SIZE);
	for (i = 0; i < nr; i++) {
		event = (u32 *)(data->data + i * EVENT_SIZE);
		KUNIT_EXPECT_EQ(test, event[2], first + i);
	}
}

/* Consume a number, which is the next one; its time */
static u64 consume_event(struct kunit *test, u32 number)
{
	struct remote_test *remote = test->priv;
	struct ring_buffer_event *event;
	u64 time = 0;

	event = ring_buffer_consume(remote->buffer, remote->cpu, &time, NULL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, *(u32 *)ring_buffer_event_data(event), number);
	return time;
}

/* Read so many numbers from the first one on as `trace` does, not before a time. */
static u64 iterate_events(struct kunit *test, struct ring_buffer_iter *iter, u32 first,
			  unsigned int nr, u64 from)
{
	struct ring_buffer_event *event;
	u64 time;

	while (nr--) {
		event = ring_buffer_iter_peek(iter, &time);
		KUNIT_ASSERT_NOT_NULL(test, event);
		KUNIT_ASSERT_EQ(test, *(u32 *)ring_buffer_event_data(event), first++);
		KUNIT_EXPECT_GE(test, time, from);
		from = time;
		ring_buffer_iter_advance(iter);
	}
	return from;
}

/* Nothing is counted: the page of the only event is not taken from the remote. */
static void remote_test_first(struct kunit *test)
{
	struct remote_test *remote = test->priv;

	write_uncounted(test);
	read_events(test, 0, 0);
	KUNIT_EXPECT_EQ(test, remote->swaps, 0);
	count_event(test);
	read_events(test, 0, 1);
	KUNIT_EXPECT_EQ(test, remote->swaps, 1);
}

/* What is committed is read once, be it counted or not, and its page stays that of the reader. */
static void remote_test_uncounted(struct kunit *test)
{
	struct remote_test *remote = test->priv;

	write_event(test);
	write_uncounted(test);
	read_events(test, 0, 2);
	read_events(test, 2, 0);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty_cpu(remote->buffer, remote->cpu));
	count_event(test);
	read_events(test, 2, 0);
	KUNIT_EXPECT_EQ(test, remote->swaps, 1);
	write_event(test);
	read_events(test, 2, 1);
	KUNIT_EXPECT_EQ(test, remote->swaps, 1);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(remote->buffer), 0);
}

/* The remote goes on to the next page: that is read once an event there is counted. */
static void remote_test_next_page(struct kunit *test)
{
	struct remote_test *remote = test->priv;
	unsigned int i;

	for (i = 0; i < PAGE_EVENTS; i++)
		write_event(test);
	read_events(test, 0, PAGE_EVENTS);
	write_uncounted(test);
	read_events(test, PAGE_EVENTS, 0);
	KUNIT_EXPECT_EQ(test, remote->swaps, 1);
	count_event(test);
	read_events(test, PAGE_EVENTS, 1);
	KUNIT_EXPECT_EQ(test, remote->swaps, 2);
}

/* A writer that does not go on holds nothing up, and loses nothing. */
static void remote_test_stopped(struct kunit *test)
{
	struct remote_test *remote = test->priv;

	write_event(test);
	reserve_event(test);
	KUNIT_EXPECT_EQ(test, simple_ring_buffer_enable_tracing(remote->ring, false), -EBUSY);
	KUNIT_EXPECT_EQ(test, simple_ring_buffer_reset(remote->ring), -EBUSY);
	KUNIT_EXPECT_EQ(test, simple_ring_buffer_unload(remote->ring), -EBUSY);
	KUNIT_EXPECT_EQ(test, remote->ring->status, SIMPLE_RB_WRITING);
	simple_ring_buffer_commit(remote->ring);
	write_event(test);
	read_events(test, 0, 3);
	KUNIT_EXPECT_EQ(test, simple_ring_buffer_enable_tracing(remote->ring, false), 0);
	KUNIT_EXPECT_EQ(test, remote->ring->status, SIMPLE_RB_UNAVAILABLE);
}

/* Look for the head while the link to it has other flags, and write then. */
static void search_head(struct kunit *test, unsigned long flags)
{
	struct remote_test *remote = test->priv;
	unsigned long *link = (unsigned long *)&remote->ring->head_page->link.prev->next;
	unsigned long head = *link;

	write_event(test);
	*link = (head & ~LINK_HEAD) | flags;
	KUNIT_EXPECT_EQ(test, simple_ring_buffer_swap_reader_page(remote->ring), -EBUSY);
	KUNIT_EXPECT_EQ(test, simple_ring_buffer_reset(remote->ring), -EBUSY);
	write_event(test);
	*link = head;
	read_events(test, 0, 2);
}

/* The writer does not go on while it moves the head. */
static void remote_test_moving(struct kunit *test)
{
	search_head(test, LINK_MOVING);
}

/* There is no head. */
static void remote_test_headless(struct kunit *test)
{
	search_head(test, 0);
}

/* A swap that is refused leaves what there is to the next read. */
static void remote_test_refused(struct kunit *test)
{
	struct remote_test *remote = test->priv;

	write_event(test);
	remote->refuses = true;
	read_events(test, 0, 0);
	KUNIT_EXPECT_NULL(test, ring_buffer_consume(remote->buffer, remote->cpu, NULL, NULL));
	KUNIT_EXPECT_FALSE(test, ring_buffer_empty_cpu(remote->buffer, remote->cpu));
	remote->refuses = false;
	read_events(test, 0, 1);
}

/* A clock that is set back leaves the events at the time that it had. */
static void remote_test_clock(struct kunit *test)
{
	write_at(test, 1, 100);
	write_at(test, 1, 50);
	write_at(test, 1, 101);
	KUNIT_EXPECT_EQ(test, consume_event(test, 0), 100);
	KUNIT_EXPECT_EQ(test, consume_event(test, 1), 100);
	KUNIT_EXPECT_EQ(test, consume_event(test, 2), 101);
}

/* Each page begins later than the one before, so that the head is found. */
static void remote_test_clock_pages(struct kunit *test)
{
	struct remote_test *remote = test->priv;
	struct ring_buffer_iter *iter;

	write_at(test, PAGE_EVENTS, 100);
	write_at(test, PAGE_EVENTS, 50);
	write_at(test, 1, 40);
	iter = ring_buffer_read_start(remote->buffer, remote->cpu, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter);
	KUNIT_EXPECT_LT(test, iterate_events(test, iter, PAGE_EVENTS, PAGE_EVENTS + 1, 100), 110);
	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	ring_buffer_read_finish(iter);
}

/* What follows the reader page is overwritten while that is read: go on with the oldest event. */
static void remote_test_lapped(struct kunit *test)
{
	struct remote_test *remote = test->priv;
	struct ring_buffer_iter *iter;

	write_at(test, PAGE_EVENTS, 1);
	consume_event(test, 0);
	write_at(test, PAGE_EVENTS, 2);
	write_at(test, PAGE_EVENTS, 3);
	iter = ring_buffer_read_start(remote->buffer, remote->cpu, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter);
	iterate_events(test, iter, 1, 1, 1);
	write_at(test, 1, 4);
	iterate_events(test, iter, 2, PAGE_EVENTS - 2, 1);
	KUNIT_EXPECT_NOT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	KUNIT_EXPECT_EQ(test, ring_buffer_iter_lost_events(iter), PAGE_EVENTS);
	iterate_events(test, iter, 2 * PAGE_EVENTS, PAGE_EVENTS + 1, 3);
	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, NULL));
	ring_buffer_read_finish(iter);
}

static struct trace_event_fields event_fields[] = {
	{ .type = "u64", .name = "number", .size = sizeof(u64), .align = __alignof__(u64) },
	{}
};

static struct remote_event event = {
	.name		= "number",
	.id		= 1,
	.fields		= event_fields,
	.print_fmt	= "\"%llu\", REC->number",
};

static int init_fails(struct dentry *dir, void *priv)
{
	return -ENXIO;
}

/* A registration that fails leaves nothing that is in the way of the next one. */
static void remote_test_unregistered(struct kunit *test)
{
	static struct trace_remote_callbacks callbacks = { .init = init_fails };

	KUNIT_EXPECT_EQ(test, trace_remote_register("kunit", &callbacks, NULL, &event, 1), -ENXIO);
	KUNIT_EXPECT_NULL(test, event.remote);
	KUNIT_EXPECT_EQ(test, trace_remote_register("kunit", &callbacks, NULL, &event, 1), -ENXIO);
}

static int register_again(struct dentry *dir, void *priv)
{
	static struct trace_remote_callbacks callbacks;
	struct kunit *test = priv;
	u16 id = event.id;

	KUNIT_EXPECT_EQ(test, trace_remote_register("again", &callbacks, NULL, &event, 1), -EEXIST);
	KUNIT_EXPECT_EQ(test, event.id, id);
	KUNIT_EXPECT_NOT_NULL(test, event.remote);
	return -ENXIO;
}

/* Events that a remote has can't be registered again, and keep the ids that it writes. */
static void remote_test_registered_twice(struct kunit *test)
{
	static struct trace_remote_callbacks callbacks = { .init = register_again };

	KUNIT_EXPECT_EQ(test, trace_remote_register("kunit", &callbacks, test, &event, 1), -ENXIO);
}

static int alloc_pages_of(struct remote_test *remote)
{
	size_t size = (NR_PAGES - 1) * (PAGE_SIZE - BUF_PAGE_HDR_SIZE);
	size_t desc_size = trace_buffer_desc_size(size, num_possible_cpus());
	int ret;

	remote->desc = kzalloc(desc_size, GFP_KERNEL);
	if (!remote->desc)
		return -ENOMEM;
	ret = trace_remote_alloc_buffer(remote->desc, desc_size, size, cpu_possible_mask);
	if (!ret)
		return 0;
	kfree(remote->desc);
	remote->desc = NULL;
	return ret;
}

static int init_rings(struct remote_test *remote)
{
	struct ring_buffer_desc *desc;
	struct writer *writer;
	int i, ret;

	for_each_ring_buffer_desc(desc, i, remote->desc) {
		writer = &remote->writers[desc->cpu];
		ret = simple_ring_buffer_init(&writer->ring, writer->pages, desc);
		if (ret)
			return ret;
	}
	return 0;
}

static void unload_rings(struct remote_test *remote)
{
	struct ring_buffer_desc *desc;
	int i;

	for_each_ring_buffer_desc(desc, i, remote->desc)
		simple_ring_buffer_unload(&remote->writers[desc->cpu].ring);
}

/* What was made until then is freed by remote_test_exit(), also if this fails. */
static int remote_test_init(struct kunit *test)
{
	struct remote_test *remote = kunit_kzalloc(test, sizeof(*remote), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, remote);
	test->priv = remote;
	remote->writers = kunit_kcalloc(test, nr_cpu_ids, sizeof(*remote->writers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, remote->writers);
	KUNIT_ASSERT_EQ(test, alloc_pages_of(remote), 0);
	KUNIT_ASSERT_EQ(test, init_rings(remote), 0);
	remote->cpu = cpumask_first(cpu_online_mask);
	remote->ring = &remote->writers[remote->cpu].ring;
	remote->remote = (struct ring_buffer_remote) {
		.desc			= remote->desc,
		.swap_reader_page	= swap_page,
		.priv			= remote,
	};
	remote->buffer = ring_buffer_alloc_remote(&remote->remote);
	KUNIT_ASSERT_NOT_NULL(test, remote->buffer);
	KUNIT_ASSERT_EQ(test, ring_buffer_alloc_read_page(remote->buffer, remote->cpu,
							  &remote->page), 0);
	return simple_ring_buffer_enable_tracing(remote->ring, true);
}

static void remote_test_exit(struct kunit *test)
{
	struct remote_test *remote = test->priv;

	if (!remote || !remote->desc)
		return;
	if (remote->page)
		ring_buffer_free_read_page(remote->buffer, remote->cpu, remote->page);
	if (remote->buffer)
		ring_buffer_free(remote->buffer);
	unload_rings(remote);
	trace_remote_free_buffer(remote->desc);
	kfree(remote->desc);
}

static struct kunit_case remote_test_cases[] = {
	KUNIT_CASE(remote_test_first),
	KUNIT_CASE(remote_test_uncounted),
	KUNIT_CASE(remote_test_next_page),
	KUNIT_CASE(remote_test_stopped),
	KUNIT_CASE(remote_test_moving),
	KUNIT_CASE(remote_test_headless),
	KUNIT_CASE(remote_test_refused),
	KUNIT_CASE(remote_test_clock),
	KUNIT_CASE(remote_test_clock_pages),
	KUNIT_CASE(remote_test_lapped),
	KUNIT_CASE(remote_test_unregistered),
	KUNIT_CASE(remote_test_registered_twice),
	{}
};

static struct kunit_suite remote_test_suite = {
	.name = "ring_buffer_remote",
	.init = remote_test_init,
	.exit = remote_test_exit,
	.test_cases = remote_test_cases,
};

kunit_test_suite(remote_test_suite);

MODULE_DESCRIPTION("KUnit tests of reading the ring buffer of a remote");
MODULE_LICENSE("GPL");
