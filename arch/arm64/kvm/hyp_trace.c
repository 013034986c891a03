// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing the hypervisor: the life of the buffer, and tracing on and off
 *
 * States of the instance, and who moves it
 *
 *	unloaded --+-- tracing_on = 1 -------------> loaded, on
 *	           |                                  |    ^
 *	           |            tracing_on = 0 |    | tracing_on = 1
 *	           |                                  v    |
 *	           +-- trace_pipe(_raw) opened ----> loaded, off
 *	                                              |
 *	unloaded <-- no file in use, nothing to read --+
 *
 * That is, the rings exist from when they are first needed until tracing is
 * off, no open file uses them, and nothing is left to read. Files that use them
 * are trace_pipe and trace_pipe_raw, which load them; and trace and stats, which
 * don't, and while unloaded show that there is nothing.
 *
 * EL2 can't wake a reader: while a reader waits and tracing is on, the rings are polled.
 *
 * In plain nVHE mode KVM may leave EL2 to the hyp stub while there is no VM. While the
 * rings are loaded KVM's virtualization is kept enabled.
 *
 * Locking
 * -------
 *
 * hyp_trace.lock	all of struct hyp_trace; taken first
 * kvm_usage_lock	KVM's, by hyp_trace_get_el2(); inside of the former, outside of the next
 * cpu_hotplug_lock	@buffer and @on change with it held for reading. The callbacks for
 *			a CPU that comes or goes have it for writing, and can't take the
 *			locks above: they rely on it alone
 * hyp_trace_read_lock()	events are being read, or forgotten
 *
 * A dump, when all is over, takes none of them: see hyp_trace_dump.c.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/kvm_host.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include <asm/kvm_asm.h>
#include <asm/virt.h>

#include "hyp_trace.h"

/* What the host's buffers have, TRACE_BUF_SIZE_DEFAULT. */
#define HYP_TRACE_DEFAULT_SIZE	(1408UL << 10)

#define HYP_TRACE_POLL_PERIOD	msecs_to_jiffies(10)

static void hyp_trace_poll_work(struct work_struct *work);

/**
 * struct hyp_trace - the instance
 * @lock:	taken for all that follows
 * @buffer:	the rings; NULL while not loaded. Whether there are is read without
 *		the lock, too
 * @nr_users:	open files that use the rings
 * @nr_readers:	those of them that can wait for events
 * @nr_waiters:	calls that wait for events, beside poll(); without the lock
 * @on:		tracing is on; read without a lock
 * @poll:	polls EL2 while somebody waits and tracing is on; queued by readers alone
 */
static struct hyp_trace {
	struct mutex		lock;	/* covers the rest */
	struct hyp_trace_buffer	*buffer;
	unsigned int		nr_users;
	unsigned int		nr_readers;
	atomic_t		nr_waiters;
	bool			on;
	struct delayed_work	poll;
} hyp_trace = {
	.lock	= __MUTEX_INITIALIZER(hyp_trace.lock),
	.poll	= __DELAYED_WORK_INITIALIZER(hyp_trace.poll, hyp_trace_poll_work, 0),
};

/*
 * Bytes of events each ring has, or will have, room for. Changes with
 * hyp_trace.lock held, while unloaded.
 */
static DEFINE_PER_CPU(unsigned long, hyp_trace_sizes) = HYP_TRACE_DEFAULT_SIZE;

static bool hyp_trace_has_waiters(void)
{
	return atomic_read(&hyp_trace.nr_waiters) ||
	       ring_buffer_reader_has_waiters(hyp_trace.buffer->trace);
}

/**
 * hyp_trace_poll_start - poll EL2, as long as somebody waits
 *
 * The caller has a reader, and is on the wait queue by now, or between
 * hyp_trace_wait_begin() and hyp_trace_wait_end(). With tracing off nothing is to be
 * polled: turning it on comes here again.
 *
 * Context: any.
 */
void hyp_trace_poll_start(void)
{
	smp_mb();						/* (V) */
	if (hyp_trace_is_on())
		schedule_delayed_work(&hyp_trace.poll, HYP_TRACE_POLL_PERIOD);
}

/* The buffer stays while there are readers, and so while this runs. */
static void hyp_trace_poll_work(struct work_struct *work)
{
	ring_buffer_poll_writer(hyp_trace.buffer->trace, RING_BUFFER_ALL_CPUS);
	if (hyp_trace_has_waiters())
		hyp_trace_poll_start();
}

/**
 * hyp_trace_wait_begin - the caller is about to wait for events, with a reader
 *
 * Context: process context.
 */
void hyp_trace_wait_begin(void)
{
	atomic_inc(&hyp_trace.nr_waiters);
	hyp_trace_poll_start();
}

/**
 * hyp_trace_wait_end - undo hyp_trace_wait_begin()
 *
 * Context: process context.
 */
void hyp_trace_wait_end(void)
{
	atomic_dec(&hyp_trace.nr_waiters);
}

/**
 * hyp_trace_get_el2 - have KVM's hypervisor at EL2, and not the hyp stub
 *
 * Under pKVM it always is.
 *
 * Context: process context, may sleep; without cpu_hotplug_lock.
 * Return: 0, until hyp_trace_put_el2(); else what kvm_get_virtualization() returns, with a
 * line in the log.
 */
int hyp_trace_get_el2(void)
{
	int ret = is_protected_kvm_enabled() ? 0 : kvm_get_virtualization();

	if (ret)
		pr_warn("kvm: hyp_trace: KVM can't be enabled at EL2 (%d)\n", ret);
	return ret;
}

/**
 * hyp_trace_put_el2 - undo hyp_trace_get_el2()
 *
 * Context: as hyp_trace_get_el2().
 */
void hyp_trace_put_el2(void)
{
	if (!is_protected_kvm_enabled())
		kvm_put_virtualization();
}

/* No CPU comes between the choice of those that have a ring and hyp_trace_cpu_prepare(). */
static int hyp_trace_load_rings(void)
{
	struct hyp_trace_buffer *buffer;

	guard(cpus_read_lock)();

	buffer = hyp_trace_buffer_load(hyp_trace_size);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);

	hyp_trace_stats_forget(RING_BUFFER_ALL_CPUS);
	smp_store_release(&hyp_trace.buffer, buffer);		/* (H) */
	return 0;
}

static int hyp_trace_load(void)
{
	int ret;

	lockdep_assert_held(&hyp_trace.lock);

	if (hyp_trace.buffer)
		return 0;
	if (hyp_trace_has_ended())
		return -ENODEV;

	ret = hyp_trace_get_el2();
	if (ret)
		return ret;

	ret = hyp_trace_load_rings();
	if (ret)
		hyp_trace_put_el2();
	return ret;
}

/* Hide the rings from dumps and from CPUs that come. NULL if they are in use. */
static struct hyp_trace_buffer *hyp_trace_hide_unused(void)
{
	struct hyp_trace_buffer *buffer = hyp_trace.buffer;

	guard(cpus_read_lock)();

	if (!buffer || hyp_trace.on || hyp_trace.nr_users || !ring_buffer_empty(buffer->trace))
		return NULL;

	/* Who dumps locks nothing. Another time, then, if there is one. */
	WRITE_ONCE(hyp_trace.buffer, NULL);
	if (hyp_trace_is_dumping()) {
		smp_store_release(&hyp_trace.buffer, buffer);	/* (H) */
		return NULL;
	}

	return buffer;
}

/* Give the rings' memory back, if they have no use any more. */
static void hyp_trace_unload_unused(void)
{
	struct hyp_trace_buffer *buffer;

	lockdep_assert_held(&hyp_trace.lock);

	buffer = hyp_trace_hide_unused();
	if (!buffer)
		return;

	hyp_trace_stats_keep(buffer->trace);
	hyp_trace_buffer_unload(buffer);
	hyp_trace_put_el2();
}

/**
 * struct hyp_trace_call - a hypercall to make on a CPU
 * @fn:		makes it
 * @cpu:	the CPU
 * @enable:	for hyp_trace_call_enable()
 * @ret:	what it returned
 */
struct hyp_trace_call {
	void	(*fn)(void *call);
	int	cpu;
	bool	enable;
	int	ret;
};

static void hyp_trace_call_enable(void *data)
{
	struct hyp_trace_call *call = data;

	call->ret = hyp_trace_hypcall(__hyp_trace_enable, call->cpu, call->enable);

	/* EL2 takes it for a CPU that pKVM has parked. Others are told later. */
	if (call->ret == -EBUSY && !cpu_online(call->cpu))
		call->ret = 0;
}

static void hyp_trace_call_reset(void *data)
{
	struct hyp_trace_call *call = data;

	call->ret = ring_buffer_reader_reset(hyp_trace.buffer->trace, call->cpu);
}

/* Make a call for a CPU: on it, or for it while it is off. */
static int hyp_trace_call_cpu(struct hyp_trace_call *call, int cpu)
{
	lockdep_assert_cpus_held();

	if (!ring_buffer_reader_has_cpu(hyp_trace.buffer->trace, cpu))
		return 0;

	call->cpu = cpu;
	if (cpu_online(cpu))
		smp_call_function_single(cpu, call->fn, call, 1);
	else
		call->fn(call);
	return call->ret;
}

/* ... for each, or for one if @which is not RING_BUFFER_ALL_CPUS. */
static int hyp_trace_call_cpus(struct hyp_trace_call *call, int which)
{
	int cpu, ret = 0;

	if (which != RING_BUFFER_ALL_CPUS)
		return hyp_trace_call_cpu(call, which);

	for_each_possible_cpu(cpu)
		ret = hyp_trace_call_cpu(call, cpu) ?: ret;
	return ret;
}

/*
 * Tracing is on before the first CPU writes, and until the last one has stopped: a reader that
 * finds tracing off, and then no event, has read all of them.
 */
static int hyp_trace_enable_cpus(bool enable)
{
	struct hyp_trace_call call = {
		.fn	= hyp_trace_call_enable,
		.enable	= enable,
	};
	int ret;

	guard(cpus_read_lock)();
	if (enable)
		WRITE_ONCE(hyp_trace.on, true);
	ret = hyp_trace_call_cpus(&call, RING_BUFFER_ALL_CPUS);
	if (!enable)
		smp_store_release(&hyp_trace.on, false);	/* for hyp_trace_is_on() */
	return ret;
}

static void hyp_trace_stop(void)
{
	lockdep_assert_held(&hyp_trace.lock);

	if (!hyp_trace.on)
		return;

	/* First, so that the trace does not end with these hypercalls. */
	WARN_ON_ONCE(hyp_trace_enable_cpus(false));
	hyp_events_stop();
	hyp_trace_clock_stop();

	/* Readers that have all there will be come to the end. */
	ring_buffer_poll_writer(hyp_trace.buffer->trace, RING_BUFFER_ALL_CPUS);
	ring_buffer_wake_waiters(hyp_trace.buffer->trace, RING_BUFFER_ALL_CPUS);
	hyp_trace_unload_unused();
}

static int hyp_trace_start(void)
{
	int ret;

	lockdep_assert_held(&hyp_trace.lock);

	if (hyp_trace.on)
		return 0;
	if (hyp_trace_has_ended())
		return -ENODEV;

	ret = hyp_trace_load();
	if (ret)
		return ret;

	ret = hyp_trace_clock_start();
	if (ret)
		goto err_unload;

	ret = hyp_events_start();
	if (ret)
		goto err_clock;

	ret = hyp_trace_enable_cpus(true);
	if (ret)
		hyp_trace_stop();
	else if (hyp_trace.nr_readers)
		hyp_trace_poll_start();
	return ret;

err_clock:
	hyp_trace_clock_stop();
err_unload:
	hyp_trace_unload_unused();
	return ret;
}

/**
 * hyp_trace_set_on - turn tracing on or off
 * @on:		which
 *
 * Context: process context, may sleep.
 * Return: 0; -ENODEV when EL2 can't keep the host's time; what
 * hyp_trace_buffer_load() returns. Then tracing is off.
 */
int hyp_trace_set_on(bool on)
{
	guard(mutex)(&hyp_trace.lock);

	if (on)
		return hyp_trace_start();

	hyp_trace_stop();
	return 0;
}

/* There is no EL2 to call any more. */
static bool hyp_trace_ended;

/**
 * hyp_trace_has_ended - was hyp_trace_end() called?
 *
 * Context: any; what is done with preemption off if not, hyp_trace_end() waits for.
 * Return: whether it was.
 */
bool hyp_trace_has_ended(void)
{
	return READ_ONCE(hyp_trace_ended);
}

/**
 * hyp_trace_end - turn tracing off for good, since KVM is about to leave EL2
 *
 * Files that are in use give errors from now on. The rings' memory stays where it is.
 *
 * Context: process context, may sleep.
 */
void hyp_trace_end(void)
{
	guard(mutex)(&hyp_trace.lock);

	hyp_trace_stop();
	WRITE_ONCE(hyp_trace_ended, true);
	/* Those who make a hypercall have it behind them. */
	synchronize_rcu();
	if (hyp_trace.buffer)
		ring_buffer_wake_waiters(hyp_trace.buffer->trace, RING_BUFFER_ALL_CPUS);
}

/**
 * hyp_trace_cpu_prepare - make a ring for a CPU that comes up for the first time
 * @cpu:	the CPU
 *
 * Without one, the CPU comes up all the same, and is not traced. Under pKVM no such CPU
 * can come up: KVM knows those that were there when it was initialised.
 *
 * Context: process context, with cpu_hotplug_lock held for writing, on another CPU.
 */
void hyp_trace_cpu_prepare(unsigned int cpu)
{
	int ret;

	lockdep_assert_cpus_held();

	if (!hyp_trace.buffer || is_protected_kvm_enabled() || hyp_trace_has_ended())
		return;

	ret = hyp_trace_buffer_add_cpu(hyp_trace.buffer, cpu, hyp_trace_size(cpu));
	if (ret)
		pr_warn("kvm: hyp_trace: CPU%u is not traced (%d)\n", cpu, ret);
}

/**
 * hyp_trace_cpu_enable - turn a CPU's tracing on or off as it comes or goes
 * @cpu:	this CPU
 * @enable:	on, if tracing is; else off
 *
 * In plain nVHE mode; under pKVM EL2 sees to it itself, and traces the CPU until it is off.
 *
 * Context: process context, with cpu_hotplug_lock held for writing.
 */
void hyp_trace_cpu_enable(unsigned int cpu, bool enable)
{
	lockdep_assert_cpus_held();

	if (is_protected_kvm_enabled() || hyp_trace_has_ended())
		return;
	if (!hyp_trace.buffer || !ring_buffer_reader_has_cpu(hyp_trace.buffer->trace, cpu))
		return;

	WARN_ON_ONCE(hyp_trace_hypcall(__hyp_trace_enable, cpu, enable && hyp_trace.on));
}

/**
 * hyp_trace_is_on - is tracing on?
 *
 * Once tracing is off, all events that were written can be read.
 *
 * Context: any.
 * Return: whether it is, or is just being turned on or off.
 */
bool hyp_trace_is_on(void)
{
	return smp_load_acquire(&hyp_trace.on);		/* as hyp_trace_enable_cpus() stores it */
}

/**
 * hyp_trace_is_loaded - do the rings exist?
 *
 * Context: any.
 * Return: whether they do.
 */
bool hyp_trace_is_loaded(void)
{
	return READ_ONCE(hyp_trace.buffer);
}

/**
 * hyp_trace_size - how large the ring of a CPU is, or will be
 * @cpu:	the CPU
 *
 * Context: any.
 * Return: bytes of events there is room for, at the least.
 */
unsigned long hyp_trace_size(int cpu)
{
	return READ_ONCE(per_cpu(hyp_trace_sizes, cpu));
}

/**
 * hyp_trace_set_size - say how large rings will be
 * @cpu:	a CPU, or RING_BUFFER_ALL_CPUS
 * @size:	bytes of events
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL for 0 and for more than hyp_trace_buffer_max_size();
 * -EBUSY while the rings are loaded.
 */
int hyp_trace_set_size(int cpu, unsigned long size)
{
	if (!size || size > hyp_trace_buffer_max_size())
		return -EINVAL;

	guard(mutex)(&hyp_trace.lock);
	if (hyp_trace.buffer)
		return -EBUSY;

	if (cpu != RING_BUFFER_ALL_CPUS) {
		WRITE_ONCE(per_cpu(hyp_trace_sizes, cpu), size);
		return 0;
	}

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(hyp_trace_sizes, cpu), size);
	return 0;
}

/**
 * hyp_trace_peek - the rings, for a dump that can't lock anything
 *
 * Context: any; hyp_trace_is_dumping() by now, and so they stay.
 * Return: the buffer; NULL when there is none.
 */
struct trace_buffer *hyp_trace_peek(void)
{
	struct hyp_trace_buffer *buffer = smp_load_acquire(&hyp_trace.buffer);	/* (H) */

	return buffer ? buffer->trace : NULL;
}

/**
 * hyp_trace_get - keep the rings, if they are loaded
 *
 * Context: process context, may sleep.
 * Return: the buffer, until hyp_trace_put(); NULL when there is none.
 */
struct trace_buffer *hyp_trace_get(void)
{
	guard(mutex)(&hyp_trace.lock);

	if (!hyp_trace.buffer)
		return NULL;

	hyp_trace.nr_users++;
	return hyp_trace.buffer->trace;
}

/**
 * hyp_trace_put - undo hyp_trace_get(), when that returned a buffer
 *
 * Context: process context, may sleep.
 */
void hyp_trace_put(void)
{
	guard(mutex)(&hyp_trace.lock);

	hyp_trace.nr_users--;
	hyp_trace_unload_unused();
}

/**
 * hyp_trace_get_reader - load the rings if need be, and keep them for a reader
 *
 * Context: process context, may sleep.
 * Return: the buffer, until hyp_trace_put_reader(); or an ERR_PTR(), as
 * hyp_trace_buffer_load() returns them.
 */
struct trace_buffer *hyp_trace_get_reader(void)
{
	int ret;

	guard(mutex)(&hyp_trace.lock);

	ret = hyp_trace_load();
	if (ret)
		return ERR_PTR(ret);

	hyp_trace.nr_users++;
	hyp_trace.nr_readers++;
	return hyp_trace.buffer->trace;
}

/**
 * hyp_trace_put_reader - undo hyp_trace_get_reader()
 *
 * Context: process context, may sleep.
 */
void hyp_trace_put_reader(void)
{
	guard(mutex)(&hyp_trace.lock);

	if (!--hyp_trace.nr_readers)
		cancel_delayed_work_sync(&hyp_trace.poll);
	hyp_trace.nr_users--;
	hyp_trace_unload_unused();
}

static int hyp_trace_reset_cpus(int cpu)
{
	struct hyp_trace_call call = { .fn = hyp_trace_call_reset };
	int ret;

	lockdep_assert_held(&hyp_trace.lock);

	guard(cpus_read_lock)();
	hyp_trace_read_lock(cpu);
	ret = hyp_trace_call_cpus(&call, cpu);
	hyp_trace_read_unlock(cpu);

	return ret;
}

/**
 * hyp_trace_clear - forget events, also while they are being written
 * @cpu:	those of a CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: process context, may sleep.
 * Return: 0, or what EL2 refused with.
 */
int hyp_trace_clear(int cpu)
{
	int ret = 0;

	guard(mutex)(&hyp_trace.lock);

	if (hyp_trace.buffer)
		ret = hyp_trace_reset_cpus(cpu);
	else
		hyp_trace_stats_forget(cpu);
	hyp_trace_unload_unused();
	return ret;
}
