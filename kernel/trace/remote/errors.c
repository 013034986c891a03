// SPDX-License-Identifier: GPL-2.0-only
/*
 * error_log: why the last filters and histograms were refused
 *
 * As the error_log of the host's instances: the last eight errors, oldest first, each with
 * the command and a mark below the place. Opening it with O_TRUNC clears it.
 */
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "remote.h"

#define REMOTE_ERRORS_MAX	8
#define REMOTE_ERROR_PREFIX	"  Command: "

/**
 * struct trace_remote_error - an error
 * @list:	in trace_remote.errors
 * @ts:		when, ns
 * @text:	all that is shown but the time
 */
struct trace_remote_error {
	struct list_head	list;
	u64			ts;
	char			*text;
};

static void remote_errors_del(struct trace_remote *remote, struct trace_remote_error *error)
{
	lockdep_assert_held(&remote->errors_lock);

	list_del(&error->list);
	remote->nr_errors--;
	kfree(error->text);
	kfree(error);
}

static void remote_errors_add(struct trace_remote *remote, struct trace_remote_error *error)
{
	lockdep_assert_held(&remote->errors_lock);

	if (remote->nr_errors == REMOTE_ERRORS_MAX)
		remote_errors_del(remote, list_first_entry(&remote->errors,
							   struct trace_remote_error, list));
	list_add_tail(&error->list, &remote->errors);
	remote->nr_errors++;
}

/**
 * trace_remote_clear_errors - clear error_log
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 */
void trace_remote_clear_errors(struct trace_remote *remote)
{
	struct trace_remote_error *error, *next;

	guard(mutex)(&remote->errors_lock);

	list_for_each_entry_safe(error, next, &remote->errors, list)
		remote_errors_del(remote, error);
}

/**
 * trace_remote_log_text - log an error
 * @remote:	the remote
 * @text:	all that error_log shows but the time; is freed. NULL for no error
 *
 * Without memory for it the error is not logged, as in the host's log.
 *
 * Context: process context, may sleep.
 */
void trace_remote_log_text(struct trace_remote *remote, char *text)
{
	struct trace_remote_error *error = text ? kmalloc(sizeof(*error), GFP_KERNEL) : NULL;

	if (!error) {
		kfree(text);
		return;
	}

	error->ts = local_clock();
	error->text = text;

	guard(mutex)(&remote->errors_lock);
	remote_errors_add(remote, error);
}

/**
 * trace_remote_log - log that a command was refused
 * @remote:	the remote
 * @where:	by whom
 * @text:	why
 * @command:	the command
 * @pos:	where in @command it is wrong
 *
 * Context: process context, may sleep.
 */
void trace_remote_log(struct trace_remote *remote, const char *where, const char *text,
		      const char *command, unsigned int pos)
{
	int column = strlen(REMOTE_ERROR_PREFIX) + pos + 1;
	char *all;

	all = kasprintf(GFP_KERNEL, "%s: error: %s\n" REMOTE_ERROR_PREFIX "%s\n%*s\n", where,
			text, command, column, "^");
	trace_remote_log_text(remote, all);
}

/**
 * trace_remote_log_error - log that a filter was refused
 * @remote:	the remote
 * @str:	the expression
 * @why:	why
 *
 * Context: process context, may sleep.
 */
void trace_remote_log_error(struct trace_remote *remote, const char *str,
			    const struct trace_filter_error *why)
{
	trace_remote_log(remote, "event filter parse error", why->text, str, why->pos);
}

static void *remote_errors_seq_start(struct seq_file *m, loff_t *pos)
{
	struct trace_remote *remote = m->private;

	mutex_lock(&remote->errors_lock);
	return seq_list_start(&remote->errors, *pos);
}

static void *remote_errors_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct trace_remote *remote = m->private;

	return seq_list_next(v, &remote->errors, pos);
}

static void remote_errors_seq_stop(struct seq_file *m, void *v)
{
	struct trace_remote *remote = m->private;

	mutex_unlock(&remote->errors_lock);
}

static int remote_errors_seq_show(struct seq_file *m, void *v)
{
	struct trace_remote_error *error = list_entry(v, struct trace_remote_error, list);
	u64 sec = error->ts;
	u32 nsec = do_div(sec, NSEC_PER_SEC);

	seq_printf(m, "[%5llu.%06u] %s", sec, nsec / (u32)NSEC_PER_USEC, error->text);
	return 0;
}

static const struct seq_operations remote_errors_seq_ops = {
	.start	= remote_errors_seq_start,
	.next	= remote_errors_seq_next,
	.stop	= remote_errors_seq_stop,
	.show	= remote_errors_seq_show,
};

static int remote_errors_open(struct inode *inode, struct file *file)
{
	struct trace_remote *remote = inode->i_private;
	int ret = trace_remote_open(inode, file);

	if (ret)
		return ret;
	if (file->f_mode & FMODE_READ) {
		ret = seq_open(file, &remote_errors_seq_ops);
		if (ret) {
			trace_remote_release(inode, file);
			return ret;
		}
		((struct seq_file *)file->private_data)->private = remote;
	}
	if (file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC)
		trace_remote_clear_errors(remote);
	return 0;
}

/* What is written does not matter: O_TRUNC clears. */
static ssize_t remote_errors_write(struct file *file, const char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	return cnt;
}

static int remote_errors_release(struct inode *inode, struct file *file)
{
	if (file->f_mode & FMODE_READ)
		seq_release(inode, file);
	return trace_remote_release(inode, file);
}

const struct file_operations trace_remote_errors_fops = {
	.open		= remote_errors_open,
	.read		= seq_read,
	.write		= remote_errors_write,
	.llseek		= trace_remote_lseek,
	.release	= remote_errors_release,
};
