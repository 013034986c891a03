// SPDX-License-Identifier: GPL-2.0-only
/*
 * How trace_pipe and trace_pipe_raw wait for events
 *
 * A reader that waits holds no lock, and is between trace_remote_wait_begin() and
 * trace_remote_wait_end(), or on the buffer's wait queue. So the remote is polled.
 */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>

#include "remote.h"

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
	ret = ring_buffer_poll_wait(buffer, cpu, file, pt, trace_remote_percent(remote));
	trace_remote_poll_start(remote);

	return trace_remote_has_ended(remote) ? EPOLLIN | EPOLLRDNORM | EPOLLERR : ret;
}
