/* SPDX-License-Identifier: GPL-2.0 */
/* Which thread last ran each vCPU of each VM */
#ifndef __PERF_KVM_VCPU_THREADS_H
#define __PERF_KVM_VCPU_THREADS_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

union perf_event;

/**
 * struct kvm_vcpu_thread - a thread that last ran a vCPU, as KVM's debugfs has it
 * @vm_pid:	the VM's directory there is kvm/<vm_pid>-<vm_fd>
 * @vm_fd:	see @vm_pid
 * @vcpu_id:	the vCPU
 * @tid:	the thread
 *
 * The ids of processes and threads are those of the first PID namespace.
 */
struct kvm_vcpu_thread {
	u32 vm_pid;
	u32 vm_fd;
	u32 vcpu_id;
	u32 tid;
};

/* All that debugfs had at one time */
struct kvm_vcpu_threads {
	struct kvm_vcpu_thread *entries;
	u32 nr;
};

int kvm_vcpu_threads__read(struct kvm_vcpu_threads *threads);
void kvm_vcpu_threads__exit(struct kvm_vcpu_threads *threads);

void kvm_vcpu_thread__to_event(const struct kvm_vcpu_thread *thread, u32 number,
			       union perf_event *event);
bool kvm_vcpu_thread__from_event(struct kvm_vcpu_thread *thread, const union perf_event *event);
size_t kvm_vcpu_thread__fprintf(const union perf_event *event, FILE *fp);

/* perf kvm stat record sets it. */
extern bool kvm_vcpu_threads_wanted;

#endif /* __PERF_KVM_VCPU_THREADS_H */
