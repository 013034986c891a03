// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of the hypervisor's events: events/, available_events, set_event
 */
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/ring_buffer.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_seq.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>

#include "hyp_trace.h"

/* The event of a file; NULL for the files that are for all of them. */
static struct hyp_event *hyp_event_of(struct file *file)
{
	return file_inode(file)->i_private;
}

static ssize_t hyp_event_enable_read(struct file *file, char __user *ubuf, size_t cnt,
				     loff_t *ppos)
{
	static const char state[] = "?01X";
	struct hyp_event *event, *only = hyp_event_of(file);
	unsigned int set = 0;
	char buf[2];
	int i;

	for (i = 0; (event = hyp_event_get(i)); i++) {
		if (!only || event == only)
			set |= 1 << hyp_event_is_enabled(event);
	}

	buf[0] = state[set];
	buf[1] = '\n';
	return simple_read_from_buffer(ubuf, cnt, ppos, buf, sizeof(buf));
}

static ssize_t hyp_event_enable_write(struct file *file, const char __user *ubuf, size_t cnt,
				      loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val);
	if (ret)
		return ret;
	if (val > 1)
		return -EINVAL;

	ret = hyp_events_enable(hyp_event_of(file), val);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static const struct file_operations hyp_event_enable_fops = {
	.open	= hyp_trace_open,
	.read	= hyp_event_enable_read,
	.write	= hyp_event_enable_write,
	.llseek	= default_llseek,
};

static ssize_t hyp_event_filter_read(struct file *file, char __user *ubuf, size_t cnt,
				     loff_t *ppos)
{
	char *text = hyp_event_get_filter(hyp_event_of(file));
	ssize_t ret;

	if (!text)
		return -ENOMEM;

	ret = simple_read_from_buffer(ubuf, cnt, ppos, text, strlen(text));
	kfree(text);
	return ret;
}

/* Of an expression that fills a page or more there is enough to be refused. */
static ssize_t hyp_event_filter_write(struct file *file, const char __user *ubuf, size_t cnt,
				      loff_t *ppos)
{
	char *buf = memdup_user_nul(ubuf, min(cnt, PAGE_SIZE));
	int ret;

	if (IS_ERR(buf))
		return PTR_ERR(buf);

	ret = hyp_event_set_filter(hyp_event_of(file), cnt < PAGE_SIZE ? strstrip(buf) : buf);
	kfree(buf);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static const struct file_operations hyp_event_filter_fops = {
	.open	= hyp_trace_open,
	.read	= hyp_event_filter_read,
	.write	= hyp_event_filter_write,
	.llseek	= default_llseek,
};

static ssize_t hyp_event_id_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char buf[16];
	int len = scnprintf(buf, sizeof(buf), "%d\n", hyp_event_of(file)->call.event.type);

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static const struct file_operations hyp_event_id_fops = {
	.open	= hyp_trace_open,
	.read	= hyp_event_id_read,
	.llseek	= default_llseek,
};

static void hyp_event_show_fields(struct seq_file *m, const struct hyp_event_field *field)
{
	for (; field->name; field++)
		seq_printf(m, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
			   field->type, field->name, field->offset, field->size,
			   field->is_signed);
	seq_putc(m, '\n');
}

static int hyp_event_format_show(struct seq_file *m, void *v)
{
	struct hyp_event *event = m->private;

	seq_printf(m, "name: %s\n", event->call.name);
	seq_printf(m, "ID: %d\n", event->call.event.type);
	seq_puts(m, "format:\n");
	hyp_event_show_fields(m, hyp_event_common_fields);
	hyp_event_show_fields(m, event->fields);
	seq_printf(m, "print fmt: %s\n", event->call.print_fmt);
	return 0;
}

static int hyp_event_format_open(struct inode *inode, struct file *file)
{
	return hyp_trace_open(inode, file) ?:
	       single_open(file, hyp_event_format_show, inode->i_private);
}

static const struct file_operations hyp_event_format_fops = {
	.open		= hyp_event_format_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* A page, as struct ring_buffer_writer_page is; in the words of the host's file. */
static void hyp_event_print_page_header(struct trace_seq *s)
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

static void hyp_event_print_entry_header(struct trace_seq *s)
{
	ring_buffer_print_entry_header(s);
}

/* The file's content is printed by what its inode points to. */
static ssize_t hyp_event_header_read(void (*print)(struct trace_seq *s), char __user *ubuf,
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

static ssize_t hyp_event_header_page_read(struct file *file, char __user *ubuf, size_t cnt,
					  loff_t *ppos)
{
	return hyp_event_header_read(hyp_event_print_page_header, ubuf, cnt, ppos);
}

static ssize_t hyp_event_header_event_read(struct file *file, char __user *ubuf, size_t cnt,
					   loff_t *ppos)
{
	return hyp_event_header_read(hyp_event_print_entry_header, ubuf, cnt, ppos);
}

static const struct file_operations hyp_event_header_page_fops = {
	.open	= hyp_trace_open,
	.read	= hyp_event_header_page_read,
	.llseek	= default_llseek,
};

static const struct file_operations hyp_event_header_event_fops = {
	.open	= hyp_trace_open,
	.read	= hyp_event_header_event_read,
	.llseek	= default_llseek,
};

static int hyp_event_available_show(struct seq_file *m, void *v)
{
	struct hyp_event *event;
	int i;

	for (i = 0; (event = hyp_event_get(i)); i++)
		seq_printf(m, HYP_EVENT_GROUP ":%s\n", event->call.name);
	return 0;
}

static int hyp_event_available_open(struct inode *inode, struct file *file)
{
	return hyp_trace_open(inode, file) ?:
	       single_open(file, hyp_event_available_show, NULL);
}

static const struct file_operations hyp_event_available_fops = {
	.open		= hyp_event_available_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int hyp_event_set_show(struct seq_file *m, void *v)
{
	struct hyp_event *event;
	int i;

	for (i = 0; (event = hyp_event_get(i)); i++) {
		if (hyp_event_is_enabled(event))
			seq_printf(m, HYP_EVENT_GROUP ":%s\n", event->call.name);
	}

	return 0;
}

static bool hyp_event_name_is(const char *name, const char *wanted)
{
	return !wanted || !*wanted || !strcmp(wanted, "*") || !strcmp(wanted, name);
}

/* Does a word mean the event: group:event, either of which may be * or empty; or one of them? */
static bool hyp_event_matches(const struct hyp_event *event, const char *word)
{
	const char *colon = strchr(word, ':');
	char group[sizeof(HYP_EVENT_GROUP) + 1];

	if (!colon)
		return !strcmp(word, event->call.name) || !strcmp(word, HYP_EVENT_GROUP);
	if (colon - word >= sizeof(group))
		return false;

	strscpy(group, word, colon - word + 1);
	return hyp_event_name_is(HYP_EVENT_GROUP, group) &&
	       hyp_event_name_is(event->call.name, colon + 1);
}

/**
 * hyp_event_set - do what a word written to set_event says
 * @word:	an event or several, with a ! in front to disable them
 *
 * It takes effect with the next hyp_events_apply(), or when tracing starts.
 *
 * Context: process context.
 * Return: 0; -EINVAL when it is none of the events.
 */
int hyp_event_set(const char *word)
{
	bool enable = *word != '!';
	struct hyp_event *event;
	int i, ret = -EINVAL;

	for (i = 0; (event = hyp_event_get(i)); i++) {
		if (!hyp_event_matches(event, word + !enable))
			continue;

		hyp_events_mark(event, enable);
		ret = 0;
	}

	return ret;
}

/* Do what the words say, up to one that is wrong. How many bytes were good. */
static ssize_t hyp_event_set_words(char *buf)
{
	char *next = buf, *word;
	int ret;

	while (*(word = skip_spaces(next))) {
		next = word;
		while (*next && !isspace(*next))
			next++;
		if (*next)
			*next++ = '\0';

		ret = hyp_event_set(word);
		if (ret)
			return word > buf ? word - buf : ret;
	}

	return word - buf;
}

static ssize_t hyp_event_set_write(struct file *file, const char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	ssize_t ret;
	char *buf;
	int err;

	if (cnt >= PAGE_SIZE)
		return -EINVAL;

	buf = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(buf))
		return PTR_ERR(buf);

	ret = hyp_event_set_words(buf);
	kfree(buf);

	/* All words at once, those before a wrong one too. */
	err = hyp_events_apply();
	if (err)
		return err;
	if (ret > 0)
		*ppos += ret;
	return ret;
}

static int hyp_event_set_open(struct inode *inode, struct file *file)
{
	int ret = hyp_trace_open(inode, file) ?: single_open(file, hyp_event_set_show, NULL);

	if (ret || !(file->f_mode & FMODE_WRITE) || !(file->f_flags & O_TRUNC))
		return ret;

	ret = hyp_events_enable(NULL, false);
	if (ret)
		single_release(inode, file);
	return ret;
}

static const struct file_operations hyp_event_set_fops = {
	.open		= hyp_event_set_open,
	.read		= seq_read,
	.write		= hyp_event_set_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static const struct hyp_trace_file hyp_event_files[] __initconst = {
	{ "enable",		HYP_TRACE_MODE_WRITE,	&hyp_event_enable_fops },
	{ "filter",		HYP_TRACE_MODE_WRITE,	&hyp_event_filter_fops },
	{ "id",			HYP_TRACE_MODE_READ,	&hyp_event_id_fops },
	{ "format",		HYP_TRACE_MODE_READ,	&hyp_event_format_fops },
	{ }
};

static const struct hyp_trace_file hyp_event_group_files[] __initconst = {
	{ "enable",		HYP_TRACE_MODE_WRITE,	&hyp_event_enable_fops },
	{ "filter",		HYP_TRACE_MODE_WRITE,	&hyp_event_filter_fops },
	{ }
};

static const struct hyp_trace_file hyp_event_all_files[] __initconst = {
	{ "enable",		HYP_TRACE_MODE_WRITE,	&hyp_event_enable_fops },
	{ "header_page",	HYP_TRACE_MODE_READ,	&hyp_event_header_page_fops },
	{ "header_event",	HYP_TRACE_MODE_READ,	&hyp_event_header_event_fops },
	{ }
};

static const struct hyp_trace_file hyp_event_instance_files[] __initconst = {
	{ "available_events",	HYP_TRACE_MODE_READ,	&hyp_event_available_fops },
	{ "set_event",		HYP_TRACE_MODE_WRITE,	&hyp_event_set_fops },
	{ }
};

/**
 * hyp_event_create_files - make the files of the events
 * @dir:	the instance's directory
 *
 * Return: 0, or -ENOMEM. The files that were made go with @dir.
 */
int __init hyp_event_create_files(struct dentry *dir)
{
	struct dentry *events = tracefs_create_dir("events", dir);
	struct dentry *group = events ? tracefs_create_dir(HYP_EVENT_GROUP, events) : NULL;
	struct hyp_event *event;
	int i, ret;

	ret = hyp_trace_create_files(dir, hyp_event_instance_files, NULL);
	if (!ret)
		ret = hyp_trace_create_files(events, hyp_event_all_files, NULL);
	if (!ret)
		ret = hyp_trace_create_files(group, hyp_event_group_files, NULL);

	for (i = 0; !ret && (event = hyp_event_get(i)); i++)
		ret = hyp_trace_create_files(tracefs_create_dir(event->call.name, group),
					     hyp_event_files, event);
	return ret;
}
