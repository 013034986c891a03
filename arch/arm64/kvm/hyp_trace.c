// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing the hypervisor: the instance hypervisor/ in tracefs
 *
 *	hypervisor/
 *	    tracing_on  buffer_size_kb  trace_clock  trace  trace_pipe
 *	    per_cpu/cpuN/trace_pipe
 *	    events/enable
 *	    events/hypervisor/enable
 *	    events/hypervisor/<event>/{enable,id,format}
 *
 * The rings exist ("loaded") from when they are first needed, because tracing
 * is turned on or a file that shows events is opened, until tracing is off, no
 * such file is open, and nothing is left to read.
 *
 * EL2 can't wake a reader: while there is one, the rings are polled.
 *
 * Locking
 * -------
 *
 * hyp_trace.lock	all of struct hyp_trace; taken first
 * cpu_hotplug_lock	@on changes with it held for reading, so that a CPU that
 *			comes or goes agrees with it
 * hyp_trace_read_lock	events are being read, or forgotten
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/kvm_host.h>
#include <linux/mutex.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include <asm/kvm_asm.h>
#include <asm/virt.h>

#include "hyp_trace.h"

/* What the host's buffers have, TRACE_BUF_SIZE_DEFAULT. */
#define HYP_TRACE_DEFAULT_SIZE	(1408UL << 10)

#define HYP_TRACE_POLL_PERIOD	msecs_to_jiffies(10)

static void hyp_trace_poll_work(struct work_struct *work);

/**
 * struct hyp_trace - the instance
 * @lock:	taken for all that follows
 * @buffer:	the rings; NULL while not loaded
 * @size:	bytes of events each ring has, or will have, room for
 * @nr_readers:	open files that show events
 * @on:		tracing is on; read without a lock
 * @poll:	polls EL2 while there are readers
 */
static struct hyp_trace {
	struct mutex		lock;	/* covers the rest */
	struct hyp_trace_buffer	*buffer;
	unsigned long		size;
	unsigned int		nr_readers;
	bool			on;
	struct delayed_work	poll;
} hyp_trace = {
	.lock	= __MUTEX_INITIALIZER(hyp_trace.lock),
	.size	= HYP_TRACE_DEFAULT_SIZE,
	.poll	= __DELAYED_WORK_INITIALIZER(hyp_trace.poll, hyp_trace_poll_work, 0),
};

/* Held while the next event is looked for and read, or all are forgotten. */
DEFINE_MUTEX(hyp_trace_read_lock);

/* The buffer stays while there are readers, and so while this runs. */
static void hyp_trace_poll_work(struct work_struct *work)
{
	ring_buffer_poll_writer(hyp_trace.buffer->trace, RING_BUFFER_ALL_CPUS);
	schedule_delayed_work(&hyp_trace.poll, HYP_TRACE_POLL_PERIOD);
}

static int hyp_trace_load(void)
{
	struct hyp_trace_buffer *buffer;

	lockdep_assert_held(&hyp_trace.lock);

	if (hyp_trace.buffer)
		return 0;

	buffer = hyp_trace_buffer_load(hyp_trace.size);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);

	hyp_trace.buffer = buffer;
	return 0;
}

/* Give the rings' memory back, if they have no use any more. */
static void hyp_trace_put(void)
{
	lockdep_assert_held(&hyp_trace.lock);

	if (!hyp_trace.buffer || hyp_trace.on || hyp_trace.nr_readers ||
	    !ring_buffer_empty(hyp_trace.buffer->trace))
		return;

	hyp_trace_buffer_unload(hyp_trace.buffer);
	hyp_trace.buffer = NULL;
}

/**
 * struct hyp_trace_call - a hypercall to make on a CPU
 * @fn:		makes it
 * @cpu:	the CPU
 * @enable:	for hyp_trace_call_enable()
 * @ret:	what it returned
 */
struct hyp_trace_call {
	void	(*fn)(void *call);
	int	cpu;
	bool	enable;
	int	ret;
};

static void hyp_trace_call_enable(void *data)
{
	struct hyp_trace_call *call = data;

	call->ret = kvm_call_hyp_nvhe(__hyp_trace_enable, call->cpu, call->enable);

	/* EL2 takes it for a CPU that pKVM has parked. Others are told later. */
	if (call->ret == -EBUSY && !cpu_online(call->cpu))
		call->ret = 0;
}

static void hyp_trace_call_reset(void *data)
{
	struct hyp_trace_call *call = data;

	call->ret = ring_buffer_reader_reset(hyp_trace.buffer->trace, call->cpu);
}

/* Make a call for each CPU: on it, or for it while it is off. */
static int hyp_trace_call_cpus(struct hyp_trace_call *call)
{
	int ret = 0;

	lockdep_assert_cpus_held();

	for_each_possible_cpu(call->cpu) {
		if (cpu_online(call->cpu))
			smp_call_function_single(call->cpu, call->fn, call, 1);
		else
			call->fn(call);
		ret = call->ret ?: ret;
	}

	return ret;
}

static int hyp_trace_enable_cpus(bool enable)
{
	struct hyp_trace_call call = {
		.fn	= hyp_trace_call_enable,
		.enable	= enable,
	};

	guard(cpus_read_lock)();
	WRITE_ONCE(hyp_trace.on, enable);
	return hyp_trace_call_cpus(&call);
}

static void hyp_trace_stop(void)
{
	lockdep_assert_held(&hyp_trace.lock);

	if (!hyp_trace.on)
		return;

	hyp_events_stop();
	WARN_ON_ONCE(hyp_trace_enable_cpus(false));
	hyp_trace_clock_stop();

	/* Readers that have all there will be come to the end. */
	ring_buffer_poll_writer(hyp_trace.buffer->trace, RING_BUFFER_ALL_CPUS);
	ring_buffer_wake_waiters(hyp_trace.buffer->trace, RING_BUFFER_ALL_CPUS);
	hyp_trace_put();
}

static int hyp_trace_start(void)
{
	int ret;

	lockdep_assert_held(&hyp_trace.lock);

	if (hyp_trace.on)
		return 0;

	ret = hyp_trace_load();
	if (ret)
		return ret;

	ret = hyp_trace_clock_start();
	if (ret)
		goto err_put;

	ret = hyp_events_start();
	if (ret)
		goto err_clock;

	ret = hyp_trace_enable_cpus(true);
	if (ret)
		hyp_trace_stop();
	return ret;

err_clock:
	hyp_trace_clock_stop();
err_put:
	hyp_trace_put();
	return ret;
}

/**
 * hyp_trace_is_on - is tracing on?
 *
 * Context: any.
 * Return: whether it is, or is just being turned on.
 */
bool hyp_trace_is_on(void)
{
	return READ_ONCE(hyp_trace.on);
}

/**
 * hyp_trace_get_reader - load the rings if need be, and keep them
 *
 * Context: process context, may sleep.
 * Return: the buffer, until hyp_trace_put_reader(); or an ERR_PTR(), as
 * hyp_trace_buffer_load() returns them.
 */
struct trace_buffer *hyp_trace_get_reader(void)
{
	int ret;

	guard(mutex)(&hyp_trace.lock);

	ret = hyp_trace_load();
	if (ret)
		return ERR_PTR(ret);

	if (!hyp_trace.nr_readers++)
		schedule_delayed_work(&hyp_trace.poll, HYP_TRACE_POLL_PERIOD);
	return hyp_trace.buffer->trace;
}

/**
 * hyp_trace_put_reader - undo hyp_trace_get_reader()
 *
 * Context: process context, may sleep.
 */
void hyp_trace_put_reader(void)
{
	guard(mutex)(&hyp_trace.lock);

	if (--hyp_trace.nr_readers)
		return;

	cancel_delayed_work_sync(&hyp_trace.poll);
	hyp_trace_put();
}

static int hyp_trace_reset_cpus(void)
{
	struct hyp_trace_call call = { .fn = hyp_trace_call_reset };

	lockdep_assert_held(&hyp_trace.lock);

	guard(cpus_read_lock)();
	guard(mutex)(&hyp_trace_read_lock);
	return hyp_trace_call_cpus(&call);
}

/* Forget all events, also while they are being written. */
static int hyp_trace_clear(void)
{
	int ret = 0;

	guard(mutex)(&hyp_trace.lock);

	if (hyp_trace.buffer)
		ret = hyp_trace_reset_cpus();
	hyp_trace_put();
	return ret;
}

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
	if (ret)
		return ret;

	scoped_guard(mutex, &hyp_trace.lock) {
		if (val)
			ret = hyp_trace_start();
		else
			hyp_trace_stop();
	}
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

static ssize_t buffer_size_kb_read(struct file *file, char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	char buf[64];
	int len;

	scoped_guard(mutex, &hyp_trace.lock)
		len = scnprintf(buf, sizeof(buf), "%lu (%s)\n", hyp_trace.size >> 10,
				hyp_trace.buffer ? "loaded" : "unloaded");

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t buffer_size_kb_write(struct file *file, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	unsigned long kb;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &kb);
	if (ret)
		return ret;
	if (!kb || kb > hyp_trace_buffer_max_size() >> 10)
		return -EINVAL;

	guard(mutex)(&hyp_trace.lock);
	if (hyp_trace.buffer)
		return -EBUSY;

	hyp_trace.size = kb << 10;
	*ppos += cnt;
	return cnt;
}

static const struct file_operations buffer_size_kb_fops = {
	.open	= hyp_trace_open,
	.read	= buffer_size_kb_read,
	.write	= buffer_size_kb_write,
	.llseek	= default_llseek,
};

static ssize_t trace_clock_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	static const char clocks[] = "[boot]\n";

	return simple_read_from_buffer(ubuf, cnt, ppos, clocks, strlen(clocks));
}

static ssize_t trace_clock_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	char buf[16];

	if (cnt >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, cnt))
		return -EFAULT;

	buf[cnt] = '\0';
	if (strcmp(strstrip(buf), "boot"))
		return -EINVAL;

	*ppos += cnt;
	return cnt;
}

static const struct file_operations trace_clock_fops = {
	.open	= hyp_trace_open,
	.read	= trace_clock_read,
	.write	= trace_clock_write,
	.llseek	= default_llseek,
};

/* trace is for clearing: by a write of anything, and by O_TRUNC alone. */
static int trace_open(struct inode *inode, struct file *file)
{
	int ret = hyp_trace_open(inode, file);

	if (ret || !(file->f_flags & O_TRUNC))
		return ret;

	return hyp_trace_clear();
}

static ssize_t trace_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	int ret = hyp_trace_clear();

	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static const struct file_operations trace_fops = {
	.open	= trace_open,
	.write	= trace_write,
	.llseek	= default_llseek,
};

/*
 * A CPU that goes and comes, in plain nVHE mode. Under pKVM EL2 sees to it
 * itself, and traces the CPU until it is off.
 */
static int hyp_trace_cpu_set(unsigned int cpu, bool enable)
{
	if (is_protected_kvm_enabled())
		return 0;

	/* A CPU that can't be traced is a CPU all the same. */
	WARN_ON_ONCE(kvm_call_hyp_nvhe(__hyp_trace_enable, cpu, enable));
	return 0;
}

static int hyp_trace_cpu_online(unsigned int cpu)
{
	return hyp_trace_cpu_set(cpu, hyp_trace.on);
}

static int hyp_trace_cpu_offline(unsigned int cpu)
{
	return hyp_trace_cpu_set(cpu, false);
}

static int __init hyp_trace_create_cpu_files(struct dentry *parent)
{
	struct dentry *per_cpu = tracefs_create_dir("per_cpu", parent);
	struct dentry *dir;
	char name[16];
	long cpu;

	for_each_possible_cpu(cpu) {
		scnprintf(name, sizeof(name), "cpu%ld", cpu);
		dir = per_cpu ? tracefs_create_dir(name, per_cpu) : NULL;
		if (!dir || !tracefs_create_file("trace_pipe", HYP_TRACE_MODE_READ, dir,
						 (void *)(cpu + 1), &hyp_trace_pipe_fops))
			return -ENOMEM;
	}

	return 0;
}

static int __init hyp_trace_create_files(struct dentry *dir)
{
	if (!tracefs_create_file("tracing_on", HYP_TRACE_MODE_WRITE, dir, NULL,
				 &tracing_on_fops) ||
	    !tracefs_create_file("buffer_size_kb", HYP_TRACE_MODE_WRITE, dir, NULL,
				 &buffer_size_kb_fops) ||
	    !tracefs_create_file("trace_clock", HYP_TRACE_MODE_WRITE, dir, NULL,
				 &trace_clock_fops) ||
	    !tracefs_create_file("trace", 0200, dir, NULL, &trace_fops) ||
	    !tracefs_create_file("trace_pipe", HYP_TRACE_MODE_READ, dir, NULL,
				 &hyp_trace_pipe_fops))
		return -ENOMEM;

	return hyp_trace_create_cpu_files(dir);
}

static int __init hyp_trace_setup(struct dentry *dir)
{
	int state, ret;

	ret = hyp_trace_create_files(dir);
	if (ret)
		return ret;

	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "kvm/arm64/hyp_trace:online",
				  hyp_trace_cpu_online, hyp_trace_cpu_offline);
	if (state < 0)
		return state;

	ret = hyp_events_init(dir);
	if (ret)
		cpuhp_remove_state(state);
	return ret;
}

/*
 * After KVM, and apart from it: whatever fails here, guests run. Under VHE
 * there is no EL2 object to trace.
 */
static int __init hyp_trace_init(void)
{
	struct dentry *dir;
	int ret;

	if (!is_kvm_arm_initialised() || is_kernel_in_hyp_mode())
		return 0;

	dir = tracefs_create_dir("hypervisor", NULL);
	if (!dir) {
		pr_warn("kvm: hyp_trace: no tracing of the hypervisor: no directory in tracefs\n");
		return 0;
	}

	ret = hyp_trace_setup(dir);
	if (ret) {
		pr_warn("kvm: hyp_trace: no tracing of the hypervisor (%d)\n", ret);
		tracefs_remove(dir);
	}

	return 0;
}
late_initcall(hyp_trace_init);
