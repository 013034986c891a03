// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options of a remote's trace instance: options/ and trace_options
 *
 *	overwrite	a ring whose events are all unread overwrites the oldest ones. Otherwise
 *			it keeps them, drops new events, and counts these
 *
 *	event-fork	see tasks.c, also for the next one; not for a remote without tasks
 *	record-cmd
 *
 * An option has the name that it has in the kernel's own instances. It can be changed at any time,
 * also while the remote writes.
 *
 * Locking: trace_remote.lock serialises changes of overwrite, tasks.c those of the others.
 */
#include <linux/export.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>

#include "remote.h"

/**
 * struct remote_option - an option
 * @name:	its name
 * @of_tasks:	only remotes that have tasks have it
 * @get:	is it set?
 * @set:	set it or clear it; returns 0 or an errno
 */
struct remote_option {
	const char	*name;
	bool		of_tasks;
	bool		(*get)(const struct trace_remote *remote);
	int		(*set)(struct trace_remote *remote, bool on);
};

static bool remote_get_overwrite(const struct trace_remote *remote)
{
	return READ_ONCE(remote->overwrite);
}

static int remote_set_overwrite(struct trace_remote *remote, bool on)
{
	guard(mutex)(&remote->lock);

	if (!on && !remote->desc->ops->set_overwrite)
		return -EINVAL;

	return trace_remote_overwrite_cpus(remote, on);
}

static bool remote_get_event_fork(const struct trace_remote *remote)
{
	return trace_remote_has_task_option(remote, TRACE_REMOTE_EVENT_FORK);
}

static int remote_set_event_fork(struct trace_remote *remote, bool on)
{
	return trace_remote_set_task_option(remote, TRACE_REMOTE_EVENT_FORK, on);
}

static bool remote_get_record_cmd(const struct trace_remote *remote)
{
	return trace_remote_has_task_option(remote, TRACE_REMOTE_RECORD_CMD);
}

static int remote_set_record_cmd(struct trace_remote *remote, bool on)
{
	return trace_remote_set_task_option(remote, TRACE_REMOTE_RECORD_CMD, on);
}

static const struct remote_option remote_options[] = {
	{ "event-fork", true, remote_get_event_fork, remote_set_event_fork },
	{ "overwrite", false, remote_get_overwrite, remote_set_overwrite },
	{ "record-cmd", true, remote_get_record_cmd, remote_set_record_cmd },
};

static bool remote_has_option(const struct trace_remote *remote,
			      const struct remote_option *option)
{
	return !option->of_tasks || remote->desc->has_tasks;
}

static int remote_set_option(struct trace_remote *remote, const struct remote_option *option,
			     bool on)
{
	return option->get(remote) == on ? 0 : option->set(remote, on);
}

/**
 * trace_remote_set_option - set an option, or clear it
 * @remote:	the remote
 * @word:	its name; with "no" before it to clear it
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if there is no such option; or what the remote returns.
 */
int trace_remote_set_option(struct trace_remote *remote, const char *word)
{
	size_t no = str_has_prefix(word, "no");
	int i;

	for (i = 0; i < ARRAY_SIZE(remote_options); i++) {
		if (remote_has_option(remote, &remote_options[i]) &&
		    !strcmp(word + no, remote_options[i].name))
			return remote_set_option(remote, &remote_options[i], !no);
	}

	return -EINVAL;
}
EXPORT_SYMBOL_GPL(trace_remote_set_option);

/* options/NAME: the number of the file is that of the option. */
static const struct remote_option *remote_option_of(const struct file *file)
{
	return &remote_options[trace_remote_file_nr(file_inode(file))];
}

static ssize_t option_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return trace_remote_read_number(ubuf, cnt, ppos,
					remote_option_of(file)->get(trace_remote_of(file)));
}

static ssize_t option_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = trace_remote_get_number(ubuf, cnt, 1, &val);
	if (!ret)
		ret = remote_set_option(trace_remote_of(file), remote_option_of(file), val);

	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(option_fops, option_read, option_write);

static int trace_options_show(struct seq_file *m, void *v)
{
	struct inode *inode = m->private;
	struct trace_remote *remote = inode->i_private;
	int i;

	for (i = 0; i < ARRAY_SIZE(remote_options); i++) {
		if (remote_has_option(remote, &remote_options[i]))
			seq_printf(m, "%s%s\n", remote_options[i].get(remote) ? "" : "no",
				   remote_options[i].name);
	}

	return 0;
}

static int trace_options_open(struct inode *inode, struct file *file)
{
	return trace_remote_single_open(inode, file, trace_options_show);
}

static ssize_t trace_options_write(struct file *file, const char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	char buf[64];
	int ret;

	if (cnt >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, cnt))
		return -EFAULT;

	buf[cnt] = '\0';
	ret = trace_remote_set_option(trace_remote_of(file), strstrip(buf));
	return trace_remote_written(ret, cnt, ppos);
}

static const struct file_operations trace_options_fops = {
	.open		= trace_options_open,
	.read		= seq_read,
	.write		= trace_options_write,
	.llseek		= seq_lseek,
	.release	= trace_remote_single_release,
};

static const struct trace_remote_file trace_options_file[] = {
	{ "trace_options",	TRACE_MODE_WRITE,	&trace_options_fops },
	{ }
};

/**
 * trace_remote_create_options - create trace_options and options/
 * @remote:	the remote
 * @dir:	its directory
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM. The files that were created go with @dir.
 */
int trace_remote_create_options(struct trace_remote *remote, struct dentry *dir)
{
	struct dentry *options = tracefs_create_dir("options", dir);
	int i, ret;

	ret = trace_remote_create_files(remote, dir, trace_options_file, TRACE_REMOTE_ALL);
	for (i = 0; i < ARRAY_SIZE(remote_options) && !ret; i++) {
		const struct trace_remote_file file[] = {
			{ remote_options[i].name, TRACE_MODE_WRITE, &option_fops },
			{ }
		};

		if (!remote_has_option(remote, &remote_options[i]))
			continue;

		ret = trace_remote_create_files(remote, options, file, i);
	}

	return ret;
}
