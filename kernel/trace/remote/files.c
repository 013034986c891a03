// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace instance of a remote in tracefs
 *
 *	<name>/
 *	    tracing_on  tracing_cpumask  trace_clock  timestamp_mode
 *	    current_tracer  available_tracers  write_event
 *	    buffer_size_kb  buffer_total_size_kb  buffer_subbuf_size_kb  buffer_percent  free_buffer
 *	    trace  trace_pipe  snapshot  error_log
 *	    set_event_pid  set_event_notrace_pid
 *	    available_filter_functions  set_ftrace_filter  set_ftrace_notrace
 *	    set_graph_function  max_graph_depth
 *	    trace_options  options/{event-fork,overwrite,record-cmd}
 *	    per_cpu/cpuN/{trace,trace_pipe,trace_pipe_raw,snapshot,stats,buffer_size_kb}
 *	    files of the remote's own, here and in per_cpu/cpuN
 *	    available_events  set_event
 *	    events/{enable,header_page,header_event}
 *	    events/<group>/{enable,filter}
 *	    events/<group>/<event>/{enable,filter,id,format,trigger}
 *	    events/ftrace/{function,funcgraph_entry,funcgraph_exit}/format, if it has functions
 *	    printk_formats -> ../printk_formats, if an event's records are the kernel's bprint
 *	instances/<name> -> ../<name>
 *	remotes/<name> -> ../<name>
 *
 * This file has the directory and the small files. Names, modes, formats and errors are those
 * of the kernel's own instances.
 */
#include <linux/export.h>
#include <linux/ring_buffer.h>
#include <linux/trace.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>

#include "remote.h"

static ssize_t tracing_on_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return trace_remote_read_number(ubuf, cnt, ppos,
					trace_remote_ask_on(trace_remote_of(file)));
}

static ssize_t tracing_on_write(struct file *file, const char __user *ubuf, size_t cnt,
				loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val);
	if (!ret)
		ret = trace_remote_set_on(trace_remote_of(file), val);

	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(tracing_on_fops, tracing_on_read, tracing_on_write);

/* A size may not change while loaded, and so what is printed fits together. */
static ssize_t read_size(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos,
			 const char *size)
{
	char buf[64];
	int len = scnprintf(buf, sizeof(buf), "%s (%s)\n", size,
			    trace_remote_is_loaded(trace_remote_of(file)) ? "loaded" : "unloaded");

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static bool sizes_differ(struct trace_remote *remote)
{
	int cpu, first = cpumask_first(cpu_possible_mask);

	for_each_possible_cpu(cpu) {
		if (trace_remote_size(remote, cpu) != trace_remote_size(remote, first))
			return true;
	}

	return false;
}

static ssize_t buffer_size_kb_read(struct file *file, char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	struct trace_remote *remote = trace_remote_of(file);
	int cpu = trace_remote_file_nr(file_inode(file));
	char size[24] = "X";

	if (cpu != RING_BUFFER_ALL_CPUS || !sizes_differ(remote)) {
		if (cpu == RING_BUFFER_ALL_CPUS)
			cpu = cpumask_first(cpu_possible_mask);
		scnprintf(size, sizeof(size), "%lu", trace_remote_size(remote, cpu) >> 10);
	}

	return read_size(file, ubuf, cnt, ppos, size);
}

static ssize_t buffer_size_kb_write(struct file *file, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	unsigned long kb;
	int ret;

	ret = trace_remote_get_number(ubuf, cnt, ULONG_MAX >> 10, &kb);
	if (ret)
		return ret;

	ret = trace_remote_set_size(trace_remote_of(file), trace_remote_file_nr(file_inode(file)),
				    kb << 10);

	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(buffer_size_kb_fops, buffer_size_kb_read, buffer_size_kb_write);

static ssize_t buffer_total_size_kb_read(struct file *file, char __user *ubuf, size_t cnt,
					 loff_t *ppos)
{
	struct trace_remote *remote = trace_remote_of(file);
	unsigned long kb = 0;
	char size[24];
	int cpu;

	for_each_possible_cpu(cpu)
		kb += trace_remote_size(remote, cpu) >> 10;

	scnprintf(size, sizeof(size), "%lu", kb);
	return read_size(file, ubuf, cnt, ppos, size);
}

TRACE_REMOTE_FOPS(buffer_total_size_kb_fops, buffer_total_size_kb_read, NULL);

static ssize_t buffer_percent_read(struct file *file, char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	return trace_remote_read_number(ubuf, cnt, ppos,
					trace_remote_percent(trace_remote_of(file)));
}

static ssize_t buffer_percent_write(struct file *file, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = trace_remote_get_number(ubuf, cnt, 100, &val);
	if (!ret)
		WRITE_ONCE(trace_remote_of(file)->percent, val);

	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(buffer_percent_fops, buffer_percent_read, buffer_percent_write);

/* Copy what is written to a buffer of @size bytes. */
static int read_word(const char __user *ubuf, size_t cnt, char *buf, size_t size)
{
	if (cnt >= size)
		return -EINVAL;
	if (copy_from_user(buf, ubuf, cnt))
		return -EFAULT;

	buf[cnt] = '\0';
	return 0;
}

/* For files that know one word: take it, with white space around. */
static ssize_t write_word(const char __user *ubuf, size_t cnt, loff_t *ppos, const char *word)
{
	char buf[16];
	int ret = read_word(ubuf, cnt, buf, sizeof(buf));

	if (!ret && strcmp(strstrip(buf), word))
		ret = -EINVAL;

	return trace_remote_written(ret, cnt, ppos);
}

static ssize_t trace_clock_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return simple_read_from_buffer(ubuf, cnt, ppos, "[boot]\n", 7);
}

static ssize_t trace_clock_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	return write_word(ubuf, cnt, ppos, "boot");
}

TRACE_REMOTE_FOPS(trace_clock_fops, trace_clock_read, trace_clock_write);

static ssize_t current_tracer_read(struct file *file, char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	enum trace_remote_tracer tracer = trace_remote_tracer(trace_remote_of(file));
	char buf[MAX_TRACER_SIZE + 2];
	int len = scnprintf(buf, sizeof(buf), "%s\n", trace_remote_tracer_name(tracer));

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t current_tracer_write(struct file *file, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	char buf[MAX_TRACER_SIZE + 1];
	int ret;

	ret = read_word(ubuf, cnt, buf, sizeof(buf));
	if (!ret)
		ret = trace_remote_set_tracer(trace_remote_of(file), strstrip(buf));
	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(current_tracer_fops, current_tracer_read, current_tracer_write);

static ssize_t available_tracers_read(struct file *file, char __user *ubuf, size_t cnt,
				      loff_t *ppos)
{
	static const char all[] = "function_graph function nop\n", nop[] = "nop\n";
	const char *names = trace_remote_has_functions(trace_remote_of(file)) ? all : nop;

	return simple_read_from_buffer(ubuf, cnt, ppos, names, strlen(names));
}

TRACE_REMOTE_FOPS(available_tracers_fops, available_tracers_read, NULL);

/* The times of events are deltas, as the format of a page has them. */
static ssize_t timestamp_mode_read(struct file *file, char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	return simple_read_from_buffer(ubuf, cnt, ppos, "[delta] absolute\n", 17);
}

TRACE_REMOTE_FOPS(timestamp_mode_fops, timestamp_mode_read, NULL);

/* A remote's pages are of order 0. */
static ssize_t subbuf_size_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return trace_remote_read_number(ubuf, cnt, ppos, PAGE_SIZE >> 10);
}

/* As the host's file, it takes any size for which a page is enough. */
static ssize_t subbuf_size_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	unsigned long kb;
	int ret;

	ret = trace_remote_get_number(ubuf, cnt, PAGE_SIZE >> 10, &kb);
	if (!ret && !kb)
		ret = -EINVAL;

	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(subbuf_size_fops, subbuf_size_read, subbuf_size_write);

/* What is written does not matter: closing the file frees the buffer. */
static ssize_t free_buffer_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	return trace_remote_written(0, cnt, ppos);
}

/*
 * The host's file shrinks a buffer to nothing, which tracing may go on to use. Here tracing ends,
 * since rings can't be freed while the remote writes to them.
 */
static int free_buffer_release(struct inode *inode, struct file *file)
{
	struct trace_remote *remote = trace_remote_of(file);

	trace_remote_set_on(remote, false);
	trace_remote_clear(remote, RING_BUFFER_ALL_CPUS);
	return trace_remote_release(inode, file);
}

static const struct file_operations free_buffer_fops = {
	.open		= trace_remote_open,
	.write		= free_buffer_write,
	.release	= free_buffer_release,
};

/* The event comes from the CPU that this runs on. */
static int write_event(struct trace_remote *remote, u64 value)
{
	int ret = trace_remote_get_writer(remote);

	if (ret)
		return ret;

	ret = trace_remote_call(remote, write_event, value);
	trace_remote_put_writer(remote);
	return ret;
}

static ssize_t write_event_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	u64 value;
	int ret;

	ret = kstrtou64_from_user(ubuf, cnt, 0, &value);
	if (!ret)
		ret = write_event(trace_remote_of(file), value);

	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(write_event_fops, NULL, write_event_write);

static const struct trace_remote_file remote_files[] = {
	{ "tracing_on",		TRACE_MODE_WRITE,	&tracing_on_fops },
	{ "tracing_cpumask",	TRACE_MODE_WRITE,	&trace_remote_cpumask_fops },
	{ "trace_clock",	TRACE_MODE_WRITE,	&trace_clock_fops },
	{ "timestamp_mode",	TRACE_MODE_READ,	&timestamp_mode_fops },
	{ "current_tracer",	TRACE_MODE_WRITE,	&current_tracer_fops },
	{ "available_tracers",	TRACE_MODE_READ,	&available_tracers_fops },
	{ "buffer_size_kb",	TRACE_MODE_WRITE,	&buffer_size_kb_fops },
	{ "buffer_total_size_kb", TRACE_MODE_READ,	&buffer_total_size_kb_fops },
	{ "buffer_subbuf_size_kb", TRACE_MODE_WRITE,	&subbuf_size_fops },
	{ "free_buffer",	0200,			&free_buffer_fops },
	{ "buffer_percent",	TRACE_MODE_WRITE,	&buffer_percent_fops },
	{ "trace",		TRACE_MODE_WRITE,	&trace_remote_show_fops },
	{ "trace_pipe",		TRACE_MODE_READ,	&trace_remote_pipe_fops },
	{ "snapshot",		TRACE_MODE_WRITE,	&trace_remote_snapshot_fops },
	{ "error_log",		TRACE_MODE_WRITE,	&trace_remote_errors_fops },
	{ }
};

/* If the remote can write an event for a test */
static const struct trace_remote_file remote_test_files[] = {
	{ "write_event",	0220,			&write_event_fops },
	{ }
};

static const struct trace_remote_file remote_cpu_files[] = {
	{ "buffer_size_kb",	TRACE_MODE_WRITE,	&buffer_size_kb_fops },
	{ "snapshot",		TRACE_MODE_WRITE,	&trace_remote_snapshot_fops },
	{ "stats",		TRACE_MODE_READ,	&trace_remote_stats_fops },
	{ "trace",		TRACE_MODE_WRITE,	&trace_remote_show_fops },
	{ "trace_pipe",		TRACE_MODE_READ,	&trace_remote_pipe_fops },
	{ "trace_pipe_raw",	TRACE_MODE_READ,	&trace_remote_raw_fops },
	{ }
};

static int remote_create_cpu_dirs(struct trace_remote *remote, struct dentry *parent)
{
	struct dentry *dir, *per_cpu = tracefs_create_dir("per_cpu", parent);
	char name[16];
	int cpu, ret;

	if (!per_cpu)
		return -ENOMEM;

	for_each_possible_cpu(cpu) {
		scnprintf(name, sizeof(name), "cpu%d", cpu);
		dir = tracefs_create_dir(name, per_cpu);
		ret = trace_remote_create_files(remote, dir, remote_cpu_files, cpu) ?:
		      trace_remote_create_files(remote, dir, remote->desc->cpu_files, cpu);
		if (ret)
			return ret;
	}

	return 0;
}

/* If the remote's events have tasks */
static int remote_create_task_files(struct trace_remote *remote, struct dentry *dir)
{
	return remote->desc->has_tasks ? trace_remote_create_pid_files(remote, dir) : 0;
}

static int remote_fill_dir(struct trace_remote *remote, struct dentry *dir)
{
	int ret;

	ret = trace_remote_create_files(remote, dir, remote_files, TRACE_REMOTE_ALL);
	if (!ret && remote->desc->ops->write_event)
		ret = trace_remote_create_files(remote, dir, remote_test_files, TRACE_REMOTE_ALL);
	if (!ret)
		ret = trace_remote_create_files(remote, dir, remote->desc->files,
						TRACE_REMOTE_ALL);
	if (!ret)
		ret = remote_create_task_files(remote, dir) ?:
		      trace_remote_create_function_files(remote, dir) ?:
		      trace_remote_create_options(remote, dir);
	if (!ret)
		ret = remote_create_cpu_dirs(remote, dir);
	if (!ret)
		ret = trace_remote_create_event_files(remote, dir);
	return ret;
}

/*
 * The names by which trace-cmd, and programs that were written for other kernels, find the
 * instance. One that can't be created is reported, and is no error.
 */
static void remote_create_links(struct trace_remote *remote)
{
	struct dentry *remotes = trace_remotes_dir();
	const char *name = trace_remote_name(remote);

	remote->remotes_link = remotes ?
		tracefs_create_symlink(name, remotes, remote->target) : NULL;
	if (!remote->remotes_link)
		pr_warn("trace_remote: no remotes/%s in tracefs\n", name);
	remote->link = trace_link_instance(name, remote->target);
	if (IS_ERR(remote->link)) {
		pr_warn("trace_remote: no instances/%s in tracefs\n", name);
		remote->link = NULL;
	}
}

/* Programs know the records of the kernel's bprint with the file that has their formats. */
static void remote_link_formats(struct trace_remote *remote, struct dentry *dir)
{
	unsigned int i;

	for (i = 0; i < remote->desc->nr_events; i++) {
		if (!remote->desc->events[i].is_bprint)
			continue;
		if (!tracefs_create_symlink("printk_formats", dir, "../printk_formats"))
			pr_warn("trace_remote: no printk_formats of %s\n",
				trace_remote_name(remote));
		return;
	}
}

/**
 * trace_remote_create_dir - create the directory of a remote in tracefs
 * @remote:	the remote
 *
 * Context: process context, may sleep; when tracefs is there, that is from late_initcall() on.
 * Return: 0; -ENOMEM, also when tracefs is locked down: then nothing is left of it.
 */
int trace_remote_create_dir(struct trace_remote *remote)
{
	struct dentry *dir = tracefs_create_dir(trace_remote_name(remote), NULL);
	int ret;

	ret = remote_fill_dir(remote, dir);
	if (ret) {
		trace_remote_remove_event_files(remote);
		tracefs_remove(dir);
		return ret;
	}

	remote->dir = dir;
	remote_create_links(remote);
	remote_link_formats(remote, dir);
	if (!remote->desc->owner)
		trace_remote_dump_register(remote);
	return 0;
}
EXPORT_SYMBOL_GPL(trace_remote_create_dir);

/**
 * trace_remote_remove_dir - undo trace_remote_create_dir(), if it was called
 * @remote:	the remote, of which no file is open
 *
 * Context: process context, may sleep.
 */
void trace_remote_remove_dir(struct trace_remote *remote)
{
	tracefs_remove(remote->link);
	tracefs_remove(remote->remotes_link);
	trace_remote_remove_event_files(remote);
	tracefs_remove(remote->dir);
}
