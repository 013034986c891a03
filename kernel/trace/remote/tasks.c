// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tasks that a remote's CPUs run, for its events
 *
 * A remote does not know the kernel's tasks. For each CPU with a ring, the kernel keeps a word in
 * the ring's meta page: the pid of the task that the CPU runs, and whether the task's events are
 * ignored, RB_WRITER_TASK(). The remote loads it when it writes an event. The word has the pid 0
 * while the CPU is idle or offline.
 *
 * A probe of sched_switch stores the word of its CPU, while the rings are loaded. When a list of
 * pids changes, each CPU stores its word again. So no CPU stores that of another one, unless that
 * is offline. What a CPU's remote does between sched_switch and the switch counts for the next
 * task.
 *
 * A task is ignored as the kernel's instances ignore it: if it is not in set_event_pid and that is
 * not empty, or if it is in set_event_notrace_pid. With the option event-fork, children of tasks
 * in a list come into it, and tasks that end leave it.
 *
 * With the option record-cmd, the probe also saves the names of tasks that are not ignored, in the
 * kernel's own store: saved_cmdlines.
 *
 * Locking
 * -------
 *
 * trace_remote.lock	the rings are loaded or unloaded
 * trace_remote.tasks_lock	inside of that: a list or an option changes; and all words, then
 * cpu_hotplug_lock	inside of that: trace_remote_cpu.task changes; a CPU stays offline
 *
 * The probes take none of them. A list is freed when no probe uses it any more, and a ring when the
 * probe of sched_switch has ended.
 */
#include <linux/cpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>

#include <trace/events/sched.h>

#include "remote.h"

/* Called by a probe, or with tasks_lock. */
static struct trace_pid_list *remote_pids(struct trace_remote *remote, enum trace_remote_pids which)
{
	return rcu_dereference_raw(remote->pids[which]);
}

static bool remote_ignores(struct trace_remote *remote, struct task_struct *task)
{
	return trace_ignore_this_task(remote_pids(remote, TRACE_REMOTE_PIDS),
				      remote_pids(remote, TRACE_REMOTE_NO_PIDS), task);
}

static bool remote_saves_names(struct trace_remote *remote)
{
	return READ_ONCE(remote->on) &&
	       trace_remote_has_task_option(remote, TRACE_REMOTE_RECORD_CMD);
}

/* Save a task's name, as if the kernel had traced it. */
static void remote_save_name(struct task_struct *task)
{
	if (!task->pid)
		return;

	__this_cpu_write(trace_taskinfo_save, true);
	tracing_record_cmdline(task);
}

/* @cpu is this one, with interrupts off, or it is offline. */
static void remote_set_task(struct trace_remote *remote, int cpu, struct task_struct *task)
{
	u64 *word = READ_ONCE(trace_remote_cpu(remote, cpu)->task);
	bool ignored;

	if (!word)
		return;

	ignored = remote_ignores(remote, task);
	WRITE_ONCE(*word, RB_WRITER_TASK(task->pid, ignored));
	if (!ignored && remote_saves_names(remote))
		remote_save_name(task);
}

/* The task that leaves the CPU may have got another name since it came. */
static void remote_task_switch(void *data, bool preempt, struct task_struct *prev,
			       struct task_struct *next, unsigned int prev_state)
{
	struct trace_remote *remote = data;

	if (remote_saves_names(remote) && !remote_ignores(remote, prev))
		remote_save_name(prev);
	remote_set_task(remote, smp_processor_id(), next);
}

static void remote_set_current(void *data)
{
	remote_set_task(data, smp_processor_id(), current);
}

static void remote_set_tasks(struct trace_remote *remote)
{
	int cpu;

	lockdep_assert_held(&remote->tasks_lock);

	guard(cpus_read_lock)();
	on_each_cpu(remote_set_current, remote, true);
	for_each_possible_cpu(cpu) {
		if (!cpu_online(cpu))
			remote_set_task(remote, cpu, &init_task);
	}
}

/**
 * trace_remote_tasks_offline - a CPU has gone offline: it has the idle task
 * @remote:	the remote
 * @cpu:	the CPU, on which no tracepoint was called since it was not online
 *
 * Context: process context, with cpu_hotplug_lock held for writing.
 */
void trace_remote_tasks_offline(struct trace_remote *remote, int cpu)
{
	lockdep_assert_cpus_held();

	/* Without tasks_lock, a list stays while preemption is off. */
	guard(preempt)();
	remote_set_task(remote, cpu, &init_task);
}

/**
 * trace_remote_tasks_add_cpu - a CPU that is offline has got a ring
 * @remote:	the remote
 * @cpu:	the CPU
 *
 * Context: with cpu_hotplug_lock held for writing.
 */
void trace_remote_tasks_add_cpu(struct trace_remote *remote, int cpu)
{
	lockdep_assert_cpus_held();

	if (!remote->tasks_on)
		return;

	WRITE_ONCE(trace_remote_cpu(remote, cpu)->task,
		   &remote->buffer->writer.cpus[cpu].meta->task);
	trace_remote_tasks_offline(remote, cpu);
}

static void remote_add_words(struct trace_remote *remote)
{
	int cpu;

	guard(cpus_read_lock)();
	for_each_cpu(cpu, &remote->buffer->cpus)
		WRITE_ONCE(trace_remote_cpu(remote, cpu)->task,
			   &remote->buffer->writer.cpus[cpu].meta->task);
}

static void remote_remove_words(struct trace_remote *remote)
{
	int cpu;

	guard(cpus_read_lock)();
	for_each_possible_cpu(cpu)
		WRITE_ONCE(trace_remote_cpu(remote, cpu)->task, NULL);
}

/**
 * trace_remote_tasks_start - keep the word of each CPU that has a ring, if the remote uses it
 * @remote:	the remote, whose rings are loaded
 *
 * Context: process context, may sleep; with trace_remote.lock.
 * Return: 0, until trace_remote_tasks_stop(); or -ENOMEM.
 */
int trace_remote_tasks_start(struct trace_remote *remote)
{
	int ret;

	lockdep_assert_held(&remote->lock);

	if (!remote->desc->has_tasks || remote->tasks_on)
		return 0;

	ret = register_trace_sched_switch(remote_task_switch, remote);
	if (ret)
		return ret;

	remote->tasks_on = true;
	remote_add_words(remote);
	guard(mutex)(&remote->tasks_lock);
	remote_set_tasks(remote);
	return 0;
}

/**
 * trace_remote_tasks_stop - undo trace_remote_tasks_start(): the rings may be unloaded now
 * @remote:	the remote
 *
 * Context: as trace_remote_tasks_start().
 */
void trace_remote_tasks_stop(struct trace_remote *remote)
{
	lockdep_assert_held(&remote->lock);

	if (!remote->tasks_on)
		return;

	unregister_trace_sched_switch(remote_task_switch, remote);
	tracepoint_synchronize_unregister();
	/* A list that changes now must not store words either. */
	guard(mutex)(&remote->tasks_lock);
	remote_remove_words(remote);
	remote->tasks_on = false;
}

/* Use another list, and free the one before. */
static void remote_replace_pids(struct trace_remote *remote, enum trace_remote_pids which,
				struct trace_pid_list *list)
{
	struct trace_pid_list *old = remote_pids(remote, which);

	lockdep_assert_held(&remote->tasks_lock);

	rcu_assign_pointer(remote->pids[which], list);
	remote_set_tasks(remote);
	if (!old)
		return;

	tracepoint_synchronize_unregister();
	trace_pid_list_free(old);
}

/**
 * trace_remote_write_pids - add the pids that are written to a list
 * @remote:	the remote
 * @which:	the list
 * @ubuf:	numbers, with white space between
 * @cnt:	bytes there
 *
 * Context: process context, may sleep.
 * Return: how many bytes were taken; or as the kernel's instances, and the list is as it was:
 * -EINVAL for what is no number, -EPERM for a number that is no pid, -ENOMEM, -EFAULT.
 */
ssize_t trace_remote_write_pids(struct trace_remote *remote, enum trace_remote_pids which,
				const char __user *ubuf, size_t cnt)
{
	struct trace_pid_list *list;
	ssize_t ret;

	if (!cnt)
		return 0;

	guard(mutex)(&remote->tasks_lock);
	ret = trace_pid_write(remote_pids(remote, which), &list, ubuf, cnt);
	if (ret >= 0)
		remote_replace_pids(remote, which, list);
	return ret;
}

/**
 * trace_remote_clear_pids - empty a list
 * @remote:	the remote
 * @which:	the list
 *
 * Context: process context, may sleep.
 */
void trace_remote_clear_pids(struct trace_remote *remote, enum trace_remote_pids which)
{
	guard(mutex)(&remote->tasks_lock);
	if (remote_pids(remote, which))
		remote_replace_pids(remote, which, NULL);
}

/**
 * trace_remote_get_pids - keep a list as it is, but for event-fork
 * @remote:	the remote
 * @which:	the list
 *
 * Context: process context, may sleep.
 * Return: the list, until trace_remote_put_pids(); NULL if it is empty.
 */
struct trace_pid_list *trace_remote_get_pids(struct trace_remote *remote,
					     enum trace_remote_pids which)
	__acquires(&remote->tasks_lock)
{
	mutex_lock(&remote->tasks_lock);
	return remote_pids(remote, which);
}

/**
 * trace_remote_put_pids - undo trace_remote_get_pids()
 * @remote:	the remote
 *
 * Context: process context.
 */
void trace_remote_put_pids(struct trace_remote *remote)
	__releases(&remote->tasks_lock)
{
	mutex_unlock(&remote->tasks_lock);
}

static void remote_task_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	int which;

	for (which = 0; which < NR_TRACE_REMOTE_PIDS; which++)
		trace_filter_add_remove_task(remote_pids(data, which), parent, child);
}

static void remote_task_free(void *data, struct task_struct *task)
{
	int which;

	for (which = 0; which < NR_TRACE_REMOTE_PIDS; which++)
		trace_filter_add_remove_task(remote_pids(data, which), NULL, task);
}

static int remote_follow_fork(struct trace_remote *remote)
{
	int ret = register_trace_prio_sched_process_fork(remote_task_fork, remote, INT_MIN);

	if (ret)
		return ret;

	ret = register_trace_prio_sched_process_free(remote_task_free, remote, INT_MAX);
	if (ret)
		unregister_trace_sched_process_fork(remote_task_fork, remote);
	return ret;
}

static void remote_unfollow_fork(struct trace_remote *remote)
{
	unregister_trace_sched_process_fork(remote_task_fork, remote);
	unregister_trace_sched_process_free(remote_task_free, remote);
}

/* A probe that was unregistered may still run. It uses the lists, which are freed later. */
static int remote_set_event_fork(struct trace_remote *remote, bool on)
{
	if (on)
		return remote_follow_fork(remote);

	remote_unfollow_fork(remote);
	return 0;
}

/**
 * trace_remote_set_task_option - turn an option on or off
 * @remote:	the remote
 * @option:	the option
 * @on:		which
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int trace_remote_set_task_option(struct trace_remote *remote, enum trace_remote_task_option option,
				 bool on)
{
	int ret = 0;

	guard(mutex)(&remote->tasks_lock);
	if (trace_remote_has_task_option(remote, option) == on)
		return 0;

	if (option == TRACE_REMOTE_EVENT_FORK)
		ret = remote_set_event_fork(remote, on);
	if (ret)
		return ret;

	assign_bit(option, &remote->options, on);
	/* Tasks that run now may have no name yet. */
	if (option == TRACE_REMOTE_RECORD_CMD)
		remote_set_tasks(remote);
	return 0;
}

/**
 * trace_remote_tasks_traced - tracing is on: save the names of the tasks that run
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 */
void trace_remote_tasks_traced(struct trace_remote *remote)
{
	guard(mutex)(&remote->tasks_lock);
	if (trace_remote_has_task_option(remote, TRACE_REMOTE_RECORD_CMD))
		remote_set_tasks(remote);
}

/**
 * trace_remote_tasks_init - initialise what this file has of a remote
 * @remote:	the remote
 */
void trace_remote_tasks_init(struct trace_remote *remote)
{
	mutex_init(&remote->tasks_lock);
}

/**
 * trace_remote_tasks_free - free what this file has of a remote
 * @remote:	the remote, whose rings are unloaded, and which has no files
 *
 * Context: process context, may sleep.
 */
void trace_remote_tasks_free(struct trace_remote *remote)
{
	int which;

	trace_remote_set_task_option(remote, TRACE_REMOTE_EVENT_FORK, false);
	tracepoint_synchronize_unregister();
	for (which = 0; which < NR_TRACE_REMOTE_PIDS; which++)
		trace_remote_clear_pids(remote, which);
}
