// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace: a remote's events as text, without consuming them
 *
 * What is shown is what the rings held when reading began, merged by time. Lost events are
 * reported at the place where they were lost. A write, and O_TRUNC alone, clears the buffer.
 *
 * Locking: the seq_file's; an open file's iterators are its own.
 */
#include <linux/fs.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/trace_seq.h>

#include "remote.h"

/**
 * struct trace_remote_show - a file open for reading
 * @remote:	its remote
 * @iter:	the line to be shown; @iter.cpu_file is whose events
 * @buffer:	where from; NULL before reading began, and if it was not loaded then
 * @started:	reading has begun
 * @pos:	number of that line, 0 is the header
 * @merge:	the CPUs that have something to show
 * @cpus:	iterators of the CPUs
 */
struct trace_remote_show {
	struct trace_remote		*remote;
	struct trace_iterator		iter;
	struct trace_buffer		*buffer;
	bool				started;
	loff_t				pos;
	struct trace_remote_merge	merge;
	struct ring_buffer_reader_iter	*cpus[];
};

static void remote_show_stop(struct trace_remote_show *show)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		ring_buffer_reader_iter_finish(show->cpus[cpu]);
		show->cpus[cpu] = NULL;
	}
	trace_remote_merge_clear(&show->merge);
}

/*
 * Look up what a CPU has to show next, and when: its next event, or, after the events of
 * all CPUs, what it lost at its end. Returns whether there is any.
 */
static bool remote_show_peek(struct trace_remote_show *show, int cpu, u64 *ts)
{
	struct ring_buffer_reader_iter *iter = show->cpus[cpu];

	if (ring_buffer_reader_iter_peek(iter, ts))
		return true;

	*ts = U64_MAX;
	return ring_buffer_reader_iter_lost(iter);
}

static int remote_show_start(struct trace_remote_show *show)
{
	int cpu;
	u64 ts;

	remote_show_stop(show);
	show->pos = 0;
	show->started = true;
	if (!show->buffer)
		show->buffer = trace_remote_get_buffer(show->remote);
	if (!show->buffer)
		return 0;

	for_each_possible_cpu(cpu) {
		if (!trace_remote_file_has_cpu(show->iter.cpu_file, cpu) ||
		    !ring_buffer_reader_has_cpu(show->buffer, cpu))
			continue;

		show->cpus[cpu] = ring_buffer_reader_iter_start(show->buffer, cpu);
		if (IS_ERR(show->cpus[cpu])) {
			show->started = false;
			return PTR_ERR(show->cpus[cpu]);
		}
	}

	for_each_possible_cpu(cpu) {
		if (show->cpus[cpu] && remote_show_peek(show, cpu, &ts))
			trace_remote_merge_add(&show->merge, cpu, ts);
	}

	return 0;
}

/* Set the line to be shown. False if there is none. */
static bool remote_show_find(struct trace_remote_show *show)
{
	int cpu = trace_remote_merge_first(&show->merge);
	struct trace_iterator *iter = &show->iter;
	struct ring_buffer_event *event;

	if (cpu < 0)
		return false;

	event = ring_buffer_reader_iter_peek(show->cpus[cpu], &iter->ts);
	iter->cpu = cpu;
	iter->ent = event ? ring_buffer_event_data(event) : NULL;
	iter->ent_size = event ? ring_buffer_event_length(event) : 0;
	iter->lost_events = ring_buffer_reader_iter_lost(show->cpus[cpu]);
	return true;
}

/* Go past the line that is shown. */
static void remote_show_advance(struct trace_remote_show *show)
{
	int cpu = trace_remote_merge_first(&show->merge);
	u64 ts;

	if (cpu < 0)
		return;

	ring_buffer_reader_iter_advance(show->cpus[cpu]);
	if (remote_show_peek(show, cpu, &ts))
		trace_remote_merge_update(&show->merge, ts);
	else
		trace_remote_merge_pop(&show->merge);
}

/* Go to the next line. False if there is none. */
static bool remote_show_next(struct trace_remote_show *show)
{
	if (show->pos++)
		remote_show_advance(show);

	return remote_show_find(show);
}

static void *remote_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct trace_remote_show *show = m->private;
	bool found = remote_show_next(show);

	*pos = show->pos;
	return found ? show : NULL;
}

/* The file may be read again from its start, or from anywhere. */
static void *remote_seq_start(struct seq_file *m, loff_t *pos)
{
	struct trace_remote_show *show = m->private;
	bool found;
	int ret;

	if (!*pos || !show->started || *pos < show->pos) {
		ret = remote_show_start(show);
		if (ret)
			return ERR_PTR(ret);
	}
	if (!*pos)
		return SEQ_START_TOKEN;

	found = show->pos && remote_show_find(show);
	while (show->pos < *pos) {
		found = remote_show_next(show);
		if (!found)
			break;
		cond_resched();
	}

	return found ? show : NULL;
}

static void remote_seq_stop(struct seq_file *m, void *v)
{
}

static void remote_show_header(struct seq_file *m, struct trace_remote_show *show)
{
	unsigned long entries = 0, written = 0;
	unsigned int rounds = RING_BUFFER_READER_ROUNDS;
	struct ring_buffer_reader_stats stats;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (!show->cpus[cpu])
			continue;

		ring_buffer_reader_wait_stats(show->buffer, cpu, &rounds, &stats);
		entries += stats.entries;
		written += stats.entries + stats.overrun;
	}

	seq_puts(m, "# tracer: nop\n#\n");
	seq_printf(m, "# entries-in-buffer/entries-written: %lu/%lu   #P:%d\n#\n",
		   entries, written, num_online_cpus());
	/* As trace_remote_print_event() has a line */
	if (trace_remote_has_task_option(show->remote, TRACE_REMOTE_RECORD_CMD)) {
		seq_puts(m, "#           TASK-PID     CPU#   TIMESTAMP   EVENT\n");
		seq_puts(m, "#              | |         |        |       |\n");
		return;
	}
	seq_puts(m, "#CPU#   TIMESTAMP   EVENT\n");
	seq_puts(m, "# |         |       |\n");
}

static int remote_seq_show(struct seq_file *m, void *v)
{
	struct trace_remote_show *show = m->private;
	struct trace_seq *s = &show->iter.seq;

	if (v == SEQ_START_TOKEN) {
		remote_show_header(m, show);
		return 0;
	}

	trace_seq_init(s);
	if (trace_remote_print_event(show->remote, &show->iter) == TRACE_TYPE_PARTIAL_LINE)
		seq_puts(m, "[LINE TOO BIG]\n");
	else
		seq_write(m, s->buffer, trace_seq_used(s));
	return 0;
}

static const struct seq_operations remote_seq_ops = {
	.start	= remote_seq_start,
	.next	= remote_seq_next,
	.stop	= remote_seq_stop,
	.show	= remote_seq_show,
};

static void remote_show_free(struct trace_remote_show *show)
{
	trace_remote_merge_free(&show->merge);
	kvfree(show);
}

static int remote_show_open_read(struct inode *inode, struct file *file)
{
	struct trace_remote_show *show;
	int ret;

	show = kvzalloc(struct_size(show, cpus, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!show)
		return -ENOMEM;

	show->remote = trace_remote_of(file);
	show->iter.cpu_file = trace_remote_file_nr(inode);
	ret = trace_remote_merge_init(&show->merge) ?: seq_open(file, &remote_seq_ops);
	if (ret)
		remote_show_free(show);
	else
		((struct seq_file *)file->private_data)->private = show;
	return ret;
}

static int remote_show_release(struct inode *inode, struct file *file)
{
	struct trace_remote_show *show;

	if (!(file->f_mode & FMODE_READ))
		return trace_remote_release(inode, file);

	show = ((struct seq_file *)file->private_data)->private;
	remote_show_stop(show);
	if (show->buffer)
		trace_remote_put_buffer(show->remote);
	remote_show_free(show);
	seq_release(inode, file);
	return trace_remote_release(inode, file);
}

/* A file that can't be opened does not clear the buffer. */
static int remote_show_open(struct inode *inode, struct file *file)
{
	int ret = trace_remote_open(inode, file);

	if (ret)
		return ret;
	if (file->f_mode & FMODE_READ)
		ret = remote_show_open_read(inode, file);
	if (ret) {
		trace_remote_release(inode, file);
		return ret;
	}
	if (!(file->f_mode & FMODE_WRITE) || !(file->f_flags & O_TRUNC))
		return 0;

	ret = trace_remote_clear(trace_remote_of(file), trace_remote_file_nr(inode));
	if (ret)
		remote_show_release(inode, file);
	return ret;
}

static ssize_t remote_show_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	int ret = trace_remote_clear(trace_remote_of(file), trace_remote_file_nr(file_inode(file)));

	return trace_remote_written(ret, cnt, ppos);
}

const struct file_operations trace_remote_show_fops = {
	.open		= remote_show_open,
	.read_iter	= seq_read_iter,
	.splice_read	= copy_splice_read,
	.write		= remote_show_write,
	.llseek		= trace_remote_lseek,
	.release	= remote_show_release,
};
