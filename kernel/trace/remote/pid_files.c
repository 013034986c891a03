// SPDX-License-Identifier: GPL-2.0-only
/*
 * set_event_pid, set_event_notrace_pid: the tasks whose events a remote writes, and those whose
 * events it ignores
 *
 * Reading shows the pids of a list, writing adds to them, O_TRUNC empties the list first: as in the
 * kernel's own instances. The inode of a file says which list it is for.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>

#include "remote.h"

/* The list of a file */
static enum trace_remote_pids remote_pids_of(const struct file *file)
{
	return trace_remote_file_nr(file_inode(file));
}

static void *remote_pids_start(struct seq_file *m, loff_t *pos)
{
	struct trace_pid_list *list = trace_remote_get_pids(trace_remote_of(m->file),
							    remote_pids_of(m->file));

	m->private = list;
	return list ? trace_pid_start(list, pos) : NULL;
}

static void *remote_pids_next(struct seq_file *m, void *v, loff_t *pos)
{
	return trace_pid_next(m->private, v, pos);
}

static void remote_pids_stop(struct seq_file *m, void *v)
{
	trace_remote_put_pids(trace_remote_of(m->file));
}

static const struct seq_operations remote_pids_seq_ops = {
	.start	= remote_pids_start,
	.next	= remote_pids_next,
	.stop	= remote_pids_stop,
	.show	= trace_pid_show,
};

static int remote_pids_open_seq(struct inode *inode, struct file *file)
{
	int ret = seq_open(file, &remote_pids_seq_ops);

	if (!ret && file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC)
		trace_remote_clear_pids(trace_remote_of(file), remote_pids_of(file));
	return ret;
}

static int remote_pids_open(struct inode *inode, struct file *file)
{
	return trace_remote_open_with(inode, file, remote_pids_open_seq);
}

static int remote_pids_release(struct inode *inode, struct file *file)
{
	seq_release(inode, file);
	return trace_remote_release(inode, file);
}

static ssize_t remote_pids_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	ssize_t ret = trace_remote_write_pids(trace_remote_of(file), remote_pids_of(file), ubuf,
					      cnt);

	if (ret > 0)
		*ppos += ret;
	return ret;
}

static const struct file_operations remote_pids_fops = {
	.open		= remote_pids_open,
	.read		= seq_read,
	.write		= remote_pids_write,
	.llseek		= seq_lseek,
	.release	= remote_pids_release,
};

static const struct trace_remote_file remote_pids_files[] = {
	{ "set_event_pid",		TRACE_MODE_WRITE,	&remote_pids_fops },
	{ }
};

static const struct trace_remote_file remote_no_pids_files[] = {
	{ "set_event_notrace_pid",	TRACE_MODE_WRITE,	&remote_pids_fops },
	{ }
};

/**
 * trace_remote_create_pid_files - create set_event_pid and set_event_notrace_pid
 * @remote:	the remote
 * @dir:	its directory
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int trace_remote_create_pid_files(struct trace_remote *remote, struct dentry *dir)
{
	return trace_remote_create_files(remote, dir, remote_pids_files, TRACE_REMOTE_PIDS) ?:
	       trace_remote_create_files(remote, dir, remote_no_pids_files, TRACE_REMOTE_NO_PIDS);
}
