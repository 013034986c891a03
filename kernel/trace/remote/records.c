// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each record of a remote, for its users in the kernel
 *
 *	histograms	of the remote's events, see hist.c
 *	the tracepoint	trace_remote:trace_remote_record, for BPF and perf
 *
 * While the rings are loaded and there is a user, a work follows the rings of all CPUs
 * (ring_buffer_reader_follow.c). It consumes nothing. It merges the records of the CPUs by their
 * times, as far as they are there. Without a user there is no work, no memory for it, and no cost.
 *
 * A consuming reader calls trace_remote_records_sync() before each page, so that the users see the
 * records before the remote gets the page back. So do the functions that clear events, show a
 * histogram, or unload the rings. Records that the remote overwrote before that are lost, and
 * counted.
 *
 * A user sees a copy of the record, which was checked, and which the remote can't change.
 *
 * Locking
 * -------
 *
 * event_mutex			taken first, by the kernel's triggers
 * registry.c			the list of remotes, by remote_records_update_all()
 * trace_remote.lock		who wants records, and whether the rings are loaded
 * trace_remote_read_lock()	of readers that call trace_remote_records_sync()
 * trace_remote.records_lock	innermost: @records, and the records that are being shown
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../trace_replay.h"
#include "remote.h"

#define CREATE_TRACE_POINTS
#include <trace/events/trace_remote.h>

#define REMOTE_RECORDS_PERIOD	msecs_to_jiffies(10)

/**
 * struct trace_remote_followed - a CPU whose records are shown
 * @follower:	follows its ring; NULL while it has none
 * @event:	the record that is shown next
 * @ts:		its time, ns
 * @lost:	records lost before it
 * @pages:	how many pages to look at, still
 */
struct trace_remote_followed {
	struct ring_buffer_reader_follower	*follower;
	struct ring_buffer_event		*event;
	u64					ts;
	unsigned long				lost;
	unsigned int				pages;
};

/**
 * struct trace_remote_records - what shows the records of a remote
 * @buffer:	the rings
 * @merge:	CPUs that have a record
 * @cpus:	for each CPU
 */
struct trace_remote_records {
	struct trace_buffer		*buffer;
	struct trace_remote_merge	merge;
	struct trace_remote_followed	cpus[];
};

/* The tracepoint has functions. */
static atomic_t remote_records_traced;

static bool remote_records_are_wanted(const struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	return remote->nr_record_users || atomic_read(&remote_records_traced);
}

static void remote_show_record(struct trace_remote *remote, int cpu,
			       const struct trace_remote_followed *followed)
{
	unsigned int size = ring_buffer_event_length(followed->event);
	void *record = ring_buffer_event_data(followed->event);
	struct trace_remote_event *event;

	lockdep_assert_held(&remote->records_lock);

	remote->records_lost += followed->lost;
	event = trace_remote_record_event(remote, record, size);
	if (!event) {
		remote->records_lost++;
		return;
	}

	trace_trace_remote_record(trace_remote_name(remote), cpu, followed->ts, followed->lost,
				  trace_remote_event_id(event), trace_event_name(&event->call),
				  record, size);
	if (IS_ENABLED(CONFIG_TRACE_REMOTE_HIST) && remote->replay &&
	    trace_remote_event_is_own(event))
		trace_replay_event(remote->replay, trace_remote_event_nr(event), cpu,
				   followed->ts, record);
}

/* Go to the next record. False if there is none now, or enough was looked at. */
static bool remote_records_next(struct trace_remote_followed *followed)
{
	do {
		followed->event = ring_buffer_reader_follow_next(followed->follower, &followed->ts,
								 &followed->lost);
		if (followed->event)
			return true;
		if (!followed->pages)
			return false;
		followed->pages--;
	} while (ring_buffer_reader_follow_page(followed->follower));

	return false;
}

/* A CPU may have got its ring after the others. */
static bool remote_records_follow(struct trace_remote_records *records, int cpu, bool from_first)
{
	struct trace_remote_followed *followed = &records->cpus[cpu];
	struct ring_buffer_reader_follower *follower = followed->follower;

	if (!follower)
		follower = ring_buffer_reader_follow_start(records->buffer, cpu, from_first);
	if (IS_ERR(follower))
		return false;

	followed->follower = follower;
	followed->pages = ring_buffer_reader_follow_pages(follower);
	return true;
}

/* Show the records that are there. What a CPU's ring had at the begin is the most that is shown. */
static void remote_records_show(struct trace_remote *remote)
{
	struct trace_remote_records *records = remote->records;
	struct trace_remote_merge *merge = &records->merge;
	struct trace_remote_followed *followed;
	int cpu;

	lockdep_assert_held(&remote->records_lock);

	trace_remote_merge_clear(merge);
	for_each_possible_cpu(cpu) {
		followed = &records->cpus[cpu];
		if (remote_records_follow(records, cpu, true) && remote_records_next(followed))
			trace_remote_merge_add(merge, cpu, followed->ts);
	}

	while ((cpu = trace_remote_merge_first(merge)) >= 0) {
		followed = &records->cpus[cpu];
		remote_show_record(remote, cpu, followed);
		if (remote_records_next(followed))
			trace_remote_merge_update(merge, followed->ts);
		else
			trace_remote_merge_pop(merge);
		cond_resched();
	}
}

/**
 * trace_remote_records_sync - let all records that are written by now be seen
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 */
void trace_remote_records_sync(struct trace_remote *remote)
{
	if (!READ_ONCE(remote->records))
		return;

	guard(mutex)(&remote->records_lock);
	if (remote->records)
		remote_records_show(remote);
}

/**
 * trace_remote_records_lost - how many records could not be shown
 * @remote:	the remote
 *
 * The remote overwrote them before they were seen, or they were none of its events.
 *
 * Context: process context, may sleep.
 * Return: how many, since the rings were loaded or the first user came.
 */
u64 trace_remote_records_lost(struct trace_remote *remote)
{
	guard(mutex)(&remote->records_lock);
	return remote->records_lost;
}

/* trace_remote_records_kick() queues it again when the remote becomes active. */
static void remote_records_work(struct work_struct *work)
{
	struct trace_remote *remote = container_of(to_delayed_work(work), struct trace_remote,
						   records_work);

	trace_remote_records_sync(remote);
	if (READ_ONCE(remote->active))
		queue_delayed_work(system_unbound_wq, &remote->records_work,
				   REMOTE_RECORDS_PERIOD);
}

/**
 * trace_remote_records_kick - show records soon, and as long as the remote is active
 * @remote:	the remote
 *
 * Context: trace_remote.lock is held.
 */
void trace_remote_records_kick(struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	if (remote->records)
		mod_delayed_work(system_unbound_wq, &remote->records_work, 0);
}

/**
 * trace_remote_records_init - initialise what this file has of a remote
 * @remote:	the remote
 */
void trace_remote_records_init(struct trace_remote *remote)
{
	mutex_init(&remote->records_lock);
	INIT_DELAYED_WORK(&remote->records_work, remote_records_work);
}

static void remote_records_free(struct trace_remote_records *records)
{
	int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		ring_buffer_reader_follow_finish(records->cpus[cpu].follower);
	trace_remote_merge_free(&records->merge);
	kvfree(records);
}

static struct trace_remote_records *remote_records_alloc(struct trace_buffer *buffer)
{
	struct trace_remote_records *records;
	int cpu;

	records = kvzalloc(struct_size(records, cpus, nr_cpu_ids), GFP_KERNEL);
	if (!records)
		return NULL;

	records->buffer = buffer;
	if (trace_remote_merge_init(&records->merge))
		goto err_free;

	for_each_possible_cpu(cpu) {
		if (ring_buffer_reader_has_cpu(buffer, cpu) &&
		    !remote_records_follow(records, cpu, false))
			goto err_free;
	}

	return records;

err_free:
	remote_records_free(records);
	return NULL;
}

/**
 * trace_remote_records_start - begin to show records, if they have a user
 * @remote:	the remote, whose rings are loaded
 *
 * Those that are written from now on.
 *
 * Context: process context, may sleep; trace_remote.lock is held.
 * Return: 0 or -ENOMEM.
 */
int trace_remote_records_start(struct trace_remote *remote)
{
	struct trace_remote_records *records;

	lockdep_assert_held(&remote->lock);

	if (remote->records || !remote_records_are_wanted(remote))
		return 0;

	records = remote_records_alloc(remote->buffer->trace);
	if (!records)
		return -ENOMEM;

	scoped_guard(mutex, &remote->records_lock) {
		remote->records_lost = 0;
		WRITE_ONCE(remote->records, records);
	}
	trace_remote_records_kick(remote);
	return 0;
}

/**
 * trace_remote_records_stop - show the records that are there, and no more
 * @remote:	the remote. Its rings are about to be unloaded, or its records have no user
 *
 * Context: process context, may sleep; trace_remote.lock is held.
 */
void trace_remote_records_stop(struct trace_remote *remote)
{
	struct trace_remote_records *records = remote->records;

	lockdep_assert_held(&remote->lock);

	if (!records)
		return;

	scoped_guard(mutex, &remote->records_lock) {
		remote_records_show(remote);
		WRITE_ONCE(remote->records, NULL);
	}
	cancel_delayed_work_sync(&remote->records_work);
	remote_records_free(records);
}

/* Start or stop, as there are users. */
static int remote_records_update(struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	if (!remote_records_are_wanted(remote))
		trace_remote_records_stop(remote);

	return remote->buffer ? trace_remote_records_start(remote) : 0;
}

/**
 * trace_remote_records_get - show records from now on, whenever the rings are loaded
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 * Return: 0, until trace_remote_records_put(); or -ENOMEM.
 */
int trace_remote_records_get(struct trace_remote *remote)
{
	int ret;

	guard(mutex)(&remote->lock);

	remote->nr_record_users++;
	ret = remote_records_update(remote);
	if (ret)
		remote->nr_record_users--;
	return ret;
}

/**
 * trace_remote_records_put - undo trace_remote_records_get()
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 */
void trace_remote_records_put(struct trace_remote *remote)
{
	guard(mutex)(&remote->lock);

	remote->nr_record_users--;
	remote_records_update(remote);
}

static void remote_records_update_one(struct trace_remote *remote)
{
	guard(mutex)(&remote->lock);

	if (remote_records_update(remote))
		pr_warn("trace_remote: %s: no memory to show records\n", trace_remote_name(remote));
}

static void remote_records_update_all(struct work_struct *work)
{
	trace_remote_registry_for_each(remote_records_update_one);
}

static DECLARE_WORK(remote_records_update_work, remote_records_update_all);

/*
 * The tracepoint has got its first function, or lost its last one. The caller has the lock of all
 * tracepoints, inside of which trace_remote.lock can't be taken: tasks.c has probes.
 */
int trace_remote_record_reg(void)
{
	atomic_inc(&remote_records_traced);
	schedule_work(&remote_records_update_work);
	return 0;
}

void trace_remote_record_unreg(void)
{
	atomic_dec(&remote_records_traced);
	schedule_work(&remote_records_update_work);
}
