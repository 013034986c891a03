// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instance hypervisor/ in tracefs
 *
 *	hypervisor/
 *	    tracing_on  trace_clock  current_tracer  write_event
 *	    buffer_size_kb  buffer_total_size_kb  buffer_percent
 *	    trace  trace_pipe  error_log
 *	    per_cpu/cpuN/{trace,trace_pipe,trace_pipe_raw,stats,buffer_size_kb}
 *	    available_events  set_event
 *	    events/{enable,header_page,header_event}
 *	    events/hypervisor/{enable,filter}
 *	    events/hypervisor/<event>/{enable,filter,id,format}
 *	instances/hypervisor -> ../hypervisor
 *	remotes/hypervisor -> ../hypervisor
 *
 * Here are the directory, and the files that are small; the others have files
 * of their own. Names, modes, formats and errors are those of the host's
 * instances.
 */
#include <linux/kvm_host.h>
#include <linux/ring_buffer.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/trace.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>

#include <asm/kvm_asm.h>

#include "hyp_trace.h"

/**
 * hyp_trace_open - open one of the files, unless they are locked down
 * @inode:	its inode
 * @file:	the file
 *
 * Return: 0, or -EPERM.
 */
int hyp_trace_open(struct inode *inode, struct file *file)
{
	return security_locked_down(LOCKDOWN_TRACEFS);
}

/**
 * hyp_trace_lseek - seek in a file that is a seq_file for readers alone
 * @file:	the file
 * @offset:	where to
 * @whence:	from where
 *
 * Return: the new position; 0 for a file that is open for writing alone, which has none.
 */
loff_t hyp_trace_lseek(struct file *file, loff_t offset, int whence)
{
	if (file->f_mode & FMODE_READ)
		return seq_lseek(file, offset, whence);

	file->f_pos = 0;
	return 0;
}

/**
 * hyp_trace_file_cpu - whose file is it?
 * @inode:	its inode
 *
 * Return: a CPU, or RING_BUFFER_ALL_CPUS.
 */
int hyp_trace_file_cpu(struct inode *inode)
{
	/* As hyp_trace_create_dir() made it; 0 is what files without a CPU have. */
	return (long)inode->i_private - 1;
}

static_assert(RING_BUFFER_ALL_CPUS == -1);

static ssize_t tracing_on_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	const char *buf = hyp_trace_is_on() ? "1\n" : "0\n";

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, 2);
}

static ssize_t tracing_on_write(struct file *file, const char __user *ubuf, size_t cnt,
				loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val);
	if (!ret)
		ret = hyp_trace_set_on(val);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static const struct file_operations tracing_on_fops = {
	.open	= hyp_trace_open,
	.read	= tracing_on_read,
	.write	= tracing_on_write,
	.llseek	= default_llseek,
};

/* A size may not change while loaded, and so what is printed fits together. */
static ssize_t read_size(char __user *ubuf, size_t cnt, loff_t *ppos, const char *size)
{
	char buf[64];
	int len = scnprintf(buf, sizeof(buf), "%s (%s)\n", size,
			    hyp_trace_is_loaded() ? "loaded" : "unloaded");

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static bool sizes_differ(void)
{
	int cpu, first = cpumask_first(cpu_possible_mask);

	for_each_possible_cpu(cpu) {
		if (hyp_trace_size(cpu) != hyp_trace_size(first))
			return true;
	}

	return false;
}

static ssize_t buffer_size_kb_read(struct file *file, char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	int cpu = hyp_trace_file_cpu(file_inode(file));
	char size[24] = "X";

	if (cpu != RING_BUFFER_ALL_CPUS || !sizes_differ()) {
		if (cpu == RING_BUFFER_ALL_CPUS)
			cpu = cpumask_first(cpu_possible_mask);
		scnprintf(size, sizeof(size), "%lu", hyp_trace_size(cpu) >> 10);
	}

	return read_size(ubuf, cnt, ppos, size);
}

static ssize_t buffer_size_kb_write(struct file *file, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	unsigned long kb;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &kb);
	if (ret)
		return ret;
	if (kb > ULONG_MAX >> 10)
		return -EINVAL;

	ret = hyp_trace_set_size(hyp_trace_file_cpu(file_inode(file)), kb << 10);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static const struct file_operations buffer_size_kb_fops = {
	.open	= hyp_trace_open,
	.read	= buffer_size_kb_read,
	.write	= buffer_size_kb_write,
	.llseek	= default_llseek,
};

static ssize_t buffer_total_size_kb_read(struct file *file, char __user *ubuf, size_t cnt,
					 loff_t *ppos)
{
	unsigned long kb = 0;
	char size[24];
	int cpu;

	for_each_possible_cpu(cpu)
		kb += hyp_trace_size(cpu) >> 10;

	scnprintf(size, sizeof(size), "%lu", kb);
	return read_size(ubuf, cnt, ppos, size);
}

static const struct file_operations buffer_total_size_kb_fops = {
	.open	= hyp_trace_open,
	.read	= buffer_total_size_kb_read,
	.llseek	= default_llseek,
};

/* For files that know one word: take it, with white space around. */
static ssize_t write_word(const char __user *ubuf, size_t cnt, loff_t *ppos, const char *word)
{
	char buf[16];

	if (cnt >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, cnt))
		return -EFAULT;

	buf[cnt] = '\0';
	if (strcmp(strstrip(buf), word))
		return -EINVAL;

	*ppos += cnt;
	return cnt;
}

static ssize_t trace_clock_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return simple_read_from_buffer(ubuf, cnt, ppos, "[boot]\n", 7);
}

static ssize_t trace_clock_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	return write_word(ubuf, cnt, ppos, "boot");
}

static const struct file_operations trace_clock_fops = {
	.open	= hyp_trace_open,
	.read	= trace_clock_read,
	.write	= trace_clock_write,
	.llseek	= default_llseek,
};

/* Nothing but events is traced. */
static ssize_t current_tracer_read(struct file *file, char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	return simple_read_from_buffer(ubuf, cnt, ppos, "nop\n", 4);
}

static ssize_t current_tracer_write(struct file *file, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	return write_word(ubuf, cnt, ppos, "nop");
}

static const struct file_operations current_tracer_fops = {
	.open	= hyp_trace_open,
	.read	= current_tracer_read,
	.write	= current_tracer_write,
	.llseek	= default_llseek,
};

#ifdef CONFIG_KVM_HYP_TRACING_SELFTEST
/* The event comes from the CPU that this runs on. */
static int write_event(u64 id)
{
	int ret = hyp_trace_get_el2();

	if (ret)
		return ret;

	ret = hyp_trace_hypcall(__hyp_trace_write_event, id);
	hyp_trace_put_el2();
	return ret;
}

static ssize_t write_event_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	u64 id;
	int ret;

	ret = kstrtou64_from_user(ubuf, cnt, 0, &id);
	if (!ret)
		ret = write_event(id);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static const struct file_operations write_event_fops = {
	.open	= hyp_trace_open,
	.write	= write_event_write,
	.llseek	= default_llseek,
};
#endif

static const struct hyp_trace_file hyp_trace_files[] __initconst = {
	{ "tracing_on",		HYP_TRACE_MODE_WRITE,	&tracing_on_fops },
	{ "trace_clock",	HYP_TRACE_MODE_WRITE,	&trace_clock_fops },
	{ "current_tracer",	HYP_TRACE_MODE_WRITE,	&current_tracer_fops },
	{ "buffer_size_kb",	HYP_TRACE_MODE_WRITE,	&buffer_size_kb_fops },
	{ "buffer_total_size_kb", HYP_TRACE_MODE_READ,	&buffer_total_size_kb_fops },
	{ "buffer_percent",	HYP_TRACE_MODE_WRITE,	&hyp_trace_percent_fops },
	{ "trace",		HYP_TRACE_MODE_WRITE,	&hyp_trace_show_fops },
	{ "trace_pipe",		HYP_TRACE_MODE_READ,	&hyp_trace_pipe_fops },
	{ "error_log",		HYP_TRACE_MODE_WRITE,	&hyp_trace_errors_fops },
#ifdef CONFIG_KVM_HYP_TRACING_SELFTEST
	{ "write_event",	0220,			&write_event_fops },
#endif
	{ }
};

static const struct hyp_trace_file hyp_trace_cpu_files[] __initconst = {
	{ "buffer_size_kb",	HYP_TRACE_MODE_WRITE,	&buffer_size_kb_fops },
	{ "stats",		HYP_TRACE_MODE_READ,	&hyp_trace_stats_fops },
	{ "trace",		HYP_TRACE_MODE_WRITE,	&hyp_trace_show_fops },
	{ "trace_pipe",		HYP_TRACE_MODE_READ,	&hyp_trace_pipe_fops },
	{ "trace_pipe_raw",	HYP_TRACE_MODE_READ,	&hyp_trace_raw_fops },
	{ }
};

/**
 * hyp_trace_create_files - make files in a directory
 * @dir:	the directory; NULL if it could not be made
 * @files:	the files, up to one without a name
 * @data:	what their inodes point to
 *
 * Return: 0, or -ENOMEM. The files that were made go with @dir.
 */
int __init hyp_trace_create_files(struct dentry *dir, const struct hyp_trace_file *files,
				  void *data)
{
	if (!dir)
		return -ENOMEM;

	for (; files->name; files++) {
		if (!tracefs_create_file(files->name, files->mode, dir, data, files->fops))
			return -ENOMEM;
	}

	return 0;
}

static int __init hyp_trace_create_cpu_dirs(struct dentry *dir)
{
	struct dentry *per_cpu = tracefs_create_dir("per_cpu", dir);
	char name[16];
	int ret = 0;
	long cpu;

	if (!per_cpu)
		return -ENOMEM;

	for_each_possible_cpu(cpu) {
		scnprintf(name, sizeof(name), "cpu%ld", cpu);
		ret = hyp_trace_create_files(tracefs_create_dir(name, per_cpu),
					     hyp_trace_cpu_files, (void *)(cpu + 1));
		if (ret)
			break;
	}

	return ret;
}

/**
 * hyp_trace_create_links - make the names that trace-cmd, and what was written for other
 * kernels, look for
 *
 * That one could not be made is told, and no error.
 */
void __init hyp_trace_create_links(void)
{
	struct dentry *remotes = tracefs_create_dir("remotes", NULL);

	if (!remotes || !tracefs_create_symlink(HYP_TRACE_DIR, remotes, "../" HYP_TRACE_DIR))
		pr_warn("kvm: hyp_trace: no remotes/hypervisor in tracefs\n");
	if (trace_link_instance(HYP_TRACE_DIR, "../" HYP_TRACE_DIR))
		pr_warn("kvm: hyp_trace: no instances/hypervisor in tracefs\n");
}

/**
 * hyp_trace_create_dir - make the instance's directory
 * @name:	its name
 *
 * Return: the directory, or an ERR_PTR() of -ENOMEM, also when tracefs is locked
 * down; then nothing is left of it.
 */
struct dentry *__init hyp_trace_create_dir(const char *name)
{
	struct dentry *dir = tracefs_create_dir(name, NULL);
	int ret;

	ret = hyp_trace_create_files(dir, hyp_trace_files, NULL);
	if (!ret)
		ret = hyp_trace_create_cpu_dirs(dir);
	if (!ret)
		ret = hyp_event_create_files(dir);
	if (!ret)
		return dir;

	tracefs_remove(dir);
	return ERR_PTR(ret);
}
