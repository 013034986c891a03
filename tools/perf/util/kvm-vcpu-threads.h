/* SPDX-License-Identifier: GPL-2.0 */
/* Which thread last ran each vCPU of each VM */
#ifndef __PERF_KVM_VCPU_THREADS_H
#define __PERF_KVM_VCPU_THREADS_H

#include <stdbool.h>
#include <linux/types.h>

struct perf_env;

/**
 * struct kvm_vcpu_thread - a thread that last ran a vCPU, as KVM's debugfs has it
 * @vm_pid:	the VM's directory there is kvm/<vm_pid>-<vm_fd>
 * @vm_fd:	see @vm_pid
 * @vcpu_id:	the vCPU
 * @tid:	the thread
 *
 * A recording has these as they were when it began.
 */
struct kvm_vcpu_thread {
	u32 vm_pid;
	u32 vm_fd;
	u32 vcpu_id;
	u32 tid;
};

int kvm_vcpu_threads__read(struct perf_env *env);

/* perf kvm stat record sets it. */
extern bool kvm_vcpu_threads_wanted;

#endif /* __PERF_KVM_VCPU_THREADS_H */
