/* SPDX-License-Identifier: GPL-2.0 */
/* Which thread runs which vCPU of which VM */
#ifndef __PERF_KVM_VCPUS_H
#define __PERF_KVM_VCPUS_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/hashtable.h>
#include <linux/types.h>

struct perf_env;
struct kvm_event;

#define KVM_UNKNOWN	(-1)

/**
 * struct kvm_vcpu - a vCPU of which a recording has events
 * @node:	in &struct kvm_vcpus, by VM and id, those that are not known last
 * @index:	number among the vCPUs, in the order in which they were seen
 * @vm_pid:	the VM, as in &struct kvm_vcpu_thread, or the process that has it
 * @vm_fd:	KVM_UNKNOWN if @vm_pid is all that is known
 * @vcpu_id:	KVM_UNKNOWN for the events of a thread whose vCPU is not known
 * @pid:	the process of the last thread
 * @tid:	the last thread
 * @same_as:	what a vCPU that was not known has turned out to be
 * @start_time:	when the open event began; 0 if there is none
 * @start_cpu:	the CPU where it began
 * @last_event:	the open event, if its beginning had a key
 * @entry_time:	when the guest was entered; 0 if it is not running
 * @entry_cpu:	the CPU where it was entered
 * @guest_time:	how long the guest ran
 */
struct kvm_vcpu {
	struct list_head node;
	int index;
	int vm_pid;
	int vm_fd;
	int vcpu_id;
	u32 pid;
	u32 tid;
	struct kvm_vcpu *same_as;

	u64 start_time;
	u32 start_cpu;
	struct kvm_event *last_event;

	u64 entry_time;
	u32 entry_cpu;
	u64 guest_time;
};

/* Events of a thread that the kernel writes on a CPU at some time */
struct kvm_where {
	u32 pid;
	u32 tid;
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

struct kvm_vcpus {
	struct list_head vcpus;
	int nr;
	DECLARE_HASHTABLE(threads, 8);
	/* When events of a CPU, or of one that is not known, were last lost */
	u64 lost_at[KVM_MAX_CPUS + 1];
};

void kvm_vcpus__init(struct kvm_vcpus *vcpus);
void kvm_vcpus__exit(struct kvm_vcpus *vcpus);
int kvm_vcpus__seed(struct kvm_vcpus *vcpus, const struct perf_env *env);

struct kvm_vcpu *kvm_vcpus__find(struct kvm_vcpus *vcpus, const struct kvm_where *where);
struct kvm_vcpu *kvm_vcpus__switch(struct kvm_vcpus *vcpus, const struct kvm_where *where,
				   enum kvm_vcpu_switch how, int vm_pid, int vm_fd, int vcpu_id);
struct kvm_vcpu *kvm_vcpus__set_id(struct kvm_vcpus *vcpus, const struct kvm_where *where,
				   int vcpu_id);
bool kvm_vcpus__is_put(struct kvm_vcpus *vcpus, u32 tid);
void kvm_vcpus__set_early(struct kvm_vcpus *vcpus, u32 tid, u64 time);
u64 kvm_vcpus__take_early(struct kvm_vcpus *vcpus, u32 tid);
void kvm_vcpus__thread_exit(struct kvm_vcpus *vcpus, u32 tid);
void kvm_vcpus__lost(struct kvm_vcpus *vcpus, const struct kvm_where *where);
bool kvm_vcpus__lost_since(const struct kvm_vcpus *vcpus, u64 time, u32 cpu);
void kvm_vcpus__resolve(struct kvm_vcpus *vcpus);

struct kvm_vcpu *kvm_vcpu__known(struct kvm_vcpu *vcpu);
int kvm_vcpu__scnprintf(const struct kvm_vcpu *vcpu, char *buf, size_t size);

#endif /* __PERF_KVM_VCPUS_H */
