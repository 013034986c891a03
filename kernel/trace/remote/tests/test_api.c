// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: each function of ring_buffer.h, with a buffer that a remote writer fills
 *
 * It works, or it fails and changes nothing: the events are still there afterwards. A
 * case is named after its function. The ring is RING_TEST_CPU's; no other CPU has one. The
 * functions that return counters and times are in test_api_state.c.
 */
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/trace_seq.h>

#include "test.h"

/* A ring with API_TEST_EVENTS events */
struct ring_test *api_test_make(struct kunit *test)
{
	struct ring_test *t;
	unsigned int i;

	/* In a kernel for one CPU, there is another one in no mask. */
	if (IS_ENABLED(CONFIG_SMP) && nr_cpu_ids <= API_TEST_NO_RING)
		kunit_skip(test, "needs a CPU without a ring");

	t = ring_test_make(test, API_TEST_PAGES);
	for (i = 0; i < API_TEST_EVENTS; i++)
		KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	ring_buffer_poll_writer(t->buffer, RING_TEST_CPU);
	return t;
}

/* The call changed nothing. */
void api_test_intact(struct kunit *test, struct ring_test *t)
{
	KUNIT_EXPECT_FALSE(test, ring_buffer_record_is_on(t->buffer));
	KUNIT_EXPECT_EQ(test, 0, preempt_count());
	ring_test_read_all(test, t);
	KUNIT_EXPECT_EQ(test, API_TEST_EVENTS, t->seen);
}

/* Call it on each CPU, with a ring and without. */
static void api_test_on_each_cpu(struct kunit *test, struct ring_test *t,
				 void (*call)(struct kunit *test, struct ring_test *t))
{
	int cpu;

	for_each_online_cpu(cpu) {
		KUNIT_ASSERT_EQ(test, 0, set_cpus_allowed_ptr(current, cpumask_of(cpu)));
		call(test, t);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static void api_test_call_event_time_stamp(struct kunit *test, struct ring_test *t)
{
	u32 words[2] = { RINGBUF_TYPE_TIME_STAMP };

	guard(preempt)();
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_event_time_stamp(t->buffer, (void *)words));
	words[0] = 1;
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_event_time_stamp(t->buffer, (void *)words));
}

static void api_test_event_time_stamp(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	api_test_on_each_cpu(test, t, api_test_call_event_time_stamp);
	api_test_intact(test, t);
}

/* No event was reserved: there is none to discard or to commit. */
static void api_test_call_discard_commit(struct kunit *test, struct ring_test *t)
{
	u32 words[2] = { 1, 2 };

	guard(preempt)();
	ring_buffer_discard_commit(t->buffer, (void *)words);
	KUNIT_EXPECT_EQ(test, 1, words[0]);
}

static void api_test_discard_commit(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	api_test_on_each_cpu(test, t, api_test_call_discard_commit);
	api_test_intact(test, t);
}

static void api_test_call_unlock_commit(struct kunit *test, struct ring_test *t)
{
	guard(preempt)();
	KUNIT_EXPECT_EQ(test, -EBUSY, ring_buffer_unlock_commit(t->buffer));
}

static void api_test_unlock_commit(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	api_test_on_each_cpu(test, t, api_test_call_unlock_commit);
	api_test_intact(test, t);
}

static void api_test_call_nest(struct kunit *test, struct ring_test *t)
{
	ring_buffer_nest_start(t->buffer);
	KUNIT_EXPECT_NULL(test, ring_buffer_lock_reserve(t->buffer, 8));
	ring_buffer_nest_end(t->buffer);
}

static void api_test_nest_start(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	api_test_on_each_cpu(test, t, api_test_call_nest);
	api_test_intact(test, t);
}

static void api_test_call_nest_end(struct kunit *test, struct ring_test *t)
{
	ring_buffer_nest_end(t->buffer);
}

static void api_test_nest_end(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	api_test_on_each_cpu(test, t, api_test_call_nest);
	api_test_on_each_cpu(test, t, api_test_call_nest_end);
	api_test_intact(test, t);
}

/* Call it on each CPU, each time that recording was enabled once more without need. */
static void api_test_enabled(struct kunit *test, struct ring_test *t,
			     void (*call)(struct kunit *test, struct ring_test *t))
{
	int i;

	for (i = 0; i < 3; i++) {
		api_test_on_each_cpu(test, t, call);
		ring_buffer_record_on(t->buffer);
		ring_buffer_record_enable(t->buffer);
		ring_buffer_record_enable_cpu(t->buffer, RING_TEST_CPU);
	}
}

static void api_test_call_lock_reserve(struct kunit *test, struct ring_test *t)
{
	KUNIT_EXPECT_NULL(test, ring_buffer_lock_reserve(t->buffer, 8));
}

static void api_test_lock_reserve(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	api_test_enabled(test, t, api_test_call_lock_reserve);
	api_test_intact(test, t);
}

static void api_test_call_write(struct kunit *test, struct ring_test *t)
{
	u64 data = 0;

	KUNIT_EXPECT_EQ(test, -EBUSY, ring_buffer_write(t->buffer, sizeof(data), &data));
}

static void api_test_write(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	api_test_enabled(test, t, api_test_call_write);
	api_test_intact(test, t);
}

static void api_test_record_enable(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_record_enable(t->buffer);
	KUNIT_EXPECT_FALSE(test, ring_buffer_record_is_on(t->buffer));
	api_test_intact(test, t);
}

static void api_test_record_disable(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_record_disable(t->buffer);
	ring_buffer_record_enable(t->buffer);
	api_test_intact(test, t);
}

static void api_test_record_enable_cpu(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_record_enable_cpu(t->buffer, RING_TEST_CPU);
	ring_buffer_record_enable_cpu(t->buffer, API_TEST_NO_RING);
	api_test_intact(test, t);
}

static void api_test_record_disable_cpu(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_record_disable_cpu(t->buffer, RING_TEST_CPU);
	ring_buffer_record_disable_cpu(t->buffer, API_TEST_NO_RING);
	api_test_intact(test, t);
}

static void api_test_record_off(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_record_off(t->buffer);
	KUNIT_EXPECT_FALSE(test, ring_buffer_record_is_set_on(t->buffer));
	api_test_intact(test, t);
}

static void api_test_record_on(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_record_off(t->buffer);
	ring_buffer_record_on(t->buffer);
	KUNIT_EXPECT_TRUE(test, ring_buffer_record_is_set_on(t->buffer));
	api_test_intact(test, t);
}

static void api_test_record_is_on(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_FALSE(test, ring_buffer_record_is_on(t->buffer));
	api_test_intact(test, t);
}

static void api_test_record_is_set_on(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_TRUE(test, ring_buffer_record_is_set_on(t->buffer));
	api_test_intact(test, t);
}

static void api_test_change_overwrite(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_change_overwrite(t->buffer, 0);
	ring_buffer_change_overwrite(t->buffer, 1);
	api_test_intact(test, t);
}

static void api_test_last_boot_delta(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	long text, data;

	KUNIT_EXPECT_FALSE(test, ring_buffer_last_boot_delta(t->buffer, &text, &data));
	api_test_intact(test, t);
}

static void api_test_wait(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, 0, ring_buffer_wait(t->buffer, RING_TEST_CPU, 0, NULL, NULL));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_wait(t->buffer, RING_BUFFER_ALL_CPUS, 0, NULL, NULL));
	KUNIT_EXPECT_EQ(test, -ENODEV,
			ring_buffer_wait(t->buffer, API_TEST_NO_RING, 0, NULL, NULL));
	api_test_intact(test, t);
}

static void api_test_poll_wait(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_TRUE(test, (EPOLLIN | EPOLLRDNORM) ==
			  ring_buffer_poll_wait(t->buffer, RING_TEST_CPU, NULL, NULL, 0));
	KUNIT_EXPECT_TRUE(test, (EPOLLIN | EPOLLRDNORM) ==
			  ring_buffer_poll_wait(t->buffer, RING_BUFFER_ALL_CPUS, NULL, NULL, 0));
	KUNIT_EXPECT_TRUE(test, EPOLLERR ==
			  ring_buffer_poll_wait(t->buffer, API_TEST_NO_RING, NULL, NULL, 0));
	api_test_intact(test, t);
}

static void api_test_wake_waiters(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_wake_waiters(t->buffer, RING_TEST_CPU);
	ring_buffer_wake_waiters(t->buffer, API_TEST_NO_RING);
	ring_buffer_wake_waiters(t->buffer, RING_BUFFER_ALL_CPUS);
	api_test_intact(test, t);
}

/* A second reader of the ring, which takes nothing from the first one */
static struct trace_buffer *api_test_reader(struct kunit *test, struct ring_test *t)
{
	struct trace_buffer *buffer = ring_buffer_reader(&t->writer);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buffer);
	return buffer;
}

static void api_test_free(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_free(api_test_reader(test, t));
	api_test_intact(test, t);
}

static void api_test_resize(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	unsigned long size = ring_buffer_size(t->buffer, RING_TEST_CPU);

	KUNIT_EXPECT_EQ(test, 0, ring_buffer_resize(t->buffer, size, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_resize(t->buffer, size, API_TEST_NO_RING));
	KUNIT_EXPECT_EQ(test, -EBUSY, ring_buffer_resize(t->buffer, 2 * size, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, -EBUSY, ring_buffer_resize(t->buffer, 1, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, -EBUSY, ring_buffer_resize(t->buffer, 1, RING_BUFFER_ALL_CPUS));
	KUNIT_EXPECT_EQ(test, size, ring_buffer_size(t->buffer, RING_TEST_CPU));
	api_test_intact(test, t);
}

static void api_test_peek(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	unsigned long lost;
	u64 ts;

	KUNIT_EXPECT_NULL(test, ring_buffer_peek(t->buffer, RING_TEST_CPU, &ts, &lost));
	KUNIT_EXPECT_NULL(test, ring_buffer_peek(t->buffer, API_TEST_NO_RING, &ts, &lost));
	api_test_intact(test, t);
}

static void api_test_consume(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	unsigned long lost;
	u64 ts;

	KUNIT_EXPECT_NULL(test, ring_buffer_consume(t->buffer, RING_TEST_CPU, &ts, &lost));
	KUNIT_EXPECT_NULL(test, ring_buffer_consume(t->buffer, API_TEST_NO_RING, &ts, &lost));
	api_test_intact(test, t);
}

/* An iterator of the kernel's own kind is at its end. */
static struct ring_buffer_iter *api_test_iter(struct kunit *test, struct ring_test *t)
{
	struct ring_buffer_iter *iter;

	iter = ring_buffer_read_start(t->buffer, RING_TEST_CPU, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter);
	return iter;
}

static void api_test_read_start(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_NULL(test, ring_buffer_read_start(t->buffer, API_TEST_NO_RING, GFP_KERNEL));
	ring_buffer_read_finish(api_test_iter(test, t));
	api_test_intact(test, t);
}

static void api_test_read_finish(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	ring_buffer_read_finish(api_test_iter(test, t));
	KUNIT_EXPECT_EQ(test, -EBUSY, ring_buffer_resize(t->buffer, 1, RING_TEST_CPU));
	api_test_intact(test, t);
}

static void api_test_iter_peek(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct ring_buffer_iter *iter = api_test_iter(test, t);
	u64 ts;

	KUNIT_EXPECT_NULL(test, ring_buffer_iter_peek(iter, &ts));
	ring_buffer_read_finish(iter);
	api_test_intact(test, t);
}

static void api_test_iter_advance(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct ring_buffer_iter *iter = api_test_iter(test, t);
	int i;

	for (i = 0; i <= API_TEST_EVENTS; i++)
		ring_buffer_iter_advance(iter);
	KUNIT_EXPECT_TRUE(test, ring_buffer_iter_empty(iter));
	ring_buffer_read_finish(iter);
	api_test_intact(test, t);
}

static void api_test_iter_reset(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct ring_buffer_iter *iter = api_test_iter(test, t);

	ring_buffer_iter_reset(iter);
	KUNIT_EXPECT_TRUE(test, ring_buffer_iter_empty(iter));
	ring_buffer_read_finish(iter);
	api_test_intact(test, t);
}

static void api_test_iter_empty(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct ring_buffer_iter *iter = api_test_iter(test, t);

	KUNIT_EXPECT_TRUE(test, ring_buffer_iter_empty(iter));
	ring_buffer_read_finish(iter);
	api_test_intact(test, t);
}

static void api_test_iter_dropped(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct ring_buffer_iter *iter = api_test_iter(test, t);

	KUNIT_EXPECT_FALSE(test, ring_buffer_iter_dropped(iter));
	ring_buffer_read_finish(iter);
	api_test_intact(test, t);
}

static void api_test_size(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, (API_TEST_PAGES - 1) *
			(PAGE_SIZE - sizeof(struct ring_buffer_writer_page)),
			ring_buffer_size(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_size(t->buffer, API_TEST_NO_RING));
	api_test_intact(test, t);
}

static void api_test_max_event_size(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, RING_TEST_MAX_SIZE, ring_buffer_max_event_size(t->buffer));
	api_test_intact(test, t);
}

/* What the writer's reset() is to do, and where it was called. */
static int api_test_reset_ret, api_test_reset_on;

static int api_test_do_reset(struct ring_buffer_writer *writer, int cpu)
{
	struct ring_test *t = container_of(writer, struct ring_test, writer);

	api_test_reset_on = smp_processor_id();
	return api_test_reset_ret ?: t->ring_ops->reset(writer, cpu);
}

/* Reset from each CPU: the writer is called on the ring's. When it refuses, all stays. */
static void api_test_reset_by(struct kunit *test, void (*reset)(struct kunit *, struct ring_test *))
{
	struct ring_test *t = api_test_make(test);
	struct ring_buffer_writer_ops ops = *t->writer.ops;

	t->ring_ops = t->writer.ops;
	ops.reset = api_test_do_reset;
	t->writer.ops = &ops;

	api_test_reset_ret = -EBUSY;
	reset(test, t);
	KUNIT_EXPECT_EQ(test, API_TEST_EVENTS, ring_buffer_entries(t->buffer));

	api_test_reset_ret = 0;
	api_test_on_each_cpu(test, t, reset);
	KUNIT_EXPECT_EQ(test, RING_TEST_CPU, api_test_reset_on);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(t->buffer));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_entries(t->buffer));

	t->writer.ops = t->ring_ops;
	t->written = 0;
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
	ring_test_read_all(test, t);
}

static void api_test_call_reset_cpu(struct kunit *test, struct ring_test *t)
{
	ring_buffer_reset_cpu(t->buffer, API_TEST_NO_RING);
	ring_buffer_reset_cpu(t->buffer, RING_TEST_CPU);
}

static void api_test_reset_cpu(struct kunit *test)
{
	api_test_reset_by(test, api_test_call_reset_cpu);
}

static void api_test_call_reset_online_cpus(struct kunit *test, struct ring_test *t)
{
	ring_buffer_reset_online_cpus(t->buffer);
}

static void api_test_reset_online_cpus(struct kunit *test)
{
	api_test_reset_by(test, api_test_call_reset_online_cpus);
}

static void api_test_call_reset(struct kunit *test, struct ring_test *t)
{
	ring_buffer_reset(t->buffer);
}

static void api_test_reset(struct kunit *test)
{
	api_test_reset_by(test, api_test_call_reset);
}

/* With one of the kernel's own, of the same size */
static void api_test_swap_cpu(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct trace_buffer *other;

	other = ring_buffer_alloc(ring_buffer_size(t->buffer, RING_TEST_CPU), RB_FL_OVERWRITE);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_LT(test, ring_buffer_swap_cpu(t->buffer, other, RING_TEST_CPU), 0);
	KUNIT_EXPECT_LT(test, ring_buffer_swap_cpu(other, t->buffer, RING_TEST_CPU), 0);
	ring_buffer_free(other);
	api_test_intact(test, t);
}

static void api_test_nr_dirty_pages(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, 0, ring_buffer_nr_dirty_pages(t->buffer, RING_TEST_CPU));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_nr_dirty_pages(t->buffer, API_TEST_NO_RING));
	api_test_intact(test, t);
}

static void api_test_alloc_read_page(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct buffer_data_read_page *page = NULL;

	KUNIT_EXPECT_EQ(test, -ENODEV,
			ring_buffer_alloc_read_page(t->buffer, API_TEST_NO_RING, &page));
	KUNIT_ASSERT_EQ(test, 0, ring_buffer_alloc_read_page(t->buffer, RING_TEST_CPU, &page));
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, ring_buffer_read_page_size(page));
	ring_buffer_free_read_page(t->buffer, RING_TEST_CPU, page);
	api_test_intact(test, t);
}

/* The buffer keeps the page, until it is freed itself. */
static void api_test_free_read_page(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct trace_buffer *buffer = api_test_reader(test, t);
	struct buffer_data_read_page *page = NULL;
	struct page *data;

	KUNIT_ASSERT_EQ(test, 0, ring_buffer_alloc_read_page(buffer, RING_TEST_CPU, &page));
	data = virt_to_page(ring_buffer_read_page_data(page));
	ring_buffer_free_read_page(buffer, RING_TEST_CPU, page);
	get_page(data);
	KUNIT_EXPECT_EQ(test, 2, page_ref_count(data));
	ring_buffer_reader_free(buffer);
	KUNIT_EXPECT_EQ(test, 1, page_ref_count(data));
	put_page(data);
	api_test_intact(test, t);
}

static void api_test_read_page(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct buffer_data_read_page *page = NULL;

	KUNIT_ASSERT_EQ(test, 0, ring_buffer_alloc_read_page(t->buffer, RING_TEST_CPU, &page));
	KUNIT_EXPECT_LT(test, ring_buffer_read_page(t->buffer, page, PAGE_SIZE, RING_TEST_CPU, 0),
			0);
	KUNIT_EXPECT_LT(test, ring_buffer_read_page(t->buffer, page, PAGE_SIZE, RING_TEST_CPU, 1),
			0);
	KUNIT_EXPECT_LT(test, ring_buffer_read_page(t->buffer, page, PAGE_SIZE, API_TEST_NO_RING,
						    0), 0);
	ring_buffer_free_read_page(t->buffer, RING_TEST_CPU, page);
	api_test_intact(test, t);
}

static void api_test_print_page_header(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct trace_seq *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	trace_seq_init(s);
	KUNIT_EXPECT_TRUE(test, ring_buffer_print_page_header(t->buffer, s));
	KUNIT_EXPECT_GT(test, trace_seq_used(s), 0);
	api_test_intact(test, t);
}

static void api_test_subbuf_order_get(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, 0, ring_buffer_subbuf_order_get(t->buffer));
	api_test_intact(test, t);
}

static void api_test_subbuf_order_set(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, 0, ring_buffer_subbuf_order_set(t->buffer, 0));
	KUNIT_EXPECT_EQ(test, -EBUSY, ring_buffer_subbuf_order_set(t->buffer, 1));
	KUNIT_EXPECT_EQ(test, 0, ring_buffer_subbuf_order_get(t->buffer));
	api_test_intact(test, t);
}

static void api_test_subbuf_size_get(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, PAGE_SIZE, ring_buffer_subbuf_size_get(t->buffer));
	api_test_intact(test, t);
}

/* What can be mapped, and how, is for the kselftest's mmap.sh. */
static void api_test_map(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct vm_area_struct *vma = kunit_kzalloc(test, sizeof(*vma), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, vma);
	KUNIT_EXPECT_EQ(test, -EINVAL, ring_buffer_map(t->buffer, API_TEST_NO_RING, vma));
	KUNIT_EXPECT_EQ(test, -EPERM, ring_buffer_map(t->buffer, RING_TEST_CPU, vma));
	api_test_intact(test, t);
}

static void api_test_unmap(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, -EINVAL, ring_buffer_unmap(t->buffer, API_TEST_NO_RING));
	KUNIT_EXPECT_EQ(test, -ENODEV, ring_buffer_unmap(t->buffer, RING_TEST_CPU));
	api_test_intact(test, t);
}

static void api_test_map_get_reader(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);

	KUNIT_EXPECT_EQ(test, -EINVAL, ring_buffer_map_get_reader(t->buffer, API_TEST_NO_RING));
	KUNIT_EXPECT_EQ(test, -ENODEV, ring_buffer_map_get_reader(t->buffer, RING_TEST_CPU));
	api_test_intact(test, t);
}

static void api_test_no_clock(struct kunit *test)
{
	struct ring_test *t = api_test_make(test);
	struct ring_buffer_writer writer = t->writer;

	writer.clock = NULL;
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(ring_buffer_reader(&writer)));
	api_test_intact(test, t);
}

static struct kunit_case api_test_cases[] = {
	KUNIT_CASE(api_test_event_time_stamp),
	KUNIT_CASE(api_test_discard_commit),
	KUNIT_CASE(api_test_unlock_commit),
	KUNIT_CASE(api_test_nest_start),
	KUNIT_CASE(api_test_nest_end),
	KUNIT_CASE(api_test_lock_reserve),
	KUNIT_CASE(api_test_write),
	KUNIT_CASE(api_test_record_enable),
	KUNIT_CASE(api_test_record_disable),
	KUNIT_CASE(api_test_record_enable_cpu),
	KUNIT_CASE(api_test_record_disable_cpu),
	KUNIT_CASE(api_test_record_off),
	KUNIT_CASE(api_test_record_on),
	KUNIT_CASE(api_test_record_is_on),
	KUNIT_CASE(api_test_record_is_set_on),
	KUNIT_CASE(api_test_change_overwrite),
	KUNIT_CASE(api_test_last_boot_delta),
	KUNIT_CASE(api_test_wait),
	KUNIT_CASE(api_test_poll_wait),
	KUNIT_CASE(api_test_wake_waiters),
	KUNIT_CASE(api_test_free),
	KUNIT_CASE(api_test_resize),
	KUNIT_CASE(api_test_peek),
	KUNIT_CASE(api_test_consume),
	KUNIT_CASE(api_test_read_start),
	KUNIT_CASE(api_test_read_finish),
	KUNIT_CASE(api_test_iter_peek),
	KUNIT_CASE(api_test_iter_advance),
	KUNIT_CASE(api_test_iter_reset),
	KUNIT_CASE(api_test_iter_empty),
	KUNIT_CASE(api_test_iter_dropped),
	KUNIT_CASE(api_test_size),
	KUNIT_CASE(api_test_max_event_size),
	KUNIT_CASE(api_test_reset_cpu),
	KUNIT_CASE(api_test_reset_online_cpus),
	KUNIT_CASE(api_test_reset),
	KUNIT_CASE(api_test_swap_cpu),
	KUNIT_CASE(api_test_nr_dirty_pages),
	KUNIT_CASE(api_test_alloc_read_page),
	KUNIT_CASE(api_test_free_read_page),
	KUNIT_CASE(api_test_read_page),
	KUNIT_CASE(api_test_print_page_header),
	KUNIT_CASE(api_test_subbuf_order_get),
	KUNIT_CASE(api_test_subbuf_order_set),
	KUNIT_CASE(api_test_subbuf_size_get),
	KUNIT_CASE(api_test_map),
	KUNIT_CASE(api_test_unmap),
	KUNIT_CASE(api_test_map_get_reader),
	KUNIT_CASE(api_test_no_clock),
	{ }
};

static struct kunit_suite api_test_suite = {
	.name		= "trace_remote_api",
	.test_cases	= api_test_cases,
};

kunit_test_suite(api_test_suite);
