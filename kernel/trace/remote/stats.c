// SPDX-License-Identifier: GPL-2.0-only
/*
 * per_cpu/cpuN/stats: the counters of a CPU's ring, as the host's file has them
 */
#include <linux/fs.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>

#include "remote.h"

/* The time of the oldest event; 0 if there is none, also for a CPU that has no ring. */
static int remote_oldest_ts(struct trace_buffer *buffer, int cpu, u64 *ts)
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

static void remote_show_ts(struct seq_file *m, const char *name, u64 ns)
{
	u64 us = trace_remote_us(ns);
	u32 rem = do_div(us, USEC_PER_SEC);

	seq_printf(m, "%s ts: %5llu.%06u\n", name, us, rem);
}

static void remote_stats_last(struct trace_remote *remote, int cpu,
			      struct ring_buffer_reader_stats *stats)
{
	guard(mutex)(&remote->stats_lock);
	*stats = trace_remote_cpu(remote, cpu)->last_stats;
}

static int remote_stats_show(struct seq_file *m, void *v)
{
	struct ring_buffer_reader_stats stats = { };
	struct inode *inode = m->private;
	struct trace_remote *remote = inode->i_private;
	struct trace_buffer *buffer = trace_remote_get_buffer(remote);
	int cpu = trace_remote_file_nr(inode), ret = 0;
	u64 oldest = 0;

	if (buffer) {
		ring_buffer_reader_get_stats(buffer, cpu, &stats);
		ret = remote_oldest_ts(buffer, cpu, &oldest);
		trace_remote_put_buffer(remote);
	} else {
		remote_stats_last(remote, cpu, &stats);
	}
	if (ret)
		return ret;

	seq_printf(m, "entries: %lu\n", stats.entries);
	seq_printf(m, "overrun: %lu\n", stats.overrun);
	/* It counts events within events, and a remote writes none. */
	seq_puts(m, "commit overrun: 0\n");
	seq_printf(m, "bytes: %lu\n", stats.bytes);
	remote_show_ts(m, "oldest event", oldest);
	remote_show_ts(m, "now", remote->desc->ops->clock());
	seq_printf(m, "dropped events: %lu\n", stats.dropped);
	seq_printf(m, "read events: %lu\n", stats.read);
	return 0;
}

static int remote_stats_open(struct inode *inode, struct file *file)
{
	return trace_remote_single_open(inode, file, remote_stats_show);
}

const struct file_operations trace_remote_stats_fops = {
	.open		= remote_stats_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= trace_remote_single_release,
};
