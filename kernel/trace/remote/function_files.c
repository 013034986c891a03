// SPDX-License-Identifier: GPL-2.0-only
/*
 * available_filter_functions, set_ftrace_filter, set_ftrace_notrace, set_graph_function,
 * max_graph_depth: the functions that a remote traces
 *
 * Reading shows a list, writing adds to it, O_TRUNC empties it first: as in the kernel's own
 * instances. There an empty set_ftrace_filter always stands for all functions. The inode of a file
 * says which list it is for.
 *
 * A word may come in several writes, since programs write a long list in blocks. It ends at white
 * space, or when the file is closed.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

#include "remote.h"

/**
 * struct remote_functions_file - a list that is open, seq_file.private
 * @lock:	covers the rest
 * @emptied:	the list was emptied, which has not taken effect if nothing was written since
 * @parser:	has a word at the end of what was written, without white space behind
 */
struct remote_functions_file {
	struct mutex		lock;	/* covers the rest */
	bool			emptied;
	struct trace_parser	parser;
};

static struct remote_functions_file *remote_functions_file(const struct file *file)
{
	return ((struct seq_file *)file->private_data)->private;
}

/* The list of a file */
static enum trace_remote_list remote_list_of(const struct file *file)
{
	return trace_remote_file_nr(file_inode(file));
}

/* A position is the number of a function, and one more. Position 0 is before all of them. */
static void *remote_functions_find(struct seq_file *m, loff_t *pos)
{
	int nr = trace_remote_next_function(trace_remote_of(m->file), remote_list_of(m->file),
					    *pos - 1);

	if (nr < 0)
		return NULL;

	*pos = nr + 1;
	return pos;
}

static void *remote_functions_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? remote_functions_find(m, pos) : SEQ_START_TOKEN;
}

static void *remote_functions_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return remote_functions_find(m, pos);
}

static void remote_functions_stop(struct seq_file *m, void *v)
{
}

static void remote_functions_show_empty(struct seq_file *m)
{
	enum trace_remote_list which = remote_list_of(m->file);
	struct trace_remote *remote = trace_remote_of(m->file);
	bool all = which == TRACE_REMOTE_GRAPH ||
		   (which == TRACE_REMOTE_FILTER &&
		    trace_remote_tracer(remote) != TRACE_REMOTE_NOP);

	if (which == TRACE_REMOTE_ALL_FUNCTIONS ||
	    trace_remote_next_function(remote, which, 0) >= 0)
		return;

	seq_printf(m, "#### %s functions %s ####\n", all ? "all" : "no",
		   which == TRACE_REMOTE_NOTRACE ? "disabled" : "enabled");
}

static int remote_functions_show(struct seq_file *m, void *v)
{
	char name[KSYM_NAME_LEN];

	if (v == SEQ_START_TOKEN) {
		remote_functions_show_empty(m);
		return 0;
	}

	trace_remote_function_name(trace_remote_of(m->file), *(loff_t *)v - 1, name);
	if (*name)
		seq_printf(m, "%s\n", name);
	return 0;
}

static const struct seq_operations remote_functions_seq_ops = {
	.start	= remote_functions_start,
	.next	= remote_functions_next,
	.stop	= remote_functions_stop,
	.show	= remote_functions_show,
};

/* An empty list may stand for all functions: what is written next takes effect with it. */
static int remote_functions_open_seq(struct inode *inode, struct file *file)
{
	struct remote_functions_file *list;
	int ret = seq_open_private(file, &remote_functions_seq_ops, sizeof(*list));

	if (ret)
		return ret;

	list = remote_functions_file(file);
	if (trace_parser_get_init(&list->parser, KSYM_SYMBOL_LEN)) {
		seq_release_private(inode, file);
		return -ENOMEM;
	}

	mutex_init(&list->lock);
	list->emptied = file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC;
	if (list->emptied)
		trace_remote_clear_functions(trace_remote_of(file), remote_list_of(file));
	return 0;
}

static int remote_functions_open(struct inode *inode, struct file *file)
{
	return trace_remote_open_with(inode, file, remote_functions_open_seq);
}

/* Have the parser's word select functions, or not, and make room for another one. */
static int remote_functions_word(struct file *file)
{
	struct trace_parser *parser = &remote_functions_file(file)->parser;
	int ret;

	ret = trace_remote_set_function(trace_remote_of(file), parser->buffer,
					remote_list_of(file));
	trace_parser_clear(parser);
	return ret;
}

/* As of the kernel's file, what is wrong now is not reported. */
static void remote_functions_end(struct file *file)
{
	struct remote_functions_file *list = remote_functions_file(file);
	bool loaded = trace_parser_loaded(&list->parser);

	if (loaded)
		remote_functions_word(file);
	if (loaded || list->emptied)
		trace_remote_apply_functions(trace_remote_of(file));
	trace_parser_put(&list->parser);
}

static int remote_functions_release(struct inode *inode, struct file *file)
{
	remote_functions_end(file);
	seq_release_private(inode, file);
	return trace_remote_release(inode, file);
}

/*
 * Do what the words say, up to one that is wrong. How many bytes were good. A wrong word is not
 * kept.
 */
static ssize_t remote_functions_take(struct file *file, const char __user *ubuf, size_t cnt,
				     loff_t pos)
{
	struct trace_parser *parser = &remote_functions_file(file)->parser;
	ssize_t read, done;
	int ret;

	for (done = 0; done < cnt; done += read) {
		read = trace_get_user(parser, ubuf + done, cnt - done, &pos);
		if (read < 0) {
			trace_parser_clear(parser);
			parser->fail = false;
			return done ?: read;
		}

		if (!trace_parser_loaded(parser) || trace_parser_cont(parser))
			continue;

		ret = remote_functions_word(file);
		if (ret)
			return done ?: ret;
	}

	return done;
}

/* As to the kernel's file, a list of any length can be written. */
static ssize_t remote_functions_write(struct file *file, const char __user *ubuf, size_t cnt,
				      loff_t *ppos)
{
	struct remote_functions_file *list = remote_functions_file(file);
	ssize_t ret;
	int err;

	if (!cnt)
		return 0;

	guard(mutex)(&list->lock);
	ret = remote_functions_take(file, ubuf, min(cnt, PAGE_SIZE), *ppos);
	list->emptied = false;
	err = trace_remote_apply_functions(trace_remote_of(file));
	if (err)
		return err;
	if (ret > 0)
		*ppos += ret;
	return ret;
}

static const struct file_operations remote_functions_fops = {
	.open		= remote_functions_open,
	.read		= seq_read,
	.write		= remote_functions_write,
	.llseek		= trace_remote_lseek,
	.release	= remote_functions_release,
};

static const struct file_operations remote_available_functions_fops = {
	.open		= remote_functions_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= remote_functions_release,
};

static ssize_t max_graph_depth_read(struct file *file, char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	return trace_remote_read_number(ubuf, cnt, ppos,
					READ_ONCE(trace_remote_of(file)->graph_depth));
}

static ssize_t max_graph_depth_write(struct file *file, const char __user *ubuf, size_t cnt,
				     loff_t *ppos)
{
	unsigned long depth;
	int ret;

	ret = trace_remote_get_number(ubuf, cnt, INT_MAX, &depth);
	if (!ret)
		ret = trace_remote_set_graph_depth(trace_remote_of(file), depth);
	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(max_graph_depth_fops, max_graph_depth_read, max_graph_depth_write);

static const struct trace_remote_file remote_graph_files[] = {
	{ "max_graph_depth",	TRACE_MODE_WRITE,	&max_graph_depth_fops },
	{ }
};

static const struct trace_remote_file remote_function_files[NR_TRACE_REMOTE_LISTS][2] = {
	[TRACE_REMOTE_FILTER] = {
		{ "set_ftrace_filter",	TRACE_MODE_WRITE,	&remote_functions_fops },
	},
	[TRACE_REMOTE_NOTRACE] = {
		{ "set_ftrace_notrace",	TRACE_MODE_WRITE,	&remote_functions_fops },
	},
	[TRACE_REMOTE_GRAPH] = {
		{ "set_graph_function",	TRACE_MODE_WRITE,	&remote_functions_fops },
	},
	[TRACE_REMOTE_ALL_FUNCTIONS] = {
		{ "available_filter_functions", TRACE_MODE_READ,
		  &remote_available_functions_fops },
	},
};

/**
 * trace_remote_create_function_files - create the files of a remote's functions, if it has any
 * @remote:	the remote
 * @dir:	its directory
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int trace_remote_create_function_files(struct trace_remote *remote, struct dentry *dir)
{
	int which, ret;

	if (!trace_remote_has_functions(remote))
		return 0;

	ret = trace_remote_create_files(remote, dir, remote_graph_files, TRACE_REMOTE_ALL);
	for (which = 0; which < NR_TRACE_REMOTE_LISTS && !ret; which++)
		ret = trace_remote_create_files(remote, dir, remote_function_files[which], which);
	return ret;
}
