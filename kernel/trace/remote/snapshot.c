// SPDX-License-Identifier: GPL-2.0-only
/*
 * The snapshot of a remote's rings: a copy in the kernel's memory
 *
 * The host's own snapshot swaps the buffers. A remote goes on with its rings, and the kernel copies
 * them aside (ring_buffer_reader_copy.c). No event is consumed.
 *
 * The snapshot exists from the first copy that is taken until it is freed. Open files keep one that
 * they read, also after it was freed or replaced. It is replaced where it has no room: when a CPU
 * has got a ring, or rings are larger. The copies of other CPUs' rings are then cleared.
 *
 * Locking
 * -------
 *
 * snapshot_lock		taken first; covers trace_remote.snapshot, and the reference counts
 * trace_remote.lock		inside of it, by trace_remote_get_buffer()
 * trace_remote_read_lock()	held while rings are copied: no reader consumes events, and none
 *				are cleared
 */
#include <linux/mm.h>
#include <linux/oom.h>
#include <linux/slab.h>

#include "remote.h"

/**
 * struct trace_remote_snapshot - a snapshot
 * @copy:	the copy; NULL if there were no rings to copy
 * @nr_users:	the instance, and open files that read it; under snapshot_lock
 */
struct trace_remote_snapshot {
	struct ring_buffer_reader_copy	*copy;
	unsigned int			nr_users;
};

/**
 * trace_remote_snapshot_init - initialise what this file has of a remote
 * @remote:	the remote
 */
void trace_remote_snapshot_init(struct trace_remote *remote)
{
	mutex_init(&remote->snapshot_lock);
}

static void remote_snapshot_put(struct trace_remote *remote,
				struct trace_remote_snapshot *snapshot)
{
	lockdep_assert_held(&remote->snapshot_lock);

	if (!snapshot || --snapshot->nr_users)
		return;

	ring_buffer_reader_copy_free(snapshot->copy);
	kfree(snapshot);
}

/* @from: what to copy; NULL if the rings are not loaded */
static struct trace_remote_snapshot *remote_snapshot_alloc(struct trace_remote *remote,
							   struct trace_buffer *from)
{
	struct trace_remote_snapshot *snapshot = kzalloc(sizeof(*snapshot), GFP_KERNEL);
	int ret;

	if (!snapshot)
		return ERR_PTR(-ENOMEM);

	snapshot->nr_users = 1;
	if (!from)
		return snapshot;

	/* If memory runs out, this task is killed first, as for the rings. */
	set_current_oom_origin();
	snapshot->copy = ring_buffer_reader_copy_alloc(from, remote->desc->ops->clock);
	clear_current_oom_origin();
	if (!IS_ERR(snapshot->copy))
		return snapshot;

	ret = PTR_ERR(snapshot->copy);
	kfree(snapshot);
	return ERR_PTR(ret);
}

/* Has the snapshot room for the rings of @which? */
static bool remote_snapshot_fits(struct trace_remote_snapshot *snapshot, struct trace_buffer *from,
				 int which)
{
	int cpu;

	if (!snapshot)
		return false;
	if (!from)
		return true;
	if (!snapshot->copy)
		return false;

	for_each_possible_cpu(cpu) {
		if (trace_remote_file_has_cpu(which, cpu) &&
		    !ring_buffer_reader_copy_fits(snapshot->copy, from, cpu))
			return false;
	}

	return true;
}

/* Replace the snapshot, by another one or by none. */
static void remote_snapshot_set(struct trace_remote *remote,
				struct trace_remote_snapshot *snapshot)
{
	lockdep_assert_held(&remote->snapshot_lock);

	if (snapshot == remote->snapshot)
		return;

	remote_snapshot_put(remote, remote->snapshot);
	remote->snapshot = snapshot;
}

static void remote_snapshot_clear(struct trace_remote *remote, int which)
{
	int cpu;

	lockdep_assert_held(&remote->snapshot_lock);

	if (!remote->snapshot || !remote->snapshot->copy)
		return;

	for_each_possible_cpu(cpu) {
		if (trace_remote_file_has_cpu(which, cpu))
			ring_buffer_reader_copy_clear(remote->snapshot->copy, cpu);
	}
}

/* Readers must neither consume nor clear events meanwhile. */
static int remote_snapshot_fill(struct trace_remote *remote,
				struct trace_remote_snapshot *snapshot,
				struct trace_buffer *from, int which)
{
	int ret;

	trace_remote_read_lock(remote, which);
	ret = ring_buffer_reader_copy_take(snapshot->copy, from, which);
	trace_remote_read_unlock(remote, which);
	return ret;
}

/* Copy the rings to a snapshot that has room. After an error the old one stays. */
static int remote_snapshot_copy(struct trace_remote *remote, struct trace_buffer *from, int which)
{
	struct trace_remote_snapshot *snapshot = remote->snapshot;
	int ret = 0;

	if (!remote_snapshot_fits(snapshot, from, which))
		snapshot = remote_snapshot_alloc(remote, from);
	if (IS_ERR(snapshot))
		return PTR_ERR(snapshot);

	if (from)
		ret = remote_snapshot_fill(remote, snapshot, from, which);
	if (!ret)
		remote_snapshot_set(remote, snapshot);
	else if (snapshot != remote->snapshot)
		remote_snapshot_put(remote, snapshot);
	if (!from)
		remote_snapshot_clear(remote, which);
	return ret;
}

/**
 * trace_remote_take_snapshot - copy the rings aside, while the remote goes on
 * @remote:	the remote
 * @which:	the ring of a CPU, or RING_BUFFER_ALL_CPUS
 *
 * The memory is allocated if need be. Rings that are not loaded have no events.
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM, or -EINTR when the task is being killed: then the older snapshot stays.
 */
int trace_remote_take_snapshot(struct trace_remote *remote, int which)
{
	struct trace_buffer *from;
	int ret;

	guard(mutex)(&remote->snapshot_lock);

	from = trace_remote_get_buffer(remote);
	ret = remote_snapshot_copy(remote, from, which);
	if (from)
		trace_remote_put_buffer(remote);
	return ret;
}

/**
 * trace_remote_clear_snapshot - clear events of the snapshot
 * @remote:	the remote
 * @which:	those of a CPU, or RING_BUFFER_ALL_CPUS
 *
 * Context: process context, may sleep.
 */
void trace_remote_clear_snapshot(struct trace_remote *remote, int which)
{
	guard(mutex)(&remote->snapshot_lock);
	remote_snapshot_clear(remote, which);
}

/**
 * trace_remote_free_snapshot - free the snapshot, if there is one
 * @remote:	the remote
 *
 * Files that read it keep it.
 *
 * Context: process context, may sleep.
 */
void trace_remote_free_snapshot(struct trace_remote *remote)
{
	guard(mutex)(&remote->snapshot_lock);
	remote_snapshot_set(remote, NULL);
}

/**
 * trace_remote_get_snapshot - keep the snapshot, if there is one
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 * Return: the snapshot, until trace_remote_put_snapshot(); NULL when there is none.
 */
struct trace_remote_snapshot *trace_remote_get_snapshot(struct trace_remote *remote)
{
	guard(mutex)(&remote->snapshot_lock);
	if (remote->snapshot)
		remote->snapshot->nr_users++;
	return remote->snapshot;
}

/**
 * trace_remote_put_snapshot - undo trace_remote_get_snapshot()
 * @remote:	the remote
 * @snapshot:	what that returned; NULL will do
 *
 * Context: process context, may sleep.
 */
void trace_remote_put_snapshot(struct trace_remote *remote, struct trace_remote_snapshot *snapshot)
{
	guard(mutex)(&remote->snapshot_lock);
	remote_snapshot_put(remote, snapshot);
}

/**
 * trace_remote_snapshot_buffer - what is read of a snapshot
 * @snapshot:	the snapshot, from trace_remote_get_snapshot()
 *
 * Return: the buffer; NULL if there were no rings to copy.
 */
struct trace_buffer *trace_remote_snapshot_buffer(struct trace_remote_snapshot *snapshot)
{
	return snapshot->copy ? ring_buffer_reader_copy_buffer(snapshot->copy) : NULL;
}
