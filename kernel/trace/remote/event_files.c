// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a remote's events: events/, available_events, set_event
 *
 * events/ is in eventfs, as that of a trace_array. eventfs has one pointer for a file: that of a
 * file in the directory of an event points to the event, and that of any other file to the
 * remote. A file may be looked up, and stay so, while the remote is unregistered. So opening it
 * first looks for what it points to in the list of remotes.
 */
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_seq.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>

#include "remote.h"

/* The remote of an open file, and the number of the event that the file is for */
static struct trace_remote *remote_of_file(const struct file *file, int *nr)
{
	const struct trace_remote_event *event = file->private_data;

	*nr = event ? trace_remote_event_nr(event) : TRACE_REMOTE_ALL;
	return event ? event->remote : trace_remote_of(file);
}

static ssize_t remote_enable_read(struct file *file, char __user *ubuf, size_t cnt,
				  loff_t *ppos)
{
	static const char state[] = "?01X";
	struct trace_remote_event *event;
	struct trace_remote *remote;
	unsigned int set = 0;
	char buf[2];
	int i, only;

	remote = remote_of_file(file, &only);
	for (i = 0; (event = trace_remote_event(remote, i)); i++) {
		if (only == TRACE_REMOTE_ALL || only == i)
			set |= 1 << trace_remote_event_is_enabled(remote, event);
	}

	buf[0] = state[set];
	buf[1] = '\n';
	return simple_read_from_buffer(ubuf, cnt, ppos, buf, sizeof(buf));
}

static ssize_t remote_enable_write(struct file *file, const char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	struct trace_remote *remote;
	unsigned long val;
	int ret, nr;

	ret = trace_remote_get_number(ubuf, cnt, 1, &val);
	if (ret)
		return ret;

	remote = remote_of_file(file, &nr);
	ret = trace_remote_enable_event(remote, nr, val);
	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(remote_enable_fops, remote_enable_read, remote_enable_write);

/* For a file of an event */
#define REMOTE_EVENT_FOPS(name, read_fn, write_fn)	\
	__TRACE_REMOTE_FOPS(name, trace_remote_event, read_fn, write_fn)

REMOTE_EVENT_FOPS(remote_event_enable_fops, remote_enable_read, remote_enable_write);

static ssize_t remote_filter_read(struct file *file, char __user *ubuf, size_t cnt,
				  loff_t *ppos)
{
	struct trace_remote *remote;
	ssize_t ret;
	char *text;
	int nr;

	remote = remote_of_file(file, &nr);
	text = trace_remote_get_filter(remote, nr);
	if (!text)
		return -ENOMEM;

	ret = simple_read_from_buffer(ubuf, cnt, ppos, text, strlen(text));
	kfree(text);
	return ret;
}

/* An expression that fills a page or more is refused. The error log has its begin. */
static ssize_t remote_filter_write(struct file *file, const char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	char *buf = memdup_user_nul(ubuf, min(cnt, PAGE_SIZE));
	struct trace_remote *remote;
	int ret, nr;

	if (IS_ERR(buf))
		return PTR_ERR(buf);

	remote = remote_of_file(file, &nr);
	ret = trace_remote_set_filter(remote, nr, cnt < PAGE_SIZE ? strstrip(buf) : buf);
	kfree(buf);
	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(remote_filter_fops, remote_filter_read, remote_filter_write);

REMOTE_EVENT_FOPS(remote_event_filter_fops, remote_filter_read, remote_filter_write);

#ifdef CONFIG_PERF_EVENTS
static ssize_t remote_id_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_remote_event *event = file->private_data;

	return trace_remote_read_number(ubuf, cnt, ppos, trace_remote_event_id(event));
}

REMOTE_EVENT_FOPS(remote_event_id_fops, remote_id_read, NULL);
#endif

/*
 * As the format file in the top level's events/ has it, but for the id of an event whose records
 * have that of the kernel's bprint.
 */
static void remote_show_field(struct seq_file *m, const struct ftrace_event_field *field)
{
	const char *array = strchr(field->type, '[');

	if (!array || str_has_prefix(field->type, "__data_loc"))
		seq_printf(m, "\tfield:%s %s;", field->type, field->name);
	else
		seq_printf(m, "\tfield:%.*s %s%s;", (int)(array - field->type), field->type,
			   field->name, array);
	seq_printf(m, "\toffset:%u;\tsize:%u;\tsigned:%d;\n", field->offset, field->size,
		   !!field->is_signed);
}

static void remote_show_fields(struct seq_file *m, struct trace_event_call *call)
{
	static const char * const common[] = {
		"common_type", "common_flags", "common_preempt_count", "common_pid",
	};
	struct ftrace_event_field *field;
	int i;

	for (i = 0; i < ARRAY_SIZE(common); i++)
		remote_show_field(m, trace_find_event_field(call, (char *)common[i]));
	seq_putc(m, '\n');
	/* The last field is the first of the list. */
	list_for_each_entry_reverse(field, trace_get_fields(call), link)
		remote_show_field(m, field);
	seq_putc(m, '\n');
}

static int remote_format_show(struct seq_file *m, void *v)
{
	struct trace_remote_event *event = m->private;
	struct trace_event_call *call = &event->call;

	seq_printf(m, "name: %s\n", trace_event_name(call));
	seq_printf(m, "ID: %d\n", trace_remote_event_id(event));
	seq_puts(m, "format:\n");
	remote_show_fields(m, call);
	seq_printf(m, "print fmt: %s\n", call->print_fmt);
	return 0;
}

static int remote_format_open(struct inode *inode, struct file *file)
{
	return trace_remote_event_single_open(inode, file, remote_format_show);
}

static const struct file_operations remote_event_format_fops = {
	.open		= remote_format_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= trace_remote_event_single_release,
};

/* A page, as struct ring_buffer_writer_page is; in the words of the host's file. */
static void remote_print_page_header(struct trace_seq *s)
{
	trace_seq_printf(s, "\tfield: u64 timestamp;\toffset:0;\tsize:%zu;\tsigned:0;\n",
			 sizeof_field(struct ring_buffer_writer_page, time_stamp));
	trace_seq_printf(s, "\tfield: local_t commit;\toffset:%zu;\tsize:%zu;\tsigned:1;\n",
			 offsetof(struct ring_buffer_writer_page, commit),
			 sizeof_field(struct ring_buffer_writer_page, commit));
	trace_seq_printf(s, "\tfield: int overwrite;\toffset:%zu;\tsize:1;\tsigned:1;\n",
			 offsetof(struct ring_buffer_writer_page, commit));
	trace_seq_printf(s, "\tfield: char data;\toffset:%zu;\tsize:%zu;\tsigned:%d;\n",
			 offsetof(struct ring_buffer_writer_page, data),
			 PAGE_SIZE - offsetof(struct ring_buffer_writer_page, data),
			 is_signed_type(char));
}

static void remote_print_entry_header(struct trace_seq *s)
{
	ring_buffer_print_entry_header(s);
}

/* The file's content is printed by what its inode points to. */
static ssize_t remote_header_read(void (*print)(struct trace_seq *s), char __user *ubuf,
				  size_t cnt, loff_t *ppos)
{
	struct trace_seq *s = kmalloc(sizeof(*s), GFP_KERNEL);
	ssize_t ret;

	if (!s)
		return -ENOMEM;

	trace_seq_init(s);
	print(s);
	ret = simple_read_from_buffer(ubuf, cnt, ppos, s->buffer, trace_seq_used(s));
	kfree(s);
	return ret;
}

static ssize_t remote_header_page_read(struct file *file, char __user *ubuf, size_t cnt,
				       loff_t *ppos)
{
	return remote_header_read(remote_print_page_header, ubuf, cnt, ppos);
}

static ssize_t remote_header_event_read(struct file *file, char __user *ubuf, size_t cnt,
					loff_t *ppos)
{
	return remote_header_read(remote_print_entry_header, ubuf, cnt, ppos);
}

TRACE_REMOTE_FOPS(remote_header_page_fops, remote_header_page_read, NULL);

TRACE_REMOTE_FOPS(remote_header_event_fops, remote_header_event_read, NULL);

static int remote_available_show(struct seq_file *m, void *v)
{
	struct inode *inode = m->private;
	struct trace_remote *remote = inode->i_private;
	struct trace_remote_event *event;
	int i;

	for (i = 0; (event = trace_remote_event(remote, i)); i++)
		seq_printf(m, "%s:%s\n", trace_remote_group(remote),
			   trace_event_name(&event->call));
	return 0;
}

static int remote_available_open(struct inode *inode, struct file *file)
{
	return trace_remote_single_open(inode, file, remote_available_show);
}

static const struct file_operations remote_available_fops = {
	.open		= remote_available_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= trace_remote_single_release,
};

static int remote_set_show(struct seq_file *m, void *v)
{
	struct inode *inode = m->private;
	struct trace_remote *remote = inode->i_private;
	struct trace_remote_event *event;
	int i;

	for (i = 0; (event = trace_remote_event(remote, i)); i++) {
		if (trace_remote_event_is_enabled(remote, event))
			seq_printf(m, "%s:%s\n", trace_remote_group(remote),
				   trace_event_name(&event->call));
	}

	return 0;
}

static bool remote_name_is(const char *name, const char *wanted)
{
	return !wanted || !*wanted || !strcmp(wanted, "*") || !strcmp(wanted, name);
}

/* Does a word mean the event: group:event, either of which may be * or empty; or one of them? */
static bool remote_event_matches(struct trace_remote *remote,
				 struct trace_remote_event *event, const char *word)
{
	const char *colon = strchr(word, ':'), *group = trace_remote_group(remote);
	const char *name = trace_event_name(&event->call);
	int len = colon - word;

	if (!colon)
		return !strcmp(word, name) || !strcmp(word, group);
	if (len && !(len == 1 && *word == '*') &&
	    !(len == strlen(group) && !strncmp(word, group, len)))
		return false;

	return remote_name_is(name, colon + 1);
}

/**
 * trace_remote_set_event - do what a word written to set_event says
 * @remote:	the remote
 * @word:	an event or several, with a ! in front to disable them
 *
 * It takes effect with the next trace_remote_apply_events(), or when tracing starts.
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL when it is none of the events.
 */
int trace_remote_set_event(struct trace_remote *remote, const char *word)
{
	bool enable = *word != '!';
	struct trace_remote_event *event;
	int i, ret = -EINVAL;

	for (i = 0; (event = trace_remote_event(remote, i)); i++) {
		if (!remote_event_matches(remote, event, word + !enable))
			continue;

		trace_remote_mark_event(remote, i, enable);
		ret = 0;
	}

	return ret;
}
EXPORT_SYMBOL_GPL(trace_remote_set_event);

static int remote_set_word(struct trace_remote *remote, char *word, int nr)
{
	return trace_remote_set_event(remote, word);
}

static ssize_t remote_set_write(struct file *file, const char __user *ubuf, size_t cnt,
				loff_t *ppos)
{
	return trace_remote_write_words(file, ubuf, cnt, ppos, remote_set_word,
					trace_remote_apply_events);
}

static int remote_set_open(struct inode *inode, struct file *file)
{
	int ret = trace_remote_single_open(inode, file, remote_set_show);

	if (ret || !(file->f_mode & FMODE_WRITE) || !(file->f_flags & O_TRUNC))
		return ret;

	ret = trace_remote_enable_all(trace_remote_of(file), false);
	if (ret)
		trace_remote_single_release(inode, file);
	return ret;
}

static const struct file_operations remote_set_fops = {
	.open		= remote_set_open,
	.read		= seq_read,
	.write		= remote_set_write,
	.llseek		= seq_lseek,
	.release	= trace_remote_single_release,
};

static const struct trace_remote_file remote_event_files[] = {
	{ "enable",		TRACE_MODE_WRITE,	&remote_event_enable_fops },
	{ "filter",		TRACE_MODE_WRITE,	&remote_event_filter_fops },
#ifdef CONFIG_PERF_EVENTS
	{ "id",			TRACE_MODE_READ,	&remote_event_id_fops },
#endif
	{ "format",		TRACE_MODE_READ,	&remote_event_format_fops },
	{ "trigger",		TRACE_MODE_WRITE,	&trace_remote_trigger_fops },
#ifdef CONFIG_TRACE_REMOTE_HIST
	{ "hist",		TRACE_MODE_READ,	&trace_remote_hist_fops },
#endif
	{ }
};

static const struct trace_remote_file remote_group_files[] = {
	{ "enable",		TRACE_MODE_WRITE,	&remote_enable_fops },
	{ "filter",		TRACE_MODE_WRITE,	&remote_filter_fops },
	{ }
};

static const struct trace_remote_file remote_all_files[] = {
	{ "enable",		TRACE_MODE_WRITE,	&remote_enable_fops },
	{ "header_page",	TRACE_MODE_READ,	&remote_header_page_fops },
	{ "header_event",	TRACE_MODE_READ,	&remote_header_event_fops },
	{ }
};

static const struct trace_remote_file remote_instance_files[] = {
	{ "available_events",	TRACE_MODE_READ,	&remote_available_fops },
	{ "set_event",		TRACE_MODE_WRITE,	&remote_set_fops },
	{ }
};

/* What eventfs asks of a file that is looked up. Returns 1; 0 if there is no such file. */
static int remote_find_file(const struct trace_remote_file *files, const char *name,
			    umode_t *mode, const struct file_operations **fops)
{
	for (; files->name; files++) {
		if (strcmp(files->name, name))
			continue;

		*mode = files->mode;
		*fops = files->fops;
		return 1;
	}

	return 0;
}

static int remote_event_file(const char *name, umode_t *mode, void **data,
			     const struct file_operations **fops)
{
	return remote_find_file(remote_event_files, name, mode, fops);
}

static int remote_group_file(const char *name, umode_t *mode, void **data,
			     const struct file_operations **fops)
{
	return remote_find_file(remote_group_files, name, mode, fops);
}

static int remote_all_file(const char *name, umode_t *mode, void **data,
			   const struct file_operations **fops)
{
	return remote_find_file(remote_all_files, name, mode, fops);
}

static const struct eventfs_entry remote_event_entries[] = {
	{ .name = "enable",	.callback = remote_event_file },
	{ .name = "filter",	.callback = remote_event_file },
	{ .name = "id",		.callback = remote_event_file },
	{ .name = "format",	.callback = remote_event_file },
	{ .name = "trigger",	.callback = remote_event_file },
	{ .name = "hist",	.callback = remote_event_file },
};

/* Of the records of tracers */
static const struct eventfs_entry remote_tracer_entries[] = {
	{ .name = "format",	.callback = remote_event_file },
};

static const struct eventfs_entry remote_group_entries[] = {
	{ .name = "enable",	.callback = remote_group_file },
	{ .name = "filter",	.callback = remote_group_file },
};

static const struct eventfs_entry remote_all_entries[] = {
	{ .name = "enable",		.callback = remote_all_file },
	{ .name = "header_page",	.callback = remote_all_file },
	{ .name = "header_event",	.callback = remote_all_file },
};

static int remote_create_group(struct trace_remote *remote)
{
	struct trace_remote_event *event;
	struct eventfs_inode *group, *dir;
	int i;

	group = eventfs_create_dir(trace_remote_group(remote), remote->events_dir,
				   remote_group_entries, ARRAY_SIZE(remote_group_entries), remote);
	if (IS_ERR(group))
		return PTR_ERR(group);

	for (i = 0; (event = trace_remote_event(remote, i)); i++) {
		dir = eventfs_create_dir(trace_event_name(&event->call), group,
					 remote_event_entries, ARRAY_SIZE(remote_event_entries),
					 event);
		if (IS_ERR(dir))
			return PTR_ERR(dir);
	}

	return 0;
}

/* As the kernel's: it has directories only. */
static int remote_create_tracer_group(struct trace_remote *remote)
{
	struct eventfs_inode *group, *dir;
	int i;

	if (!trace_remote_has_functions(remote))
		return 0;

	group = eventfs_create_dir("ftrace", remote->events_dir, NULL, 0, remote);
	if (IS_ERR(group))
		return PTR_ERR(group);

	for (i = 0; i < NR_TRACE_REMOTE_TRACER_EVENTS; i++) {
		dir = eventfs_create_dir(remote->tracer_events[i].call.name, group,
					 remote_tracer_entries, ARRAY_SIZE(remote_tracer_entries),
					 &remote->tracer_events[i]);
		if (IS_ERR(dir))
			return PTR_ERR(dir);
	}

	return 0;
}

/**
 * trace_remote_create_event_files - create the files of the events
 * @remote:	the remote
 * @dir:	the instance's directory
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM. The files that were created go with @dir, but for those that
 * trace_remote_remove_event_files() removes.
 */
int trace_remote_create_event_files(struct trace_remote *remote, struct dentry *dir)
{
	struct eventfs_inode *events;
	int ret;

	ret = trace_remote_create_files(remote, dir, remote_instance_files, TRACE_REMOTE_ALL);
	if (ret)
		return ret;

	events = eventfs_create_events_dir("events", dir, remote_all_entries,
					   ARRAY_SIZE(remote_all_entries), remote);
	if (IS_ERR_OR_NULL(events))
		return -ENOMEM;

	remote->events_dir = events;
	return remote_create_group(remote) ?: remote_create_tracer_group(remote);
}

/**
 * trace_remote_remove_event_files - remove events/, if there is one
 * @remote:	the remote
 *
 * Context: process context, may sleep; before the instance's directory is removed.
 */
void trace_remote_remove_event_files(struct trace_remote *remote)
{
	if (!remote->events_dir)
		return;

	eventfs_remove_events_dir(remote->events_dir);
	remote->events_dir = NULL;
}
