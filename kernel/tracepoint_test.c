// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of tracepoints whose probes may sleep
 *
 * A task, the caller, calls a tracepoint whose probe sleeps until the test lets it go on.
 * Meanwhile the test does what must wait for the caller, or must not. The probe of a tracepoint
 * that is not faultable spins instead.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/rcupdate_trace.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#define CREATE_TRACE_POINTS
#include "tracepoint_test.h"

#define VALUE		42
#define LONG_ENOUGH	(60 * HZ)
/* Longer than grace periods are that have nothing to wait for */
#define A_WHILE		HZ

struct probe_data {
	struct completion entered;	/* the probe was called */
	struct completion let_go;	/* it may return */
	int calls;
	int value;
	int order;
	bool atomic;
	bool srcu_held;
};

static int orders;

static void init_data(struct probe_data *data)
{
	memset(data, 0, sizeof(*data));
	init_completion(&data->entered);
	init_completion(&data->let_go);
}

static void note_call(struct probe_data *data, int value)
{
	data->calls++;
	data->value = value;
	data->order = orders++;
	data->atomic = !preemptible();
	data->srcu_held = srcu_read_lock_held(&tracepoint_faultable_srcu);
}

static void noting_probe(void *data, int value)
{
	note_call(data, value);
}

static void sleeping_probe(void *__data, int value)
{
	struct probe_data *data = __data;

	note_call(data, value);
	complete(&data->entered);
	wait_for_completion(&data->let_go);
}

/* It ends by itself, should the test be kept from letting it go on. */
static void spinning_probe(void *__data, int value)
{
	struct probe_data *data = __data;
	unsigned long end = jiffies + 10 * HZ;

	note_call(data, value);
	complete(&data->entered);
	while (!try_wait_for_completion(&data->let_go) && time_before(jiffies, end))
		cpu_relax();
}

/* A task that does one thing, and notes when it is done. */
struct other_task {
	void (*work)(void);
	struct completion done;
};

static int other_task_fn(void *arg)
{
	struct other_task *other = arg;

	other->work();
	complete(&other->done);
	return 0;
}

static void start(struct kunit *test, struct other_task *other, void (*work)(void))
{
	other->work = work;
	init_completion(&other->done);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(other_task_fn, other, "tracepoint_test")));
}

static bool ends(struct other_task *other, unsigned long timeout)
{
	return wait_for_completion_timeout(&other->done, timeout);
}

static void call_faultable(void)
{
	trace_tp_test_faultable(VALUE);
}

static void wait_for_tasks_trace(void)
{
#ifdef CONFIG_TASKS_TRACE_RCU
	synchronize_rcu_tasks_trace();
#endif
}

static void call_plain(void)
{
	trace_tp_test_plain(VALUE);
}

static void wait_until_entered(struct kunit *test, struct probe_data *data)
{
	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&data->entered, LONG_ENOUGH), 0);
}

/* Start a caller, return when its probe sleeps. */
static void start_caller(struct kunit *test, struct other_task *caller, struct probe_data *data)
{
	start(test, caller, call_faultable);
	wait_until_entered(test, data);
}

static void test_is_faultable(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, tracepoint_is_faultable(&__tracepoint_tp_test_faultable));
	KUNIT_EXPECT_FALSE(test, tracepoint_is_faultable(&__tracepoint_tp_test_plain));
}

static void test_context(struct kunit *test)
{
	struct probe_data data;

	init_data(&data);
	KUNIT_ASSERT_EQ(test, register_trace_tp_test_faultable(noting_probe, &data), 0);
	trace_tp_test_faultable(VALUE);
	unregister_trace_tp_test_faultable(noting_probe, &data);
	KUNIT_EXPECT_EQ(test, data.calls, 1);
	KUNIT_EXPECT_EQ(test, data.value, VALUE);
	KUNIT_EXPECT_TRUE(test, data.srcu_held);
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		KUNIT_EXPECT_FALSE(test, data.atomic);

	init_data(&data);
	KUNIT_ASSERT_EQ(test, register_trace_tp_test_plain(noting_probe, &data), 0);
	trace_tp_test_plain(VALUE);
	unregister_trace_tp_test_plain(noting_probe, &data);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, data.calls, 1);
	KUNIT_EXPECT_TRUE(test, data.atomic);
}

/* Each probe gets its own data, in the order of priority. */
static void test_several_probes(struct kunit *test)
{
	static const int prio[] = { 10, 30, 20 }, order[] = { 2, 0, 1 };
	struct probe_data data[ARRAY_SIZE(prio)];
	int i;

	orders = 0;
	for (i = 0; i < ARRAY_SIZE(prio); i++) {
		init_data(&data[i]);
		KUNIT_ASSERT_EQ(test, register_trace_prio_tp_test_faultable(noting_probe, &data[i],
									    prio[i]), 0);
	}
	trace_tp_test_faultable(VALUE);
	for (i = 0; i < ARRAY_SIZE(prio); i++)
		KUNIT_EXPECT_EQ(test, data[i].order, order[i]);
	for (i = 0; i < ARRAY_SIZE(prio); i++) {
		unregister_trace_tp_test_faultable(noting_probe, &data[i]);
		trace_tp_test_faultable(VALUE + 1);
	}
	tracepoint_synchronize_unregister();
	for (i = 0; i < ARRAY_SIZE(prio); i++) {
		/* Those that were unregistered later were called again. */
		KUNIT_EXPECT_EQ(test, data[i].calls, i + 1);
		KUNIT_EXPECT_EQ(test, data[i].value, i ? VALUE + 1 : VALUE);
	}
}

#ifdef CONFIG_HAVE_STATIC_CALL
/* Call both tracepoints; what their static calls have called */
static void call_by_static_calls(struct kunit *test, void *plain)
{
	void *target;

	trace_tp_test_plain(VALUE);
	target = static_call_query(tp_func_tp_test_plain);
	KUNIT_EXPECT_PTR_EQ(test, target, plain);
	trace_tp_test_faultable(VALUE);
	target = static_call_query(tp_func_tp_test_faultable);
	KUNIT_EXPECT_PTR_EQ(test, target, (void *)__traceiter_tp_test_faultable);
}

/*
 * The static call of a tracepoint has its only probe for a target, or the iterator. That of a
 * faultable one keeps the iterator: see tp_rcu_get_state().
 */
static void test_static_call(struct kunit *test)
{
	struct probe_data data[2];
	int i;

	for (i = 0; i < ARRAY_SIZE(data); i++) {
		init_data(&data[i]);
		KUNIT_ASSERT_EQ(test, register_trace_tp_test_plain(noting_probe, &data[i]), 0);
		KUNIT_ASSERT_EQ(test, register_trace_tp_test_faultable(noting_probe, &data[i]), 0);
		call_by_static_calls(test, i ? (void *)__traceiter_tp_test_plain : noting_probe);
	}
	unregister_trace_tp_test_plain(noting_probe, &data[0]);
	unregister_trace_tp_test_faultable(noting_probe, &data[0]);
	call_by_static_calls(test, noting_probe);
	unregister_trace_tp_test_plain(noting_probe, &data[1]);
	unregister_trace_tp_test_faultable(noting_probe, &data[1]);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, data[0].calls, 4);
	KUNIT_EXPECT_EQ(test, data[1].calls, 4);
}
#endif

/* Nothing that a probe uses may be freed before it has returned. */
static void test_synchronize_waits(struct kunit *test)
{
	struct other_task caller, waiter;
	struct probe_data data;

	init_data(&data);
	KUNIT_ASSERT_EQ(test, register_trace_tp_test_faultable(sleeping_probe, &data), 0);
	start_caller(test, &caller, &data);
	KUNIT_EXPECT_EQ(test, unregister_trace_tp_test_faultable(sleeping_probe, &data), 0);
	start(test, &waiter, tracepoint_synchronize_unregister);
	KUNIT_EXPECT_FALSE(test, ends(&waiter, A_WHILE));
	complete(&data.let_go);
	KUNIT_EXPECT_TRUE(test, ends(&waiter, LONG_ENOUGH));
	KUNIT_EXPECT_TRUE(test, ends(&caller, LONG_ENOUGH));
}

/* The same for a probe that can't sleep, on another CPU */
static void test_synchronize_waits_for_plain(struct kunit *test)
{
	struct other_task caller, waiter;
	struct probe_data data;

	if (num_online_cpus() < 2)
		kunit_skip(test, "the probe takes a CPU");
	init_data(&data);
	KUNIT_ASSERT_EQ(test, register_trace_tp_test_plain(spinning_probe, &data), 0);
	start(test, &caller, call_plain);
	wait_until_entered(test, &data);
	KUNIT_EXPECT_EQ(test, unregister_trace_tp_test_plain(spinning_probe, &data), 0);
	start(test, &waiter, tracepoint_synchronize_unregister);
	KUNIT_EXPECT_FALSE(test, ends(&waiter, A_WHILE));
	complete(&data.let_go);
	KUNIT_EXPECT_TRUE(test, ends(&waiter, LONG_ENOUGH));
	KUNIT_EXPECT_TRUE(test, ends(&caller, LONG_ENOUGH));
}

/* What probes of events use with preemption disabled: filters, triggers, lists of pids */
static void test_atomic_sync_waits(struct kunit *test)
{
	struct other_task caller, waiter;
	struct probe_data data;

	if (num_online_cpus() < 2)
		kunit_skip(test, "the probe takes a CPU");
	init_data(&data);
	KUNIT_ASSERT_EQ(test, register_trace_tp_test_plain(spinning_probe, &data), 0);
	start(test, &caller, call_plain);
	wait_until_entered(test, &data);
	start(test, &waiter, tracepoint_synchronize_atomic);
	KUNIT_EXPECT_FALSE(test, ends(&waiter, A_WHILE));
	complete(&data.let_go);
	KUNIT_EXPECT_TRUE(test, ends(&waiter, LONG_ENOUGH));
	KUNIT_EXPECT_TRUE(test, ends(&caller, LONG_ENOUGH));
	KUNIT_EXPECT_EQ(test, unregister_trace_tp_test_plain(spinning_probe, &data), 0);
	tracepoint_synchronize_unregister();
}

/* Probes that are called while RCU is not watching the CPU */
static void test_atomic_sync_waits_for_srcu(struct kunit *test)
{
	struct other_task waiter;
	int idx;

	idx = srcu_read_lock(&tracepoint_srcu);
	start(test, &waiter, tracepoint_synchronize_atomic);
	KUNIT_EXPECT_FALSE(test, ends(&waiter, A_WHILE));
	srcu_read_unlock(&tracepoint_srcu, idx);
	KUNIT_EXPECT_TRUE(test, ends(&waiter, LONG_ENOUGH));
}

/* A page fault takes as long as user space likes. */
static void test_atomic_sync_ignores_faults(struct kunit *test)
{
	struct other_task caller, waiter;
	struct probe_data data;

	init_data(&data);
	KUNIT_ASSERT_EQ(test, register_trace_tp_test_faultable(sleeping_probe, &data), 0);
	start_caller(test, &caller, &data);
	start(test, &waiter, tracepoint_synchronize_atomic);
	KUNIT_EXPECT_TRUE(test, ends(&waiter, LONG_ENOUGH));
	complete(&data.let_go);
	KUNIT_EXPECT_TRUE(test, ends(&caller, LONG_ENOUGH));
	KUNIT_EXPECT_EQ(test, unregister_trace_tp_test_faultable(sleeping_probe, &data), 0);
	tracepoint_synchronize_unregister();
}

/* Those who wait for sleepable BPF programs hold locks: of uprobes, of perf's BPF programs. */
static void test_tasks_trace_ignores_faults(struct kunit *test)
{
	struct other_task caller, waiter;
	struct probe_data data;

	if (!IS_ENABLED(CONFIG_TASKS_TRACE_RCU))
		kunit_skip(test, "nobody waits for Tasks Trace RCU");
	init_data(&data);
	KUNIT_ASSERT_EQ(test, register_trace_tp_test_faultable(sleeping_probe, &data), 0);
	start_caller(test, &caller, &data);
	start(test, &waiter, wait_for_tasks_trace);
	KUNIT_EXPECT_TRUE(test, ends(&waiter, LONG_ENOUGH));
	complete(&data.let_go);
	KUNIT_EXPECT_TRUE(test, ends(&caller, LONG_ENOUGH));
	KUNIT_EXPECT_EQ(test, unregister_trace_tp_test_faultable(sleeping_probe, &data), 0);
	tracepoint_synchronize_unregister();
}

struct freed_later {
	struct rcu_head rcu;
	struct completion freed;
};

static void note_freed(struct rcu_head *head)
{
	complete(&container_of(head, struct freed_later, rcu)->freed);
}

/* What a probe uses is freed when it has returned, and nobody waits for that. */
static void test_call_waits(struct kunit *test)
{
	struct freed_later later;
	struct other_task caller;
	struct probe_data data;

	init_data(&data);
	init_completion(&later.freed);
	KUNIT_ASSERT_EQ(test, register_trace_tp_test_faultable(sleeping_probe, &data), 0);
	start_caller(test, &caller, &data);
	KUNIT_EXPECT_EQ(test, unregister_trace_tp_test_faultable(sleeping_probe, &data), 0);
	call_tracepoint_faultable(&later.rcu, note_freed);
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&later.freed, A_WHILE), 0);
	complete(&data.let_go);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&later.freed, LONG_ENOUGH), 0);
	KUNIT_EXPECT_TRUE(test, ends(&caller, LONG_ENOUGH));
	tracepoint_synchronize_unregister();
}

static struct probe_data other_data[3];

/* From no probe to one, to two, to three, and back, of both tracepoints */
static void register_and_unregister(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(other_data); i++) {
		register_trace_tp_test_faultable(noting_probe, &other_data[i]);
		register_trace_tp_test_plain(noting_probe, &other_data[i]);
	}
	for (i = 0; i < ARRAY_SIZE(other_data); i++) {
		unregister_trace_tp_test_faultable(noting_probe, &other_data[i]);
		unregister_trace_tp_test_plain(noting_probe, &other_data[i]);
	}
	register_trace_tp_test_faultable(noting_probe, &other_data[0]);
	unregister_trace_tp_test_faultable(noting_probe, &other_data[0]);
}

/* A probe that sleeps keeps nobody from registering others. */
static void test_register_does_not_wait(struct kunit *test)
{
	struct other_task caller, other;
	struct probe_data data;

	init_data(&data);
	KUNIT_ASSERT_EQ(test, register_trace_tp_test_faultable(sleeping_probe, &data), 0);
	start_caller(test, &caller, &data);
	start(test, &other, register_and_unregister);
	KUNIT_EXPECT_TRUE(test, ends(&other, LONG_ENOUGH));
	KUNIT_EXPECT_EQ(test, unregister_trace_tp_test_faultable(sleeping_probe, &data), 0);
	start(test, &other, register_and_unregister);
	KUNIT_EXPECT_TRUE(test, ends(&other, LONG_ENOUGH));
	complete(&data.let_go);
	KUNIT_EXPECT_TRUE(test, ends(&caller, LONG_ENOUGH));
	tracepoint_synchronize_unregister();
}

/*
 * The array of probes that a caller goes through stays until it is through: it calls the
 * second probe, which was unregistered meanwhile, with its data.
 */
static void test_array_stays(struct kunit *test)
{
	struct probe_data first, second;
	struct other_task caller;
	void *other[64];
	int i;

	init_data(&first);
	init_data(&second);
	KUNIT_ASSERT_EQ(test, register_trace_prio_tp_test_faultable(sleeping_probe, &first, 20), 0);
	KUNIT_ASSERT_EQ(test, register_trace_prio_tp_test_faultable(noting_probe, &second, 10), 0);
	start_caller(test, &caller, &first);
	KUNIT_EXPECT_EQ(test, unregister_trace_tp_test_faultable(noting_probe, &second), 0);
	KUNIT_EXPECT_EQ(test, unregister_trace_tp_test_faultable(sleeping_probe, &first), 0);
	/* If it were freed after another grace period, it would be used for others now. */
	rcu_barrier();
	srcu_barrier(&tracepoint_srcu);
	for (i = 0; i < ARRAY_SIZE(other); i++)
		other[i] = kunit_kzalloc(test, 96, GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, other[0]);
	complete(&first.let_go);
	KUNIT_EXPECT_TRUE(test, ends(&caller, LONG_ENOUGH));
	KUNIT_EXPECT_EQ(test, second.calls, 1);
	KUNIT_EXPECT_EQ(test, second.value, VALUE);
	tracepoint_synchronize_unregister();
}

static struct kunit_case tracepoint_test_cases[] = {
	KUNIT_CASE(test_is_faultable),
	KUNIT_CASE(test_context),
	KUNIT_CASE(test_several_probes),
#ifdef CONFIG_HAVE_STATIC_CALL
	KUNIT_CASE(test_static_call),
#endif
	KUNIT_CASE_SLOW(test_synchronize_waits),
	KUNIT_CASE_SLOW(test_synchronize_waits_for_plain),
	KUNIT_CASE_SLOW(test_atomic_sync_waits),
	KUNIT_CASE_SLOW(test_atomic_sync_waits_for_srcu),
	KUNIT_CASE(test_atomic_sync_ignores_faults),
	KUNIT_CASE(test_tasks_trace_ignores_faults),
	KUNIT_CASE_SLOW(test_call_waits),
	KUNIT_CASE(test_register_does_not_wait),
	KUNIT_CASE(test_array_stays),
	{}
};

static struct kunit_suite tracepoint_test_suite = {
	.name = "tracepoint",
	.test_cases = tracepoint_test_cases,
};

kunit_test_suite(tracepoint_test_suite);

MODULE_DESCRIPTION("KUnit tests of tracepoints");
MODULE_LICENSE("GPL");
