// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: a remote that writes nothing, with the events of trace_remote_test.c
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#define REMOTE_TEST_GROUP	"trace_remote_kunit"
#include "../remote.h"
#include "test_events.h"
#include "test.h"

#define KUNIT_REMOTE_PAGES	4

/**
 * struct kunit_remote - the remote's side, for one test
 * @remote:	the remote
 * @rings:	the ring of each CPU
 * @busy:	the event whose filter is refused
 * @nr_preds:	number of predicates in each event's filter
 * @on_at_stop:	tracing was on for readers when the remote was stopped
 * @stopped:	the remote has stopped: by itself, or since it shall
 * @stops_after: it stops by itself after is_stopped() was called so often; 0: it does not
 * @trigger:	the trigger that was set last; its pointers are the core's
 * @not_ready:	the result of get()
 * @nr_gets:	number of calls of get() without put()
 * @mover:	turns @moving off and on; NULL for none
 * @moving:	a CPU to be turned off and on while the remote starts or stops; 0 for none
 * @moved:	that happened meanwhile
 * @nr_enabled:	calls of enable_cpu() for @moving
 * @enabled:	CPUs that enable_cpu() has enabled
 * @refused:	what enable_cpu() returns to disable a CPU, if not 0
 * @keeps:	rings keep their oldest events
 * @keep_error:	the result of set_overwrite() for that
 * @interrupted: enable_cpu() or set_overwrite() was called with interrupts on
 * @elsewhere:	or on another CPU
 * @nr_resets:	calls of reset_ring()
 * @on:		events that are on, a bit each
 */
static struct kunit_remote {
	struct trace_remote	*remote;
	struct ring_test	**rings;
	int			busy;
	unsigned int		nr_preds[NR_REMOTE_TEST_EVENTS];
	bool			on_at_stop;
	bool			stopped;
	unsigned int		stops_after;
	struct trace_remote_trigger trigger;
	int			not_ready;
	int			nr_gets;
	struct task_struct	*mover;
	int			moving;
	bool			moved;
	int			nr_enabled;
	struct cpumask		enabled;
	int			refused;
	bool			keeps;
	int			keep_error;
	bool			interrupted;
	bool			elsewhere;
	unsigned int		nr_resets;
	unsigned long		on;
} kunit_remote;

static int kunit_remote_get(void *priv)
{
	kunit_remote.nr_gets += !kunit_remote.not_ready;
	return kunit_remote.not_ready;
}

static void kunit_remote_put(void *priv)
{
	kunit_remote.nr_gets--;
}

static int kunit_remote_load_ring(void *priv, int cpu, struct ring_buffer_writer_cpu *ring)
{
	*ring = kunit_remote.rings[cpu]->desc;
	return 0;
}

static void kunit_remote_unload_ring(void *priv, int cpu, struct ring_buffer_writer_cpu *ring)
{
}

static int kunit_remote_enable_cpu(void *priv, int cpu, bool enable)
{
	kunit_remote.nr_enabled += cpu == kunit_remote.moving;
	kunit_remote.interrupted |= !irqs_disabled();
	kunit_remote.elsewhere |= cpu_online(cpu) && cpu != raw_smp_processor_id();
	if (!enable && kunit_remote.refused)
		return kunit_remote.refused;

	assign_bit(cpu, cpumask_bits(&kunit_remote.enabled), enable);
	return 0;
}

static int kunit_remote_reset_ring(void *priv, int cpu)
{
	kunit_remote.nr_resets++;
	return 0;
}

static int kunit_remote_set_overwrite(void *priv, int cpu, bool overwrite)
{
	kunit_remote.interrupted |= !irqs_disabled();
	if (!overwrite && kunit_remote.keep_error)
		return kunit_remote.keep_error;

	kunit_remote.keeps = !overwrite;
	return 0;
}

static int kunit_remote_mover(void *unused)
{
	return remove_cpu(kunit_remote.moving) ?: add_cpu(kunit_remote.moving);
}

/* Start to move the CPU, and wait until it is offline, for a limited time. */
static void kunit_remote_move(void)
{
	unsigned long deadline = jiffies + HZ / 2;

	if (!kunit_remote.moving)
		return;

	kunit_remote.mover = kthread_run(kunit_remote_mover, NULL, "kunit_remote");
	if (IS_ERR(kunit_remote.mover)) {
		kunit_remote.mover = NULL;
		return;
	}

	get_task_struct(kunit_remote.mover);
	while (cpu_online(kunit_remote.moving) && time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);
	kunit_remote.moved |= !cpu_online(kunit_remote.moving);
}

static int kunit_remote_start(void *priv)
{
	kunit_remote_move();
	return 0;
}

static void kunit_remote_stop(void *priv)
{
	kunit_remote.on_at_stop = trace_remote_is_on(kunit_remote.remote);
	kunit_remote_move();
}

static bool kunit_remote_is_stopped(void *priv)
{
	bool stopped = READ_ONCE(kunit_remote.stopped);

	if (kunit_remote.stops_after && !--kunit_remote.stops_after)
		WRITE_ONCE(kunit_remote.stopped, true);
	return stopped;
}

static int kunit_remote_set_stopped(void *priv, bool stopped)
{
	WRITE_ONCE(kunit_remote.stopped, stopped);
	return 0;
}

static int kunit_remote_set_trigger(void *priv, unsigned int nr,
				    const struct trace_remote_trigger *trigger)
{
	if (trigger && nr == kunit_remote.busy)
		return -EBUSY;

	kunit_remote.trigger = trigger ? *trigger : (struct trace_remote_trigger){ };
	return 0;
}

static unsigned long kunit_remote_trigger_count(void *priv, unsigned int nr)
{
	return kunit_remote.trigger.count;
}

static int kunit_remote_set_events(void *priv, const unsigned long *on)
{
	kunit_remote.on = *on;
	return 0;
}

static int kunit_remote_set_filter(void *priv, unsigned int nr,
				   const struct trace_remote_pred *preds, unsigned int nr_preds)
{
	if (nr_preds && nr == kunit_remote.busy)
		return -EBUSY;

	kunit_remote.nr_preds[nr] = nr_preds;
	return 0;
}

static const struct trace_remote_ops kunit_remote_ops = {
	.get		= kunit_remote_get,
	.put		= kunit_remote_put,
	.load_ring	= kunit_remote_load_ring,
	.unload_ring	= kunit_remote_unload_ring,
	.enable_cpu	= kunit_remote_enable_cpu,
	.reset_ring	= kunit_remote_reset_ring,
	.set_overwrite	= kunit_remote_set_overwrite,
	.clock		= ktime_get_boot_fast_ns,
	.start		= kunit_remote_start,
	.stop		= kunit_remote_stop,
	.is_stopped	= kunit_remote_is_stopped,
	.set_stopped	= kunit_remote_set_stopped,
	.set_trigger	= kunit_remote_set_trigger,
	.trigger_count	= kunit_remote_trigger_count,
	.set_events	= kunit_remote_set_events,
	.set_filter	= kunit_remote_set_filter,
};

const struct trace_remote_desc kunit_remote_desc = {
	.name		= "trace_remote_kunit",
	.ops		= &kunit_remote_ops,
	.events		= remote_test_events,
	.nr_events	= NR_REMOTE_TEST_EVENTS,
	.functions	= &kunit_remote_functions,
	.max_pages	= TRACE_RING_MAX_PAGES,
	.has_tasks	= true,
};

static void kunit_remote_unregister(void *remote)
{
	trace_remote_destroy(remote);
}

struct trace_remote *kunit_remote_register(struct kunit *test)
{
	struct trace_remote *remote = trace_remote_create(&kunit_remote_desc, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, remote);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, kunit_remote_unregister, remote));
	kunit_remote = (struct kunit_remote){ .remote = remote, .busy = -1 };
	return remote;
}

void kunit_remote_make_rings(struct kunit *test)
{
	int cpu;

	kunit_remote.rings = kunit_kcalloc(test, nr_cpu_ids, sizeof(*kunit_remote.rings),
					   GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kunit_remote.rings);
	for_each_possible_cpu(cpu)
		kunit_remote.rings[cpu] = ring_test_make(test, KUNIT_REMOTE_PAGES);
}

struct cpumask *kunit_remote_enabled(void)
{
	return &kunit_remote.enabled;
}

unsigned int kunit_remote_nr_resets(void)
{
	return kunit_remote.nr_resets;
}

unsigned long kunit_remote_events_on(void)
{
	return kunit_remote.on;
}

void kunit_remote_refuse(int err)
{
	kunit_remote.refused = err;
}

/* A reader that sees tracing off also sees the remote stopped: it gets no early end of file. */
void remote_test_end(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	kunit_remote_make_rings(test);
	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));
	trace_remote_end(remote);
	KUNIT_EXPECT_TRUE(test, kunit_remote.on_at_stop);
	KUNIT_EXPECT_FALSE(test, trace_remote_is_on(remote));
	KUNIT_EXPECT_TRUE(test, trace_remote_has_ended(remote));
	KUNIT_EXPECT_EQ(test, -ENODEV, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote.nr_gets);
}

/* Tracing is on, then the remote stops by itself. */
static void kunit_remote_stop_itself(struct kunit *test, struct trace_remote *remote)
{
	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_TRUE(test, trace_remote_ask_on(remote));
	kunit_remote.on_at_stop = false;
	WRITE_ONCE(kunit_remote.stopped, true);
}

/*
 * The remote stops by itself. Tracing is turned off when tracing_on is read, before it is turned on
 * again, and while a reader waits, within a limited time.
 */
void remote_test_stopped(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);
	unsigned long deadline;

	kunit_remote_make_rings(test);
	kunit_remote_stop_itself(test, remote);
	KUNIT_EXPECT_FALSE(test, trace_remote_ask_on(remote));
	KUNIT_EXPECT_TRUE(test, kunit_remote.on_at_stop);
	KUNIT_EXPECT_EQ(test, 0, kunit_remote.nr_gets);

	kunit_remote_stop_itself(test, remote);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_TRUE(test, kunit_remote.on_at_stop);
	KUNIT_EXPECT_TRUE(test, trace_remote_ask_on(remote));

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace_remote_get_reader(remote));
	trace_remote_wait_begin(remote);
	kunit_remote_stop_itself(test, remote);
	deadline = jiffies + 10 * HZ;
	while (trace_remote_is_on(remote) && time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_FALSE(test, trace_remote_is_on(remote));
	trace_remote_wait_end(remote);
	trace_remote_put_reader(remote);
}

static int kunit_remote_write_trigger(struct kunit *test, const char *text)
{
	char *copy = kunit_kstrdup(test, text, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	return trace_remote_write_trigger(&remote_test_events[REMOTE_TEST_SELFTEST], copy);
}

/*
 * While an event can turn tracing on, the buffer stays loaded, and the remote active: it goes on,
 * and stops, by itself, and by writes to tracing_on.
 */
void remote_test_armed(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	kunit_remote_make_rings(test);
	KUNIT_EXPECT_EQ(test, 0, kunit_remote_write_trigger(test, "traceon:2 if id == 1"));
	KUNIT_EXPECT_TRUE(test, kunit_remote.trigger.on);
	KUNIT_EXPECT_EQ(test, 2, kunit_remote.trigger.count);
	KUNIT_EXPECT_EQ(test, 1, kunit_remote.trigger.nr_preds);
	KUNIT_EXPECT_TRUE(test, trace_remote_is_loaded(remote));
	KUNIT_EXPECT_TRUE(test, kunit_remote.stopped);
	KUNIT_EXPECT_FALSE(test, trace_remote_ask_on(remote));

	WRITE_ONCE(kunit_remote.stopped, false);
	KUNIT_EXPECT_TRUE(test, trace_remote_ask_on(remote));
	WRITE_ONCE(kunit_remote.stopped, true);
	KUNIT_EXPECT_FALSE(test, trace_remote_ask_on(remote));
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_FALSE(test, kunit_remote.stopped);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	KUNIT_EXPECT_TRUE(test, kunit_remote.stopped);
	KUNIT_EXPECT_TRUE(test, trace_remote_is_loaded(remote));

	KUNIT_EXPECT_EQ(test, 0, kunit_remote_write_trigger(test, "!traceon"));
	KUNIT_EXPECT_FALSE(test, kunit_remote.trigger.on);
	KUNIT_EXPECT_FALSE(test, trace_remote_is_loaded(remote));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote.nr_gets);
}

/* A remote that has gone on stops once more, before tracing is turned on: it stays stopped. */
void remote_test_window(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	kunit_remote_make_rings(test);
	KUNIT_ASSERT_EQ(test, 0, kunit_remote_write_trigger(test, "traceon"));
	kunit_remote.stops_after = 2;
	WRITE_ONCE(kunit_remote.stopped, false);
	KUNIT_EXPECT_TRUE(test, trace_remote_ask_on(remote));
	KUNIT_EXPECT_TRUE(test, kunit_remote.stopped);
	KUNIT_EXPECT_FALSE(test, trace_remote_ask_on(remote));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote_write_trigger(test, "!traceon"));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote.nr_gets);
}

/* A trigger that is not set leaves nothing behind; one that is set goes with the remote. */
void remote_test_trigger_refused(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	kunit_remote_make_rings(test);
	kunit_remote.busy = REMOTE_TEST_SELFTEST;
	KUNIT_EXPECT_EQ(test, -EBUSY, kunit_remote_write_trigger(test, "traceon"));
	KUNIT_EXPECT_FALSE(test, trace_remote_is_loaded(remote));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote_write_trigger(test, "!traceon"));
	kunit_remote.not_ready = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, kunit_remote_write_trigger(test, "traceoff"));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote.nr_gets);

	kunit_remote.not_ready = 0;
	kunit_remote.busy = -1;
	trace_remote_end(remote);
	KUNIT_EXPECT_EQ(test, -ENODEV, kunit_remote_write_trigger(test, "traceon"));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote_write_trigger(test, "traceoff"));
}

/* Stop the thread that moves the CPU; it must have succeeded. */
static void kunit_remote_expect_moved(struct kunit *test)
{
	unsigned long deadline = jiffies + 10 * HZ;

	KUNIT_ASSERT_NOT_NULL(test, kunit_remote.mover);
	while (!READ_ONCE(kunit_remote.mover->exit_state) && time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);
	KUNIT_ASSERT_TRUE(test, READ_ONCE(kunit_remote.mover->exit_state));
	KUNIT_EXPECT_TRUE(test, cpu_online(kunit_remote.moving));
	put_task_struct(kunit_remote.mover);
	kunit_remote.mover = NULL;
}

static void kunit_remote_expect_enabled(struct kunit *test, int nr)
{
	KUNIT_EXPECT_EQ(test, nr, kunit_remote.nr_enabled);
	KUNIT_EXPECT_FALSE(test, kunit_remote.interrupted);
	KUNIT_EXPECT_FALSE(test, kunit_remote.elsewhere);
	kunit_remote.nr_enabled = 0;
}

/* The CPU goes offline and online while tracing is on, and while the remote starts and stops. */
static void kunit_remote_move_cpu(struct kunit *test, struct trace_remote *remote, int cpu)
{
	kunit_remote.moving = cpu;
	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_FALSE(test, kunit_remote.moved);
	kunit_remote_expect_moved(test);
	kunit_remote_expect_enabled(test, 3);

	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	KUNIT_EXPECT_FALSE(test, kunit_remote.moved);
	kunit_remote_expect_moved(test);
	kunit_remote_expect_enabled(test, 3);

	kunit_remote.moving = 0;
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	KUNIT_EXPECT_EQ(test, 0, add_cpu(cpu));
}

/* On a machine with one CPU, call what runs when a CPU comes online. */
static void kunit_remote_enable_only_cpu(struct kunit *test, struct trace_remote *remote)
{
	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));
	scoped_guard(cpus_read_lock)
		trace_remote_cpu_enable(remote, 0, true);
	KUNIT_EXPECT_EQ(test, 2, kunit_remote.nr_enabled);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
}

/*
 * A CPU is enabled and disabled with interrupts off, also while it goes offline or online. No CPU
 * does so while the remote starts or stops: none gets a ring then.
 */
void remote_test_hotplug(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);
	int cpu = cpumask_last(cpu_online_mask);

	kunit_remote_make_rings(test);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace_remote_get_reader(remote));
	if (cpu && IS_ENABLED(CONFIG_HOTPLUG_CPU))
		kunit_remote_move_cpu(test, remote, cpu);
	else
		kunit_remote_enable_only_cpu(test, remote);
	KUNIT_EXPECT_FALSE(test, kunit_remote.interrupted);
	KUNIT_EXPECT_FALSE(test, kunit_remote.elsewhere);
	trace_remote_put_reader(remote);
}

static u64 kunit_remote_stats_ns(struct trace_remote *remote)
{
	u64 begin = ktime_get_ns();
	struct ring_buffer_reader_stats stats;

	ring_buffer_reader_get_stats(remote->buffer->trace, 0, &stats);
	return ktime_get_ns() - begin;
}

static u64 kunit_remote_off_ns(struct kunit *test, struct trace_remote *remote)
{
	u64 begin = ktime_get_ns();

	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	KUNIT_EXPECT_FALSE(test, trace_remote_is_loaded(remote));
	return ktime_get_ns() - begin;
}

/*
 * The counters are kept when the rings are unloaded. If no writer gets to its next page, that
 * takes no longer for all CPUs than for one. The shortest of several tries counts, since the
 * machine may have other work.
 */
void remote_test_keep_stopped(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);
	u64 one = U64_MAX, all = U64_MAX;
	int cpu, i;

	kunit_remote_make_rings(test);
	for_each_possible_cpu(cpu)
		kunit_remote.rings[cpu]->desc.meta->next++;

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));
		one = min(one, kunit_remote_stats_ns(remote));
		all = min(all, kunit_remote_off_ns(test, remote));
	}

	KUNIT_EXPECT_LT(test, all, one + one / 2);
}

/* A remote that is not ready: its error is returned, and nothing is loaded or changed. */
void remote_test_not_ready(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	kunit_remote_make_rings(test);
	kunit_remote.not_ready = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_FALSE(test, trace_remote_is_on(remote));
	KUNIT_EXPECT_EQ(test, -EIO, PTR_ERR_OR_ZERO(trace_remote_get_reader(remote)));
	KUNIT_EXPECT_FALSE(test, trace_remote_is_loaded(remote));
	KUNIT_EXPECT_EQ(test, -EIO,
			trace_remote_set_filter(remote, REMOTE_TEST_SELFTEST, "id == 1"));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote.nr_preds[REMOTE_TEST_SELFTEST]);
	KUNIT_EXPECT_EQ(test, 0, kunit_remote.nr_gets);

	kunit_remote.not_ready = 0;
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_EQ(test, 1, kunit_remote.nr_gets);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote.nr_gets);
}

/* The option holds for rings that are loaded, and for those that are loaded later. */
void remote_test_overwrite(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	kunit_remote_make_rings(test);
	KUNIT_EXPECT_EQ(test, -EINVAL, trace_remote_set_option(remote, "no"));
	KUNIT_EXPECT_EQ(test, -EINVAL, trace_remote_set_option(remote, "overwrites"));
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_option(remote, "nooverwrite"));
	KUNIT_EXPECT_FALSE(test, kunit_remote.keeps);

	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_TRUE(test, kunit_remote.keeps);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_option(remote, "overwrite"));
	KUNIT_EXPECT_FALSE(test, kunit_remote.keeps);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_option(remote, "nooverwrite"));
	KUNIT_EXPECT_TRUE(test, kunit_remote.keeps);
	KUNIT_EXPECT_FALSE(test, kunit_remote.interrupted);
}

/* If the remote refuses it, the option stays as it was, or the rings are not loaded. */
void remote_test_overwrite_refused(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	kunit_remote_make_rings(test);
	kunit_remote.keep_error = -EIO;
	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_EQ(test, -EIO, trace_remote_set_option(remote, "nooverwrite"));
	KUNIT_EXPECT_TRUE(test, remote->overwrite);
	KUNIT_EXPECT_FALSE(test, kunit_remote.keeps);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));

	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_option(remote, "nooverwrite"));
	KUNIT_EXPECT_EQ(test, -EIO, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_FALSE(test, trace_remote_is_loaded(remote));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote.nr_gets);
}

static void kunit_remote_expect_filter(struct kunit *test, int nr, const char *text)
{
	char *filter = trace_remote_get_filter(kunit_remote.remote, nr);

	KUNIT_ASSERT_NOT_NULL(test, filter);
	KUNIT_EXPECT_STREQ(test, filter, text);
	kfree(filter);
}

/* If the remote refuses a group's filter for one event, no event of the group has a filter. */
void remote_test_group_busy(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);
	int i;

	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_filter(remote, REMOTE_TEST_SELFTEST, "id == 1"));
	KUNIT_EXPECT_EQ(test, 1, kunit_remote.nr_preds[REMOTE_TEST_SELFTEST]);

	kunit_remote.busy = NR_REMOTE_TEST_EVENTS - 1;
	KUNIT_EXPECT_EQ(test, -EBUSY,
			trace_remote_set_filter(remote, TRACE_REMOTE_ALL, "common_pid == 1"));
	kunit_remote_expect_filter(test, TRACE_REMOTE_ALL, "none\n");
	for (i = 0; i < NR_REMOTE_TEST_EVENTS; i++) {
		KUNIT_EXPECT_EQ(test, 0, kunit_remote.nr_preds[i]);
		kunit_remote_expect_filter(test, i, "none\n");
	}
}

/* A field of a record, as the compiler lays it out */
struct layout_test {
	enum remote_test_event	nr;
	const char		*name;
	int			offset;
	int			size;
};

#define LAYOUT_TEST(nr, event, field, name)						\
	{ nr, name, offsetof(struct remote_test_##event, field),			\
	  sizeof_field(struct remote_test_##event, field) }

static const struct layout_test layout_tests[] = {
	LAYOUT_TEST(REMOTE_TEST_SELFTEST, selftest, id, "id"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, kind, "kind"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, s8, "s8"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, u16, "u16"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, s16, "s16"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, u32, "u32"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, s32, "s32"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, s64, "s64"),
	LAYOUT_TEST(REMOTE_TEST_ARRAY, array, words, "words"),
	LAYOUT_TEST(REMOTE_TEST_STRING, string, __data_loc_text, "text"),
	LAYOUT_TEST(REMOTE_TEST_BITMASK, bitmask, __data_loc_mask, "mask"),
};

/* The offsets that the core computes from sizes and alignments are the structures' offsets. */
void remote_test_layout(struct kunit *test)
{
	const struct ftrace_event_field *field;
	const struct layout_test *l;

	kunit_remote_register(test);
	for (l = layout_tests; l < layout_tests + ARRAY_SIZE(layout_tests); l++) {
		field = trace_find_event_field(&remote_test_events[l->nr].call, (char *)l->name);
		KUNIT_ASSERT_NOT_NULL_MSG(test, field, "%s", l->name);
		KUNIT_EXPECT_EQ_MSG(test, field->offset, l->offset, "%s", l->name);
		KUNIT_EXPECT_EQ_MSG(test, field->size, l->size, "%s", l->name);
	}
}

/* A record, and what is behind it */
struct record_test {
	struct remote_test_string	record;
	char				behind[8];
};

static void record_test_init(struct record_test *r)
{
	struct remote_test_string *record = &r->record;

	*r = (struct record_test) { };
	record->ent.type = remote_test_events[REMOTE_TEST_STRING].call.event.type;
	record->__data_loc_text = sizeof(record->text) << 16 | offsetof(typeof(*record), text);
	memset(record->text, 'x', sizeof(record->text) - 1);
}

static bool record_test_is_valid(struct record_test *r, unsigned int size)
{
	struct trace_remote_event *event = &kunit_remote_desc.events[REMOTE_TEST_STRING];

	return trace_remote_record_event(kunit_remote.remote, &r->record, size) == event;
}

/* A record is valid as a whole, with all that its fields point to, or not at all. */
void remote_test_record(struct kunit *test)
{
	unsigned int size, all = sizeof(struct remote_test_string);
	struct record_test r;

	kunit_remote_register(test);
	record_test_init(&r);
	KUNIT_EXPECT_TRUE(test, record_test_is_valid(&r, all));
	for (size = 0; size < all; size++)
		KUNIT_EXPECT_FALSE(test, record_test_is_valid(&r, size));

	r.record.text[sizeof(r.record.text) - 1] = 'x';
	KUNIT_EXPECT_FALSE(test, record_test_is_valid(&r, all));
	r.record.text[3] = 0;
	KUNIT_EXPECT_TRUE(test, record_test_is_valid(&r, all));
	r.record.__data_loc_text &= 0xffff;
	KUNIT_EXPECT_FALSE(test, record_test_is_valid(&r, all));
	r.record.__data_loc_text = 1 << 16 | offsetof(struct record_test, behind);
	KUNIT_EXPECT_FALSE(test, record_test_is_valid(&r, all));
	record_test_init(&r);
	r.record.ent.type = 0;
	KUNIT_EXPECT_FALSE(test, record_test_is_valid(&r, all));
}
