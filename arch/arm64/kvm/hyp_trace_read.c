// SPDX-License-Identifier: GPL-2.0-only
/*
 * What trace_pipe and trace_pipe_raw share: who reads, and how one waits
 *
 * Both consume events. Which is the next one of a CPU must not change from when
 * it is looked for until it is taken: a reader of one CPU's events locks that
 * CPU, and one who merges those of all CPUs locks all of them.
 *
 *	hyp_trace_read_sem	taken for reading by readers of one CPU, for
 *				writing by others
 *	hyp_trace_read_mutex	of a CPU; inside of the former
 *
 * Nobody waits for events with either.
 */
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/rwsem.h>

#include "hyp_trace.h"

static DECLARE_RWSEM(hyp_trace_read_sem);
static DEFINE_PER_CPU(struct mutex, hyp_trace_read_mutex);

/* How full the ring of a CPU shall be before who waits for that is told, in percent. */
static unsigned int hyp_trace_percent = 50;

/**
 * hyp_trace_read_lock - let nobody else take events
 * @cpu:	those of a CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: process context, may sleep.
 */
void hyp_trace_read_lock(int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS) {
		down_write(&hyp_trace_read_sem);
	} else {
		down_read(&hyp_trace_read_sem);
		mutex_lock(per_cpu_ptr(&hyp_trace_read_mutex, cpu));
	}
}

/**
 * hyp_trace_read_unlock - undo hyp_trace_read_lock()
 * @cpu:	what that was called with
 *
 * Context: process context.
 */
void hyp_trace_read_unlock(int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS) {
		up_write(&hyp_trace_read_sem);
	} else {
		mutex_unlock(per_cpu_ptr(&hyp_trace_read_mutex, cpu));
		up_read(&hyp_trace_read_sem);
	}
}

/**
 * hyp_trace_assert_read_locked - see that hyp_trace_read_lock() was called
 * @cpu:	what with
 */
void hyp_trace_assert_read_locked(int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS)
		lockdep_assert_held_write(&hyp_trace_read_sem);
	else
		lockdep_assert_held(per_cpu_ptr(&hyp_trace_read_mutex, cpu));
}

/**
 * hyp_trace_is_empty - is there nothing to read?
 * @buffer:	the buffer
 * @cpu:	a CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: any but NMI.
 * Return: whether there is nothing.
 */
bool hyp_trace_is_empty(struct trace_buffer *buffer, int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS)
		return ring_buffer_empty(buffer);
	return ring_buffer_empty_cpu(buffer, cpu);
}

/**
 * hyp_trace_pause - do not ask again at once for what is not there
 * @buffer:	the buffer
 * @cpu:	a CPU, or RING_BUFFER_ALL_CPUS
 *
 * If there are events and none could be had, then the writer is just going on, or tells
 * what is not so. Who waits then does so for a tick.
 *
 * Context: process context, may sleep.
 */
void hyp_trace_pause(struct trace_buffer *buffer, int cpu)
{
	if (!hyp_trace_is_empty(buffer, cpu))
		schedule_timeout_interruptible(1);
}

/**
 * struct hyp_trace_waiter - a call that waits
 * @cond:	until that is so; NULL for nothing
 * @data:	for @cond
 */
struct hyp_trace_waiter {
	ring_buffer_cond_fn	cond;
	void			*data;
};

static bool hyp_trace_wait_cond(void *data)
{
	struct hyp_trace_waiter *waiter = data;

	return hyp_trace_has_ended() || (waiter->cond && waiter->cond(waiter->data));
}

/**
 * hyp_trace_wait - wait for events
 * @buffer:	the buffer
 * @cpu:	a CPU, or RING_BUFFER_ALL_CPUS
 * @full:	how full its ring shall be, in percent; 0 for any event
 * @cond:	do not wait any more when that returns true; checked when waiters are woken
 * @data:	for @cond
 *
 * Context: process context, may sleep; the caller has a reader.
 * Return: 0; -ERESTARTSYS for a signal; -ENODEV when @cpu has no ring, and when tracing has
 * ended.
 */
int hyp_trace_wait(struct trace_buffer *buffer, int cpu, int full, ring_buffer_cond_fn cond,
		   void *data)
{
	struct hyp_trace_waiter waiter = { .cond = cond, .data = data };
	int ret;

	hyp_trace_wait_begin();
	ret = ring_buffer_wait(buffer, cpu, full, hyp_trace_wait_cond, &waiter);
	hyp_trace_wait_end();

	return hyp_trace_has_ended() ? -ENODEV : ret;
}

/**
 * hyp_trace_poll - poll() of a file that consumes events
 * @buffer:	the buffer
 * @cpu:	the file's CPU, or RING_BUFFER_ALL_CPUS
 * @file:	the file
 * @pt:		the poll table
 *
 * Context: process context.
 * Return: EPOLLIN | EPOLLRDNORM when there are events; in the files of a CPU,
 * when its ring is as full as buffer_percent says. EPOLLERR, too, when a read returns an
 * error since tracing has ended.
 */
__poll_t hyp_trace_poll(struct trace_buffer *buffer, int cpu, struct file *file, poll_table *pt)
{
	__poll_t ret;

	ring_buffer_poll_writer(buffer, cpu);
	ret = ring_buffer_poll_wait(buffer, cpu, file, pt, hyp_trace_get_percent());
	hyp_trace_poll_start();

	return hyp_trace_has_ended() ? EPOLLIN | EPOLLRDNORM | EPOLLERR : ret;
}

/**
 * hyp_trace_get_percent - what is in buffer_percent
 *
 * Context: any.
 * Return: how full a ring shall be, in percent.
 */
unsigned int hyp_trace_get_percent(void)
{
	return READ_ONCE(hyp_trace_percent);
}

static ssize_t hyp_trace_percent_read(struct file *file, char __user *ubuf, size_t cnt,
				      loff_t *ppos)
{
	char buf[16];
	int len = scnprintf(buf, sizeof(buf), "%u\n", hyp_trace_get_percent());

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t hyp_trace_percent_write(struct file *file, const char __user *ubuf, size_t cnt,
				       loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val);
	if (ret)
		return ret;
	if (val > 100)
		return -EINVAL;

	WRITE_ONCE(hyp_trace_percent, val);
	*ppos += cnt;
	return cnt;
}

const struct file_operations hyp_trace_percent_fops = {
	.open	= hyp_trace_open,
	.read	= hyp_trace_percent_read,
	.write	= hyp_trace_percent_write,
	.llseek	= default_llseek,
};

/**
 * hyp_trace_read_init - initialise the locks
 */
void __init hyp_trace_read_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		mutex_init(per_cpu_ptr(&hyp_trace_read_mutex, cpu));
}
