/* SPDX-License-Identifier: GPL-2.0 */
/* Which thread runs which vCPU of which VM */
#ifndef __PERF_KVM_VCPUS_H
#define __PERF_KVM_VCPUS_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/hashtable.h>
#include <linux/types.h>

struct kvm_event;
struct kvm_vcpu_thread;

#define KVM_UNKNOWN	(-1)

/**
 * struct kvm_off_cpu - how long a thread was off the CPU
 * @preempted:	though it could have run
 * @slept:	because it waited, and until it was run again
 */
struct kvm_off_cpu {
	u64 preempted;
	u64 slept;
};

/**
 * struct kvm_vcpu - a vCPU of which a recording has events
 * @node:	in &struct kvm_vcpus, by VM and id, those that are not known last
 * @hash:	by VM and id, unless it is @pending
 * @index:	number among the vCPUs; that of one that is gone is used again
 * @vm_pid:	the VM, as in &struct kvm_vcpu_thread, or the process that has it
 * @vm_fd:	KVM_UNKNOWN if @vm_pid is all that is known
 * @vcpu_id:	KVM_UNKNOWN for the events of threads whose vCPU is not known
 * @pending:	the events of one thread, until it is known which vCPU's they are
 * @pid:	the process of the last thread
 * @tid:	the last thread
 * @seen_time:	when its last event was
 * @seen_cpu:	the CPU of that
 * @away:	it has left that CPU since
 * @broken:	some of its events may have been lost before this
 * @start_time:	when the open event began; 0 if there is none
 * @last_event:	the open event, if its beginning had a key
 * @exit_pc:	where the guest was left last, if that is asked for and known
 * @off_tid:	the thread of the open event, by its id in perf's PID namespace
 * @off_since:	since when that one is the thread; 0 if something is not known before
 * @off:	how long the threads before were off the CPU in the open event, less how
 *		long this one had been at @off_since
 * @entry_time:	when the guest was entered; 0 if it is not running
 * @guest_time:	how long the guest ran
 */
struct kvm_vcpu {
	struct list_head node;
	struct hlist_node hash;
	int index;
	int vm_pid;
	int vm_fd;
	int vcpu_id;
	bool pending;
	u32 pid;
	u32 tid;

	u64 seen_time;
	u32 seen_cpu;
	bool away;
	u64 broken;

	u64 start_time;
	struct kvm_event *last_event;
	u64 exit_pc;

	u32 off_tid;
	u64 off_since;
	struct kvm_off_cpu off;

	u64 entry_time;
	u64 guest_time;
};

/**
 * struct kvm_where - events of a thread that the kernel writes on a CPU at some time
 * @pid:	the process
 * @tid:	the thread, by its id in the first PID namespace, as in debugfs
 * @perf_tid:	the thread, by its id in perf's PID namespace; 0 if it has none there
 * @cpu:	the CPU
 * @time:	the time
 */
struct kvm_where {
	u32 pid;
	u32 tid;
	u32 perf_tid;
	u32 cpu;
	u64 time;
};

enum kvm_vcpu_switch {
	KVM_VCPU_LOAD,
	KVM_VCPU_PUT,
	KVM_VCPU_SCHED_IN,
	KVM_VCPU_SCHED_OUT,
};

#define KVM_MAX_CPUS	4096

/**
 * struct kvm_vcpus - all vCPUs of a recording
 * @vcpus:	those of which there are events
 * @unused:	those that have turned out to be others
 * @nr:		how many there are in both: no index is larger
 * @known:	those of @vcpus that are not pending
 * @threads:	what is known of each thread, by &struct kvm_where.tid
 * @perf_threads: the same, by &struct kvm_where.perf_tid
 * @seeds:	how many times all vCPUs of debugfs were read
 * @has_switches: the recording has the tracepoints of enum kvm_vcpu_switch
 * @merge:	add what was counted of the first vCPU to the second; may be NULL
 * @last_lost:	when events were last lost anywhere
 * @lost_at:	when events of a CPU, or of one that is not known, were last lost
 */
struct kvm_vcpus {
	struct list_head vcpus;
	struct list_head unused;
	int nr;
	DECLARE_HASHTABLE(known, 8);
	DECLARE_HASHTABLE(threads, 8);
	DECLARE_HASHTABLE(perf_threads, 8);
	u32 seeds;
	bool has_switches;
	void (*merge)(struct kvm_vcpus *vcpus, struct kvm_vcpu *from, struct kvm_vcpu *to);
	u64 last_lost;
	u64 lost_at[KVM_MAX_CPUS + 1];
};

void kvm_vcpus__init(struct kvm_vcpus *vcpus);
void kvm_vcpus__exit(struct kvm_vcpus *vcpus);
int kvm_vcpus__seed(struct kvm_vcpus *vcpus, const struct kvm_vcpu_thread *seed, bool first);

struct kvm_vcpu *kvm_vcpus__find(struct kvm_vcpus *vcpus, const struct kvm_where *where);
struct kvm_vcpu *kvm_vcpus__switch(struct kvm_vcpus *vcpus, const struct kvm_where *where,
				   enum kvm_vcpu_switch how, int vm_pid, int vm_fd, int vcpu_id);
struct kvm_vcpu *kvm_vcpus__set_id(struct kvm_vcpus *vcpus, const struct kvm_where *where,
				   int vcpu_id);
bool kvm_vcpus__is_put(struct kvm_vcpus *vcpus, u32 tid);
void kvm_vcpus__set_early(struct kvm_vcpus *vcpus, u32 tid, u64 time);
u64 kvm_vcpus__take_early(struct kvm_vcpus *vcpus, u32 tid);
void kvm_vcpus__thread_exit(struct kvm_vcpus *vcpus, u32 perf_tid);
void kvm_vcpus__lost(struct kvm_vcpus *vcpus, const struct kvm_where *where);
void kvm_vcpus__resolve(struct kvm_vcpus *vcpus);

bool kvm_vcpu__is_whole(const struct kvm_vcpu *vcpu, u64 begin);
int kvm_vcpu__scnprintf(const struct kvm_vcpu *vcpu, char *buf, size_t size);

#endif /* __PERF_KVM_VCPUS_H */
