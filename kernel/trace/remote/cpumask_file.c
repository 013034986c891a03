// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracing_cpumask: the CPUs that a remote traces while tracing is on, as a mask in hexadecimal
 */
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/slab.h>

#include "remote.h"

/* As in the kernel's instances, a buffer that is too small is refused. */
static ssize_t remote_cpumask_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_remote *remote = trace_remote_of(file);
	char *text = kasprintf(GFP_KERNEL, "%*pb\n", cpumask_pr_args(&remote->mask));
	ssize_t ret = -EINVAL;
	size_t len;

	if (!text)
		return -ENOMEM;

	len = strlen(text);
	if (len < cnt)
		ret = simple_read_from_buffer(ubuf, cnt, ppos, text, len);
	kfree(text);
	return ret;
}

static ssize_t remote_cpumask_write(struct file *file, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	cpumask_var_t mask;
	int ret;

	if (!cnt || cnt > KMALLOC_MAX_SIZE)
		return -EINVAL;
	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;

	ret = cpumask_parse_user(ubuf, cnt, mask);
	if (!ret)
		ret = trace_remote_set_cpumask(trace_remote_of(file), mask);
	free_cpumask_var(mask);
	return trace_remote_written(ret, cnt, ppos);
}

const struct file_operations trace_remote_cpumask_fops = {
	.open		= trace_remote_open,
	.read		= remote_cpumask_read,
	.write		= remote_cpumask_write,
	.llseek		= default_llseek,
	.release	= trace_remote_release,
};
