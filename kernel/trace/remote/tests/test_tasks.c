// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the tasks that the CPUs of a remote run, and the CPUs that are traced
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "../remote.h"
#include "test.h"

/* The task that a CPU's ring has; this CPU's is this one while preemption is off */
static u64 task_of(struct trace_remote *remote, int cpu)
{
	return READ_ONCE(*trace_remote_cpu(remote, cpu)->task);
}

static u64 this_task(struct trace_remote *remote)
{
	guard(preempt)();
	return task_of(remote, smp_processor_id());
}

static struct trace_remote *loaded_remote(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	kunit_remote_make_rings(test);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace_remote_get_reader(remote));
	return remote;
}

/* Put this task, and no other, into a list. */
static void choose_this(struct kunit *test, struct trace_remote *remote,
			enum trace_remote_pids which)
{
	struct trace_pid_list *list = trace_pid_list_alloc();

	KUNIT_ASSERT_NOT_NULL(test, list);
	KUNIT_EXPECT_EQ(test, 0, trace_pid_list_set(list, current->pid));
	scoped_guard(mutex, &remote->tasks_lock)
		rcu_assign_pointer(remote->pids[which], list);
	/* Each CPU looks at the lists again. */
	KUNIT_EXPECT_EQ(test, 0,
			trace_remote_set_task_option(remote, TRACE_REMOTE_RECORD_CMD, true));
	KUNIT_EXPECT_EQ(test, 0,
			trace_remote_set_task_option(remote, TRACE_REMOTE_RECORD_CMD, false));
}

/* Another task, which says whether the ring has it */
struct other_task {
	struct trace_remote	*remote;
	struct completion	done;
	bool			found;
};

static int look_for_this(void *data)
{
	struct other_task *other = data;

	other->found = this_task(other->remote) == current->pid;
	complete(&other->done);
	return 0;
}

static bool has_other_task(struct trace_remote *remote)
{
	struct other_task other = {
		.remote	= remote,
		.done	= COMPLETION_INITIALIZER_ONSTACK(other.done),
	};

	if (!IS_ERR(kthread_run(look_for_this, &other, "remote_test_task")))
		wait_for_completion(&other.done);
	return other.found;
}

/* While the rings are loaded, the ring of each CPU has the task that the CPU runs. */
void remote_test_tasks(struct kunit *test)
{
	struct trace_remote *remote = loaded_remote(test);
	int cpu, i;

	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, this_task(remote), (u64)current->pid);
		KUNIT_EXPECT_TRUE(test, has_other_task(remote));
	}

	trace_remote_put_reader(remote);
	for_each_possible_cpu(cpu)
		KUNIT_EXPECT_NULL(test, trace_remote_cpu(remote, cpu)->task);
}

/* The lists say which tasks are ignored, also if they were set before the rings were loaded. */
void remote_test_ignored(struct kunit *test)
{
	const u64 ignored = RB_WRITER_TASK(current->pid, true);
	struct trace_remote *remote = loaded_remote(test);

	choose_this(test, remote, TRACE_REMOTE_NO_PIDS);
	KUNIT_EXPECT_EQ(test, this_task(remote), ignored);
	schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, this_task(remote), ignored);
	trace_remote_put_reader(remote);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace_remote_get_reader(remote));
	KUNIT_EXPECT_EQ(test, this_task(remote), ignored);

	choose_this(test, remote, TRACE_REMOTE_PIDS);
	KUNIT_EXPECT_EQ(test, this_task(remote), ignored);
	trace_remote_clear_pids(remote, TRACE_REMOTE_NO_PIDS);
	KUNIT_EXPECT_EQ(test, this_task(remote), (u64)current->pid);
	trace_remote_clear_pids(remote, TRACE_REMOTE_PIDS);
	KUNIT_EXPECT_EQ(test, this_task(remote), (u64)current->pid);
	trace_remote_put_reader(remote);
}

/* On a machine with one CPU, call what runs when a CPU has gone offline. */
static void offline_only_cpu(struct kunit *test, struct trace_remote *remote)
{
	u64 task;

	scoped_guard(cpus_read_lock) {
		guard(irqsave)();
		trace_remote_tasks_offline(remote, 0);
		task = task_of(remote, 0);
	}
	KUNIT_EXPECT_EQ(test, task, 0);
}

static void offline_cpu(struct kunit *test, struct trace_remote *remote, int cpu)
{
	KUNIT_ASSERT_EQ(test, 0, remove_cpu(cpu));
	KUNIT_EXPECT_EQ(test, task_of(remote, cpu), 0);
	choose_this(test, remote, TRACE_REMOTE_PIDS);
	KUNIT_EXPECT_EQ(test, task_of(remote, cpu), RB_WRITER_TASK_IGNORED);
	trace_remote_clear_pids(remote, TRACE_REMOTE_PIDS);
	KUNIT_EXPECT_EQ(test, task_of(remote, cpu), 0);
	KUNIT_EXPECT_EQ(test, 0, add_cpu(cpu));
}

/* A CPU that is offline has the idle task, which the lists ignore or not. */
void remote_test_offline_task(struct kunit *test)
{
	struct trace_remote *remote = loaded_remote(test);
	int cpu = cpumask_last(cpu_online_mask);

	if (cpu && IS_ENABLED(CONFIG_HOTPLUG_CPU))
		offline_cpu(test, remote, cpu);
	else
		offline_only_cpu(test, remote);
	trace_remote_put_reader(remote);
}

static bool is_listed(struct trace_remote *remote, pid_t pid)
{
	bool listed = trace_find_filtered_pid(trace_remote_get_pids(remote, TRACE_REMOTE_PIDS),
					      pid);

	trace_remote_put_pids(remote);
	return listed;
}

/* A task that has ended leaves the list when its memory is freed, within a limited time. */
static bool leaves_list(struct trace_remote *remote, pid_t pid)
{
	unsigned long deadline = jiffies + 10 * HZ;

	while (is_listed(remote, pid) && time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);
	return !is_listed(remote, pid);
}

/* Fork probes see the parent, which is kthreadd for a thread of the kernel. */
static void choose_kthreadd(struct kunit *test, struct trace_remote *remote)
{
	choose_this(test, remote, TRACE_REMOTE_PIDS);
	KUNIT_EXPECT_EQ(test, 0,
			trace_pid_list_set(rcu_access_pointer(remote->pids[TRACE_REMOTE_PIDS]),
					   2));
}

static int wait_for_stop(void *unused)
{
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* With event-fork, a child comes into the list of its parent, until it ends. */
void remote_test_fork(struct kunit *test)
{
	struct trace_remote *remote = loaded_remote(test);
	struct task_struct *child;
	bool on;
	pid_t pid;

	choose_kthreadd(test, remote);
	for (on = false; ; on = true) {
		KUNIT_EXPECT_EQ(test, 0,
				trace_remote_set_task_option(remote, TRACE_REMOTE_EVENT_FORK, on));
		child = kthread_run(wait_for_stop, NULL, "remote_test_fork");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, child);
		pid = child->pid;
		KUNIT_EXPECT_EQ(test, on, is_listed(remote, pid));
		kthread_stop(child);
		if (on)
			break;
	}

	KUNIT_EXPECT_TRUE(test, leaves_list(remote, pid));
	trace_remote_put_reader(remote);
}

/* Tracing enables the CPUs of the mask; also one that comes up, and when the mask changes. */
void remote_test_cpumask(struct kunit *test)
{
	struct trace_remote *remote = loaded_remote(test);
	struct cpumask none = { }, *enabled = kunit_remote_enabled();

	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(0, enabled));
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_cpumask(remote, &none));
	KUNIT_EXPECT_TRUE(test, cpumask_empty(enabled));
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_TRUE(test, cpumask_empty(enabled));

	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_cpumask(remote, cpumask_of(0)));
	KUNIT_EXPECT_TRUE(test, cpumask_equal(enabled, cpumask_of(0)));
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_cpumask(remote, cpu_all_mask));
	KUNIT_EXPECT_TRUE(test, cpumask_empty(enabled));
	trace_remote_put_reader(remote);
}

/* If the remote refuses to disable a CPU, the mask is as it was. */
void remote_test_cpumask_refused(struct kunit *test)
{
	struct trace_remote *remote = loaded_remote(test);
	struct cpumask none = { }, *enabled = kunit_remote_enabled();

	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, true));
	kunit_remote_refuse(-EBUSY);
	KUNIT_EXPECT_EQ(test, -EBUSY, trace_remote_set_cpumask(remote, &none));
	KUNIT_EXPECT_TRUE(test, trace_remote_has_cpu(remote, 0));
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(0, enabled));
	kunit_remote_refuse(0);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	trace_remote_put_reader(remote);
}
