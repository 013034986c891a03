// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a remote's events: events/, available_events, set_event
 */
#include <linux/ctype.h>
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

/* The event of the file of one */
static struct trace_remote_event *remote_event_of(const struct inode *inode)
{
	return trace_remote_event(inode->i_private, trace_remote_file_nr(inode));
}

static ssize_t remote_enable_read(struct file *file, char __user *ubuf, size_t cnt,
				  loff_t *ppos)
{
	static const char state[] = "?01X";
	struct trace_remote *remote = trace_remote_of(file);
	int only = trace_remote_file_nr(file_inode(file));
	struct trace_remote_event *event;
	unsigned int set = 0;
	char buf[2];
	int i;

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
	unsigned long val;
	int ret;

	ret = trace_remote_get_number(ubuf, cnt, 1, &val);
	if (ret)
		return ret;

	ret = trace_remote_enable_event(trace_remote_of(file),
					trace_remote_file_nr(file_inode(file)),
					val);

	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(remote_enable_fops, remote_enable_read, remote_enable_write);

static ssize_t remote_filter_read(struct file *file, char __user *ubuf, size_t cnt,
				  loff_t *ppos)
{
	char *text = trace_remote_get_filter(trace_remote_of(file),
					     trace_remote_file_nr(file_inode(file)));
	ssize_t ret;

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
	int ret;

	if (IS_ERR(buf))
		return PTR_ERR(buf);

	ret = trace_remote_set_filter(trace_remote_of(file), trace_remote_file_nr(file_inode(file)),
				      cnt < PAGE_SIZE ? strstrip(buf) : buf);
	kfree(buf);
	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(remote_filter_fops, remote_filter_read, remote_filter_write);

#ifdef CONFIG_PERF_EVENTS
static ssize_t remote_id_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char buf[16];
	int len = scnprintf(buf, sizeof(buf), "%d\n",
			    remote_event_of(file_inode(file))->call.event.type);

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

TRACE_REMOTE_FOPS(remote_id_fops, remote_id_read, NULL);
#endif

/* As the format file in the top level's events/ has it */
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
	struct trace_event_call *call = &remote_event_of(m->private)->call;

	seq_printf(m, "name: %s\n", trace_event_name(call));
	seq_printf(m, "ID: %d\n", call->event.type);
	seq_puts(m, "format:\n");
	remote_show_fields(m, call);
	seq_printf(m, "print fmt: %s\n", call->print_fmt);
	return 0;
}

static int remote_format_open(struct inode *inode, struct file *file)
{
	return trace_remote_single_open(inode, file, remote_format_show);
}

static const struct file_operations remote_format_fops = {
	.open		= remote_format_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= trace_remote_single_release,
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

/* Do what the words say, up to one that is wrong. How many bytes were good. */
static ssize_t remote_set_words(struct trace_remote *remote, char *buf)
{
	char *next = buf, *word;
	int ret;

	while (*(word = skip_spaces(next))) {
		next = word;
		while (*next && !isspace(*next))
			next++;
		if (*next)
			*next++ = '\0';

		ret = trace_remote_set_event(remote, word);
		if (ret)
			return word > buf ? word - buf : ret;
	}

	return word - buf;
}

static ssize_t remote_set_write(struct file *file, const char __user *ubuf, size_t cnt,
				loff_t *ppos)
{
	struct trace_remote *remote = trace_remote_of(file);
	ssize_t ret;
	char *buf;
	int err;

	if (cnt >= PAGE_SIZE)
		return -EINVAL;

	buf = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(buf))
		return PTR_ERR(buf);

	ret = remote_set_words(remote, buf);
	kfree(buf);

	/* All words at once, those before a wrong one too. */
	err = trace_remote_apply_events(remote);
	if (err)
		return err;
	if (ret > 0)
		*ppos += ret;
	return ret;
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
	{ "enable",		TRACE_MODE_WRITE,	&remote_enable_fops },
	{ "filter",		TRACE_MODE_WRITE,	&remote_filter_fops },
#ifdef CONFIG_PERF_EVENTS
	{ "id",			TRACE_MODE_READ,	&remote_id_fops },
#endif
	{ "format",		TRACE_MODE_READ,	&remote_format_fops },
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

/**
 * trace_remote_create_event_files - create the files of the events
 * @remote:	the remote
 * @dir:	the instance's directory
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM. The files that were created go with @dir.
 */
int trace_remote_create_event_files(struct trace_remote *remote, struct dentry *dir)
{
	struct dentry *events = tracefs_create_dir("events", dir);
	struct dentry *group = events ? tracefs_create_dir(trace_remote_group(remote), events) :
					NULL;
	struct trace_remote_event *event;
	int i, ret;

	ret = trace_remote_create_files(remote, dir, remote_instance_files, TRACE_REMOTE_ALL);
	if (!ret)
		ret = trace_remote_create_files(remote, events, remote_all_files,
						TRACE_REMOTE_ALL);
	if (!ret)
		ret = trace_remote_create_files(remote, group, remote_group_files,
						TRACE_REMOTE_ALL);

	for (i = 0; !ret && (event = trace_remote_event(remote, i)); i++)
		ret = trace_remote_create_files(remote,
						tracefs_create_dir(trace_event_name(&event->call),
								   group),
						remote_event_files, i);
	return ret;
}
