// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening and closing the files of a remote's trace instance
 *
 * The inode of a file points to its remote, and says which CPU it is for. That of a file in the
 * directory of an event points to the event. An open file keeps the module of the remote, and so
 * the remote.
 */
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/minmax.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracefs.h>

#include "remote.h"

/**
 * trace_remote_of - the remote of an open file
 * @file:	the file
 *
 * Return: the remote, which stays as long as the file is open.
 */
struct trace_remote *trace_remote_of(const struct file *file)
{
	return file_inode(file)->i_private;
}

/**
 * trace_remote_file_nr - which CPU a file is for
 * @inode:	its inode
 *
 * Return: the CPU's number, or TRACE_REMOTE_ALL.
 */
int trace_remote_file_nr(const struct inode *inode)
{
	/* As trace_remote_create_files() made it, and as the files of trace_arrays have it. */
	return (long)inode->i_cdev - 1;
}
EXPORT_SYMBOL_GPL(trace_remote_file_nr);

/**
 * trace_remote_open - open a file, unless tracefs is locked down
 * @inode:	its inode
 * @file:	the file
 *
 * Return: 0, until trace_remote_release(); -EPERM when tracefs is locked down; -ENODEV when
 * the remote is being unregistered.
 */
int trace_remote_open(struct inode *inode, struct file *file)
{
	int ret = security_locked_down(LOCKDOWN_TRACEFS);

	if (ret)
		return ret;

	return trace_remote_get(inode->i_private) ? 0 : -ENODEV;
}
EXPORT_SYMBOL_GPL(trace_remote_open);

/**
 * trace_remote_release - undo trace_remote_open()
 * @inode:	the inode
 * @file:	the file
 *
 * Return: 0.
 */
int trace_remote_release(struct inode *inode, struct file *file)
{
	trace_remote_put(inode->i_private);
	return 0;
}
EXPORT_SYMBOL_GPL(trace_remote_release);

/**
 * trace_remote_event_open - open a file of an event, as trace_remote_open() one of a remote
 * @inode:	its inode, which points to the event
 * @file:	the file, whose private data is the event
 *
 * Return: as trace_remote_open().
 */
int trace_remote_event_open(struct inode *inode, struct file *file)
{
	struct trace_remote_event *event = inode->i_private;
	int ret = security_locked_down(LOCKDOWN_TRACEFS);

	if (ret)
		return ret;
	if (!trace_remote_get_event(event))
		return -ENODEV;

	file->private_data = event;
	return 0;
}

/**
 * trace_remote_event_release - undo trace_remote_event_open()
 * @inode:	the inode
 * @file:	the file
 *
 * Return: 0.
 */
int trace_remote_event_release(struct inode *inode, struct file *file)
{
	struct trace_remote_event *event = inode->i_private;

	trace_remote_put(event->remote);
	return 0;
}

/**
 * trace_remote_event_single_open - as trace_remote_single_open(), for a file of an event
 * @inode:	the inode
 * @file:	the file
 * @show:	prints the file. seq_file.private is the event
 *
 * Return: 0, until trace_remote_event_single_release(); as trace_remote_open(); -ENOMEM.
 */
int trace_remote_event_single_open(struct inode *inode, struct file *file,
				   int (*show)(struct seq_file *m, void *v))
{
	int ret = trace_remote_event_open(inode, file);

	if (ret)
		return ret;

	/* The file's private data is the seq_file from now on. */
	file->private_data = NULL;
	ret = single_open(file, show, inode->i_private);
	if (ret)
		trace_remote_event_release(inode, file);
	return ret;
}

/**
 * trace_remote_event_single_release - undo trace_remote_event_single_open()
 * @inode:	the inode
 * @file:	the file
 *
 * Return: 0.
 */
int trace_remote_event_single_release(struct inode *inode, struct file *file)
{
	single_release(inode, file);
	return trace_remote_event_release(inode, file);
}

/**
 * trace_remote_get_number - take a number that is written to a file
 * @ubuf:	its decimal digits
 * @cnt:	bytes there
 * @max:	the largest one that is taken
 * @val:	the number
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL when it is no number or too large; -ERANGE when it has more than 64 bits;
 * -EFAULT.
 */
int trace_remote_get_number(const char __user *ubuf, size_t cnt, unsigned long max,
			    unsigned long *val)
{
	int ret = kstrtoul_from_user(ubuf, cnt, 10, val);

	if (ret)
		return ret;
	return *val > max ? -EINVAL : 0;
}

/**
 * trace_remote_read_number - what a read of a file returns that has a number and a newline
 * @ubuf:	where to copy it
 * @cnt:	bytes there
 * @ppos:	where the read begins
 * @val:	the number
 *
 * Context: process context, may sleep.
 * Return: as simple_read_from_buffer().
 */
ssize_t trace_remote_read_number(char __user *ubuf, size_t cnt, loff_t *ppos, unsigned long val)
{
	char buf[24];
	int len = scnprintf(buf, sizeof(buf), "%lu\n", val);

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

/* Do what the words say, up to one that is wrong. How many bytes were good. */
static ssize_t remote_do_words(struct file *file, char *buf, trace_remote_word_fn fn)
{
	char *next = buf, *word;
	int ret;

	while (*(word = skip_spaces(next))) {
		next = word;
		while (*next && !isspace(*next))
			next++;
		if (*next)
			*next++ = '\0';

		ret = fn(trace_remote_of(file), word, trace_remote_file_nr(file_inode(file)));
		if (ret)
			return word > buf ? word - buf : ret;
	}

	return word - buf;
}

/**
 * trace_remote_write_words - take words that are written to a file
 * @file:	the file
 * @ubuf:	the words, with white space between
 * @cnt:	bytes there, less than a page
 * @ppos:	the file's position
 * @fn:		does what one says; returns 0 or an errno
 * @apply:	has all of them take effect at once, those before a wrong one, too; likewise
 *
 * Context: process context, may sleep.
 * Return: how many bytes were taken, up to a word that is wrong; if that is the first one, what @fn
 * returned; what @apply returned; -EINVAL for a page or more; -ENOMEM, -EFAULT.
 */
ssize_t trace_remote_write_words(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos, trace_remote_word_fn fn,
				 int (*apply)(struct trace_remote *remote))
{
	ssize_t ret;
	char *buf;
	int err;

	if (cnt >= PAGE_SIZE)
		return -EINVAL;

	buf = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(buf))
		return PTR_ERR(buf);

	ret = remote_do_words(file, buf, fn);
	kfree(buf);

	err = apply(trace_remote_of(file));
	if (err)
		return err;
	if (ret > 0)
		*ppos += ret;
	return ret;
}

/**
 * trace_remote_open_with - open a file that has more to set up
 * @inode:	its inode
 * @file:	the file
 * @start:	sets it up; returns 0 or an errno
 *
 * Return: 0, until trace_remote_release(); what trace_remote_open() returns; or what @start
 * returned.
 */
int trace_remote_open_with(struct inode *inode, struct file *file,
			   int (*start)(struct inode *inode, struct file *file))
{
	int ret = trace_remote_open(inode, file);

	if (ret)
		return ret;

	ret = start(inode, file);
	if (ret)
		trace_remote_release(inode, file);
	return ret;
}

/**
 * trace_remote_single_open - open a file that one function shows
 * @inode:	its inode
 * @file:	the file
 * @show:	shows it; its seq_file's private is the inode
 *
 * Return: 0, until trace_remote_single_release(); what trace_remote_open() returns; or
 * -ENOMEM.
 */
int trace_remote_single_open(struct inode *inode, struct file *file,
			     int (*show)(struct seq_file *m, void *v))
{
	int ret = trace_remote_open(inode, file);

	if (ret)
		return ret;

	ret = single_open(file, show, inode);
	if (ret)
		trace_remote_release(inode, file);
	return ret;
}

/**
 * trace_remote_single_release - undo trace_remote_single_open()
 * @inode:	the inode
 * @file:	the file
 *
 * Return: 0.
 */
int trace_remote_single_release(struct inode *inode, struct file *file)
{
	single_release(inode, file);
	return trace_remote_release(inode, file);
}

/**
 * trace_remote_lseek - seek in a file that has a seq_file if it is open for reading
 * @file:	the file
 * @offset:	where to
 * @whence:	from where
 *
 * Return: the new position; 0 for a file that is open for writing only.
 */
loff_t trace_remote_lseek(struct file *file, loff_t offset, int whence)
{
	if (file->f_mode & FMODE_READ)
		return seq_lseek(file, offset, whence);

	file->f_pos = 0;
	return 0;
}
EXPORT_SYMBOL_GPL(trace_remote_lseek);

/**
 * trace_remote_create_files - create files in a directory
 * @remote:	the remote
 * @dir:	the directory; NULL if it could not be created
 * @files:	the files, up to one without a name; NULL for none
 * @nr:		the CPU that they are for, or TRACE_REMOTE_ALL
 *
 * Return: 0, or -ENOMEM. The files that were created go with @dir.
 */
int trace_remote_create_files(struct trace_remote *remote, struct dentry *dir,
			      const struct trace_remote_file *files, int nr)
{
	struct dentry *dentry;

	if (!dir)
		return -ENOMEM;

	for (; files && files->name; files++) {
		dentry = tracefs_create_file(files->name, files->mode, dir, remote, files->fops);
		if (!dentry)
			return -ENOMEM;
		d_inode(dentry)->i_cdev = (void *)(nr + 1L);
	}

	return 0;
}
