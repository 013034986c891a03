// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of all CPUs
 *
 * The remote allocates and loads the ring of a CPU; this file says how large it is, and makes
 * a trace buffer of all rings. As with the kernel's own buffers, a CPU that was never online
 * has no ring.
 *
 * The rings are not locked here. instance.c loads or unloads one buffer at a time, and adds a
 * CPU to one that stays. trace_remote.stats_lock covers the counters that are kept of rings.
 */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/oom.h>
#include <linux/slab.h>

#include "remote.h"

/* Bytes of events that a page has room for; the kernel's buffers are sized by it too. */
#define REMOTE_PAGE_DATA	(PAGE_SIZE - sizeof(struct ring_buffer_writer_page))

static unsigned int remote_nr_pages(struct trace_remote *remote, int cpu)
{
	unsigned long nr = DIV_ROUND_UP(trace_remote_size(remote, cpu), REMOTE_PAGE_DATA) + 1;

	return max_t(unsigned long, nr, RB_WRITER_MIN_PAGES);
}

/* The CPUs that get a ring. A machine with one CPU does not keep such a mask. */
static const struct cpumask *remote_booted_cpus(void)
{
	return IS_ENABLED(CONFIG_SMP) ? &cpus_booted_once_mask : cpu_possible_mask;
}

static struct trace_remote *remote_of_writer(struct ring_buffer_writer *writer)
{
	return container_of(writer, struct trace_remote_buffer, writer)->remote;
}

static int remote_swap_reader(struct ring_buffer_writer *writer, int cpu)
{
	lockdep_assert_irqs_disabled();
	return trace_remote_call(remote_of_writer(writer), swap_reader, cpu);
}

static int remote_reset(struct ring_buffer_writer *writer, int cpu)
{
	lockdep_assert_irqs_disabled();
	return trace_remote_call(remote_of_writer(writer), reset_ring, cpu);
}

static const struct ring_buffer_writer_ops remote_writer_ops = {
	.swap_reader	= remote_swap_reader,
	.reset		= remote_reset,
};

/*
 * A size that the machine does not have must not push others out of memory first. A page
 * takes more than itself: what describes it here and at the remote.
 */
static bool remote_has_room(unsigned long nr_pages)
{
	return nr_pages + nr_pages / 8 <= si_mem_available();
}

static struct trace_remote_buffer *remote_buffer_alloc(struct trace_remote *remote)
{
	struct trace_remote_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);

	if (!buffer)
		return NULL;

	buffer->remote = remote;
	buffer->writer.ops = &remote_writer_ops;
	buffer->writer.clock = remote->desc->ops->clock;
	buffer->writer.cpumask = &buffer->cpus;
	buffer->writer.cpus = kcalloc(nr_cpu_ids, sizeof(*buffer->writer.cpus), GFP_KERNEL);
	if (buffer->writer.cpus)
		return buffer;

	kfree(buffer);
	return NULL;
}

static void remote_buffer_free(struct trace_remote_buffer *buffer)
{
	kfree(buffer->writer.cpus);
	kfree(buffer);
}

static void remote_unload_ring(struct trace_remote_buffer *buffer, int cpu)
{
	lockdep_assert_cpus_held();

	cpumask_clear_cpu(cpu, &buffer->cpus);
	trace_remote_call(buffer->remote, unload_ring, cpu, &buffer->writer.cpus[cpu]);
}

/* A new ring overwrites its oldest events. */
static int remote_set_overwrite(struct trace_remote *remote, int cpu)
{
	lockdep_assert_cpus_held();

	if (remote->overwrite)
		return 0;

	guard(irqsave)();
	return trace_remote_overwrite_cpu(remote, cpu, false);
}

static int remote_load_ring(struct trace_remote_buffer *buffer, int cpu)
{
	struct ring_buffer_writer_cpu *ring = &buffer->writer.cpus[cpu];
	int ret;

	lockdep_assert_cpus_held();

	*ring = (struct ring_buffer_writer_cpu){
		.nr_pages = remote_nr_pages(buffer->remote, cpu),
	};
	ret = trace_remote_call(buffer->remote, load_ring, cpu, ring);
	if (ret)
		return ret;

	cpumask_set_cpu(cpu, &buffer->cpus);
	ret = remote_set_overwrite(buffer->remote, cpu);
	if (ret)
		remote_unload_ring(buffer, cpu);
	return ret;
}

static void remote_unload_rings(struct trace_remote_buffer *buffer)
{
	int cpu;

	for_each_cpu(cpu, &buffer->cpus)
		remote_unload_ring(buffer, cpu);
}

static int remote_load_rings(struct trace_remote_buffer *buffer)
{
	int cpu, ret = 0;

	for_each_cpu(cpu, remote_booted_cpus()) {
		ret = remote_load_ring(buffer, cpu);
		if (ret)
			break;
	}

	if (!ret) {
		buffer->trace = ring_buffer_reader(&buffer->writer);
		ret = PTR_ERR_OR_ZERO(buffer->trace);
	}
	if (ret)
		remote_unload_rings(buffer);
	return ret;
}

/**
 * trace_remote_buffer_max_size - how large a CPU's ring can be
 * @remote:	the remote
 *
 * Return: bytes of events.
 */
unsigned long trace_remote_buffer_max_size(const struct trace_remote *remote)
{
	return (remote->desc->max_pages - 1) * REMOTE_PAGE_DATA;
}

/**
 * trace_remote_buffer_load - load the rings of all CPUs that were ever online
 * @remote:	the remote
 *
 * Context: process context, may sleep; serialised by the caller, with cpu_hotplug_lock.
 * Return: the buffer, until trace_remote_buffer_unload(); or an ERR_PTR() of -ENOMEM, or of
 * what the remote's load_ring() returned. Then all memory is back.
 */
struct trace_remote_buffer *trace_remote_buffer_load(struct trace_remote *remote)
{
	struct trace_remote_buffer *buffer;
	unsigned long nr_pages = 0;
	int cpu, ret;

	lockdep_assert_cpus_held();

	for_each_cpu(cpu, remote_booted_cpus())
		nr_pages += remote_nr_pages(remote, cpu);
	if (!remote_has_room(nr_pages))
		return ERR_PTR(-ENOMEM);

	buffer = remote_buffer_alloc(remote);
	if (!buffer)
		return ERR_PTR(-ENOMEM);

	/* If memory runs out, this task is killed first, as for the kernel's buffers. */
	set_current_oom_origin();
	ret = remote_load_rings(buffer);
	clear_current_oom_origin();
	if (!ret)
		return buffer;

	remote_buffer_free(buffer);
	return ERR_PTR(ret);
}

/**
 * trace_remote_buffer_unload - unload all rings, and free them
 * @buffer:	the buffer, without readers; the remote does not write to it
 *
 * Context: process context, may sleep; serialised by the caller, with cpu_hotplug_lock.
 */
void trace_remote_buffer_unload(struct trace_remote_buffer *buffer)
{
	ring_buffer_reader_free(buffer->trace);
	remote_unload_rings(buffer);
	remote_buffer_free(buffer);
}

/**
 * trace_remote_buffer_add_cpu - load a ring for another CPU, if it has none
 * @buffer:	the buffer, which may be in use
 * @cpu:	the CPU, which is offline
 *
 * Context: process context, may sleep; serialised by the caller, with cpu_hotplug_lock.
 * Return: 0; or as trace_remote_buffer_load(), and all memory is back.
 */
int trace_remote_buffer_add_cpu(struct trace_remote_buffer *buffer, int cpu)
{
	int ret;

	lockdep_assert_cpus_held();

	if (cpumask_test_cpu(cpu, &buffer->cpus))
		return 0;
	if (!remote_has_room(remote_nr_pages(buffer->remote, cpu)))
		return -ENOMEM;

	ret = remote_load_ring(buffer, cpu);
	if (ret)
		return ret;

	ret = ring_buffer_reader_add_cpu(buffer->trace, &buffer->writer, cpu);
	if (ret)
		remote_unload_ring(buffer, cpu);
	return ret;
}

/**
 * trace_remote_stats_keep - keep the counters of rings that are about to go
 * @remote:	the remote
 * @buffer:	the buffer
 *
 * A program may end its readers before it reads the counters. If writers have stopped between two
 * pages, all CPUs together wait as long for them as one would.
 *
 * Context: process context, may sleep.
 */
void trace_remote_stats_keep(struct trace_remote *remote, struct trace_buffer *buffer)
{
	unsigned int rounds = RING_BUFFER_READER_ROUNDS;
	int cpu;

	guard(mutex)(&remote->stats_lock);
	for_each_possible_cpu(cpu)
		ring_buffer_reader_wait_stats(buffer, cpu, &rounds,
					      &trace_remote_cpu(remote, cpu)->last_stats);
}

/**
 * trace_remote_stats_clear - clear counters that were kept
 * @remote:	the remote
 * @which:	those of a CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: process context, may sleep.
 */
void trace_remote_stats_clear(struct trace_remote *remote, int which)
{
	int cpu;

	guard(mutex)(&remote->stats_lock);
	for_each_possible_cpu(cpu) {
		if (which == RING_BUFFER_ALL_CPUS || which == cpu)
			trace_remote_cpu(remote, cpu)->last_stats =
				(struct ring_buffer_reader_stats){ };
	}
}

/**
 * trace_remote_set_size - set how large rings will be
 * @remote:	the remote
 * @cpu:	a CPU, or RING_BUFFER_ALL_CPUS
 * @size:	bytes of events
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL for 0 and for more than trace_remote_buffer_max_size(); -EBUSY while
 * the rings are loaded.
 */
int trace_remote_set_size(struct trace_remote *remote, int cpu, unsigned long size)
{
	if (!size || size > trace_remote_buffer_max_size(remote))
		return -EINVAL;

	guard(mutex)(&remote->lock);
	if (remote->buffer)
		return -EBUSY;

	if (cpu != RING_BUFFER_ALL_CPUS) {
		WRITE_ONCE(trace_remote_cpu(remote, cpu)->size, size);
		return 0;
	}

	for_each_possible_cpu(cpu)
		WRITE_ONCE(trace_remote_cpu(remote, cpu)->size, size);
	return 0;
}
EXPORT_SYMBOL_GPL(trace_remote_set_size);
