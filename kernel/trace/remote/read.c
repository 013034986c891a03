// SPDX-License-Identifier: GPL-2.0-only
/*
 * What trace_pipe and trace_pipe_raw share: which reader reads next, and how it waits
 *
 * Both consume events. The next event of a CPU must not change from when a reader finds
 * it until the reader consumes it. A reader of one CPU's events locks that CPU. A reader
 * that merges the events of all CPUs locks all of them.
 *
 *	trace_remote.read_sem		for reading by readers of one CPU, for writing by
 *					the others
 *	trace_remote_cpu.read_mutex	inside of the former
 *
 * No reader waits for events with either.
 */
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/rwsem.h>

#include "remote.h"

/* How full the ring of a CPU is before a reader that waits for that is woken, in percent */
#define REMOTE_DEFAULT_PERCENT	50

/**
 * trace_remote_read_lock - let no other reader consume events
 * @remote:	the remote
 * @cpu:	those of a CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: process context, may sleep.
 */
void trace_remote_read_lock(struct trace_remote *remote, int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS) {
		down_write(&remote->read_sem);
	} else {
		down_read(&remote->read_sem);
		mutex_lock(&trace_remote_cpu(remote, cpu)->read_mutex);
	}
}

/**
 * trace_remote_read_unlock - undo trace_remote_read_lock()
 * @remote:	the remote
 * @cpu:	what that was called with
 *
 * Context: process context.
 */
void trace_remote_read_unlock(struct trace_remote *remote, int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS) {
		up_write(&remote->read_sem);
	} else {
		mutex_unlock(&trace_remote_cpu(remote, cpu)->read_mutex);
		up_read(&remote->read_sem);
	}
}

/**
 * trace_remote_assert_read_locked - assert that trace_remote_read_lock() was called
 * @remote:	the remote
 * @cpu:	what with
 */
void trace_remote_assert_read_locked(struct trace_remote *remote, int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS)
		lockdep_assert_held_write(&remote->read_sem);
	else
		lockdep_assert_held(&trace_remote_cpu(remote, cpu)->read_mutex);
}

/**
 * trace_remote_is_empty - is there nothing to read?
 * @buffer:	the buffer
 * @cpu:	a CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: any but NMI.
 * Return: whether there is nothing.
 */
bool trace_remote_is_empty(struct trace_buffer *buffer, int cpu)
{
	if (cpu == RING_BUFFER_ALL_CPUS)
		return ring_buffer_empty(buffer);
	return ring_buffer_empty_cpu(buffer, cpu);
}

/**
 * trace_remote_pause - do not ask again at once for what is not there
 * @buffer:	the buffer
 * @cpu:	a CPU, or RING_BUFFER_ALL_CPUS
 *
 * If there are events and none could be had, the writer is going to its next page, or the
 * meta page is corrupted. The reader waits for a tick.
 *
 * Context: process context, may sleep.
 */
void trace_remote_pause(struct trace_buffer *buffer, int cpu)
{
	if (!trace_remote_is_empty(buffer, cpu))
		schedule_timeout_interruptible(1);
}

/**
 * struct trace_remote_waiter - a call that waits
 * @remote:	for events of this remote
 * @cond:	until that is so; NULL for nothing
 * @data:	for @cond
 */
struct trace_remote_waiter {
	struct trace_remote	*remote;
	ring_buffer_cond_fn	cond;
	void			*data;
};

static bool remote_wait_cond(void *data)
{
	struct trace_remote_waiter *waiter = data;

	return trace_remote_has_ended(waiter->remote) ||
	       (waiter->cond && waiter->cond(waiter->data));
}

/**
 * trace_remote_wait - wait for events
 * @remote:	the remote
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
int trace_remote_wait(struct trace_remote *remote, struct trace_buffer *buffer, int cpu, int full,
		      ring_buffer_cond_fn cond, void *data)
{
	struct trace_remote_waiter waiter = { .remote = remote, .cond = cond, .data = data };
	int ret;

	trace_remote_wait_begin(remote);
	ret = ring_buffer_wait(buffer, cpu, full, remote_wait_cond, &waiter);
	trace_remote_wait_end(remote);

	return trace_remote_has_ended(remote) ? -ENODEV : ret;
}

/**
 * trace_remote_poll - poll() of a file that consumes events
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
__poll_t trace_remote_poll(struct trace_buffer *buffer, int cpu, struct file *file,
			   poll_table *pt)
{
	struct trace_remote *remote = trace_remote_of(file);
	__poll_t ret;

	ring_buffer_poll_writer(buffer, cpu);
	ret = ring_buffer_poll_wait(buffer, cpu, file, pt, trace_remote_get_percent(remote));
	trace_remote_poll_start(remote);

	return trace_remote_has_ended(remote) ? EPOLLIN | EPOLLRDNORM | EPOLLERR : ret;
}

/**
 * trace_remote_get_percent - what is in buffer_percent
 * @remote:	the remote
 *
 * Context: any.
 * Return: how full a ring shall be, in percent.
 */
unsigned int trace_remote_get_percent(const struct trace_remote *remote)
{
	return READ_ONCE(remote->percent);
}

static ssize_t remote_percent_read(struct file *file, char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	char buf[16];
	int len = scnprintf(buf, sizeof(buf), "%u\n",
			    trace_remote_get_percent(trace_remote_of(file)));

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t remote_percent_write(struct file *file, const char __user *ubuf, size_t cnt,
				    loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val);
	if (ret)
		return ret;
	if (val > 100)
		return -EINVAL;

	WRITE_ONCE(trace_remote_of(file)->percent, val);
	return trace_remote_written(0, cnt, ppos);
}

const struct file_operations trace_remote_percent_fops = {
	.open	= trace_remote_open,
	.read	= remote_percent_read,
	.write	= remote_percent_write,
	.llseek	= default_llseek,
	.release = trace_remote_release,
};

/**
 * trace_remote_read_init - initialise what this file has of a remote
 * @remote:	the remote
 */
void trace_remote_read_init(struct trace_remote *remote)
{
	int cpu;

	init_rwsem(&remote->read_sem);
	remote->percent = REMOTE_DEFAULT_PERCENT;
	for_each_possible_cpu(cpu)
		mutex_init(&trace_remote_cpu(remote, cpu)->read_mutex);
}
