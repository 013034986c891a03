// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of a remote on each CPU
 *
 * A remote enables and resets the ring of a CPU, or sets its mode, on that CPU. Only for a CPU that
 * is offline does another one make the call. So the remote needs no lock against the writer of the
 * ring. No CPU comes or goes meanwhile: the caller holds cpu_hotplug_lock.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/ring_buffer.h>
#include <linux/smp.h>

#include "remote.h"

/**
 * struct remote_cpu_call - a call to make on a CPU
 * @fn:		makes it
 * @remote:	of this remote
 * @cpu:	the CPU
 * @enable:	for remote_call_enable() and remote_call_overwrite()
 * @ret:	what it returned
 */
struct remote_cpu_call {
	void			(*fn)(void *call);
	struct trace_remote	*remote;
	int			cpu;
	bool			enable;
	int			ret;
};

/**
 * trace_remote_enable_cpu - let a CPU write, or not
 * @remote:	the remote
 * @cpu:	this CPU, or one that is offline
 * @enable:	whether it shall write
 *
 * Context: interrupts are off.
 * Return: 0, or what the remote's enable_cpu() returned.
 */
int trace_remote_enable_cpu(struct trace_remote *remote, int cpu, bool enable)
{
	lockdep_assert_irqs_disabled();
	WARN_ON_ONCE(cpu_online(cpu) && cpu != smp_processor_id());

	return trace_remote_call(remote, enable_cpu, cpu, enable);
}

static void remote_call_enable(void *data)
{
	struct remote_cpu_call *call = data;

	call->ret = trace_remote_enable_cpu(call->remote, call->cpu,
					    call->enable && trace_remote_has_cpu(call->remote,
										 call->cpu));
}

/**
 * trace_remote_overwrite_cpu - what the ring of a CPU does when all of it is unread
 * @remote:	the remote
 * @cpu:	this CPU, or one that does not write
 * @overwrite:	overwrite the oldest events; else drop new ones
 *
 * Context: interrupts are off.
 * Return: 0; -EINVAL if the remote always overwrites; or what its set_overwrite() returned.
 */
int trace_remote_overwrite_cpu(struct trace_remote *remote, int cpu, bool overwrite)
{
	lockdep_assert_irqs_disabled();

	if (!remote->desc->ops->set_overwrite)
		return overwrite ? 0 : -EINVAL;

	return trace_remote_call(remote, set_overwrite, cpu, overwrite);
}

static void remote_call_overwrite(void *data)
{
	struct remote_cpu_call *call = data;

	call->ret = trace_remote_overwrite_cpu(call->remote, call->cpu, call->enable);
}

static void remote_call_reset(void *data)
{
	struct remote_cpu_call *call = data;

	call->ret = ring_buffer_reader_reset(call->remote->buffer->trace, call->cpu);
}

/* Make a call for a CPU, with interrupts off: on it, or for it while it is offline. */
static int remote_call_cpu(struct remote_cpu_call *call, int cpu)
{
	lockdep_assert_cpus_held();

	if (!ring_buffer_reader_has_cpu(call->remote->buffer->trace, cpu))
		return 0;

	call->cpu = cpu;
	if (cpu_online(cpu)) {
		smp_call_function_single(cpu, call->fn, call, 1);
	} else {
		scoped_guard(irqsave)
			call->fn(call);
	}
	return call->ret;
}

/* Make a call for each CPU, or for one if @which is not RING_BUFFER_ALL_CPUS. */
static int remote_call_cpus(struct remote_cpu_call *call, int which)
{
	int cpu, ret = 0;

	if (which != RING_BUFFER_ALL_CPUS)
		return remote_call_cpu(call, which);

	for_each_possible_cpu(cpu)
		ret = remote_call_cpu(call, cpu) ?: ret;
	return ret;
}

/**
 * trace_remote_enable_cpus - let all CPUs of the mask write, or none, and those that come up later
 * @remote:	the remote; its buffer is loaded
 * @enable:	whether they shall write
 *
 * Context: process context, may sleep; with trace_remote.lock.
 * Return: 0, or what the remote's enable_cpu() returned.
 */
int trace_remote_enable_cpus(struct trace_remote *remote, bool enable)
{
	struct remote_cpu_call call = {
		.fn	= remote_call_enable,
		.remote	= remote,
		.enable	= enable,
	};

	lockdep_assert_held(&remote->lock);

	guard(cpus_read_lock)();
	remote->enabled = enable;
	return remote_call_cpus(&call, RING_BUFFER_ALL_CPUS);
}

static int remote_mask_cpus(struct trace_remote *remote, const struct cpumask *mask)
{
	struct remote_cpu_call call = {
		.fn	= remote_call_enable,
		.remote	= remote,
		.enable	= true,
	};

	lockdep_assert_cpus_held();

	cpumask_copy(&remote->mask, mask);
	return remote->enabled ? remote_call_cpus(&call, RING_BUFFER_ALL_CPUS) : 0;
}

/**
 * trace_remote_set_cpumask - set the CPUs that write while tracing is on
 * @remote:	the remote
 * @mask:	the CPUs
 *
 * A CPU that is not among them keeps the events that it has written.
 *
 * Context: process context, may sleep.
 * Return: 0; or what the remote's enable_cpu() returned, and then the mask is as it was.
 */
int trace_remote_set_cpumask(struct trace_remote *remote, const struct cpumask *mask)
{
	struct cpumask was;
	int ret;

	guard(mutex)(&remote->lock);
	guard(cpus_read_lock)();
	cpumask_copy(&was, &remote->mask);
	ret = remote_mask_cpus(remote, mask);
	if (ret)
		remote_mask_cpus(remote, &was);
	return ret;
}

/**
 * trace_remote_reset_cpus - clear the events of CPUs
 * @remote:	the remote; its buffer is loaded
 * @cpu:	the CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: process context, may sleep; with trace_remote.lock.
 * Return: 0, or what the remote's reset_ring() returned.
 */
int trace_remote_reset_cpus(struct trace_remote *remote, int cpu)
{
	struct remote_cpu_call call = { .fn = remote_call_reset, .remote = remote };
	int ret;

	lockdep_assert_held(&remote->lock);

	guard(cpus_read_lock)();
	trace_remote_read_lock(remote, cpu);
	ret = remote_call_cpus(&call, cpu);
	trace_remote_read_unlock(remote, cpu);

	return ret;
}

/**
 * trace_remote_overwrite_cpus - what rings do when all of them is unread, also those loaded later
 * @remote:	the remote
 * @overwrite:	overwrite the oldest events; else drop new ones
 *
 * Context: process context, may sleep; with trace_remote.lock.
 * Return: as trace_remote_overwrite_cpu(). After an error nothing has changed.
 */
int trace_remote_overwrite_cpus(struct trace_remote *remote, bool overwrite)
{
	struct remote_cpu_call call = {
		.fn	= remote_call_overwrite,
		.remote	= remote,
		.enable	= overwrite,
	};
	int ret = 0;

	lockdep_assert_held(&remote->lock);

	guard(cpus_read_lock)();
	if (remote->buffer)
		ret = remote_call_cpus(&call, RING_BUFFER_ALL_CPUS);
	if (!ret) {
		WRITE_ONCE(remote->overwrite, overwrite);
		return 0;
	}

	/* Some CPUs may have changed. */
	call.enable = remote->overwrite;
	remote_call_cpus(&call, RING_BUFFER_ALL_CPUS);
	return ret;
}
