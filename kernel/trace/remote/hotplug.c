// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that come and go while a remote is traced
 *
 * The callbacks have cpu_hotplug_lock for writing. They can't take trace_remote.lock, and need not:
 * see instance.c.
 */
#include <linux/cpu.h>
#include <linux/irqflags.h>
#include <linux/printk.h>

#include "remote.h"

/**
 * trace_remote_cpu_prepare - load a ring for a CPU that comes up for the first time
 * @remote:	the remote
 * @cpu:	the CPU
 *
 * Without a ring, the CPU comes up all the same, and is not traced.
 *
 * Context: process context, with cpu_hotplug_lock held for writing, on another CPU.
 */
void trace_remote_cpu_prepare(struct trace_remote *remote, unsigned int cpu)
{
	int ret;

	lockdep_assert_cpus_held();

	if (!remote->buffer || remote->desc->own_hotplug || trace_remote_has_ended(remote))
		return;

	ret = trace_remote_buffer_add_cpu(remote->buffer, cpu);
	if (ret)
		pr_warn("trace_remote: %s: CPU%u is not traced (%d)\n",
			trace_remote_name(remote), cpu, ret);
	else
		trace_remote_tasks_add_cpu(remote, cpu);
}

/**
 * trace_remote_cpu_enable - turn a CPU's tracing on or off as it comes or goes
 * @remote:	the remote
 * @cpu:	this CPU
 * @enable:	on, if tracing is; else off
 *
 * A remote with own_hotplug does so itself.
 *
 * Context: process context, with cpu_hotplug_lock held for writing.
 */
void trace_remote_cpu_enable(struct trace_remote *remote, unsigned int cpu, bool enable)
{
	lockdep_assert_cpus_held();

	if (remote->desc->own_hotplug || trace_remote_has_ended(remote))
		return;
	if (!remote->buffer || !ring_buffer_reader_has_cpu(remote->buffer->trace, cpu))
		return;

	guard(irqsave)();
	WARN_ON_ONCE(trace_remote_enable_cpu(remote, cpu, enable && remote->enabled &&
					     trace_remote_has_cpu(remote, cpu)));
}
