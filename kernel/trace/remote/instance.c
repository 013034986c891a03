// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a remote's buffer, and tracing on and off
 *
 * States of the instance, and what moves it
 *
 *	unloaded --+-- tracing_on = 1 -------------> loaded, on
 *	           |                                   |    ^
 *	           |                    tracing_on = 0 |    | tracing_on = 1
 *	           |                                   v    |
 *	           +-- trace_pipe(_raw) opened ----> loaded, off
 *	                                               |
 *	unloaded <-- no file in use, nothing to read --+
 *
 *	loaded, off --- trigger traceon is set -------> loaded, off, armed
 *
 * The rings exist from when they are first needed until tracing is off, no open file uses
 * them, and nothing is left to read. trace_pipe and trace_pipe_raw load the rings. trace
 * and stats use them if they are loaded, and show nothing otherwise.
 *
 * The remote can't wake a reader. While a reader waits and tracing is on, a work polls the
 * rings. While the rings are loaded the remote is kept ready by its get().
 *
 * A remote can stop writing by itself. Tracing is then turned off as by a write to tracing_on:
 * by the work that polls, by a read of tracing_on, and before tracing is turned on again.
 *
 * While an event has the trigger traceon, the remote is armed: it is active also when tracing is
 * off, with its CPUs enabled, but stopped. It can go on by itself, and tracing is then turned on
 * in the same way. The rings stay loaded.
 *
 * Locking
 * -------
 *
 * trace_remote.lock	taken first
 * trace_remote.tasks_lock	see tasks.c
 * the remote's own	inside of that, by get(), and outside of the next
 * cpu_hotplug_lock	@buffer, @enabled and @overwrite change with it held for reading. The
 *			callbacks for a CPU that comes or goes have it for writing, can't take the
 *			locks above, and rely on it alone. One of them loads a ring, so the
 *			remote is started and stopped, and loads and unloads rings, with it
 * trace_remote_read_lock()	events are being consumed, or cleared
 *
 * A dump takes none of them: see dump.c. trace_remote_dumping is set meanwhile, and the rings
 * stay.
 *
 * Memory ordering
 * ---------------
 *
 * All pairs of memory orderings of the remote layer, but for those of the rings. The table has
 * the form that trace_ring.c explains.
 *
 * (H) the buffer: H-buffer
 *	instance.c:remote_load_buffer
 *	instance.c:remote_hide_unused
 *   with
 *	instance.c:trace_remote_peek
 *
 *	The kernel sets up the buffer, then stores the pointer to it with release. The
 *	dumper, which takes no lock, loads the pointer with acquire, then uses the buffer.
 *
 * (U) unloading: U-unload
 *	instance.c:trace_remote_dump_begin
 *	instance.c:trace_remote_dump_end
 *   with
 *	instance.c:remote_is_dumping
 *
 *	The dumper sets trace_remote_dumping, then loads the pointer to the buffer. The kernel
 *	clears the pointer, then loads trace_remote_dumping. Both have a full barrier between.
 *	So either the dumper finds no buffer, or the buffer is not freed. The dumper clears
 *	trace_remote_dumping with release, after it has used the buffer.
 *
 * (V) polling: V-poll
 *	instance.c:trace_remote_poll_start
 *   with
 *	instance.c:trace_remote_poll_start
 *
 *	A reader becomes a waiter, then loads whether the remote is active. A task that
 *	activates it stores that, then looks for waiters. Both have smp_mb() between, in this
 *	function. So at least one of them starts polling.
 *
 * (W) wake: W-wake
 *	raw.c:remote_raw_wake
 *   with
 *	raw.c:remote_raw_wait_cond
 *	raw.c:remote_raw_wait
 *
 *	The kernel stores what changed, then increments raw->wake with release. A waiter
 *	loads raw->wake with acquire, then what changed.
 *
 * (O) on: O-on
 *	instance.c:remote_set_off
 *   with
 *	instance.c:trace_remote_is_on
 *
 *	The kernel disables all CPUs, stores that tracing has ended if it has for good, then
 *	stores that tracing is off with release. A reader loads that with acquire, then looks
 *	for events, then for an end for good. So the end that it reports is the end of the
 *	events, and not an end that is an error.
 *
 * (L) list of dumpers: L-dumpers
 *	trace_dumper.c:trace_register_dumper
 *   with
 *	trace_dumper.c:trace_dumper_find
 *
 *	The kernel fills in a dumper, then stores the pointer to it with release. An oops
 *	loads the pointer with acquire.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>

#include "remote.h"

/* What the kernel's buffers have, TRACE_BUF_SIZE_DEFAULT. */
#define REMOTE_DEFAULT_SIZE	(1408UL << 10)

#define REMOTE_POLL_PERIOD	msecs_to_jiffies(10)

/* A dump may be reading the rings without a lock. It may never end. */
static atomic_t trace_remote_dumping;

static bool remote_has_waiters(struct trace_remote *remote)
{
	return atomic_read(&remote->nr_waiters) ||
	       ring_buffer_reader_has_waiters(remote->buffer->trace);
}

/**
 * trace_remote_poll_start - poll the remote, as long as readers wait
 * @remote:	the remote
 *
 * The caller has a reader. It is on the wait queue by now, or between
 * trace_remote_wait_begin() and trace_remote_wait_end(). While the remote is not active nothing
 * is polled: activating it calls this function again.
 *
 * Context: any.
 */
void trace_remote_poll_start(struct trace_remote *remote)
{
	smp_mb();						/* (V) */
	if (READ_ONCE(remote->active))
		schedule_delayed_work(&remote->poll, REMOTE_POLL_PERIOD);
}

/**
 * trace_remote_wait_begin - the caller is about to wait for events, with a reader
 * @remote:	the remote
 *
 * Context: process context.
 */
void trace_remote_wait_begin(struct trace_remote *remote)
{
	atomic_inc(&remote->nr_waiters);
	trace_remote_poll_start(remote);
}

/**
 * trace_remote_wait_end - undo trace_remote_wait_begin()
 * @remote:	the remote
 *
 * Context: process context.
 */
void trace_remote_wait_end(struct trace_remote *remote)
{
	atomic_dec(&remote->nr_waiters);
}

/**
 * trace_remote_get_writer - keep the remote ready for calls
 * @remote:	the remote
 *
 * Context: process context, may sleep; without cpu_hotplug_lock.
 * Return: 0, until trace_remote_put_writer(); else what the remote's get() returns, with a
 * line in the log.
 */
int trace_remote_get_writer(struct trace_remote *remote)
{
	int ret = remote->desc->ops->get ? trace_remote_call(remote, get) : 0;

	if (ret)
		pr_warn("trace_remote: %s: not ready (%d)\n", trace_remote_name(remote), ret);
	return ret;
}

/**
 * trace_remote_put_writer - undo trace_remote_get_writer()
 * @remote:	the remote
 *
 * Context: as trace_remote_get_writer().
 */
void trace_remote_put_writer(struct trace_remote *remote)
{
	if (remote->desc->ops->put)
		trace_remote_call(remote, put);
}

/* No CPU comes up between the choice of those that get a ring and trace_remote_cpu_prepare(). */
static int remote_load_buffer(struct trace_remote *remote)
{
	struct trace_remote_buffer *buffer;

	guard(cpus_read_lock)();

	buffer = trace_remote_buffer_load(remote);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);

	trace_remote_stats_clear(remote, RING_BUFFER_ALL_CPUS);
	smp_store_release(&remote->buffer, buffer);		/* (H) */
	return 0;
}

static bool remote_is_dumping(void)
{
	smp_mb();						/* (U) */
	return atomic_read(&trace_remote_dumping);
}

/* Hide the rings from dumps and from CPUs that come up. NULL if they are in use. */
static struct trace_remote_buffer *remote_hide_unused(struct trace_remote *remote)
{
	struct trace_remote_buffer *buffer = remote->buffer;

	guard(cpus_read_lock)();

	if (!buffer || remote->active || remote->nr_users || !ring_buffer_empty(buffer->trace))
		return NULL;

	/* The dumper takes no locks, so defer unloading until it is done. */
	WRITE_ONCE(remote->buffer, NULL);
	if (remote_is_dumping()) {
		smp_store_release(&remote->buffer, buffer);	/* (H) */
		return NULL;
	}

	return buffer;
}

/* Free the rings, if they have no use any more. */
static void remote_unload_unused(struct trace_remote *remote)
{
	struct trace_remote_buffer *buffer;

	lockdep_assert_held(&remote->lock);

	buffer = remote_hide_unused(remote);
	if (!buffer)
		return;

	trace_remote_records_stop(remote);
	trace_remote_stats_keep(remote, buffer->trace);
	trace_remote_tasks_stop(remote);
	scoped_guard(cpus_read_lock)
		trace_remote_buffer_unload(buffer);
	trace_remote_put_writer(remote);
}

static int remote_load_new(struct trace_remote *remote)
{
	int ret;

	lockdep_assert_held(&remote->lock);

	if (trace_remote_has_ended(remote))
		return -ENODEV;

	ret = trace_remote_get_writer(remote);
	if (ret)
		return ret;

	ret = remote_load_buffer(remote);
	if (ret)
		trace_remote_put_writer(remote);
	return ret;
}

/* Load the rings if need be. Events have their tasks from now on. */
static int remote_load(struct trace_remote *remote)
{
	int ret = remote->buffer ? 0 : remote_load_new(remote);

	if (ret)
		return ret;

	ret = trace_remote_tasks_start(remote) ?: trace_remote_records_start(remote);
	if (ret)
		remote_unload_unused(remote);
	return ret;
}

static int remote_call_start(struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	guard(cpus_read_lock)();
	return trace_remote_call(remote, start);
}

static void remote_call_stop(struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	guard(cpus_read_lock)();
	trace_remote_call(remote, stop);
}

static int remote_call_set_on(struct trace_remote *remote, bool on)
{
	lockdep_assert_held(&remote->lock);

	return remote->desc->ops->set_on ? trace_remote_call(remote, set_on, on) : 0;
}

static int remote_call_set_stopped(struct trace_remote *remote, bool stopped)
{
	lockdep_assert_held(&remote->lock);

	return remote->desc->ops->set_stopped ?
	       trace_remote_call(remote, set_stopped, stopped) : 0;
}

/* Tracing is off, and no CPU writes. Readers that have all there will be come to the end. */
static void remote_set_off(struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	smp_store_release(&remote->on, false);			/* (O) */
	ring_buffer_poll_writer(remote->buffer->trace, RING_BUFFER_ALL_CPUS);
	ring_buffer_wake_waiters(remote->buffer->trace, RING_BUFFER_ALL_CPUS);
	trace_remote_records_kick(remote);
}

/*
 * Tracing is on before the first CPU writes, and until the last one has stopped. A reader that
 * finds tracing off, and then no event, has read all of them. If tracing ends for good, the
 * reader also finds that, and does not return 0 for the end of the file.
 */
static void remote_deactivate(struct trace_remote *remote, bool for_good)
{
	lockdep_assert_held(&remote->lock);

	if (!remote->active)
		return;

	if (remote->on)
		WARN_ON_ONCE(remote_call_set_on(remote, false));
	/* The CPUs stop first, so that the calls that follow are not traced. */
	WARN_ON_ONCE(trace_remote_enable_cpus(remote, false));
	trace_remote_events_stop(remote);
	remote_call_stop(remote);

	if (for_good)
		WRITE_ONCE(remote->ended, true);
	WRITE_ONCE(remote->active, false);
	remote_set_off(remote);
	remote_unload_unused(remote);
}

/*
 * The remote is stopped, and stays armed. Enabling each CPU once more waits for its events that
 * began before.
 */
static void remote_pause(struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	if (!remote->on)
		return;

	WARN_ON_ONCE(remote_call_set_on(remote, false));
	WARN_ON_ONCE(trace_remote_enable_cpus(remote, true));
	remote_set_off(remote);
}

/* Turn tracing off. The remote has stopped, unless it shall become inactive. */
static void remote_stop(struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	if (remote->nr_traceon)
		remote_pause(remote);
	else
		remote_deactivate(remote, false);
}

/* Turn tracing on: the remote is armed, and has gone on by itself or shall do so. */
static int remote_resume(struct trace_remote *remote, bool by_itself)
{
	int ret = 0;

	lockdep_assert_held(&remote->lock);

	WRITE_ONCE(remote->on, true);
	/* One that has gone on may have stopped once more. */
	if (!by_itself)
		ret = remote_call_set_stopped(remote, false);
	ret = ret ?: remote_call_set_on(remote, true);
	if (!ret)
		return 0;

	WARN_ON_ONCE(remote_call_set_stopped(remote, true));
	remote_pause(remote);
	return ret;
}

/* The remote has stopped, or gone on, by itself. Right with trace_remote.lock, else a hint. */
static bool remote_has_switched(struct trace_remote *remote)
{
	return READ_ONCE(remote->active) && remote->desc->ops->is_stopped &&
	       trace_remote_call(remote, is_stopped) == trace_remote_is_on(remote);
}

/* Turn tracing off or on, if the remote has done so. */
static void remote_follow(struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	if (!remote_has_switched(remote))
		return;

	if (remote->on)
		remote_stop(remote);
	else
		remote_resume(remote, true);
}

/*
 * trace_remote_put_reader() waits for this work with the lock held. If the lock is taken, the work
 * tries again in the next period. The buffer stays while there are readers, and so while this
 * runs.
 */
static void remote_poll_work(struct work_struct *work)
{
	struct trace_remote *remote = container_of(to_delayed_work(work), struct trace_remote,
						   poll);

	ring_buffer_poll_writer(remote->buffer->trace, RING_BUFFER_ALL_CPUS);
	if (remote_has_switched(remote) && mutex_trylock(&remote->lock)) {
		remote_follow(remote);
		mutex_unlock(&remote->lock);
	}
	if (remote_has_waiters(remote))
		trace_remote_poll_start(remote);
}

/**
 * trace_remote_instance_init - initialise what this file has of a remote
 * @remote:	the remote
 */
void trace_remote_instance_init(struct trace_remote *remote)
{
	int cpu;

	mutex_init(&remote->lock);
	INIT_DELAYED_WORK(&remote->poll, remote_poll_work);
	cpumask_setall(&remote->mask);
	remote->overwrite = true;
	for_each_possible_cpu(cpu)
		trace_remote_cpu(remote, cpu)->size = REMOTE_DEFAULT_SIZE;
}

/* Enable the remote and its CPUs: with tracing on, or stopped. */
static int remote_activate(struct trace_remote *remote, bool on)
{
	int ret;

	lockdep_assert_held(&remote->lock);

	ret = remote_load(remote);
	if (ret)
		return ret;

	ret = remote_call_start(remote);
	if (ret)
		goto err_unload;

	ret = remote_call_set_stopped(remote, !on) ?: trace_remote_events_start(remote);
	if (ret)
		goto err_stop;

	WRITE_ONCE(remote->active, true);
	WRITE_ONCE(remote->on, on);
	trace_remote_records_kick(remote);
	ret = trace_remote_enable_cpus(remote, true);
	if (!ret && on)
		ret = remote_call_set_on(remote, true);
	if (ret) {
		remote_deactivate(remote, false);
		return ret;
	}

	trace_remote_tasks_traced(remote);
	if (remote->nr_readers)
		trace_remote_poll_start(remote);
	return 0;

err_stop:
	remote_call_stop(remote);
err_unload:
	remote_unload_unused(remote);
	return ret;
}

static int remote_start(struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	remote_follow(remote);
	if (remote->on)
		return 0;
	if (trace_remote_has_ended(remote))
		return -ENODEV;

	return remote->active ? remote_resume(remote, false) : remote_activate(remote, true);
}

/**
 * trace_remote_set_on - turn tracing on or off
 * @remote:	the remote
 * @on:		which
 *
 * Context: process context, may sleep.
 * Return: 0; -ENODEV after trace_remote_end(); -ENOMEM; or what a function of the remote
 * returns. After an error tracing is off.
 */
int trace_remote_set_on(struct trace_remote *remote, bool on)
{
	guard(mutex)(&remote->lock);

	if (on)
		return remote_start(remote);

	if (remote->active && remote->nr_traceon)
		WARN_ON_ONCE(remote_call_set_stopped(remote, true));
	remote_stop(remote);
	return 0;
}
EXPORT_SYMBOL_GPL(trace_remote_set_on);

/**
 * trace_remote_arm - let the remote turn tracing on by itself
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 * Return: 0, until trace_remote_disarm(); else as trace_remote_set_on(), with nothing changed.
 */
int trace_remote_arm(struct trace_remote *remote)
{
	int ret = 0;

	guard(mutex)(&remote->lock);

	if (!remote->active)
		ret = remote_activate(remote, false);
	if (!ret)
		remote->nr_traceon++;
	return ret;
}

/**
 * trace_remote_disarm - undo trace_remote_arm()
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 */
void trace_remote_disarm(struct trace_remote *remote)
{
	guard(mutex)(&remote->lock);

	remote_follow(remote);
	if (!--remote->nr_traceon && !remote->on)
		remote_deactivate(remote, false);
}

/**
 * trace_remote_has_ended - was trace_remote_end() called?
 * @remote:	the remote
 *
 * Context: any. trace_remote_end() waits for what is done with preemption off after this
 * returned false.
 * Return: whether it was.
 */
bool trace_remote_has_ended(const struct trace_remote *remote)
{
	return READ_ONCE(remote->ended);
}
EXPORT_SYMBOL_GPL(trace_remote_has_ended);

/**
 * trace_remote_end - turn tracing off for good, since the remote is about to go
 * @remote:	the remote
 *
 * Files that are in use return errors from now on. The rings' memory stays where it is.
 *
 * Context: process context, may sleep.
 */
void trace_remote_end(struct trace_remote *remote)
{
	guard(mutex)(&remote->lock);

	remote_deactivate(remote, true);
	WRITE_ONCE(remote->ended, true);
	/* Wait for calls of the remote that are in flight. */
	synchronize_rcu();
	if (remote->buffer)
		ring_buffer_wake_waiters(remote->buffer->trace, RING_BUFFER_ALL_CPUS);
}
EXPORT_SYMBOL_GPL(trace_remote_end);

/**
 * trace_remote_is_on - is tracing on?
 * @remote:	the remote
 *
 * Once tracing is off, all events that were written can be read. A remote that is armed may have
 * gone on since.
 *
 * Context: any.
 * Return: whether it is, or is just being turned on or off.
 */
bool trace_remote_is_on(const struct trace_remote *remote)
{
	return smp_load_acquire(&remote->on);			/* (O) */
}

/**
 * trace_remote_ask_on - is tracing on, as the remote has it now?
 * @remote:	the remote
 *
 * If the remote has stopped, or gone on, tracing is turned off or on.
 *
 * Context: process context, may sleep.
 * Return: as trace_remote_is_on().
 */
bool trace_remote_ask_on(struct trace_remote *remote)
{
	if (remote_has_switched(remote)) {
		guard(mutex)(&remote->lock);
		remote_follow(remote);
	}

	return trace_remote_is_on(remote);
}

/**
 * trace_remote_is_loaded - do the rings exist?
 * @remote:	the remote
 *
 * Context: any.
 * Return: whether they do.
 */
bool trace_remote_is_loaded(const struct trace_remote *remote)
{
	return READ_ONCE(remote->buffer);
}

/**
 * trace_remote_dump_begin - keep the rings of all remotes, for a dump that can't take a lock
 *
 * Context: any.
 * Return: true for the one that may dump, until trace_remote_dump_end(); false if another one does.
 */
bool trace_remote_dump_begin(void)
{
	return !atomic_xchg(&trace_remote_dumping, 1);		/* (U) */
}

/**
 * trace_remote_dump_end - undo trace_remote_dump_begin(), when that returned true
 *
 * Context: any.
 */
void trace_remote_dump_end(void)
{
	atomic_set_release(&trace_remote_dumping, 0);		/* (U) */
}

/**
 * trace_remote_peek - the rings, for a dump that can't take a lock
 * @remote:	the remote
 *
 * Context: any, from trace_remote_dump_begin() to trace_remote_dump_end(): the rings stay.
 * Return: the buffer; NULL when there is none.
 */
struct trace_buffer *trace_remote_peek(const struct trace_remote *remote)
{
	struct trace_remote_buffer *buffer = smp_load_acquire(&remote->buffer);	/* (H) */

	return buffer ? buffer->trace : NULL;
}

/**
 * trace_remote_get_buffer - keep the rings, if they are loaded
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 * Return: the buffer, until trace_remote_put_buffer(); NULL when there is none.
 */
struct trace_buffer *trace_remote_get_buffer(struct trace_remote *remote)
{
	guard(mutex)(&remote->lock);

	if (!remote->buffer)
		return NULL;

	remote->nr_users++;
	return remote->buffer->trace;
}

/**
 * trace_remote_put_buffer - undo trace_remote_get_buffer(), when that returned a buffer
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 */
void trace_remote_put_buffer(struct trace_remote *remote)
{
	guard(mutex)(&remote->lock);

	remote->nr_users--;
	remote_unload_unused(remote);
}

/**
 * trace_remote_get_reader - load the rings if need be, and keep them for a reader
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 * Return: the buffer, until trace_remote_put_reader(); or an ERR_PTR(), as
 * trace_remote_buffer_load() and the remote's get() return them.
 */
struct trace_buffer *trace_remote_get_reader(struct trace_remote *remote)
{
	int ret;

	guard(mutex)(&remote->lock);

	ret = remote_load(remote);
	if (ret)
		return ERR_PTR(ret);

	remote->nr_users++;
	remote->nr_readers++;
	return remote->buffer->trace;
}

/**
 * trace_remote_put_reader - undo trace_remote_get_reader()
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 */
void trace_remote_put_reader(struct trace_remote *remote)
{
	guard(mutex)(&remote->lock);

	if (!--remote->nr_readers)
		cancel_delayed_work_sync(&remote->poll);
	remote->nr_users--;
	remote_unload_unused(remote);
}

/**
 * trace_remote_has_readers - has a consuming reader a file open?
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 * Return: whether one has.
 */
bool trace_remote_has_readers(struct trace_remote *remote)
{
	guard(mutex)(&remote->lock);
	return remote->nr_readers;
}

/**
 * trace_remote_clear - clear events, also while the remote writes them
 * @remote:	the remote
 * @cpu:	those of a CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: process context, may sleep.
 * Return: 0, or what the remote's reset_ring() returned.
 */
int trace_remote_clear(struct trace_remote *remote, int cpu)
{
	int ret = 0;

	guard(mutex)(&remote->lock);

	trace_remote_records_sync(remote);
	if (remote->buffer)
		ret = trace_remote_reset_cpus(remote, cpu);
	else
		trace_remote_stats_clear(remote, cpu);
	remote_unload_unused(remote);
	return ret;
}
