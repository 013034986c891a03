// SPDX-License-Identifier: GPL-2.0-only
/*
 * A remote for tests, whose writer is a thread of each CPU
 *
 * It needs no hypervisor and no firmware. The threads write with trace_ring.c, and filter with
 * trace_remote_filter_match(), as a remote does. So it runs the files of a remote's directory
 * on any machine, and it is the example of how a remote is registered:
 *
 *	test_events.h		the events: record, fields, text
 *	remote_test_ops		what the core asks of the remote
 *	remote_test_desc	its name, its events, its functions
 *	remote_test_init()	trace_remote_create(), then trace_remote_create_dir()
 *
 * A number that is written to write_event comes back from the thread of the CPU that wrote it,
 * as one event of each kind that is enabled. The write returns when these are in the ring. So
 * a test knows which events a trace must have.
 *
 * Locking
 * -------
 *
 * remote_test_users_lock	taken first, by get() and put(): the threads exist while the
 *				remote has users
 * cpu_hotplug_lock		held while a thread is asked to write, so that it is not parked
 * remote_test_cpu.request_lock	one request at a time
 * remote_test_cpu.lock		an event is written; or @on changes; or the ring is reset, or its
 *				mode changes
 * remote_test_trigger_lock	a trigger fires, or is set; or tracing is stopped
 *
 * As with any remote, remote_test_swap_reader() takes no lock against the writer.
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smpboot.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/trace_remote.h>
#include <linux/trace_remote_filter.h>
#include <linux/trace_ring.h>

#define REMOTE_TEST_GROUP	"trace_remote_test"
#include "test_events.h"

#define REMOTE_TEST_GFP	(GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * struct remote_test_cpu - the writer of a CPU
 * @ring:	its ring, while loaded
 * @dir:	the directory page of @ring
 * @lock:	covers @on, @has_request, @value and @ts, and what the writer has of @ring
 * @on:		events are written
 * @has_request: the thread is to write events of @value
 * @value:	that number
 * @ts:		the time of these events
 * @request_lock: held by the task that waits for @done
 * @done:	the events are written
 * @thread:	writes them
 */
struct remote_test_cpu {
	struct trace_ring	ring;
	void			*dir;
	raw_spinlock_t		lock;	/* covers the writer */
	bool			on;
	bool			has_request;
	u64			value;
	u64			ts;
	struct mutex		request_lock;	/* covers a request */
	struct completion	done;
	struct task_struct	*thread;
};

static DEFINE_PER_CPU(struct remote_test_cpu, remote_test_cpus);

/**
 * struct remote_test_filter - a filter in use
 * @rcu:	frees it
 * @nr:		predicates that it has
 * @preds:	the predicates
 */
struct remote_test_filter {
	struct rcu_head			rcu;
	unsigned int			nr;
	struct trace_remote_pred	preds[] __counted_by(nr);
};

static struct remote_test_filter __rcu *remote_test_filters[NR_REMOTE_TEST_EVENTS];
static DECLARE_BITMAP(remote_test_enabled, NR_REMOTE_TEST_EVENTS);

/* A filter may read this much of an event's record. */
static const unsigned int remote_test_sizes[] = {
	[REMOTE_TEST_SELFTEST]	= sizeof(struct remote_test_selftest),
	[REMOTE_TEST_NUMBERS]	= sizeof(struct remote_test_numbers),
	[REMOTE_TEST_ARRAY]	= sizeof(struct remote_test_array),
	[REMOTE_TEST_STRING]	= offsetof(struct remote_test_string, text),
	[REMOTE_TEST_BITMASK]	= offsetof(struct remote_test_bitmask, mask),
};

static_assert(ARRAY_SIZE(remote_test_sizes) == NR_REMOTE_TEST_EVENTS);

/**
 * struct remote_test_trigger - what an event does to tracing
 * @set:	there is one
 * @on:		it turns tracing on; else off
 * @count:	how often, still; ULONG_MAX for no limit
 * @filter:	which of the events
 */
struct remote_test_trigger {
	bool				set;
	bool				on;
	unsigned long			count;
	struct remote_test_filter __rcu	*filter;
};

static struct remote_test_trigger remote_test_triggers[NR_REMOTE_TEST_EVENTS];
static DEFINE_RAW_SPINLOCK(remote_test_trigger_lock);	/* covers triggers and what they change */
static bool remote_test_halted;	/* also read without the lock */

static DEFINE_MUTEX(remote_test_users_lock);	/* covers remote_test_users */
static unsigned int remote_test_users;

static struct trace_remote *remote_test_remote;

/* The writer of a CPU, as any remote has it */

static bool remote_test_matches(struct remote_test_filter __rcu **used, const void *record)
{
	const struct remote_test_filter *filter;

	guard(rcu)();
	filter = rcu_dereference(*used);
	return !filter || trace_remote_filter_match(filter->preds, filter->nr, record);
}

/* Turn tracing on or off, if the event's trigger says so. Only one CPU does so at a time. */
static bool remote_test_fire(enum remote_test_event nr, const void *record, bool on)
{
	struct remote_test_trigger *trigger = &remote_test_triggers[nr];

	guard(raw_spinlock)(&remote_test_trigger_lock);
	if (!trigger->set || trigger->on != on || !trigger->count || remote_test_halted != on ||
	    !remote_test_matches(&trigger->filter, record))
		return false;

	if (trigger->count != ULONG_MAX)
		WRITE_ONCE(trigger->count, trigger->count - 1);
	WRITE_ONCE(remote_test_halted, !on);
	return true;
}

static void remote_test_put_record(struct remote_test_cpu *cpu, const void *record,
				   unsigned int size)
{
	struct trace_ring_event event;

	lockdep_assert_held(&cpu->lock);

	if (!trace_ring_try_reserve(&cpu->ring, size, cpu->ts, &event) &&
	    !trace_ring_reserve(&cpu->ring, size, cpu->ts, &event))
		return;

	memcpy(event.data, record, size);
	trace_ring_commit(&cpu->ring, &event);
}

/*
 * Write a record of @size bytes, if the task is not ignored, the event is enabled and the record
 * matches the filter.
 */
static void remote_test_write(struct remote_test_cpu *cpu, enum remote_test_event nr,
			      struct trace_entry *ent, unsigned int size)
{
	u64 task = trace_ring_task(&cpu->ring);

	lockdep_assert_held(&cpu->lock);

	/* The task is the thread itself. */
	if (task & RB_WRITER_TASK_IGNORED)
		return;

	ent->type = remote_test_events[nr].call.event.type;
	ent->pid = task;
	if (READ_ONCE(remote_test_halted) && !remote_test_fire(nr, ent, true))
		return;

	if (test_bit(nr, remote_test_enabled) && remote_test_matches(&remote_test_filters[nr], ent))
		remote_test_put_record(cpu, ent, size);
	remote_test_fire(nr, ent, false);
}

/* The fast path of trace_ring.h has room for them, in whole words. */
#define REMOTE_TEST_WRITE(cpu, nr, record)					\
do {										\
	static_assert(sizeof(record) % sizeof(u32) == 0);			\
	static_assert(sizeof(record) <= RB_WRITER_MAX_SHORT);			\
	remote_test_write(cpu, nr, &(record).ent, sizeof(record));		\
} while (0)

#define REMOTE_TEST_LOC(type, field)						\
	(offsetof(type, field) | (u32)sizeof_field(type, field) << 16)

static void remote_test_write_numbers(struct remote_test_cpu *cpu, u64 value)
{
	struct remote_test_numbers record = {
		.kind	= value % 4,
		.s8	= -value,
		.u16	= value,
		.s16	= -value,
		.u32	= value,
		.s32	= -value,
		.s64	= -value,
	};

	REMOTE_TEST_WRITE(cpu, REMOTE_TEST_NUMBERS, record);
}

static void remote_test_write_array(struct remote_test_cpu *cpu, u64 value)
{
	struct remote_test_array record = { };
	int i;

	for (i = 0; i < REMOTE_TEST_WORDS; i++)
		record.words[i] = value + i;
	REMOTE_TEST_WRITE(cpu, REMOTE_TEST_ARRAY, record);
}

static void remote_test_write_string(struct remote_test_cpu *cpu, u64 value)
{
	struct remote_test_string record = {
		.__data_loc_text = REMOTE_TEST_LOC(struct remote_test_string, text),
	};

	snprintf(record.text, sizeof(record.text), "number %llu", value);
	REMOTE_TEST_WRITE(cpu, REMOTE_TEST_STRING, record);
}

static void remote_test_write_bitmask(struct remote_test_cpu *cpu, u64 value)
{
	struct remote_test_bitmask record = {
		.__data_loc_mask = REMOTE_TEST_LOC(struct remote_test_bitmask, mask),
		.mask = { value, ~value },
	};

	REMOTE_TEST_WRITE(cpu, REMOTE_TEST_BITMASK, record);
}

static void remote_test_write_all(struct remote_test_cpu *cpu, u64 value)
{
	struct remote_test_selftest record = { .id = value };

	/* All events of a request have the same time. */
	cpu->ts = ktime_get_boot_fast_ns();
	REMOTE_TEST_WRITE(cpu, REMOTE_TEST_SELFTEST, record);
	remote_test_write_numbers(cpu, value);
	remote_test_write_array(cpu, value);
	remote_test_write_string(cpu, value);
	remote_test_write_bitmask(cpu, value);
}

/* The threads */

static int remote_test_thread_should_run(unsigned int cpu)
{
	return READ_ONCE(per_cpu(remote_test_cpus, cpu).has_request);
}

static void remote_test_thread(unsigned int nr)
{
	struct remote_test_cpu *cpu = per_cpu_ptr(&remote_test_cpus, nr);

	scoped_guard(raw_spinlock_irqsave, &cpu->lock) {
		if (cpu->on)
			remote_test_write_all(cpu, cpu->value);
		WRITE_ONCE(cpu->has_request, false);
	}
	complete(&cpu->done);
}

static struct smp_hotplug_thread remote_test_threads = {
	.store			= &remote_test_cpus.thread,
	.thread_should_run	= remote_test_thread_should_run,
	.thread_fn		= remote_test_thread,
	.thread_comm		= "trace_remote/%u",
};

static int remote_test_write_event(void *priv, u64 value)
{
	struct remote_test_cpu *cpu;

	guard(cpus_read_lock)();
	cpu = per_cpu_ptr(&remote_test_cpus, raw_smp_processor_id());
	guard(mutex)(&cpu->request_lock);

	reinit_completion(&cpu->done);
	scoped_guard(raw_spinlock_irqsave, &cpu->lock) {
		cpu->value = value;
		WRITE_ONCE(cpu->has_request, true);
	}
	wake_up_process(cpu->thread);
	wait_for_completion(&cpu->done);
	return 0;
}

/* The threads exist between get() and put(). */
static int remote_test_get(void *priv)
{
	int ret = 0;

	guard(mutex)(&remote_test_users_lock);
	if (!remote_test_users)
		ret = smpboot_register_percpu_thread(&remote_test_threads);
	remote_test_users += !ret;
	return ret;
}

static void remote_test_put(void *priv)
{
	guard(mutex)(&remote_test_users_lock);
	if (!--remote_test_users)
		smpboot_unregister_percpu_thread(&remote_test_threads);
}

/* The memory of a ring */

static void *remote_test_alloc_page(int cpu)
{
	struct page *page;

	cond_resched();
	if (fatal_signal_pending(current))
		return NULL;

	page = alloc_pages_node(cpu_to_node(cpu), REMOTE_TEST_GFP, 0);
	return page ? page_address(page) : NULL;
}

static void remote_test_free_page(void *page)
{
	free_page((unsigned long)page);
}

static int remote_test_add_leaves(struct trace_ring *ring, int cpu)
{
	unsigned int i;
	void *leaf;

	for (i = 0; i < TRACE_RING_LEAVES(ring->max_pages); i++) {
		leaf = remote_test_alloc_page(cpu);
		if (!leaf)
			return -ENOMEM;
		WARN_ON_ONCE(trace_ring_add_leaf(ring, leaf));
	}

	return 0;
}

static int remote_test_add_pages(struct trace_ring *ring, struct ring_buffer_writer_cpu *desc,
				 int cpu)
{
	unsigned int i;

	for (i = 0; i < desc->nr_pages; i++) {
		desc->pages[i] = remote_test_alloc_page(cpu);
		if (!desc->pages[i])
			return -ENOMEM;
		WARN_ON_ONCE(trace_ring_add_page(ring, desc->pages[i]));
	}

	return 0;
}

/* Free the memory of a ring, also of one that is incomplete. */
static void remote_test_free_ring(struct remote_test_cpu *cpu, struct ring_buffer_writer_cpu *desc)
{
	void *page;

	while ((page = trace_ring_pop_page(&cpu->ring)))
		remote_test_free_page(page);
	while ((page = trace_ring_pop_leaf(&cpu->ring)))
		remote_test_free_page(page);
	remote_test_free_page(cpu->dir);
	remote_test_free_page(desc->meta);
	kvfree(desc->pages);
	cpu->ring = (struct trace_ring){ };
}

static int remote_test_alloc_ring(struct remote_test_cpu *cpu, int nr,
				  struct ring_buffer_writer_cpu *desc)
{
	int ret;

	cpu->dir = remote_test_alloc_page(nr);
	desc->meta = remote_test_alloc_page(nr);
	desc->pages = kvcalloc(desc->nr_pages, sizeof(*desc->pages), GFP_KERNEL);
	if (!cpu->dir || !desc->meta || !desc->pages)
		return -ENOMEM;

	ret = trace_ring_init(&cpu->ring, desc->meta, cpu->dir, desc->nr_pages);
	if (!ret)
		ret = remote_test_add_leaves(&cpu->ring, nr);
	if (!ret)
		ret = remote_test_add_pages(&cpu->ring, desc, nr);
	if (!ret)
		ret = trace_ring_start(&cpu->ring);
	return ret;
}

static int remote_test_load_ring(void *priv, int nr, struct ring_buffer_writer_cpu *desc)
{
	struct remote_test_cpu *cpu = per_cpu_ptr(&remote_test_cpus, nr);
	int ret = remote_test_alloc_ring(cpu, nr, desc);

	if (ret)
		remote_test_free_ring(cpu, desc);
	return ret && fatal_signal_pending(current) ? -EINTR : ret;
}

static void remote_test_unload_ring(void *priv, int nr, struct ring_buffer_writer_cpu *desc)
{
	remote_test_free_ring(per_cpu_ptr(&remote_test_cpus, nr), desc);
}

/* Operations on a loaded ring, called with interrupts off */

static int remote_test_enable_cpu(void *priv, int nr, bool enable)
{
	struct remote_test_cpu *cpu = per_cpu_ptr(&remote_test_cpus, nr);

	guard(raw_spinlock_irqsave)(&cpu->lock);
	cpu->on = enable;
	return 0;
}

static int remote_test_swap_reader(void *priv, int nr)
{
	return trace_ring_swap_reader(&per_cpu(remote_test_cpus, nr).ring);
}

static int remote_test_reset(void *priv, int nr)
{
	struct remote_test_cpu *cpu = per_cpu_ptr(&remote_test_cpus, nr);

	guard(raw_spinlock_irqsave)(&cpu->lock);
	trace_ring_reset(&cpu->ring);
	return 0;
}

static int remote_test_set_overwrite(void *priv, int nr, bool overwrite)
{
	struct remote_test_cpu *cpu = per_cpu_ptr(&remote_test_cpus, nr);

	guard(raw_spinlock_irqsave)(&cpu->lock);
	trace_ring_set_overwrite(&cpu->ring, overwrite);
	return 0;
}

/* The clock is the kernel's own: there is nothing to set. */
static int remote_test_start(void *priv)
{
	return 0;
}

static void remote_test_stop(void *priv)
{
}

static int remote_test_set_events(void *priv, const unsigned long *on)
{
	int i;

	for (i = 0; i < NR_REMOTE_TEST_EVENTS; i++)
		assign_bit(i, remote_test_enabled, test_bit(i, on));
	return 0;
}

/* Validate a filter as a remote does that does not trust the kernel. */
static bool remote_test_filter_is_valid(unsigned int nr, const struct trace_remote_pred *preds,
					unsigned int nr_preds)
{
	unsigned int i, size = ALIGN(remote_test_sizes[nr], sizeof(u64));

	for (i = 0; i < nr_preds; i++) {
		if (!trace_remote_pred_is_valid(preds[i].code, i, size))
			return false;
	}

	return trace_remote_filter_is_valid(preds, nr_preds);
}

static int remote_test_use_filter(struct remote_test_filter __rcu **used, unsigned int nr,
				  const struct trace_remote_pred *preds, unsigned int nr_preds)
{
	struct remote_test_filter *filter = NULL;

	if (!remote_test_filter_is_valid(nr, preds, nr_preds))
		return -EINVAL;

	if (nr_preds) {
		filter = kmalloc(struct_size(filter, preds, nr_preds), GFP_KERNEL);
		if (!filter)
			return -ENOMEM;
		filter->nr = nr_preds;
		memcpy(filter->preds, preds, nr_preds * sizeof(*preds));
	}

	filter = rcu_replace_pointer(*used, filter, true);
	if (filter)
		kfree_rcu(filter, rcu);
	return 0;
}

static int remote_test_set_filter(void *priv, unsigned int nr,
				  const struct trace_remote_pred *preds, unsigned int nr_preds)
{
	return remote_test_use_filter(&remote_test_filters[nr], nr, preds, nr_preds);
}

static bool remote_test_is_stopped(void *priv)
{
	return READ_ONCE(remote_test_halted);
}

static int remote_test_set_stopped(void *priv, bool stopped)
{
	guard(raw_spinlock_irqsave)(&remote_test_trigger_lock);
	WRITE_ONCE(remote_test_halted, stopped);
	return 0;
}

/* The filter changes while there is no trigger. */
static int remote_test_set_trigger(void *priv, unsigned int nr,
				   const struct trace_remote_trigger *new)
{
	struct remote_test_trigger *trigger = &remote_test_triggers[nr];
	int ret;

	scoped_guard(raw_spinlock_irqsave, &remote_test_trigger_lock)
		trigger->set = false;
	if (!new)
		return remote_test_use_filter(&trigger->filter, nr, NULL, 0);

	ret = remote_test_use_filter(&trigger->filter, nr, new->preds, new->nr_preds);
	if (ret)
		return ret;

	guard(raw_spinlock_irqsave)(&remote_test_trigger_lock);
	trigger->on = new->on;
	WRITE_ONCE(trigger->count, new->count);
	trigger->set = true;
	return 0;
}

static unsigned long remote_test_trigger_count(void *priv, unsigned int nr)
{
	return READ_ONCE(remote_test_triggers[nr].count);
}

static const struct trace_remote_ops remote_test_ops = {
	.get		= remote_test_get,
	.put		= remote_test_put,
	.load_ring	= remote_test_load_ring,
	.unload_ring	= remote_test_unload_ring,
	.enable_cpu	= remote_test_enable_cpu,
	.swap_reader	= remote_test_swap_reader,
	.reset_ring	= remote_test_reset,
	.set_overwrite	= remote_test_set_overwrite,
	.clock		= ktime_get_boot_fast_ns,
	.start		= remote_test_start,
	.stop		= remote_test_stop,
	.set_events	= remote_test_set_events,
	.set_filter	= remote_test_set_filter,
	.is_stopped	= remote_test_is_stopped,
	.set_stopped	= remote_test_set_stopped,
	.set_trigger	= remote_test_set_trigger,
	.trigger_count	= remote_test_trigger_count,
	.write_event	= remote_test_write_event,
};

static const struct trace_remote_desc remote_test_desc = {
	.name		= "trace_remote_test",
	.owner		= THIS_MODULE,
	.ops		= &remote_test_ops,
	.events		= remote_test_events,
	.nr_events	= NR_REMOTE_TEST_EVENTS,
	.max_pages	= TRACE_RING_MAX_PAGES,
	.has_tasks	= true,
};

static int __init remote_test_init(void)
{
	struct remote_test_cpu *cpu;
	int nr, ret;

	for_each_possible_cpu(nr) {
		cpu = per_cpu_ptr(&remote_test_cpus, nr);
		raw_spin_lock_init(&cpu->lock);
		mutex_init(&cpu->request_lock);
		init_completion(&cpu->done);
	}

	remote_test_remote = trace_remote_create(&remote_test_desc, NULL);
	if (IS_ERR(remote_test_remote))
		return PTR_ERR(remote_test_remote);

	ret = trace_remote_create_dir(remote_test_remote);
	if (ret)
		trace_remote_destroy(remote_test_remote);
	return ret;
}

/* Also if this is built in, tracefs exists by then. */
late_initcall(remote_test_init);

static void __exit remote_test_exit(void)
{
	int i;

	trace_remote_destroy(remote_test_remote);
	for (i = 0; i < NR_REMOTE_TEST_EVENTS; i++)
		kfree(rcu_dereference_protected(remote_test_filters[i], true));
}
module_exit(remote_test_exit);

MODULE_DESCRIPTION("Test remote that writes trace events in kernel threads");
MODULE_LICENSE("GPL");
