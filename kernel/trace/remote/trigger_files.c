// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files trigger and hist of a remote's event
 */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include "remote.h"

static int remote_trigger_show(struct seq_file *m, void *v)
{
	return trace_remote_show_trigger(m, m->private);
}

/* As with the file of the kernel's events, opening it with O_TRUNC removes histograms. */
static int remote_trigger_open(struct inode *inode, struct file *file)
{
	int ret = trace_remote_event_single_open(inode, file, remote_trigger_show);

	if (!ret && file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC)
		trace_remote_remove_hists(inode->i_private);
	return ret;
}

static ssize_t remote_trigger_write(struct file *file, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	char *buf;
	int ret;

	if (!cnt)
		return 0;
	if (cnt >= PAGE_SIZE)
		return -EINVAL;

	buf = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(buf))
		return PTR_ERR(buf);

	ret = trace_remote_write_trigger(m->private, strim(buf));
	kfree(buf);
	return trace_remote_written(ret, cnt, ppos);
}

const struct file_operations trace_remote_trigger_fops = {
	.open		= remote_trigger_open,
	.read		= seq_read,
	.write		= remote_trigger_write,
	.llseek		= seq_lseek,
	.release	= trace_remote_event_single_release,
};

#ifdef CONFIG_TRACE_REMOTE_HIST

/**
 * struct remote_hist_file - an open file of histograms
 * @event:	whose
 * @shown:	hits, when they were shown last
 * @polled:	hits, when they were polled or shown last
 */
struct remote_hist_file {
	struct trace_remote_event	*event;
	u64				shown;
	u64				polled;
};

static int remote_hist_show(struct seq_file *m, void *v)
{
	struct remote_hist_file *hist = m->private;

	hist->shown = trace_remote_show_hists(m, hist->event);
	hist->polled = hist->shown;
	return 0;
}

static int remote_hist_open(struct inode *inode, struct file *file)
{
	struct remote_hist_file *hist;
	int ret;

	ret = trace_remote_event_single_open(inode, file, remote_hist_show);
	if (ret)
		return ret;

	hist = kzalloc(sizeof(*hist), GFP_KERNEL);
	if (!hist) {
		trace_remote_event_single_release(inode, file);
		return -ENOMEM;
	}

	hist->event = inode->i_private;
	hist->polled = trace_remote_hist_hits(hist->event);
	((struct seq_file *)file->private_data)->private = hist;
	return 0;
}

/* As the kernel's file: EPOLLIN if there is more than was shown, EPOLLPRI if than was polled */
static __poll_t remote_hist_poll(struct file *file, poll_table *pt)
{
	struct seq_file *m = file->private_data;
	struct remote_hist_file *hist = m->private;
	__poll_t ret = 0;
	u64 hits;

	hist_poll_wait(file, pt);
	hits = trace_remote_hist_hits(hist->event);
	if (hits != hist->shown)
		ret |= EPOLLIN | EPOLLRDNORM;
	if (hits != hist->polled)
		ret |= EPOLLPRI;
	hist->polled = hits;
	return ret;
}

static int remote_hist_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	kfree(m->private);
	return trace_remote_event_single_release(inode, file);
}

const struct file_operations trace_remote_hist_fops = {
	.open		= remote_hist_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.poll		= remote_hist_poll,
	.release	= remote_hist_release,
};

#endif /* CONFIG_TRACE_REMOTE_HIST */
