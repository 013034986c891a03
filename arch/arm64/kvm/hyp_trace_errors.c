// SPDX-License-Identifier: GPL-2.0-only
/*
 * error_log: why the last filters were refused
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

#include "hyp_trace.h"

#define HYP_TRACE_ERRORS_MAX	8
#define HYP_TRACE_ERROR_PREFIX	"  Command: "

/**
 * struct hyp_trace_error - an error
 * @list:	in hyp_trace_errors
 * @ts:		when, ns
 * @text:	what is wrong; a constant string
 * @pos:	where in @cmd
 * @cmd:	what was written
 */
struct hyp_trace_error {
	struct list_head	list;
	u64			ts;
	const char		*text;
	int			pos;
	char			cmd[];
};

/* Covers the list and its length. */
static DEFINE_MUTEX(hyp_trace_errors_lock);
static LIST_HEAD(hyp_trace_errors);
static unsigned int hyp_trace_nr_errors;

static void hyp_trace_errors_del(struct hyp_trace_error *error)
{
	lockdep_assert_held(&hyp_trace_errors_lock);

	list_del(&error->list);
	hyp_trace_nr_errors--;
	kfree(error);
}

static void hyp_trace_errors_add(struct hyp_trace_error *error)
{
	lockdep_assert_held(&hyp_trace_errors_lock);

	if (hyp_trace_nr_errors == HYP_TRACE_ERRORS_MAX)
		hyp_trace_errors_del(list_first_entry(&hyp_trace_errors, struct hyp_trace_error,
						      list));
	list_add_tail(&error->list, &hyp_trace_errors);
	hyp_trace_nr_errors++;
}

static void hyp_trace_errors_clear(void)
{
	struct hyp_trace_error *error, *next;

	guard(mutex)(&hyp_trace_errors_lock);

	list_for_each_entry_safe(error, next, &hyp_trace_errors, list)
		hyp_trace_errors_del(error);
}

/**
 * hyp_trace_log_error - log that a filter was refused
 * @str:	the expression
 * @why:	why
 *
 * Without memory for it the error is not logged, as in the host's log.
 *
 * Context: process context, may sleep.
 */
void hyp_trace_log_error(const char *str, const struct trace_filter_error *why)
{
	size_t size = strlen(str) + 1;
	struct hyp_trace_error *error;

	error = kmalloc(struct_size(error, cmd, size), GFP_KERNEL);
	if (!error)
		return;

	error->ts = local_clock();
	error->text = why->text;
	error->pos = why->pos;
	memcpy(error->cmd, str, size);

	guard(mutex)(&hyp_trace_errors_lock);
	hyp_trace_errors_add(error);
}

static void *hyp_trace_errors_seq_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&hyp_trace_errors_lock);
	return seq_list_start(&hyp_trace_errors, *pos);
}

static void *hyp_trace_errors_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	return seq_list_next(v, &hyp_trace_errors, pos);
}

static void hyp_trace_errors_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&hyp_trace_errors_lock);
}

static int hyp_trace_errors_seq_show(struct seq_file *m, void *v)
{
	struct hyp_trace_error *error = list_entry(v, struct hyp_trace_error, list);
	u64 sec = error->ts;
	u32 nsec = do_div(sec, NSEC_PER_SEC);

	seq_printf(m, "[%5llu.%06u] event filter parse error: error: %s\n", sec,
		   nsec / (u32)NSEC_PER_USEC, error->text);
	seq_printf(m, HYP_TRACE_ERROR_PREFIX "%s\n", error->cmd);
	seq_printf(m, "%*s\n", (int)strlen(HYP_TRACE_ERROR_PREFIX) + error->pos + 1, "^");
	return 0;
}

static const struct seq_operations hyp_trace_errors_seq_ops = {
	.start	= hyp_trace_errors_seq_start,
	.next	= hyp_trace_errors_seq_next,
	.stop	= hyp_trace_errors_seq_stop,
	.show	= hyp_trace_errors_seq_show,
};

static int hyp_trace_errors_open(struct inode *inode, struct file *file)
{
	int ret = hyp_trace_open(inode, file);

	if (!ret && (file->f_mode & FMODE_READ))
		ret = seq_open(file, &hyp_trace_errors_seq_ops);
	if (!ret && (file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC))
		hyp_trace_errors_clear();
	return ret;
}

/* What is written does not matter: O_TRUNC clears. */
static ssize_t hyp_trace_errors_write(struct file *file, const char __user *ubuf, size_t cnt,
				      loff_t *ppos)
{
	return cnt;
}

static int hyp_trace_errors_release(struct inode *inode, struct file *file)
{
	return file->f_mode & FMODE_READ ? seq_release(inode, file) : 0;
}

const struct file_operations hyp_trace_errors_fops = {
	.open		= hyp_trace_errors_open,
	.read		= seq_read,
	.write		= hyp_trace_errors_write,
	.llseek		= hyp_trace_lseek,
	.release	= hyp_trace_errors_release,
};
