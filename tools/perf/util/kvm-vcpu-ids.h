/* SPDX-License-Identifier: GPL-2.0 */
/* Of which VM and which vCPU a thread's samples are */
#ifndef __PERF_KVM_VCPU_IDS_H
#define __PERF_KVM_VCPU_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include "kvm-vcpu-threads.h"

struct perf_env;
struct perf_session;
struct thread;

#define KVM_VCPU_IDS_UNKNOWN	-1

/**
 * struct kvm_vcpu_ids - what a thread runs, as far as it is known
 * @vm_pid:	the VM's directory in debugfs is kvm/<vm_pid>-<vm_fd>; 0 for no VM
 * @vm_fd:	see @vm_pid, or KVM_VCPU_IDS_UNKNOWN
 * @vcpu:	the vCPU, or KVM_VCPU_IDS_UNKNOWN
 */
struct kvm_vcpu_ids {
	u32 vm_pid;
	s64 vm_fd;
	s64 vcpu;
};

/* The largest "4294967295-4294967295" */
#define KVM_VCPU_IDS_VM_LEN	21

int kvm_vcpu_ids__add(struct kvm_vcpu_threads *table, const struct kvm_vcpu_thread *thread);
int kvm_vcpu_ids__read(struct kvm_vcpu_threads *table);
int kvm_vcpu_ids__process_event(struct perf_session *session, union perf_event *event);

struct kvm_vcpu_ids thread__kvm_vcpu_ids(struct thread *thread, const struct perf_env *env);
int kvm_vcpu_ids__cmp_vm(const struct kvm_vcpu_ids *a, const struct kvm_vcpu_ids *b);
int kvm_vcpu_ids__vm_scnprintf(const struct kvm_vcpu_ids *ids, char *bf, size_t size);
int kvm_vcpu_ids__vcpu_scnprintf(const struct kvm_vcpu_ids *ids, char *bf, size_t size);

/* perf kvm record sets it: the recording shall have the table. */
extern bool kvm_vcpu_ids_wanted;

#endif /* __PERF_KVM_VCPU_IDS_H */
