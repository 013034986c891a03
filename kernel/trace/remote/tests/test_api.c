// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: each function of ring_buffer.h, with a trace buffer that a remote writer fills
 *
 * A function works, or it fails and changes nothing: the events are still there afterwards. The
 * ring is that of RING_TEST_CPU, and no other CPU has one.
 */
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/trace_seq.h>

#include "test.h"

#define EVENTS		3
#define PAGES		4
#define NO_RING		(RING_TEST_CPU + 1)
#define FIRST_TS	2
#define RING_SIZE	((PAGES - 1) * (PAGE_SIZE - sizeof(struct ring_buffer_writer_page)))

enum api_state {
	UNREAD,		/* the ring has EVENTS events */
	PART_READ,	/* one of these is read */
	ALL_READ,	/* all are read */
	REFILLED,	/* all are read, and the ring has others */
	OVERWRITTEN,	/* others have overwritten them */
	DROPPED,	/* another event was too large for the ring */
	REFUSED,	/* as UNREAD; the writer refuses a reset */
	CLEARED,	/* as UNREAD; the call resets the ring */
};

/**
 * struct api_step - a call
 * @t:		the ring
 * @b:		its buffer
 * @state:	of the ring before the call
 * @cpu:	the CPU that the call is for, with a ring or without
 * @on:		the CPU that the call is made on
 */
struct api_step {
	struct ring_test	*t;
	struct trace_buffer	*b;
	enum api_state		state;
	int			cpu, on;
};

/* Written by calls */
static u64 api_ts;
static unsigned long api_lost;
static long api_text, api_data;
static u32 api_words[2];

static struct vm_area_struct api_vma;

#define READABLE	(EPOLLIN | EPOLLRDNORM)

/* The kernel's writers call these functions with preemption disabled. */
#define ATOMIC(expr)	({ guard(preempt)(); (long)(expr); })

/* An event that is in no ring */
static struct ring_buffer_event *api_event(u32 header)
{
	api_words[0] = header;
	return (void *)api_words;
}

static bool api_nest(struct trace_buffer *b)
{
	struct ring_buffer_event *event;

	ring_buffer_nest_start(b);
	event = ring_buffer_lock_reserve(b, 8);
	ring_buffer_nest_end(b);
	return !event;
}

/* Enable recording once more than it was disabled. */
static void api_record(struct trace_buffer *b)
{
	ring_buffer_record_on(b);
	ring_buffer_record_enable(b);
	ring_buffer_record_enable_cpu(b, RING_TEST_CPU);
}

/* A second reader of the ring consumes nothing of the first one's. */
static long api_free(struct ring_test *t)
{
	struct trace_buffer *buffer = ring_buffer_reader(&t->writer);

	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	ring_buffer_free(buffer);
	return 0;
}

static long api_no_clock(struct ring_test *t)
{
	struct ring_buffer_writer writer = t->writer;

	writer.clock = NULL;
	return PTR_ERR(ring_buffer_reader(&writer));
}

/* With a buffer of the kernel's, of the same size */
static bool api_swap_cpu(struct trace_buffer *b)
{
	struct trace_buffer *other = ring_buffer_alloc(RING_SIZE, RB_FL_OVERWRITE);
	bool refused;

	if (!other)
		return false;
	refused = ring_buffer_swap_cpu(b, other, RING_TEST_CPU) < 0;
	refused &= ring_buffer_swap_cpu(other, b, RING_TEST_CPU) < 0;
	ring_buffer_free(other);
	return refused;
}

static bool api_print_page_header(struct trace_buffer *b)
{
	struct trace_seq *s __free(kfree) = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return false;
	trace_seq_init(s);
	return ring_buffer_print_page_header(b, s) && trace_seq_used(s);
}

/* An iterator of the kernel's own kind. It is NULL for a CPU without a ring. */
#define ITER(expr)									\
({											\
	struct ring_buffer_iter *iter = ring_buffer_read_start(s.b, s.cpu, GFP_KERNEL);	\
	long ret = (expr);								\
											\
	if (iter)									\
		ring_buffer_read_finish(iter);						\
	ret;										\
})

static bool api_iter_advance(struct ring_buffer_iter *iter)
{
	int i;

	for (i = 0; i <= EVENTS; i++)
		ring_buffer_iter_advance(iter);
	return ring_buffer_iter_empty(iter);
}

/* A page for whole pages of events, of that CPU's ring */
#define PAGE(ring_cpu, expr)								\
({											\
	int of_cpu = (ring_cpu);							\
	struct buffer_data_read_page *page = NULL;					\
	long ret = ring_buffer_alloc_read_page(s.b, of_cpu, &page);				\
											\
	if (!ret) {									\
		ret = (expr);								\
		ring_buffer_free_read_page(s.b, of_cpu, page);				\
	}										\
	ret;										\
})

/* The buffer keeps the page, until it is freed itself. */
static bool api_free_read_page(struct ring_test *t)
{
	struct trace_buffer *buffer = ring_buffer_reader(&t->writer);
	struct buffer_data_read_page *page = NULL;
	struct page *data;
	bool kept;

	if (IS_ERR(buffer) || ring_buffer_alloc_read_page(buffer, RING_TEST_CPU, &page))
		return false;
	data = virt_to_page(ring_buffer_read_page_data(page));
	ring_buffer_free_read_page(buffer, RING_TEST_CPU, page);
	get_page(data);
	kept = page_ref_count(data) == 2;
	ring_buffer_reader_free(buffer);
	kept &= page_ref_count(data) == 1;
	put_page(data);
	return kept;
}

static u64 api_other_clock(void)
{
	return RING_TEST_CLOCK + 1;
}

/* The result of the writer's reset(), and the CPU that it was called on */
static int api_reset_ret, api_reset_on;

static int api_reset(struct ring_buffer_writer *writer, int cpu)
{
	struct ring_test *t = container_of(writer, struct ring_test, writer);

	api_reset_on = cpu == RING_TEST_CPU ? smp_processor_id() : -EINVAL;
	return api_reset_ret ?: t->ring_ops->reset(writer, cpu);
}

static void api_intercept_reset(struct ring_test *t, int ret)
{
	static struct ring_buffer_writer_ops ops;

	ops = *t->writer.ops;
	ops.reset = api_reset;
	t->ring_ops = t->writer.ops;
	t->writer.ops = &ops;
	api_reset_ret = ret;
	api_reset_on = -EINVAL;
}

/* Make a ring in that state. */
static struct api_step api_begin(struct kunit *test, enum api_state state)
{
	struct api_step s = { .state = state, .cpu = NO_RING, .on = -1 };
	unsigned int i;

	/* In a kernel for one CPU, there is another one in no mask. */
	if (IS_ENABLED(CONFIG_SMP) && nr_cpu_ids <= NO_RING)
		kunit_skip(test, "needs a CPU without a ring");

	s.t = ring_test_make(test, PAGES);
	s.b = s.t->buffer;
	for (i = 0; i < EVENTS; i++)
		KUNIT_ASSERT_TRUE(test, ring_test_write(s.t, 12, 1));
	if (state == PART_READ)
		KUNIT_EXPECT_TRUE(test, ring_test_read(test, s.t, NULL));
	if (state == ALL_READ || state == REFILLED)
		ring_test_read_all(test, s.t);
	if (state == REFILLED)
		ring_test_write_pages(test, s.t, 2);
	if (state == OVERWRITTEN)
		ring_test_write_pages(test, s.t, PAGES - 1);
	if (state == DROPPED)
		KUNIT_EXPECT_FALSE(test, ring_test_write(s.t, RING_TEST_MAX_SIZE + 8, 1));
	if (state == REFUSED || state == CLEARED)
		api_intercept_reset(s.t, state == REFUSED ? -EBUSY : 0);
	ring_buffer_poll_writer(s.b, RING_TEST_CPU);
	return s;
}

/* A reset was done on the ring's CPU. The ring is empty, and can be used. */
static void api_check_reset(struct kunit *test, struct ring_test *t)
{
	KUNIT_EXPECT_EQ(test, RING_TEST_CPU, api_reset_on);
	KUNIT_EXPECT_TRUE(test, ring_buffer_empty(t->buffer));
	t->written = 0;
	KUNIT_ASSERT_TRUE(test, ring_test_write(t, 12, 1));
}

/* The calls have changed nothing but what they may. */
static void api_end(struct kunit *test, struct api_step *s)
{
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	if (s->state == REFUSED || s->state == CLEARED)
		s->t->writer.ops = s->t->ring_ops;
	if (s->state == CLEARED)
		api_check_reset(test, s->t);
	KUNIT_EXPECT_FALSE(test, ring_buffer_record_is_on(s->b));
	KUNIT_EXPECT_EQ(test, 0, preempt_count());
	ring_test_read_all(test, s->t);
}

/* Go to the next call: on each CPU one for a CPU with a ring, and one for a CPU without. */
static bool api_next(struct kunit *test, struct api_step *s)
{
	if (s->cpu == RING_TEST_CPU) {
		s->cpu = NO_RING;
		return true;
	}

	s->cpu = RING_TEST_CPU;
	s->on = cpumask_next(s->on, cpu_online_mask);
	if (s->on < nr_cpu_ids) {
		KUNIT_ASSERT_EQ(test, 0, set_cpus_allowed_ptr(current, cpumask_of(s->on)));
		return true;
	}

	api_end(test, s);
	return false;
}

static void api_check(struct kunit *test, const struct api_step *s, const char *text, long result,
		      long with_ring, long without_ring)
{
	KUNIT_EXPECT_EQ_MSG(test, s->cpu == RING_TEST_CPU ? with_ring : without_ring, result,
			    "%s, for CPU %d, on CPU %d", text, s->cpu, s->on);
}

#define API_CALL(state, text, call, with_ring, without_ring)				\
do {											\
	struct api_step s = api_begin(test, state);					\
											\
	while (api_next(test, &s))							\
		api_check(test, &s, text, (__force long)(call), (__force long)(with_ring),	\
			  (__force long)(without_ring));				\
} while (0)

/* Call a function, and compare its results for a CPU with a ring and for one without. */
#define CALL(call, with_ring, without_ring)						\
	API_CALL(UNREAD, #call, call, with_ring, without_ring)

#define CALL_IN(state, call, with_ring, without_ring)					\
	API_CALL(state, #call, call, with_ring, without_ring)

/* The kernel has no event to reserve, to write, to commit or to discard. */
static void api_test_write(struct kunit *test)
{
	CALL(ATOMIC(ring_buffer_event_time_stamp(s.b, api_event(RINGBUF_TYPE_TIME_STAMP))), 0, 0);
	CALL(ATOMIC(ring_buffer_event_time_stamp(s.b, api_event(1))), 0, 0);
	CALL(ATOMIC((ring_buffer_discard_commit(s.b, api_event(1)), api_words[0])), 1, 1);
	CALL(ATOMIC(ring_buffer_unlock_commit(s.b)), -EBUSY, -EBUSY);
	CALL(api_nest(s.b), true, true);
	CALL((api_nest(s.b), ring_buffer_nest_end(s.b), 0), 0, 0);
	CALL(!ring_buffer_lock_reserve(s.b, 8), true, true);
	CALL((api_record(s.b), !ring_buffer_lock_reserve(s.b, 8)), true, true);
	CALL(ring_buffer_write(s.b, sizeof(api_ts), &api_ts), -EBUSY, -EBUSY);
	CALL((api_record(s.b), ring_buffer_write(s.b, sizeof(api_ts), &api_ts)), -EBUSY, -EBUSY);
}

/* Recording by the kernel is always off. */
static void api_test_record(struct kunit *test)
{
	CALL((ring_buffer_record_enable(s.b), ring_buffer_record_is_on(s.b)), false, false);
	CALL((ring_buffer_record_disable(s.b), ring_buffer_record_enable(s.b), 0), 0, 0);
	CALL((ring_buffer_record_enable_cpu(s.b, s.cpu), 0), 0, 0);
	CALL((ring_buffer_record_disable_cpu(s.b, s.cpu), 0), 0, 0);
	CALL((ring_buffer_record_off(s.b), ring_buffer_record_is_set_on(s.b)), false, false);
	CALL((ring_buffer_record_off(s.b), ring_buffer_record_on(s.b),
	      ring_buffer_record_is_set_on(s.b)), true, true);
	CALL(ring_buffer_record_is_on(s.b), false, false);
	CALL(ring_buffer_record_is_set_on(s.b), true, true);
	CALL((ring_buffer_change_overwrite(s.b, 0), ring_buffer_change_overwrite(s.b, 1), 0), 0, 0);
	CALL(ring_buffer_last_boot_delta(s.b, &api_text, &api_data), false, false);
}

static void api_test_wait(struct kunit *test)
{
	CALL(ring_buffer_wait(s.b, s.cpu, 0, NULL, NULL), 0, -ENODEV);
	CALL(ring_buffer_wait(s.b, RING_BUFFER_ALL_CPUS, 0, NULL, NULL), 0, 0);
	CALL(ring_buffer_poll_wait(s.b, s.cpu, NULL, NULL, 0), READABLE, EPOLLERR);
	CALL(ring_buffer_poll_wait(s.b, RING_BUFFER_ALL_CPUS, NULL, NULL, 0), READABLE, READABLE);
	CALL((ring_buffer_wake_waiters(s.b, s.cpu), 0), 0, 0);
	CALL((ring_buffer_wake_waiters(s.b, RING_BUFFER_ALL_CPUS), 0), 0, 0);
}

static void api_test_buffer(struct kunit *test)
{
	CALL(api_free(s.t), 0, 0);
	CALL(api_no_clock(s.t), -EINVAL, -EINVAL);
	CALL(ring_buffer_size(s.b, s.cpu), RING_SIZE, 0);
	CALL(ring_buffer_max_event_size(s.b), RING_TEST_MAX_SIZE, RING_TEST_MAX_SIZE);
	CALL(ring_buffer_resize(s.b, RING_SIZE, s.cpu), 0, 0);
	CALL(ring_buffer_resize(s.b, 2 * RING_SIZE, RING_TEST_CPU), -EBUSY, -EBUSY);
	CALL(ring_buffer_resize(s.b, 1, RING_TEST_CPU), -EBUSY, -EBUSY);
	CALL(ring_buffer_resize(s.b, 1, RING_BUFFER_ALL_CPUS), -EBUSY, -EBUSY);
	CALL((ring_buffer_resize(s.b, 1, RING_TEST_CPU), ring_buffer_size(s.b, s.cpu)),
	     RING_SIZE, 0);
	CALL(api_swap_cpu(s.b), true, true);
	CALL(ring_buffer_subbuf_order_get(s.b), 0, 0);
	CALL(ring_buffer_subbuf_order_set(s.b, 0), 0, 0);
	CALL(ring_buffer_subbuf_order_set(s.b, 1), -EBUSY, -EBUSY);
	CALL((ring_buffer_subbuf_order_set(s.b, 1), ring_buffer_subbuf_order_get(s.b)), 0, 0);
	CALL(ring_buffer_subbuf_size_get(s.b), PAGE_SIZE, PAGE_SIZE);
	CALL(api_print_page_header(s.b), true, true);
}

/* The kernel's own readers and iterators see no events. */
static void api_test_read(struct kunit *test)
{
	CALL(!ring_buffer_peek(s.b, s.cpu, &api_ts, &api_lost), true, true);
	CALL(!ring_buffer_consume(s.b, s.cpu, &api_ts, &api_lost), true, true);
	CALL(ITER(!iter), false, true);
	CALL((ITER(0), ring_buffer_resize(s.b, 1, RING_TEST_CPU)), -EBUSY, -EBUSY);
	CALL(ITER(iter && !ring_buffer_iter_peek(iter, &api_ts)), true, false);
	CALL(ITER(iter && api_iter_advance(iter)), true, false);
	CALL(ITER(iter && (ring_buffer_iter_reset(iter), ring_buffer_iter_empty(iter))),
	     true, false);
	CALL(ITER(iter && ring_buffer_iter_empty(iter)), true, false);
	CALL(ITER(iter && !ring_buffer_iter_dropped(iter)), true, false);
}

/* What can be mapped, and how, is for the kselftest's mmap.sh. */
static void api_test_map(struct kunit *test)
{
	CALL(ring_buffer_map(s.b, s.cpu, &api_vma), -EPERM, -EINVAL);
	CALL(ring_buffer_unmap(s.b, s.cpu), -ENODEV, -EINVAL);
	CALL(ring_buffer_map_get_reader(s.b, s.cpu), -ENODEV, -EINVAL);
}

static void api_test_page(struct kunit *test)
{
	CALL(PAGE(s.cpu, ring_buffer_read_page_size(page)), PAGE_SIZE, -ENODEV);
	CALL(api_free_read_page(s.t), true, true);
	CALL(PAGE(RING_TEST_CPU, ring_buffer_read_page(s.b, page, PAGE_SIZE, s.cpu, 0) < 0),
	     true, true);
	CALL(PAGE(RING_TEST_CPU, ring_buffer_read_page(s.b, page, PAGE_SIZE, s.cpu, 1) < 0),
	     true, true);
}

/* An event has a header of 4 bytes and 12 bytes of data. */
static void api_test_counters(struct kunit *test)
{
	CALL(ring_buffer_empty(s.b), false, false);
	CALL_IN(ALL_READ, ring_buffer_empty(s.b), true, true);
	CALL(ring_buffer_empty_cpu(s.b, s.cpu), false, true);
	CALL_IN(ALL_READ, ring_buffer_empty_cpu(s.b, s.cpu), true, true);
	CALL(ring_buffer_bytes_cpu(s.b, s.cpu), EVENTS * 16, 0);
	CALL(ring_buffer_entries(s.b), EVENTS, EVENTS);
	CALL(ring_buffer_entries_cpu(s.b, s.cpu), EVENTS, 0);
	CALL_IN(OVERWRITTEN, ring_buffer_overruns(s.b), EVENTS, EVENTS);
	CALL_IN(OVERWRITTEN, ring_buffer_overrun_cpu(s.b, s.cpu), EVENTS, 0);
	CALL(ring_buffer_commit_overrun_cpu(s.b, s.cpu), 0, 0);
	CALL_IN(DROPPED, ring_buffer_dropped_events_cpu(s.b, s.cpu), 1, 0);
	CALL(ring_buffer_read_events_cpu(s.b, s.cpu), 0, 0);
	CALL_IN(ALL_READ, ring_buffer_read_events_cpu(s.b, s.cpu), EVENTS, 0);
	CALL(ring_buffer_nr_dirty_pages(s.b, s.cpu), 0, 0);
}

/* The oldest event is the first one of the oldest page, read or not. */
static void api_test_times(struct kunit *test)
{
	CALL(ring_buffer_oldest_event_ts(s.b, s.cpu), FIRST_TS, 0);
	CALL_IN(PART_READ, ring_buffer_oldest_event_ts(s.b, s.cpu), FIRST_TS, 0);
	CALL_IN(ALL_READ, ring_buffer_oldest_event_ts(s.b, s.cpu), 0, 0);
	CALL_IN(REFILLED, ring_buffer_oldest_event_ts(s.b, s.cpu), FIRST_TS + EVENTS, 0);
	CALL(ring_buffer_time_stamp(s.b), RING_TEST_CLOCK, RING_TEST_CLOCK);
	CALL((ring_buffer_set_clock(s.b, api_other_clock), ring_buffer_time_stamp(s.b)),
	     RING_TEST_CLOCK + 1, RING_TEST_CLOCK + 1);
	CALL((api_ts = 5, ring_buffer_normalize_time_stamp(s.b, s.cpu, &api_ts), api_ts), 5, 5);
	CALL((ring_buffer_set_time_stamp_abs(s.b, true), ring_buffer_time_stamp_abs(s.b)),
	     true, true);
	CALL(ring_buffer_time_stamp_abs(s.b), false, false);
}

/* The writer may refuse to reset the ring. */
static void api_test_reset(struct kunit *test)
{
	CALL_IN(REFUSED, (ring_buffer_reset_cpu(s.b, s.cpu), ring_buffer_entries(s.b)),
		EVENTS, EVENTS);
	CALL_IN(CLEARED, (ring_buffer_reset_cpu(s.b, s.cpu), ring_buffer_entries(s.b)), 0, 0);
	CALL_IN(REFUSED, (ring_buffer_reset_online_cpus(s.b), ring_buffer_entries(s.b)),
		EVENTS, EVENTS);
	CALL_IN(CLEARED, (ring_buffer_reset_online_cpus(s.b), ring_buffer_entries(s.b)), 0, 0);
	CALL_IN(REFUSED, (ring_buffer_reset(s.b), ring_buffer_entries(s.b)), EVENTS, EVENTS);
	CALL_IN(CLEARED, (ring_buffer_reset(s.b), ring_buffer_entries(s.b)), 0, 0);
}

static struct kunit_case api_test_cases[] = {
	KUNIT_CASE(api_test_write),
	KUNIT_CASE(api_test_record),
	KUNIT_CASE(api_test_wait),
	KUNIT_CASE(api_test_buffer),
	KUNIT_CASE(api_test_read),
	KUNIT_CASE(api_test_map),
	KUNIT_CASE(api_test_page),
	KUNIT_CASE(api_test_counters),
	KUNIT_CASE(api_test_times),
	KUNIT_CASE(api_test_reset),
	{ }
};

static struct kunit_suite api_test_suite = {
	.name		= "trace_remote_api",
	.test_cases	= api_test_cases,
};

kunit_test_suite(api_test_suite);
