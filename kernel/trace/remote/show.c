// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace and snapshot: a remote's events as text, without consuming them
 *
 * What is shown is what the rings held when reading began, merged by time. Lost events are
 * reported at the place where they were lost. A write to trace, and O_TRUNC alone, clears the
 * buffer.
 *
 * snapshot shows the copy of the rings that there is when reading begins, or how to make one.
 * Numbers that are written to it take a snapshot (1), free it (0) or clear it (others).
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
 * @is_of_copy:	the file is snapshot
 * @snapshot:	where from, if so; NULL if there is none
 * @buffer:	where from; NULL before reading began, and if it was not loaded then
 * @started:	reading has begun
 * @pos:	number of that line, 0 is the header
 * @entry:	a copy of its record, if that is of a function's entry
 * @is_ahead:	it is, and the iterator of its CPU is at the next record already. That is
 *		the function's return if @iter.private is not NULL: both are in the line
 * @merge:	the CPUs that have something to show
 * @cpus:	iterators of the CPUs
 */
struct trace_remote_show {
	struct trace_remote		*remote;
	struct trace_iterator		iter;
	bool				is_of_copy;
	struct trace_remote_snapshot	*snapshot;
	struct trace_buffer		*buffer;
	bool				started;
	loff_t				pos;
	struct ftrace_graph_ent_entry	entry;
	bool				is_ahead;
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

/* The rings stay the same as long as the file is open. The snapshot is that of now. */
static void remote_show_get_buffer(struct trace_remote_show *show)
{
	struct trace_remote *remote = show->remote;

	if (!show->is_of_copy) {
		if (!show->buffer)
			show->buffer = trace_remote_get_buffer(remote);
		return;
	}

	trace_remote_put_snapshot(remote, show->snapshot);
	show->snapshot = trace_remote_get_snapshot(remote);
	show->buffer = show->snapshot ? trace_remote_snapshot_buffer(show->snapshot) : NULL;
}

static void remote_show_put_buffer(struct trace_remote_show *show)
{
	if (show->is_of_copy)
		trace_remote_put_snapshot(show->remote, show->snapshot);
	else if (show->buffer)
		trace_remote_put_buffer(show->remote);
}

static int remote_show_start(struct trace_remote_show *show)
{
	int cpu;
	u64 ts;

	remote_show_stop(show);
	show->pos = 0;
	show->is_ahead = false;
	show->started = true;
	remote_show_get_buffer(show);
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

/* A function that calls no other one is one line: look at the record behind that of its entry. */
static void remote_show_look_ahead(struct trace_remote_show *show)
{
	struct ring_buffer_reader_iter *ahead = show->cpus[show->iter.cpu];
	struct trace_iterator *iter = &show->iter;
	struct ring_buffer_event *event;
	u64 ts;

	if (!iter->ent || iter->ent_size < sizeof(show->entry) ||
	    iter->ent->type != TRACE_GRAPH_ENT)
		return;

	show->entry = *(struct ftrace_graph_ent_entry *)iter->ent;
	iter->ent = &show->entry.ent;
	iter->ent_size = sizeof(show->entry);
	show->is_ahead = true;
	ring_buffer_reader_iter_advance(ahead);
	event = ring_buffer_reader_iter_peek(ahead, &ts);
	if (event && !ring_buffer_reader_iter_lost(ahead) &&
	    trace_remote_is_leaf(iter->ent, iter->ent_size, ring_buffer_event_data(event),
				 ring_buffer_event_length(event)))
		iter->private = ring_buffer_event_data(event);
}

/* Set the line to be shown. False if there is none. */
static bool remote_show_find(struct trace_remote_show *show)
{
	int cpu = trace_remote_merge_first(&show->merge);
	struct trace_iterator *iter = &show->iter;
	struct ring_buffer_event *event;

	if (cpu < 0)
		return false;
	if (show->is_ahead)
		return true;

	event = ring_buffer_reader_iter_peek(show->cpus[cpu], &iter->ts);
	iter->cpu = cpu;
	iter->ent = event ? ring_buffer_event_data(event) : NULL;
	iter->ent_size = event ? ring_buffer_event_length(event) : 0;
	iter->lost_events = ring_buffer_reader_iter_lost(show->cpus[cpu]);
	iter->private = NULL;
	remote_show_look_ahead(show);
	return true;
}

/* Go past the line that is shown. */
static void remote_show_advance(struct trace_remote_show *show)
{
	int cpu = trace_remote_merge_first(&show->merge);
	u64 ts;

	if (cpu < 0)
		return;

	if (!show->is_ahead || show->iter.private)
		ring_buffer_reader_iter_advance(show->cpus[cpu]);
	show->is_ahead = false;
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

/* As the host's file has it */
static const char remote_snapshot_help[] =
	"# Snapshot commands:\n"
	"# echo 0 > snapshot : Clears and frees snapshot buffer\n"
	"# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.\n"
	"#                      Takes a snapshot of the main buffer.\n"
	"# echo 2 > snapshot : Clears snapshot buffer (but does not allocate or free)\n"
	"#                      (Doesn't have to be '2' works with any number that\n"
	"#                       is not a '0' or '1')\n";

static const char remote_snapshot_cpu_help[] =
	"# Snapshot commands:\n"
	"# echo 0 > snapshot : Invalid for per_cpu snapshot file.\n"
	"# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.\n"
	"#                      Takes a snapshot of the main buffer for this cpu.\n"
	"# echo 2 > snapshot : Clears this cpu's snapshot buffer (but does not allocate)\n"
	"#                      (Doesn't have to be '2' works with any number that\n"
	"#                       is not a '0' or '1')\n";

static const char *remote_show_tracer(const struct trace_remote_show *show)
{
	return trace_remote_tracer_name(trace_remote_tracer(show->remote));
}

static void remote_show_help(struct seq_file *m, struct trace_remote_show *show)
{
	seq_printf(m, "# tracer: %s\n#\n", remote_show_tracer(show));
	seq_printf(m, "#\n# * Snapshot is %s *\n#\n", show->snapshot ? "allocated" : "freed");
	seq_puts(m, show->iter.cpu_file == RING_BUFFER_ALL_CPUS ? remote_snapshot_help :
								 remote_snapshot_cpu_help);
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

	seq_printf(m, "# tracer: %s\n#\n", remote_show_tracer(show));
	/* As the kernel's, which has no counters there */
	if (trace_remote_tracer(show->remote) == TRACE_REMOTE_TRACE_GRAPH) {
		seq_puts(m, "# CPU  DURATION                  FUNCTION CALLS\n");
		seq_puts(m, "# |     |   |                     |   |   |   |\n");
		return;
	}
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
		if (show->is_of_copy && trace_remote_merge_first(&show->merge) < 0)
			remote_show_help(m, show);
		else
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
	remote_show_put_buffer(show);
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

static int remote_snapshot_open_read(struct inode *inode, struct file *file)
{
	struct trace_remote_show *show;
	int ret;

	if (!(file->f_mode & FMODE_READ))
		return 0;

	ret = remote_show_open_read(inode, file);
	if (ret)
		return ret;

	show = ((struct seq_file *)file->private_data)->private;
	show->is_of_copy = true;
	return 0;
}

/* O_TRUNC changes nothing: that is what the host's file does. */
static int remote_snapshot_open(struct inode *inode, struct file *file)
{
	return trace_remote_open_with(inode, file, remote_snapshot_open_read);
}

static int remote_snapshot_change(struct trace_remote *remote, int cpu, unsigned long val)
{
	if (val == 1)
		return trace_remote_take_snapshot(remote, cpu);
	if (!val && cpu != RING_BUFFER_ALL_CPUS)
		return -EINVAL;

	if (val)
		trace_remote_clear_snapshot(remote, cpu);
	else
		trace_remote_free_snapshot(remote);
	return 0;
}

static ssize_t remote_snapshot_write(struct file *file, const char __user *ubuf, size_t cnt,
				     loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = trace_remote_get_number(ubuf, cnt, ULONG_MAX, &val);
	if (!ret)
		ret = remote_snapshot_change(trace_remote_of(file),
					     trace_remote_file_nr(file_inode(file)), val);

	return trace_remote_written(ret, cnt, ppos);
}

const struct file_operations trace_remote_snapshot_fops = {
	.open		= remote_snapshot_open,
	.read_iter	= seq_read_iter,
	.splice_read	= copy_splice_read,
	.write		= remote_snapshot_write,
	.llseek		= trace_remote_lseek,
	.release	= remote_show_release,
};
