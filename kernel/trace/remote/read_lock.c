// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which reader consumes events next
 *
 * The next event of a CPU must not change from when a reader finds it until the reader
 * consumes it. A reader of one CPU's events locks that CPU. A reader that merges the events of
 * all CPUs locks all of them.
 *
 *	trace_remote.read_sem		for reading by readers of one CPU, for writing by
 *					the others
 *	trace_remote_cpu.read_mutex	inside of the former
 *
 * No reader waits for events with either.
 */
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rwsem.h>

#include "remote.h"

/**
 * trace_remote_read_init - initialise the read lock of a remote
 * @remote:	the remote
 */
void trace_remote_read_init(struct trace_remote *remote)
{
	int cpu;

	init_rwsem(&remote->read_sem);
	for_each_possible_cpu(cpu)
		mutex_init(&trace_remote_cpu(remote, cpu)->read_mutex);
}

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
