// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_options, options/: the options of a remote's instance
 *
 * An option has the name that it has in the kernel's own instances. A file in options/ reads as 0
 * or 1, and takes these. trace_options shows all of them, and takes the name of one, with "no"
 * before it to turn it off.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>

#include "remote.h"

static const char * const remote_option_names[NR_TRACE_REMOTE_OPTIONS] = {
	[TRACE_REMOTE_EVENT_FORK]	= "event-fork",
	[TRACE_REMOTE_RECORD_CMD]	= "record-cmd",
};

static ssize_t remote_option_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	bool on = trace_remote_has_option(trace_remote_of(file),
					  trace_remote_file_nr(file_inode(file)));

	return simple_read_from_buffer(ubuf, cnt, ppos, on ? "1\n" : "0\n", 2);
}

static ssize_t remote_option_write(struct file *file, const char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = trace_remote_get_number(ubuf, cnt, 1, &val);
	if (!ret)
		ret = trace_remote_set_option(trace_remote_of(file),
					      trace_remote_file_nr(file_inode(file)), val);
	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(remote_option_fops, remote_option_read, remote_option_write);

static int remote_options_show(struct seq_file *m, void *v)
{
	struct trace_remote *remote = trace_remote_of(m->file);
	int i;

	for (i = 0; i < NR_TRACE_REMOTE_OPTIONS; i++)
		seq_printf(m, "%s%s\n", trace_remote_has_option(remote, i) ? "" : "no",
			   remote_option_names[i]);
	return 0;
}

static int remote_options_open(struct inode *inode, struct file *file)
{
	return trace_remote_single_open(inode, file, remote_options_show);
}

static int remote_set_word(struct trace_remote *remote, const char *word)
{
	size_t no = str_has_prefix(word, "no");
	int option = match_string(remote_option_names, NR_TRACE_REMOTE_OPTIONS, word + no);

	return option < 0 ? option : trace_remote_set_option(remote, option, !no);
}

static ssize_t remote_options_write(struct file *file, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	char buf[64];
	int ret;

	if (cnt >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, cnt))
		return -EFAULT;

	buf[cnt] = '\0';
	ret = remote_set_word(trace_remote_of(file), strstrip(buf));
	return trace_remote_written(ret, cnt, ppos);
}

static const struct file_operations remote_options_fops = {
	.open		= remote_options_open,
	.read		= seq_read,
	.write		= remote_options_write,
	.llseek		= seq_lseek,
	.release	= trace_remote_single_release,
};

static const struct trace_remote_file remote_options_files[] = {
	{ "trace_options",	TRACE_MODE_WRITE,	&remote_options_fops },
	{ }
};

/**
 * trace_remote_create_option_files - create trace_options and options/
 * @remote:	the remote
 * @parent:	its directory
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int trace_remote_create_option_files(struct trace_remote *remote, struct dentry *parent)
{
	struct trace_remote_file files[2] = {
		{ .mode = TRACE_MODE_WRITE, .fops = &remote_option_fops },
	};
	struct dentry *dir = tracefs_create_dir("options", parent);
	int i, ret;

	ret = trace_remote_create_files(remote, parent, remote_options_files, TRACE_REMOTE_ALL);
	for (i = 0; i < NR_TRACE_REMOTE_OPTIONS && !ret; i++) {
		files[0].name = remote_option_names[i];
		ret = trace_remote_create_files(remote, dir, files, i);
	}

	return ret;
}
