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
 * So the events before the first of those tracepoints are kept apart, as those of a pending
 * vCPU, until they can be resolved: what was counted of it is then added to the vCPU that it
 * was, or to what is not known of its process. If some of a CPU's events were lost, all that
 * was known of the threads there is in doubt, and the same begins anew. A thread has at most
 * one pending vCPU, so that no number of losses makes more of them than there are threads.
 *
 * KVM's ids of threads are those of the first PID namespace, in debugfs and in the common
 * fields of each tracepoint. perf may run in another one. The kernel's records of threads that
 * exit have the ids of perf's.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include "kvm-vcpu-threads.h"
#include "kvm-vcpus.h"

/**
 * struct kvm_thread - what is known of a thread
 * @node:	in &struct kvm_vcpus
 * @perf_node:	in &struct kvm_vcpus
 * @tid:	its id
 * @perf_tid:	its id in perf's PID namespace
 * @vcpu:	whose its events are
 * @since:	since when @vcpu is that
 * @named:	a tracepoint has named @vcpu
 * @hint:	the vCPU that it ran when debugfs was read
 * @hints:	how many vCPUs name it there: only one is a hint
 * @seed:	which reading of debugfs @hint is of
 * @lost_at:	when events were last lost in the buffer of this thread
 * @put:	it has put the vCPU and not loaded one since
 * @early:	when it wrote the end of an event of the vCPU that it will load; 0 if not
 */
struct kvm_thread {
	struct hlist_node node;
	struct hlist_node perf_node;
	u32 tid;
	u32 perf_tid;
	struct kvm_vcpu *vcpu;
	u64 since;
	bool named;
	struct kvm_vcpu *hint;
	u32 hints;
	u32 seed;
	u64 lost_at;
	bool put;
	u64 early;
};

void kvm_vcpus__init(struct kvm_vcpus *vcpus)
{
	memset(vcpus, 0, sizeof(*vcpus));
	INIT_LIST_HEAD(&vcpus->vcpus);
	INIT_LIST_HEAD(&vcpus->unused);
	hash_init(vcpus->known);
	hash_init(vcpus->threads);
	hash_init(vcpus->perf_threads);
}

static void free_vcpus(struct list_head *vcpus)
{
	struct kvm_vcpu *vcpu, *next;

	list_for_each_entry_safe(vcpu, next, vcpus, node)
		free(vcpu);
	INIT_LIST_HEAD(vcpus);
}

static void free_thread(struct kvm_thread *thread)
{
	hash_del(&thread->node);
	hash_del(&thread->perf_node);
	free(thread);
}

void kvm_vcpus__exit(struct kvm_vcpus *vcpus)
{
	struct kvm_thread *thread;
	struct hlist_node *tmp;
	unsigned int bucket;

	if (!vcpus->vcpus.next)
		return;
	free_vcpus(&vcpus->vcpus);
	free_vcpus(&vcpus->unused);
	hash_init(vcpus->known);
	hash_for_each_safe(vcpus->threads, bucket, tmp, thread, node)
		free_thread(thread);
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

/* Threads outside of perf's PID namespace have the id 0 there. */
static struct kvm_thread *find_perf_thread(struct kvm_vcpus *vcpus, u32 perf_tid)
{
	struct kvm_thread *thread;

	if (!perf_tid)
		return NULL;
	hash_for_each_possible(vcpus->perf_threads, thread, perf_node, perf_tid) {
		if (thread->perf_tid == perf_tid)
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

static void set_perf_tid(struct kvm_vcpus *vcpus, struct kvm_thread *thread, u32 perf_tid)
{
	if (thread->perf_tid == perf_tid)
		return;
	hash_del(&thread->perf_node);
	thread->perf_tid = perf_tid;
	hash_add(vcpus->perf_threads, &thread->perf_node, perf_tid);
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

static void add_sorted(struct kvm_vcpus *vcpus, struct kvm_vcpu *vcpu)
{
	struct list_head *next;

	list_for_each(next, &vcpus->vcpus) {
		if (goes_before(vcpu, list_entry(next, struct kvm_vcpu, node)))
			break;
	}
	list_add_tail(&vcpu->node, next);
}

static struct kvm_vcpu *alloc_vcpu(struct kvm_vcpus *vcpus)
{
	struct kvm_vcpu *vcpu = list_first_entry_or_null(&vcpus->unused, struct kvm_vcpu, node);
	int index;

	if (vcpu) {
		index = vcpu->index;
		list_del(&vcpu->node);
		memset(vcpu, 0, sizeof(*vcpu));
		vcpu->index = index;
		return vcpu;
	}
	vcpu = zalloc(sizeof(*vcpu));
	if (vcpu)
		vcpu->index = vcpus->nr++;
	return vcpu;
}

/* The bits that differ most */
static u32 vcpu_key(int vm_pid, int vm_fd, int vcpu_id)
{
	return ((u32)vm_pid << 16) ^ ((u32)vm_fd << 10) ^ (u32)vcpu_id;
}

static struct kvm_vcpu *find_vcpu(struct kvm_vcpus *vcpus, int vm_pid, int vm_fd, int vcpu_id)
{
	struct kvm_vcpu *vcpu;

	hash_for_each_possible(vcpus->known, vcpu, hash, vcpu_key(vm_pid, vm_fd, vcpu_id)) {
		if (vcpu->vm_pid == vm_pid && vcpu->vm_fd == vm_fd && vcpu->vcpu_id == vcpu_id)
			return vcpu;
	}
	return NULL;
}

static struct kvm_vcpu *findnew_vcpu(struct kvm_vcpus *vcpus, int vm_pid, int vm_fd, int vcpu_id)
{
	struct kvm_vcpu *vcpu = find_vcpu(vcpus, vm_pid, vm_fd, vcpu_id);

	if (vcpu)
		return vcpu;
	vcpu = alloc_vcpu(vcpus);
	if (!vcpu)
		return NULL;
	vcpu->vm_pid = vm_pid;
	vcpu->vm_fd = vm_fd;
	vcpu->vcpu_id = vcpu_id;
	hash_add(vcpus->known, &vcpu->hash, vcpu_key(vm_pid, vm_fd, vcpu_id));
	add_sorted(vcpus, vcpu);
	return vcpu;
}

/* What was counted of the first is the second's, and the first is no more. */
static void merge(struct kvm_vcpus *vcpus, struct kvm_vcpu *from, struct kvm_vcpu *to)
{
	to->pid = from->pid;
	to->tid = from->tid;
	to->guest_time += from->guest_time;
	if (vcpus->merge)
		vcpus->merge(vcpus, from, to);
	list_move(&from->node, &vcpus->unused);
}

/* The open event of a pending vCPU goes on as that of the vCPU that it is. */
static void resolve(struct kvm_vcpus *vcpus, struct kvm_vcpu *pending, struct kvm_vcpu *vcpu)
{
	if (pending->start_time) {
		vcpu->start_time = pending->start_time;
		vcpu->last_event = pending->last_event;
		vcpu->exit_pc = pending->exit_pc;
		vcpu->off_tid = pending->off_tid;
		vcpu->off_since = pending->off_since;
		vcpu->off = pending->off;
		pending->start_time = 0;
	}
	if (pending->entry_time)
		vcpu->entry_time = pending->entry_time;
	if (pending->seen_time >= vcpu->seen_time) {
		vcpu->seen_time = pending->seen_time;
		vcpu->seen_cpu = pending->seen_cpu;
		vcpu->away = pending->away;
	}
	vcpu->broken = max(vcpu->broken, pending->broken);
	merge(vcpus, pending, vcpu);
}

/* It will never be known: so much for its process, and for the vCPU's id if it has one. */
static void give_up(struct kvm_vcpus *vcpus, struct kvm_vcpu *pending)
{
	struct kvm_vcpu *vcpu = findnew_vcpu(vcpus, pending->vm_pid, KVM_UNKNOWN, pending->vcpu_id);

	if (vcpu)
		merge(vcpus, pending, vcpu);
}

static struct kvm_vcpu *hint_of(const struct kvm_vcpus *vcpus, const struct kvm_thread *thread)
{
	return thread->seed == vcpus->seeds ? thread->hint : NULL;
}

/* The pending vCPU of a thread was this one, or it will never be known if that is NULL. */
static void end_pending(struct kvm_vcpus *vcpus, struct kvm_thread *thread, struct kvm_vcpu *vcpu)
{
	struct kvm_vcpu *pending = thread->vcpu;

	if (!pending || !pending->pending)
		return;
	if (vcpu && pending->vcpu_id != KVM_UNKNOWN && pending->vcpu_id != vcpu->vcpu_id)
		vcpu = NULL;
	if (vcpu)
		resolve(vcpus, pending, vcpu);
	else
		give_up(vcpus, pending);
	thread->vcpu = vcpu;
}

/**
 * kvm_vcpus__seed - take over a thread that debugfs has
 * @vcpus:	where to
 * @seed:	the thread, and which vCPU it ran
 * @first:	forget those that were taken over before
 *
 * Return: 0, or -ENOMEM.
 */
int kvm_vcpus__seed(struct kvm_vcpus *vcpus, const struct kvm_vcpu_thread *seed, bool first)
{
	struct kvm_thread *thread = findnew_thread(vcpus, seed->tid);
	struct kvm_vcpu *vcpu = findnew_vcpu(vcpus, seed->vm_pid, seed->vm_fd, seed->vcpu_id);

	if (!thread || !vcpu)
		return -ENOMEM;
	vcpus->seeds += first;
	if (thread->seed != vcpus->seeds)
		thread->hints = 0;
	thread->seed = vcpus->seeds;
	thread->hint = thread->hints++ ? NULL : vcpu;
	vcpu->tid = seed->tid;
	return 0;
}

static u32 cpu_index(u32 cpu)
{
	return cpu < KVM_MAX_CPUS ? cpu : KVM_MAX_CPUS;
}

/* Events of a CPU were lost since then, or of one that is not known. */
static bool lost_since(const struct kvm_vcpus *vcpus, u64 time, u32 cpu)
{
	return vcpus->lost_at[cpu_index(cpu)] > time || vcpus->lost_at[KVM_MAX_CPUS] > time;
}

/**
 * kvm_vcpus__lost - events were lost
 * @vcpus:	the vCPUs
 * @where:	who found out: which CPU's buffer, or which thread's. @where->tid is not used.
 */
void kvm_vcpus__lost(struct kvm_vcpus *vcpus, const struct kvm_where *where)
{
	struct kvm_thread *thread = find_perf_thread(vcpus, where->perf_tid);

	vcpus->last_lost = where->time;
	vcpus->lost_at[cpu_index(where->cpu)] = where->time;
	if (thread)
		thread->lost_at = where->time;
}

/* What a thread does from now on is of a vCPU that is not known. */
static void start_pending(struct kvm_vcpus *vcpus, struct kvm_thread *thread,
			  const struct kvm_where *where)
{
	struct kvm_vcpu *vcpu;

	end_pending(vcpus, thread, hint_of(vcpus, thread));
	thread->named = false;
	thread->put = false;
	thread->since = where->time;
	vcpu = alloc_vcpu(vcpus);
	thread->vcpu = vcpu;
	if (!vcpu)
		return;
	vcpu->pending = true;
	vcpu->vm_pid = where->pid;
	vcpu->vm_fd = KVM_UNKNOWN;
	vcpu->vcpu_id = KVM_UNKNOWN;
	vcpu->broken = where->time;
	vcpu->seen_time = where->time;
	vcpu->seen_cpu = where->cpu;
	list_add_tail(&vcpu->node, &vcpus->vcpus);
}

/* Without the tracepoints, debugfs is trusted, whatever is lost. */
static bool in_doubt(const struct kvm_vcpus *vcpus, const struct kvm_thread *thread,
		     const struct kvm_where *where)
{
	return (vcpus->has_switches || thread->named) &&
	       (thread->lost_at > thread->since || lost_since(vcpus, thread->since, where->cpu));
}

static struct kvm_thread *thread_at(struct kvm_vcpus *vcpus, const struct kvm_where *where)
{
	struct kvm_thread *thread = findnew_thread(vcpus, where->tid);

	if (!thread)
		return NULL;
	set_perf_tid(vcpus, thread, where->perf_tid);
	if (!thread->vcpu) {
		start_pending(vcpus, thread, where);
	} else if (in_doubt(vcpus, thread, where)) {
		start_pending(vcpus, thread, where);
		if (vcpus->has_switches)
			thread->hint = NULL;
	}
	return thread->vcpu ? thread : NULL;
}

/*
 * A vCPU may have been on any CPU between two of its events if it left the first one's, or
 * if nothing would tell that.
 */
static bool has_lost(const struct kvm_vcpus *vcpus, const struct kvm_thread *thread,
		     const struct kvm_where *where, bool arrives)
{
	const struct kvm_vcpu *vcpu = thread->vcpu;

	if (arrives || vcpu->away || vcpu->seen_cpu != where->cpu || !vcpus->has_switches)
		return vcpus->last_lost > vcpu->seen_time;
	return thread->lost_at > vcpu->seen_time || lost_since(vcpus, vcpu->seen_time, where->cpu);
}

static struct kvm_vcpu *saw(struct kvm_vcpus *vcpus, struct kvm_thread *thread,
			    const struct kvm_where *where, bool arrives)
{
	struct kvm_vcpu *vcpu = thread->vcpu;

	if (has_lost(vcpus, thread, where, arrives))
		vcpu->broken = where->time;
	vcpu->seen_time = where->time;
	vcpu->seen_cpu = where->cpu;
	vcpu->away = false;
	vcpu->pid = where->pid;
	vcpu->tid = where->tid;
	return vcpu;
}

/**
 * kvm_vcpus__find - whose event is it?
 * @vcpus:	the vCPUs
 * @where:	which thread wrote it
 *
 * Return: the vCPU, which may be one that is not known yet; NULL without memory. It may be
 * another one's from the next call on.
 */
struct kvm_vcpu *kvm_vcpus__find(struct kvm_vcpus *vcpus, const struct kvm_where *where)
{
	struct kvm_thread *thread = thread_at(vcpus, where);

	return thread ? saw(vcpus, thread, where, false) : NULL;
}

static void set_vcpu(struct kvm_thread *thread, struct kvm_vcpu *vcpu,
		     const struct kvm_where *where)
{
	thread->vcpu = vcpu;
	thread->since = where->time;
	thread->named = true;
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
	end_pending(vcpus, thread, how == KVM_VCPU_LOAD ? hint_of(vcpus, thread) : vcpu);
	set_vcpu(thread, vcpu, where);
	thread->put = how == KVM_VCPU_PUT;
	saw(vcpus, thread, where, how == KVM_VCPU_LOAD || how == KVM_VCPU_SCHED_IN);
	vcpu->away = how == KVM_VCPU_PUT || how == KVM_VCPU_SCHED_OUT;
	return vcpu;
}

/* A tracepoint will tell which VM it is of, or none ever will. */
static void set_id(struct kvm_vcpus *vcpus, struct kvm_thread *thread,
		   const struct kvm_where *where, int vcpu_id)
{
	struct kvm_vcpu *vcpu;

	if (!vcpus->has_switches) {
		vcpu = findnew_vcpu(vcpus, where->pid, KVM_UNKNOWN, vcpu_id);
		if (!vcpu)
			return;
		end_pending(vcpus, thread, vcpu);
		set_vcpu(thread, vcpu, where);
		return;
	}
	if (!thread->vcpu->pending || thread->vcpu->vcpu_id != KVM_UNKNOWN)
		start_pending(vcpus, thread, where);
	if (thread->vcpu)
		thread->vcpu->vcpu_id = vcpu_id;
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
	struct kvm_vcpu *hint;

	if (!thread)
		return NULL;
	hint = hint_of(vcpus, thread);
	if (thread->vcpu->vcpu_id != vcpu_id) {
		if (!hint || hint->vcpu_id != vcpu_id) {
			set_id(vcpus, thread, where, vcpu_id);
		} else {
			end_pending(vcpus, thread, hint);
			set_vcpu(thread, hint, where);
		}
	}
	return thread->vcpu ? saw(vcpus, thread, where, false) : NULL;
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
void kvm_vcpus__thread_exit(struct kvm_vcpus *vcpus, u32 perf_tid)
{
	struct kvm_thread *thread = find_perf_thread(vcpus, perf_tid);

	if (!thread)
		return;
	end_pending(vcpus, thread, hint_of(vcpus, thread));
	free_thread(thread);
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
		if (hint_of(vcpus, thread))
			end_pending(vcpus, thread, hint_of(vcpus, thread));
	}
}

/**
 * kvm_vcpu__is_whole - has a recording all events of a vCPU?
 * @vcpu:	the vCPU
 * @begin:	since then, until its last one
 *
 * Return: false if some may have been lost: on its CPU, or on any CPU while it may have been
 * on another.
 */
bool kvm_vcpu__is_whole(const struct kvm_vcpu *vcpu, u64 begin)
{
	return begin >= vcpu->broken;
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
