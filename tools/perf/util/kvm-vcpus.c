// SPDX-License-Identifier: GPL-2.0
/*
 * Which thread runs which vCPU of which VM
 *
 * Three sources say so:
 *
 *  - kvm_vcpu_load, _put, _sched_in and _sched_out name the vCPU and its VM. From the
 *    first of them on, all is known of a thread.
 *  - What a thread did before is that vCPU's if the first is a _put or a _sched_out: the
 *    vCPU was loaded all the time.
 *  - Of a thread without any of them, or whose first is a _load, KVM's debugfs tells
 *    which vCPU it ran when the recording began.
 *
 * So the events before the first of those tracepoints are kept apart, as those of a vCPU
 * that is not known, until they can be resolved. If some of a CPU's events were lost, all
 * that was known of the threads there is in doubt, and the same begins anew.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include "env.h"
#include "kvm-vcpu-threads.h"
#include "kvm-vcpus.h"

/**
 * struct kvm_thread - what is known of a thread
 * @node:	in &struct kvm_vcpus
 * @tid:	its id
 * @vcpu:	whose its events are
 * @hint:	the vCPU that it ran when the recording began, as debugfs has it
 * @hints:	how many vCPUs name it there: only one is a hint
 * @since:	when a tracepoint last named the vCPU; 0 if none has
 * @lost_at:	when events were last lost in the buffer of this thread
 * @put:	it has put the vCPU and not loaded one since
 * @early:	when it wrote the end of an event of the vCPU that it will load; 0 if not
 */
struct kvm_thread {
	struct hlist_node node;
	u32 tid;
	struct kvm_vcpu *vcpu;
	struct kvm_vcpu *hint;
	int hints;
	u64 since;
	u64 lost_at;
	bool put;
	u64 early;
};

void kvm_vcpus__init(struct kvm_vcpus *vcpus)
{
	memset(vcpus, 0, sizeof(*vcpus));
	INIT_LIST_HEAD(&vcpus->vcpus);
	hash_init(vcpus->threads);
}

void kvm_vcpus__exit(struct kvm_vcpus *vcpus)
{
	struct kvm_vcpu *vcpu, *next;
	struct kvm_thread *thread;
	struct hlist_node *tmp;
	unsigned int bucket;

	if (!vcpus->vcpus.next)
		return;
	list_for_each_entry_safe(vcpu, next, &vcpus->vcpus, node) {
		list_del(&vcpu->node);
		free(vcpu);
	}
	hash_for_each_safe(vcpus->threads, bucket, tmp, thread, node) {
		hash_del(&thread->node);
		free(thread);
	}
}

static struct kvm_thread *find_thread(struct kvm_vcpus *vcpus, u32 tid)
{
	struct kvm_thread *thread;

	hash_for_each_possible(vcpus->threads, thread, node, tid) {
		if (thread->tid == tid)
			return thread;
	}
	return NULL;
}

static struct kvm_thread *findnew_thread(struct kvm_vcpus *vcpus, u32 tid)
{
	struct kvm_thread *thread = find_thread(vcpus, tid);

	if (thread)
		return thread;
	thread = zalloc(sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	hash_add(vcpus->threads, &thread->node, tid);
	return thread;
}

/* By VM and id; what is not known comes last. */
static bool goes_before(const struct kvm_vcpu *a, const struct kvm_vcpu *b)
{
	if (a->vcpu_id == KVM_UNKNOWN || b->vcpu_id == KVM_UNKNOWN)
		return a->vcpu_id != KVM_UNKNOWN;
	if (a->vm_pid != b->vm_pid)
		return a->vm_pid < b->vm_pid;
	if (a->vm_fd != b->vm_fd)
		return (u32)a->vm_fd < (u32)b->vm_fd;
	return a->vcpu_id < b->vcpu_id;
}

static void add_vcpu(struct kvm_vcpus *vcpus, struct kvm_vcpu *vcpu)
{
	struct list_head *next;

	list_for_each(next, &vcpus->vcpus) {
		if (goes_before(vcpu, list_entry(next, struct kvm_vcpu, node)))
			break;
	}
	list_add_tail(&vcpu->node, next);
}

static struct kvm_vcpu *new_vcpu(struct kvm_vcpus *vcpus, int vm_pid, int vm_fd, int vcpu_id)
{
	struct kvm_vcpu *vcpu = zalloc(sizeof(*vcpu));

	if (!vcpu)
		return NULL;
	vcpu->index = vcpus->nr++;
	vcpu->vm_pid = vm_pid;
	vcpu->vm_fd = vm_fd;
	vcpu->vcpu_id = vcpu_id;
	add_vcpu(vcpus, vcpu);
	return vcpu;
}

static struct kvm_vcpu *findnew_vcpu(struct kvm_vcpus *vcpus, int vm_pid, int vm_fd, int vcpu_id)
{
	struct kvm_vcpu *vcpu;

	list_for_each_entry(vcpu, &vcpus->vcpus, node) {
		if (vcpu->vm_pid == vm_pid && vcpu->vm_fd == vm_fd && vcpu->vcpu_id == vcpu_id)
			return vcpu;
	}
	return new_vcpu(vcpus, vm_pid, vm_fd, vcpu_id);
}

/**
 * kvm_vcpus__seed - take over the threads that a recording began with
 * @vcpus:	where to
 * @env:	of the recording
 *
 * Return: 0, or -ENOMEM.
 */
int kvm_vcpus__seed(struct kvm_vcpus *vcpus, const struct perf_env *env)
{
	int i;

	for (i = 0; i < env->nr_kvm_vcpu_threads; i++) {
		const struct kvm_vcpu_thread *seed = &env->kvm_vcpu_threads[i];
		struct kvm_thread *thread = findnew_thread(vcpus, seed->tid);
		struct kvm_vcpu *vcpu = findnew_vcpu(vcpus, seed->vm_pid, seed->vm_fd,
						     seed->vcpu_id);

		if (!thread || !vcpu)
			return -ENOMEM;
		thread->hint = thread->hints++ ? NULL : vcpu;
		vcpu->tid = seed->tid;
	}
	return 0;
}

static u32 cpu_index(u32 cpu)
{
	return cpu < KVM_MAX_CPUS ? cpu : KVM_MAX_CPUS;
}

/**
 * kvm_vcpus__lost_since - were events lost on a CPU?
 * @vcpus:	the vCPUs
 * @time:	from when on
 * @cpu:	the CPU
 *
 * Return: true if so, or if the CPU of lost events is not known.
 */
bool kvm_vcpus__lost_since(const struct kvm_vcpus *vcpus, u64 time, u32 cpu)
{
	return vcpus->lost_at[cpu_index(cpu)] > time || vcpus->lost_at[KVM_MAX_CPUS] > time;
}

/**
 * kvm_vcpus__lost - events were lost
 * @vcpus:	the vCPUs
 * @where:	who found out: which CPU's buffer, or which thread's
 */
void kvm_vcpus__lost(struct kvm_vcpus *vcpus, const struct kvm_where *where)
{
	struct kvm_thread *thread = find_thread(vcpus, where->tid);

	vcpus->lost_at[cpu_index(where->cpu)] = where->time;
	if (thread)
		thread->lost_at = where->time;
}

/* What a thread does from now on is of a vCPU that is not known. */
static void start_unknown(struct kvm_vcpus *vcpus, struct kvm_thread *thread, u32 pid)
{
	thread->since = 0;
	thread->put = false;
	thread->vcpu = new_vcpu(vcpus, pid, KVM_UNKNOWN, KVM_UNKNOWN);
}

static bool in_doubt(const struct kvm_vcpus *vcpus, const struct kvm_thread *thread,
		     const struct kvm_where *where)
{
	return thread->since && (thread->lost_at > thread->since ||
				 kvm_vcpus__lost_since(vcpus, thread->since, where->cpu));
}

static struct kvm_thread *thread_at(struct kvm_vcpus *vcpus, const struct kvm_where *where)
{
	struct kvm_thread *thread = findnew_thread(vcpus, where->tid);

	if (!thread)
		return NULL;
	if (thread->vcpu && in_doubt(vcpus, thread, where)) {
		thread->hint = NULL;
		start_unknown(vcpus, thread, where->pid);
	} else if (!thread->vcpu) {
		start_unknown(vcpus, thread, where->pid);
	}
	if (!thread->vcpu)
		return NULL;
	thread->vcpu->pid = where->pid;
	thread->vcpu->tid = where->tid;
	return thread;
}

/**
 * kvm_vcpus__find - whose event is it?
 * @vcpus:	the vCPUs
 * @where:	which thread wrote it
 *
 * Return: the vCPU, which may be one that is not known yet; NULL without memory.
 */
struct kvm_vcpu *kvm_vcpus__find(struct kvm_vcpus *vcpus, const struct kvm_where *where)
{
	struct kvm_thread *thread = thread_at(vcpus, where);

	return thread ? thread->vcpu : NULL;
}

/* Its open event goes on as that of the vCPU that it is. */
static void resolve(struct kvm_vcpu *unknown, struct kvm_vcpu *vcpu)
{
	if (unknown == vcpu || unknown->vcpu_id != KVM_UNKNOWN || unknown->same_as)
		return;
	unknown->same_as = vcpu;
	if (unknown->start_time) {
		vcpu->start_time = unknown->start_time;
		vcpu->start_cpu = unknown->start_cpu;
		vcpu->last_event = unknown->last_event;
		unknown->start_time = 0;
	}
	if (unknown->entry_time) {
		vcpu->entry_time = unknown->entry_time;
		vcpu->entry_cpu = unknown->entry_cpu;
		unknown->entry_time = 0;
	}
}

/**
 * kvm_vcpus__switch - a tracepoint has named the vCPU of a thread
 * @vcpus:	the vCPUs
 * @where:	which thread wrote it
 * @how:	which tracepoint
 * @vm_pid:	the VM
 * @vm_fd:	the VM
 * @vcpu_id:	the vCPU
 *
 * Return: the vCPU; NULL without memory.
 */
struct kvm_vcpu *kvm_vcpus__switch(struct kvm_vcpus *vcpus, const struct kvm_where *where,
				   enum kvm_vcpu_switch how, int vm_pid, int vm_fd, int vcpu_id)
{
	struct kvm_thread *thread = thread_at(vcpus, where);
	struct kvm_vcpu *vcpu = findnew_vcpu(vcpus, vm_pid, vm_fd, vcpu_id);

	if (!thread || !vcpu)
		return NULL;
	if (!thread->since && how != KVM_VCPU_LOAD)
		resolve(thread->vcpu, vcpu);
	else if (!thread->since && thread->hint)
		resolve(thread->vcpu, thread->hint);
	thread->vcpu = vcpu;
	thread->since = where->time;
	thread->put = how == KVM_VCPU_PUT;
	vcpu->pid = where->pid;
	vcpu->tid = where->tid;
	return vcpu;
}

/**
 * kvm_vcpus__set_id - kvm_entry has named the vCPU of a thread, but not its VM
 * @vcpus:	the vCPUs
 * @where:	which thread wrote it
 * @vcpu_id:	the vCPU
 *
 * Return: the vCPU; NULL without memory.
 */
struct kvm_vcpu *kvm_vcpus__set_id(struct kvm_vcpus *vcpus, const struct kvm_where *where,
				   int vcpu_id)
{
	struct kvm_thread *thread = thread_at(vcpus, where);

	if (!thread)
		return NULL;
	if (thread->vcpu->vcpu_id == vcpu_id)
		return thread->vcpu;
	if (thread->hint && thread->hint->vcpu_id == vcpu_id)
		return kvm_vcpus__switch(vcpus, where, KVM_VCPU_SCHED_IN, thread->hint->vm_pid,
					 thread->hint->vm_fd, vcpu_id);
	return kvm_vcpus__switch(vcpus, where, KVM_VCPU_SCHED_IN, where->pid, KVM_UNKNOWN,
				 vcpu_id);
}

/* A thread that has put its vCPU writes events of the one that it loads next. */
bool kvm_vcpus__is_put(struct kvm_vcpus *vcpus, u32 tid)
{
	struct kvm_thread *thread = find_thread(vcpus, tid);

	return thread && thread->put;
}

/* Keep the end of an event until it is known which vCPU's it is. */
void kvm_vcpus__set_early(struct kvm_vcpus *vcpus, u32 tid, u64 time)
{
	struct kvm_thread *thread = find_thread(vcpus, tid);

	if (thread)
		thread->early = time;
}

u64 kvm_vcpus__take_early(struct kvm_vcpus *vcpus, u32 tid)
{
	struct kvm_thread *thread = find_thread(vcpus, tid);
	u64 time;

	if (!thread)
		return 0;
	time = thread->early;
	thread->early = 0;
	return time;
}

/* Its id may be another's from now on. */
void kvm_vcpus__thread_exit(struct kvm_vcpus *vcpus, u32 tid)
{
	struct kvm_thread *thread = find_thread(vcpus, tid);

	if (!thread)
		return;
	if (thread->vcpu && thread->hint && !thread->since)
		resolve(thread->vcpu, thread->hint);
	hash_del(&thread->node);
	free(thread);
}

/**
 * kvm_vcpus__resolve - no more events come before the next report
 * @vcpus:	the vCPUs
 *
 * A thread of which no tracepoint has named a vCPU has run the one that debugfs had.
 */
void kvm_vcpus__resolve(struct kvm_vcpus *vcpus)
{
	struct kvm_thread *thread;
	unsigned int bucket;

	hash_for_each(vcpus->threads, bucket, thread, node) {
		if (!thread->vcpu || !thread->hint || thread->since)
			continue;
		resolve(thread->vcpu, thread->hint);
		thread->vcpu = thread->hint;
	}
}

struct kvm_vcpu *kvm_vcpu__known(struct kvm_vcpu *vcpu)
{
	return vcpu->same_as ?: vcpu;
}

int kvm_vcpu__scnprintf(const struct kvm_vcpu *vcpu, char *buf, size_t size)
{
	int len = scnprintf(buf, size, "VM %d", vcpu->vm_pid);

	if (vcpu->vm_fd != KVM_UNKNOWN)
		len += scnprintf(buf + len, size - len, "-%d", vcpu->vm_fd);
	if (vcpu->vcpu_id == KVM_UNKNOWN)
		len += scnprintf(buf + len, size - len, ", VCPU unknown");
	else
		len += scnprintf(buf + len, size - len, ", VCPU %d", vcpu->vcpu_id);
	return len + scnprintf(buf + len, size - len, ", thread %u", vcpu->tid);
}
