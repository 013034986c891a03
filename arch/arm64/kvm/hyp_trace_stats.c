// SPDX-License-Identifier: GPL-2.0-only
/*
 * per_cpu/cpuN/stats: the counters of a CPU's ring, as the host's file has them
 */
#include <linux/fs.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>

#include "hyp_trace.h"

/* The time of the oldest event; 0 if there is none, also for a CPU that has no ring. */
static int hyp_trace_oldest_ts(struct trace_buffer *buffer, int cpu, u64 *ts)
{
	struct ring_buffer_reader_iter *iter;

	*ts = 0;
	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return 0;

	iter = ring_buffer_reader_iter_start(buffer, cpu);
	if (IS_ERR(iter))
		return PTR_ERR(iter);

	ring_buffer_reader_iter_peek(iter, ts);
	ring_buffer_reader_iter_finish(iter);
	return 0;
}

static void hyp_trace_show_ts(struct seq_file *m, const char *name, u64 ns)
{
	u64 us = hyp_trace_us(ns);
	u32 rem = do_div(us, USEC_PER_SEC);

	seq_printf(m, "%s ts: %5llu.%06u\n", name, us, rem);
}

/* What the counters were when the rings were given back. */
static DEFINE_PER_CPU(struct ring_buffer_reader_stats, hyp_trace_last_stats);
static DEFINE_MUTEX(hyp_trace_last_stats_lock);

/**
 * hyp_trace_stats_keep - keep the counters of rings that are about to go
 * @buffer:	the buffer
 *
 * A program that ends its readers may look at them only then.
 *
 * Context: process context, may sleep.
 */
void hyp_trace_stats_keep(struct trace_buffer *buffer)
{
	int cpu;

	guard(mutex)(&hyp_trace_last_stats_lock);
	for_each_possible_cpu(cpu)
		ring_buffer_reader_get_stats(buffer, cpu, per_cpu_ptr(&hyp_trace_last_stats, cpu));
}

/**
 * hyp_trace_stats_forget - forget counters that were kept
 * @which:	those of a CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: process context, may sleep.
 */
void hyp_trace_stats_forget(int which)
{
	int cpu;

	guard(mutex)(&hyp_trace_last_stats_lock);
	for_each_possible_cpu(cpu) {
		if (which == RING_BUFFER_ALL_CPUS || which == cpu)
			per_cpu(hyp_trace_last_stats, cpu) = (struct ring_buffer_reader_stats){ };
	}
}

static void hyp_trace_stats_last(int cpu, struct ring_buffer_reader_stats *stats)
{
	guard(mutex)(&hyp_trace_last_stats_lock);
	*stats = per_cpu(hyp_trace_last_stats, cpu);
}

static int hyp_trace_stats_show(struct seq_file *m, void *v)
{
	struct ring_buffer_reader_stats stats = { };
	struct trace_buffer *buffer = hyp_trace_get();
	int cpu = (long)m->private, ret = 0;
	u64 oldest = 0;

	if (buffer) {
		ring_buffer_reader_get_stats(buffer, cpu, &stats);
		ret = hyp_trace_oldest_ts(buffer, cpu, &oldest);
		hyp_trace_put();
	} else {
		hyp_trace_stats_last(cpu, &stats);
	}
	if (ret)
		return ret;

	seq_printf(m, "entries: %lu\n", stats.entries);
	seq_printf(m, "overrun: %lu\n", stats.overrun);
	/* What it counts, events within events, EL2 has none of. */
	seq_puts(m, "commit overrun: 0\n");
	seq_printf(m, "bytes: %lu\n", stats.bytes);
	hyp_trace_show_ts(m, "oldest event", oldest);
	hyp_trace_show_ts(m, "now", ktime_get_boottime_ns());
	seq_printf(m, "dropped events: %lu\n", stats.dropped);
	seq_printf(m, "read events: %lu\n", stats.read);
	return 0;
}

static int hyp_trace_stats_open(struct inode *inode, struct file *file)
{
	long cpu = hyp_trace_file_cpu(inode);

	return hyp_trace_open(inode, file) ?:
	       single_open(file, hyp_trace_stats_show, (void *)cpu);
}

const struct file_operations hyp_trace_stats_fops = {
	.open		= hyp_trace_stats_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};
